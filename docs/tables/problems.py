"""The table of all problems in the guide, generated from the code: python docs/tables/problems.py."""

from pathlib import Path

from afterglow.service.problems import TABLE

GUIDE = Path(__file__).parents[2] / "docs/guides/when-things-go-wrong.md"
FIRST, LAST = "<!-- problems -->\n", "<!-- end of problems -->\n"


def table() -> str:
    rows = "".join(f"| `{one.slug}` | {one.status} | {one.title} | {one.remedy} |\n" for one in TABLE)
    return f"\n| `/problems/` | status | what it means | what to do |\n|---|---|---|---|\n{rows}\n"


def drawn(guide: str) -> str:
    """The guide with the table as it should be."""
    return guide.partition(FIRST)[0] + FIRST + table() + LAST + guide.partition(LAST)[2]


if __name__ == "__main__":
    GUIDE.write_text(drawn(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
