"""A visitor of the dashboard without scripts: reads pages, fills in forms, keeps cookies."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx
from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

START = 60.0  # seconds, on a busy machine
CONTROLS = ["input", "textarea", "select"]
LOADS = ("src", "data-from", "hx-get", "hx-post")
INLINE = ("a", "code", "q", "span", "strong", "svg", "time")  # don't end a word


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)  # as they stand on the page
    names: set[str] = field(default_factory=set)


class Page:
    """What a page has: words, forms, links, whatever it loads, and attributes that a strict policy forbids."""

    def __init__(self, text: str) -> None:
        self.soup = BeautifulSoup(text, "html.parser")
        tags = self.soup.find_all(True)
        self.text = words_of(self.soup)
        self.forms = [form_of(tag) for tag in self.soup.find_all("form")]
        self.links = [str(tag["href"]) for tag in self.soup.find_all("a", href=True)]
        self.loads = [str(tag[name]) for tag in tags for name in LOADS if name in tag.attrs]
        self.loads += [str(tag["href"]) for tag in self.soup.find_all("link")]
        self.inline = [
            f"{tag.name} {name}" for tag in tags for name in tag.attrs if name == "style" or name[:2] == "on"
        ]
        self.labels = {str(tag.get("for")) for tag in self.soup.find_all("label")}
        self.headings = [int(tag.name[1]) for tag in self.soup.find_all(re.compile("^h[1-6]$"))]
        self.ids = [str(tag["id"]) for tag in tags if "id" in tag.attrs]
        self.controls = [
            tag.attrs | {"in a label": str(tag.find_parent("label") is not None)}
            for tag in self.soup.find_all(CONTROLS)
        ]


def words_of(soup: BeautifulSoup) -> str:
    """The words that people read, in order; elements other than those within a line end a word."""
    parts = list[str]()
    for part in soup.descendants:
        if isinstance(part, Tag):
            parts.append("" if part.name in INLINE else " ")
        elif type(part) is NavigableString and not part.find_parent(("script", "style", "title")):
            ends = part.parent is not None and part.parent.name not in INLINE and part.next_sibling is None
            parts.append(f"{part}{' ' if ends else ''}")
    return re.sub(r"\s+", " ", "".join(parts))


def form_of(tag: Tag) -> Form:
    """A form with its fields as they stand on the page."""
    form = Form(str(tag["action"]), str(tag["method"]))
    for control in tag.find_all(CONTROLS):
        name = str(control["name"])
        form.names.add(name)
        if control.name == "textarea":
            form.fields[name] = control.get_text()
        elif control.name == "select":
            options = control.find_all("option")
            chosen = [one for one in options if "selected" in one.attrs] or options[:1]
            if chosen:
                form.fields[name] = str(chosen[-1].get("value", chosen[-1].get_text()))
        elif control.get("type") not in ("radio", "checkbox") or "checked" in control.attrs:
            form.fields[name] = str(control.get("value") or "")
    return form


class Visitor:
    """`read` opens a page, `send` fills in a form of the page last read."""

    def __init__(self, address: str) -> None:
        self.client = httpx.Client(base_url=address, timeout=START, trust_env=False, follow_redirects=True)
        self.answer = httpx.Response(0)
        self.page = Page("")

    def read(self, path: str, **headers: str) -> Page:
        return self.take(self.client.get(path, headers=headers))

    def take(self, answer: httpx.Response) -> Page:
        self.answer, self.page = answer, Page(answer.text)
        return self.page

    def form(self, action: str) -> Form:
        return next(form for form in self.page.forms if form.action == action)

    def send(self, action: str, headers: Mapping[str, str] | None = None, /, **fields: str) -> Page:
        form = self.form(action)
        assert set(fields) <= form.names | {"mark"}, form.names
        return self.take(self.client.post(action, data={**form.fields, **fields}, headers=headers))

    def sign_in(self, token: str) -> "Visitor":
        self.read("/sign-in")
        self.send("/sign-in", token=token)
        return self

    def path(self) -> str:
        return self.answer.url.raw_path.decode()

    def close(self) -> None:
        self.client.close()
