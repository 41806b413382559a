"""Who is who in the versions of a table."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.errors import SchemaError
from sfumato.io._individuals import individual_keys, number_individuals


def test_seven_is_one_person_however_it_is_written():
    keys = [individual_keys(pa.table({"id": column}), ["id"]).to_pylist() for column in ([7], ["7"], [7.0])]
    assert keys == [["1:7"]] * 3


def test_unicode_is_compared_in_one_form():
    composed, apart = "Zo\u00eb", "Zoe\u0308"
    keys = [individual_keys(pa.table({"name": [name]}), ["name"]) for name in (composed, apart)]
    rows, persons = number_individuals(keys)
    assert [each.tolist() for each in rows] == [[0], [0]]
    assert persons == 1


def test_several_identifiers_do_not_run_into_each_other():
    table = pa.table({"a": ["1|1:2", "1"], "b": ["3", "2|1:3"]})
    assert len(set(individual_keys(table, ["a", "b"]).to_pylist())) == 2


@pytest.mark.parametrize(
    ("column", "identifier", "message"),
    [
        ([1, None], ["id"], "In version 2 1 rows have no 'id'"),
        (["a", ""], ["id"], "In version 2 1 rows have no 'id'"),
        ([1, 1], ["id"], "In version 2 1 rows have the identifiers of another row"),
        ([1, 2], ["name"], "In version 2 the identifier 'name' is missing"),
        ([1, 2], [], "name the columns in Schema.identifier"),
    ],
)
def test_persons_who_cannot_be_told_apart_are_refused(column, identifier, message):
    with pytest.raises(SchemaError, match=message):
        individual_keys(pa.table({"id": column}), identifier, "version 2")
