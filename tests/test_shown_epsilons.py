"""Beside every epsilon that is shown stands which data it keeps from being told apart, in the words of one module."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._neighbors import EDGE, NODE, PLACES, REPORTS, ROW, TRIPS, one_individual
from sfumato.local_dp.client import LocalClient
from sfumato.local_dp.mechanisms.generalized_randomized_response import GeneralizedRandomizedResponse
from sfumato.local_dp.mechanisms.rappor import RAPPOR
from sfumato.report.charts.estimates import draw_noisy_counts
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.locations.location_client import LocationClient
from sfumato.trajectories.locations.planar_laplace import PlanarLaplace
from sfumato.trajectories.trajectories import Trajectories

SOURCES = Path(sf.__file__).parent
AREA = Area(west=13.0, south=52.3, east=13.8, north=52.7)


def table(asked, **more):
    asked = {name: asked[name] for name in ("accountant", "analyst")}
    frame = pd.DataFrame({"age": [1, 2, 3], "who": ["a", "b", "b"]})
    return sf.dp.PrivateTable(frame, **asked, bounds={"age": (0, 9)}, **more)


def network():
    return sf.graphs.Graph.from_edges([(0, 1), (0, 2), (1, 2), (2, 3)])


def ways():
    return Trajectories(sf.datasets.generate_trajectories(5, 1, seed=1))


def histogram(asked):
    return table(asked).histogram("age", edges=[0, 5, 9], epsilon=1)


def log(asked):
    return sf.transactions.private_item_counts(
        pa.table({"who": [1, 2], "item": ["a", "b"]}), person="who", item="item", max_items=1, delta="1e-6", **asked
    )


def client(mechanism):
    found = LocalClient(mechanism, budget=20)
    for value in ("a", "b", "a"):
        found.report(value)
    return found


def per_meter():
    found = LocationClient(PlanarLaplace(epsilon=0.007, area=AREA), budget=0.01)
    found.report(13.4, 52.5)
    return found


COUNTED = {"places": sf.trajectories.SquareGrid(area=AREA, order=1)}
SHOWN = {
    "answer": (lambda asked: table(asked).count(epsilon=1), ROW),
    "of persons": (
        lambda asked: table(asked, person="who", max_rows=2).mean("age", epsilon=1),
        one_individual("who", 2),
    ),
    "counts": (histogram, ROW),
    "accountant": (lambda asked: histogram(asked) and asked["accountant"], ROW),
    "balance": (lambda asked: histogram(asked) and asked["accountant"].balance(), ROW),
    "log": (log, one_individual("who")),
    "degrees": (lambda asked: sf.graphs.private_degrees(network(), **asked), EDGE),
    "degrees of persons": (lambda asked: sf.graphs.private_degrees(network(), unit="person", **asked), NODE),
    "triangles": (lambda asked: sf.graphs.private_triangles(network(), **asked), EDGE),
    "stars": (lambda asked: sf.graphs.private_stars(network(), **asked), EDGE),
    "blocks": (lambda asked: sf.graphs.private_blocks(network(), blocks=[*"abab"], names=["a"], **asked), EDGE),
    "density": (lambda asked: sf.trajectories.private_density(ways(), **COUNTED, **asked), TRIPS),
    "sequences": (lambda asked: sf.trajectories.private_prefix_tree(ways(), **COUNTED, **asked), TRIPS),
    "client": (lambda _: client(GeneralizedRandomizedResponse(epsilon=1, values=["a", "b"])), REPORTS),
    "rappor": (lambda _: client(RAPPOR(values=["a", "b"], bits=8, hashes=1, cohorts=1)), REPORTS),
    "places": (lambda _: per_meter(), PLACES),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_shows_an_epsilon_says_what_it_is_about(tmp_path, name):
    accountant = sf.dp.Accountant(tmp_path / "budget.sqlite", total=50, total_delta="1e-5")
    show, neighbors = SHOWN[name]
    found = show({"epsilon": 1, "accountant": accountant, "analyst": "ann"})
    written = repr(found)
    assert neighbors in written.replace('"', "'") or repr(neighbors) in written
    assert getattr(found, "neighbors", neighbors) == neighbors
    if hasattr(found, "to_dict"):
        assert found.to_dict()["neighbors"] == neighbors


def test_a_picture_says_what_its_epsilon_is_about(tmp_path):
    accountant = sf.dp.Accountant(tmp_path / "budget.sqlite", total=50)
    assert f"epsilon 1 for {ROW}" in draw_noisy_counts(histogram({"accountant": accountant, "analyst": "ann"}))


def test_no_module_writes_an_epsilon_in_words_of_its_own():
    written = re.compile(r"""epsilon(?: of)? \{|epsilon=\{""")
    found = [path.name for path in SOURCES.rglob("*.py") if written.search(path.read_text("utf-8"))]
    assert found == ["_neighbors.py"]
