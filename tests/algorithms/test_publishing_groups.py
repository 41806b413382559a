"""Groups of codes become labels: ranges, nodes, sets, missing cells and suppressed ones."""

from __future__ import annotations

from datetime import date, datetime
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.encoding.coded_table import encode_column, encode_table
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms._labels import distinct_pairs, label_ranges, label_sets, merge_identical_groups
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.solution import Exact, Interval, MissingCell, Node, RecodedAttribute, Suppressed, ValueSet

JOBS = Taxonomy({"office": ["clerk", "lawyer"], "field": ["farmer", "ranger"]})


def column(values, type_=None, **about):
    schema = Schema(quasi_identifiers=["q"], **{what: {"q": value} for what, value in about.items()})
    return encode_column("q", pa.chunked_array([pa.array(values, type_)]), schema)


def ranges(coded, low, high, missing=None):
    lost = np.zeros(len(low), dtype=np.bool_) if missing is None else np.array(missing)
    recoded = label_ranges(coded.domain, np.array(low, dtype=np.int32), np.array(high, dtype=np.int32), lost)
    labels = tuple(recoded.labels)
    assert len(labels) == len(recoded.labels)
    assert all(label in recoded.labels for label in labels)
    assert_written(recoded)
    return [labels[number] for number in recoded.by_group.tolist()]


def assert_written(recoded):
    """Compare what is written all at once with what every label says of itself."""
    labels = tuple(recoded.labels)
    assert recoded.texts.to_pylist() == [label.text for label in labels]
    assert recoded.labels.are_all_values == all(isinstance(label, Exact | MissingCell) for label in labels)


@pytest.mark.parametrize(
    ("values", "about"),
    [
        ([-1.5, -0.0, 1e-7, 2.0, 1e16, None], {}),
        ([date(1999, 12, 31), date(2000, 1, 1), date(2024, 2, 29)], {}),
        ([datetime(2000, 1, 1), datetime(2000, 1, 1, 10, 30), datetime(2000, 1, 1, 0, 0, 0, 5)], {}),  # noqa: DTZ001 - naive, as tables are
        ([1, 5, 9, 12], {"hierarchies": Intervals(5)}),
        (["a, b", "[c]"], {"orders": ["a, b", "[c]", "d"]}),
        (["clerk", "ranger"], {"hierarchies": JOBS}),
        (["90210", "90310"], {"hierarchies": Prefixes()}),
    ],
)
def test_labels_are_written_at_once_as_one_by_one(values, about):
    domain = column(values, **about).domain
    low, high = (np.array(ends) for ends in zip(*combinations_with_replacement(range(len(domain)), 2), strict=True))
    lost = np.zeros(len(low), dtype=np.bool_)
    for places in (slice(None), low == high, low < high):
        assert_written(label_ranges(domain, low[places], high[places], lost[places]))


def test_ordered_ranges_are_intervals_values_missing_or_suppressed():
    ages = column([30, 40, 50, None])
    assert ranges(ages, [0, 1, 3, 0], [2, 1, -1, 1], [False, False, True, True]) == [
        Interval(30, 50),
        Exact(40),
        MissingCell(),
        Suppressed(),
    ]
    grades = column(["low", "mid"], orders=["low", "mid", "high"])
    assert ranges(grades, [0, 2], [1, 2]) == [Interval("low", "mid"), Exact("high")]


def test_ranges_of_leaves_are_their_lowest_common_node():
    jobs = column(["clerk"], hierarchies=JOBS)
    assert ranges(jobs, [0, 1, 3, 4], [1, 2, 3, -1]) == [Node("office"), Suppressed(), Exact("ranger"), MissingCell()]


def test_the_root_and_a_mixture_with_missing_values_are_one_label():
    recoded = label_ranges(
        column(["clerk"], hierarchies=JOBS).domain, np.array([0, 0]), np.array([3, 1]), np.array([False, True])
    )
    assert len(recoded.labels) == 1


