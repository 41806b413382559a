"""Pictures of lattices: every node once and in its place, the frontier and the best marked, large ones to scale."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations, product

import numpy as np
import pytest

from sfumato._locale.messages import load_messages
from sfumato.report.charts.lattice import BOTTOM, PAPER, TOP, draw_lattice
from sfumato.report.charts.scales import Axis
from sfumato.report.charts.svg import AFTER, BEFORE, INK, LINE
from sfumato.tables.algorithms.full_domain._lattice import Exploration, NodeStatus
from sfumato.tables.published.solution import OptimalityProof

SVG = "{http://www.w3.org/2000/svg}"


def exploration(heights, anonymous_from=None, *, names=None, known=True, bounded=()):
    """Explore an imagined lattice: nodes at or above `anonymous_from` are solutions, their loss is their height."""
    levels = np.array(list(product(*(range(height + 1) for height in heights))), dtype=np.uint8)
    anonymous = (levels >= np.array(anonymous_from)).all(axis=1) if anonymous_from else np.zeros(len(levels), bool)
    status = np.where(anonymous, NodeStatus.ANONYMOUS, NodeStatus.NOT_ANONYMOUS).astype(np.int8)
    status[[levels.tolist().index(list(node)) for node in bounded]] = NodeStatus.BOUNDED
    total = levels.sum(axis=1) / 10
    loss = np.where((status == NodeStatus.ANONYMOUS) & known, total, np.nan)
    best = int(np.nanargmin(loss)) if not np.isnan(loss).all() else None
    found = np.inf if best is None else float(loss[best])
    return Exploration(
        names=names or tuple("abcdefgh"[: len(heights)]),
        heights=tuple(heights),
        levels=levels,
        status=status,
        loss=loss,
        bound=np.where(np.isnan(loss), total / 2, loss),
        suppressed=np.where(np.isnan(loss), -1, 3),
        proof=OptimalityProof("loss", found, found, 5, len(levels)),
        best=best,
    )


def minimal_of(explored):
    solutions = np.flatnonzero(explored.status == NodeStatus.ANONYMOUS)
    mask = np.zeros(len(explored), dtype=np.bool_)
    for node in solutions:
        below = [other for other in solutions if (explored.levels[other] <= explored.levels[node]).all()]
        mask[node] = below == [node]
    return mask


def drawn(explored):
    return ET.fromstring(draw_lattice(explored, minimal_of(explored), load_messages("en")))  # noqa: S314 - our own picture


def pills(root):
    """Give the rectangle and the label of every node; the legend has no label in its pills."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        label = group.find(f"{SVG}text")
        if label is not None:
            found[label.text] = group.find(f"{SVG}rect")
    return found


def numbers(shape, *names):
    return [float(shape.get(name)) for name in names]


SMALL = exploration((3, 2, 1), (1, 1, 0))
CASES = [
    SMALL,
    exploration((1,), (0,)),
    exploration((0, 0)),
    exploration((4, 4, 2), (2, 1, 1), bounded=[(0, 4, 0), (4, 0, 2)]),
    exploration((1, 1, 1, 1, 1), (0, 1, 0, 1, 0)),
    exploration((11, 2), (10, 0)),
    exploration((9, 9, 5), (4, 3, 2)),
    exploration((9, 9, 5)),
]


@pytest.mark.parametrize("explored", CASES, ids=lambda each: str(each.heights))
def test_every_picture_is_well_formed_and_says_what_it_shows(explored):
    root = drawn(explored)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text
    assert f"{len(explored):,} nodes over" in root.find(f"{SVG}desc").text
    background = root.find(f"{SVG}rect")
    assert background.get("fill") == PAPER
    assert numbers(background, "width", "height") == numbers(root, "width", "height")


