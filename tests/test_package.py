"""What the package promises before any of its code is used."""

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import metadata, packages_distributions, requires, version
from pathlib import Path
from random import Random
from zipfile import ZipFile

import pytest

import afterglow

ROOT = Path(__file__).parent.parent
WRITTEN = (".md", ".py", ".html", ".toml", ".txt", ".js")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

CORE_ONLY = """
import sys
from importlib.metadata import packages_distributions

class CoreOnly:
    others = set(packages_distributions()) - {"afterglow"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.others:
            raise ModuleNotFoundError(f"{name} is not among the core's requirements", name=name)

sys.meta_path.insert(0, CoreOnly())
"""


def installed_by(extra: str) -> set[str]:
    """The modules of what an extra installs, with all that it needs in turn."""
    found, left = set[str](), list(PROJECT["optional-dependencies"][extra])
    while left:
        name = re.split(r"[^\w.-]", left.pop())[0].lower().replace("_", "-")
        if name not in found:
            found.add(name)
            left += [line for line in requires(name) or [] if ";" not in line]
    owners = packages_distributions()
    return {module for module, names in owners.items() if found & {name.lower().replace("_", "-") for name in names}}


def with_extra(extra: str) -> str:
    """Code that lets only the modules of an extra be imported."""
    return CORE_ONLY.replace('- {"afterglow"}', f'- {{"afterglow"}} - {installed_by(extra)!r}')


def called(code: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, after `code` was run in the same interpreter."""
    whole = f"{code}\nfrom afterglow.cli import main\nmain({list(arguments)!r})"
    done = subprocess.run([sys.executable, "-W", "error", "-c", whole], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def recorded() -> str:
    """240 recorded steps of two arms."""
    draw = Random(1)
    rows = (f"{step},{'AB'[step // 6 % 2]},{1 + step // 6 % 2 + draw.random():.3f}\n" for step in range(240))
    return "step,arm,total\n" + "".join(rows)


def fresh(code: str) -> str:
    """What `code` prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_afterglow_leaves_the_heavy_libraries_alone() -> None:
    loaded = set(fresh("import sys, afterglow; print(*sys.modules)").split())
    assert not loaded & {"numba", "scipy", "matplotlib", "typer", "rich", "jinja2", "gymnasium", "pyarrow"}


@pytest.mark.parametrize("name", ["Results", "Study", "World", "fit", "plan", "simulate"])
def test_the_lab_is_there_by_its_short_names(name: str) -> None:
    assert getattr(afterglow, name).__name__ == name
    assert name in dir(afterglow)


def test_a_name_of_the_lab_says_which_extra_it_needs_when_it_is_missing() -> None:
    for name in ("Results", "Study", "plan"):
        code = f"""
try:
    from afterglow import {name}
except ImportError as missing:
    print(type(missing).__name__, missing)
"""
        assert fresh(CORE_ONLY + code).startswith("MissingExtra ")


def test_importing_afterglow_takes_less_than_three_tenths_of_a_second() -> None:
    code = "import time; start = time.process_time(); import afterglow; print(time.process_time() - start)"
    assert min(float(fresh(code)) for _ in range(3)) < 0.3


def test_an_agent_decides_with_the_standard_library_alone() -> None:
    code = """
import afterglow
agent = afterglow.Agent(arms=["A", "B", "C"], window=24, seed=7)
print(agent.select())
agent.update(0.5)
"""
    assert fresh(CORE_ONLY + code).strip() in {"A", "B", "C"}


@pytest.mark.parametrize(
    ("extra", "arguments", "sentence"),
    [
        (None, [], "the command line needs the 'fit' extra"),
        (None, ["fit", "steps.csv"], "afterglow fit needs the 'fit' extra"),
        (None, ["serve"], "afterglow serve needs the 'live' extra"),
        ("fit", ["simulate", "--horizon", "9", "--window", "1"], "afterglow simulate needs the 'lab' extra"),
        ("fit", ["fit", "steps.csv", "--out", "page"], "the page of a fit needs the 'lab' extra"),
        ("fit", ["serve"], "the service needs the 'live' extra"),
        ("live", ["fit", "steps.csv"], "afterglow fit needs the 'fit' extra"),
    ],
)
def test_a_command_says_which_extra_it_needs_when_it_is_missing(
    extra: str | None, arguments: list[str], sentence: str
) -> None:
    name = sentence.split("'")[1]
    whole = f'{sentence}: in a clone of Afterglow, pip install ".[{name}]"\n'
    assert called(CORE_ONLY if extra is None else with_extra(extra), *arguments) == (1, "", whole)


def test_nobody_is_told_to_install_the_package_of_that_name_which_is_not_ours() -> None:
    places = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "src").rglob("*"), *(ROOT / "docs").rglob("*")]
    texts = {path: path.read_text(encoding="utf-8") for path in places if path.suffix in WRITTEN}
    assert len(texts) > 200
    told = re.compile(r"\b(install|add|upgrade)\s+(-\S+\s+)*[\"']?afterglow\b(?!\.)")
    assert [path.name for path, text in texts.items() if told.search(text)] == []


def test_the_installed_version_is_the_one_in_the_source() -> None:
    assert version("afterglow-bandits") == afterglow.__version__


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == afterglow.__version__


def test_the_core_requires_nothing() -> None:
    assert PROJECT["dependencies"] == []


