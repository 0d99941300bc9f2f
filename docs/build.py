"""Build the documentation site: python docs/build.py [folder, else site/].

The pages are the Markdown files as they are. They are copied to a temporary folder, together with the documents at
the root of the repository that belong on the site, and the home page gets the navigation, which is its own list of
links. Notebooks become pages with what they have stored. A `<picture>` with a dark variant becomes two images, of
which the theme shows one. A link that leads nowhere, a page that no list names and a formula that can't be read stop
the build.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import notebooks

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
FROM_ROOT = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
FILE = re.compile(r"^<!-- file: (\S+) -->\n```(\w+)\n", re.MULTILINE)
COMMENT = re.compile(r"^ *<!--.*?--> *\n", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
PICTURE = re.compile(
    r'^<picture>\n *<source media="\(prefers-color-scheme: dark\)" srcset="(?P<dark>[^"]+)">\n'
    r' *<img (?:width="\d+" )?alt="(?P<alt>[^"]*)" src="(?P<light>[^"]+)">\n</picture>$',
    re.MULTILINE,
)


def place(document: Path) -> str | None:
    """Where a file of the repository is on the site; nothing if it isn't."""
    if document.is_relative_to(DOCS):
        return document.relative_to(DOCS).as_posix().replace(".ipynb", ".md")
    return {"README.md": "index.md", **FROM_ROOT}.get(document.relative_to(ROOT).as_posix())


def moved(document: Path) -> str:
    """The text of a document, its links led to the same pages on the site, its files with their names above."""
    home = Path(str(place(document))).parent

    def lead(link: re.Match[str]) -> str:
        path = link[2]
        target = (document.parent / path).resolve()
        if ":" not in path and target.is_relative_to(ROOT) and (there := place(target)):
            path = Path(os.path.relpath(there, home)).as_posix()
        return f"[{link[1]}]({path}{link[3] or ''})"

    text = FILE.sub(r"```{code-block} \2\n:caption: \1\n\n", document.read_text(encoding="utf-8"))
    text = PICTURE.sub(two_images, text)
    return LINK.sub(lead, COMMENT.sub("", text))


def two_images(picture: re.Match[str]) -> str:
    """A picture as the theme takes it: one image for light pages, one for dark ones."""
    return "\n\n".join(
        f"```{{image}} {picture[variant]}\n:alt: {picture['alt']}\n:class: only-{variant}\n```"
        for variant in ("light", "dark")
    )


def navigation(home: str) -> str:
    """The home page's lists as trees of contents, one for each of its sections that links to pages."""
    trees = []
    for section in re.split(r"^## ", home, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        pages = [f"{text} <{path.removesuffix('.md')}>" for text, path, _ in LINK.findall(body) if path.endswith(".md")]
        if pages:
            trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"]))
    return "\n\n".join(["", *trees, ""])


def prepare(folder: Path) -> None:
    """Copy the pages into `folder`."""
    for document in [*DOCS.rglob("*.md"), *(ROOT / name for name in FROM_ROOT)]:
        page = folder / str(place(document))
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(moved(document), encoding="utf-8")
    for book in notebooks.notebooks():
        shown = folder / "notebooks" / f"{book.stem}.md"
        shown.parent.mkdir(exist_ok=True)
        shown.write_text(notebooks.page(book, shown.parent / "pictures"), encoding="utf-8")
        shutil.copy(book, shown.parent)
    with (folder / "index.md").open("a", encoding="utf-8") as home:
        home.write(navigation((folder / "index.md").read_text(encoding="utf-8")))
    for picture in [path for end in ("svg", "png") for path in DOCS.rglob(f"*.{end}")]:
        (folder / str(place(picture))).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, folder / str(place(picture)))


def build(site: Path) -> int:
    """Write the site; 0 if all is well, and if not the reasons on stderr."""
    with TemporaryDirectory() as folder:
        pages = Path(folder).resolve()
        prepare(pages)
        shutil.rmtree(site, ignore_errors=True)
        options = ["--fail-on-warning", "--quiet", "--no-color", "--conf-dir", str(DOCS)]
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", *options, "--doctree-dir", str(pages / ".read"), str(pages), str(site)],
            capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(DOCS)},
        )  # fmt: skip
        sys.stderr.write((done.stdout + done.stderr).replace(str(pages), DOCS.name))
        (site / ".buildinfo").unlink(missing_ok=True)
        return done.returncode


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if sys.argv[1:] else ROOT / "site").resolve()))
