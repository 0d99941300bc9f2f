"""The verbs of a round policy as machine code behind one set of function types."""

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import carray, types
from numba.core.errors import NumbaError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from afterglow.engine.compiling import digest, jitted, keep, source_of
from afterglow.engine.layout import layout
from afterglow.engine.policies import gist
from afterglow.engine.tiers import MANY
from afterglow.engine.view import CELLS, over
from afterglow.errors import BadValue
from afterglow.policies.rounds import RoundPolicy

i8, f8 = types.int64, types.float64
COUNTS = types.CPointer(i8)
NEXT = types.UniTuple(i8, 2)(CELLS, CELLS)
LEARN = types.none(CELLS, CELLS, i8, i8, COUNTS, CELLS, CELLS)
RECOMMEND = i8(CELLS, CELLS)
STATISTIC = f8(CELLS, CELLS)

# Put in by `keep` for each policy; named here for the reader and the type checker.
settings_over: Any = None
state_over: Any = None
plain_next: Any = None
plain_learn: Any = None
plain_recommend: Any = None
plain_statistic: Any = None


def next_over(settings: Any, state: Any) -> Any:
    return plain_next(settings_over(settings), state_over(state))


def learn_over(settings: Any, state: Any, steps: int, split: int, known: Any, heads: Any, bodies: Any) -> None:
    plain_learn(
        settings_over(settings), state_over(state), steps, split, carray(known, MANY), carray(heads, MANY),
        carray(bodies, MANY),
    )  # fmt: skip


def recommend_over(settings: Any, state: Any) -> Any:
    return plain_recommend(settings_over(settings), state_over(state))


def statistic_over(settings: Any, state: Any) -> Any:
    return plain_statistic(settings_over(settings), state_over(state))


def content(policy: RoundPolicy[Any, Any]) -> str | None:
    """A mark that changes with anything that a policy's verbs read; None if that can't be told."""
    shapes = (layout(policy.Settings), layout(policy.State))
    makers = source_of("afterglow.engine.view", "afterglow.engine.layout", "afterglow.engine.rounds.verbs")
    return digest(policy.next_round, policy.learn, policy.recommend, policy.statistic, repr(shapes), makers)


def compiled(policy: RoundPolicy[Any, Any]) -> tuple[Any, Any, Any]:
    """(next_round, learn, recommend) of a policy over rows."""
    mark = content(policy)
    scope = shared_scope(policy, mark)
    try:
        return (
            keep(next_over, NEXT, scope, mark),
            keep(learn_over, LEARN, scope, mark),
            keep(recommend_over, RECOMMEND, scope, mark),
        )
    except NumbaError as error:
        way_out = "docs/guides/own-policy.md says what may be used"
        sentence = f"{policy.name} can't be compiled: {gist(error)}; {way_out}"
        raise BadValue(sentence, kind="not-compiled", field="policy") from error


def compiled_statistic(policy: RoundPolicy[Any, Any]) -> Any:
    """The statistic of a policy's exact test over rows."""
    mark = content(policy)
    return keep(statistic_over, STATISTIC, shared_scope(policy, mark), mark)


def shared_scope(policy: RoundPolicy[Any, Any], mark: str | None) -> Callable[[], dict[str, Any]]:
    """What `keep` puts over the globals, made once for all verbs: what they call is compiled once."""

    @cache
    def scope() -> dict[str, Any]:
        done: dict[Any, Any] = {}
        return {
            "settings_over": over(policy.Settings),
            "state_over": over(policy.State),
            "plain_next": jitted(policy.next_round, done, tag=mark),
            "plain_learn": jitted(policy.learn, done, tag=mark),
            "plain_recommend": jitted(policy.recommend, done, tag=mark),
            "plain_statistic": jitted(policy.statistic, done, tag=mark),
        }

    return scope


@intrinsic
def first_count(typing: Any, row: Any) -> Any:
    """Pointer to the first of an array's whole numbers; the caller keeps the array alive."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return make_array(signature.args[0])(context, builder, args[0]).data

    return COUNTS(row), build
