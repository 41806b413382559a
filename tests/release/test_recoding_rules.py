"""The recoding of a release: what every value is published as, kept in a file, looked up for later values."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.encoding.coded_table import encode_table
from sfumato.errors import InvalidParameterError, RecipeError
from sfumato.io._values import format_values
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.published.solution import Exact, Interval, MissingCell, RecodedAttribute
from sfumato.tables.recoding import ColumnRules, Recoding

CANARY = "kanarien" + "vogel"
K = (sf.models.KAnonymity(k=1),)
JOBS = sf.hierarchies.Taxonomy({"office": ["clerk", "lawyer"], "outdoors": ["farmer", "sailor"]})
PEOPLE = pa.table(
    {
        "age": pa.array([23, 31, 38, 44, None]),
        "zip": ["53711", "53712", "90210", "537", "90211"],
        "job": ["clerk", "lawyer", "farmer", "clerk", "clerk"],
        "born": pa.array([date(1980, 1, 3), date(1981, 5, 7), None, date(1981, 6, 1), date(1999, 1, 1)]),
        "income": [1.5, 2.25, 1e-05, 7.0, 8.0],
        "member": [True, False, True, True, None],
        "seen": [datetime(2020, 1, day, 10, 30) for day in range(1, 6)],  # noqa: DTZ001 - naive, as tables are
    }
)
SCHEMA = sf.Schema(
    quasi_identifiers=PEOPLE.column_names,
    hierarchies={
        "age": sf.hierarchies.Intervals(10, 20),
        "zip": sf.hierarchies.Prefixes(3, 1),
        "job": JOBS,
        "born": sf.hierarchies.Intervals("month", "year"),
    },
)


def recoding_of(table, schema, models=K, **levels):
    """Publish a table on fixed levels, 0 unless given, and take the recoding."""
    algorithm = sf.algorithms.FixedLevels(levels={name: levels.get(name, 0) for name in schema.quasi_identifiers})
    coded = encode_table(table, schema)
    rng = np.random.default_rng(0)
    task = TableRequest(
        table=coded, models=models, max_suppressed=coded.rows, missing=MissingPolicy(schema.missing), rng=rng
    )
    recipe = sf.Recipe(schema=schema, models=models, algorithm=algorithm, max_suppressed=1)
    domains = [column.domain for column in coded.quasi]
    return Recoding.of(algorithm.search(task).by_value, domains, table, recipe)


def looked_up(recoding, name, values, type_=None):
    """Look values up: their published texts, and `?` for unknown ones."""
    found = recoding.recode(name, pa.chunked_array([pa.array(values, type_)]))
    return [found.texts[number] if number >= 0 else "?" for number in found.numbers.tolist()]


LEVELS = [
    {},
    {"age": 1, "zip": 1, "job": 1, "born": 1},
    {"age": 2, "zip": 2, "job": 1, "born": 2, "income": 1},
    {"age": 3, "zip": 3, "job": 2, "born": 3, "income": 1, "member": 1, "seen": 1},
]


@pytest.mark.parametrize("levels", LEVELS, ids=str)
def test_every_value_is_published_as_the_release_publishes_it(levels):
    algorithm = sf.algorithms.FixedLevels(levels={name: levels.get(name, 0) for name in SCHEMA.quasi_identifiers})
    release = sf.anonymize(PEOPLE, SCHEMA, K, algorithm)
    recoding = recoding_of(PEOPLE, SCHEMA, **levels)
    for name in SCHEMA.quasi_identifiers:
        originals = PEOPLE[name].take(pa.array(release.correspondence))
        shown = format_values(release.published[name].cast(release.published[name].type.value_type)).to_pylist()
        assert looked_up(recoding, name, originals.combine_chunks()) == shown
        table = recoding.table(name)
        by_value = dict(zip(table["value"].to_pylist(), table["published"].to_pylist(), strict=True))
        if not recoding.columns[name].starred:
            assert [by_value[value] for value in format_values(originals).to_pylist()] == shown


@pytest.mark.parametrize("levels", LEVELS, ids=str)
def test_a_recoding_survives_its_file(levels, tmp_path):
    recoding = recoding_of(PEOPLE, SCHEMA, **levels)
    recoding.write(tmp_path / "recoding.toml")
    again = Recoding.read(tmp_path / "recoding.toml")
    assert again == recoding
    assert again.to_toml() == recoding.to_toml()
    for name in SCHEMA.quasi_identifiers:
        assert again.table(name).sort_by("value") == recoding.table(name).sort_by("value")


def test_the_file_says_that_it_must_stay_inside():
    text = recoding_of(PEOPLE, SCHEMA).to_toml()
    assert text.startswith("# This recoding lists values of the original table. Keep it private.\n")
    assert set(tomllib.loads(text)) == {"sfumato", "recoding", "recipe"}


def test_values_are_listed_under_what_they_are_published_as():
    content = recoding_of(PEOPLE, SCHEMA, age=1, job=2).to_dict()["recoding"]
    assert content["age"] == {
        "type": "int64",
        "published": {"[20, 30)": ["23"], "[30, 40)": ["31", "38"], "[40, 50)": ["44"]},
    }
    assert content["job"] == {"type": "string", "missing": "*"}
    assert content["member"] == {"type": "bool", "exact": ["false", "true"]}


@given(st.dictionaries(st.text(), st.text(), min_size=1, max_size=8), st.none() | st.text())
def test_any_text_survives_the_file(published, missing):
    recipe = sf.Recipe(schema=sf.Schema(quasi_identifiers=["a b.c"]), models=K, algorithm=sf.algorithms.FixedLevels())
    rules = ColumnRules(type=pa.string(), published=published, missing=missing)
    recoding = Recoding(recipe=recipe, columns={"a b.c": rules})
    assert Recoding.from_toml(recoding.to_toml()) == recoding


def test_a_release_without_a_global_recoding_has_no_rules():
    recipe = sf.Recipe(schema=SCHEMA, models=K, algorithm=sf.algorithms.Mondrian())
    with pytest.raises(InvalidParameterError, match="Mondrian made no global recoding"):
        Recoding.of({}, [], PEOPLE, recipe)


def test_values_that_the_original_did_not_have_are_unknown():
    recoding = recoding_of(PEOPLE, SCHEMA, job=1)
    assert looked_up(recoding, "job", ["clerk", "pilot", None]) == ["office", "?", None]
    assert looked_up(recoding, "job", ["sailor"]) == ["outdoors"]  # in the tree, though in no row
    assert looked_up(recoding, "age", [23, 24, None]) == ["23", "?", None]
    assert looked_up(recoding, "income", [2.25, 2.5]) == ["2.25", "?"]


def test_numbers_and_dates_in_a_published_interval_are_known():
    recoding = recoding_of(PEOPLE, SCHEMA, age=1, born=2)
    assert looked_up(recoding, "age", [20, 29, 30, 39, 40, 50, 19, 23.5]) == [
        "[20, 30)", "[20, 30)", "[30, 40)", "[30, 40)", "[40, 50)", "?", "?", "[20, 30)",
    ]  # fmt: skip
    year = "[1981-01-01, 1982-01-01)"
    assert looked_up(recoding, "born", [date(1981, 12, 31), date(1982, 1, 1)]) == [year, "?"]
    moment = datetime(1981, 12, 31, 23, 59)  # noqa: DTZ001 - naive, as tables are
    assert looked_up(recoding, "born", [moment]) == [year]


def test_intervals_are_looked_up_on_every_scale():
    schema = sf.Schema(
        quasi_identifiers=["age"], hierarchies={"age": sf.hierarchies.Intervals(10)}, scales={"age": "categorical"}
    )
    recoding = recoding_of(PEOPLE.select(["age"]), schema, age=1)
    assert looked_up(recoding, "age", [25, 99]) == ["[20, 30)", "?"]


def test_codes_with_a_published_prefix_are_known():
    recoding = recoding_of(PEOPLE, SCHEMA, zip=1)
    assert looked_up(recoding, "zip", ["53799", "90299", "10115", "537", "5379"]) == [
        "537**", "902**", "?", "537**", "?",
    ]  # fmt: skip
    assert looked_up(recoding, "zip", [53799]) == ["537**"]


def test_where_everything_is_suppressed_any_value_is_known():
    recoding = recoding_of(PEOPLE, SCHEMA, job=2, age=3)
    assert looked_up(recoding, "job", ["pilot", None]) == ["*", "*"]
    assert looked_up(recoding, "age", [99, None]) == ["*", "*"]


def test_numbers_are_known_by_their_text():
    recoding = recoding_of(PEOPLE, SCHEMA)
    assert looked_up(recoding, "age", ["23", "023", "x"]) == ["23", "?", "?"]
    assert looked_up(recoding, "income", [7, 8.0]) == ["7", "8"]
    wide = recoding_of(PEOPLE, SCHEMA, age=1)
    assert looked_up(wide, "age", ["23", "24"]) == ["[20, 30)", "?"]  # a text lies in no interval


def test_labels_that_overlap_decide_nothing():
    table = pa.table({"age": [1, 5, 9]})
    schema = sf.Schema(quasi_identifiers=["age"])
    recipe = sf.Recipe(schema=schema, models=K, algorithm=sf.algorithms.FixedLevels())
    labels = [Interval(1, 6), Interval(5, 9), Exact(9), MissingCell()]
    recoded = {"age": RecodedAttribute(labels, np.array([0, 1, 2, 3], dtype=np.int32))}
    recoding = Recoding.of(recoded, [column.domain for column in encode_table(table, schema).quasi], table, recipe)
    assert looked_up(recoding, "age", [1, 2, 6, 7, 9, 10]) == ["[1, 6]", "[1, 6]", "?", "[5, 9]", "9", "?"]


def test_a_star_for_some_values_covers_no_others():
    recipe = sf.Recipe(schema=sf.Schema(quasi_identifiers=["age"]), models=K, algorithm=sf.algorithms.FixedLevels())
    rules = ColumnRules(type=pa.int64(), published={"1": "*", "5": "[5, 9]"}, missing=None)
    recoding = Recoding(recipe=recipe, columns={"age": rules})
    assert looked_up(recoding, "age", [1, 3, 5, 7]) == ["*", "?", "[5, 9]", "[5, 9]"]


def test_a_value_that_looks_like_a_prefix_stands_for_itself_only():
    table = pa.table({"zip": ["A*", "CD"]})
    schema = sf.Schema(quasi_identifiers=["zip"], hierarchies={"zip": sf.hierarchies.Prefixes(1)})
    recoding = recoding_of(table, schema)
    assert looked_up(recoding, "zip", ["A*", "AX"]) == ["A*", "?"]


def test_an_unknown_column_is_refused():
    with pytest.raises(InvalidParameterError, match="no rules for 'agee'; did you mean 'age'"):
        recoding_of(PEOPLE, SCHEMA).table("agee")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c.pop("recoding"), "needs the sections"),
        (lambda c: c.pop("recipe"), "needs the sections"),
        (lambda c: c["recoding"].pop("age"), "every quasi-identifier"),
        (lambda c: c["recoding"].update(other={"type": "int64"}), "every quasi-identifier"),
        (lambda c: c["recoding"]["age"].pop("type"), "must have a type"),
        (lambda c: c["recoding"]["age"].update(type=CANARY), "must have a type"),
        (lambda c: c["recoding"]["age"].update(extra=1), "must have a type"),
        (lambda c: c["recoding"].update(age=CANARY), "must have a type"),
        (lambda c: c["recoding"]["age"].update(exact=[1]), "as text"),
        (lambda c: c["recoding"]["age"].update(exact=CANARY), "as text"),
        (lambda c: c["recoding"]["age"].update(published=[CANARY]), "as text"),
        (lambda c: c["recoding"]["age"].update(missing=3), "as text"),
        (lambda c: c["recoding"]["age"].update(published={CANARY: ["23"], "b": ["23"]}), "twice"),
        (lambda c: c["recipe"].pop("models"), "at least one model"),
    ],
)
def test_a_damaged_file_is_refused_without_telling_a_value(change, said):
    content = recoding_of(PEOPLE, SCHEMA, age=1).to_dict()
    change(content)
    with pytest.raises((RecipeError, InvalidParameterError), match=said) as refusal:
        Recoding.from_dict(content)
    assert CANARY not in str(refusal.value)


def test_the_representation_counts_values_and_tells_none():
    table = PEOPLE.set_column(2, "job", pa.array([CANARY, "x", "x", "y", CANARY]))
    schema = replace(SCHEMA, hierarchies={n: h for n, h in SCHEMA.hierarchies.items() if n != "job"})
    told = repr(recoding_of(table, schema, age=1, born=3))
    assert "age: 4 values to 3" in told
    assert "born: anything to '*'" in told
    assert "job: 3 values to 3" in told
    assert CANARY not in told
