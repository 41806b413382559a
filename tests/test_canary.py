# ruff: noqa: D102 - the name of a test algorithm says what it does
"""A recognizable cell goes through every door of the library and must be in no message, log or representation."""

from __future__ import annotations

import dataclasses
import io
import logging
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.tables._catalogue import MODELS
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.published.solution import Exact, Interval, Label, RecodedAttribute, TableSolution

CANARY = "kanarien" + "vogel"  # in two halves, so that no line of source holds it
NUMBER = int("7391" * 2)
PROMISE = [sf.models.KAnonymity(k=2)]
FRAME = pd.DataFrame(
    {
        "name": [f"{CANARY} {i}" for i in range(6)],
        "age": [NUMBER, NUMBER + 1, NUMBER + 2, NUMBER + 3, 20, 21],
        "job": [CANARY, CANARY, "clerk", "clerk", f"{CANARY}, too", "diver"],
        "disease": ["flu", CANARY, "cold", "flu", CANARY, "ulcer"],
        "note": [CANARY] * 6,
    }
)


def schema(**settings):
    return sf.Schema(
        **{"identifiers": ["name"], "quasi_identifiers": ["age", "job"], "sensitive": ["disease"], **settings}
    )


def sings(*texts: str) -> bool:
    return any(CANARY in text or str(NUMBER)[:-1] in text for text in texts)


@dataclass(frozen=True, kw_only=True)
class Lying(TableAlgorithm):
    """Publish one group with a label that covers nobody."""

    name = "lying"
    reference = "none"

    def search(self, task: TableRequest) -> TableSolution:
        labels = {"age": Interval(0, 1), "job": Exact(CANARY)}
        recoded = {c.name: RecodedAttribute([labels[c.name]], np.zeros(1, dtype=np.int32)) for c in task.table.quasi}
        return TableSolution(np.zeros(task.table.rows, dtype=np.int32), recoded)


@dataclass(frozen=True, kw_only=True)
class Dropping(TableAlgorithm):
    """Leave everybody out."""

    name = "dropping"
    reference = "none"

    def search(self, task: TableRequest) -> TableSolution:
        return TableSolution(np.full(task.table.rows, -1, dtype=np.int32), {})


