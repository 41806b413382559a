"""The few shapes that pictures consist of, as SVG; every text is escaped."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable

INK = "#1d2733"
QUIET = "#566270"
FAINT = "#dde3ea"
BEFORE = "#d3dae3"
BEFORE_EDGE = "#7d8895"
AFTER = "#0b5fa5"
LINE = "#b83a00"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"

HATCH_STEP = 6.0  # between the lines of a hatched bar

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_xml(text: str) -> str:
    r"""Escape a text for SVG and HTML; characters that XML does not allow are replaced.

    >>> escape_xml("a<b\x00")
    'a&lt;b�'
    """
    return html.escape(_NOT_XML.sub("\ufffd", text))


def svg_document(width: float, height: float, *, title: str, description: str, shapes: Iterable[str]) -> str:
    """Put shapes into a picture that screen readers can name."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" font-family="{FONT}">'
        f"<title>{escape_xml(title)}</title><desc>{escape_xml(description)}</desc>{''.join(shapes)}</svg>"
    )


def offset_shapes(pictures: Iterable[tuple[float, Iterable[str]]]) -> str:
    """Move shapes to the right, by so much each."""
    return "".join(f'<g transform="translate({x:.2f} 0)">{"".join(shapes)}</g>' for x, shapes in pictures)


def rectangle(x: float, y: float, width: float, height: float, *, fill: str, edge: str = "none", tip: str = "") -> str:
    """Draw a rectangle; `tip` is shown when it is pointed at."""
    inside = f"<title>{escape_xml(tip)}</title>" if tip else ""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0):.2f}" height="{max(height, 0):.2f}" '
        f'fill="{fill}" stroke="{edge}">{inside}</rect>'
    )


def hatched(x: float, y: float, width: float, height: float, *, ink: str, tip: str = "") -> str:
    """Draw a rectangle filled with diagonal lines; `tip` is shown when it is pointed at."""
    base, lines, offset = y + height, [], HATCH_STEP
    while offset < width + height:
        left, right = max(0.0, offset - height), min(offset, width)
        lines.append(draw_line(x + left, base - (offset - left), x + right, base - (offset - right), ink=ink))
        offset += HATCH_STEP
    return rectangle(x, y, width, height, fill="#ffffff", edge=ink, tip=tip) + "".join(lines)


def circle(x: float, y: float, radius: float, *, fill: str, edge: str, width: float = 1, tip: str = "") -> str:
    """Draw a circle; `tip` is shown when it is pointed at."""
    inside = f"<title>{escape_xml(tip)}</title>" if tip else ""
    return (
        f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:.2f}" fill="{fill}" stroke="{edge}" '
        f'stroke-width="{width:g}">{inside}</circle>'
    )


def draw_line(
    x1: float, y1: float, x2: float, y2: float, *, ink: str = FAINT, width: float = 1, dashes: str = "none"
) -> str:
    """Draw a straight line."""
    return (
        f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{ink}" '
        f'stroke-width="{width:g}" stroke-dasharray="{dashes}"/>'
    )


def polyline(points: Iterable[tuple[float, float]], *, ink: str, width: float) -> str:
    """Draw a line through points."""
    steps = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
    return f'<polyline points="{steps}" fill="none" stroke="{ink}" stroke-width="{width:g}" stroke-linejoin="round"/>'


def arc(x1: float, y1: float, x2: float, y2: float, radius: float, *, ink: str, width: float) -> str:
    """Draw a part of a circle, clockwise and at most half of it."""
    return (
        f'<path d="M{x1:.2f},{y1:.2f} A{radius:g},{radius:g} 0 0 1 {x2:.2f},{y2:.2f}" fill="none" stroke="{ink}" '
        f'stroke-width="{width:g}"/>'
    )


def text_line(
    x: float,
    y: float,
    text: str,
    *,
    size: float = 12,
    ink: str = INK,
    anchor: str = "start",
    weight: int = 400,
    halo: bool = False,
) -> str:
    """Write a line of text, its baseline at y; a halo keeps it readable on top of other shapes."""
    around = ' stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size:g}" font-weight="{weight}" fill="{ink}" '
        f'text-anchor="{anchor}"{around}>{escape_xml(text)}</text>'
    )


def text_width(text: str) -> int:
    """Return the width of a text in columns, two for wide characters.

    >>> text_width("age"), text_width("\u5e74\u9f84")
    (3, 4)
    """
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def wrap_text(text: str, columns: int, lines: int) -> list[str]:
    """Break a text into a few lines of at most some columns, with an ellipsis if it does not fit.

    >>> wrap_text("registered partnership abroad", 12, 2)
    ['registered', 'partnership…']
    """
    pieces = [piece for word in text.split() for piece in _break_word(word, columns)]
    found: list[str] = [""]
    for at, piece in enumerate(pieces):
        joined = f"{found[-1]} {piece}".strip()
        if text_width(joined) <= columns:
            found[-1] = joined
        elif len(found) < lines:
            found.append(piece)
        else:
            found[-1] = _truncate(found[-1], columns)
            break
        if at == len(pieces) - 1:
            break
    return found


def _break_word(word: str, columns: int) -> list[str]:
    pieces = [""]
    for character in word:
        if text_width(pieces[-1] + character) > columns:
            pieces.append("")
        pieces[-1] += character
    return pieces


def _truncate(text: str, columns: int) -> str:
    while text and text_width(text) >= columns:
        text = text[:-1]
    return f"{text.rstrip()}…"
