"""Whether a published table is true is compared with a slow search for original records behind it."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.audit import _truthfulness as module
from sfumato.tables.models.k_anonymity import KAnonymity
from strategies import DISEASES, JOBS, described_tables

BELOW = {
    "office": {"clerk", "lawyer"},
    "outdoors": {"farmer", "sailor", "diver"},
    "sea": {"sailor", "diver"},
    "{clerk, diver}": {"clerk", "diver"},
}
AGES = ["18", "19", "20", "[18, 19]", "19-20", "(18, 20)", "<20", "*"]
PEOPLE = st.tuples(
    st.none() | st.integers(18, 20), st.none() | st.sampled_from(["clerk", "sailor", "diver"]), st.sampled_from("ab")
)
CELLS = st.tuples(
    st.none() | st.sampled_from(AGES),
    st.none() | st.sampled_from([*BELOW, "clerk", "sailor", "*"]),
    st.sampled_from(["a", "b", "b", "*"]),
)


def schema_of(missing: MissingPolicy = MissingPolicy.OWN_VALUE, **settings) -> Schema:
    roles = {"quasi_identifiers": ["age", "job"], "sensitive": ["disease"], **settings}
    return Schema(**roles, hierarchies={"job": JOBS}, missing=missing)


def table_of(rows, kinds) -> pa.Table:
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    return pa.table(columns, names=["age", "job", "disease"])


def original_of(people) -> pa.Table:
    return table_of(people, [pa.int64(), pa.string(), pa.string()])


def published_of(cells) -> pa.Table:
    return table_of(cells, [pa.string()] * 3)


def covers_age(shown: str, age: int) -> bool:
    between = {"[18, 19]": (18, 19), "19-20": (19, 20), "(18, 20)": (19, 19), "<20": (0, 19)}
    low, high = between.get(shown) or (int(shown), int(shown))
    return low <= age <= high


def covers(column: str, shown: str | None, value: object, missing: MissingPolicy) -> bool:
    if shown in {"*", value}:
        return True
    if shown is None:
        return missing is MissingPolicy.MATCHES_ALL and column != "disease"
    if value is None:
        return False
    return covers_age(shown, value) if column == "age" else value in BELOW.get(shown, {shown})


def false_cells(cells, person, missing: MissingPolicy) -> int:
    columns = ("age", "job", "disease")
    return sum(not covers(*each, missing) for each in zip(columns, cells, person, strict=True))


def most_pairs(allowed: list[list[bool]]) -> int:
    """Match rows with columns by augmenting paths."""
    behind: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, fits in enumerate(allowed[row]):
            if fits and column not in tried:
                tried.add(column)
                if column not in behind or place(behind[column], tried):
                    behind[column] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(allowed)))


@given(st.lists(PEOPLE, min_size=1, max_size=7), st.data())
def test_the_oracle_agrees_on_whether_records_stand_behind_a_table(people, data):
    missing = data.draw(st.sampled_from(MissingPolicy))
    cells = data.draw(st.lists(CELLS, min_size=1, max_size=len(people)))
    found = sf.audit(published_of(cells), schema_of(missing), original=original_of(people)).truth
    allowed = [[not false_cells(shown, person, missing) for person in people] for shown in cells]
    assert found.unmatched == len(cells) - most_pairs(allowed)
    assert found.holds == (found.unmatched == 0)
    assert not found.with_correspondence
    assert (found.rows_in, found.rows_out, found.suppressed) == (len(people), len(cells), len(people) - len(cells))


@given(st.lists(PEOPLE, min_size=1, max_size=7), st.data())
def test_the_oracle_agrees_on_which_cells_are_false(people, data):
    missing = data.draw(st.sampled_from(MissingPolicy))
    rows = data.draw(st.permutations(range(len(people))))[: data.draw(st.integers(1, len(people)))]
    cells = data.draw(st.lists(CELLS, min_size=len(rows), max_size=len(rows)))
    found = sf.audit(published_of(cells), schema_of(missing), original=original_of(people), correspondence=rows).truth
    false = sum(false_cells(shown, people[row], missing) for shown, row in zip(cells, rows, strict=True))
    assert found.false_cells == false
    assert found.holds == (false == 0)
    assert found.with_correspondence


@given(described_tables(least_rows=4, most_rows=20), st.randoms(use_true_random=False))
def test_a_release_is_true_and_one_changed_cell_is_found(described, random):
    table, schema = described
    release = sf.anonymize(table, schema, models=[KAnonymity(k=2)])
    rows = release.correspondence
    for correspondence in (rows, rows.tolist(), None):
        audit = sf.audit(release.frame, schema, original=table, correspondence=correspondence)
        assert audit.truth.holds
    shown = release.frame.cast(pa.schema([(name, pa.string()) for name in release.frame.column_names]))
    name, at = random.choice(shown.column_names), random.randrange(shown.num_rows)
    cells = shown[name].to_pylist()
    cells[at] = "never seen"
    forged = shown.set_column(shown.column_names.index(name), name, pa.array(cells))
    if name in schema.quasi_identifiers:
        audit = sf.audit(forged, schema, original=table, correspondence=rows)
        assert (audit.truth.false_cells, audit.holds) == (1, False)
        assert sf.audit(forged, schema, original=table).truth.unmatched == 1


ORIGINAL = pa.table({"age": [20, 21, 30, 31], "job": ["clerk"] * 4, "disease": ["flu", "cold", "flu", "cold"]})
SHOWN = pa.table({"age": ["[20, 21]"] * 2 + ["[30, 31]"] * 2, "job": ["clerk"] * 4, "disease": ["flu", "cold"] * 2})


@pytest.mark.parametrize(
    ("correspondence", "sentence"),
    [
        ([0, 1, 2], "The correspondence has 3 rows but the published table 4; give the one"),
        ([0, 1, 2, 3, 3], "The correspondence has 5 rows but the published table 4; give the one"),
        ([0, 1, 2, 2], "must name a different original row for every published row."),
        ([0, 1, 2, 4], "must name a different original row for every published row."),
        ([0, 1, 2, -2], "must name a different original row for every published row."),
    ],
)
def test_a_correspondence_of_other_tables_is_refused(correspondence, sentence):
    with pytest.raises(SchemaError, match=sentence):
        sf.audit(SHOWN, schema_of(), original=ORIGINAL, correspondence=correspondence)


@pytest.mark.parametrize("correspondence", [[0, 1, 2, 2.5], ["a", "b", "c", "d"], [[0, 1], [2, 3]], [0, 1, 2, None], 3])
def test_a_correspondence_that_is_no_list_of_rows_is_refused(correspondence):
    with pytest.raises(InvalidParameterError, match="must list the original row number of every published row"):
        sf.audit(SHOWN, schema_of(), original=ORIGINAL, correspondence=correspondence)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pa.array, np.uint8])
def test_a_correspondence_may_be_any_kind_of_list(kind):
    truth = sf.audit(SHOWN, schema_of(), original=ORIGINAL, correspondence=kind([0, 1, 2, 3])).truth
    assert truth.holds
    assert truth.with_correspondence


def test_a_correspondence_without_an_original_is_refused():
    with pytest.raises(InvalidParameterError, match="says nothing without the original; give original=, too"):
        sf.audit(SHOWN, schema_of(), correspondence=[0, 1, 2, 3])


def test_a_wrong_correspondence_shows_false_cells_and_no_correspondence_finds_the_right_one():
    rows = [2, 1, 0, 3]
    crossed = sf.audit(SHOWN, schema_of(), original=ORIGINAL, correspondence=rows)
    assert (crossed.truth.false_cells, crossed.holds) == (2, False)
    assert sf.audit(SHOWN, schema_of(), original=ORIGINAL).holds


def test_more_published_rows_than_original_ones_are_refused():
    with pytest.raises(SchemaError, match="The published table has 4 rows but the original only 3; give the original"):
        sf.audit(SHOWN, schema_of(), original=ORIGINAL.slice(1))


def test_the_audit_says_how_it_compared():
    by_row = sf.audit(SHOWN, schema_of(), original=ORIGINAL, correspondence=[0, 1, 2, 3])
    by_search = sf.audit(SHOWN.slice(1), schema_of(), original=ORIGINAL)
    true = "Every published cell covers its original"
    assert f"{true} (by row correspondence); 0 records suppressed" in repr(by_row)
    assert f"{true} (a correspondence exists); 1 records suppressed" in repr(by_search)


def test_an_invented_record_has_no_original():
    invented = pa.concat_tables([SHOWN.slice(0, 3), SHOWN.slice(0, 1)])
    audit = sf.audit(invented, schema_of(), original=ORIGINAL)
    assert (audit.truth.unmatched, audit.holds) == (1, False)
    assert "NOT TRUE: 0 false cells, 1 records without an original" in repr(audit)


def test_a_changed_sensitive_cell_is_false():
    changed = SHOWN.set_column(2, "disease", pa.array(["flu", "cold", "flu", "flu"]))
    assert sf.audit(changed, schema_of(), original=ORIGINAL, correspondence=[0, 1, 2, 3]).truth.false_cells == 1
    assert sf.audit(changed, schema_of(), original=ORIGINAL).truth.unmatched == 1


def test_suppressed_rows_that_stay_in_the_table_need_no_original_when_they_are_ignored():
    starred = pa.table(
        {"age": ["[20, 21]"] * 2 + ["*"] * 2, "job": ["clerk"] * 2 + ["*"] * 2, "disease": ["flu", "cold", None, None]}
    )
    ignored = sf.audit(starred, schema_of(), original=ORIGINAL, correspondence=[0, 1, 2, 3], ignore_suppressed=True)
    assert ignored.truth.holds
    assert (ignored.truth.rows_out, ignored.truth.suppressed, ignored.set_aside) == (2, 2, 2)
    assert sf.audit(starred, schema_of(), original=ORIGINAL, ignore_suppressed=True).truth.holds
    assert sf.audit(starred, schema_of(), original=ORIGINAL, correspondence=[0, 1, 2, 3]).truth.false_cells == 2


def test_the_aligned_table_of_a_release_passes_the_audit():
    release = sf.anonymize(ORIGINAL, schema_of(), models=[KAnonymity(k=2)])
    audit = sf.audit(release.aligned(), schema_of(), [KAnonymity(k=2)], original=ORIGINAL, correspondence=range(4))
    assert audit.holds


def test_a_superset_of_columns_is_judged_by_the_roles():
    wide = SHOWN.append_column("note", pa.array(["w", "x", "y", "z"]))
    assert sf.audit(wide, schema_of(), original=ORIGINAL).truth.holds


def test_a_subset_of_columns_that_holds_all_roles_but_insensitive_ones_is_judged():
    original = ORIGINAL.append_column("note", pa.array(["w", "x", "y", "z"]))
    schema = schema_of(insensitive=["note"])
    assert sf.audit(SHOWN, schema, original=original).truth.holds
    told = SHOWN.append_column("note", pa.array(["w", "x", "y", "z"]))
    assert sf.audit(told, schema, original=original, correspondence=[0, 1, 2, 3]).truth.holds
    crossed = SHOWN.append_column("note", pa.array(["w", "x", "z", "y"]))
    assert sf.audit(crossed, schema, original=original, correspondence=[0, 1, 2, 3]).truth.false_cells == 2
    assert sf.audit(crossed, schema, original=original).truth.unmatched == 2


def test_columns_that_lose_their_fractions_or_times_with_their_rows_stay_true():
    moments = [datetime(2024, 1, 1), datetime(2024, 1, 2), datetime(2024, 1, 3, 12)]  # noqa: DTZ001 - naive, as tables are
    original = pa.table({"age": [1.0, 2.0, 0.5], "seen": moments, "weight": [70.0, 80.0, 90.5]})
    schema = Schema(quasi_identifiers=["age"], insensitive=["seen", "weight"])
    published = original.slice(0, 2)
    for correspondence in ([0, 1], None):
        assert sf.audit(published, schema, original=original, correspondence=correspondence).truth.holds
    assert sf.audit(published, schema, original=original, correspondence=[1, 0]).truth.false_cells == 6


def test_numbers_are_compared_with_their_texts():
    original = pa.table({"age": [20, 21], "code": ["1", "2"]})
    published = pa.table({"age": ["20.0", "21.0"], "code": [1, 2]})
    assert sf.audit(published, Schema(quasi_identifiers=["age"], insensitive=["code"]), original=original).truth.holds


def test_pairs_are_looked_at_in_pieces(monkeypatch):
    people = [(18 + i % 3, "clerk", "ab"[i % 2]) for i in range(12)]
    cells = [("[18, 19]", "office", "a"), ("19-20", "*", "b"), ("*", "clerk", "a")] * 4
    whole = sf.audit(published_of(cells), schema_of(), original=original_of(people)).truth
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 2)
    assert sf.audit(published_of(cells), schema_of(), original=original_of(people)).truth == whole
    monkeypatch.setattr(module, "MOST_PAIRS", 2)
    with pytest.raises(SchemaError, match="would compare 9 pairs of records; give the correspondence"):
        sf.audit(published_of(cells), schema_of(), original=original_of(people))


def test_a_hierarchy_of_the_sensitive_attribute_does_not_matter_for_truth():
    schema = Schema(
        quasi_identifiers=["age", "job"], sensitive=["disease"], hierarchies={"disease": DISEASES, "job": JOBS}
    )
    assert sf.audit(SHOWN, schema, original=ORIGINAL).truth.holds


def test_the_findings_are_plain_numbers():
    found = sf.audit(SHOWN, schema_of(), original=ORIGINAL).to_dict()["truth"]
    assert found == {
        "rows_in": 4,
        "rows_out": 4,
        "suppressed": 0,
        "with_correspondence": False,
        "of_centers": False,
        "false_cells": 0,
        "unmatched_records": 0,
        "holds": True,
    }


LARGE = 2**53


@pytest.mark.parametrize("label", [f"[{LARGE + 1}, {LARGE + 1}]", f"[{LARGE + 1}, {LARGE + 2})"])
def test_a_bound_that_a_float_would_round_covers_no_other_number(label):
    original = pa.table({"x": [LARGE, LARGE, 5]})
    published = pa.table({"x": [label, label, "5"]})
    truth = sf.audit(
        published, Schema(quasi_identifiers=["x"]), [KAnonymity(k=1)], original=original, correspondence=[0, 1, 2]
    )
    assert truth.truth.false_cells == 2


NEIGHBORS = st.integers(LARGE - 3, LARGE + 3) | st.integers(2**62, 2**62 + 3)


@given(st.lists(NEIGHBORS, min_size=1, max_size=4), NEIGHBORS, NEIGHBORS, st.sampled_from("[("), st.sampled_from("])"))
def test_whole_numbers_beyond_the_precision_of_floats_are_compared_exactly(values, low, high, left, right):
    low, high = sorted((low, high))
    rows = len(values)
    audit = sf.audit(
        pa.table({"x": [f"{left}{low}, {high}{right}"] * rows}),
        Schema(quasi_identifiers=["x"], scales={"x": "numeric"}),
        [KAnonymity(k=1)],
        original=pa.table({"x": values}),
        correspondence=range(rows),
    )
    covered = [
        (low < value or (left == "[" and low == value)) and (value < high or (right == "]" and high == value))
        for value in values
    ]
    assert audit.truth.false_cells == covered.count(False)


def test_moments_beyond_the_precision_of_floats_are_compared_exactly():
    first, second = (datetime(9999, 1, 1, 0, 0, 0, place) for place in (1, 2))  # noqa: DTZ001 - tables are naive
    shown = pa.table({"x": [f"[{first.isoformat()}, {first.isoformat()}]"] * 2})
    original = pa.table({"x": [first, second]})
    audit = sf.audit(
        shown, Schema(quasi_identifiers=["x"]), [KAnonymity(k=1)], original=original, correspondence=[0, 1]
    )
    assert audit.truth.false_cells == 1


def test_persons_beyond_the_precision_of_floats_are_counted_apart():
    shown = pa.table({"x": [f"[{LARGE + 1}, {LARGE + 1}]"]})
    population = pa.table({"x": [LARGE, LARGE + 1, LARGE + 2]})
    audit = sf.audit(shown, Schema(quasi_identifiers=["x"]), [sf.models.KMap(k=1)], population=population)
    assert audit.verdicts[0].level == 1
