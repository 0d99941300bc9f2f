"""Results on stdout: tables for people, JSON for programs."""

import json
import math
import sys
from typing import Any

from rich.console import Console

WIDE = 120  # columns, where no terminal says how many there are


def console() -> Console:
    """Stdout, as wide as the terminal; what is piped on is not folded to 80 columns."""
    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, soft_wrap=False)


def print_json(data: Any) -> None:
    """One JSON value."""
    print(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def amount(value: float) -> str:
    """A number as people read it: 2,523 or 0.0417."""
    if abs(value) < 1e-9 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".")


def plus_minus(mean: float, se: float | None) -> str:
    """A mean with its standard error; a single run has none."""
    return amount(mean) if se is None else f"{amount(mean)} ± {amount(se)}"
