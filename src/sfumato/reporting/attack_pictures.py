"""Pictures of attacks: success rates with their intervals, next to guessing and the control."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.attacks.results import AttackResult
from sfumato.reporting.drawing import (
    AFTER,
    FAINT,
    INK,
    LINE,
    QUIET,
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
