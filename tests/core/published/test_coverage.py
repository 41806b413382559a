"""What a label covers is compared with a look at every leaf, one by one."""

from __future__ import annotations

from datetime import date, datetime, time
from math import inf

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.encoding.coded_table import CodedColumn, encode_column
from sfumato.encoding.domain import Domain
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.schema.roles import Scale
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms._labels import label_ranges, label_sets
from sfumato.tables.published._coverage import cover_labels
from sfumato.tables.published.published_table import PublishedColumn
from sfumato.tables.published.solution import Center, Exact, Interval, MissingCell, Node, Suppressed, ValueSet
from strategies import BUILDERS, CELLS, tables


def comparable(value: object) -> object:
    return datetime.combine(value, time()) if type(value) is date else value


def inside(value, low, high, *, low_closed, high_closed):
    value, low, high = (comparable(each) for each in (value, low, high))
    above = low == -inf or value > low or (low_closed and value == low)
    below = high == inf or value < high or (high_closed and value == high)
    return above and below


def covers(label, domain: Domain, leaf: int) -> bool:  # noqa: PLR0911 - one line per label
    text, value = domain.texts[leaf], domain.values[leaf].as_py()
    match label:
        case Exact():
            return label.text == text
        case Center():
            return comparable(label.value) == comparable(value)
        case ValueSet():
            return text in label.texts
        case Suppressed():
            return True
        case Interval() if domain.scale is Scale.ORDINAL:
            low, high = domain.texts.index(label.low), domain.texts.index(label.high)
            return inside(leaf, low, high, low_closed=label.low_closed, high_closed=label.high_closed)
        case Interval():
            return inside(value, label.low, label.high, low_closed=label.low_closed, high_closed=label.high_closed)
        case Node() if domain.hierarchy is None:
            return len(text) == len(label.text) and text.startswith(label.text.rstrip("*"))
        case Node():
            levels = zip(domain.hierarchy.levels, domain.hierarchy.labels, strict=True)
            return any(labels[nodes[leaf]] == label.text for nodes, labels in levels)
    return False


def assert_covers(labels, domain: Domain) -> None:
    coverage = cover_labels(labels, domain)
    for number, label in enumerate(labels):
        expected = [covers(label, domain, leaf) for leaf in range(len(domain))]
        codes = np.arange(len(domain) + 1)
        found = coverage.contains(np.full(len(codes), number, dtype=np.int32), codes.astype(np.uint8))
        assert found[:-1].tolist() == expected, label
        assert found[-1] == isinstance(label, Suppressed | MissingCell), label
        assert coverage.leaf_counts()[number] == sum(expected), label


NUMBERS = Domain("n", Scale.NUMERIC, pa.array([-3, 0, 20, 25, 30, 41]))
REALS = Domain("r", Scale.NUMERIC, pa.array([-0.5, 0.1, 0.3, 2.0]))
DAYS = Domain("d", Scale.NUMERIC, pa.array([date(2019, 12, 31), date(2020, 1, 1), date(2020, 1, 31), date(2020, 2, 1)]))
MOMENTS = Domain(
    "m",
    Scale.NUMERIC,
    pa.array([datetime(2020, 1, 1), datetime(2020, 1, 1, 12), datetime(2020, 1, 2)], pa.timestamp("us")),  # noqa: DTZ001 - naive, as tables are
)
CODES = Domain("zip", Scale.NOMINAL, pa.array(["10999", "53703", "53715", "537", "5371", "90210"]))
GRADES = Domain("grade", Scale.ORDINAL, pa.array(["none", "school", "degree", "doctor"]))


