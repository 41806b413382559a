"""What happens to a count of ways never depends on points that were not paid for: refused alike, or answered."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from purse import Purse
from sfumato.errors import InvalidParameterError, SfumatoError
from sfumato.trajectories._dp_input import read_trajectories_for_counts
from sfumato.trajectories.dp import private_density, private_n_grams, private_prefix_tree, private_trips
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.grids import SquareGrid

COLUMNS = ("person", "time", "longitude", "latitude", "trip", "place")
ODD = [
    *(None, "", " ", 0, -1, 2**64, 10**400, 1e308, float("inf"), float("nan"), True, "nan", "1e999", "\ud800", "\0"),
    *(13.4, "13.4", "52,5", 52.5, 181, -91, "a", "b", "elsewhere", "2026-01-05T08:00Z", "2026-01-05 8:01"),
    *(
        "2026-01-05",
        "2026-01-05T00:00Z",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59-14:00",
        "2026-03-29T02:30",
        "2026-02-30",
    ),
    *(pd.NaT, pd.Timestamp(1), (1, 2), b"x"),
]
USUAL = ("ann", "2026-01-05T08:00Z", 13.4, 52.5, 1, "a")
ROW = st.one_of(st.just(USUAL), st.tuples(*[st.sampled_from(ODD)] * len(COLUMNS)))
SQUARES = SquareGrid(area=Area(west=13.3, south=52.4, east=13.5, north=52.6), order=1)
PLACES = [SQUARES, ["a", "b"], ["a", "elsewhere"], [], "ab", list(map(str, range(2500)))]
EPSILONS = [1, 0.5, "8e-12", "1e-12", 10**6, 0, -1, float("nan"), "x", 10**400]
NUMBERS = [1, 1, 2, 3, 0, -1, 2**40, 10**30, 1.5]
QUESTIONS = {
    "density": (private_density, ("points",)),
    "trips": (private_trips, ("trips",)),
    "tree": (private_prefix_tree, ("height", "trips")),
    "n-grams": (private_n_grams, ("size", "longest", "trips")),
}


def frame_of(rows):
    return pd.DataFrame({name: pd.Series([row[at] for row in rows], dtype=object) for at, name in enumerate(COLUMNS)})


def happening(rows, asked):
    """Return what an analyst sees beside the noisy counts, and what was paid."""
    ask, options = QUESTIONS[asked["name"]]
    purse = Purse()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ways = read_trajectories_for_counts(frame_of(rows), trip="trip", place="place" if asked["named"] else None)
        given = dict(zip(options, asked["numbers"], strict=False))
        try:
            found = ask(
                ways, accountant=purse, analyst="ann", places=asked["places"], epsilon=asked["epsilon"], **given
            )
        except SfumatoError as error:
            return type(error), str(error), purse.costs
        shown = found.to_arrow()
    of_counts = (found.scale, shown.schema, shown.num_rows) if hasattr(found, "counts") else ()
    return found.names, of_counts, purse.costs


@examples(150)
@given(
    rows=st.lists(ROW, max_size=4),
    more=st.lists(ROW, min_size=1, max_size=2),
    asked=st.fixed_dictionaries({
        "name": st.sampled_from([*QUESTIONS]),
        "named": st.booleans(),
        "places": st.one_of(st.sampled_from(PLACES[:2]), st.sampled_from(PLACES)),
        "epsilon": st.one_of(st.just(1), st.sampled_from(EPSILONS)),
        "numbers": st.one_of(st.just((1, 1, 1)), st.tuples(*[st.sampled_from(NUMBERS)] * 3)),
    }),
)  # fmt: skip
def test_a_count_is_refused_alike_or_answered_whatever_one_more_person_adds(rows, more, asked):
    seen = [happening(each, asked) for each in (rows, [*rows, *more], [])]
    assert repr(seen[1]) == repr(seen[2]) == repr(seen[0])
    assert len(seen[0][2]) == 1


@pytest.mark.parametrize("name", ["tree", "n-grams"])
@pytest.mark.parametrize("length", [101, 2**40, 10**30])
def test_sequences_too_long_for_a_memory_are_refused_before_payment(name, length):
    asked = {"name": name, "named": False, "places": SQUARES, "epsilon": 1, "numbers": (length, 1, 1)}
    seen = [happening(rows, asked) for rows in ([], [USUAL], [USUAL] * 50)]
    assert seen[0][0] is InvalidParameterError
    assert repr(seen[0]) == repr(seen[1]) == repr(seen[2])


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("at", range(len(COLUMNS)))
def test_a_count_is_answered_whatever_a_cell_holds(name, at):
    for named, places in ((False, SQUARES), (True, ["a", "b"])):
        asked = {"name": name, "named": named, "places": places, "epsilon": 1, "numbers": (1, 1, 1)}
        rows = [tuple(odd if place == at else cell for place, cell in enumerate(USUAL)) for odd in ODD]
        seen = {repr(happening([USUAL, row], asked)) for row in rows}
        assert len(seen) == 1
        assert "Error" not in seen.pop()


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize(
    "days", [["2026-01-05"], ["2026-01-05T00:00Z", "2026-01-06"], ["2026-01-05T00:00", "0001-01-01"]]
)
def test_moments_that_are_all_at_midnight_are_counted_like_any_others(name, days):
    asked = {"name": name, "named": False, "places": SQUARES, "epsilon": 1, "numbers": (1, 1, 1)}
    midnights = [("ann", day, *USUAL[2:]) for day in days]
    seen = [happening(rows, asked) for rows in (midnights, [*midnights, USUAL], [])]
    assert "Error" not in repr(seen[0])
    assert repr(seen[0]) == repr(seen[1]) == repr(seen[2])


@given(st.lists(ROW, min_size=1, max_size=4), ROW, st.integers(0, 3))
def test_no_row_changes_how_another_is_read(rows, other, place):
    place %= len(rows)

    def read(lines):
        points = read_trajectories_for_counts(frame_of(lines), trip="trip").points
        return sorted(zip(points.times.tolist(), points.longitudes.tolist(), points.latitudes.tolist(), strict=True))

    alone = [read([row]) for at, row in enumerate(rows) if at != place]
    together = read([*rows[:place], other, *rows[place + 1 :]])
    assert {point for points in alone for point in points} <= set(together)
    assert np.isfinite([point[1:] for point in together]).all()
