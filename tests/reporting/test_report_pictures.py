"""Pictures are well-formed, named, escaped, and drawn to scale."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from sfumato.report.charts.bars import (
    draw_attribute,
    draw_class_sizes,
    draw_legend,
    draw_risk_bars,
    draw_risk_histogram,
    draw_value_bars,
)
from sfumato.report.charts.svg import text_width, wrap_text
from sfumato.report.facts import gather_facts

SVG = "{http://www.w3.org/2000/svg}"
ROWS = {"original": 10, "published": 8}


def attribute(*texts, name="a", kind="values", missing=0, other=0, suppressed=0):
    return {
        "name": name,
        "kind": kind,
        "bars": [{"text": text, "before": 2, "after": 1} for text in texts],
        "other": {"values": other, "before": 1, "after": 2},
        "missing": {"before": missing, "after": missing},
        "suppressed_cells": suppressed,
    }


def all_pictures(facts):
    yield draw_legend()
    yield draw_risk_bars(facts["risk"])
    yield draw_class_sizes(facts["group_sizes"], facts["risk"]["smallest_promised"])
    for kind in facts["exposure"]:
        yield draw_risk_histogram(kind)
    for each in facts["attributes"]:
        yield draw_attribute(each, facts["rows"])


def test_every_picture_is_well_formed_and_says_what_it_shows(release, parts):
    for picture in all_pictures(gather_facts(*parts(release))):
        root = ET.fromstring(picture)  # noqa: S314 - our own picture
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        assert root.find(f"{SVG}title").text
        assert root.find(f"{SVG}desc").text
        assert not root.findall(f".//{SVG}script")


def test_no_shape_leaves_its_picture(release, parts):
    for picture in all_pictures(gather_facts(*parts(release))):
        root = ET.fromstring(picture)  # noqa: S314 - our own picture
        width, height = float(root.get("width")), float(root.get("height"))
        for shape in root.iter(f"{SVG}rect"):
            assert 0 <= float(shape.get("x")) <= float(shape.get("x")) + float(shape.get("width")) <= width
            assert 0 <= float(shape.get("y")) <= float(shape.get("y")) + float(shape.get("height")) <= height
        for text in root.iter(f"{SVG}text"):
            assert 0 <= float(text.get("y")) <= height


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "\"&'", "a\x00b\x1f", "\ufffe", "", " ", "長" * 60, "x" * 500]
)
@pytest.mark.parametrize("kind", ["values", "bins"])
def test_any_text_becomes_a_well_formed_picture(text, kind):
    picture = draw_attribute(attribute(text, name=text, kind=kind), ROWS)
    root = ET.fromstring(picture)  # noqa: S314 - our own picture
    assert not root.findall(f".//{SVG}script")
    assert "<script" not in picture


def test_bars_are_drawn_to_scale():
    root = ET.fromstring(draw_value_bars(attribute("x"), ROWS))  # noqa: S314 - our own picture
    before, after = (float(shape.get("width")) for shape in root.iter(f"{SVG}rect"))
    assert after / before == pytest.approx((1 / 8) / (2 / 10), abs=1e-3)


def test_unnamed_values_and_missing_cells_have_their_bars():
    picture = draw_value_bars(attribute("x", missing=3, other=1), ROWS)
    assert "1 other value<" in picture
    assert "missing" in picture


@pytest.mark.parametrize("kind", ["values", "bins"])
def test_suppressed_cells_are_one_hatched_bar(kind):
    shown = {
        suppressed: draw_attribute(attribute("1", "2", kind=kind, suppressed=suppressed), ROWS) for suppressed in (0, 6)
    }
    assert "not published" not in shown[0]
    root = ET.fromstring(shown[6])  # noqa: S314 - our own picture
    assert [text.text for text in root.iter(f"{SVG}text")].count("not published") == 1
    assert "not published: 0%, 75.0%." in root.find(f"{SVG}desc").text
    diagonal = [
        each
        for each in root.iter(f"{SVG}line")
        if each.get("x1") != each.get("x2") and each.get("y1") != each.get("y2")
    ]
    assert diagonal
    for each in root.iter(f"{SVG}rect"):
        assert float(each.get("x")) + float(each.get("width")) <= float(root.get("width"))


def test_an_attribute_without_values_is_an_empty_picture():
    assert ET.fromstring(draw_value_bars(attribute(), ROWS)) is not None  # noqa: S314 - our own picture


def test_the_promise_is_a_line_unless_it_says_nothing_about_sizes(release, parts):
    facts = gather_facts(*parts(release))
    assert "promised: at least 5" in draw_class_sizes(facts["group_sizes"], 5)
    assert 'stroke-dasharray="5 4"' not in draw_class_sizes(facts["group_sizes"], 1)


def test_groups_of_many_sizes_still_fit():
    starts = [1, 2, 3, 5, *(d * 10**e for e in range(1, 7) for d in (1, 2, 5))]
    sizes = [
        {"from": low, "to": None, "records": {"before": 1, "after": 3}, "groups": {"before": 1, "after": 1}}
        for low in starts
    ]
    root = ET.fromstring(draw_class_sizes(sizes, 5))  # noqa: S314 - our own picture
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"1", "5", "1k", "1M"} & set(texts)


def test_columns_of_exposure_stand_from_low_to_high_and_to_scale():
    classes = ["1", "1/2 to 1", "1/5 to 1/2", "1/10 to 1/5", "1/20 to 1/10", "below 1/20"]
    before = dict(zip(classes, [6, 2, 0, 0, 0, 0], strict=True))
    after = dict(zip(classes, [0, 0, 0, 1, 0, 3], strict=True))
    kind = {"attribute": "<b>", "before": {"histogram": before}, "after": {"histogram": after}}
    root = ET.fromstring(draw_risk_histogram(kind))  # noqa: S314 - our own picture
    ticks = [text.text for text in root.iter(f"{SVG}text")]
    assert [tick for tick in ticks if tick in {"0", "1/20", "1/10", "1/5", "1/2", "1"}] == [
        "0", "1/20", "1/10", "1/5", "1/2", "1"
    ]  # fmt: skip
    heights = {bar.find(f"{SVG}title").text: float(bar.get("height")) for bar in root.iter(f"{SVG}rect")}
    assert heights["published, exposure below 1/20: 3 records, 75.0%"] == pytest.approx(0.75 * 170)
    assert heights["original, exposure 1: 6 records, 75.0%"] == pytest.approx(0.75 * 170)
    assert heights["published, exposure 1: 0 records, 0%"] == 0


def test_long_words_are_broken_and_the_rest_is_cut():
    lines = wrap_text("a" * 100, 20, 2)
    assert [text_width(each) for each in lines] == [20, 20]
    assert lines[-1].endswith("…")
    assert wrap_text("長" * 8, 10, 2) == ["長" * 5, "長" * 3]
    assert wrap_text("one two", 20, 2) == ["one two"]


def test_no_bar_covers_a_number(release, parts):
    facts = gather_facts(*parts(release))
    for drawn in (draw_risk_histogram(facts["exposure"][0]), draw_class_sizes(facts["group_sizes"], 5)):
        numbers = [found.start() for found in re.finditer('paint-order="stroke"', drawn)]
        assert numbers
        assert drawn.rindex("<rect") < min(numbers)
