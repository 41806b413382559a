# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every masking step keeps.

`check_masking_step(step)` runs them all on a step of your own that masks columns named `age`, `income`, `weight`
(numbers), or `job`, `sex` (text) of a made-up table. Each check raises `AssertionError` where its law is broken.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from math import isfinite

import numpy as np
import pyarrow as pa

from sfumato._randomness import seeded_generator
from sfumato.errors import SchemaError, SfumatoError
from sfumato.io._dataframes import to_canonical
from sfumato.io._values import format_values
from sfumato.tables.masking._apply import mask
from sfumato.tables.masking.base import MaskingStep, StepDescription

Check = Callable[[MaskingStep], None]
SECRETS = ("5f" * 32, "a0" * 32)
ROWS = 120


def check_masking_step(step: MaskingStep) -> None:
    """Run every check on one step."""
    for check in MASKING_CHECKS:
        check(step)


def draw_individuals(*, missing: bool = False) -> pa.Table:
    """Make a table of persons who do not exist, with some cells missing if asked for."""
    rng = seeded_generator(7)
    age = rng.integers(18, 95, ROWS)
    table = pa.table(
        {
            "person": [f"p{row}" for row in range(ROWS)],
            "age": age,
            "income": np.round(900 + 40 * age + rng.normal(0, 400, ROWS), 2),
            "weight": np.round(rng.normal(70, 12, ROWS), 1),
            "job": rng.choice(["clerk", "farmer", "nurse"], ROWS, p=[0.5, 0.3, 0.2]),
            "sex": rng.choice(["f", "m"], ROWS),
        }
    )
    if missing:
        for name in table.column_names[1:]:
            lost = pa.array(rng.random(ROWS) < 0.1)  # noqa: PLR2004 - a few
            column = pa.array(table[name].to_pylist(), table[name].type, mask=np.asarray(lost))
            table = table.set_column(table.column_names.index(name), name, column)
    return to_canonical(table)


def check_metadata(step: MaskingStep) -> None:
    """A step has a name, a reference, words of promise and of risk, and names the columns that it changes."""
    assert is_dataclass(step)
    assert all(field.kw_only for field in fields(step))
    assert step.name == step.name.lower()
    assert step.reference
    assert isinstance(step.words, StepDescription)
    assert step.words.promise.endswith(".")
    assert step.words.open.endswith(".")
    assert step.attributes


def check_parameters_rebuild_the_step(step: MaskingStep) -> None:
    """A step is rebuilt by its parameters and by pickle, and receivers are told no more than these."""
    assert type(step)(**step.parameters()) == step
    assert pickle.loads(pickle.dumps(step)) == step  # noqa: S301 - our own bytes
    assert set(step.public_parameters()) <= set(step.parameters())


def check_shape_and_types_are_kept(step: MaskingStep) -> None:
    """Rows and columns stay; numbers stay numbers and categories categories, unless cells are covered by text."""
    before = draw_individuals()
    after = mask(before, [step], secret=SECRETS[0]).table
    assert after.column_names == before.column_names
    assert after.num_rows == before.num_rows
    for name in step.attributes:
        kind = after[name].type
        same = kind == before[name].type or (_is_number(kind) and _is_number(before[name].type))
        assert same or (step.covers and pa.types.is_string(kind))


def check_other_columns_are_untouched(step: MaskingStep) -> None:
    """Columns that the step does not name are as they were."""
    before = draw_individuals(missing=not _rejection(step, draw_individuals(missing=True)))
    after = mask(before, [step], secret=SECRETS[0]).table
    for name in before.column_names:
        assert name in step.attributes or after[name].equals(before[name])


def check_same_secret_gives_the_same_table(step: MaskingStep) -> None:
    """The same secret gives the same cells, and another one others, if the step draws at all."""
    tables = [mask(draw_individuals(), [step], secret=secret).table for secret in (SECRETS[0], *SECRETS)]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2]) != step.random


def check_order_of_rows_is_ignored(step: MaskingStep) -> None:
    """Every person gets the same cells, in whatever order the rows come."""
    before = draw_individuals()
    order = seeded_generator(3).permutation(ROWS)
    straight = mask(before, [step], secret=SECRETS[0]).table.take(pa.array(order))
    assert mask(before.take(pa.array(order)), [step], secret=SECRETS[0]).table.equals(straight)


def check_missing_cells_disclose_nothing(step: MaskingStep) -> None:
    """A missing cell stays missing or is hidden, or the step refuses missing cells in a sentence."""
    before = draw_individuals(missing=True)
    refused = _rejection(step, before)
    if refused:
        assert "miss" in refused
        assert refused.endswith(".")
        return
    after = mask(before, [step], secret=SECRETS[0]).table
    for name in step.attributes:
        lost = np.asarray(before[name].is_null())
        shown = format_values(after[name]).filter(pa.array(lost)).to_pylist()
        assert set(shown) <= {None, "*"}


def check_unknown_columns_are_rejected(step: MaskingStep) -> None:
    """A table without one of the columns is refused in a sentence that names it."""
    for name in step.attributes:
        refused = _rejection(step, draw_individuals().drop_columns([name]))
        assert repr(name) in refused
        assert refused.endswith((".", "?"))


def check_small_tables_are_masked_or_rejected(step: MaskingStep) -> None:
    """Tables of few rows, of equal rows and of one known cell are masked, or refused in a sentence."""
    whole = draw_individuals()
    lonely = [pa.array([None] * (ROWS - 1) + column.to_pylist()[:1], column.type) for column in whole.columns]
    small = [whole.slice(0, rows) for rows in range(4)]
    for table in (*small, whole.take([0] * ROWS), pa.table(lonely, names=whole.column_names)):
        try:
            masked = mask(table, [step]).table
        except SfumatoError as error:
            sentence = str(error)
        else:
            sentence = "."
            assert masked.num_rows == table.num_rows
        assert sentence.endswith(".")


def check_metrics_describe_the_change(step: MaskingStep) -> None:
    """Measures are finite numbers, all at their best for a table that is as it was."""
    before = draw_individuals()
    record = mask(before, [step], secret=SECRETS[0]).records[0]
    assert record.metrics
    assert all(isfinite(value) for value in record.metrics.values())
    nothing = step.measure(before, before)
    assert nothing.keys() <= record.metrics.keys() | {"scaled-change", "mean-shift"}
    changed = [name for name in nothing if name in {"changed-cells", "hidden-cells", "scaled-change", "rank-shift"}]
    assert changed
    assert not any(nothing[name] for name in changed)


MASKING_CHECKS: tuple[Check, ...] = (
    check_metadata,
    check_parameters_rebuild_the_step,
    check_shape_and_types_are_kept,
    check_other_columns_are_untouched,
    check_same_secret_gives_the_same_table,
    check_order_of_rows_is_ignored,
    check_missing_cells_disclose_nothing,
    check_unknown_columns_are_rejected,
    check_small_tables_are_masked_or_rejected,
    check_metrics_describe_the_change,
)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _rejection(step: MaskingStep, table: pa.Table) -> str:
    """Return the sentence that a step refuses a table with, or nothing."""
    try:
        mask(table, [step])
    except SchemaError as error:
        return str(error)
    return ""