def test_a_node_over_all_leaves_is_not_the_root_if_it_has_its_own_name():
    zips = column(["90210", "90211", None], hierarchies=Prefixes())
    assert ranges(zips, [0, 0], [1, 1], [False, True]) == [Node("9021*"), Suppressed()]


@pytest.mark.parametrize("hierarchy", [Prefixes(), Intervals(5), None])
def test_a_column_without_values_is_published_as_missing(hierarchy):
    empty = column([None, None], pa.string(), **({} if hierarchy is None else {"hierarchies": hierarchy}))
    assert ranges(empty, [0], [-1], [True]) == [MissingCell()]
    recoded = label_sets(empty, np.array([0, 0], dtype=np.int32), 1)
    assert tuple(recoded.labels) == (MissingCell(),)


def sets(coded, group):
    recoded = label_sets(coded, np.array(group, dtype=np.int32), max(group) + 1)
    labels = tuple(recoded.labels)
    assert len(set(labels)) == len(labels)
    return [labels[number] for number in recoded.by_group.tolist()]


def test_sets_hold_the_values_that_occur():
    colors = column(["red", "blue", "green", "red", None, None, "blue"])
    assert sets(colors, [0, 0, 1, 2, 2, 3, 3]) == [
        ValueSet(("blue", "red")),
        Exact("green"),
        Suppressed(),
        Suppressed(),
    ]
    assert sets(colors, [0, 0, 0, 0, 1, 1, 0]) == [Suppressed(), MissingCell()]


def test_groups_that_are_published_alike_are_united():
    x = RecodedAttribute((Exact(1), Exact(2)), np.array([0, 0, 1], dtype=np.int32))
    y = RecodedAttribute((Exact("a"), Exact("b")), np.array([1, 1, 1], dtype=np.int32))
    publication = merge_identical_groups(np.array([2, 1, 0, 0], dtype=np.int32), {"x": x, "y": y})
    assert publication.group.tolist() in ([1, 0, 0, 0], [0, 1, 1, 1])
    assert len(publication.recoded["x"].by_group) == 2


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("missing", MissingPolicy)
@pytest.mark.parametrize("about", [{}, {"hierarchies": JOBS}], ids=["set", "tree"])
def test_groups_are_exactly_the_classes_of_equal_published_rows(strict, missing, about):
    """Every table of up to four rows over two columns of few values, without regard to the order of rows."""
    schema = Schema(
        quasi_identifiers=["x", "q"], missing=missing, **{what: {"q": value} for what, value in about.items()}
    )
    cells = list(product([0, None], ["clerk", "farmer", None]))
    for rows in (rows for count in range(1, 5) for rows in combinations_with_replacement(cells, count)):
        x, q = zip(*rows, strict=True)
        coded = encode_table(pa.table({"x": pa.array(x, pa.int64()), "q": pa.array(q, pa.string())}), schema)
        known = sum(row != (None, None) for row in rows)
        enough = len(rows) if missing is MissingPolicy.OWN_VALUE or not known else known  # the others hide nobody
        for k in range(1, min(enough, 2) + 1):
            task = TableRequest(
                table=coded,
                models=[KAnonymity(k=k)],
                max_suppressed=0,
                missing=missing,
                rng=np.random.default_rng(0),
            )
            publication = Mondrian(strict=strict).search(task)
            texts = {name: [label.text for label in r.labels] for name, r in publication.recoded.items()}
            shown = [
                tuple(texts[name][r.by_group[group]] for name, r in publication.recoded.items())
                for group in publication.group.tolist()
            ]
            pairs = set(zip(publication.group.tolist(), shown, strict=True))
            assert len(pairs) == len(set(shown)) == len(set(publication.group.tolist()))


@given(pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_sets_are_told_apart_by_two_sums_even_if_they_share_one(pairs):
    less, more = np.array(pairs, dtype=np.uint64).T.copy()
    first, pair = distinct_pairs(less, more)
    assert len(first) == len(set(pairs))
    assert [pairs[first[each]] for each in pair] == pairs
