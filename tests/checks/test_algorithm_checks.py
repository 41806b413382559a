# ruff: noqa: D101, D102 - the name of a wrong algorithm says what is wrong with it
"""Each check of the algorithm suite is seen to fail: on an algorithm that breaks its law, or on a broken guard."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import ClassVar

import numpy as np
import pytest

from sfumato.io._dataframes import to_arrow
from sfumato.tables._pipeline import anonymize as release
from sfumato.tables._pipeline import request
from sfumato.tables.algorithms.base import Shows, TableRequest
from sfumato.tables.algorithms.bucketization.cross_bucket_generalization import CrossBucketGeneralization
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.algorithms.local.top_down_ncp import TopDownNCP
from sfumato.tables.algorithms.microaggregation.mdav import MDAV
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.solution import (
    NOT_PUBLISHED,
    Exact,
    MissingCell,
    OptimalityProof,
    RecodedAttribute,
    TableSolution,
)
from sfumato.testing import algorithms as suite
from sfumato.testing._trials import AlgorithmTrial


@dataclass(frozen=True, kw_only=True)
class WithoutSource(Mondrian):
    reference = ""


@dataclass(frozen=True, kw_only=True)
class WithoutPromise(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        return super().search(replace(task, models=[KAnonymity(k=1)]))


@dataclass(frozen=True, kw_only=True)
class ServesNothing(Mondrian):
    def check(self, task: TableRequest) -> str | None:
        return f"ServesNothing cannot serve {len(task.models)} models."


@dataclass(frozen=True, kw_only=True)
class ServesSizesOnly(Mondrian):
    def check(self, task: TableRequest) -> str | None:
        return "No." if any(model.sensitive_attributes for model in task.models) else None


@dataclass(frozen=True, kw_only=True)
class Mistaken(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        found = super().search(task)
        return replace(found, group=np.roll(found.group, 1))


@dataclass(frozen=True, kw_only=True)
class Narrow(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        found = super().search(task)
        age = found.recoded["age"]
        labels = tuple(label if isinstance(label, MissingCell) else Exact(18) for label in age.labels)
        return replace(found, recoded={**found.recoded, "age": RecodedAttribute(labels, age.by_group)})


@dataclass(frozen=True, kw_only=True)
class Wasteful(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        found = super().search(task)
        group = found.group.copy()
        group[: task.max_suppressed + 1] = NOT_PUBLISHED
        return replace(found, group=group)


@dataclass(frozen=True, kw_only=True)
class Forgetful(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        found = super().search(task)
        return replace(found, group=found.group[:-1])


@dataclass(frozen=True, kw_only=True)
class SplitsHairs(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        found = super().search(task)
        twice = {name: RecodedAttribute(r.labels, np.repeat(r.by_group, 2)) for name, r in found.recoded.items()}
        second = np.arange(len(found.group), dtype=np.int32) % 2
        return TableSolution(2 * found.group + second, twice)


@dataclass(frozen=True, kw_only=True)
class Imaginative(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        found = super().search(task)
        recoded = {}
        for name, r in found.recoded.items():
            labels = tuple(Exact("red") if isinstance(label, MissingCell) else label for label in r.labels)
            recoded[name] = RecodedAttribute(labels, r.by_group)
        return replace(found, recoded=recoded)


@dataclass(frozen=True, kw_only=True)
class Meddling(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        found = super().search(task)
        task.table.quasi[0].codes[:] = 0
        return found


@dataclass(frozen=True, kw_only=True)
class Fickle(Mondrian):
    runs: ClassVar = count()

    def search(self, task: TableRequest) -> TableSolution:
        one_group = replace(task, models=[*task.models, KAnonymity(k=task.table.rows)])
        return super().search(one_group if next(self.runs) % 2 else task)


@dataclass(frozen=True, kw_only=True)
class FirstComeFirstServed(Mondrian):
    strict: bool = False

    @property
    def ignores_row_order(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class ShyOfOneRow(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        if task.table.rows == 1:
            task.progress(1.0)
            return TableSolution(np.full(1, NOT_PUBLISHED, dtype=np.int32), {})
        return super().search(task)


@dataclass(frozen=True, kw_only=True)
class Silent(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        return super().search(replace(task, progress=lambda _: None))


@dataclass(frozen=True, kw_only=True)
class Backwards(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        task.progress(0.9)
        return super().search(task)


@dataclass(frozen=True, kw_only=True)
class Overconfident(Mondrian):
    def check(self, task: TableRequest) -> str | None:  # noqa: ARG002 - it looks at nothing
        return None


@dataclass(frozen=True, kw_only=True)
class BlindToFlags(Mondrian):
    def check(self, task: TableRequest) -> str | None:
        return None if task.table.flags else super().check(task)


@dataclass(frozen=True, kw_only=True)
class Contrary(Mondrian):
    def __post_init__(self) -> None:
        object.__setattr__(self, "strict", not self.strict)


@dataclass(frozen=True, kw_only=True)
class OfAList(Mondrian):
    widths: tuple[int, ...] = field(default=(1, 2))


@dataclass(frozen=True, kw_only=True)
class SaysCenters(Mondrian):
    @property
    def publishes(self) -> Shows:
        return "centers"


@dataclass(frozen=True, kw_only=True)
class SaysNoCenters(MDAV):
    @property
    def publishes(self) -> Shows:
        return "covers"


@dataclass(frozen=True, kw_only=True)
class SaysNoBuckets(CrossBucketGeneralization):
    @property
    def publishes(self) -> Shows:
        return "covers"


@dataclass(frozen=True, kw_only=True)
class SaysNothingRecoded(Mondrian):
    recodes = "nothing"


@dataclass(frozen=True, kw_only=True)
class Unfounded(Mondrian):
    def check(self, task: TableRequest) -> str | None:
        return "No." if any(model.sensitive_attributes for model in task.models) else super().check(task)


@dataclass(frozen=True, kw_only=True)
class BlindToWeights(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        single = replace(task.table, rows=task.table.n_weighted_records, weights=None)
        return super().search(replace(task, table=single))


@dataclass(frozen=True, kw_only=True)
class ByNumberOfCases(Optimal):
    def search(self, task: TableRequest) -> TableSolution:
        return replace(super().search(task), proof=OptimalityProof("loss", 0.0, 0.0, task.table.n_weighted_records, 1))


@dataclass(frozen=True, kw_only=True)
class WearsOutWeights(Mondrian):
    def search(self, task: TableRequest) -> TableSolution:
        found = super().search(task)
        if task.table.weights is not None:
            task.table.weights[:] = np.roll(task.table.weights, 1)
        return found


@dataclass(frozen=True, kw_only=True)
class SaysNoCases(Mondrian):
    def check(self, task: TableRequest) -> str | None:
        return super().check(task) or ("No." if task.table.weights is not None else None)


@dataclass(frozen=True, kw_only=True)
class ServesEverythingAndNothing(Mondrian):
    needs_monotone = "never"

    def check(self, task: TableRequest) -> str | None:
        return next((f"No {model!r}." for model in task.models if not model.monotone), super().check(task))


@dataclass(frozen=True, kw_only=True)
class BlindToTheRest(TopDownNCP):
    def search(self, task: TableRequest) -> TableSolution:
        return super().search(replace(task, totals=None))


BROKEN = [
    (suite.check_metadata, WithoutSource()),
    (suite.check_published_table_satisfies_models, WithoutPromise()),
    (suite.check_published_table_satisfies_models, ServesNothing()),
    (suite.check_published_table_satisfies_models, ServesSizesOnly()),
    (suite.check_cells_cover_originals, Mistaken()),
    (suite.check_records_can_be_matched, Narrow()),
    (suite.check_records_add_up, Wasteful()),
    (suite.check_records_add_up, Forgetful()),
    (suite.check_groups_are_classes_of_equal_rows, SplitsHairs()),
    (suite.check_missing_cells_are_not_filled, Imaginative()),
    (suite.check_input_is_untouched, Meddling()),
    (suite.check_same_recipe_gives_same_bytes, Fickle()),
    (suite.check_row_order_is_ignored, FirstComeFirstServed()),
    (suite.check_edge_case_tables, ShyOfOneRow()),
    (suite.check_progress_is_monotone, Silent()),
    (suite.check_progress_is_monotone, Backwards()),
    (suite.check_unsupported_requests_are_rejected, Overconfident()),
    (suite.check_unsupported_requests_are_rejected, BlindToFlags()),
    (suite.check_declared_cell_form, SaysCenters()),
    (suite.check_declared_cell_form, SaysNoCenters()),
    (suite.check_declared_cell_form, SaysNoBuckets()),
    (suite.check_nothing_is_recoded_where_declared, SaysNothingRecoded()),
    (suite.check_declared_capabilities, Unfounded()),
    (suite.check_declared_capabilities, ServesEverythingAndNothing()),
    (suite.check_declared_capabilities, BlindToFlags()),
    (suite.check_weighted_records, BlindToWeights()),
    (suite.check_weighted_records, ByNumberOfCases()),
    (suite.check_weighted_records, WearsOutWeights()),
    (suite.check_weighted_records, SaysNoCases()),
    (suite.check_blockwise_search, BlindToTheRest()),
    (suite.check_serialization, Contrary()),
    (suite.check_serialization, OfAList()),
]


@pytest.mark.parametrize(("check", "algorithm"), BROKEN, ids=lambda case: getattr(case, "__name__", repr(case)))
def test_check_fails_on_a_wrong_algorithm(check, algorithm):
    with pytest.raises(AssertionError):
        check(AlgorithmTrial(algorithm))


def shortened(frame):
    table, kind = to_arrow(frame)
    return (table if kind.name == "pyarrow" else table.slice(1)), kind


def grasping(frame):
    table, kind = to_arrow(frame)
    if kind.name == "pandas":
        frame.iloc[0, 0] = "somebody else"
    return table, kind


GUARDS = [
    (suite.check_infeasible_requests_are_rejected, request, "_level_of_all_records", lambda *_: None),
    (suite.check_infeasible_requests_are_rejected, suite, "anonymize", lambda *_, **__: None),
    (suite.check_empty_tables_are_rejected, suite, "anonymize", lambda *_, **__: None),
    (suite.check_dataframe_backends_agree, release, "to_arrow", shortened),
    (suite.check_input_is_untouched, release, "to_arrow", grasping),
]


@pytest.mark.parametrize(
    ("check", "owner", "name", "wrong"), GUARDS, ids=lambda case: getattr(case, "__name__", str(case))
)
def test_check_fails_on_a_broken_guard(check, owner, name, wrong, monkeypatch):
    check(AlgorithmTrial(Mondrian()))
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError):
        check(AlgorithmTrial(Mondrian()))


def test_a_trial_asks_once_and_lets_no_check_change_the_answer():
    trial = AlgorithmTrial(Mondrian())
    first, again = list(trial.outcomes()), list(trial.outcomes())
    assert list(map(id, first)) == list(map(id, again))
    assert trial.release(trial.requests[0]) is trial.release(trial.requests[0])
    assert trial.release_bundles(trial.requests[0]) is trial.release_bundles(trial.requests[0])
    with pytest.raises(ValueError, match="read-only"):
        first[0].publication.group[0] = 1


def test_every_check_has_been_seen_to_fail():
    assert {check for check, *_ in (*BROKEN, *GUARDS)} == set(suite.ALGORITHM_CHECKS)


def test_the_whole_suite_stops_at_a_wrong_algorithm():
    with pytest.raises(AssertionError):
        suite.check_algorithm(WithoutSource())
