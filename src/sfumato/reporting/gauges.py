"""Gauges: a share as a half circle, which is full at 100%."""

from __future__ import annotations

from math import cos, pi, sin

from sfumato.reporting.drawing import AFTER, BEFORE_EDGE, QUIET, arc, svg_document, text_line
from sfumato.reporting.numbers import format_percent

GAUGE_WIDTH, GAUGE_HEIGHT = 140.0, 96.0
GAUGE_RADIUS, THICK = 54.0, 12.0
GAUGE_MIDDLE, BASE = GAUGE_WIDTH / 2, 66.0
EMPTY = "#e8ecf2"


def draw_gauge(share: float, *, caption: str, title: str, published: bool) -> str:
    """Draw a share as a half circle with its number inside and a caption below.

    Parameters
    ----------
    share : from 0 to 1.
    caption : what the number is of, such as "original".
    title : names the picture for those who do not see it.
    published : whether it is drawn as the published table is in other pictures, or as the original.
    """
    told = format_percent(share)
    shapes = [arc(*_arc_point(0.0), *_arc_point(1.0), GAUGE_RADIUS, ink=EMPTY, width=THICK)]
    if share > 0:
        ink = AFTER if published else BEFORE_EDGE
        shapes.append(arc(*_arc_point(0.0), *_arc_point(min(share, 1.0)), GAUGE_RADIUS, ink=ink, width=THICK))
    shapes += [
        text_line(GAUGE_MIDDLE, BASE - 4, told, size=18, weight=700, anchor="middle"),
        text_line(GAUGE_MIDDLE, BASE + 20, caption, size=12, ink=QUIET, anchor="middle"),
    ]
    return svg_document(GAUGE_WIDTH, GAUGE_HEIGHT, title=title, description=f"{caption}: {told}", shapes=shapes)


def _arc_point(share: float) -> tuple[float, float]:
    """Return where a share ends on the half circle, from left to right over the top."""
    angle = pi * (1 - share)
    return GAUGE_MIDDLE + GAUGE_RADIUS * cos(angle), BASE - GAUGE_RADIUS * sin(angle)
