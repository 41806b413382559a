"""`sf.masking.mask`: carry out masking steps one after the other, whatever the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato._validation import require
from sfumato.encoding._row_order import order_rows, rank_column
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import DataFrameBackend, Frame, SameBackend, to_arrow, to_canonical
from sfumato.tables.masking.base import MaskingStep, replace_columns
from sfumato.tables.masking.top_bottom_coding import BottomCode, TopCode


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """What a step did: its measures, and what the owner should know; for the owner alone."""

    step: MaskingStep
    metrics: Mapping[str, float]
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        measures = ", ".join(f"{name} {value:.4g}" for name, value in self.metrics.items())
        return "\n  ".join([f"{self.step.name} of {', '.join(self.step.attributes)}: {measures}", *self.warnings])

    def public(self) -> dict[str, Any]:
        """Return what receivers may know of the step."""
        return {
            "step": self.step.name,
            "attributes": list(self.step.attributes),
            "parameters": self.step.public_parameters(),
            "covers": self.step.covers,
            "words": self.step.description.promise,
            "open": self.step.description.open,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything about the step, for the owner."""
        return {**self.public(), "measures": dict(self.metrics), "warnings": list(self.warnings)}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MaskedTable:
    """A table after masking, its rows in the order of the original, with what every step did."""

    table: pa.Table
    records: tuple[StepRecord, ...]
    kind: DataFrameBackend = field(repr=False)

    @cached_property
    def frame(self) -> SameBackend:
        """The masked table, of the caller's dataframe kind, one row for every original row."""
        return self.kind.restore_aligned(self.table)

    def __repr__(self) -> str:
        return "\n".join([f"MaskedTable: {self.table.num_rows:,} rows", *map(str, self.records)])


def mask(data: Frame, steps: Sequence[MaskingStep], *, secret: str | None = None) -> MaskedTable:
    """Mask a table step by step; the result is the owner's to judge, and no release yet.

    The order of the rows has no effect on what is drawn for whom.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not changed.
    steps : what to do, one after the other.
    secret : makes random steps repeatable: 64 hexadecimal digits; without it, every run draws anew.
    """
    require(are_steps(steps) and bool(steps), "mask", "steps", "a list of at least one masking step", steps)
    check_coding_bounds(steps)
    table, kind = to_arrow(data)
    if not table.num_rows:
        raise SchemaError("The table has no rows; there is nothing to mask.")
    order = order_rows([rank_column(column) for column in table.columns], table.num_rows)
    masked, records = table.take(pa.array(order)), []
    for at, step in enumerate(steps):
        masked, record = apply_step(masked, step, KeyedRandom(secret, f"mask {at}"))
        records.append(record)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    return MaskedTable(table=masked.take(pa.array(back)), records=tuple(records), kind=kind)


def are_steps(given: object) -> bool:
    """Return whether something is a list of masking steps."""
    return isinstance(given, list | tuple) and all(isinstance(each, MaskingStep) for each in given)


def check_coding_bounds(steps: Sequence[MaskingStep]) -> None:
    """Refuse bounds of top and bottom coding that leave nothing between them."""
    tops = [step for step in steps if isinstance(step, TopCode)]
    for low in (step for step in steps if isinstance(step, BottomCode)):
        for high in tops:
            if low.column == high.column and low.at is not None and high.at is not None and low.at >= high.at:
                raise InvalidParameterError(
                    f"BottomCode and TopCode of {low.column!r} leave nothing between their bounds; let the lower one "
                    "be smaller."
                )


def apply_step(table: pa.Table, step: MaskingStep, stream: KeyedRandom) -> tuple[pa.Table, StepRecord]:
    """Carry out a step on rows in a fixed order, and record what it did."""
    after = to_canonical(step.apply(table, stream))
    measures = step.measure(table, after)
    return after, StepRecord(step=step, metrics=measures, warnings=step.warnings(table, after, measures))


# What masking did to a table on its way to be published.

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MaskingRecord:
    """What masking did to a published table.

    Parameters
    ----------
    records : what every step did.
    perturbed : the columns whose cells need not cover the original any more; they are compared with what masking made
        of it.
    original : the table before masking, where it is known.
    """

    records: tuple[StepRecord, ...] = ()
    perturbed: tuple[str, ...] = ()
    original: pa.Table | None = None

    def __bool__(self) -> bool:
        return bool(self.records)

    def public(self) -> MaskingRecord:
        """Return what is known to those who have the published table only."""
        return replace(self, original=None)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MaskedSource:
    """A table after its masking steps, and the one that published cells must cover."""

    table: pa.Table
    reference: pa.Table
    records: tuple[StepRecord, ...]


def perturbed_columns(steps: Sequence[MaskingStep], quasi: Collection[str]) -> tuple[str, ...]:
    """Name the columns whose published cells need not cover the original, whether or not a step changed any of them.

    Parameters
    ----------
    steps : what is done.
    quasi : the quasi-identifiers; intervals and stars of these are read as what they cover.
    """
    named = [name for step in steps for name in step.attributes if not (step.covers and name in quasi)]
    return tuple(dict.fromkeys(named))


def steps_before_search(steps: Sequence[MaskingStep]) -> tuple[MaskingStep, ...]:
    """Return the steps that are carried out before a search."""
    return tuple(step for step in steps if not step.hides)


def steps_after_search(steps: Sequence[MaskingStep]) -> tuple[MaskingStep, ...]:
    """Return the steps that are carried out on what is about to be published: they hide cells, whatever these show."""
    return tuple(step for step in steps if step.hides)


def mask_source(
    table: pa.Table, steps: Sequence[MaskingStep], quasi: Collection[str], streams: Callable[[int], KeyedRandom]
) -> MaskedSource:
    """Carry out the steps that come before a search.

    Parameters
    ----------
    table : the original, its rows in a fixed order.
    steps : what to do.
    quasi : the quasi-identifiers; where a step covers their values, cells are still compared with these.
    streams : the stream of every step, by its number.
    """
    reference = table
    records = []
    for at, step in enumerate(steps):
        table, record = apply_step(table, step, streams(at))
        reference = replace_columns(reference, {name: table[name] for name in perturbed_columns([step], quasi)})
        records.append(record)
    return MaskedSource(table=table, reference=reference, records=tuple(records))


def hide_cells(
    published: pa.Table, rows: Rows, steps: Sequence[MaskingStep]
) -> tuple[pa.Table, Rows, tuple[StepRecord, ...]]:
    """Hide cells of a table that is about to be published, and put its rows in an order that tells nothing of them.

    Parameters
    ----------
    published : the table; its rows stand in the order of their cells, which hidden cells must not betray.
    rows : the original row of each, which goes along.
    steps : what to hide.
    """
    shown, records = strip_metadata(published), []
    for step in steps:
        shown, record = apply_step(shown, step, KeyedRandom())
        records.append(record)
    order = order_rows([rank_column(column) for column in shown.columns], shown.num_rows)
    return shown.take(pa.array(order)), rows[order], tuple(records)
