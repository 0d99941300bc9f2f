"""A last word of `make test` on what was skipped: which programs are missing, and what is untested without them."""

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name each reason once, in red, below everything else that is said."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if not reasons:
        return
    count = sum(reasons.values())
    terminalreporter.write_sep("!", f"NOT TESTED HERE: {count:,} test{'' if count == 1 else 's'}", red=True, bold=True)
    for reason, times in reasons.most_common():
        terminalreporter.write_line(f"{times:,} × {reason}", red=True)
