"""Run experiments: one variant at a time for everyone, and anonymous amounts.

    >>> import afterglow
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> experiments = afterglow.live.open(folder.name + "/experiments.db")
    >>> shipping = experiments.create("shipping", variants=["49", "59", "69"], window=24, reward_max=1200.0)
    >>> shipping.current()
    '49'
    >>> shipping.reward(12.5).accepted
    1
    >>> shipping.close_step()
    >>> shipping
    <Experiment shipping: 3 variants, thrift-ucb, step 1, running>
    >>> experiments.close()
    >>> folder.cleanup()

Needs the standard library alone, unless experiments are kept in PostgreSQL. Changes are on the disk when a call
returns.
"""

from collections.abc import Callable
from pathlib import Path

from afterglow.live.domain.actor import Actor
from afterglow.live.domain.decision import Decision, Receipt
from afterglow.live.experiment import Experiment
from afterglow.live.experiments import Experiments
from afterglow.live.store import open_store

__all__ = ["Actor", "Decision", "Experiment", "Experiments", "Receipt", "open"]


def open(  # noqa: A001
    address: str | Path,
    *,
    read_only: bool = False,
    clock: Callable[[], float] | None = None,
    monotonic: Callable[[], float] | None = None,
) -> Experiments:
    """The experiments in a SQLite file, which is created if it doesn't exist, or in a `postgresql://…` database.

    One process at a time may write to a file, several to PostgreSQL, whose time decides unless `clock` is given. A
    clock that jumps is noticed by the monotonic one of the machine; a given clock is believed, unless `monotonic` is
    given too.
    """
    return Experiments(open_store(address, read_only), clock, monotonic)
