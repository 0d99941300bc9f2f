"""Prometheus metrics. They contain counts only: no amounts, keys or tokens."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import Metric

from afterglow.live import Receipt

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MEDIA_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The metrics of one service."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.calls = Counter("afterglow_requests", "Calls answered.", ["call", "status"], registry=registry)
        self.seconds = Histogram(
            "afterglow_request_seconds", "Time to answer.", ["call"], registry=registry, buckets=BUCKETS
        )
        self.accepted = Counter("afterglow_rewards", "Rewards committed.", ["experiment"], registry=registry)
        self.duplicates = Counter(
            "afterglow_reward_duplicates", "Rewards that had been sent before.", ["experiment"], registry=registry
        )
        self.refused = Counter(
            "afterglow_reward_batches_refused", "Batches refused or not committed.", ["experiment"], registry=registry
        )
        self.events = Counter(
            "afterglow_events", "Records in the logs of experiments.", ["experiment", "kind"], registry=registry
        )
        self.step = Gauge("afterglow_step", "The current step.", ["experiment"], registry=registry)
        self.alarm = Gauge(
            "afterglow_alarm", "1 while an alarm stands, unless the experiment is archived.", ["experiment"],
            registry=registry,
        )  # fmt: skip
        self.guarded = Gauge(
            "afterglow_guarded_variants", "Variants that guards have disabled.", ["experiment"], registry=registry
        )
        self.decisions = Counter(
            "afterglow_decisions",
            "Steps by the variant served; with units, unit-steps.",
            ["experiment", "variant"],
            registry=registry,
        )
        self.queue = Gauge("afterglow_rewards_waiting", "Rewards waiting to be committed.", registry=registry)
        self.streams = Gauge("afterglow_streams", "Open event streams.", registry=registry)
        self.away = Gauge("afterglow_database_away", "1 while the database can't be reached.", registry=registry)
        self.losses = Counter("afterglow_database_losses", "Times the database became unavailable.", registry=registry)
        self.rewinds = Counter(
            "afterglow_log_rewinds", "Times that the log of an experiment had lost records.", ["experiment"],
            registry=registry,
        )  # fmt: skip
        self.counts: dict[str, Callable[[float], None]] = {}
        self.known: dict[tuple[str, int], tuple[Callable[[], None], Callable[[float], None]]] = {}

    def called(self, call: str, status: int, seconds: float) -> None:
        found = self.known.get((call, status))
        if found is None:
            found = self.known[call, status] = (
                self.calls.labels(call, str(status)).inc, self.seconds.labels(call).observe,
            )  # fmt: skip
        found[0]()
        found[1](seconds)

    def settled(self, experiment: str, answer: Receipt | Exception) -> None:
        """Count a batch of rewards that was answered."""
        if isinstance(answer, Exception):
            self.refused.labels(experiment).inc()
            return
        count = self.counts.get(experiment)
        if count is None:
            count = self.counts[experiment] = self.accepted.labels(experiment).inc
        count(answer.accepted)
        if answer.duplicates:
            self.duplicates.labels(experiment).inc(answer.duplicates)

    def text(self, knows: Callable[[str], bool] | None = None) -> bytes:
        """All metrics, or those of the experiments that `knows` allows and of none."""
        return generate_latest(self.registry if knows is None else LimitedRegistry(self.registry, knows))


class LimitedRegistry(CollectorRegistry):
    """The metrics of a registry without those of some experiments."""

    def __init__(self, whole: CollectorRegistry, knows: Callable[[str], bool]) -> None:
        super().__init__()
        self.whole, self.knows = whole, knows

    def collect(self) -> Iterator[Metric]:
        for metric in self.whole.collect():
            metric.samples = [
                one for one in metric.samples if "experiment" not in one.labels or self.knows(one.labels["experiment"])
            ]
            yield metric
