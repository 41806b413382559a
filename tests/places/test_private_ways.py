"""Counts and made-up ways with differential privacy: right without noise, paid for, and blind to who is there."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._randomness import KeyedRandom
from sfumato.dp.accountant import Accountant
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.trajectories.dp import (
    PrefixTree,
    private_density,
    private_n_grams,
    private_prefix_tree,
    private_trips,
    sample_per_individual,
)
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.grids import SquareGrid
from sfumato.trajectories.trajectories import Trajectories

CITY = Area(west=13.2, south=52.4, east=13.6, north=52.6)


def visited(ways):
    rows = [(person, step, place) for person, way in enumerate(ways) for step, place in enumerate(way)]
    person, step, place = (list(column) for column in zip(*rows, strict=True))
    return Trajectories(pa.table({"person": person, "order": step, "place": place}), order="order", place="place")


@pytest.fixture
def asked(tmp_path):
    return {"accountant": Accountant(tmp_path / "budget.db", total=1_000_000), "analyst": "ann"}


def test_counts_are_right_where_noise_is_tiny(asked):
    ways = visited(["ab", "ab", "cb", "a"])
    density = private_density(ways, places=["a", "b", "c", "d"], epsilon=200_000, points=2, **asked)
    assert density.counts.tolist() == [3, 3, 1, 0, 0]
    trips = private_trips(ways, places=["a", "b", "c", "d"], epsilon=200_000, **asked)
    assert trips.counts[:4, :4].tolist() == [[1, 2, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert trips.counts[4].sum() == trips.counts[:, 4].sum() == 0
    assert trips.to_arrow().num_rows == 25
    assert asked["accountant"].balance().total.spent == "400000"


def test_every_place_gets_noise(asked):
    ways = visited(["a"] * 5)
    names = [str(number) for number in range(500)] + ["a"]
    found = private_density(ways, places=names, epsilon=0.5, **asked)
    assert (found.counts[:-1] != 0).mean() > 0.3
    assert (np.abs(found.counts[:-1]) <= found.margin).mean() > 0.9


def test_squares_of_a_public_area_are_places(asked):
    ways = Trajectories(sf.datasets.generate_trajectories(20, 1, seed=1))
    found = private_density(ways, places=SquareGrid(area=CITY, order=3), epsilon=100_000, points=1000, **asked)
    assert found.counts.sum() == len(ways.points)
    assert len(found.names) == 65
    assert found.counts[-1] == 0


def test_a_person_counts_no_more_than_agreed():
    owner = np.repeat([0, 1, 2], [5, 1, 3])
    kept = sample_per_individual(owner, 2, KeyedRandom("5f" * 32))
    assert np.bincount(owner[kept]).tolist() == [2, 1, 2]


def test_a_tree_without_noise_gives_the_ways_again(asked):
    ways = visited(["abc"] * 40 + ["ab"] * 30 + ["c"] * 20)
    tree = private_prefix_tree(ways, places=["a", "b", "c"], epsilon=300_000, height=3, **asked)
    found = tree.synthesize()
    shown = pa.TableGroupBy(found.to_arrow(), "person").aggregate([("place", "list")])["place_list"].to_pylist()
    counted = {way: shown.count(list(way)) for way in ("abc", "ab", "c")}
    assert counted == {"abc": 40, "ab": 30, "c": 20}


def test_a_noisy_tree_is_consistent_and_cut(asked):
    rng = np.random.default_rng(1)
    ways = visited(["".join(rng.choice(list("abcd"), 6)) for _ in range(400)])
    tree = private_prefix_tree(ways, places=list("abcde"), epsilon=2, height=4, **asked)
    assert len(tree.levels) <= 4
    for (prefixes, counts), (longer, later) in zip(tree.levels, tree.levels[1:], strict=False):
        for prefix, count in zip(prefixes, counts, strict=True):
            assert later[(longer[:, :-1] == prefix).all(axis=1)].sum() <= count
    assert tree.levels[0][1].min() >= tree.threshold


def test_what_nobody_has_can_pass(asked):
    """With a chance of 2.7 %, as golden values say; a tree of true prefixes only would tell who is there."""
    ways = visited(["a"])
    names = ["a", *(str(number) for number in range(3000))]
    tree = private_prefix_tree(ways, places=names, epsilon=0.2, height=1, **asked)
    assert 40 < len(tree.levels[0][1]) < 140


def test_n_grams_count_what_follows_directly_wherever_it_is(asked):
    ways = visited(["abab"] * 30 + ["ba"] * 20)
    found = private_n_grams(ways, places=["a", "b"], epsilon=300_000, size=2, longest=3, **asked)
    counted = {row["place1"] + (row["place2"] or ""): row["count"] for row in found.to_arrow().to_pylist()}
    assert counted == {"a": 80, "b": 50, "ab": 30, "ba": 50}


def test_bad_requests_are_refused_before_anything_is_paid(asked):
    ways = visited(["ab"])
    for names in ([], ["a", "a"], ["a", "elsewhere"], "ab"):
        with pytest.raises(InvalidParameterError, match="different names, none of them 'elsewhere'"):
            private_density(ways, places=names, epsilon=1, **asked)
    with pytest.raises(InvalidParameterError, match="64 bits"):
        private_density(ways, places=["a"], epsilon=1, points=10**30, **asked)
    with pytest.raises(InvalidParameterError, match="64 bits"):
        private_n_grams(ways, places=["a"], epsilon="1e-12", longest=10**9, **asked)
    with pytest.raises(InvalidParameterError, match="finer than a millimeter"):
        SquareGrid(area=Area(west=0, south=0, east=1e-7, north=1e-7))
    with pytest.raises(InvalidParameterError, match="height"):
        private_prefix_tree(ways, places=["a", "b"], epsilon=1, height=0, **asked)
    with pytest.raises(SchemaError, match="no coordinates"):
        private_density(ways, places=SquareGrid(area=CITY), epsilon=1, **asked)
    assert asked["accountant"].balance().answers == 0


def test_points_elsewhere_are_counted_and_never_told_before_payment(asked):
    """A refusal that counts them, or that comes only if there are any, would tell exactly who is where."""
    ways = visited(["ab", "ab", "cb", "xyb"])
    exact = {"epsilon": 300_000, **asked}
    assert private_density(ways, places=["a", "b"], points=9, **exact).counts.tolist() == [2, 4, 3]
    assert private_trips(ways, places=["a", "b"], **exact).counts.tolist() == [[0, 2, 0], [0, 0, 0], [0, 2, 0]]
    exact["accountant"] = Accountant(asked["accountant"].path.with_name("other.db"), total=300_000)
    tree = private_prefix_tree(visited(["axb"] * 50 + ["x"] * 30), places=["a", "b"], height=3, **exact)
    assert tree.names == ("a", "b", "elsewhere")
    shown = (
        pa.TableGroupBy(tree.synthesize().to_arrow(), "person").aggregate([("place", "list")])["place_list"].to_pylist()
    )
    assert shown == [["a", "b"]] * 50


def test_an_area_that_is_too_small_answers_like_any_other(asked):
    small = Area(west=13.39, south=52.49, east=13.41, north=52.51)
    ways = Trajectories(sf.datasets.generate_trajectories(20, 1, seed=1))
    found = private_density(ways, places=SquareGrid(area=small, order=1), epsilon=100_000, points=1000, **asked)
    shown = found.to_arrow().to_pylist()
    assert sum(row["count"] for row in shown) == len(ways.points)
    assert (shown[-1]["place"], shown[-1]["longitude"], shown[-1]["count"] > 0) == ("elsewhere", None, True)


def test_nobody_at_all_is_answered_like_everybody(asked):
    nobody = visited(["a"])
    nobody.points = nobody.points.take(np.zeros(0, dtype=np.int64))
    exact = {"places": ["a", "b"], "epsilon": 300_000}
    for number, count in enumerate((private_density, private_trips, private_prefix_tree, private_n_grams)):
        path = asked["accountant"].path.with_name(f"{number}.db")
        accountant = Accountant(path, total=1_000_000, another_budget=True)
        count(nobody, **exact, accountant=accountant, analyst="ann")
        assert accountant.balance().answers == 1


def test_refused_questions_are_recorded(asked):
    ways, accountant = visited(["ab"]), asked["accountant"]
    for _ in range(2):
        with pytest.raises(InvalidParameterError):
            private_prefix_tree(ways, places=["a", "b"], epsilon=1, height=0, **asked)
    accountant.spend("ann", 1, "something else")
    with pytest.raises(InfeasibleError, match="999999 left"):
        private_density(ways, places=["a"], epsilon=1_000_000, accountant=accountant, analyst="bo")
    found = {(each.analyst, each.question.partition("(")[0], each.reason): each.times for each in accountant.refusals()}
    assert found == {
        ("ann", "private_prefix_tree", "InvalidParameterError"): 2,
        ("bo", "private_density", "InfeasibleError"): 1,
    }


def test_a_tree_in_which_noise_hides_everything_has_no_ways():
    nothing = (np.zeros((0, 1), dtype=np.int64), np.zeros(0, dtype=np.int64))
    with pytest.raises(InfeasibleError, match="Noise hides all ways"):
        PrefixTree(names=("a",), levels=(nothing,), scale=1.0, threshold=3, epsilon=1.0).synthesize()
