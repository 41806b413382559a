"""One attack as a track from 0 to 100%: the original, the published table with its interval, and guessing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.reporting.drawing import AFTER, BEFORE, BEFORE_EDGE, FAINT, INK, LINE, bar, dot, line, picture

WIDTH, HEIGHT = 420.0, 28.0
LEFT, RIGHT, MIDDLE = 12.0, WIDTH - 12.0, HEIGHT / 2
SQUARE, RADIUS = 11.0, 6.0


def attack_track(attack: Mapping[str, Any], *, title: str, description: str) -> str:
    """Draw how often an attack is right: a square for the original, a dot for the published table.

    The line through the dot is its 95% interval; a thick dashed line marks guessing, a thin dotted one the control.

    Parameters
    ----------
    attack : one entry of the report's attacks; `before` may be missing.
    title, description : name the picture, and tell its numbers, for those who do not see it.
    """
    after, before = attack["after"], attack.get("before")
    shapes = [line(LEFT, MIDDLE, RIGHT, MIDDLE, ink=FAINT, width=2)]
    if before is not None:
        x = _place(before["rate"])
        shapes.append(bar(x - SQUARE / 2, MIDDLE - SQUARE / 2, SQUARE, SQUARE, fill=BEFORE, edge=BEFORE_EDGE))
    shapes += [
        line(_place(after["low"]), MIDDLE, _place(after["high"]), MIDDLE, ink=AFTER, width=4),
        dot(_place(after["rate"]), MIDDLE, RADIUS, fill=AFTER, edge="#ffffff"),
    ]
    guessing = _place(after["guessing"])
    shapes.append(line(guessing, 2, guessing, HEIGHT - 2, ink=LINE, width=2, dashes="4 2"))
    if after["control"] is not None:
        control = _place(after["control"])
        shapes.append(line(control, 4, control, HEIGHT - 4, ink=INK, width=1.5, dashes="1 2"))
    return picture(WIDTH, HEIGHT, title=title, description=description, shapes=shapes)


def _place(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * share
