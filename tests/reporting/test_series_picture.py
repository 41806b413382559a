"""Exposure release by release: the picture shows the numbers it is given, and the sentences say them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from sfumato._locale.messages import load_messages
from sfumato.report.sections.series import (
    HEIGHT,
    TOP,
    AttributeDisclosure,
    SeriesDisclosure,
    draw_cumulative_disclosure,
)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_picture_has_a_dot_for_every_release_at_its_exposure_and_tells_all_numbers(language):
    say = load_messages(language)
    root = ET.fromstring(draw_cumulative_disclosure([0.25, 0.25, 0.5], [0.3, 0.9], limit=0.5, say=say))  # noqa: S314 - drawn here
    dots = [each for each in root.iter(f"{SVG}circle") if each.find(f"{SVG}title") is not None]
    heights = sorted(round(1 - (float(each.get("cy")) - TOP) / HEIGHT, 3) for each in dots)
    assert heights == [0.25, 0.25, 0.3, 0.5, 0.9]
    assert root.find(f"{SVG}title").text == say("series.picture.title")
    told = root.find(f"{SVG}desc").text
    assert re.findall(r"0\.\d+", told) == ["0.25", "0.25", "0.5", "0.3", "0.9"]
    assert any(each.text == say("series.picture.limit", limit="0.5") for each in root.iter(f"{SVG}text"))


def test_a_series_alone_has_one_line_and_no_limit():
    root = ET.fromstring(draw_cumulative_disclosure([0.5] * 45))  # noqa: S314 - drawn here
    assert len(list(root.iter(f"{SVG}polyline"))) == 1
    assert 'stroke-dasharray="4 3"' not in draw_cumulative_disclosure([0.5])
    numbers = [each.text for each in root.iter(f"{SVG}text") if each.get("text-anchor") == "middle"]
    assert numbers == [str(number) for number in range(1, 46, 3)]


FIGURES = {
    "release": 1,
    "persons": 1200,
    "maximum": 0.25,
    "mean": 0.2,
    "exact": True,
    "decided": 0,
    "shown": 0,
    "equal_pairs": 0,
    "counterfeits": 0,
}
LATER = {
    **FIGURES,
    "release": 2,
    "maximum": 1.0,
    "exact": False,
    "decided": 1,
    "shown": 0,
    "equal_pairs": 2,
    "counterfeits": 4,
}


def test_sentences_say_what_was_told_before_and_who_waits():
    first = " ".join(SeriesDisclosure(earlier=0, persons=0).sentences())
    assert (
        first == "This is the first release of its series; nothing was told before. Nobody waits for a later release."
    )
    later = SeriesDisclosure(earlier=3, persons=1200, waiting=1, counterfeits=4)
    said = list(later.sentences())
    assert said[0] == "3 earlier releases told something about 1,200 of the people in this one."
    assert [each.split()[0] for each in said[1:]] == ["1", "4"]
    assert len(list(later.sentences(load_messages("zh")))) == 3
    assert later.heading() == "What earlier releases already told"


def test_of_an_attribute_it_is_said_how_sure_somebody_is_and_a_lower_bound_is_called_one():
    alone = AttributeDisclosure(attribute="disease", limit=None, releases=[FIGURES])
    assert list(alone.sentences()) == [
        "By this release, the highest exposure of a person in “disease” is 0.25.",
        "Nobody's value is certain to whoever holds all releases.",
    ]
    both = AttributeDisclosure(attribute="disease", limit=1 / 3, releases=[FIGURES, LATER])
    said = list(both.sentences())
    assert "was 0.25 before this one, and is at least 1 with it" in said[0]
    assert [each.split()[1] for each in said[1:]] == ["value", "series"]
    assert both.rows()[1] == ["2", "1,200", "at least 1", "at least 0.2", "1", "2", "4"]
    assert "limit 0.333" in both.chart()
    assert len(list(both.sentences(load_messages("zh")))) == 3
