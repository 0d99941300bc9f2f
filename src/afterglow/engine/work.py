"""Distribute runs over threads: interruptible, with results that don't depend on the number of threads."""

import os
import threading
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from afterglow.checks import at_most, whole

Task = Callable[[int, int, NDArray[np.float64]], object]
MOST_THREADS = 1024
TASK_SECONDS = 0.1  # a task this long hides the cost of handing it out
PATIENCE_SECONDS = 5.0  # with threads that were asked to stop
LOOK_SECONDS = 0.05  # how often the waiting thread looks up, for Ctrl-C and progress


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Queue:
    """Hands out stretches of runs, each about `TASK_SECONDS` long once the pace is known."""

    def __init__(self, runs: int, threads: int) -> None:
        self.runs, self.threads = runs, threads
        self.given = self.done = 0
        self.busy = 0.0
        self.lock = threading.Lock()

    def take(self) -> tuple[int, int]:
        """The next stretch (begin, end); empty when none is left."""
        with self.lock:
            pace = self.busy / self.done if self.done else TASK_SECONDS
            size = max(1, int(TASK_SECONDS / max(pace, 1e-9)))
            begin = self.given
            fair = -(-(self.runs - begin) // self.threads)
            self.given = min(self.runs, begin + max(1, min(size, fair)))
            return begin, self.given

    def give_back(self, count: int, seconds: float) -> None:
        with self.lock:
            self.done += count
            self.busy += seconds


def share_out(runs: int, task: Task, threads: int | None = None, progress: Callable[[int], None] | None = None) -> int:
    """Have `task(begin, end, stop)` do all runs; the number of threads used.

    Ctrl-C, or an error in any thread, raises the stop flag that compiled code looks at, waits for the threads to
    leave, and is raised here.
    """
    asked = whole("threads", threads if threads is not None else processors(), 1)
    count = min(at_most("threads", asked, MOST_THREADS), runs)
    queue, stop = Queue(runs, count), np.zeros(1)
    failures: list[BaseException] = []

    def work(busy: threading.Lock) -> None:
        try:
            while not stop[0]:
                begin, end = queue.take()
                if begin == end:
                    return
                began = time.perf_counter()
                task(begin, end, stop)
                queue.give_back(end - begin, time.perf_counter() - began)
        except BaseException as failure:
            failures.append(failure)
            stop[0] = 1
        finally:
            busy.release()

    locks = [threading.Lock() for _ in range(count)]
    workers = [threading.Thread(target=work, args=(busy,), daemon=True) for busy in locks]
    try:
        for busy, worker in zip(locks, workers, strict=True):
            busy.acquire()
            worker.start()
        while any(busy.locked() for busy in locks):
            for busy in locks:
                wait(busy, LOOK_SECONDS)
            if progress is not None:
                progress(queue.done)
    finally:
        leave(stop, [busy for busy, worker in zip(locks, workers, strict=True) if worker.ident is not None])
    if failures:
        raise failures[0]
    return count


def wait(busy: threading.Lock, seconds: float = -1) -> None:
    """Wait for a thread to let go of its lock."""
    if busy.acquire(timeout=seconds):
        busy.release()


def leave(stop: NDArray[np.float64], locks: list[threading.Lock]) -> None:
    """Have the threads stop, and wait until they have; a second Ctrl-C doesn't leave them alone.

    Bare locks, because an interrupted `Thread.join` may take a running thread for ended. A verb of a user's policy that
    never returns sees no stop: after `PATIENCE_SECONDS` its thread is left behind, and ends with the process.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            stop[0] = 1
            for busy in locks:
                wait(busy, max(0.0, end - time.monotonic()))
            return
        except KeyboardInterrupt:
            continue
