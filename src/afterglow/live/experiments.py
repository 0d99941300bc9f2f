"""All experiments of a database."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from afterglow import __version__
from afterglow.live import orders
from afterglow.live.experiment import Experiment
from afterglow.live.history import Follower
from afterglow.live.log import NOTHING, Record, chained
from afterglow.live.spec import specify
from afterglow.live.store.contract import Store
from afterglow.live.verify import Verdict


class Experiments:
    """Create experiments and take them up again; `with` closes the database at the end."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._open = dict[str, Experiment]()

    def create(
        self,
        name: str,
        variants: Iterable[str],
        window: int,
        horizon: int | None = None,
        *,
        start: bool = True,
        starts: float | None = None,
        **settings: Any,
    ) -> Experiment:
        """A new experiment. `settings` are those of `specify`, and options of the policy.

        With `step_seconds` the clock closes the steps, from `starts` on (seconds since 1970, now if it is None);
        without, the caller does.
        """
        now = self._clock()
        begins = now if starts is None else starts
        spec = specify(name, variants, window, horizon, starts=begins, release=__version__, **settings)
        with self._store.creating(spec.name) as log:
            body, at = spec.text(), round(1000 * now)
            log.append([Record(0, at, "create", body, chained(NOTHING, 0, at, "create", body))])
            copy = Follower(spec.name)
            copy.follow(log)
            if start:
                copy.happen(log, at, [orders.start(spec, copy.state, at)])
        return self.get(spec.name)

    def get(self, name: str) -> Experiment:
        """The experiment of that name."""
        if name not in self._open:
            self._open[name] = Experiment(self._store, name, self._clock)
        return self._open[name]

    __getitem__ = get

    def names(self) -> list[str]:
        return self._store.names()

    def __iter__(self) -> Iterator[Experiment]:
        return map(self.get, self.names())

    def __len__(self) -> int:
        return len(self.names())

    def verify(self) -> list[Verdict]:
        """Replay and compare all of them."""
        return [experiment.verify() for experiment in self]

    def backup(self, path: str) -> None:
        """Copy the database, while it is in use, to a new file."""
        self._store.backup(path)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> "Experiments":
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
