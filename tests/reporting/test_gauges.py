"""Gauges and tracks are drawn to scale, named, and hold 100%."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import acos, pi

import pytest

from sfumato.report.charts.rates import (
    ATTACK_TRACK_LEFT,
    ATTACK_TRACK_RADIUS,
    ATTACK_TRACK_RIGHT,
    ATTACK_TRACK_WIDTH,
    GAUGE_MIDDLE,
    GAUGE_RADIUS,
    SQUARE,
    draw_attack_track,
    draw_gauge,
)
from sfumato.report.charts.svg import AFTER, BEFORE, BEFORE_EDGE, INK, LINE

SVG = "{http://www.w3.org/2000/svg}"
END = re.compile(r"1 ([\d.]+),([\d.]+)$")


def parsed(picture):
    return ET.fromstring(picture)  # noqa: S314 - our own picture


def covered(share, *, published=True):
    """Return the share of the half circle that the second arc covers."""
    arcs = list(parsed(draw_gauge(share, caption="a<b", title="t", published=published)).iter(f"{SVG}path"))
    if len(arcs) == 1:
        return 0.0
    assert arcs[1].get("stroke") == (AFTER if published else BEFORE_EDGE)
    x = float(END.search(arcs[1].get("d"))[1])
    return 1 - acos((x - GAUGE_MIDDLE) / GAUGE_RADIUS) / pi


@pytest.mark.parametrize("share", [0.0, 0.077, 0.2, 0.5, 0.729, 1.0])
@pytest.mark.parametrize("published", [True, False])
def test_a_gauge_is_as_full_as_its_share(share, published):
    assert covered(share, published=published) == pytest.approx(share, abs=0.01)


def test_a_gauge_tells_its_number_in_words():
    root = parsed(draw_gauge(0.2, caption="a<b", title="Highest risk", published=True))
    assert [each.text for each in root.iter(f"{SVG}text")] == ["20.0%", "a<b"]
    assert root.find(f"{SVG}title").text == "Highest risk"
    assert root.find(f"{SVG}desc").text == "a<b: 20.0%"


def attack(rate=0.076, before=0.6, **more):
    after = {"rate": rate, "low": rate / 2, "high": min(1.0, 2 * rate), "guessing": 0.001, "control": None, **more}
    return {"before": None if before is None else {"rate": before}, "after": after}


def place(share):
    return pytest.approx(ATTACK_TRACK_LEFT + share * (ATTACK_TRACK_RIGHT - ATTACK_TRACK_LEFT), abs=0.01)


def test_a_track_shows_where_everything_is():
    root = parsed(draw_attack_track(attack(control=0.3), title="linkage", description="7.6%"))
    (dot,) = root.iter(f"{SVG}circle")
    (square,) = root.iter(f"{SVG}rect")
    lines = {each.get("stroke"): float(each.get("x1")) for each in root.iter(f"{SVG}line")}
    assert float(dot.get("cx")) == place(0.076)
    assert square.get("fill") == BEFORE
    assert float(square.get("x")) + SQUARE / 2 == place(0.6)
    assert lines[LINE] == place(0.001)
    assert lines[INK] == place(0.3)
    assert lines[AFTER] == place(0.038)
    assert root.find(f"{SVG}title").text == "linkage"


def test_success_of_all_is_drawn_inside_the_picture():
    root = parsed(draw_attack_track(attack(rate=1.0, before=1.0, guessing=1.0), title="t", description="d"))
    (dot,) = root.iter(f"{SVG}circle")
    assert float(dot.get("cx")) == place(1.0)
    assert float(dot.get("cx")) + ATTACK_TRACK_RADIUS <= ATTACK_TRACK_WIDTH
    assert float(next(root.iter(f"{SVG}rect")).get("x")) + SQUARE <= ATTACK_TRACK_WIDTH


def test_what_is_not_known_is_not_drawn():
    root = parsed(draw_attack_track(attack(before=None), title="t", description="d"))
    assert not list(root.iter(f"{SVG}rect"))
    assert INK not in [each.get("stroke") for each in root.iter(f"{SVG}line")]
