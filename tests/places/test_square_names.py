"""Squares as places: as large as asked, the same for all data, and named by their middles."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.trajectories._input import named_squares
from sfumato.trajectories.geometry import haversine
from sfumato.trajectories.trajectories import Trajectories


@given(st.floats(-179, 179), st.floats(-84, 84), st.sampled_from([10.0, 500.0, 2000.0]), st.integers(0, 10_000))
@examples(40)
def test_points_are_near_the_middle_that_names_their_square(longitude, latitude, meters, seed):
    around = np.random.default_rng(seed).normal(0, meters / 50_000, (20, 2))
    x, y = longitude + around[:, 0], latitude + around[:, 1]
    number, names = named_squares(x, y, meters)
    assert sorted(set(number.tolist())) == list(range(len(names)))
    middles = np.array([[float(side) for side in name.split()] for name in names])[number]
    far = haversine(x, y, middles[:, 1], middles[:, 0])
    assert far.max() <= meters * 0.5**0.5 * 1.01 + 1
    alone = [named_squares(x[at : at + 1], y[at : at + 1], meters)[1][0] for at in range(len(x))]
    assert alone == [names[each] for each in number]


def test_ways_are_read_with_squares_as_places():
    table = pa.table({"person": [1, 1, 2], "order": [1, 2, 1], "lon": [13.4, 13.5, 13.4001], "lat": [52.5, 52.5, 52.5]})
    ways = Trajectories(table, order="order", squares=2000)
    assert ways.points.places.tolist()[0] == ways.points.places.tolist()[2]
    assert ways.points.names[ways.points.places[0]] == "52.49333 13.39704"
    assert ways.points.has_coordinates
    with pytest.raises(InvalidParameterError, match=r"Trajectories\.squares"):
        Trajectories(table, order="order", squares=1)
    with pytest.raises(SchemaError, match="names of places already"):
        Trajectories(table.append_column("shop", [["a", "b", "a"]]), order="order", place="shop", squares=100)
