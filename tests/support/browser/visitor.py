"""A visitor of the dashboard without scripts: reads pages, fills in forms, keeps cookies."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx

START = 60.0  # seconds, on a busy machine
INLINE = ("a", "code", "q", "span", "strong", "svg", "time")  # don't end a word


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)  # as they stand on the page
    names: set[str] = field(default_factory=set)


class Page(HTMLParser):
    """What a page has: words, forms, links, whatever it loads, and attributes that a strict policy forbids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.inline: list[str] = []
        self.labels: set[str] = set()
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.controls: list[dict[str, str | None]] = []
        self.within: list[str] = []
        self.area = self.choice = ""
        self.feed(text)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in ("meta", "link", "input", "line", "rect", "circle"):
            self.within.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "id" in given:
            self.ids.append(str(given["id"]))
        self.inline += [f"{tag} {name}" for name in given if name == "style" or name.startswith("on")]
        self.loads += [str(given[name]) for name in ("src", "data-from", "hx-get", "hx-post") if name in given]
        if tag == "link":
            self.loads.append(str(given["href"]))
        elif tag == "a" and "href" in given:
            self.links.append(str(given["href"]))
        elif tag == "label":
            self.labels.add(str(given.get("for")))
        elif tag == "form":
            self.forms.append(Form(str(given["action"]), str(given["method"])))
        elif tag in ("input", "textarea", "select"):
            self.control(tag, given)
        elif tag == "option" and self.choice:
            value = str(given.get("value"))
            if "selected" in given or self.choice not in self.forms[-1].fields:
                self.forms[-1].fields[self.choice] = value

    def control(self, tag: str, given: dict[str, str | None]) -> None:
        name, form = str(given["name"]), self.forms[-1]
        form.names.add(name)
        self.controls.append(given | {"in a label": str("label" in self.within)})
        if tag == "textarea":
            self.area, form.fields[name] = name, ""
        elif tag == "select":
            self.choice = name
        elif given.get("type") not in ("radio", "checkbox") or "checked" in given:
            form.fields[name] = given.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag in self.within:
            while self.within.pop() != tag:
                pass
        if tag not in INLINE:
            self.words.append(" ")
        if tag == "textarea":
            self.area = ""
        elif tag == "select":
            self.choice = ""

    def handle_data(self, data: str) -> None:
        if self.area:
            self.forms[-1].fields[self.area] += data
        if not {"script", "style", "title"} & set(self.within):
            self.words.append(data)


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
