"""What masking did to a table on its way to be published."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.applying import column_ranks, order_rows
from sfumato.masking.base import MaskingStep, replaced
from sfumato.masking.masked_table import StepRecord, carry_out_step
from sfumato.randomness import Stream
from sfumato.table.columns import undecorated

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Masking:
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

    def public(self) -> Masking:
        """Return what is known to those who have the published table only."""
        return replace(self, original=None)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MaskedSource:
    """A table after its masking steps, and the one that published cells must cover."""

    table: pa.Table
    reference: pa.Table
    records: tuple[StepRecord, ...]


def perturbed_by(steps: Sequence[MaskingStep], quasi: Collection[str]) -> tuple[str, ...]:
    """Name the columns whose published cells need not cover the original, whether or not a step changed any of them.

    Parameters
    ----------
    steps : what is done.
    quasi : the quasi-identifiers; intervals and stars of these are read as what they cover.
    """
    named = [name for step in steps for name in step.attributes if not (step.covers and name in quasi)]
    return tuple(dict.fromkeys(named))


def earlier_steps(steps: Sequence[MaskingStep]) -> tuple[MaskingStep, ...]:
    """Return the steps that are carried out before a search."""
    return tuple(step for step in steps if not step.hides)


def later_steps(steps: Sequence[MaskingStep]) -> tuple[MaskingStep, ...]:
    """Return the steps that are carried out on what is about to be published: they hide cells, whatever these show."""
    return tuple(step for step in steps if step.hides)


def mask_source(
    table: pa.Table, steps: Sequence[MaskingStep], quasi: Collection[str], streams: Callable[[int], Stream]
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
        table, record = carry_out_step(table, step, streams(at))
        reference = replaced(reference, {name: table[name] for name in perturbed_by([step], quasi)})
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
    shown, records = undecorated(published), []
    for step in steps:
        shown, record = carry_out_step(shown, step, Stream())
        records.append(record)
    order = order_rows([column_ranks(column) for column in shown.columns], shown.num_rows)
    return shown.take(pa.array(order)), rows[order], tuple(records)