@pytest.mark.parametrize("explored", CASES[:6], ids=lambda each: str(each.heights))
def test_every_node_stands_once_and_apart_from_all_others(explored):
    root = drawn(explored)
    found = pills(root)
    assert len(found) == len(explored)
    width, height = numbers(root, "width", "height")
    boxes = [numbers(shape, "x", "y", "width", "height") for shape in found.values()]
    for x, y, wide, tall in boxes:
        assert x >= 0
        assert y >= 0
        assert x + wide <= width
        assert y + tall <= height
    for (x, y, wide, tall), (x2, y2, _, _) in combinations(boxes, 2):
        assert abs(x - x2) >= wide or abs(y - y2) >= tall


def test_labels_are_the_levels():
    assert set(pills(drawn(SMALL))) == {",".join(map(str, node)) for node in SMALL.levels.tolist()}
    many = drawn(exploration((1, 1, 1, 1, 1)))
    assert "01011" in pills(many)
    assert "11,2" in pills(drawn(exploration((11, 2), (10, 0))))


def test_nodes_of_one_height_stand_in_one_row_and_more_general_ones_higher():
    found = pills(drawn(SMALL))
    by_height = {}
    for label, shape in found.items():
        by_height.setdefault(sum(map(int, label.split(","))), set()).add(shape.get("y"))
    assert all(len(rows) == 1 for rows in by_height.values())
    tops = [float(rows.pop()) for _, rows in sorted(by_height.items())]
    assert tops == sorted(tops, reverse=True)


def test_lines_join_exactly_the_direct_neighbors():
    root = drawn(SMALL)
    places = {}
    for label, shape in pills(root).items():
        x, y, wide, tall = numbers(shape, "x", "y", "width", "height")
        places[round(x + wide / 2, 1), round(y + tall / 2, 1)] = tuple(map(int, label.split(",")))
    joined = set()
    for shape in root.iter(f"{SVG}line"):
        x1, y1, x2, y2 = (round(number, 1) for number in numbers(shape, "x1", "y1", "x2", "y2"))
        joined.add(frozenset([places[x1, y1], places[x2, y2]]))
    nodes = [tuple(node) for node in SMALL.levels.tolist()]
    expected = {
        frozenset([low, high])
        for low, high in combinations(nodes, 2)
        if sum(abs(a - b) for a, b in zip(low, high, strict=True)) == 1
    }
    assert joined == expected


def test_status_frontier_and_best_can_be_told_apart():
    explored = exploration((2, 2), (1, 1), bounded=[(2, 0)])
    found = pills(drawn(explored))
    assert {label for label, shape in found.items() if shape.get("fill") == AFTER} == {"1,1", "1,2", "2,1", "2,2"}
    assert [label for label, shape in found.items() if shape.get("fill") == BEFORE] == ["2,0"]
    assert [label for label, shape in found.items() if shape.get("stroke") == LINE] == ["1,1"]
    assert [label for label, shape in found.items() if shape.get("stroke-dasharray") != "none"] == ["2,0"]
    unknown = exploration((2, 2), (1, 1), known=False)
    assert [label for label, shape in pills(drawn(unknown)).items() if shape.get("stroke") == INK] == ["1,1"]


def test_pointing_at_a_node_tells_what_is_known():
    tips = [
        group.find(f"{SVG}title").text
        for group in drawn(SMALL).iter(f"{SVG}g")
        if group.find(f"{SVG}title") is not None
    ]
    assert "a 1, b 1, c 0: solution, loss 0.2, 3 records suppressed" in tips
    assert "a 0, b 0, c 0: no solution" in tips


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\"&'", "a\x00b", "長" * 60, "x" * 500])
@pytest.mark.parametrize("heights", [(2, 1), (9, 29)])
def test_any_name_becomes_a_well_formed_picture(name, heights):
    explored = exploration(heights, (1, 0), names=(name, "b"))
    picture = draw_lattice(explored, minimal_of(explored), load_messages("en"))
    root = ET.fromstring(picture)  # noqa: S314 - our own picture
    assert not root.findall(f".//{SVG}script")
    assert "<script" not in picture


