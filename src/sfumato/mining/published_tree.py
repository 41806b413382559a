"""A decision tree as it is published: tests, and the number of training records of each class in its leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import format_values

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TreeTest:
    """A test of one column: is a number at least `cut`, or is a text `value`? A missing cell answers no.

    `public` says whether an adversary may know the column.
    """

    column: str
    public: bool
    cut: float | None = None
    value: str | None = None

    def evaluate(self, table: pa.Table) -> Flags:
        """Answer for every record."""
        column = table[self.column]
        if self.cut is not None:
            if not is_numeric(column.type):
                raise SchemaError(f"Column {self.column!r} does not contain numbers; the tree was grown on numbers.")
            held = pc.greater_equal(column.cast(pa.float64(), safe=False), self.cut)
        else:
            held = pc.equal(format_values(column), self.value)
        yes: Flags = np.asarray(held.fill_null(False))  # noqa: FBT003 - an Arrow function
        return yes

    @property
    def text(self) -> str:
        """Format the question."""
        return f"{self.column} >= {self.cut:g}" if self.cut is not None else f"{self.column} = {self.value}"

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain values."""
        said = {"at_least": self.cut} if self.cut is not None else {"equals": self.value}
        return {"column": self.column, "public": self.public, **said}


@dataclass(frozen=True, repr=False)
class Leaf:
    """Where a path ends: the number of training records of each class."""

    counts: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class InnerNode:
    """A question, and what follows each answer."""

    question: TreeTest
    yes: InnerNode | Leaf
    no: InnerNode | Leaf


Path = tuple[tuple[TreeTest, bool], ...]


@dataclass(frozen=True, repr=False)
class PublishedTree:
    """A decision tree that can be published: it contains nothing else about the training records.

    `smallest_span` is the number of training records that an adversary can narrow a person down to at best.
    """

    target: str
    classes: tuple[str, ...]
    root: InnerNode | Leaf
    k: int
    smallest_span: int

    def leaves(self) -> Iterator[tuple[Path, Leaf]]:
        """Yield every leaf with the questions and answers that lead to it."""
        waiting: list[tuple[Path, InnerNode | Leaf]] = [((), self.root)]
        while waiting:
            path, node = waiting.pop()
            if isinstance(node, Leaf):
                yield path, node
            else:
                waiting.append(((*path, (node.question, False)), node.no))
                waiting.append(((*path, (node.question, True)), node.yes))

    def predict(self, data: Frame) -> list[str]:
        """Return the most frequent class of the leaf of every record, as text; among equals the first."""
        table = to_arrow(data)[0]
        found = np.zeros(table.num_rows, dtype=np.int64)
        for path, leaf in self.leaves():
            found[rows_reaching(path, table)] = int(np.argmax(leaf.counts))
        return [self.classes[code] for code in found.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain values: this is what is published."""
        return {"target": self.target, "classes": list(self.classes), "k": self.k, "tree": _node_to_dict(self.root)}

    def describe(self) -> str:
        """Format the tree as indented lines, with the class counts of its leaves."""
        return "\n".join(_lines(self.root, self.classes, ""))

    def __repr__(self) -> str:
        count = sum(1 for _ in self.leaves())
        return f"<PublishedTree: {count} leaves, smallest span {self.smallest_span:,} records (k = {self.k})>"


def rows_reaching(path: Path, table: pa.Table, *, public_only: bool = False) -> Flags:
    """Return which records follow a path; by public questions alone, which records may follow it."""
    inside = np.ones(table.num_rows, dtype=np.bool_)
    for question, answer in path:
        if question.public or not public_only:
            inside &= question.evaluate(table) == answer
    return inside


def is_numeric(type_: pa.DataType) -> bool:
    """Return whether a column can be cut by numbers."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_))


def _node_to_dict(node: InnerNode | Leaf) -> Mapping[str, object]:
    if isinstance(node, Leaf):
        return {"counts": list(node.counts)}
    return {"question": node.question.to_dict(), "yes": _node_to_dict(node.yes), "no": _node_to_dict(node.no)}


def _lines(node: InnerNode | Leaf, classes: tuple[str, ...], indent: str) -> Iterator[str]:
    if isinstance(node, Leaf):
        shown = ", ".join(f"{name} {count}" for name, count in zip(classes, node.counts, strict=True) if count)
        yield f"{indent}{shown or 'nobody'}"
        return
    yield f"{indent}{node.question.text}?"
    yield f"{indent}  yes:"
    yield from _lines(node.yes, classes, indent + "    ")
    yield f"{indent}  no:"
    yield from _lines(node.no, classes, indent + "    ")


# Check a published tree against its training records: no span may contain only a few of them.


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
