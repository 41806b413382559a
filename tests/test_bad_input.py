"""Bad input is refused with one sentence each, which names columns and parameters and never a cell."""

from __future__ import annotations

import traceback
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._validation import require
from sfumato.errors import HierarchyError, InfeasibleError, InvalidParameterError, SchemaError

CELL = "kanarien" + "vogel"  # in two halves, so that no line of source holds it
FRAME = pd.DataFrame(
    {
        "age": [20, 21, 30, 73917391],
        "job": ["clerk", "clerk", "diver", CELL],
        "disease": ["flu", "cold", "flu", CELL],
    }
)
PROMISE = [sf.models.KAnonymity(k=2)]


def schema(**settings):
    return sf.Schema(**{"quasi_identifiers": ["age", "job"], "sensitive": ["disease"], **settings})


def anonymize(frame=FRAME, models=PROMISE, **settings):
    return sf.anonymize(frame, schema(**settings), models)


def million() -> pa.Table:
    texts = pa.array(np.arange(1_000_000)).cast(pa.string())
    return pa.table({"age": pa.array(np.zeros(1_000_000, dtype=np.int64)), "job": texts, "disease": texts})


LUNG = sf.hierarchies.Taxonomy({"lung": ["flu"], "nose": ["cold"]})
REQUESTS = {
    "empty table": (lambda: anonymize(FRAME.iloc[:0]), SchemaError, "The table has no rows;"),
    "no columns": (lambda: anonymize(pd.DataFrame()), SchemaError, "Schema names 'age', which is not in the table"),
    "empty published table": (
        lambda: sf.audit(FRAME.iloc[:0], schema()),
        SchemaError,
        "The published table has no rows",
    ),
    "empty original": (
        lambda: sf.audit(FRAME, schema(), original=FRAME.iloc[:0]),
        SchemaError,
        "The table has no rows",
    ),
    "fewer rows than k": (
        lambda: anonymize(models=[sf.models.KAnonymity(k=5)]),
        InfeasibleError,
        "No release of these 4 rows",
    ),
    "fewer values than l": (
        lambda: anonymize(models=[sf.models.DistinctLDiversity(l=4, sensitive="disease")]),
        InfeasibleError,
        "No release of these",
    ),
    "unknown quasi-identifier": (
        lambda: anonymize(quasi_identifiers=["aeg"]),
        SchemaError,
        "Schema names 'aeg', which is not in the table; did",
    ),
    "unknown sensitive": (
        lambda: anonymize(sensitive=["income"]),
        SchemaError,
        "Schema names 'income', which is not in the table; the table has 'age', 'job', 'disease'.",
    ),
    "unknown flag": (
        lambda: anonymize(flags={"age": "hidden"}),
        SchemaError,
        "Schema names 'hidden', which is not in the table; the table has 'age', 'job', 'disease'.",
    ),
    "unknown promise": (
        lambda: anonymize(models=[sf.models.DistinctLDiversity(l=2, sensitive="diseas")]),
        SchemaError,
        "DistinctLDiversity names the unknown column 'diseas'",
    ),
    "role given twice": (
        lambda: schema(insensitive=["age"]),
        SchemaError,
        "Attribute 'age' is listed twice, as quasi and",
    ),
    "role given twice alike": (
        lambda: schema(quasi_identifiers=["age", "age"]),
        SchemaError,
        "Attribute 'age' is listed twice",
    ),
    "sensitive value outside its taxonomy": (
        lambda: anonymize(hierarchies={"disease": LUNG}),
        HierarchyError,
        "Column 'disease': Taxonomy misses 1 of the 3",
    ),
    "published value outside its taxonomy": (
        lambda: sf.audit(FRAME, schema(hierarchies={"disease": LUNG})),
        HierarchyError,
        "Column 'disease': Taxonomy misses 1",
    ),
    "taxonomy misses values": (
        lambda: anonymize(hierarchies={"job": sf.hierarchies.Taxonomy({"a": ["clerk"], "b": ["diver"]})}),
        HierarchyError,
        "Column 'job': Taxonomy misses 1 of the 3",
    ),
    "intervals miss values": (
        lambda: anonymize(hierarchies={"age": sf.hierarchies.Intervals(cuts=[[0, 18, 65]])}),
        HierarchyError,
        "Column 'age': Intervals misses 1",
    ),
    "order misses values": (
        lambda: anonymize(orders={"job": ["clerk", "diver"]}),
        HierarchyError,
        "Column 'job' has 1 distinct values that are not in its order",
    ),
    "hierarchy is not a function": (
        lambda: sf.hierarchies.Taxonomy.from_rows([[CELL, "a", "x"], ["flu", "a", "y"]]),
        HierarchyError,
        "Level 2 of the hierarchy is not a fun",
    ),
    "hierarchy repeats a leaf": (
        lambda: sf.hierarchies.Taxonomy({"x": [CELL], "y": [CELL]}),
        HierarchyError,
        "The hierarchy repeats 1 of its 2 leaves",
    ),
    "k = 0": (
        lambda: sf.models.KAnonymity(k=0),
        InvalidParameterError,
        "KAnonymity.k must be a whole number of at least 1; got 0.",
    ),
    "k = -1": (
        lambda: sf.models.KAnonymity(k=-1),
        InvalidParameterError,
        "KAnonymity.k must be a whole number of at least 1; got -1.",
    ),
    "k = 2.5": (lambda: sf.models.KAnonymity(k=2.5), InvalidParameterError, "KAnonymity.k must be a whole number"),
    "k = five": (lambda: sf.models.KAnonymity(k="five"), InvalidParameterError, "KAnonymity.k must be a whole number"),
    "k = True": (lambda: sf.models.KAnonymity(k=True), InvalidParameterError, "KAnonymity.k must be a whole number"),
    "k is a table": (
        lambda: sf.models.KAnonymity(k=FRAME),
        InvalidParameterError,
        "KAnonymity.k must be a whole number of at least 1; got",
    ),
    "k is a column": (
        lambda: sf.models.KAnonymity(k=FRAME["job"]),
        InvalidParameterError,
        "KAnonymity.k must be a whole number of at",
    ),
    "distinct l = 0": (
        lambda: sf.models.DistinctLDiversity(l=0, sensitive="s"),
        InvalidParameterError,
        "DistinctLDiversity.l must be",
    ),
    "frequency l = 0.9": (
        lambda: sf.models.FrequencyLDiversity(l=0.9, sensitive="s"),
        InvalidParameterError,
        "FrequencyLDiversity.l must",
    ),
    "entropy l = nan": (
        lambda: sf.models.EntropyLDiversity(l=nan, sensitive="s"),
        InvalidParameterError,
        "EntropyLDiversity.l must be",
    ),
    "recursive l = 0": (
        lambda: sf.models.RecursiveLDiversity(c=1, l=0, sensitive="s"),
        InvalidParameterError,
        "RecursiveLDiversity.l",
    ),
    "recursive c = 0": (
        lambda: sf.models.RecursiveLDiversity(c=0, l=2, sensitive="s"),
        InvalidParameterError,
        "RecursiveLDiversity.c",
    ),
    "t = 1.1": (
        lambda: sf.models.TCloseness(t=1.1, sensitive="s"),
        InvalidParameterError,
        "TCloseness.t must be a number from 0 to 1",
    ),
    "t = -0.1": (
        lambda: sf.models.TCloseness(t=-0.1, sensitive="s"),
        InvalidParameterError,
        "TCloseness.t must be a number from 0 to 1",
    ),
    "t = inf": (
        lambda: sf.models.TCloseness(t=inf, sensitive="s"),
        InvalidParameterError,
        "TCloseness.t must be a number from 0 to 1",
    ),
    "text in a numeric column": (
        lambda: anonymize(scales={"job": "numeric"}),
        SchemaError,
        "Column 'job' should be numeric but has",
    ),
    "intervals of text": (
        lambda: anonymize(hierarchies={"job": sf.hierarchies.Intervals(5)}),
        HierarchyError,
        "Column 'job': Intervals of numb",
    ),
    "infinity": (
        lambda: anonymize(FRAME.assign(age=[1.0, inf, 2, -inf])),
        SchemaError,
        "Column 'age' contains infinite values (rows: 2",
    ),
    "infinity in Polars": (
        lambda: anonymize(pl.from_pandas(FRAME.assign(age=[1.0, inf, 2, 3]))),
        SchemaError,
        "Column 'age' contains infinite values",
    ),
    "infinite sensitive value": (
        lambda: anonymize(FRAME.assign(disease=[1.0, inf, 2, 3])),
        SchemaError,
        "Column 'disease' contains infinite values",
    ),
    "duplicate column names in pandas": (
        lambda: anonymize(pd.concat([FRAME, FRAME[["age"]]], axis=1)),
        SchemaError,
        "Several columns are named 'age'; give",
    ),
    "duplicate column names in Arrow": (
        lambda: anonymize(pa.table([[1], [2]], names=["age", "age"])),
        SchemaError,
        "Several columns are named 'age'; give",
    ),
    "a million values of a nominal quasi-identifier": (
        lambda: anonymize(million()),
        SchemaError,
        "Quasi-identifier 'job' has 1,000,000 distinct values in 1,000,000 rows and no",
    ),
    "mixed types": (
        lambda: anonymize(FRAME.assign(job=["a", 1, CELL, 2.5])),
        SchemaError,
        "Column 'job' mixes text and numbers;",
    ),
    "mixed types in a category": (
        lambda: anonymize(FRAME.assign(job=pd.Categorical(["a", 1, CELL, 2.5]))),
        SchemaError,
        "Column 'job' mixes text and num",
    ),
    "lists in cells": (
        lambda: anonymize(FRAME.assign(job=[[CELL]] * 4)),
        SchemaError,
        "Column 'job' has type list<",
    ),
    "cells of stars": (
        lambda: anonymize(FRAME.assign(job=["*", "a", "b", "c"])),
        SchemaError,
        "Cells of column 'job' are",
    ),
    "not a table": (
        lambda: anonymize({"age": [CELL]}),
        SchemaError,
        "The data must be a pandas, Polars or Arrow table; got dict.",
    ),
    "not a schema": (
        lambda: sf.anonymize(FRAME, FRAME, PROMISE),
        InvalidParameterError,
        "Recipe.schema must be an sf.Schema; got D",
    ),
    "not a list of models": (
        lambda: anonymize(models=PROMISE[0]),
        InvalidParameterError,
        "Recipe.models must be a list of at least",
    ),
    "max_suppressed = 2": (
        lambda: sf.anonymize(FRAME, schema(), PROMISE, max_suppressed=2),
        InvalidParameterError,
        "Recipe.max_suppressed must be a",
    ),
    "identifier is published": (
        lambda: sf.audit(FRAME, schema(quasi_identifiers=["age"], identifiers=["job"])),
        SchemaError,
        "The published table still has the identifier",
    ),
}


