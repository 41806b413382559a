"""A small picture of one column: a bar for every bin or value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.reporting.drawing import BEFORE, BEFORE_EDGE, rectangle, svg_document
from sfumato.reporting.numbers import format_count

COLUMN_WIDTH, HEIGHT = 200.0, 48.0


def draw_column_sketch(bars: Sequence[Mapping[str, Any]], *, title: str, description: str) -> str:
    """Draw bars of a text and a count each, beside each other.

    >>> draw_column_sketch([{"text": "a", "count": 3}], title="sex", description="1 value").count("<rect")
    1
    """
    most = max((each["count"] for each in bars), default=0)
    wide = COLUMN_WIDTH / max(len(bars), 1)
    shapes = [
        rectangle(
            at * wide,
            HEIGHT - HEIGHT * each["count"] / most,
            max(wide - 1, 0.5),
            HEIGHT * each["count"] / most,
            fill=BEFORE,
            edge=BEFORE_EDGE,
            tip=f"{each['text']}: {format_count(each['count'])}",
        )
        for at, each in enumerate(bars)
        if most
    ]
    return svg_document(COLUMN_WIDTH, HEIGHT, title=title, description=description, shapes=shapes)
