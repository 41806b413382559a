"""One attack as a track from 0 to 100%: the original, the published table with its interval, and guessing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.reporting.drawing import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    FAINT,
    INK,
    LINE,
    circle,
    draw_line,
    rectangle,
    svg_document,
)

ATTACK_TRACK_WIDTH, ATTACK_TRACK_HEIGHT = 420.0, 28.0
ATTACK_TRACK_LEFT, ATTACK_TRACK_RIGHT, ATTACK_TRACK_MIDDLE = 12.0, ATTACK_TRACK_WIDTH - 12.0, ATTACK_TRACK_HEIGHT / 2
SQUARE, ATTACK_TRACK_RADIUS = 11.0, 6.0


def draw_attack_track(attack: Mapping[str, Any], *, title: str, description: str) -> str:
    """Draw how often an attack is right: a square for the original, a dot for the published table.

    The line through the dot is its 95% interval; a thick dashed line marks guessing, a thin dotted one the control.

    Parameters
    ----------
    attack : one entry of the report's attacks; `before` may be missing.
    title, description : name the picture, and tell its numbers, for those who do not see it.
    """
    after, before = attack["after"], attack.get("before")
    shapes = [
        draw_line(ATTACK_TRACK_LEFT, ATTACK_TRACK_MIDDLE, ATTACK_TRACK_RIGHT, ATTACK_TRACK_MIDDLE, ink=FAINT, width=2)
    ]
    if before is not None:
        x = _track_position(before["rate"])
        shapes.append(
            rectangle(x - SQUARE / 2, ATTACK_TRACK_MIDDLE - SQUARE / 2, SQUARE, SQUARE, fill=BEFORE, edge=BEFORE_EDGE)
        )
    shapes += [
        draw_line(
            _track_position(after["low"]),
            ATTACK_TRACK_MIDDLE,
            _track_position(after["high"]),
            ATTACK_TRACK_MIDDLE,
            ink=AFTER,
            width=4,
        ),
        circle(_track_position(after["rate"]), ATTACK_TRACK_MIDDLE, ATTACK_TRACK_RADIUS, fill=AFTER, edge="#ffffff"),
    ]
    guessing = _track_position(after["guessing"])
    shapes.append(draw_line(guessing, 2, guessing, ATTACK_TRACK_HEIGHT - 2, ink=LINE, width=2, dashes="4 2"))
    if after["control"] is not None:
        control = _track_position(after["control"])
        shapes.append(draw_line(control, 4, control, ATTACK_TRACK_HEIGHT - 4, ink=INK, width=1.5, dashes="1 2"))
    return svg_document(ATTACK_TRACK_WIDTH, ATTACK_TRACK_HEIGHT, title=title, description=description, shapes=shapes)


def _track_position(share: float) -> float:
    return ATTACK_TRACK_LEFT + (ATTACK_TRACK_RIGHT - ATTACK_TRACK_LEFT) * share
