"""The list of all experiments: search, filter by status, order over all pages; alarms come first."""

from hashlib import sha256
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from afterglow.errors import Unavailable
from afterglow.live import Decision
from afterglow.live.domain.log import Place
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Status
from afterglow.live.shared_patience import SharedPatience
from afterglow.service.dashboard.rendering import HEADERS
from afterglow.service.dashboard.sentences import in_short
from afterglow.service.dashboard.silence import silence
from afterglow.service.dashboard.standing import FILTERS, KNOWN, ListedState
from afterglow.service.dashboard.visit import Visit
from afterglow.service.problems import problem_of

PAGE_SIZE = 100  # experiments on one page
RECENT = 30.0  # seconds for which a grade in the list may be used: computing a hundred takes seconds
ORDERS = {"urgency": "alarms first", "name": "name", "newest": "newest first"}
LONGEST = 100  # characters of a search


class OverviewRow(NamedTuple):
    """One experiment; only its name and `error` where it can't be read."""

    name: str
    spec: Spec | None = None
    status: Status | None = None
    decision: Decision | None = None
    silence: str = ""  # that nothing was reported for a while
    error: str = ""
    answer: str = ""  # which variant is ahead, and by how much


class Choice(NamedTuple):
    """What a visitor wants to see."""

    search: str
    status: str
    order: str
    page: int

    def query(self, page: int | None = None) -> str:
        """The part of an address that names it."""
        wanted = {"q": self.search, "status": self.status, "order": self.order if self.order != "urgency" else ""}
        number = self.page if page is None else page
        return urlencode(
            {name: value for name, value in wanted.items() if value} | ({"page": number} if number else {})
        )


def overview(visit: Visit) -> Response:
    choice, known = chosen(visit), [one for one in visit.dashboard.experiments.names() if knows(visit, one)]
    patience = SharedPatience()
    names, archived = ordered(visit, known, choice, patience)
    choice = choice._replace(page=min(choice.page, max(0, len(names) - 1) // PAGE_SIZE))
    first = choice.page * PAGE_SIZE
    rows = [row(visit, name, patience) for name in names[first : first + PAGE_SIZE]]
    listed = [(one.name, one.status, one.decision, one.silence, one.error) for one in rows]
    seen = sha256(repr((listed, len(names))).encode()).hexdigest()[:16]
    if visit.partial:
        if visit.request.query_params.get("seen") == seen:
            return Response(status_code=204, headers=HEADERS)
        return visit.page("overview_rows.html", rows=rows, seen=seen, choice=choice)
    return visit.page(
        "overview.html", rows=rows, seen=seen, choice=choice, total=len(known), found=len(names), filters=FILTERS,
        archived=archived, orders=ORDERS, more=first + PAGE_SIZE < len(names),
    )  # fmt: skip


def knows(visit: Visit, name: str) -> bool:
    return visit.token is not None and visit.token.knows(name)


def chosen(visit: Visit) -> Choice:
    asked = visit.request.query_params
    status, order = asked.get("status", asked.get("phase", "")), asked.get("order", "")  # phase: old bookmarks
    return Choice(
        asked.get("q", "").strip()[:LONGEST],
        status if status in KNOWN else "",
        order if order in ORDERS else "urgency",
        min(visit.number("page") or 0, 10**6),
    )


def ordered(visit: Visit, known: list[str], choice: Choice, patience: SharedPatience) -> tuple[list[str], int]:
    """All experiments that fit, in the chosen order, and how many are archived; `known` has the oldest first."""
    heads = visit.dashboard.experiments.places()
    found = {name: standing(visit, name, heads[name], patience) for name in known if name in heads}
    wanted = choice.search.lower()
    fits = [name for name, one in found.items() if wanted in name.lower() and one.fits(choice.status)]
    archived = sum(one.archived for one in found.values())
    if choice.order == "newest":
        return fits[::-1], archived
    urgent = choice.order == "urgency"
    return sorted(fits, key=lambda name: (found[name].urgency() if urgent else 0, name)), archived


def standing(visit: Visit, name: str, place: Place, patience: SharedPatience) -> ListedState:
    cache = visit.dashboard.cache(name)
    if cache.standing is None or cache.standing.place != place:
        try:
            listed = visit.dashboard.experiments.get(name).listed(RECENT, patience.left())
            status, silent = listed.status, bool(silence(listed))
            alarm, grade = status.alarm is not None, status.verdict.grade
            cache.standing = ListedState(place, status.phase, alarm, grade, silent, status.archived)
        except Unavailable:
            raise
        except Exception:  # any error: it is listed with it
            cache.standing = ListedState(place, "", True)
    return cache.standing


def row(visit: Visit, name: str, patience: SharedPatience) -> OverviewRow:
    """The row of an experiment; one that can't be read is listed with its error."""
    try:
        experiment = visit.dashboard.experiments.get(name)
        listed = experiment.listed(RECENT, patience.left())
        answer = in_short(listed.status.verdict)
        return OverviewRow(name, experiment.spec, listed.status, listed.decision, silence(listed), answer=answer)
    except Exception as failure:  # any error: the other rows must be shown
        return OverviewRow(name, error=problem_of(failure).detail)