@pytest.mark.parametrize("request_", REQUESTS)
def test_bad_input_is_refused_with_one_clear_sentence(request_):
    act, kind, sentence = REQUESTS[request_]
    with pytest.raises(kind) as refusal:
        act()
    said = str(refusal.value)
    assert type(refusal.value) is kind
    assert said.startswith(sentence)
    assert said.endswith((".", "?"))
    assert "\n" not in said
    assert not any(cell in said for cell in (CELL, "73917391", "clerk", "flu"))
    assert CELL not in "".join(traceback.format_exception(refusal.value))


def test_not_a_number_is_a_missing_value():
    frame = FRAME.assign(age=[20.0, nan, 20.0, nan])
    release = sf.anonymize(frame, schema(quasi_identifiers=["age"]), PROMISE)
    assert release.audit.level("k-anonymity") == 2
    assert release.frame["age"].isna().sum() == 2
    with_zero = sf.anonymize(frame.assign(age=[0.0, -0.0, nan, nan]), schema(quasi_identifiers=["age"]), PROMISE)
    assert with_zero.audit.level("k-anonymity") == 2
    assert "-0" not in {str(age) for age in with_zero.frame["age"]}


def test_negative_zero_is_zero_in_an_audit():
    published = pa.table({"age": [0.0, -0.0, 0.5, 0.5], "job": ["x"] * 4, "disease": list("abab")})
    assert sf.audit(published, schema()).level("k-anonymity") == 2


