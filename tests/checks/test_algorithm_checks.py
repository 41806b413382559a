# ruff: noqa: D101, D102 - the name of a wrong algorithm says what is wrong with it
"""Each check of the algorithm suite is seen to fail: on an algorithm that breaks its law, or on a broken guard."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import ClassVar

import numpy as np
import pytest

from sfumato.algorithms.base import Shows, Task
from sfumato.algorithms.buckets.cross_bucket import CrossBucket
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.ncp_top_down import NCPTopDown
from sfumato.algorithms.microaggregation.mdav import Mdav
from sfumato.checks import algorithms as suite
from sfumato.checks.trials import Trial
from sfumato.core.publication import NOT_PUBLISHED, Exact, MissingCell, Proof, Publication, Recoded
from sfumato.models import KAnonymity
from sfumato.release import anonymizing as release
from sfumato.release import tasks
from sfumato.table.frames import to_arrow


@dataclass(frozen=True, kw_only=True)
class WithoutSource(Mondrian):
    reference = ""


@dataclass(frozen=True, kw_only=True)
class WithoutPromise(Mondrian):
    def search(self, task: Task) -> Publication:
        return super().search(replace(task, models=[KAnonymity(k=1)]))


@dataclass(frozen=True, kw_only=True)
class ServesNothing(Mondrian):
    def refusal(self, task: Task) -> str | None:
        return f"ServesNothing cannot serve {len(task.models)} models."


@dataclass(frozen=True, kw_only=True)
class ServesSizesOnly(Mondrian):
    def refusal(self, task: Task) -> str | None:
        return "No." if any(model.attributes for model in task.models) else None


@dataclass(frozen=True, kw_only=True)
class Mistaken(Mondrian):
    def search(self, task: Task) -> Publication:
        found = super().search(task)
        return replace(found, group=np.roll(found.group, 1))


@dataclass(frozen=True, kw_only=True)
class Narrow(Mondrian):
    def search(self, task: Task) -> Publication:
        found = super().search(task)
        age = found.recoded["age"]
        labels = tuple(label if isinstance(label, MissingCell) else Exact(18) for label in age.labels)
        return replace(found, recoded={**found.recoded, "age": Recoded(labels, age.by_group)})


@dataclass(frozen=True, kw_only=True)
class Wasteful(Mondrian):
    def search(self, task: Task) -> Publication:
        found = super().search(task)
        group = found.group.copy()
        group[: task.most_suppressed + 1] = NOT_PUBLISHED
        return replace(found, group=group)


@dataclass(frozen=True, kw_only=True)
class Forgetful(Mondrian):
    def search(self, task: Task) -> Publication:
        found = super().search(task)
        return replace(found, group=found.group[:-1])


@dataclass(frozen=True, kw_only=True)
class SplitsHairs(Mondrian):
    def search(self, task: Task) -> Publication:
        found = super().search(task)
        twice = {name: Recoded(r.labels, np.repeat(r.by_group, 2)) for name, r in found.recoded.items()}
        second = np.arange(len(found.group), dtype=np.int32) % 2
        return Publication(2 * found.group + second, twice)


@dataclass(frozen=True, kw_only=True)
class Imaginative(Mondrian):
    def search(self, task: Task) -> Publication:
        found = super().search(task)
        recoded = {}
        for name, r in found.recoded.items():
            labels = tuple(Exact("red") if isinstance(label, MissingCell) else label for label in r.labels)
            recoded[name] = Recoded(labels, r.by_group)
        return replace(found, recoded=recoded)


@dataclass(frozen=True, kw_only=True)
class Meddling(Mondrian):
    def search(self, task: Task) -> Publication:
        found = super().search(task)
        task.table.quasi[0].codes[:] = 0
        return found


@dataclass(frozen=True, kw_only=True)
class Fickle(Mondrian):
    runs: ClassVar = count()

    def search(self, task: Task) -> Publication:
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
    def search(self, task: Task) -> Publication:
        if task.table.rows == 1:
            task.progress(1.0)
            return Publication(np.full(1, NOT_PUBLISHED, dtype=np.int32), {})
        return super().search(task)


@dataclass(frozen=True, kw_only=True)
class Silent(Mondrian):
    def search(self, task: Task) -> Publication:
        return super().search(replace(task, progress=lambda _: None))


@dataclass(frozen=True, kw_only=True)
class Backwards(Mondrian):
    def search(self, task: Task) -> Publication:
        task.progress(0.9)
        return super().search(task)


@dataclass(frozen=True, kw_only=True)
class Overconfident(Mondrian):
    def refusal(self, task: Task) -> str | None:  # noqa: ARG002 - it looks at nothing
        return None


@dataclass(frozen=True, kw_only=True)
class BlindToFlags(Mondrian):
    def refusal(self, task: Task) -> str | None:
        return None if task.table.flags else super().refusal(task)


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
class SaysNoCenters(Mdav):
    @property
    def publishes(self) -> Shows:
        return "covers"


@dataclass(frozen=True, kw_only=True)
class SaysNoBuckets(CrossBucket):
    @property
    def publishes(self) -> Shows:
        return "covers"


@dataclass(frozen=True, kw_only=True)
class SaysNothingRecoded(Mondrian):
    recodes = "nothing"


@dataclass(frozen=True, kw_only=True)
class Unfounded(Mondrian):
    def refusal(self, task: Task) -> str | None:
        return "No." if any(model.attributes for model in task.models) else super().refusal(task)


@dataclass(frozen=True, kw_only=True)
class BlindToWeights(Mondrian):
    def search(self, task: Task) -> Publication:
        single = replace(task.table, rows=task.table.cases, weights=None)
        return super().search(replace(task, table=single))


@dataclass(frozen=True, kw_only=True)
class ByNumberOfCases(Optimal):
    def search(self, task: Task) -> Publication:
        return replace(super().search(task), proof=Proof("loss", 0.0, 0.0, task.table.cases, 1))


@dataclass(frozen=True, kw_only=True)
class WearsOutWeights(Mondrian):
    def search(self, task: Task) -> Publication:
        found = super().search(task)
        if task.table.weights is not None:
            task.table.weights[:] = np.roll(task.table.weights, 1)
        return found


@dataclass(frozen=True, kw_only=True)
class SaysNoCases(Mondrian):
    def refusal(self, task: Task) -> str | None:
        return super().refusal(task) or ("No." if task.table.weights is not None else None)


@dataclass(frozen=True, kw_only=True)
class ServesEverythingAndNothing(Mondrian):
    needs_monotone = "never"

    def refusal(self, task: Task) -> str | None:
        return next((f"No {model!r}." for model in task.models if not model.monotone), super().refusal(task))


@dataclass(frozen=True, kw_only=True)
class BlindToTheRest(NCPTopDown):
    def search(self, task: Task) -> Publication:
        return super().search(replace(task, totals=None))


BROKEN = [
    (suite.check_facts_are_stated, WithoutSource()),
    (suite.check_published_table_keeps_every_model, WithoutPromise()),
    (suite.check_published_table_keeps_every_model, ServesNothing()),
    (suite.check_published_table_keeps_every_model, ServesSizesOnly()),
    (suite.check_cells_cover_their_originals, Mistaken()),
    (suite.check_originals_can_be_found, Narrow()),
    (suite.check_records_add_up, Wasteful()),
    (suite.check_records_add_up, Forgetful()),
    (suite.check_groups_are_classes_of_equal_rows, SplitsHairs()),
    (suite.check_missing_cells_are_not_filled, Imaginative()),
    (suite.check_input_is_untouched, Meddling()),
    (suite.check_same_recipe_gives_same_bytes, Fickle()),
    (suite.check_row_order_is_ignored, FirstComeFirstServed()),
    (suite.check_odd_tables_are_published, ShyOfOneRow()),
    (suite.check_progress_rises_to_one, Silent()),
    (suite.check_progress_rises_to_one, Backwards()),
    (suite.check_what_cannot_be_served_is_refused, Overconfident()),
    (suite.check_what_cannot_be_served_is_refused, BlindToFlags()),
    (suite.check_cells_are_what_is_declared, SaysCenters()),
    (suite.check_cells_are_what_is_declared, SaysNoCenters()),
    (suite.check_cells_are_what_is_declared, SaysNoBuckets()),
    (suite.check_nothing_is_recoded_where_declared, SaysNothingRecoded()),
    (suite.check_declared_facts_are_true, Unfounded()),
    (suite.check_declared_facts_are_true, ServesEverythingAndNothing()),
    (suite.check_declared_facts_are_true, BlindToFlags()),
    (suite.check_equal_records_may_be_one_case, BlindToWeights()),
    (suite.check_equal_records_may_be_one_case, ByNumberOfCases()),
    (suite.check_equal_records_may_be_one_case, WearsOutWeights()),
    (suite.check_equal_records_may_be_one_case, SaysNoCases()),
    (suite.check_tables_can_be_searched_in_blocks, BlindToTheRest()),
    (suite.check_algorithm_can_be_stored, Contrary()),
    (suite.check_algorithm_can_be_stored, OfAList()),
]


@pytest.mark.parametrize(("check", "algorithm"), BROKEN, ids=lambda case: getattr(case, "__name__", repr(case)))
def test_check_fails_on_a_wrong_algorithm(check, algorithm):
    with pytest.raises(AssertionError):
        check(Trial(algorithm))


def shortened(frame):
    table, kind = to_arrow(frame)
    return (table if kind.name == "pyarrow" else table.slice(1)), kind


def grasping(frame):
    table, kind = to_arrow(frame)
    if kind.name == "pandas":
        frame.iloc[0, 0] = "somebody else"
    return table, kind


GUARDS = [
    (suite.check_impossible_requests_are_refused, tasks, "_all_together", lambda *_: None),
    (suite.check_impossible_requests_are_refused, suite, "anonymize", lambda *_, **__: None),
    (suite.check_empty_tables_are_refused, suite, "anonymize", lambda *_, **__: None),
    (suite.check_frame_kinds_agree, release, "to_arrow", shortened),
    (suite.check_input_is_untouched, release, "to_arrow", grasping),
]


@pytest.mark.parametrize(
    ("check", "owner", "name", "wrong"), GUARDS, ids=lambda case: getattr(case, "__name__", str(case))
)
def test_check_fails_on_a_broken_guard(check, owner, name, wrong, monkeypatch):
    check(Trial(Mondrian()))
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError):
        check(Trial(Mondrian()))


def test_a_trial_asks_once_and_lets_no_check_change_the_answer():
    trial = Trial(Mondrian())
    first, again = list(trial.outcomes()), list(trial.outcomes())
    assert list(map(id, first)) == list(map(id, again))
    assert trial.release(trial.requests[0]) is trial.release(trial.requests[0])
    assert trial.handovers(trial.requests[0]) is trial.handovers(trial.requests[0])
    with pytest.raises(ValueError, match="read-only"):
        first[0].publication.group[0] = 1


def test_every_check_has_been_seen_to_fail():
    assert {check for check, *_ in (*BROKEN, *GUARDS)} == set(suite.ALGORITHM_CHECKS)


def test_the_whole_suite_stops_at_a_wrong_algorithm():
    with pytest.raises(AssertionError):
        suite.check_algorithm(WithoutSource())
