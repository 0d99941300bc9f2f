"""What a page calls its elements, and whether its tags are closed."""

import re
from html.parser import HTMLParser


class Names(HTMLParser):
    """The ids of a page, what its elements point at, and the tags left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.used: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            self.used |= set(re.findall(r"url\(#([^)]*)\)", value or ""))
            if name == "href" and (value or "").startswith("#"):
                self.used.add((value or "")[1:])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "br", "input"):
            assert self.open.pop() == tag