def test_many_values_with_a_hierarchy_are_welcome():
    table = million().slice(0, 2_000)
    release = sf.anonymize(table, schema(hierarchies={"job": sf.hierarchies.Prefixes(2)}), PROMISE)
    assert release.audit.holds


def test_strange_column_names_are_welcome():
    names = ["home zip", "age-group", "dis.ease", 'quo"te', "\u5e74\u9f84"]
    frame = pd.DataFrame([[1, "a", "x", 1, 1]] * 3 + [[2, "b", "y", 2, 2]] * 3, columns=names)
    release = sf.anonymize(
        frame, sf.Schema(quasi_identifiers=[*names[:2], *names[3:]], sensitive=[names[2]]), [sf.models.KAnonymity(k=3)]
    )
    assert list(release.frame.columns) == names


@pytest.mark.parametrize(
    ("got", "shown"),
    [
        (5, "5"),
        ("five", "'five'"),
        ([1, 2], "[1, 2]"),
        (None, "None"),
        (FRAME, "DataFrame"),
        (FRAME["job"], "Series"),
        (FRAME["age"].to_numpy(), "ndarray"),
        (list(range(999)), "list"),
        ([FRAME], "list"),
        (np.int64(5), "int64"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refused_parameter_is_written_out_only_if_it_is_short_and_plain(got, shown):
    with pytest.raises(InvalidParameterError) as refusal:
        require(False, "Model", "k", "something else", got)  # noqa: FBT003 - the condition
    assert str(refusal.value) == f"Model.k must be something else; got {shown}."
