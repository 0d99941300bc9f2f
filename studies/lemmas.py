"""How far can a hold's mean be off? The largest |mean of totals - mean of rewards| seen, beside Lemmas 1 and 2.

`afterglow.lab.report` says how it is measured. This prints a table, and with --out writes `lemmas.csv`, a page to read
and its figures.

    python studies/lemmas.py [--out DIR]
"""

import argparse
import csv
import sys
from dataclasses import asdict
from pathlib import Path

from afterglow.lab.report import observe_all
from afterglow.lab.report.lemmas_page import write

WINDOWS, HOLDS, TIMES = (4, 16), 60, (1, 2, 4, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write lemmas.csv, index.html and figures into this folder")
    out = parser.parse_args().out
    rows = observe_all(WINDOWS, HOLDS, TIMES)
    head = f"{'rewards':12} {'spread':14} {'d':>3} {'k':>4} {'largest':>8} {'(d-1)/k':>8} {'d/k':>6} {'lemma 2':>8}"
    lines = [
        f"{row.rewards:12} {row.spread:14} {row.window:3} {row.hold:4} {row.single:8.3f} {row.lemma_1:8.3f} "
        f"{row.lemma_1_paper:6.3f} {row.pooled:8.0%}"
        for row in rows
    ]
    sys.stdout.write("\n".join([head, *lines, ""]))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        with (out / "lemmas.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(asdict(rows[0])))
            table.writeheader()
            table.writerows(asdict(row) for row in rows)
        sys.stderr.write(f"report: {write(rows, out)}\n")


if __name__ == "__main__":
    main()