JOBS = sf.hierarchies.Taxonomy({"a": ["clerk"], "b": ["diver"]})
HALF = FRAME.iloc[:3]
PUBLISHED = FRAME.drop(columns=["name"])
FAILURES = [
    lambda: sf.anonymize(FRAME, schema(hierarchies={"job": JOBS}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(hierarchies={"disease": JOBS}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(orders={"job": ["clerk"]}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(scales={"job": "numeric"}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(scales={"job": "ordinal"}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(hierarchies={"job": sf.hierarchies.Intervals(5)}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(hierarchies={"age": sf.hierarchies.Intervals("year")}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(hierarchies={"age": sf.hierarchies.Intervals(cuts=[[0, 99]])}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(hierarchies={"age": sf.hierarchies.Intervals(1e-300)}), PROMISE),
    lambda: sf.anonymize(
        FRAME.assign(job=[CANARY * 9] * 6), schema(hierarchies={"job": sf.hierarchies.Prefixes()}), PROMISE
    ),
    lambda: sf.anonymize(FRAME.assign(job=["*", *FRAME["job"][1:]]), schema(), PROMISE),
    lambda: sf.anonymize(FRAME, schema(flags={"age": "note"}), PROMISE),
    lambda: sf.anonymize(FRAME, schema(quasi_identifiers=["agee"]), PROMISE),
    lambda: sf.anonymize(FRAME, schema(), [sf.models.KAnonymity(k=7)]),
    lambda: sf.anonymize(FRAME, schema(), [sf.models.DistinctLDiversity(l=6, sensitive="disease")]),
    lambda: sf.anonymize(FRAME, schema(), [sf.models.TCloseness(t=0, sensitive="disease", distance="ordered")]),
    lambda: sf.anonymize(FRAME, schema(), [sf.models.TCloseness(t=0, sensitive="disease", distance="hierarchical")]),
    lambda: sf.anonymize(FRAME, schema(), PROMISE, Lying()),
    lambda: sf.anonymize(FRAME, schema(), PROMISE, Dropping(), max_suppressed=1),
    lambda: sf.anonymize(FRAME, schema(), FRAME),
    lambda: sf.anonymize(FRAME, schema(), [FRAME]),
    lambda: sf.anonymize(FRAME, FRAME, PROMISE),
    lambda: sf.anonymize(FRAME, schema(), PROMISE, FRAME),
    lambda: sf.anonymize(FRAME, schema(), PROMISE, max_suppressed=FRAME["age"]),
    lambda: sf.anonymize(FRAME, schema(), PROMISE, seed=FRAME["age"]),
    lambda: sf.anonymize(FRAME.assign(job=[1, *FRAME["job"][1:]]), schema(), PROMISE),
    lambda: sf.anonymize(FRAME.assign(age=[float("inf"), *FRAME["age"][1:]]), schema(), PROMISE),
    lambda: sf.anonymize(FRAME.to_dict(), schema(), PROMISE),
    lambda: sf.audit(FRAME, schema()),
    lambda: sf.audit(PUBLISHED.iloc[:0], schema()),
    lambda: sf.audit(PUBLISHED[["age"]], schema()),
    lambda: sf.audit(PUBLISHED, schema(hierarchies={"disease": JOBS})),
    lambda: sf.audit(PUBLISHED, schema(), original=HALF),
    lambda: sf.audit(PUBLISHED, schema(hierarchies={"job": JOBS}), original=FRAME),
    lambda: sf.audit(PUBLISHED, schema(), original=FRAME, correspondence=FRAME["job"]),
    lambda: sf.audit(PUBLISHED, schema(), original=FRAME, correspondence=FRAME["age"]),
    lambda: sf.audit(PUBLISHED, schema(), [sf.models.DistinctLDiversity(l=1, sensitive="name")]),
    lambda: sf.audit(PUBLISHED, schema()).level("k-anonymity", "name"),
    lambda: sf.audit(PUBLISHED, schema()).level("zzz"),
    lambda: sf.models.KAnonymity(k=FRAME),
    lambda: sf.models.TCloseness(t=FRAME["age"], sensitive="disease"),
    lambda: sf.Schema(quasi_identifiers=["age"], scales={"age": "x"}),
]


@pytest.mark.parametrize("act", FAILURES)
@pytest.mark.parametrize("kind", ["pandas", "Polars", "Arrow"])
def test_no_failure_tells_a_cell(act, kind, monkeypatch):
    make = {"pandas": lambda f: f, "Polars": pl.from_pandas, "Arrow": pa.Table.from_pandas}[kind]
    original = sf.anonymize, sf.audit
    for name, verb in zip(("anonymize", "audit"), original, strict=True):
        monkeypatch.setattr(sf, name, lambda data, *args, _verb=verb, **named: _verb(_as(data, make), *args, **named))
    with pytest.raises(SfumatoError) as refusal:
        act()
    told = "".join(traceback.format_exception(refusal.value))
    assert not sings(told, str(refusal.value), repr(refusal.value))


def _as(data: object, make: object) -> object:
    """Give a pandas table as another kind; tables of mixed columns exist in pandas only."""
    if not isinstance(data, pd.DataFrame):
        return data
    try:
        return make(data)
    except (pa.ArrowException, TypeError, pl.exceptions.PolarsError):
        return data


def parts(value: object, seen: set[int]) -> list[object]:
    """Give an object and all objects of this library that can be reached from it, except the labels of cells."""
    if id(value) in seen:
        return []
    seen.add(id(value))
    found = [value] if type(value).__module__.startswith("sfumato") and not isinstance(value, Label) else []
    inner: list[object] = []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, list | tuple):
        inner = list(value)
    elif isinstance(value, dict):
        inner = list(value.values())
    return found + [part for each in inner for part in parts(each, seen)]


@pytest.mark.parametrize("missing", ["own-value", "matches-all"])
def test_nothing_that_is_printed_or_logged_tells_a_cell(missing, caplog):
    told: list[object] = []
    output = io.StringIO()
    with (
        caplog.at_level(logging.DEBUG),
        redirect_stdout(output),
        redirect_stderr(output),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        release = sf.anonymize(FRAME, schema(missing=missing), PROMISE, progress=told.append)
        audit = sf.audit(release.frame, schema(missing=missing), PROMISE, original=FRAME)
    assert not output.getvalue()
    assert not warned
    assert not sings(caplog.text, repr(told))
    shown = [
        repr(release),
        str(release),
        release._repr_html_(),
        repr(audit),
        audit._repr_html_(),
        repr(audit.to_dict()),
    ]
    assert not sings(*shown)
    assert sings(release.frame.to_string())


def test_no_part_of_a_release_or_an_audit_represents_itself_by_cells():
    release = sf.anonymize(FRAME, schema(), PROMISE)
    audit = sf.audit(release.frame, schema(), PROMISE, original=FRAME)
    reached = [*parts(release, set()), *parts(audit, set())]
    assert len({type(part) for part in reached}) > 8
    singing = {type(part).__name__ for part in reached if sings(repr(part))}
    assert not singing


def test_no_part_of_a_task_represents_itself_by_cells():
    tasks = []

    class Looking(sf.algorithms.Mondrian):
        def search(self, task: TableRequest) -> TableSolution:
            tasks.append(task)
            publication = super().search(task)
            tasks.append(publication)
            return publication

    sf.anonymize(FRAME, schema(), PROMISE, Looking())
    singing = {type(part).__name__ for task in tasks for part in parts(task, set()) if sings(repr(part))}
    assert not singing


def test_models_show_parameters_only():
    assert all(not sings(repr(model)) for model in MODELS.values())
