"""The dashboard's looks: the family's colours, text that stands out, nothing from elsewhere."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from afterglow.service.dashboard.assets import BYTES, TYPES
from afterglow.service.dashboard.rendering import ENVIRONMENT

STYLE = BYTES["style.css"].decode()
REPORTS = files("afterglow.lab.rendering").joinpath("templates", "style.css").read_text(encoding="utf-8")
OWN = [name for name in TYPES if not name.startswith(("htmx", "uplot"))]
TEXT = [
    ("ink", "page"), ("ink", "card"), ("ink", "tint"), ("ink", "warn"), ("soft", "page"), ("soft", "card"),
    ("soft", "tint"), ("blue", "page"), ("blue", "card"), ("on-blue", "blue"), ("danger", "page"), ("danger", "card"),
    ("danger", "warn"), ("on-blue", "danger"),
]  # fmt: skip


def colours(sheet: str) -> dict[str, dict[str, str]]:
    """Variables of a style sheet, for light and dark screens."""
    light, dark = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)[:2]
    return {
        name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for name, part in (("light", light), ("dark", dark))
    }


def brightness(colour: str) -> float:
    """Relative luminance by WCAG 2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("screen", ["light", "dark"])
def test_colours_are_those_of_the_reports(screen: str) -> None:
    ours, theirs = colours(STYLE)[screen], colours(REPORTS)[screen]
    assert {name: ours[name] for name in theirs} == theirs


@pytest.mark.parametrize("screen", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT)
def test_text_stands_out(screen: str, text: str, ground: str) -> None:
    known = colours(STYLE)[screen]
    low, high = sorted((brightness(known[text]), brightness(known[ground])))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_nothing_of_ours_names_another_host() -> None:
    for name in OWN:
        text = BYTES[name].decode().replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*//.*$|; //.*$", "", text, flags=re.MULTILINE), name
        assert "url(" not in text.replace("url(#", ""), name
    for name in ENVIRONMENT.list_templates():
        source = Path(str(files("afterglow.service.dashboard").joinpath("templates", name))).read_text(encoding="utf-8")
        assert "http:/" not in source, name
        assert "https:/" not in source, name
        assert " style=" not in source, name
        assert not re.search(r"\son\w+=|<script>|<style|\|\s*safe\b|autoescape", source), name


def test_the_libraries_come_with_their_licences() -> None:
    assert "Zero-Clause BSD" in BYTES["htmx.LICENSE.txt"].decode()
    assert "MIT License" in BYTES["uplot.LICENSE.txt"].decode()
    assert b"v1.6.32" in BYTES["uplot.min.js"][:100]
    assert b'version:"2.0.11"' in BYTES["htmx.min.js"]
