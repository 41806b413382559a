"""The page of a comparison: the picture of risk and loss, and every figure side by side."""

from __future__ import annotations

from sfumato import __version__
from sfumato.reporting.comparison import ReleaseComparison, figure_name
from sfumato.reporting.html import environment
from sfumato.reporting.telling import drawn
from sfumato.reporting.tradeoff_picture import Placed, draw_tradeoff, in_order
from sfumato.words import Words


def render_comparison(found: ReleaseComparison, say: Words) -> str:
    """Render a comparison as one page that loads nothing from outside, in the words of a language."""
    placed = [
        Placed(each.name, each.risk, lost, each.name in found.front)
        for each in found.candidates
        if each.risk is not None and (lost := found.lost(each)) is not None
    ]
    risk, loss = say("comparison.picture.risk"), figure_name(found.loss, say) if found.loss else ""
    context = {
        "found": found,
        "picture": drawn(draw_tradeoff(placed, risk=risk, loss=loss, say=say)) if placed else None,
        "loss": loss,
        "note": found.note and found.note.in_words(say),
        "emptied": found.emptied and found.emptied.in_words(say),
        "numbered": in_order(placed),
        "unplaced": [each.name for each in found.candidates if each.name not in {one.name for one in placed}],
        "sections": found.sections(say),
        "version": __version__,
    }
    return environment(say).get_template("comparison.html.j2").render(context) + "\n"
