"""Contenders timed in turns, so that what slows the machine for a while slows all of them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Time:
    """The least CPU and wall seconds over the rounds."""

    cpu: float
    wall: float

    def per(self, count: float) -> "Time":
        return Time(self.cpu / count, self.wall / count)


def race(contenders: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, Time]:
    """Call each contender once unmeasured, then A B C, A B C, …"""
    for contender in contenders.values():
        contender()
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            cpu, wall = time.process_time(), time.perf_counter()
            contender()
            taken[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {name: Time(*(min(column) for column in zip(*times, strict=True))) for name, times in taken.items()}
