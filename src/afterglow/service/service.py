"""The service object: experiments, tokens, reward writer, worker threads, ticker and webhook delivery."""

import asyncio
import logging
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any, TypeVar

from afterglow.errors import AfterglowError, Unavailable, UnknownName
from afterglow.live import Actor, Decision, Experiment, Experiments
from afterglow.live.store.access import Access
from afterglow.service.auth.audit import made
from afterglow.service.auth.client_address import Proxies
from afterglow.service.auth.scopes import Authenticator, unknown_experiment
from afterglow.service.auth.tokens import Token, TokenCache, new_token
from afterglow.service.background.announcer import Announcer
from afterglow.service.background.current_lane import CurrentLane
from afterglow.service.background.plan_jobs import PlanJobs
from afterglow.service.background.reward_writer import RewardWriter
from afterglow.service.background.ticker import Ticker
from afterglow.service.background.webhook_delivery import Deliveries
from afterglow.service.background.workers import Workers
from afterglow.service.metrics import Metrics
from afterglow.service.problems import Problem, problem_of
from afterglow.service.settings import ServiceSettings
from afterglow.service.webhook_registry import WebhookRegistry

LOG = logging.getLogger("afterglow.service")
Result = TypeVar("Result")
LAST = 1.0  # minimum seconds to close the database


class Service:
    """Everything that calls use. `start` and `stop` run in the server's event loop."""

    def __init__(self, experiments: Experiments, access: Access, settings: ServiceSettings) -> None:
        self.experiments = experiments
        self.access = access  # tokens and webhooks
        self.settings = settings
        self.metrics = Metrics()
        experiments.on_rewind(lambda name: self.metrics.rewinds.labels(name).inc())
        self.workers = Workers(settings.workers, settings.time_limit)
        self.lane = CurrentLane(settings.max_age, settings.time_limit)
        self.reward_writer = RewardWriter(settings.queue, settings.time_limit, self.metrics.settled)
        self.tokens = TokenCache(access.tokens, access.tokens_version)
        self.authenticator = Authenticator(
            self.tokens,
            settings.auth,
            settings.rate_limit,
            experiments.now,
            self.renew_tokens,
            Proxies(settings.trusted_proxies),
        )
        self.ticker = Ticker(experiments, self.tokens, self.metrics)
        self.announcer = Announcer(experiments)
        self.deliveries = Deliveries(experiments, access, settings.webhooks)
        self.webhooks = WebhookRegistry(experiments, access, settings.webhooks)
        self.plans = PlanJobs()
        self.until = inf  # deadline of a stop, by the monotonic clock
        self.hanging = False  # whether threads still wait for the database after a stop
        self.metrics.queue.set_function(lambda: self.reward_writer.held)

    def first_token(self) -> str | None:
        """A new admin token, if no token exists."""
        if not self.settings.auth or self.access.tokens():
            return None
        token, row = new_token(["admin"], None, "first start", self.experiments.now())
        self.access.put_token(row, made(row, Actor("", "first start"), self.experiments.now()))
        return token

    async def start(self) -> None:
        self.reward_writer.start()
        self.ticker.start()
        self.announcer.start()
        self.deliveries.start()
        await self.renew_tokens()

    def hush(self) -> None:
        """End the streams and plans and set the deadline: the server is about to stop."""
        self.plans.close()
        self.until = min(self.until, monotonic() + self.settings.stop_seconds)
        self.ticker.end()

    async def stop(self) -> None:
        """Finish accepted work and close the database, within the time limit."""
        self.hush()
        try:
            async with asyncio.timeout(max(LAST, self.until - monotonic())):
                await self.finish()
        except TimeoutError:
            self.hanging = True
            LOG.warning("stopped without a response from the database; acknowledged calls are stored")

    async def finish(self) -> None:
        loop = asyncio.get_running_loop()
        patience = self.settings.stop_seconds
        await asyncio.gather(self.deliveries.stop(), loop.run_in_executor(None, self.reward_writer.close, patience))
        await asyncio.sleep(0)  # lets the answers of the last commit be sent
        await loop.run_in_executor(None, self.ticker.close, patience)
        await loop.run_in_executor(None, self.announcer.close, patience)
        await loop.run_in_executor(None, self.workers.close)
        await loop.run_in_executor(None, self.lane.close)
        await loop.run_in_executor(None, self.access.close)
        await loop.run_in_executor(None, self.experiments.close)

    async def renew_tokens(self) -> None:
        try:
            await self.workers.call(self.tokens.renew)
        except (Unavailable, Problem) as error:
            LOG.warning("tokens couldn't be read: %s", error)

    def freshness(self, decision: Decision, age: float = 0.0) -> str:
        """Cache-Control of an answer: until the end of the step, `max_age` at most, so that commands reach clients.

        `age` is for how long the answer may have been out of date already.
        """
        if decision.valid_until is None:
            return "no-cache"
        late = max(age, self.experiments.delay())
        left = min(decision.valid_until - self.experiments.now(), self.settings.max_age - late)
        return f"private, max-age={max(0, int(left))}"

    async def experiment(self, name: str, token: Token) -> Experiment:
        """The experiment of that name, from memory after its first use."""
        found = self.experiments.opened(name)
        if found is not None:
            return found
        try:
            return await self.ask(self.experiments.get, name)
        except Problem as problem:
            if isinstance(problem.__cause__, UnknownName):
                raise unknown_experiment(problem.__cause__, name, token) from problem
            raise

    async def ask(self, function: Callable[..., Result], *given: Any) -> Result:
        """The result of a function in a worker thread; an error of the experiment becomes a problem."""
        try:
            return await self.workers.call(function, *given)
        except AfterglowError as error:
            problem = problem_of(error)
            if problem.kind.slug in ("internal", "unusable"):
                LOG.error("an experiment can't be used: %s", error)
            raise problem from error
