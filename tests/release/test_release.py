# ruff: noqa: D101, D102 - the name of a test algorithm says what it does
"""A release is searched, applied, audited and recorded, whatever the algorithm says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.io._values import format_values
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import METRICS
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.solution import (
    NOT_PUBLISHED,
    Exact,
    Interval,
    Label,
    MissingCell,
    RecodedAttribute,
    Suppressed,
    TableSolution,
)
from strategies import described_tables

SCHEMA = Schema(identifiers=["name"], quasi_identifiers=["age", "job"], sensitive=["disease"])
PATIENTS = pd.DataFrame(
    {
        "disease": ["flu", "cold", "flu", "ulcer", "cold", "flu"],
        "name": [f"patient {i}" for i in range(6)],
        "age": pd.array([20, 20, 31, 31, 31, 64], dtype="Int16"),
        "job": pd.Categorical(
            ["clerk", "clerk", "diver", "diver", "diver", "judge"], ["unused", "clerk", "diver", "judge"]
        ),
        "note": ["a", "b", "c", "d", "e", "f"],
    },
    index=[7, 7, 3, 2, 1, 0],
)


def exact_groups(task: TableRequest) -> tuple[np.ndarray, dict[str, RecodedAttribute]]:
    """Group records by equal quasi-identifiers, which are published as they are."""
    quasi = task.table.quasi
    grouped = group_columns([column.codes for column in quasi], [len(column.domain) + 1 for column in quasi])
    rows = representative_rows(grouped)
    recoded = {}
    for column in quasi:
        labels: list[Label] = [*(Exact(value) for value in column.domain.values.to_pylist()), MissingCell()]  # noqa: PD011 - Arrow
        recoded[column.name] = RecodedAttribute(labels, column.codes[rows].astype(np.int32))
    return grouped.labels.copy(), recoded


@dataclass(frozen=True, kw_only=True)
class DropSmallGroups(TableAlgorithm):
    """Leave out all records whose quasi-identifiers fewer than k records share."""

    name = "drop-small-groups"
    reference = "none"
    least: int = 2

    def search(self, task: TableRequest) -> TableSolution:
        group, recoded = exact_groups(task)
        small = np.bincount(group)[group] < self.least
        group[small] = NOT_PUBLISHED
        task.progress(1.0)
        return TableSolution(group, recoded)


@dataclass(frozen=True, kw_only=True)
class OneGroup(TableAlgorithm):
    """Publish all records alike, with the given labels."""

    name = "one-group"
    reference = "none"
    labels: tuple[tuple[str, Label], ...] = ()

    def search(self, task: TableRequest) -> TableSolution:
        chosen: Mapping[str, Label] = dict(self.labels)
        recoded = {
            column.name: RecodedAttribute([chosen.get(column.name, Suppressed())], np.zeros(1, dtype=np.int32))
            for column in task.table.quasi
        }
        return TableSolution(np.zeros(task.table.rows, dtype=np.int32), recoded)


@dataclass(frozen=True, kw_only=True)
class AsItIs(TableAlgorithm):
    """Publish everything as it is, promise or not."""

    name = "as-it-is"
    reference = "none"

    def search(self, task: TableRequest) -> TableSolution:
        return TableSolution(*exact_groups(task))


@dataclass(frozen=True, kw_only=True)
class TwoGroupsAlike(TableAlgorithm):
    """Publish two groups whose labels have one text."""

    name = "two-groups-alike"
    reference = "none"

    def search(self, task: TableRequest) -> TableSolution:
        group = np.arange(task.table.rows, dtype=np.int32) % 2
        both = np.arange(2, dtype=np.int32)
        return TableSolution(
            group, {column.name: RecodedAttribute([Suppressed(), Suppressed()], both) for column in task.table.quasi}
        )


@dataclass(frozen=True, kw_only=True)
class SwappedValues(TableAlgorithm):
    """Publish exact values of other records."""

    name = "swapped-values"
    reference = "none"

    def search(self, task: TableRequest) -> TableSolution:
        group, recoded = exact_groups(task)
        swapped = {name: RecodedAttribute(each.labels, each.by_group[::-1].copy()) for name, each in recoded.items()}
        return TableSolution(group, swapped)


@dataclass(frozen=True, kw_only=True)
class Random(TableAlgorithm):
    """Publish one group, after drawing a number."""

    name = "random"
    reference = "none"

    def search(self, task: TableRequest) -> TableSolution:
        DRAWN.append(int(task.rng.integers(2**60)))
        return OneGroup().search(task)


DRAWN: list[int] = []


def drop(frame=PATIENTS, schema=SCHEMA, **settings):
    return sf.anonymize(
        frame, schema, models=[KAnonymity(k=2)], algorithm=DropSmallGroups(), **{"max_suppressed": 0.2, **settings}
    )


def test_a_release_leaves_out_what_the_algorithm_suppresses():
    release = drop()
    assert release.suppressed == 1
    assert release.left_out == ("note",)
    assert len(release.frame) == 5
    assert release.audit.holds
    assert release.audit.truth.suppressed == 1
    assert release.audit.level("k-anonymity") == 2
    assert release.metrics["suppressed-share"] == pytest.approx(1 / 6)
    assert release.metrics["loss"] == pytest.approx(1 / 6)
    assert set(release.metrics) == set(METRICS)


def test_the_frame_is_of_the_same_kind_with_the_same_dtypes():
    frame = drop().frame
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["disease", "age", "job"]
    assert frame["age"].dtype == "Int16"
    assert list(frame["job"].cat.categories) == ["clerk", "diver"]
    assert list(frame.index) == list(range(5))
    assert isinstance(drop(pl.from_pandas(PATIENTS)).frame, pl.DataFrame)
    assert isinstance(drop(pa.Table.from_pandas(PATIENTS, preserve_index=False)).frame, pa.Table)


def test_a_generalized_column_is_text():
    release = sf.anonymize(PATIENTS, SCHEMA, models=[KAnonymity(k=3)])
    assert all(isinstance(cell, str) for cell in release.frame["age"])


def test_the_aligned_frame_has_the_rows_and_the_index_of_the_original():
    aligned = drop().aligned()
    assert list(aligned.index) == [7, 7, 3, 2, 1, 0]
    assert list(aligned["age"]) == ["20", "20", "31", "31", "31", "*"]
    assert list(aligned["job"]) == ["clerk", "clerk", "diver", "diver", "diver", "*"]
    assert list(aligned["disease"])[:5] == list(PATIENTS["disease"])[:5]
    assert pd.isna(aligned["disease"].iloc[5])
    assert "note" not in aligned
    assert "name" not in aligned


def test_without_suppression_the_aligned_frame_keeps_its_types():
    release = sf.anonymize(PATIENTS.iloc[:5], SCHEMA, models=[KAnonymity(k=2)], algorithm=DropSmallGroups())
    assert list(release.aligned()["age"]) == [20, 20, 31, 31, 31]
    assert release.aligned()["age"].dtype == "Int16"


@pytest.mark.parametrize("algorithm", [DropSmallGroups(), sf.algorithms.Mondrian()], ids=repr)
@given(described_tables(most_rows=20))
def test_the_aligned_frame_shows_for_every_row_what_was_published_of_it(algorithm, described):
    table, schema = described
    table = pa.concat_tables([table, table.slice(0, 1)])
    release = sf.anonymize(table, schema, models=[KAnonymity(k=2)], algorithm=algorithm, max_suppressed=1)
    aligned = release.aligned()
    assert aligned.num_rows == table.num_rows
    published = release.frame.take(pa.array(np.argsort(release.correspondence)))
    kept = aligned.take(pa.array(np.sort(release.correspondence)))
    for name in published.column_names:
        assert format_values(kept[name]).to_pylist() == format_values(published[name]).to_pylist()
    lost = np.setdiff1d(np.arange(table.num_rows), release.correspondence)
    assert len(lost) == release.suppressed
    for name in aligned.column_names:
        assert set(aligned[name].take(pa.array(lost)).to_pylist()) <= (
            {"*"} if name in schema.quasi_identifiers else {None}
        )


@pytest.mark.parametrize("kind", [pl.DataFrame, pa.Table])
def test_the_input_is_not_touched(kind):
    frame = pl.from_pandas(PATIENTS) if kind is pl.DataFrame else pa.Table.from_pandas(PATIENTS, preserve_index=False)
    copy = frame.to_pandas()
    drop(frame).aligned()
    pd.testing.assert_frame_equal(frame.to_pandas(), copy)


def test_a_pandas_frame_is_not_touched_and_what_is_given_back_is_apart_from_it():
    frame = PATIENTS.copy(deep=True)
    release = drop(frame)
    for given_back in (release.frame, release.aligned()):
        given_back.loc[:, "disease"] = "changed"
    pd.testing.assert_frame_equal(frame, PATIENTS)


def test_the_published_order_says_nothing_about_the_original_order():
    shuffled = PATIENTS.sample(frac=1, random_state=5)
    assert drop(shuffled).frame.equals(drop().frame)


def test_two_groups_that_are_published_alike_are_one_group():
    release = sf.anonymize(PATIENTS, SCHEMA, models=[KAnonymity(k=6)], algorithm=TwoGroupsAlike())
    assert release.audit.level("k-anonymity") == 6
    assert set(release.frame["age"]) == {"*"}


LIARS = [
    AsItIs(),
    SwappedValues(),
    OneGroup(labels=(("age", Interval(20, 40)),)),
    OneGroup(labels=(("age", Interval(20, 64, high_closed=False)),)),
    OneGroup(labels=(("age", Exact(20)),)),
    OneGroup(labels=(("age", MissingCell()),)),
    OneGroup(labels=(("job", Exact("clerk")),)),
    DropSmallGroups(least=1),
]


@pytest.mark.parametrize("liar", LIARS, ids=repr)
def test_a_release_that_fails_its_audit_is_withheld(liar):
    with pytest.raises(sf.errors.GuaranteeViolatedError) as refusal:
        sf.anonymize(PATIENTS, SCHEMA, models=[KAnonymity(k=2)], algorithm=liar, max_suppressed=1)
    name = type(liar).__name__
    assert (
        str(refusal.value)
        == f"{name} found a release that fails its audit, so it is withheld; please report this as a bug."
    )


def test_suppressing_more_than_allowed_is_refused_with_what_would_be_possible():
    with pytest.raises(sf.errors.InfeasibleError) as refusal:
        drop(max_suppressed=0.1)
    said = str(refusal.value)
    assert said.startswith(
        "DropSmallGroups would suppress 1 records, more than the 0 allowed; set max_suppressed=0.1667"
    )
    allowed = float(re.search(r"max_suppressed=([\d.]+)", said)[1])
    assert drop(max_suppressed=allowed).suppressed == 1


@pytest.mark.parametrize(
    ("share", "rows", "most"), [(0.29, 100, 29), (0.57, 100, 57), (1 / 3, 3, 0), (0.0, 9, 0), (1, 9, 9)]
)
def test_the_allowed_number_of_suppressed_records_is_exact(share, rows, most):
    class Asking(OneGroup):
        def search(self, task: TableRequest) -> TableSolution:
            DRAWN.append(task.max_suppressed)
            return super().search(task)

    table = pa.table({"age": list(range(rows))})
    sf.anonymize(
        table, Schema(quasi_identifiers=["age"]), models=[KAnonymity(k=1)], algorithm=Asking(), max_suppressed=share
    )
    assert DRAWN[-1] == most


def test_suppressing_everybody_is_no_release():
    with pytest.raises(sf.errors.InfeasibleError, match="DropSmallGroups would suppress all records; promise less"):
        sf.anonymize(PATIENTS, SCHEMA, models=[KAnonymity(k=2)], algorithm=DropSmallGroups(least=9), max_suppressed=1)


@dataclass(frozen=True, kw_only=True)
class NotMonotone(KAnonymity):
    monotone = False


@dataclass(frozen=True, kw_only=True)
class OnlyKAnonymity(OneGroup):
    def check(self, task: TableRequest) -> str | None:
        others = [model for model in task.models if not isinstance(model, KAnonymity)]
        return f"OneGroup does not support {others[0]!r}." if others else super().check(task)


def test_an_algorithm_refuses_models_that_it_cannot_serve():
    models = [KAnonymity(k=2), FrequencyLDiversity(l=1.5, sensitive="disease")]
    with pytest.raises(sf.errors.UnsupportedModelError, match=r"OneGroup does not support FrequencyLDiversity\(l=1.5"):
        sf.anonymize(PATIENTS, SCHEMA, models=models, algorithm=OnlyKAnonymity())
    with pytest.raises(sf.errors.UnsupportedModelError, match=r"Mondrian does not support NotMonotone\(k=2"):
        sf.anonymize(PATIENTS, SCHEMA, models=[NotMonotone(k=2)])


def test_single_sensitive_cells_are_refused_by_algorithms_that_ignore_them():
    frame = PATIENTS.assign(hidden=[True, False] * 3)
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"], flags={"age": "hidden"})
    with pytest.raises(
        sf.errors.UnsupportedModelError, match=r"Mondrian cannot protect single sensitive cells \(of 'age'\)"
    ):
        sf.anonymize(frame, schema, models=[KAnonymity(k=2)])


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            KAnonymity(k=7),
            "No release of these 6 rows can keep KAnonymity(k=7",
        ),
        (
            DistinctLDiversity(l=4, sensitive="disease"),
            "No release of these 6 rows can keep DistinctLDiversity(l=4, sens",
        ),
    ],
)
def test_what_is_impossible_is_refused_before_searching(model, sentence):
    with pytest.raises(sf.errors.InfeasibleError) as refusal:
        sf.anonymize(PATIENTS, SCHEMA, models=[model])
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize(("rows", "refused"), [(50, False), (51, True), (57, True), (58, False)])
def test_nearly_unique_names_are_not_published_as_sets(rows, refused):
    table = pa.table({"age": [30] * rows, "line": [f"Eve;{row}" for row in range(51)][:rows] + ["Bob"] * (rows - 51)})
    schema = Schema(quasi_identifiers=["age", "line"])
    if not refused:
        assert sf.anonymize(table, schema, [KAnonymity(k=2)], seed=1).audit.holds
        return
    with pytest.raises(
        sf.errors.SchemaError, match=r"'line' has .* different values .*; give it a hierarchy .*, make it an"
    ) as e:
        sf.anonymize(table, schema, [KAnonymity(k=2)], seed=1)
    assert "Eve" not in str(e.value)
    hierarchies = {"line": sf.hierarchies.Prefixes()}
    assert sf.anonymize(
        table, Schema(quasi_identifiers=["age", "line"], hierarchies=hierarchies), [KAnonymity(k=2)]
    ).audit.holds


def test_a_schema_that_publishes_nothing_is_refused():
    with pytest.raises(sf.errors.SchemaError, match="There is nothing to publish; give columns the role quasi"):
        sf.anonymize(PATIENTS, Schema(identifiers=["name"]), models=[KAnonymity(k=2)])


def test_no_model_is_no_promise():
    with pytest.raises(
        sf.errors.InvalidParameterError, match=r"Recipe.models must be a list of at least one model; got \[\]\."
    ):
        sf.anonymize(PATIENTS, SCHEMA, models=[])


def test_a_table_without_quasi_identifiers_is_one_group():
    release = sf.anonymize(PATIENTS, Schema(sensitive=["disease"]), models=[KAnonymity(k=6)])
    assert release.metrics["loss"] == 0
    assert sorted(release.frame["disease"]) == sorted(PATIENTS["disease"])


def test_a_seed_is_drawn_and_recorded_unless_it_is_given():
    first, second = (sf.anonymize(PATIENTS, SCHEMA, models=[KAnonymity(k=2)], algorithm=Random()) for _ in range(2))
    assert first.recipe.seed != second.recipe.seed
    drawn = DRAWN[-2:]
    assert drawn[0] != drawn[1]
    again = sf.anonymize(PATIENTS, SCHEMA, models=[KAnonymity(k=2)], algorithm=Random(), seed=first.recipe.seed)
    assert DRAWN[-1] == drawn[0]
    assert again.recipe == first.recipe


def test_the_recipe_tells_what_it_was_carried_out_on():
    release = drop(seed=0)
    assert release.recipe.seed == 0
    assert release.recipe.input_rows == 6
    assert release.recipe.input_sha256 == drop(pl.from_pandas(PATIENTS), seed=0).recipe.input_sha256
    other = PATIENTS.assign(note="changed")
    assert drop(other, seed=0).recipe.input_sha256 != release.recipe.input_sha256


def test_progress_goes_from_nothing_to_all():
    told: list[float] = []
    table = pa.table({"age": list(range(64)), "sex": ["F", "M"] * 32})
    sf.anonymize(table, Schema(quasi_identifiers=["age", "sex"]), models=[KAnonymity(k=2)], progress=told.append)
    assert told == sorted(told)
    assert all(0 <= share <= 1 for share in told)
    assert told[-1] == 1


def test_a_release_shows_figures_and_no_cells():
    release = drop()
    shown = repr(release) + release._repr_html_()
    assert repr(release).startswith("Release: 5 of 6 records, 2 groups, loss 0.1667, ncp 0.1667, ")
    assert "<td>loss</td><td>0.1667</td>" in release._repr_html_()
    for cell in ("clerk", "diver", "judge", "flu", "ulcer", "patient", "64"):
        assert cell not in shown


def test_a_folder_that_holds_something_is_not_replaced_unless_told_so(tmp_path):
    release = drop(PATIENTS.assign(disease="=1+1"))
    release.write(tmp_path / "out")
    table = tmp_path / "out" / "public" / "table.csv"
    assert "\n=1+1," in table.read_text(encoding="utf-8")
    with pytest.raises(sf.errors.WriteError):
        release.write(tmp_path / "out", excel_safe=True)
    release.write(tmp_path / "out", excel_safe=True, replace=True)
    assert "\n'=1+1," in table.read_text(encoding="utf-8")
    release.write(tmp_path / "other", table_format="parquet")
    assert sf.read(tmp_path / "other" / "public" / "table.parquet").num_rows == 5


def test_file_and_date_are_kept_for_the_same_table_alone():
    people = sf.datasets.generate_hospital(60, seed=1)
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    asked = sf.Recipe(
        schema=schema,
        models=[sf.models.KAnonymity(k=2)],
        algorithm=sf.algorithms.Mondrian(),
        input_file="people.csv",
        input_date="2026-01-31",
    )
    first = sf.run_recipe(asked, people).recipe
    again, other = (sf.run_recipe(first, table).recipe for table in (people, people.slice(1)))
    assert (again.input_file, again.input_date) == ("people.csv", "2026-01-31")
    assert (other.input_file, other.input_date) == (None, None)
    assert sf.Recipe.from_toml(first.to_toml()).input_date == "2026-01-31"
