"""Check a published tree against its training records: no span may contain only a few of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.exceptions import SchemaError
from sfumato.mining.trees import Flags, Ints, PublishedTree, rows_reaching
from sfumato.table.frames import Frame, to_arrow
from sfumato.table.values import format_values


@dataclass(frozen=True, eq=False, repr=False)
class TreeAudit:
    """The number of training records in each span, and of leaves whose counts differ from those of the records.

    A span is the set of leaves that a person may be in, to an adversary who knows her public columns.
    """

    sizes: Ints
    k: int
    false_leaves: int

    @property
    def holds(self) -> bool:
        """Whether every span contains at least k records, and every leaf is true."""
        return int(self.sizes.min()) >= self.k and self.false_leaves == 0

    def __repr__(self) -> str:
        said = "holds" if self.holds else "DOES NOT HOLD"
        smallest = int(self.sizes.min())
        return f"<TreeAudit: {said}, {len(self.sizes):,} spans, the smallest of {smallest:,} records (k = {self.k})>"


def audit_tree(tree: PublishedTree, data: Frame) -> TreeAudit:
    """Find the span of every training record from the tree alone, and count.

    Parameters
    ----------
    tree : the published tree.
    data : the training records (pandas, Polars or Arrow).
    """
    table = to_arrow(data)[0]
    if table.num_rows == 0:
        raise SchemaError("There are no training records to check the tree against.")
    names = {question.column for path, _ in tree.leaves() for question, _ in path} | {tree.target}
    missing = sorted(names - set(table.column_names))
    if missing:
        raise SchemaError(f"The training records have no column {missing[0]!r}, which the tree uses.")
    paths = [path for path, _ in tree.leaves()]
    possible = np.column_stack([rows_reaching(path, table, public_only=True) for path in paths])
    _, sizes = np.unique(possible, axis=0, return_counts=True)
    false = sum(
        _span_class_counts(tree, table, rows_reaching(path, table)) != leaf.counts for path, leaf in tree.leaves()
    )
    return TreeAudit(sizes.astype(np.int64), tree.k, false)


def _span_class_counts(tree: PublishedTree, table: pa.Table, inside: Flags) -> tuple[int, ...]:
    shown = np.array(format_values(table[tree.target]).to_pylist(), dtype=object)[inside]
    return tuple(int((shown == name).sum()) for name in tree.classes)
