"""Killed again and again, an experiment loses nothing that it acknowledged and counts nothing twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import afterglow
from afterglow.live.store.address import is_postgres

KILLS = 8
BLOCK = 10  # operations for each step: nine rewards and its end

WORKER = """
import sys
import afterglow

address, first = sys.argv[1], int(sys.argv[2])
experiment = afterglow.live.open(address).get("killed")
print("ready", flush=True)
for number in range(first, 10**6):
    step, place = divmod(number, 10)
    if place == 9:
        experiment.close_step(step=step)
    else:
        experiment.reward(number * 37 % 100 / 100, key=f"reward {number}")
    print(number, flush=True)
"""


def run_until_killed(address: str, first: int, after: int) -> int:
    """Start a worker at an operation, kill it when it has acknowledged so many; the last it acknowledged."""
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, address, str(first)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n", worker.communicate()[1]
    for _ in range(after):
        worker.stdout.readline()
    os.kill(worker.pid, signal.SIGKILL)
    lines = worker.stdout.read().split()  # not by communicate(), which forgets what readline() has in its buffer
    assert worker.communicate()[1] == ""
    return int(lines[-1]) if lines else first + after - 1


def test_no_acknowledged_reward_is_lost_or_doubled_by_kill_9(address: str, tmp_path: Path) -> None:
    address = address if is_postgres(address) else str(tmp_path / "experiments.db")  # on a real disk
    random, last = Random(4), -1
    with afterglow.live.open(address) as experiments:
        experiments.create("killed", ["49", "59", "69"], 4, reward_max=10.0, policy="ucb1")
    for _ in range(KILLS):
        last = run_until_killed(address, last + 1, random.randrange(1, 25))  # the first is the one that was cut off
    with afterglow.live.open(address) as experiments:
        experiment = experiments.get("killed")
        assert experiment.verify().ok
        closed = [one for one in experiment.steps() if one.total is not None]
        done = experiment.decision().step
        assert [one.step for one in closed] == list(range(done))
        assert (last + 1) // BLOCK <= done <= (last + 2) // BLOCK
        for one in closed:
            cents = sum(number * 37 % 100 for number in range(BLOCK * one.step, BLOCK * one.step + BLOCK - 1))
            assert one.total == cents / 100
        experiment.close_step()
        cents = sum(number * 37 % 100 for number in range(BLOCK * done, last + 1))
        left = round(100 * (experiment.steps(done, 1)[0].total or 0))
        assert left in (cents, cents + (last + 1) * 37 % 100)  # the one that was cut off may be there too
