"""Killed at any moment, under load, the service loses nothing that it acknowledged and counts nothing twice."""

from contextlib import ExitStack
from pathlib import Path
from random import Random
from threading import Event

import afterglow
from testbed.postgres import Server
from testbed.quick_disk import quick_folder
from testbed.service import Serving, command
from testbed.storm import Storm, killed_again_and_again

KILLS = 6  # on each store; bench/service/kills.py has hundreds
DATABASE_KILLS = 3


def test_kill_9_at_random_moments_loses_and_doubles_nothing(address: str) -> None:
    with Serving(address) as serving:
        figures = killed_again_and_again(serving, KILLS, seed=4)
    assert figures.retried > 0


def test_a_database_killed_under_load_keeps_what_the_service_acknowledged() -> None:
    database, random = Server(), Random(5)
    try:
        with Serving(database.fresh()) as serving:
            process = serving.process
            with ExitStack() as stack:
                storms = [
                    stack.enter_context(Storm(5, [serving], name, clients=3, operators=1, step_seconds=step))
                    for name, step in (("by-clock", 0.5), ("by-hand", None))
                ]
                for _ in range(DATABASE_KILLS):
                    Event().wait(random.uniform(0.0, 0.5))
                    database.kill()
                    database.start()
                    for storm in storms:
                        storm.wait(50)
            assert all(storm.check().retried > 0 for storm in storms)
            assert serving.process is process  # it went on by itself
            assert serving.stop() == 0
            assert "Traceback" not in serving.errors
            assert command("verify", serving.db).stdout.count("all as logged") == len(storms)
    finally:
        database.remove()


def test_a_backup_under_load_has_all_that_was_acknowledged_before_it(address: str) -> None:
    with quick_folder() as folder:
        copy = Path(folder) / "copy.db"
        with Serving(address) as serving:
            with Storm(6, [serving], "by-hand", clients=3, operators=1) as storm:
                storm.wait(200)
                before = sum(client.sent for client in storm.clients)
                command("backup", address, str(copy))
                assert "all as logged" in command("verify", address).stdout
            storm.check()
        with afterglow.live.open(copy) as experiments:
            experiment = experiments["by-hand"]
            experiment.stop("to add it up")
            total = sum(round(1e6 * (row.total or 0.0)) for row in experiment.steps())
            assert before <= total <= sum(client.sent for client in storm.clients)
            assert experiment.verify().ok
