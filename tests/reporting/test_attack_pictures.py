"""Pictures of attacks and of hiding are well-formed, escaped and drawn to scale."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from sfumato.core.attack import AttackResult
from sfumato.mining.association_rules import Rule
from sfumato.mining.hiding import HidingResult
from sfumato.mining.transaction_matrix import TransactionMatrix
from sfumato.report.charts.bars import draw_hiding_costs
from sfumato.report.charts.rates import ATTACK_WIDTH, draw_attack_rates
from sfumato.report.charts.svg import AFTER, LINE

SVG = "{http://www.w3.org/2000/svg}"


def result(successes, **more):
    stated = {"attack": "homogeneity", "question": "inference", "sensitive": "a<b&c", "targets": 100, "claims": 100}
    return AttackResult(
        **{"successes": successes, "baseline": 0.25, "control_targets": 100, "control_successes": 10, **stated, **more}
    )


def hiding(method, lost, failed=0):
    return HidingResult(
        transactions=TransactionMatrix.from_data([["a", "b"]]),
        method=method,
        sensitive=1,
        failed=failed,
        failed_if_absent=failed,
        failed_if_present=failed,
        rules_before=9,
        lost_rules=(Rule("a", "b"),) * lost,
        ghost_rules=(),
        sets_before=3,
        lost_sets=(),
        deleted=4,
        added=0,
        blocked=0,
    )


def test_bars_of_attacks_are_as_long_as_their_rates():
    drawn = ET.fromstring(draw_attack_rates([result(40), result(80)]))  # noqa: S314 - drawn here
    bars = [each for each in drawn.iter(f"{SVG}rect") if each.get("fill") == AFTER][:2]
    assert [float(each.get("width")) for each in bars] == pytest.approx([0.4 * ATTACK_WIDTH, 0.8 * ATTACK_WIDTH])
    assert "homogeneity of 'a<b&c'" in [each.text for each in drawn.iter(f"{SVG}text")]
    assert "guessing 0.25" in drawn.find(f"{SVG}desc").text


def test_no_mark_is_drawn_for_a_control_that_is_not_there():
    dashed = [draw_attack_rates([result(40, control_targets=number)]).count('"3 2"') for number in (100, 0)]
    assert dashed == [2, 1]


def test_hiding_is_drawn_to_scale_and_failures_are_told():
    drawn = ET.fromstring(draw_hiding_costs([hiding("1.b", 2), hiding("1.a", 8, failed=1)]))  # noqa: S314 - drawn here
    lost = [float(each.get("width")) for each in drawn.iter(f"{SVG}rect") if each.get("fill") == AFTER][:2]
    assert lost[1] == pytest.approx(4 * lost[0])
    told = [each.text for each in drawn.iter(f"{SVG}text")]
    assert " (1 seen)" in told
    assert [each.get("fill") for each in drawn.iter(f"{SVG}text") if each.text == " (1 seen)"] == [LINE]


def test_nothing_to_draw_is_an_empty_picture():
    for made in (draw_attack_rates([]), draw_hiding_costs([])):
        assert ET.fromstring(made).tag == f"{SVG}svg"  # noqa: S314 - drawn here
