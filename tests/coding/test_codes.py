"""Tables are coded once: quasi-identifiers, sensitive attributes and flags of sensitive cells."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encoding import coded_table as coding
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import to_arrow
from sfumato.io._values import format_values
from sfumato.schema.schema import Schema

TABLE = pa.table({"age": [30, 40, 30], "sex": ["F", "M", None], "disease": ["flu", "flu", "cold"], "note": list("abc")})
SCHEMA = Schema(quasi_identifiers=["sex", "age"], sensitive=["disease"])


def cells(column):
    values = [*column.domain.texts, None]
    return [values[number] for number in column.codes.tolist()]


def test_columns_come_in_the_order_of_the_schema():
    coded = encode_table(TABLE, SCHEMA)
    assert coded.rows == 3
    assert [column.name for column in coded.quasi] == ["sex", "age"]
    assert [column.name for column in coded.sensitive] == ["disease"]
    assert coded.flags == {}


def test_a_table_without_rows_is_refused():
    with pytest.raises(SchemaError, match="no rows"):
        encode_table(TABLE.slice(0, 0), SCHEMA)


def test_flags_are_read_and_must_be_true_or_false_in_every_row():
    schema = Schema(quasi_identifiers=["age"], flags={"age": "hidden"})
    flags = pa.array([True, False, True])
    assert encode_table(TABLE.append_column("hidden", flags), schema).flags["age"].tolist() == [True, False, True]
    for wrong in (pa.array([True, None, True]), pa.array(["yes", "no", "yes"]), pa.array([1, 0, 1])):
        with pytest.raises(SchemaError, match="'hidden' must be true or false in every row"):
            encode_table(TABLE.append_column("hidden", wrong), schema)


def test_too_many_nominal_values_are_refused_for_quasi_identifiers_only(monkeypatch):
    monkeypatch.setattr(coding, "MAX_NOMINAL_VALUES", 1)
    with pytest.raises(SchemaError, match="'sex' has 2 distinct values in 3 rows and no hierarchy"):
        encode_table(TABLE, SCHEMA)
    assert encode_table(TABLE, Schema(quasi_identifiers=["age"], sensitive=["sex", "disease"])).rows == 3


@pytest.mark.parametrize("star", ["*", "**", " * "])
@pytest.mark.parametrize("name", ["sex", "disease"])
def test_cells_that_look_suppressed_are_refused(name, star):
    cells = pa.array([star, *TABLE[name].to_pylist()[1:]])
    starred = TABLE.set_column(TABLE.column_names.index(name), name, cells)
    with pytest.raises(SchemaError, match=f"Cells of column '{name}' are"):
        encode_table(starred, SCHEMA)
    masked = TABLE.set_column(TABLE.column_names.index(name), name, pa.array(["53*", "*a", "a*"]))
    assert encode_table(masked, SCHEMA).rows == 3


def test_frames_of_every_kind_and_index_are_coded_alike():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = TABLE.to_pandas()
    frame["sex"] = pandas.Categorical(frame["sex"], categories=["X", "M", "F"])
    filtered = pandas.concat([frame, frame.iloc[[0]]])[[True, True, True, False]]
    duplicated = frame.set_axis([7, 7, 7], axis=0)
    expected = encode_table(TABLE, SCHEMA)
    for kind in (frame, filtered, duplicated, polars.from_arrow(TABLE), TABLE.to_batches()[0]):
        coded = encode_table(to_arrow(kind)[0], SCHEMA)
        for mine, theirs in zip((*coded.quasi, *coded.sensitive), (*expected.quasi, *expected.sensitive), strict=True):
            assert mine.domain.texts == theirs.domain.texts
            assert mine.codes.tolist() == theirs.codes.tolist()


def test_a_permuted_frame_keeps_cells_with_their_rows():
    pytest.importorskip("pandas")
    order = [2, 0, 1]
    table, _ = to_arrow(TABLE.to_pandas().iloc[order])
    coded = encode_table(table, SCHEMA)
    for column in (*coded.quasi, *coded.sensitive):
        assert cells(column) == format_values(TABLE[column.name].take(order)).to_pylist()


def test_the_domain_of_a_coded_column_holds_only_values_that_occur():
    assert encode_table(TABLE, SCHEMA).quasi[0].domain.texts == ("F", "M")
    assert np.unique(encode_table(TABLE, SCHEMA).quasi[0].codes).tolist() == [0, 1, 2]


def test_cases_stand_for_as_many_records_as_their_weights():
    weights = np.array([3, 2**30, 5])
    coded = encode_table(TABLE, SCHEMA, ["note"], weights=weights)
    assert (coded.rows, coded.n_weighted_records) == (2**30 + 8, 3)
    assert coded.weights.dtype == np.int64
    assert not np.shares_memory(coded.weights, weights)
    some = coded.take(np.array([2, 0]))
    assert (some.rows, some.n_weighted_records, some.weights.tolist()) == (8, 2, [5, 3])
    assert cells(some.target_columns["note"]) == ["c", "a"]
    assert coded.records(np.array([1])) == 2**30


def test_without_weights_every_case_is_a_record():
    coded = encode_table(TABLE, SCHEMA)
    assert coded.weights is None
    assert (coded.rows, coded.n_weighted_records, coded.records(np.array([1, 2]))) == (3, 3, 2)
    assert coded.take(np.array([1])).rows == 1
    assert encode_table(TABLE, Schema(insensitive=["note"]), weights=np.array([1, 2, 3])).n_weighted_records == 3


@pytest.mark.parametrize("weights", [[1, 2], [1, 0, 2], [1, -1, 2], [0.5, 1, 1], [[1, 2, 3]]])
def test_weights_must_be_whole_and_one_for_every_row(weights):
    with pytest.raises(InvalidParameterError, match="weights must be whole numbers of at least 1, one for every row"):
        encode_table(TABLE, SCHEMA, weights=np.array(weights))


def test_more_records_than_can_be_counted_are_refused():
    most = np.array([1, 1, coding.MAX_RECORDS - 2])
    assert encode_table(TABLE, SCHEMA, weights=most).rows == coding.MAX_RECORDS
    assert int(np.square(most).sum()) == sum(each**2 for each in most.tolist())
    with pytest.raises(SchemaError, match="The table has more than 3,000,000,000 records, too many to count; publish"):
        encode_table(TABLE, SCHEMA, weights=most + 1)
    with pytest.raises(SchemaError, match="more than"):
        encode_table(TABLE, SCHEMA, weights=np.full(3, np.iinfo(np.int64).max))