@pytest.mark.parametrize("low_closed", [True, False])
@pytest.mark.parametrize("high_closed", [True, False])
@pytest.mark.parametrize(
    ("domain", "ends"),
    [
        (NUMBERS, [-inf, -3, -1, 0, 20, 20.5, 30, 41, 99, inf]),
        (REALS, [-1, -0.5, 0, 0.1, 0.2, 0.3, 2, 5]),
        (DAYS, [-inf, date(2019, 1, 1), date(2020, 1, 1), datetime(2020, 1, 1, 12), date(2020, 2, 1), inf]),  # noqa: DTZ001 - naive
        (MOMENTS, [date(2020, 1, 1), datetime(2020, 1, 1, 12), date(2020, 1, 2), datetime(2020, 1, 2, 1), inf]),  # noqa: DTZ001 - naive
    ],
    ids=["numbers", "reals", "days", "moments"],
)
def test_intervals_cover_what_lies_between_their_ends(domain, ends, low_closed, high_closed):
    labels = [
        Interval(low, high, low_closed=low_closed, high_closed=high_closed)
        for i, low in enumerate(ends)
        for high in ends[i:]
        if low != inf and high != -inf
    ]
    assert_covers(labels, domain)


@pytest.mark.parametrize("low_closed", [True, False])
@pytest.mark.parametrize("high_closed", [True, False])
def test_ordinal_intervals_cover_ranks(low_closed, high_closed):
    texts = GRADES.texts
    assert_covers(
        [Interval(a, b, low_closed=low_closed, high_closed=high_closed) for a in texts for b in texts], GRADES
    )


def test_a_bound_of_another_kind_covers_nothing():
    day, number = date(2020, 1, 1), 20
    for domain, bad in ((NUMBERS, day), (DAYS, number), (MOMENTS, number), (GRADES, "unheard")):
        labels = [Interval(bad, bad), Interval(-inf, bad), Interval(bad, inf), Center(bad)]
        assert cover_labels(labels, domain).leaf_counts().tolist() == [0, 0, 0, 0]


def test_plain_values_sets_masks_and_stars():
    labels = [
        Exact("53715"),
        Exact("99999"),
        ValueSet(("537", "90210", "elsewhere")),
        ValueSet(()),
        Node("537**"),
        Node("53*"),
        Node("5***"),
        Node("8****"),
        Suppressed(),
        MissingCell(),
    ]
    assert_covers(labels, CODES)
    assert cover_labels(labels, CODES).leaf_counts().tolist() == [1, 0, 2, 0, 2, 1, 1, 0, 6, 0]


def test_masks_and_sets_cover_numbers_by_their_texts():
    domain = Domain("zip", Scale.NUMERIC, pa.array([537, 10999, 53703, 53715]))
    labels = [Node("537**"), ValueSet(("537", "10999")), Node("1****"), Node("***03"), Node("**7"), Node("****9")]
    assert cover_labels(labels, domain).leaf_counts().tolist() == [2, 2, 1, 1, 1, 1]


def test_a_number_is_covered_however_it_is_written():
    assert_covers([Center(20.0), Center(20.5), Center(-3)], NUMBERS)
    assert_covers([Center(datetime(2020, 1, 1)), Center(datetime(2020, 1, 1, 1))], DAYS)  # noqa: DTZ001 - naive
    assert_covers([Center(date(2020, 1, 1))], MOMENTS)


def test_many_labels_of_a_large_domain_are_kept_apart():
    """The pair of label and code is more than 32 bits can hold."""
    leaves = 60_000
    domain = Domain("n", Scale.NOMINAL, pa.array([f"{i:05}" for i in range(leaves)]))
    labels = [ValueSet((f"{i:05}",)) for i in range(leaves)]
    number = np.arange(leaves, dtype=np.int32)
    coverage = cover_labels(labels, domain)
    assert coverage.contains(number, number.astype(np.uint32)).all()
    assert not coverage.contains(number, np.roll(number, 1).astype(np.uint32)).any()


def columns(name: str) -> st.SearchStrategy[CodedColumn]:
    return st.builds(
        lambda table, builder: encode_column(
            name, table[name], Schema(quasi_identifiers=[name], hierarchies={} if builder is None else {name: builder})
        ),
        tables([name], missing=True, most_rows=12),
        st.sampled_from(BUILDERS[name]),
    )


