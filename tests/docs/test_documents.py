"""The documents name what exists, all of it, and their links lead somewhere."""

import inspect
import re
from dataclasses import fields
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from afterglow import (
    Agent,
    Difference,
    Estimate,
    Estimates,
    PanelEstimate,
    Policy,
    RoundPolicy,
    Units,
    UnitsTest,
    UnitsWorld,
    errors,
    theory,
)
from afterglow.cli.app import commands
from afterglow.engine.outcome import Outcome
from afterglow.engine.simulate import TIERS, simulate
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study
from afterglow.policies import named, names, round_names
from afterglow.theory import trim
from afterglow.worlds.rewards import FORMS
from afterglow.worlds.spreads import NAMES, spread
from afterglow.worlds.world import World
from tables.policies import drawn, tables

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
GUIDES, REFERENCE = ROOT / "docs/guides", ROOT / "docs/reference"
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PLACES = ("arms", "window", "horizon")


def text_of(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def prose(document: Path) -> str:
    """A document without its fenced blocks."""
    return FENCE.sub("", text_of(document))


def called(document: Path) -> str:
    return str(document.relative_to(ROOT))


def anchors(document: Path) -> set[str]:
    """What its headings can be linked by."""
    titles = re.findall(r"^#+ (.*)$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def names_in_tables(document: Path) -> set[str]:
    """Every `name` or `name(…)` in the first column of the document's tables."""
    cells = re.findall(r"^\| ([^|]*) \|", text_of(document), re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)", cell)}


def public(kind: type) -> set[str]:
    """The public fields, methods and properties of a class."""
    own = {name for name in vars(kind) if not name.startswith("_")}
    return own | {field.name for field in fields(kind) if not field.name.startswith("_")}


# Links


@pytest.mark.parametrize("document", DOCUMENTS, ids=called)
def test_every_relative_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    for link in LINK.findall(prose(document)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, heading = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{called(document)} links to {link}, which isn't there"
        if heading:
            assert heading in anchors(target), f"{called(document)} links to {link}, a heading that isn't there"


def test_every_document_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        if document not in reached and document.suffix == ".md":
            reached.add(document)
            links = [link.partition("#")[0] for link in LINK.findall(prose(document)) if ":" not in link]
            waiting += [(document.parent / link).resolve() for link in links if link]
    assert not set(DOCUMENTS) - reached


def test_the_readme_fits_one_screen_and_a_bit() -> None:
    assert len(text_of(ROOT / "README.md").splitlines()) <= 60


# Policies


def test_the_tables_of_policies_are_drawn_from_their_records() -> None:
    guide = text_of(GUIDES / "policies.md")
    assert tables() in guide, "run python docs/tables/policies.py"
    assert drawn(guide) == guide


def test_every_setting_of_a_policy_is_explained() -> None:
    explained = names_in_tables(GUIDES / "policies.md")
    assert {name for policy in names() for name in named(policy).options()} <= explained


def test_the_changelog_names_every_policy_and_command() -> None:
    changes = text_of(ROOT / "CHANGELOG.md")
    assert [name for name in [*names(), *round_names(), *commands().commands] if f"`{name}`" not in changes] == []


def test_every_policy_named_in_a_document_exists() -> None:
    for document in DOCUMENTS:
        for name in re.findall(r"`([a-z0-9]+-(?:[a-z]+-)?(?:ucb|exp3|tsallis|elimination))`", prose(document)):
            assert name in [*names(), *round_names()], f"{called(document)} names {name}"


# Worlds


@pytest.mark.parametrize("text", NAMES)
def test_every_spread_has_its_row_in_the_guide(text: str) -> None:
    assert f"| `{text}` |" in text_of(GUIDES / "worlds.md")
    assert f"`{text}`" in text_of(REFERENCE / "worlds.md")


def test_every_spread_in_the_guide_exists() -> None:
    section = prose(GUIDES / "worlds.md").partition("## Spreads")[2].partition("## Your own")[0]
    rows = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    assert rows == list(NAMES)


@pytest.mark.parametrize("name", FORMS)
def test_every_reward_is_documented_as_it_is_written(name: str) -> None:
    form, law, _ = FORMS[name]
    reference = text_of(REFERENCE / "worlds.md")
    assert all(f"`{one}`" in reference for one in form.split(" or "))
    assert f"`{law.__name__}({', '.join(field.name for field in fields(law))})`" in reference
    assert f"`{name}:" in text_of(GUIDES / "worlds.md")


def test_every_engine_is_documented() -> None:
    assert set(TIERS) <= names_in_tables(GUIDES / "worlds.md")


# Reference


@pytest.mark.parametrize(
    ("page", "function"),
    [
        ("agent", Agent),
        ("units", Units),
        ("simulate", simulate),
        ("worlds", World.of),
        ("worlds", UnitsWorld.of),
        ("worlds", spread),
    ],
    ids=["Agent", "Units", "simulate", "World.of", "UnitsWorld.of", "spread"],
)
def test_every_argument_is_in_the_reference(page: str, function: Any) -> None:
    arguments = set(inspect.signature(function).parameters) - {"self", "what"}
    assert arguments <= names_in_tables(REFERENCE / f"{page}.md")


def test_the_reference_of_the_agent_has_all_its_methods() -> None:
    methods = {name for name in vars(Agent) if not name.startswith("_")} - {"from_json"}
    known = names_in_tables(REFERENCE / "agent.md")
    assert methods <= known
    assert "`Agent.from_json(text, policy=None)`" in text_of(REFERENCE / "agent.md")
    assert {name for name in vars(Units) if not name.startswith("_")} <= names_in_tables(REFERENCE / "units.md") | {
        "from_json"
    }


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("agent", Difference),
        ("agent", Estimate),
        ("agent", Estimates),
        ("units", PanelEstimate),
        ("units", UnitsTest),
        ("policy", Policy),
        ("policy", RoundPolicy),
        ("simulate", Outcome),
    ],
)
def test_every_field_is_in_the_reference(page: str, kind: type) -> None:
    assert public(kind) - set(PLACES) <= names_in_tables(REFERENCE / f"{page}.md")


def test_every_error_is_drawn_and_explained_as_in_the_code() -> None:
    page = text_of(REFERENCE / "errors.md")
    kinds = [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert set(kinds) - {"AfterglowError"} <= names_in_tables(REFERENCE / "errors.md")
    tree = [line.strip() for line in inspect.getdoc(errors).splitlines() if line[:4].strip() == ""]  # type: ignore[union-attr]
    assert [line for line in tree if line and line not in page] == []


def test_every_function_of_the_theory_is_listed_with_its_arguments() -> None:
    page = text_of(REFERENCE / "theory.md")
    found = [value for name in theory.__all__ if isinstance(value := getattr(theory, name), FunctionType)]
    found += [value for value in vars(trim).values() if inspect.isfunction(value) and value.__module__ == trim.__name__]
    for function in found:
        written = f"`{function.__name__}({', '.join(inspect.signature(function).parameters)})`"
        assert function.__name__.startswith("_") or written in page, f"{written} is not in the reference"


@pytest.mark.parametrize("kind", [Study, Results], ids=["Study", "Results"])
def test_every_part_of_a_study_is_in_the_reference(kind: type) -> None:
    own = {name for name in vars(kind) if not name.startswith("_")} | set(inspect.signature(kind).parameters)
    assert own <= names_in_tables(REFERENCE / "studies.md")


def test_every_field_of_a_study_is_in_the_guide() -> None:
    known = names_in_tables(GUIDES / "first-study.md")
    assert {field.name for field in fields(Study)} - {"source"} <= known


# Commands


def test_every_command_named_in_a_document_exists() -> None:
    known = set(commands().commands)
    for document in DOCUMENTS:
        for name in re.findall(r"(?:`|^\$ )afterglow ([a-z]+)", text_of(document), re.MULTILINE):
            assert name in known, f"{called(document)} names `afterglow {name}`"


def test_every_command_is_in_the_reference() -> None:
    page = text_of(REFERENCE / "commands.md")
    assert [name for name in commands().commands if f"afterglow {name}" not in page] == []
