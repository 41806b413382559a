"""Exposure release by release: the picture shows the numbers it is given, and the sentences say them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from sfumato.reporting.series_picture import HEIGHT, TOP, SeriesTold, draw_series_exposure
from sfumato.words import words_in

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_picture_has_a_dot_for_every_release_at_its_exposure_and_tells_all_numbers(language):
    say = words_in(language)
    root = ET.fromstring(draw_series_exposure([0.25, 0.25, 0.5], [0.3, 0.9], limit=0.5, say=say))  # noqa: S314 - drawn here
    dots = [each for each in root.iter(f"{SVG}circle") if each.find(f"{SVG}title") is not None]
    heights = sorted(round(1 - (float(each.get("cy")) - TOP) / HEIGHT, 3) for each in dots)
    assert heights == [0.25, 0.25, 0.3, 0.5, 0.9]
    assert root.find(f"{SVG}title").text == say("series.picture.title")
    told = root.find(f"{SVG}desc").text
    assert re.findall(r"0\.\d+", told) == ["0.25", "0.25", "0.5", "0.3", "0.9"]
    assert any(each.text == say("series.picture.limit", limit="0.5") for each in root.iter(f"{SVG}text"))


def test_a_series_alone_has_one_line_and_no_limit():
    root = ET.fromstring(draw_series_exposure([0.5] * 45))  # noqa: S314 - drawn here
    assert len(list(root.iter(f"{SVG}polyline"))) == 1
    assert 'stroke-dasharray="4 3"' not in draw_series_exposure([0.5])
    numbers = [each.text for each in root.iter(f"{SVG}text") if each.get("text-anchor") == "middle"]
    assert numbers == [str(number) for number in range(1, 46, 3)]


def test_sentences_say_what_was_told_before_and_who_waits():
    first = " ".join(SeriesTold(earlier=0, persons=0, before=0, after=1 / 3).sentences())
    assert (
        first == "This is the first release of its series; nothing was told before. Nobody waits for a later release."
    )
    later = SeriesTold(earlier=3, persons=1200, before=0.25, after=1 / 3, equal=2, waiting=1, counterfeits=4)
    said = list(later.sentences())
    assert said[0] == "3 earlier releases told something about 1,200 of the people in this one."
    assert "0.25 before this one, and is 0.333 with it" in said[1]
    assert [each.split()[0] for each in said[2:]] == ["The", "1", "4"]
    assert len(list(later.sentences(words_in("zh")))) == 5
    assert later.heading() == "What earlier releases already told"
