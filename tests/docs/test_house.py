"""The documents show the tree as it is, and import from packages only."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from support.docs.blocks import blocks

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
REFERENCE = [document for document in DOCUMENTS if document.parent.name in ("guides", "reference")]
PACKAGES = sorted(init for init in (ROOT / "src/afterglow").glob("**/__init__.py") if "migrations" not in init.parts)
PUBLIC = ["afterglow", "afterglow.client", "afterglow.engine", "afterglow.lab", "afterglow.live", "afterglow.policies",
          "afterglow.theory", "afterglow.worlds"]  # fmt: skip
IMPORT = re.compile(r"^(?:>>> |\.\.\. )?\s*(?:from (afterglow[\w.]*) import ([\w, ]+)|import (afterglow[\w.]*))", re.M)
INLINE = re.compile(r"`(?:from )?(afterglow(?:\.[a-z_]\w*)+)")
MODULES = {path.stem for path in (ROOT / "src/afterglow").glob("*.py")} - {"__init__"}
FOLDERS = re.compile(r"^( *)([\w/]+/(?:, [\w/]+/)*)  ", re.M)
NAMED = re.compile(r"`((?:src|tests|docs|bench|testbed|studies)/[\w./-]+)`")


def called(document: Path) -> str:
    return str(document.relative_to(ROOT))


def imports(document: Path) -> list[tuple[str, list[str]]]:
    """What the code blocks of a document import: modules with the names taken from them."""
    found = []
    for block in blocks(document.read_text(encoding="utf-8")):
        if block.language == "python":
            found += [
                (source or whole, [name.strip() for name in names.split(",") if name.strip()])
                for source, names, whole in IMPORT.findall(block.body)
            ]
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=called)
def test_code_in_documents_imports_exported_names_from_packages(document: Path) -> None:
    for source, names in imports(document):
        assert source in PUBLIC or source.removeprefix("afterglow.") in MODULES, f"a deep import: {source}"
        if source in PUBLIC:
            packages = [one.rpartition(".")[2] for one in PUBLIC if one.startswith(f"{source}.")]
            exported = [*import_module(source).__all__, *packages]
            assert [name for name in names if name not in exported] == [], f"not exported by {source}"


@pytest.mark.parametrize("document", REFERENCE, ids=called)
def test_guides_and_reference_name_packages_not_their_modules(document: Path) -> None:
    for name in INLINE.findall(document.read_text(encoding="utf-8")):
        package, _, rest = name.removeprefix("afterglow.").partition(".")
        if f"afterglow.{package}" in PUBLIC and rest:
            first = rest.split(".")[0]
            assert first in import_module(f"afterglow.{package}").__all__, f"{called(document)} names {name}"


@pytest.mark.parametrize("init", PACKAGES, ids=called)
def test_every_package_that_offers_names_lists_them(init: Path) -> None:
    tree = ast.parse(init.read_text(encoding="utf-8"))
    offers = [node for node in tree.body if isinstance(node, (ast.ImportFrom, ast.FunctionDef, ast.ClassDef))]
    assigned = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
                if isinstance(target, ast.Name)}  # fmt: skip
    assert not offers or "__all__" in assigned, f"{called(init)} has no __all__"


def test_the_tree_in_the_documents_is_that_of_the_folders() -> None:
    page = (ROOT / "docs/house.md").read_text(encoding="utf-8")
    tree = next(block.body for block in blocks(page) if block.language == "text")
    above, shown = list[tuple[int, Path]](), set[Path]()
    for indent, names in FOLDERS.findall(tree):
        above = [one for one in above if one[0] < len(indent)]
        here = [(above[-1][1] if above else ROOT) / name for name in names.split(", ")]
        assert [folder for folder in here if not folder.is_dir()] == []
        above.append((len(indent), here[0]))
        shown |= set(here)
    assert len(shown) > 30
    packages = {init.parent for init in PACKAGES}
    assert sorted(called(one) for one in packages - shown) == []


FACES = ("client/", "service/api/models", "service/api/event_models", "service/api/verdict_models")


def classes() -> dict[str, list[str]]:
    """Modules by the public classes that they define at their top level."""
    found = dict[str, list[str]]()
    for path in sorted((ROOT / "src/afterglow").glob("**/*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(str(path.relative_to(ROOT / "src/afterglow")))
    return found


def test_public_classes_of_one_name_are_the_same_thing() -> None:
    """`Settings` and `State` are parts of every policy; the client and the HTTP API show what `live` has."""
    for name, modules in classes().items():
        others = [one for one in modules if not one.startswith(FACES)]
        if name in ("Settings", "State"):
            others = [one for one in others if not one.startswith("policies/") and one != "lab/report/rotation.py"]
        assert len(others) < 2, f"{name} is a class of {' and of '.join(others)}"


@pytest.mark.parametrize("document", [ROOT / "docs/house.md", ROOT / "CONTRIBUTING.md"], ids=called)
def test_every_file_that_contributors_are_sent_to_exists(document: Path) -> None:
    for name in NAMED.findall(document.read_text(encoding="utf-8")):
        assert "your_ucb" in name or (ROOT / name).exists(), f"{called(document)} names {name}, which isn't there"


@pytest.mark.parametrize("document", DOCUMENTS, ids=called)
def test_every_picture_is_there_in_light_and_in_dark(document: Path) -> None:
    for picture in re.findall(r'(?:src|srcset)="([^"]+)"', document.read_text(encoding="utf-8")):
        assert (document.parent / picture).is_file(), f"{called(document)} shows {picture}, which isn't there"
