"""A command is declared once: from its declaration it is in Python, HTTP, the client, the dashboard and the docs."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow.client import Client
from afterglow.client.command_methods import SETTINGS as CLIENT_SETTINGS
from afterglow.errors import BadValue, UnknownName
from afterglow.live import Experiment, Experiments
from afterglow.live.domain import transitions
from afterglow.live.domain.arguments import Argument, Kind
from afterglow.live.domain.command_table import COMMANDS, STARTED, Command, effect_of
from afterglow.live.domain.commands import Event
from afterglow.live.domain.log import Body
from afterglow.live.domain.settings_table import SETTINGS
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState
from afterglow.service import app
from afterglow.service.api import commands
from afterglow.service.api.declared_models import NewExperiment
from support.browser.visitor import Visitor
from support.service.live_fixtures import Clock
from support.service.page_fixtures import FRIDAY, create
from tables import commands as tables
from testbed.service import in_thread


def note(spec: Spec, state: ExperimentState, text: str) -> list[Event]:
    return [Event("note", {"text": text})]


def unchanged(spec: Spec, state: ExperimentState, body: Body) -> None:
    """What the event does to the state."""


NOTE = Command(
    name="note", summary="Write a note into the log", help="Write a note into the log, and change nothing else.",
    arguments=(Argument("text", Kind.TEXT, "The note.", example="a holiday", label="Note", hint="Kept in the log."),),
    phases=STARTED, effect=effect_of(note), events=("note",), label="Note", title="Write a note", button="Write",
    confirmation=lambda spec, status: "The note joins the activity log; {control} stays the control.",
    offered=lambda spec, status: status.phase == "running", at_once=True,
)  # fmt: skip


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """One more command in the declaration, with its effect."""
    monkeypatch.setitem(transitions.KINDS, "note", unchanged)
    COMMANDS.append(NOTE)
    routes = [commands.command_routes(COMMANDS) if one is commands.router else one for one in app.ROUTERS]
    monkeypatch.setattr(app, "ROUTERS", tuple(routes))
    yield NOTE
    COMMANDS.remove(NOTE)


@pytest.fixture
def client(declared: Command, tmp_path: Path) -> Iterator[httpx.Client]:
    with in_thread(tmp_path / "experiments.db", Clock(FRIDAY)) as made:
        create(made)
        yield made


def written(source: str) -> Any:
    """The class of a module that the generator writes."""
    space: dict[str, Any] = {}
    exec(source, space)
    return space["CommandMethods"]


def notes(client: httpx.Client) -> list[str]:
    events = client.get("/v1/experiments/shipping/events").json()["items"]
    return [one["body"]["text"] for one in events if one["kind"] == "note"]


def test_a_new_command_is_a_method_in_python(declared: Command, experiments: Experiments) -> None:
    experiment = experiments.create("shipping", ["49", "59"], window=3)
    before, decision = experiment.status(), experiment.decision()
    experiment.command("note", text="by its name")
    method = written(tables.live_methods(COMMANDS)).note
    assert str(inspect.signature(method)) == "(self, text: str) -> None"
    method(experiment, "by its method")
    assert [one.body for one in experiment.events() if one.kind == "note"] == [
        {"text": "by its name"}, {"text": "by its method"},
    ]  # fmt: skip
    assert (experiment.status(), experiment.decision()) == (before, decision)
    assert experiment.verify().ok
    with pytest.raises(BadValue, match="text must be a sentence") as refused:
        method(experiment, "")
    assert refused.value.field == "text"


def test_a_new_command_is_a_route_with_its_schema(client: httpx.Client) -> None:
    assert client.post("/v1/experiments/shipping/note", json={"text": "a holiday"}).json()["phase"] == "running"
    assert notes(client) == ["a holiday"]
    assert client.post("/v1/experiments/shipping/note", json={"txt": "a holiday"}).status_code == 422
    document = client.get("/openapi.json").json()
    call = document["paths"]["/v1/experiments/{name}/note"]["post"]
    assert (call["summary"], call["security"]) == (NOTE.summary, [{"token": ["operate"]}])
    schema = document["components"]["schemas"]["Note"]
    assert (schema["required"], schema["examples"]) == (["text"], [{"text": "a holiday"}])
    assert "POST /v1/experiments/{name}/note" in client.get("/docs").text


def test_a_new_command_is_a_method_of_the_client(client: httpx.Client) -> None:
    method = written(tables.client_methods(COMMANDS)).note
    with Client(str(client.base_url), "none") as remote:
        assert method(remote.experiment("shipping"), "from a program")["phase"] == "running"
    assert notes(client) == ["from a program"]


def test_a_new_command_has_a_form_that_says_what_will_happen(client: httpx.Client) -> None:
    visitor = Visitor(str(client.base_url))
    assert "/experiments/shipping/actions/note" in visitor.read("/experiments/shipping").links
    page = visitor.read("/experiments/shipping/actions/note")
    assert "Write a note" in page.text
    assert "The note joins the activity log; 49 stays the control." in page.text
    visitor.send("/experiments/shipping/actions/note", text=" ")
    assert (visitor.answer.status_code, notes(client)) == (422, [])
    (wrong,) = (one for one in visitor.page.controls if one.get("aria-invalid"))
    assert wrong["name"] == "text"
    visitor.send("/experiments/shipping/actions/note", text="from the page")
    assert (visitor.path(), notes(client)) == ("/experiments/shipping?done=note", ["from the page"])
    visitor.close()


def test_a_new_command_is_in_the_tables_of_the_reference(declared: Command) -> None:
    assert "| `note(text)` | `POST /v1/experiments/{name}/note` | `operate` |" in tables.command_table(COMMANDS)
    assert "| `note(text)` | *a* |" in tables.client_table(COMMANDS)


def test_methods_and_tables_are_written_from_the_declaration() -> None:
    again = "run python docs/tables/commands.py"
    for file, text in ((tables.LIVE, tables.live_methods()), (tables.CLIENT, tables.client_methods())):
        assert file.read_text(encoding="utf-8") == text, again
    for page, drawn in ((tables.PAGE, tables.drawn), (tables.CLIENT_PAGE, tables.client_drawn)):
        assert drawn(page.read_text(encoding="utf-8")) == page.read_text(encoding="utf-8"), again


def test_every_command_leads_to_events_that_the_state_knows() -> None:
    assert {kind for one in COMMANDS for kind in one.events} <= transitions.KINDS.keys()
    assert all(callable(getattr(Experiment, one.name)) for one in COMMANDS)


def test_an_unknown_command_or_argument_is_refused(experiments: Experiments) -> None:
    experiment = experiments.create("shipping", ["49", "59"], window=3)
    with pytest.raises(UnknownName, match="no command named 'pni'; did you mean 'pin'") as command:
        experiment.command("pni")
    with pytest.raises(UnknownName, match="no argument named 'why'") as argument:
        experiment.command("pin", variant="49", why="x")
    assert [one.value.kind for one in (command, argument)] == ["unknown-command", "unknown-argument"]
    with pytest.raises(BadValue, match="reason is missing"):
        experiment.command("pin", variant="49")


def test_every_setting_is_known_to_python_http_and_the_client() -> None:
    names = [one.name for one in SETTINGS]
    signature = inspect.signature(Experiments.create).parameters
    assert set(signature) - {"self", "settings", "by"} <= set(names)
    assert list(NewExperiment.model_fields) == names
    assert set(names) == CLIENT_SETTINGS
    for one in SETTINGS:
        field = NewExperiment.model_fields[one.name]
        assert field.is_required() == one.required
        assert one.required or field.default == one.default