def published(column: CodedColumn, labels) -> PublishedColumn:
    schema = Schema(quasi_identifiers=[column.name])
    texts = tuple(label.text for label in labels)
    return PublishedColumn(column.name, texts, np.arange(len(texts), dtype=np.int32), schema, column.domain)


def assert_comes_back(column: CodedColumn, labels) -> None:
    read = published(column, labels).coverage
    said = cover_labels(labels, column.domain)
    label, code = (side.ravel() for side in np.indices((len(labels), len(column.domain) + 1)))
    assert read.contains(label, code).tolist() == said.contains(label, code).tolist()


@pytest.mark.parametrize("name", [name for name in CELLS if name not in {"sex", "member"}])
@given(st.data())
def test_every_range_that_an_algorithm_publishes_is_read_back(name, data):
    column = data.draw(columns(name).filter(lambda column: column.domain.scale is not Scale.NOMINAL))
    low, high = np.triu_indices(len(column.domain))
    low, high = np.append(low, [1, 0]), np.append(high, [0, len(column.domain) - 1])
    missing = np.zeros(len(low), dtype=np.bool_)
    missing[-1] = True
    labels = list(label_ranges(column.domain, low, high, missing).labels)
    assert_comes_back(column, labels)
    assert_covers(labels, column.domain)


@pytest.mark.parametrize("name", ["zip", "job", "sex", "member", "grade"])
@given(st.data())
def test_every_set_that_an_algorithm_publishes_is_read_back(name, data):
    column = data.draw(columns(name))
    group = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(column.codes), max_size=len(column.codes))))
    labels = list(label_sets(column, np.unique(group, return_inverse=True)[1], len(set(group.tolist()))).labels)
    assert_comes_back(column, labels)
    assert_covers(labels, column.domain)


STRANGE = st.text('ab ,-"{}[]()*\n\u00e9', min_size=1, max_size=5).filter(lambda text: text.strip("* \n"))


@given(st.lists(STRANGE, min_size=2, max_size=5, unique=True))
def test_sets_of_strange_texts_are_read_back(leaves):
    domain = Domain("x", Scale.NOMINAL, pa.array(sorted(leaves)))
    labels = [Exact(domain.texts[0]), ValueSet(domain.texts[:2]), ValueSet(domain.texts[1:]), ValueSet(domain.texts)]
    assume(not {label.text for label in labels[1:]} & set(domain.texts))
    assert_comes_back(CodedColumn(domain, np.zeros(0, dtype=np.uint8)), labels)


@given(st.lists(STRANGE, min_size=2, max_size=5, unique=True))
def test_intervals_of_strange_texts_are_read_back(leaves):
    domain = Domain("x", Scale.ORDINAL, pa.array(leaves))
    labels = [Interval(low, high) for i, low in enumerate(leaves) for high in leaves[i + 1 :]]
    written = {label.text for label in labels}
    inner = [f"{low}, {high}" for low in leaves for high in leaves]
    assume(len(set(inner)) == len(inner))
    assume(not written & set(leaves))
    assert_comes_back(CodedColumn(domain, np.zeros(0, dtype=np.uint8)), labels)


@given(st.lists(st.text("a1 *", min_size=1, max_size=4), min_size=1, max_size=6, unique=True))
def test_prefixes_of_codes_of_all_lengths_are_read_back(codes):
    assume(not any(code.strip() == "" or "*" in code for code in codes))
    column = encode_column(
        "zip", pa.chunked_array([codes]), Schema(quasi_identifiers=["zip"], hierarchies={"zip": Prefixes()})
    )
    low, high = np.triu_indices(len(column.domain))
    assert_comes_back(column, list(label_ranges(column.domain, low, high, np.zeros(len(low), dtype=np.bool_)).labels))
