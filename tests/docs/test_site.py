"""The documentation site builds without a warning, its links lead somewhere, and it needs no network to be read."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


class Page(HTMLParser):
    """What a page of the site has: names to link to, links, what a browser loads for it, captions of its lists."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.ids, self.links, self.loads, self.captions = set[str](), list[str](), list[str](), list[str]()
        self.in_caption = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = dict(attrs)
        self.ids |= {has["id"] or ""} if "id" in has else set()
        self.links += [has["href"] or ""] if tag == "a" and "href" in has else []
        if tag != "a":
            self.loads += [value for name in ("src", "href") if (value := has.get(name))]
        self.in_caption = has.get("class") == "caption-text"

    def handle_data(self, data: str) -> None:
        if self.in_caption:
            self.captions.append(data)
        self.in_caption = False


def build(docs: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(docs / "build.py"), str(site)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(DOCS, folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def assigned(script: Path, before: str, after: str) -> Callable[[str], set[str]]:
    """The keys of each part of a script that is `before`, an object and `after`."""
    text = script.read_text(encoding="utf-8")
    found = json.loads(text[text.index(before) + len(before) : text.rindex(after)])
    return lambda part: set(found[part] if part else found)


def test_every_document_is_a_page_of_the_site(site: Path) -> None:
    expected = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    expected |= {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.ipynb")}
    expected |= {Path("changelog.html"), Path("contributing.html"), Path("search.html")}
    assert {path.relative_to(site) for path in site.rglob("*.html")} == expected


def test_every_link_on_the_site_leads_to_a_page_and_a_place_on_it(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            to, _, place = unquote(link).partition("#")
            target = (path.parent / to).resolve() if to else path
            assert target in pages or (target.suffix == ".ipynb" and target.is_file()), f"{path.name} links to {link}"
            assert not place or place in pages[target].ids, f"{path.name} links to {link}, a place that isn't there"


def test_a_browser_loads_nothing_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for load in page.loads:
            assert not re.match(r"[a-z]+:|//", load), f"{path.name} loads {load}"
            assert load.startswith("#") or (path.parent / load.partition("?")[0]).exists(), f"{load} isn't there"
    for sheet in site.rglob("*.css"):
        loads = re.findall(r"@import|url\(\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8"))
        assert loads == [], f"{sheet.name} loads from elsewhere"


def test_search_finds_words_and_shows_them_without_a_server(site: Path) -> None:
    index = assigned(site / "searchindex.js", "Search.setIndex(", ")")
    assert {"leak", "hoeffd", "chameleon", "gymnasium", "to_json"} <= index("terms")  # as stems
    shown = assigned(site / "excerpts.js", "const PAGES = ", ";\nwindow.fetch")
    assert {"./index.html", "./guides/agent.html", "./theory/trim-ucb.html", "./changelog.html"} <= shown("")
    assert "excerpts.js" in (site / "search.html").read_text(encoding="utf-8")


def test_the_navigation_has_the_sections_of_the_home_page_in_their_order(site: Path, pages: dict[Path, Page]) -> None:
    captions = pages[site / "guides/agent.html"].captions
    sections = re.findall(r"^## (.*)$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert captions == [section for section in sections if section in captions]
    assert captions[:2] == ["Start", "Guides"]
    assert {"Theory", "Reference", "Studies", "Decisions"} <= set(captions)


def test_formulas_are_written_as_mathml(site: Path) -> None:
    for path in (DOCS / "theory").glob("*.md"):
        page = (site / "theory" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert page.count("<math") > 40
        assert re.findall(r"\\(?:frac|sqrt|log|Delta)|\$\$", page) == []


def test_comments_for_the_tests_are_not_shown_and_files_have_their_names(site: Path) -> None:
    page = (site / "guides/first-study.html").read_text(encoding="utf-8")
    assert "<!-- not run" not in page
    assert re.search(r'<span class="caption-text">window\.toml</span>', page)


def test_a_picture_with_a_dark_variant_is_shown_in_the_colours_of_the_page(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    for variant in ("light", "dark"):
        assert re.search(rf'<img alt="[^"]+" class="only-{variant}[^"]*" src="[^"]*dashboard-{variant}\.png"', page)
    assert "<picture>" not in page


def test_what_is_wrong_stops_the_build_and_is_named_where_it_is(tmp_path: Path) -> None:
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("*.md", "__pycache__"))
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "docs/page.md", "docs/lost.md"):
        (tmp_path / name).write_text("# A page\n", encoding="utf-8")
    lines = [
        "# Home",
        "## All",
        "[a](page.md) [b](../CHANGELOG.md) [c](../CONTRIBUTING.md)",
        "$\\frac{a$",
        "[d](none.md)",
        "a window $w = d and the weight of one arm$",
    ]
    (tmp_path / "docs/index.md").write_text("\n\n".join(lines), encoding="utf-8")
    (tmp_path / "src/afterglow").mkdir(parents=True)
    shutil.copy(ROOT / "src/afterglow/release.py", tmp_path / "src/afterglow/release.py")
    done = build(tmp_path / "docs", tmp_path / "site")
    assert done.returncode != 0
    assert re.search(r"docs/index\.md:7: WARNING: a formula that can't be read", done.stderr)
    assert re.search(r"docs/index\.md:9: WARNING: .*none", done.stderr)
    assert re.search(r"docs/index\.md:11: WARNING: text as a formula.*: and the weight", done.stderr)
    assert re.search(r"docs/lost\.md: WARNING: document isn't included", done.stderr)