@pytest.mark.parametrize("heights", [(4, 4), (9, 29)])
def test_a_long_legend_stays_inside_the_picture(heights):
    explored = exploration(heights, (2, 2), bounded=[(1, 4)])
    explored.loss[-1] = np.nan
    root = drawn(explored)
    for text in root.iter(f"{SVG}text"):
        if text.get("text-anchor") == "start":
            assert float(text.get("x")) + 5.5 * len(text.text) <= float(root.get("width"))
    assert "not checked" in "".join(text.text for text in root.iter(f"{SVG}text"))


def test_no_node_at_all_is_drawn_too():
    explored = exploration((2, 1))
    empty = Exploration(
        names=explored.names,
        heights=explored.heights,
        levels=explored.levels[:0],
        status=explored.status[:0],
        loss=explored.loss[:0],
        bound=explored.bound[:0],
        suppressed=explored.suppressed[:0],
        proof=explored.proof,
        best=None,
    )
    assert pills(drawn(empty)) == {}


def dots(root):
    """Give the dots of nodes with how many nodes each of them stands for."""
    found = []
    for shape in root.iter(f"{SVG}circle"):
        tip = shape.find(f"{SVG}title")
        number = re.match(r"([\d,]+) (solutions|not solutions|not checked)", tip.text) if tip is not None else None
        if number:
            found.append((shape, int(number[1].replace(",", ""))))
    return found


def test_many_nodes_become_dots_that_count_all_of_them():
    explored = exploration((9, 9, 5), (4, 3, 2))
    root = drawn(explored)
    assert pills(root) == {}
    assert sum(number for _, number in dots(root)) == len(explored)
    width, height = numbers(root, "width", "height")
    for shape, _ in dots(root):
        x, y, radius = numbers(shape, "cx", "cy", "r")
        assert 0 <= x - radius <= x + radius <= width
        assert 0 <= y - radius <= y + radius <= height


def test_dots_stand_at_their_height_and_loss():
    explored = exploration((9, 9, 5), (4, 3, 2))
    root = drawn(explored)
    marked = [
        shape
        for shape in root.iter(f"{SVG}circle")
        if shape.get("stroke") == LINE and shape.find(f"{SVG}title") is not None
    ]
    (mark,) = marked
    (dashed,) = [shape for shape in root.iter(f"{SVG}line") if shape.get("stroke") == LINE]
    assert mark.get("cy") == dashed.get("y1") == dashed.get("y2")
    axis = Axis.covering(np.array([0.0, 2.3]))
    assert float(mark.get("cy")) == pytest.approx(BOTTOM - axis.position(0.9) * (BOTTOM - TOP), abs=0.01)


def test_a_node_of_unknown_loss_stands_at_its_bound_and_is_hollow():
    explored = exploration((9, 29), (3, 3), known=False, bounded=[(9, 29)])
    fills = {shape.get("fill") for shape, _ in dots(drawn(explored))}
    assert AFTER not in fills
    assert fills == {PAPER, BEFORE}


def test_bounds_without_end_are_left_out():
    explored = exploration((9, 29), (3, 3), known=False)
    explored.bound[:100] = np.inf
    assert sum(number for _, number in dots(drawn(explored))) == len(explored) - 100


@pytest.mark.parametrize(
    "values", [[], [0.0], [5.0], [-3.0, 4.0], [1e-12, 2e-12], [1e15, 3e15], [0.3575, 1.0000000001], [0.11, 0.57]]
)
def test_the_axis_holds_all_values_between_round_numbers(values):
    axis = Axis.covering(np.array(values))
    assert axis.low < axis.high
    assert 1 <= round((axis.high - axis.low) / axis.step) <= 8
    places = axis.positions(np.array(values))
    assert ((places >= -1e-9) & (places <= 1 + 1e-9)).all()
    assert axis.ticks[0] == axis.low
    assert axis.ticks[-1] == pytest.approx(axis.high)
