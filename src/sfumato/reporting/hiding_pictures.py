"""Pictures of hiding patterns: what each method costs."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.mining.hiding import HidingResult
from sfumato.reporting.drawing import AFTER, BEFORE, BEFORE_EDGE, INK, LINE, QUIET, rectangle, svg_document, text_line

ROW, BAR, HIDING_LEFT, HIDING_WIDTH = 62.0, 13.0, 90.0, 380.0
HIDING_COSTS = (("lost rules", AFTER, "none"), ("ghost rules", LINE, "none"), ("changed cells", BEFORE, BEFORE_EDGE))


def draw_hiding_costs(hidings: Iterable[HidingResult]) -> str:
    """Draw lost rules, ghost rules and changed cells for several ways to hide the same patterns, as SVG."""
    listed = list(hidings)
    figures = [(len(each.lost_rules), len(each.ghost_rules), each.changed) for each in listed]
    most = max((max(each) for each in figures), default=1) or 1
    shapes = []
    for number, (hiding, counts) in enumerate(zip(listed, figures, strict=True)):
        top = 10 + ROW * number
        failed = "" if hiding.hidden else f" ({hiding.visible_patterns} seen)"
        shapes += [text_line(HIDING_LEFT - 12, top + 16, hiding.method, anchor="end", weight=600)]
        shapes += [text_line(HIDING_LEFT - 12, top + 32, failed, anchor="end", size=11, ink=LINE)] if failed else []
        for place, (count, (kind, fill, edge)) in enumerate(zip(counts, HIDING_COSTS, strict=True)):
            y = top + place * (BAR + 3)
            shapes += [
                rectangle(
                    HIDING_LEFT, y, HIDING_WIDTH * count / most, BAR, fill=fill, edge=edge, tip=f"{count:,} {kind}"
                ),
                text_line(HIDING_LEFT + HIDING_WIDTH * count / most + 6, y + 11, f"{count:,}", size=11, ink=INK),
            ]
    key = 10 + ROW * len(listed) + 14
    for place, (kind, fill, edge) in enumerate(HIDING_COSTS):
        x = HIDING_LEFT + 125 * place
        shapes += [rectangle(x, key - 10, 16, 10, fill=fill, edge=edge), text_line(x + 22, key, kind, ink=QUIET)]
    told = "; ".join(
        f"{hiding.method}: {lost} lost, {ghost} ghost, {changed} cells"
        for hiding, (lost, ghost, changed) in zip(listed, figures, strict=True)
    )
    return svg_document(
        HIDING_LEFT + HIDING_WIDTH + 50,
        key + 14,
        title="What hiding costs",
        description=f"By method. {told}.",
        shapes=shapes,
    )
