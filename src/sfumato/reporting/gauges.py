"""Gauges: a share as a half circle, which is full at 100%."""

from __future__ import annotations

from math import cos, pi, sin

from sfumato.reporting.drawing import AFTER, BEFORE_EDGE, QUIET, arc, picture, words
from sfumato.reporting.numbers import percent

WIDTH, HEIGHT = 140.0, 96.0
RADIUS, THICK = 54.0, 12.0
MIDDLE, BASE = WIDTH / 2, 66.0
EMPTY = "#e8ecf2"


def gauge(share: float, *, caption: str, title: str, published: bool) -> str:
    """Draw a share as a half circle with its number inside and a caption below.

    Parameters
    ----------
    share : from 0 to 1.
    caption : what the number is of, such as "original".
    title : names the picture for those who do not see it.
    published : whether it is drawn as the published table is in other pictures, or as the original.
    """
    told = percent(share)
    shapes = [arc(*_point(0.0), *_point(1.0), RADIUS, ink=EMPTY, width=THICK)]
    if share > 0:
        ink = AFTER if published else BEFORE_EDGE
        shapes.append(arc(*_point(0.0), *_point(min(share, 1.0)), RADIUS, ink=ink, width=THICK))
    shapes += [
        words(MIDDLE, BASE - 4, told, size=18, weight=700, anchor="middle"),
        words(MIDDLE, BASE + 20, caption, size=12, ink=QUIET, anchor="middle"),
    ]
    return picture(WIDTH, HEIGHT, title=title, description=f"{caption}: {told}", shapes=shapes)


def _point(share: float) -> tuple[float, float]:
    """Return where a share ends on the half circle, from left to right over the top."""
    angle = pi * (1 - share)
    return MIDDLE + RADIUS * cos(angle), BASE - RADIUS * sin(angle)
