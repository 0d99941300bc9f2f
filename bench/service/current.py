"""`GET current` of the service beside a bare Starlette route."""

from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.report.figures import Figure, Item
from bench.service.bare_route import PATH, bare_route
from bench.service.contender import COLUMNS, Contender
from bench.service.load import Plan
from testbed.service import Serving

CONNECTIONS = 32
ROUNDS = 7
SECONDS = 1.5
HOUR = 3600
EXPERIMENT = {"name": "shipping", "variants": ["49", "59", "69"], "window": 24, "step_seconds": HOUR}


def measure(folder: Path) -> Item:
    with ExitStack() as stack:
        room = stack.enter_context(TemporaryDirectory(dir=folder))
        service = stack.enter_context(Serving(f"{room}/current.db", "--rate-limit", "1e9"))
        with service.client() as client:
            client.post("/v1/experiments", json=EXPERIMENT).raise_for_status()
        token = service.new_token("decide", experiments=["shipping"])
        port, process = stack.enter_context(bare_route())
        assert service.process is not None
        path = "/v1/experiments/shipping/current"
        ours = Contender(Plan(service.port, path, token, CONNECTIONS, SECONDS), service.process.pid)
        bare = Contender(Plan(port, PATH, token, CONNECTIONS, SECONDS), process)
        for turn in range(ROUNDS + 1):
            bare.run(counted=turn > 0)
            ours.run(counted=turn > 0)
    figures = [
        Figure("requests a second, over those of a bare route", ours.rate / bare.rate, "×", at_least=0.6),
        Figure("the same by CPU time", bare.cpu / ours.cpu, "×"),
    ]
    return Item(
        "current", "`GET current` beside a bare Starlette route", figures, ["", "requests/s", *COLUMNS],
        [["bare route", *bare.cells()], ["`GET current`", *ours.cells()]],
        [
            f"One process each, {CONNECTIONS} connections that are kept, in turns, medians of {ROUNDS}. The service "
            "finds the token, counts and times the call, and says how long the answer lasts; the bare route encodes "
            f"five fields. uvicorn {version('uvicorn')} with uvloop and httptools, Starlette {version('starlette')}.",
        ],
    )  # fmt: skip
