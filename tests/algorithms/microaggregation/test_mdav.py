"""MDAV equals its definition, keeps every model, publishes centers or covers, and refuses what it cannot serve."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clustering_oracle as oracle
from clustering_oracle import as_groups, coded_tables, numbers, task_for
from drawn_examples import examples
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, to_center_points, to_points
from sfumato.tables.algorithms.microaggregation.mdav import MDAV
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.solution import Center, Interval
from sfumato.testing._requests import MaxGroupSize

SIZES = st.integers(2, 5)
SCALINGS = st.sampled_from(["deviation", "range"])


def clustered(coded, k, **parameters):
    return MDAV(**parameters).cluster(RecordSpace.of(coded), k, task_for(coded))


def test_the_published_example_is_parted_into_the_far_three_and_the_rest():
    coded = numbers(1, 2, 3, 10, 11, 12, 30)
    assert as_groups(clustered(coded, 3)) == [[4, 5, 6], [0, 1, 2, 3]]
    publication = MDAV().search(task_for(coded, [KAnonymity(k=3)]))
    means = {label.text for label in publication.recoded["x"].labels}
    assert means == {"4", "17.666666666666668"}


@given(coded=coded_tables(), k=SIZES, scaling=SCALINGS)
def test_groups_are_those_of_the_definition(coded, k, scaling):
    points = to_points(RecordSpace.of(coded), scaling)
    assert as_groups(clustered(coded, k, scaling=scaling)) == oracle.mdav(points, k)


@given(values=st.lists(st.integers(0, 6), min_size=2, max_size=40), k=SIZES)
def test_ties_go_to_the_lowest_row(values, k):
    coded = numbers(*values)
    points = to_points(RecordSpace.of(coded), "range")
    assert as_groups(clustered(coded, k, scaling="range")) == oracle.mdav(points, k)


@given(coded=coded_tables(most_rows=40), k=SIZES)
@examples(30)
def test_every_group_has_at_least_k_and_fewer_than_twice_k_records(coded, k):
    sizes = np.bincount(clustered(coded, k))
    if coded.rows >= k:
        assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@given(coded=coded_tables(), scaling=SCALINGS)
@examples(30)
def test_distances_are_weighted_sums_of_squares_on_every_scale(coded, scaling):
    weights = {column.name: 0.5 + j for j, column in enumerate(coded.quasi)}
    space = RecordSpace.of(coded, weights)
    points = to_points(space, scaling)
    expected = 0.0
    for axis in space.axes:
        codes = axis.column.codes
        matrix = np.abs(axis.positions[:, None] - axis.positions[None, :]) if axis.ordered else axis.distances()
        one = matrix[codes[0]][codes] ** 2
        spread = 1.0
        if scaling == "deviation" and axis.kind == "numeric":
            spread = axis.positions[codes].var()
        elif scaling == "deviation":
            middle = axis.center(np.bincount(codes, minlength=len(axis.column.domain)))
            spread = (matrix[middle][codes] ** 2).mean()
        expected = expected + axis.weight * one / (spread if spread > 0 else np.inf)
    found = [oracle.squared(points, oracle.point(points, 0), oracle.point(points, row)) for row in range(coded.rows)]
    assert found == pytest.approx(np.broadcast_to(expected, coded.rows), abs=1e-6)


@given(coded=coded_tables(), k=SIZES)
@examples(30)
def test_centers_of_groups_are_those_of_the_definition(coded, k):
    space, labels = RecordSpace.of(coded), clustered(coded, k)
    points = to_points(space, "range")
    found = to_center_points(space, points, labels, int(labels.max()) + 1)
    for number, rows in enumerate(as_groups(labels)):
        means, codes = oracle.center(points, rows)
        assert found.places[:, number] == pytest.approx(means)
        assert found.codes[:, number].tolist() == codes


def test_z_scores_make_the_unit_of_a_number_irrelevant_and_weights_make_it_matter():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=60), rng.normal(size=60)
    y[0] = 40.0  # the range of y is large beside its deviation
    coded = encode_table(pa.table({"x": x, "y": y}), Schema(quasi_identifiers=["x", "y"]))
    groups = {
        name: as_groups(clustered(coded, 4, **each))
        for name, each in {
            "deviation": {"scaling": "deviation"},
            "range": {"scaling": "range"},
            "weighted": {"scaling": "range", "weights": {"x": 1 / x.var(), "y": 1 / y.var()}},
        }.items()
    }
    assert groups["deviation"] != groups["range"]
    ranges = np.ptp(x) ** 2, np.ptp(y) ** 2
    same = {"x": ranges[0] / x.var(), "y": ranges[1] / y.var()}
    assert groups["deviation"] == as_groups(
        MDAV(scaling="range").cluster(RecordSpace.of(coded, same), 4, task_for(coded))
    )
    one = MDAV(weights={"y": 0}).search(task_for(coded, [KAnonymity(k=4)]))
    lone = encode_table(pa.table({"x": x}), Schema(quasi_identifiers=["x"]))
    other = MDAV().search(task_for(lone, [KAnonymity(k=4)]))
    assert np.array_equal(one.group, other.group)


def test_centers_are_means_days_ranks_medoids_and_most_frequent_values():
    table = pa.table(
        {
            "age": [20, 21, 23],
            "born": [date(1990, 1, 1), date(1990, 1, 1), date(1990, 1, 2)],
            "died": [date(1990, 1, 1), date(1990, 1, 2), date(1990, 1, 2)],
            "seen": [datetime.fromisoformat(f"1960-01-01T10:00:0{second}") for second in (0, 1, 5)],
            "grade": ["none", "school", "degree"],
            "sex": ["F", "M", "M"],
        }
    )
    schema = Schema(quasi_identifiers=table.column_names, orders={"grade": ["none", "school", "degree"]})
    publication = MDAV().search(task_for(encode_table(table, schema), [KAnonymity(k=3)]))
    shown = {name: list(each.labels) for name, each in publication.recoded.items()}
    assert shown == {
        "age": [Center(64 / 3)],
        "born": [Center(date(1990, 1, 1))],
        "died": [Center(date(1990, 1, 2))],
        "seen": [Center(datetime.fromisoformat("1960-01-01T10:00:02"))],
        "grade": [Center("school")],
        "sex": [Center("M")],
    }


def test_ranges_cover_their_groups():
    publication = MDAV(publish="ranges").search(task_for(numbers(1, 2, 3, 10, 11, 12, 30), [KAnonymity(k=3)]))
    assert set(publication.recoded["x"].labels) == {Interval(1, 10), Interval(11, 30)}


def test_groups_that_are_published_alike_are_one_group():
    publication = MDAV().search(task_for(numbers(*[1] * 9, *[5] * 9), [KAnonymity(k=3)]))
    assert publication.group.tolist() == [*[publication.group[0]] * 9, *[publication.group[9]] * 9]
    assert len(set(publication.group.tolist())) == 2


def test_with_k_of_1_every_distinct_record_is_its_own_center():
    publication = MDAV().search(task_for(numbers(4, 1, 4, 2), [KAnonymity(k=1)]))
    texts = [label.text for label in publication.recoded["x"].labels]
    shown = [texts[publication.recoded["x"].by_group[group]] for group in publication.group]
    assert shown == ["4", "1", "4", "2"]


def test_progress_is_told_between_calls_of_the_compiled_loop(monkeypatch):
    monkeypatch.setattr("sfumato.tables.algorithms.microaggregation._point_clusters.CELLS_PER_CALL", 1)
    told = []
    coded = numbers(*range(30))
    task = task_for(coded, [KAnonymity(k=3)], progress=lambda done, _note="": told.append(done))
    whole = MDAV().search(task).group
    assert len(told) > 4
    assert told == sorted(told)
    assert told[-1] == 1.0
    monkeypatch.undo()
    assert np.array_equal(whole, MDAV().search(task_for(coded, [KAnonymity(k=3)])).group)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"publish": "means"}, "Mdav.publish must be 'centers' or 'ranges'; got 'means'."),
        ({"scaling": "log"}, "Mdav.scaling must be 'deviation' or 'range'; got 'log'."),
        ({"weights": {"x": -1}}, "Mdav.weights must be a mapping from names to numbers of at least 0; got {'x': -1}."),
        ({"weights": {"x": float("nan")}}, "numbers of at least 0"),
        ({"weights": 3}, "Mdav.weights must be a mapping"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, sentence):
    with pytest.raises(InvalidParameterError) as refused:
        MDAV(**parameters)
    assert sentence in str(refused.value)


def test_what_cannot_be_served_is_refused_in_a_sentence():
    coded = encode_table(
        pa.table({"age": [1, None, 3], "sex": ["f", "m", "f"]}), Schema(quasi_identifiers=["age", "sex"])
    )
    complete = encode_table(
        pa.table({"age": [1, 2, 3], "sex": ["f", "m", "f"]}), Schema(quasi_identifiers=["age", "sex"])
    )
    assert "'age' has 1 missing cells" in MDAV().check(task_for(coded))
    assert MDAV(weights={"agee": 2}).check(task_for(complete)) == (
        "Mdav names 'agee', which is not a quasi-identifier; did you mean 'age'?"
    )
    assert MDAV().check(task_for(complete, [MaxGroupSize(k=3)])) == (
        "Mdav does not support FewerThan(k=3), because merging valid groups can break it; use Optimal."
    )
    assert MDAV(weights={"age": 2}).check(task_for(complete, [KAnonymity(k=2)])) is None


def test_published_cells_are_centers_only_if_asked():
    assert MDAV().publishes == "centers"
    assert MDAV(publish="ranges").publishes == "covers"


def test_groups_of_the_smallest_size_that_any_model_allows():
    table = pa.table({"x": list(range(12)), "s": list("abcdefabcdef")})
    coded = encode_table(table, Schema(quasi_identifiers=["x"], sensitive=["s"]))
    models = [KAnonymity(k=2), DistinctLDiversity(l=4, sensitive="s")]
    publication = MDAV(publish="ranges").search(task_for(coded, models))
    assert sorted(np.bincount(publication.group).tolist()) == [4, 4, 4]
