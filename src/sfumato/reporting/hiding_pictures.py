"""Pictures of hiding patterns: what each method costs."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.mining.hiding import Hiding
from sfumato.reporting.drawing import AFTER, BEFORE, BEFORE_EDGE, INK, LINE, QUIET, bar, picture, words

ROW, BAR, LEFT, WIDTH = 62.0, 13.0, 90.0, 380.0
KINDS = (("lost rules", AFTER, "none"), ("ghost rules", LINE, "none"), ("changed cells", BEFORE, BEFORE_EDGE))


def draw_hidings(hidings: Iterable[Hiding]) -> str:
    """Draw lost rules, ghost rules and changed cells for several ways to hide the same patterns, as SVG."""
    listed = list(hidings)
    figures = [(len(each.lost_rules), len(each.ghost_rules), each.changed) for each in listed]
    most = max((max(each) for each in figures), default=1) or 1
    shapes = []
    for number, (hiding, counts) in enumerate(zip(listed, figures, strict=True)):
        top = 10 + ROW * number
        failed = "" if hiding.hidden else f" ({hiding.found} seen)"
        shapes += [words(LEFT - 12, top + 16, hiding.method, anchor="end", weight=600)]
        shapes += [words(LEFT - 12, top + 32, failed, anchor="end", size=11, ink=LINE)] if failed else []
        for place, (count, (kind, fill, edge)) in enumerate(zip(counts, KINDS, strict=True)):
            y = top + place * (BAR + 3)
            shapes += [
                bar(LEFT, y, WIDTH * count / most, BAR, fill=fill, edge=edge, tip=f"{count:,} {kind}"),
                words(LEFT + WIDTH * count / most + 6, y + 11, f"{count:,}", size=11, ink=INK),
            ]
    key = 10 + ROW * len(listed) + 14
    for place, (kind, fill, edge) in enumerate(KINDS):
        x = LEFT + 125 * place
        shapes += [bar(x, key - 10, 16, 10, fill=fill, edge=edge), words(x + 22, key, kind, ink=QUIET)]
    told = "; ".join(
        f"{hiding.method}: {lost} lost, {ghost} ghost, {changed} cells"
        for hiding, (lost, ghost, changed) in zip(listed, figures, strict=True)
    )
    return picture(
        LEFT + WIDTH + 50, key + 14, title="What hiding costs", description=f"By method. {told}.", shapes=shapes
    )
