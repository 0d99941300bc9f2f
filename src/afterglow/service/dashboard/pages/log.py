"""The whole activity log of an experiment, in pages of its records."""

from starlette.responses import Response

from afterglow.service.dashboard import log_sentences
from afterglow.service.dashboard.visit import Visit

PAGE = 5000  # records on one page, most of them the normal ends of steps


def log_page(visit: Visit) -> Response:
    """The newest page, or the one that ends with record `until`."""
    experiment = visit.experiment()
    head = visit.dashboard.experiments.heads()[experiment.name]
    asked = visit.number("until")
    last = head if asked is None else min(asked, head)
    first = max(0, last + 1 - PAGE)
    found = experiment.events(first - 1, last + 1 - first)
    return visit.page(
        "log.html", spec=experiment.spec, lines=log_sentences.lines(experiment.spec, found), first=first, last=last,
        head=head, earlier=first - 1 if first else None, later=min(last + PAGE, head) if last < head else None,
    )  # fmt: skip
