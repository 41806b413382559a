"""The page of a comparison: the picture of risk and loss, and every figure side by side."""

from __future__ import annotations

from sfumato import __version__
from sfumato.reporting.comparison import ReleaseComparison
from sfumato.reporting.html import environment
from sfumato.reporting.telling import drawn
from sfumato.reporting.tradeoff_picture import Placed, draw_tradeoff, in_order

RISK = "mean exposure"


def render_comparison(found: ReleaseComparison) -> str:
    """Render a comparison as one page that loads nothing from outside."""
    placed = [
        Placed(each.name, each.risk, lost, each.name in found.front)
        for each in found.candidates
        if each.risk is not None and (lost := found.lost(each)) is not None
    ]
    context = {
        "found": found,
        "picture": drawn(draw_tradeoff(placed, risk=RISK, loss=found.loss or "")) if placed else None,
        "numbered": in_order(placed),
        "unplaced": [each.name for each in found.candidates if each.name not in {one.name for one in placed}],
        "sections": found.sections(),
        "version": __version__,
    }
    return environment().get_template("comparison.html.j2").render(context) + "\n"
