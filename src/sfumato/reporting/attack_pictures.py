"""Pictures of attacks: success rates with their intervals, next to guessing and the control."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.attacks.results import AttackResult
from sfumato.reporting.drawing import AFTER, FAINT, INK, LINE, QUIET, bar, line, picture, text_width, words

ROW, LEFT, WIDTH, RIGHT = 34.0, 16.0, 360.0, 24.0
LETTER = 6.8
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw_attacks(results: Iterable[AttackResult]) -> str:
    """Draw the rate of every attack as a bar with its confidence interval, as an SVG picture.

    A thick stroke marks guessing, a dashed one the control.
    """
    listed = list(results)
    start = LEFT + 12 + LETTER * max((text_width(result.title) for result in listed), default=0)
    height = ROW * len(listed)
    shapes = []
    for share in TICKS:
        x = start + WIDTH * share
        shapes += [line(x, 8, x, height + 8), words(x, height + 24, f"{share:g}", ink=QUIET, anchor="middle")]
    for number, result in enumerate(listed):
        shapes += _row(result, start, 8 + ROW * number)
    key = height + 46
    shapes += [
        bar(start, key - 9, 18, 10, fill=AFTER),
        words(start + 24, key, "right", ink=QUIET),
        line(start + 84, key - 11, start + 84, key + 3, ink=LINE, width=3),
        words(start + 92, key, "guessing", ink=QUIET),
        line(start + 184, key - 11, start + 184, key + 3, ink=INK, width=2, dashes="3 2"),
        words(start + 192, key, "control", ink=QUIET),
    ]
    told = "; ".join(f"{result.title} {result.rate:.3g}, guessing {result.baseline:.3g}" for result in listed)
    return picture(
        start + WIDTH + RIGHT,
        key + 14,
        title="How often attacks are right",
        description=f"Share of targets. {told}.",
        shapes=shapes,
    )


def _row(result: AttackResult, start: float, top: float) -> list[str]:
    low, high = (start + WIDTH * end for end in result.interval)
    middle, bottom = top + ROW / 2, top + ROW - 8
    marks = [
        words(start - 12, middle + 4, result.title, anchor="end"),
        bar(start, top + 8, WIDTH, ROW - 16, fill="none", edge=FAINT),
        bar(
            start, top + 8, WIDTH * result.rate, ROW - 16, fill=AFTER, tip=f"{result.successes:,} of {result.targets:,}"
        ),
        line(low, middle, high, middle, ink=INK, width=2),
        line(low, middle - 4, low, middle + 4, ink=INK, width=2),
        line(high, middle - 4, high, middle + 4, ink=INK, width=2),
    ]
    guessing = start + WIDTH * result.baseline
    marks.append(line(guessing, top + 5, guessing, bottom + 3, ink=LINE, width=3))
    if result.control_targets:
        control = start + WIDTH * result.control
        marks.append(line(control, top + 5, control, bottom + 3, ink=INK, width=2, dashes="3 2"))
    return marks
