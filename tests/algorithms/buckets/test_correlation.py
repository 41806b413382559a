"""Mean-square contingency against its definition, and clusters around medoids against all choices."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

import sfumato as sf
from drawn_examples import examples
from sfumato.encoding.coded_table import encode_column
from sfumato.tables.algorithms.bucketization import slicing
from sfumato.tables.algorithms.bucketization.slicing import (
    bin_values,
    contingency_matrix,
    k_medoids,
    mean_square_contingency,
    partition_around_medoids,
)

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=40)


def numbered(values):
    return np.unique(np.array(values), return_inverse=True)[1].ravel()


def slow_contingency(first, second):
    """Sum over all pairs of values, as the definition says."""
    rows, columns, total = sorted(set(first)), sorted(set(second)), len(first)
    if min(len(rows), len(columns)) == 1:
        return 0.0
    found = 0.0
    for a in rows:
        for b in columns:
            both = sum(x == a and y == b for x, y in zip(first, second, strict=True)) / total
            expected = sum(x == a for x in first) / total * sum(y == b for y in second) / total
            found += (both - expected) ** 2 / expected
    return found / (min(len(rows), len(columns)) - 1)


@given(PAIRS)
def test_contingency_is_its_definition(pairs):
    first, second = (numbered(values) for values in zip(*pairs, strict=True))
    found = mean_square_contingency(first, second)
    assert found == pytest.approx(slow_contingency(first.tolist(), second.tolist()), abs=1e-12)
    assert found == pytest.approx(mean_square_contingency(second, first), abs=1e-12)


@given(PAIRS.filter(lambda pairs: all(len(set(values)) > 1 for values in zip(*pairs, strict=True))))
@examples(30)
def test_contingency_is_chi_square_over_its_maximum(pairs):
    first, second = (numbered(values) for values in zip(*pairs, strict=True))
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)
    expected = chi2_contingency(table, correction=False).statistic / len(pairs) / (min(table.shape) - 1)
    assert mean_square_contingency(first, second) == pytest.approx(expected, abs=1e-12)


def column(values, **schema):
    return encode_column("x", pa.chunked_array([pa.array(values)]), sf.Schema(quasi_identifiers=["x"], **schema))


def test_many_numbers_are_put_in_ten_bins_of_equally_many_records():
    bins = bin_values(column(np.random.default_rng(1).permutation(1000)))
    assert np.bincount(bins).tolist() == [100] * 10


def test_bins_follow_the_order_of_the_numbers():
    values = np.random.default_rng(2).integers(-50, 50, 300)
    bins = bin_values(column(values))
    assert (np.diff(bins[np.argsort(values, kind="stable")]) >= 0).all()


def test_missing_cells_have_a_bin_of_their_own():
    bins = bin_values(column([*range(50), None, None]))
    assert bins[-1] == bins[-2] == bins.max() > bins[:-2].max()


@pytest.mark.parametrize("values", [[3, 1, 3, 2], ["b", "a", "b", "c"], [f"v{i}" for i in range(30)]])
def test_few_numbers_and_all_names_stay_as_they_are(values):
    assert len(set(bin_values(column(values)).tolist())) == len(set(values))


def test_every_pair_of_columns_is_compared():
    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, 200)
    columns = [column(first), column(-first), column(rng.integers(0, 3, 200)), column([5] * 200)]
    found = contingency_matrix(lambda: [columns])
    assert np.array_equal(found, found.T)
    assert found[0, 1] == pytest.approx(1)
    assert found[0, 2] < 0.1
    assert found[3].tolist() == [0, 0, 0, 1]


@given(cuts=st.lists(st.integers(0, 300), max_size=4).map(sorted), dense=st.booleans())
@examples(20)
def test_parts_of_a_table_are_counted_together(cuts, dense):
    rng = np.random.default_rng(4)
    columns = [column(rng.integers(0, most, 300)) for most in (2, 5, 40)]
    expected = [[mean_square_contingency(bin_values(a), bin_values(b)) for b in columns] for a in columns]
    parts = [[each.take(rows) for each in columns] for rows in np.split(np.arange(300), cuts)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slicing, "DENSE_PAIRS", 1 << 22 if dense else 0)
        found = contingency_matrix(lambda: parts)
    assert found[~np.eye(3, dtype=bool)].tolist() == np.array(expected)[~np.eye(3, dtype=bool)].tolist()


@st.composite
def distances(draw, most=7):
    points = draw(st.integers(1, most))
    upper = draw(st.lists(st.integers(0, 5), min_size=points**2, max_size=points**2))
    matrix = np.triu(np.array(upper, dtype=float).reshape(points, points), 1) / 5
    return matrix + matrix.T


def cost(matrix, medoids):
    return matrix[:, list(medoids)].min(axis=1).sum()


def least_cost(matrix, clusters):
    return min(cost(matrix, medoids) for medoids in combinations(range(len(matrix)), clusters))


def cost_of_clusters(matrix, cluster):
    """Sum distances to the best medoid of every cluster."""
    members = [np.flatnonzero(cluster == each) for each in range(cluster.max() + 1)]
    return sum(matrix[np.ix_(some, some)].sum(axis=0).min() for some in members)


@given(distances(), st.integers(1, 5))
def test_no_choice_of_medoids_is_better(matrix, clusters):
    cluster = k_medoids(matrix, clusters)
    clusters = min(clusters, len(matrix))
    assert sorted(set(cluster.tolist())) == list(range(clusters))
    assert cost_of_clusters(matrix, cluster) <= least_cost(matrix, clusters) + 1e-9
    first = [cluster.tolist().index(each) for each in range(clusters)]
    assert first == sorted(first)


@given(distances(), st.integers(1, 4))
def test_swaps_end_where_none_helps(matrix, clusters):
    clusters = min(clusters, len(matrix))
    medoids = partition_around_medoids(matrix, clusters).tolist()
    assert len(set(medoids)) == clusters
    found = cost(matrix, medoids)
    assert found >= least_cost(matrix, clusters) - 1e-9
    for out in medoids:
        for into in set(range(len(matrix))) - set(medoids):
            assert cost(matrix, [*(m for m in medoids if m != out), into]) >= found - 1e-9


def test_swaps_mend_a_greedy_start():
    places = np.array([0.0, 1.0, 2.0, 5.0, 8.0, 9.0, 10.0])
    matrix = np.abs(places[:, None] - places)
    one_by_one = [3, 1]
    assert cost(matrix, one_by_one) > least_cost(matrix, 2)
    assert cost(matrix, partition_around_medoids(matrix, 2)) == least_cost(matrix, 2)


@given(distances(), st.integers(1, 4))
@examples(40)
def test_many_choices_are_searched_by_swaps(matrix, clusters):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slicing, "MOST_CHOICES", 0)
        cluster = k_medoids(matrix, clusters)
    assert sorted(set(cluster.tolist())) == list(range(min(clusters, len(matrix))))


def test_ties_go_to_the_lowest_numbers():
    assert k_medoids(np.ones((4, 4)) - np.eye(4), 2).tolist() == [0, 1, 0, 0]
    assert k_medoids(np.zeros((3, 3)), 2).tolist() == [0, 1, 0]
