# ruff: noqa: D101, D102 - the name of a wrong step says what is wrong with it
"""Each check of the masking suite is seen to fail on a step that breaks its law."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from sfumato._randomness import KeyedRandom
from sfumato.errors import SchemaError
from sfumato.tables.masking.add_noise import AddNoise
from sfumato.tables.masking.base import StepDescription
from sfumato.tables.masking.pram import PRAM
from sfumato.tables.masking.round_numbers import RoundNumbers
from sfumato.tables.masking.swap_ranks import SwapRanks
from sfumato.testing import masking as suite


@dataclass(frozen=True, kw_only=True)
class WithoutRiskWords(RoundNumbers):
    description = StepDescription(promise="Everything is fine.", open="")


@dataclass(frozen=True, kw_only=True)
class WithoutSource(RoundNumbers):
    reference = ""


@dataclass(frozen=True, kw_only=True)
class Forgetting(RoundNumbers):
    def parameters(self) -> dict[str, object]:
        return {"columns": self.columns, "base": 2 * self.base}


@dataclass(frozen=True, kw_only=True)
class TellingMore(RoundNumbers):
    def public_parameters(self) -> dict[str, object]:
        return {**self.parameters(), "changed": 3}


@dataclass(frozen=True, kw_only=True)
class RepeatingRows(RoundNumbers):
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        rounded = super().apply(table, stream)
        return pa.concat_tables([rounded.slice(0, 1), rounded.slice(0, 1), rounded.slice(2)])


@dataclass(frozen=True, kw_only=True)
class MakingNumbers(PRAM):
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        drawn = super().apply(table, stream)
        numbers = pa.chunked_array([[None if each is None else len(each) for each in drawn["job"].to_pylist()]])
        return drawn.set_column(4, "job", numbers)


@dataclass(frozen=True, kw_only=True)
class Meddling(RoundNumbers):
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        rounded = super().apply(table, stream)
        return rounded.set_column(5, "sex", pa.chunked_array([["f"] * table.num_rows]))


@dataclass(frozen=True, kw_only=True)
class Fresh(AddNoise):
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:  # noqa: ARG002 - that is what is wrong
        return super().apply(table, KeyedRandom())


@dataclass(frozen=True, kw_only=True)
class DrawingNothing(SwapRanks):
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:  # noqa: ARG002 - that is what is wrong
        return super().apply(table, KeyedRandom("00" * 32))


@dataclass(frozen=True, kw_only=True)
class Counting(AddNoise):
    calls: list[int] = field(default_factory=list, compare=False)

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        self.calls.append(1)
        return super().apply(table, stream if len(self.calls) == 1 else KeyedRandom())


@dataclass(frozen=True, kw_only=True)
class Filling(RoundNumbers):
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        rounded = super().apply(table, stream)
        return rounded.set_column(1, "age", rounded["age"].fill_null(50))


@dataclass(frozen=True, kw_only=True)
class PassingOver(PRAM):
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        return super().apply(table, stream) if set(self.columns) <= set(table.column_names) else table

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        return super().measure(before, after) if set(self.columns) <= set(before.column_names) else {}

    def warnings(self, before: pa.Table, after: pa.Table, measures: dict[str, float]) -> tuple[str, ...]:  # noqa: ARG002 - none
        return ()


@dataclass(frozen=True, kw_only=True)
class WithoutSentences(RoundNumbers):
    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        if table.num_rows == 1:
            raise SchemaError("few rows")
        return super().apply(table, stream)


@dataclass(frozen=True, kw_only=True)
class MeasuringNothing(RoundNumbers):
    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:  # noqa: ARG002 - that is what is wrong
        return {"changed-cells": float("nan")}


@dataclass(frozen=True, kw_only=True)
class AlwaysAlarmed(RoundNumbers):
    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        return {**super().measure(before, after), "changed-cells": 1.0}


AGE = {"columns": ("age",), "base": 5}
BROKEN = [
    (suite.check_metadata, WithoutRiskWords(**AGE)),
    (suite.check_metadata, WithoutSource(**AGE)),
    (suite.check_parameters_rebuild_the_step, Forgetting(**AGE)),
    (suite.check_parameters_rebuild_the_step, TellingMore(**AGE)),
    (suite.check_shape_and_types_are_kept, MakingNumbers(columns=("job",), keep=0.5)),
    (suite.check_other_columns_are_untouched, Meddling(**AGE)),
    (suite.check_other_columns_are_untouched, RepeatingRows(**AGE)),
    (suite.check_same_secret_gives_the_same_table, Fresh(columns=("age",), share=0.2)),
    (suite.check_same_secret_gives_the_same_table, DrawingNothing(columns=("age",), reach=0.2)),
    (suite.check_order_of_rows_is_ignored, Counting(columns=("age",), share=0.2)),
    (suite.check_missing_cells_disclose_nothing, Filling(**AGE)),
    (suite.check_unknown_columns_are_rejected, PassingOver(columns=("sex",), keep=0.5)),
    (suite.check_small_tables_are_masked_or_rejected, WithoutSentences(**AGE)),
    (suite.check_metrics_describe_the_change, MeasuringNothing(**AGE)),
    (suite.check_metrics_describe_the_change, AlwaysAlarmed(**AGE)),
]


@pytest.mark.parametrize(("check", "step"), BROKEN, ids=lambda case: getattr(case, "__name__", repr(case)))
def test_check_fails_on_a_wrong_step(check, step):
    with pytest.raises(AssertionError):
        check(step)


def test_every_check_has_been_seen_to_fail():
    assert {check for check, _ in BROKEN} == set(suite.MASKING_CHECKS)


def test_the_whole_suite_runs_on_one_step():
    suite.check_masking_step(RoundNumbers(**AGE))
    with pytest.raises(AssertionError):
        suite.check_masking_step(WithoutSource(**AGE))
