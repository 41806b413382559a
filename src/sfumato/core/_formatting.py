"""Tables of figures as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

LEAST, MOST = 0.0001, 0.999


def text_table(rows: Sequence[Sequence[str]], *, indent: int = 2) -> str:
    """Align the cells of rows in columns, two spaces apart.

    >>> print(text_table([["records", "8"], ["groups", "3"]]))
      records  8
      groups   3
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(" " * indent + line.rstrip() for line in lines)


def html_table(caption: str, rows: Sequence[Sequence[str]], *, note: str = "") -> str:
    """Format rows of cells as an HTML table; the first row is its header.

    >>> html_table("Risk", [["figure"], ["8 < 9"]])
    '<table><caption>Risk</caption><tr><th>figure</th></tr><tr><td>8 &lt; 9</td></tr></table>'
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>{below}"


def format_share(number: float | None) -> str:
    """Format a share as a percentage that is 0 or 100 only if it is exactly so; empty if there is none.

    >>> format_share(0.25), format_share(1 / 11), format_share(0.00001), format_share(0.99999), format_share(None)
    ('25%', '9.09%', '<0.01%', '>99.9%', '')
    """
    if number is None:
        return ""
    if 0 < number < LEAST:
        return f"<{LEAST:.2%}"
    return f">{MOST:.1%}" if MOST < number < 1 else f"{number * 100:.3g}%"


def json_number(number: float) -> float | int | str:
    """Return whole numbers without a decimal point, and infinity as text that JSON can contain."""
    if np.isinf(number):
        return "infinity" if number > 0 else "-infinity"
    return int(number) if float(number).is_integer() else float(number)
