"""Writes what `python -m papers thesis` found into its page: python scripts/thesis_page.py FOLDER/findings.csv."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "howto" / "reproduce-the-thesis.md"
BEGIN, END = "<!-- findings: written by python scripts/thesis_page.py -->", "<!-- end of findings -->"
VERDICTS = {"yes": "yes", "no": "**no**", "not said": "not said"}


def main(findings: Path) -> None:
    """Replace the findings on the page."""
    with findings.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table(rows) + END + rest.partition(END)[2], "utf-8")


def table(rows: list[dict[str, str]]) -> str:
    """Give the sentence with the count and the table."""
    seen = sum(row["seen"] == "yes" for row in rows)
    said = sum(row["seen"] != "not said" for row in rows)
    lines = [f"With the defaults (seed 0), {seen} of {said} findings are confirmed:", ""]
    lines += ["| figure | finding | confirmed | numbers |", "|---|---|---|---|"]
    for row in rows:
        claim, why = (row[name].replace("_", "\\_") for name in ("claim", "why"))
        lines.append(f"| {row['figure']} | {claim} | {VERDICTS[row['seen']]} | {why} |")
    return "\n\n" + "\n".join(lines) + "\n\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
