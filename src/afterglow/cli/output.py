"""Results on stdout, as tables or as JSON."""

import json
import sys
from typing import Any

from rich.console import Console

WIDE = 120  # columns, where no terminal says how many there are


def console() -> Console:
    """Stdout, as wide as the terminal; 120 columns in a pipe."""
    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, soft_wrap=False)


def print_json(data: Any) -> None:
    """One JSON value."""
    print(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
