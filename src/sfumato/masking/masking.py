"""What masking did to a table on its way to be published."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.applying import order_rows, rank_column
from sfumato.masking.base import MaskingStep, replace_columns
from sfumato.masking.masked_table import StepRecord, apply_step
from sfumato.randomness import KeyedRandom
from sfumato.table.columns import strip_metadata

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