def test_a_live_experiment_runs_with_the_standard_library_alone(tmp_path: Path) -> None:
    code = f"""
from afterglow import live
with live.open({str(tmp_path / "experiments.db")!r}) as experiments:
    shop = experiments.create("shop", ["A", "B"], window=2, reward_max=10)
    shop.reward(3)
    shop.close_step()
    print(shop.current())
"""
    assert fresh(CORE_ONLY + code).strip() in {"A", "B"}


def test_recorded_steps_are_fitted_with_numpy_and_scipy_alone() -> None:
    code = f"from afterglow import fit\nprint(fit({recorded()!r}, window=3, season=1).check.sentence)"
    assert fresh(CORE_ONLY.replace('- {"afterglow"}', '- {"afterglow", "numpy", "scipy"}') + code)


def test_the_command_line_fits_with_the_extra_fit_alone(tmp_path: Path) -> None:
    file, priors = tmp_path / "steps.csv", tmp_path / "priors.csv"
    file.write_text(recorded(), encoding="utf-8")
    asked = ("fit", str(file), "--window", "3", "--season", "1", "--priors", str(priors))
    code, printed, said = called(with_extra("fit"), *asked)
    assert (code, said.splitlines()[-1]) == (0, f"priors: {priors}")
    assert "A - B" in printed
    assert priors.read_text(encoding="utf-8").startswith("arm,")


@pytest.mark.parametrize("extra", ["fit", "lab", "tables", "gym", "live", "dask", "postgres", "all", "dev"])
def test_every_extra_is_there(extra: str) -> None:
    assert extra in (metadata("afterglow-bandits").get_all("Provides-Extra") or [])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("built")
    code = "import sys; from hatchling.build import *; build_wheel(sys.argv[1]); build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, capture_output=True, check=True)
    return folder


def test_the_wheel_holds_the_whole_package_its_types_and_its_licence(built: Path) -> None:
    shipped = set(ZipFile(next(built.glob("*.whl"))).namelist())
    source = {path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert {path.relative_to(ROOT / "src").as_posix() for path in source} <= shipped
    assert {"afterglow/py.typed", f"afterglow_bandits-{afterglow.__version__}.dist-info/licenses/LICENSE"} <= shipped


def test_the_description_of_the_package_has_no_link_that_only_works_in_the_repository(built: Path) -> None:
    name = f"afterglow_bandits-{afterglow.__version__}"
    description = ZipFile(next(built.glob("*.whl"))).read(f"{name}.dist-info/METADATA").decode()
    assert "Content-Type: text/markdown" in description
    targets = re.findall(r'(?:\]\(|src="|srcset=")([^)"\s]+)', description)
    assert len(targets) > 20
    assert [target for target in targets if not target.startswith("https://")] == []
    files = {target.partition(f"/v{afterglow.__version__}/")[2].partition("#")[0] for target in targets}
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_source_distribution_can_be_built_and_cited(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        shipped = {member.name.partition("/")[2] for member in archive}
    wanted = {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CITATION.cff", "src/afterglow/release.py"}
    assert wanted <= shipped


@pytest.mark.parametrize("extra", ["tables", "gym", "dask"])
def test_an_extra_for_the_simulator_brings_it(extra: str) -> None:
    assert "afterglow-bandits[lab]" in PROJECT["optional-dependencies"][extra]


def test_no_file_names_a_machine_or_a_registry() -> None:
    place = re.compile(
        r"/(?:home|Users|root|tmp|work|opt)/\w|pypi\.org|pythonhosted|\bfile://|--(?:extra-)?index-url|--find-links"
    )
    folders = [ROOT / name for name in (".ci", "bench", "docs", "requirements", "src", "testbed", "tests")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in [*files, *(path for path in ROOT.iterdir() if path.is_file())]
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if place.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ["run", "dev", "bench", "serve"])
def test_requirements_are_pins_with_hashes_and_nothing_else(name: str) -> None:
    pins = re.compile(
        r"(?:[a-z0-9-]+(?:\[[a-z,]+\])?==[\w.!+]+(?: ; [^\\]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n)+"
    )
    assert pins.fullmatch((ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8"))


def test_development_uses_the_same_pins_as_running() -> None:
    def pinned(name: str) -> set[str]:
        return set(re.findall(r"^\S+==[^\\]+", (ROOT / "requirements" / f"{name}.txt").read_text(), re.MULTILINE))

    assert pinned("run") <= pinned("dev")
    assert pinned("run") <= pinned("bench")


ROOMS = {
    "cli": {"fit", "lab", "live"}, "client": {"client"}, "engine": {"fit", "lab"},
    "lab": {"fit", "lab", "tables", "gym", "dask"},
    "live": {"live", "postgres"}, "service": {"live", "postgres"}, "worlds": {"fit", "lab"},
}  # fmt: skip # the extras by which each folder may import something


def imported(path: Path) -> set[str]:
    """The first names of all that a module imports from elsewhere."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"afterglow"}


@pytest.mark.parametrize("room", sorted(path.name for path in (ROOT / "src/afterglow").iterdir()))
def test_everything_that_is_imported_is_declared_by_its_extra(room: str) -> None:
    place = ROOT / "src/afterglow" / room
    modules = list(place.rglob("*.py")) if place.is_dir() else [place]
    extras = PROJECT["optional-dependencies"]
    declared = {
        re.split(r"[^\w-]", line)[0].lower() for extra in ROOMS.get(room, set()) for line in extras.get(extra, [])
    }
    owners = packages_distributions()
    used = set[str]().union(*(imported(path) for path in modules if path.suffix == ".py"))
    missing = [
        name for name in used if not {owner.lower().replace("_", "-") for owner in owners.get(name, [name])} & declared
    ]
    assert missing == []
