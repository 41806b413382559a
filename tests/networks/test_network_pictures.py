"""Pictures of networks show what they say: every mark is counted against the network."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import networkx as nx
import numpy as np
import pytest

import sfumato as sf
from network_oracle import network_of
from sfumato.graphs._figures import (
    MAX_NODES,
    SIZES,
    plot_candidates,
    plot_degrees,
    plot_super_nodes,
    probability_color,
    spring_layout,
)
from sfumato.report.charts.svg import LINE

S = sf.graphs
SVG = "{http://www.w3.org/2000/svg}"
KARATE = network_of(nx.karate_club_graph())


def shapes(picture: str, name: str) -> list[ET.Element]:
    return ET.fromstring(picture).findall(f"{SVG}{name}")  # noqa: S314 - our own picture


def tips(picture: str, name: str) -> list[str]:
    return [each.findtext(f"{SVG}title") for each in shapes(picture, name) if each.find(f"{SVG}title") is not None]


def test_degrees_are_two_falling_lines_through_every_degree():
    more = network_of(nx.gnp_random_graph(34, 0.3, seed=1))
    lines = shapes(plot_degrees(KARATE, more), "polyline")
    for network, line in zip((KARATE, more), lines, strict=True):
        points = [tuple(map(float, each.split(","))) for each in line.get("points").split()]
        assert len(points) == len(np.unique(network.degrees))
        assert points == sorted(points)
        heights = [y for _, y in points]
        assert heights == sorted(heights)


@pytest.mark.parametrize("clustered", [False, True])
def test_bars_tell_how_many_have_few_candidates(clustered):
    after = S.ClusteredGraph.from_clusters(KARATE, np.arange(34) // 3) if clustered else network_of(nx.cycle_graph(34))
    found = tips(plot_candidates(KARATE, after), "rect")
    slow = []
    for knowledge in ("H1", "H2", "H3"):
        before = S.candidate_set_sizes(KARATE, knowledge=knowledge)
        now = np.bincount(after.cluster)[after.cluster] if clustered else np.full(34, 34)
        for each in (before, now):
            slow += [f"{(each <= size).mean():.1%} have at most {size} candidates by {knowledge}" for size in SIZES]
    assert found == slow


def test_super_nodes_are_drawn_with_what_is_published():
    two = S.ClusteredGraph.from_clusters(KARATE, np.arange(34) // 17)
    picture = plot_super_nodes(two)
    inside = [f"17 persons, {count} relations inside" for count in two.inner.tolist()]
    assert [tip.split(", belief")[0] for tip in tips(picture, "circle")] == inside
    assert len(shapes(picture, "line")) == 1
    assert "2 of 2 super-nodes" in picture


def test_at_most_300_super_nodes_are_drawn_inside_the_picture():
    network = sf.datasets.generate_friendship_graph(1400)
    label = np.repeat(np.arange(400), [5] * 200 + [2] * 200)
    picture = plot_super_nodes(S.ClusteredGraph.from_clusters(network, label))
    drawn = [each for each in shapes(picture, "circle") if each.find(f"{SVG}title") is not None]
    assert len(drawn) == MAX_NODES
    assert sum("5 persons" in tip for tip in tips(picture, "circle")) == 200
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', picture).groups())
    for each in drawn:
        x, y, radius = (float(each.get(name)) for name in ("cx", "cy", "r"))
        assert radius <= x <= width - radius
        assert radius <= y <= height - radius


def test_nodes_that_pull_each_other_are_near():
    halves = np.array([[a, b] for side in (0, 10) for a in range(side, side + 10) for b in range(a + 1, side + 10)])
    spots = spring_layout(20, halves, np.ones(len(halves)))
    assert (spots == spring_layout(20, halves, np.ones(len(halves)))).all()
    middles = spots.reshape(2, 10, 2).mean(axis=1)
    within = np.linalg.norm(spots.reshape(2, 10, 2) - middles[:, None], axis=2).mean()
    assert within < np.linalg.norm(middles[0] - middles[1]) / 2
    assert spring_layout(1, np.zeros((0, 2), dtype=np.int64), np.zeros(0)).shape == (1, 2)


def test_only_cliques_stand_out():
    assert probability_color(1.0, 5) == LINE
    assert LINE not in {probability_color(belief, 5) for belief in (0, 0.3, 0.6, 0.99)} | {
        probability_color(0.0, 1),
        probability_color(1.0, 1),
    }
