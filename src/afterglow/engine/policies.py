"""A policy's two verbs as machine code behind one pair of function types."""

import re
from functools import cache
from typing import Any

from numba import carray, types
from numba.core.errors import NumbaError

from afterglow.engine.compiling import digest, folder, jitted, keep, source_of
from afterglow.engine.layout import layout
from afterglow.engine.tiers import MANY
from afterglow.engine.view import CELLS, over
from afterglow.errors import BadValue
from afterglow.policies.policy import Policy
from afterglow.policies.registry import is_ours

NEXT = types.UniTuple(types.int64, 3)(CELLS, CELLS, CELLS)
LEARN = types.none(CELLS, CELLS, types.int64, types.int64, types.int64, types.float64, types.float64)

# Put in by `keep` for each policy; named here for the reader and the type checker.
settings_over: Any = None
state_over: Any = None
plain_next: Any = None
plain_learn: Any = None
DRAWS = 1


def next_over(settings: Any, state: Any, draws: Any) -> Any:
    return plain_next(settings_over(settings), state_over(state), carray(draws, DRAWS))


def learn_over(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
    plain_learn(settings_over(settings), state_over(state), arm, steps, split, head, body)


def content(policy: Policy[Any, Any]) -> str | None:
    """A mark that changes with anything that a policy's verbs read; None if that can't be told."""
    return our_content(policy) if is_ours(policy) or has_our_verbs(policy) else content_now(policy)


def has_our_verbs(policy: Policy[Any, Any]) -> bool:
    """Whether it is one of ours with other settings, such as one that counts whole seasons."""
    return all(is_our_verb(verb) for verb in (policy.next_hold, policy.learn))


def is_our_verb(verb: Any) -> bool:
    inside = [cell.cell_contents for cell in getattr(verb, "__closure__", None) or ()]
    home = getattr(verb, "__module__", None) or ""
    return home.startswith("afterglow.policies.") and all(is_our_verb(part) for part in inside if callable(part))


def content_now(policy: Policy[Any, Any]) -> str | None:
    shapes = (layout(policy.Settings), layout(policy.State))
    makers = source_of("afterglow.engine.view", "afterglow.engine.layout", "afterglow.engine.policies")
    return digest(policy.next_hold, policy.learn, policy.draws, repr(shapes), makers)


our_content = cache(content_now)  # ours don't change while a process runs


def compiled(policy: Policy[Any, Any]) -> tuple[Any, Any]:
    """(next_hold, learn) of a policy over rows: what the driver calls.

    Places outside a list and divisions by zero are looked for in a user's policy, at a price. The tests play ours in
    plain Python, which looks for them too.
    """
    mark, checked = content(policy), not is_ours(policy)

    def scope() -> dict[str, Any]:
        done: dict[Any, Any] = {}
        return {
            "settings_over": over(policy.Settings),
            "state_over": over(policy.State),
            "DRAWS": MANY if callable(policy.draws) else max(policy.draws, 1),
            "plain_next": jitted(policy.next_hold, done, checked, mark),
            "plain_learn": jitted(policy.learn, done, checked, mark),
        }

    try:
        return keep(next_over, NEXT, scope, mark), keep(learn_over, LEARN, scope, mark)
    except NumbaError as error:
        way_out = "docs/guides/own-policy.md says what may be used"
        sentence = f"{policy.name} can't be compiled: {gist(error)}; {way_out}"
        raise BadValue(sentence, kind="not-compiled", field="policy") from error


def gist(error: NumbaError) -> str:
    """What Numba found wrong and where, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    where = [line.rstrip(":") for line in lines if line.startswith("File ") and str(folder().name) not in line]
    what = [line for line in lines if not line.startswith(("Failed in", "During:", "File "))]
    said = re.sub(r"View\(.*frozen=(True|False)\)", "the settings or state", (what or lines)[0])
    said = said.split(': %"')[0]  # what follows is machine code
    return f"{said} ({where[0]})" if where else said
