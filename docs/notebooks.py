"""The gallery of notebooks: run them in a Jupyter kernel, and show them as pages of the site.

    python docs/notebooks.py [shop.ipynb …]    run them and store what they show

Stored outputs are small and the same every time; the tests run every notebook and compare its text with what is stored.
Pictures are stored too, and not compared.
"""

import base64
import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
SECONDS = 300  # for one cell, on a busy machine
NOTICE = re.compile(r"^afterglow: compiling, .*\n", re.MULTILINE)  # only the first time, and only where that takes long


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook with what a fresh kernel shows, in an empty folder."""
    import nbformat  # noqa: PLC0415 # the site is built without them
    from nbclient import NotebookClient  # noqa: PLC0415

    book = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with TemporaryDirectory() as folder:
        client = NotebookClient(book, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}})
        return client.execute()


def texts(book: Any) -> list[str]:
    """What each code cell shows as text, in one string."""
    shown = []
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            parts = [plain(one) for one in cell["outputs"] if not picture(one)]
            shown.append("".join(parts))
    return shown


def plain(output: Any) -> str:
    """One output as text."""
    if output["output_type"] == "stream":
        return NOTICE.sub("", joined(output["text"]))
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}\n"
    return joined(output["data"]["text/plain"]) + "\n"


def picture(output: Any) -> str | None:
    """The PNG of an output, in base 64."""
    return joined(output["data"]["image/png"]) if "image/png" in output.get("data", {}) else None


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def page(path: Path, pictures: Path) -> str:
    """A notebook as Markdown; its pictures are written to a folder beside it."""
    book, parts = json.loads(path.read_text(encoding="utf-8")), list[str]()
    for number, cell in enumerate(book["cells"]):
        source = joined(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        text = "".join(plain(one) for one in cell["outputs"] if not picture(one)).rstrip()
        parts += [f"```text\n{text}\n```"] if text else []
        for drawn in filter(None, map(picture, cell["outputs"])):
            pictures.mkdir(parents=True, exist_ok=True)
            (pictures / f"{path.stem}-{number}.png").write_bytes(base64.b64decode(drawn))
            title = cell.get("metadata", {}).get("alt", "What the code above draws.")
            parts.append(f"![{title}]({pictures.name}/{path.stem}-{number}.png)")
    parts.append(f"This page is a notebook that you can run: {{download}}`{path.name}`.")
    return "\n\n".join(parts) + "\n"


def store(path: Path) -> None:
    """Run a notebook and write what it shows into it, without what changes from run to run."""
    book = executed(path)
    for cell in book["cells"]:
        cell["metadata"] = {name: value for name, value in cell["metadata"].items() if name == "alt"}
        if cell["cell_type"] == "code":
            cell["execution_count"] = None
            cell["outputs"] = [one for one in cell["outputs"] if picture(one) or plain(one)]
            for one in cell["outputs"]:
                if "execution_count" in one:
                    one["execution_count"] = None
    book["metadata"] = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    path.write_text(json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or [path.name for path in notebooks()]:
        store(FOLDER / name)
