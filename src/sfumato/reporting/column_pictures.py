"""A small picture of one column: a bar for every bin or value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.reporting.drawing import BEFORE, BEFORE_EDGE, bar, picture
from sfumato.reporting.numbers import count

WIDTH, HEIGHT = 200.0, 48.0


def bars_picture(bars: Sequence[Mapping[str, Any]], *, title: str, description: str) -> str:
    """Draw bars of a text and a count each, beside each other.

    >>> bars_picture([{"text": "a", "count": 3}], title="sex", description="1 value").count("<rect")
    1
    """
    most = max((each["count"] for each in bars), default=0)
    wide = WIDTH / max(len(bars), 1)
    shapes = [
        bar(
            at * wide,
            HEIGHT - HEIGHT * each["count"] / most,
            max(wide - 1, 0.5),
            HEIGHT * each["count"] / most,
            fill=BEFORE,
            edge=BEFORE_EDGE,
            tip=f"{each['text']}: {count(each['count'])}",
        )
        for at, each in enumerate(bars)
        if most
    ]
    return picture(WIDTH, HEIGHT, title=title, description=description, shapes=shapes)
