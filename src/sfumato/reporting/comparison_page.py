"""The page of a comparison: the picture of risk and loss, and every figure side by side."""

from __future__ import annotations

from sfumato import __version__
from sfumato.reporting.comparison import ReleaseComparison, metric_title
from sfumato.reporting.html import template_environment
from sfumato.reporting.telling import embed_svg
from sfumato.reporting.tradeoff_picture import TradeoffPoint, draw_tradeoff, sort_points
from sfumato.words import Messages


def render_comparison(found: ReleaseComparison, say: Messages) -> str:
    """Render a comparison as one page that loads nothing from outside, in the words of a language."""
    placed = [
        TradeoffPoint(each.name, each.risk, lost, each.name in found.pareto_front)
        for each in found.candidates
        if each.risk is not None and (lost := found.losses(each)) is not None
    ]
    risk, loss = say("comparison.picture.risk"), metric_title(found.loss, say) if found.loss else ""
    context = {
        "found": found,
        "picture": embed_svg(draw_tradeoff(placed, risk=risk, loss=loss, say=say)) if placed else None,
        "loss": loss,
        "note": found.note and found.note.render(say),
        "emptied": found.emptied and found.emptied.render(say),
        "numbered": sort_points(placed),
        "unplaced": [each.name for each in found.candidates if each.name not in {one.name for one in placed}],
        "sections": found.sections(say),
        "version": __version__,
    }
    return template_environment(say).get_template("comparison.html.j2").render(context) + "\n"
