"""Pictures of attacks: success rates with their intervals, next to guessing and the control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import cos, pi, sin
from typing import Any

from sfumato._number_format import format_percent
from sfumato.core.attack import AttackResult
from sfumato.report.charts.svg import (
    AFTER,
    BEFORE,
    BEFORE_EDGE,
    FAINT,
    INK,
    LINE,
    QUIET,
    arc,
    circle,
    draw_line,
    rectangle,
    svg_document,
    text_line,
    text_width,
)

ROW, ATTACK_LEFT, ATTACK_WIDTH, ATTACK_RIGHT = 34.0, 16.0, 360.0, 24.0
LETTER = 6.8
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw_attack_rates(results: Iterable[AttackResult]) -> str:
    """Draw the rate of every attack as a bar with its confidence interval, as an SVG picture.

    A thick stroke marks guessing, a dashed one the control.
    """
    listed = list(results)
    start = ATTACK_LEFT + 12 + LETTER * max((text_width(result.title) for result in listed), default=0)
    height = ROW * len(listed)
    shapes = []
    for share in TICKS:
        x = start + ATTACK_WIDTH * share
        shapes += [draw_line(x, 8, x, height + 8), text_line(x, height + 24, f"{share:g}", ink=QUIET, anchor="middle")]
    for number, result in enumerate(listed):
        shapes += _attack_row(result, start, 8 + ROW * number)
    key = height + 46
    shapes += [
        rectangle(start, key - 9, 18, 10, fill=AFTER),
        text_line(start + 24, key, "right", ink=QUIET),
        draw_line(start + 84, key - 11, start + 84, key + 3, ink=LINE, width=3),
        text_line(start + 92, key, "guessing", ink=QUIET),
        draw_line(start + 184, key - 11, start + 184, key + 3, ink=INK, width=2, dashes="3 2"),
        text_line(start + 192, key, "control", ink=QUIET),
    ]
    told = "; ".join(f"{result.title} {result.rate:.3g}, guessing {result.baseline:.3g}" for result in listed)
    return svg_document(
        start + ATTACK_WIDTH + ATTACK_RIGHT,
        key + 14,
        title="How often attacks are right",
        description=f"Share of targets. {told}.",
        shapes=shapes,
    )


def _attack_row(result: AttackResult, start: float, top: float) -> list[str]:
    low, high = (start + ATTACK_WIDTH * end for end in result.interval)
    middle, bottom = top + ROW / 2, top + ROW - 8
    marks = [
        text_line(start - 12, middle + 4, result.title, anchor="end"),
        rectangle(start, top + 8, ATTACK_WIDTH, ROW - 16, fill="none", edge=FAINT),
        rectangle(
            start,
            top + 8,
            ATTACK_WIDTH * result.rate,
            ROW - 16,
            fill=AFTER,
            tip=f"{result.successes:,} of {result.targets:,}",
        ),
        draw_line(low, middle, high, middle, ink=INK, width=2),
        draw_line(low, middle - 4, low, middle + 4, ink=INK, width=2),
        draw_line(high, middle - 4, high, middle + 4, ink=INK, width=2),
    ]
    guessing = start + ATTACK_WIDTH * result.baseline
    marks.append(draw_line(guessing, top + 5, guessing, bottom + 3, ink=LINE, width=3))
    if result.control_targets:
        control = start + ATTACK_WIDTH * result.control
        marks.append(draw_line(control, top + 5, control, bottom + 3, ink=INK, width=2, dashes="3 2"))
    return marks


# One attack as a track from 0 to 100%: the original, the published table with its interval, and guessing.

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


# Gauges: a share as a half circle, which is full at 100%.

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
