"""Pictures of counts and of histories are well-formed and show what they should."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from sfumato.dp.answers import PrivateCounts
from sfumato.errors import InvalidParameterError
from sfumato.queries.query_history import RecordedQuery
from sfumato.report.charts.estimates import draw_noisy_counts
from sfumato.report.charts.query_history import draw_query_history

SVG = "{http://www.w3.org/2000/svg}"


def answer(counts):
    counts = np.array(counts, dtype=float)
    return PrivateCounts(
        question="histogram of a<b",
        columns=("a<b",),
        cells=tuple((f"<{place}>",) for place in range(len(counts))),
        counts=counts,
        lower=counts - 3,
        upper=counts + 3,
        confidence=0.95,
        mechanism="discrete Laplace",
        scale=1.0,
        epsilon="1",
        neighbors="adding or removing one row",
    )


def test_every_cell_has_a_bar_and_every_true_count_a_dot():
    drawn = ET.fromstring(draw_noisy_counts(answer([5, 0, -2]), truth=[4, 1, 0]))  # noqa: S314 - we wrote it
    assert len(drawn.findall(f"{SVG}rect")) == 3
    assert len(drawn.findall(f"{SVG}circle")) == 3
    heights = [float(bar.attrib["height"]) for bar in drawn.findall(f"{SVG}rect")]
    assert heights[0] == pytest.approx(2.5 * heights[2], abs=0.2)
    assert heights[1] == 0


def test_too_many_bars_and_too_few_dots_are_refused():
    with pytest.raises(InvalidParameterError, match="at most 300 cells, but this answer has 301"):
        draw_noisy_counts(answer(range(301)))
    with pytest.raises(InvalidParameterError, match="one true count per cell, 2 in all; got 1"):
        draw_noisy_counts(answer([1, 2]), truth=[1])


def test_a_history_has_a_line_per_user_and_a_cross_per_denial():
    history = [RecordedQuery("ann", "sum", "sum of a<b", denied=False), RecordedQuery("bob", "sum", "sum", denied=True)]
    drawn = ET.fromstring(draw_query_history(history))  # noqa: S314 - we wrote it
    squares = [each.find(f"{SVG}rect") for each in drawn.findall(f"{SVG}g")]
    assert len({square.attrib["y"] for square in squares}) == 2
    assert len(drawn.findall(f"{SVG}g/{SVG}path")) == 1
    with pytest.raises(InvalidParameterError, match="1 to 200 questions, but there are 0"):
        draw_query_history([])
