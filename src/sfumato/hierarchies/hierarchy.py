"""The hierarchy: one array of node numbers per level of generalization."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import suggest_closest
from sfumato.errors import HierarchyError, RecipeError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


ROOT = "*"

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """Levels of generalization over leaves, ordered so that every node covers a contiguous run of leaves.

    Parameters
    ----------
    leaves : the values, in leaf order. Sorted numbers or dates for intervals, canonical texts otherwise.
    levels : `levels[h][leaf]` is the node above a leaf at level h. It never decreases from leaf to leaf;
        `levels[0]` numbers the leaves and the last level has one node, the root.
    labels : `labels[h][node]` is the published text of a node. The text of the root is `*`.
        A text never stands for two different sets of leaves, not even on different levels.

    Examples
    --------
    >>> leaves = ["flu", "ulcer", "cold"]
    >>> tree = Hierarchy.from_levels(leaves, [leaves, ["lung", "gut", "lung"]])
    >>> tree.leaves, tree.labels[1]
    (('flu', 'cold', 'ulcer'), ('lung', 'gut'))
    >>> tree.levels[1]
    array([0, 0, 1], dtype=int32)
    """

    leaves: tuple[object, ...]
    levels: tuple[Nodes, ...]
    labels: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} leaves, height {self.height})"

    @property
    def height(self) -> int:
        """The number of steps from a leaf to the root."""
        return len(self.levels) - 1

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row per leaf: its text, its nodes from narrow to wide, and the root."""
        columns = [
            [labels[at] for at in nodes.tolist()] for nodes, labels in zip(self.levels, self.labels, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def to_csv(self) -> str:
        r"""Write one line per leaf, `leaf;level1;...;*`, as `Taxonomy.read_csv` and ARX read them.

        >>> Hierarchy.from_levels(["a", "b"], [["a", "b"], ["x", "y"]]).to_csv()
        'a;x;*\nb;y;*\n'
        """
        sink = io.StringIO()
        csv.writer(sink, delimiter=";", lineterminator="\n").writerows(self.rows())
        return sink.getvalue()

    def leaf_counts(self, level: int) -> npt.NDArray[np.int64]:
        """Count the leaves under each node of a level."""
        return np.bincount(self.levels[level], minlength=len(self.labels[level])).astype(np.int64)

    def lca(self, low: npt.NDArray[np.integer], high: npt.NDArray[np.integer]) -> tuple[Nodes, Nodes]:
        """Find the lowest node above each pair of leaf codes, as its level and its index on that level.

        Nodes are runs of leaves, so the lowest node above the smallest and the largest code of a set
        is the lowest node above the whole set.
        """
        low, high = np.atleast_1d(low), np.atleast_1d(high)
        level = np.zeros(np.broadcast_shapes(low.shape, high.shape), dtype=np.int32)
        for nodes in self.levels[:-1]:
            level += nodes[low] != nodes[high]
        found = np.empty_like(level)
        for number, nodes in enumerate(self.levels):
            here = level == number
            found[here] = nodes[np.broadcast_to(low, level.shape)[here]]
        return level, found

    def leaf_share(self, level: npt.NDArray[np.integer], node: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """Return the share of all leaves under each of the given nodes."""
        level, node = np.atleast_1d(level), np.atleast_1d(node)
        shares = np.empty(level.shape, dtype=np.float64)
        for number in range(len(self.levels)):
            here = level == number
            shares[here] = self.leaf_counts(number)[node[here]] / max(len(self.leaves), 1)
        return shares

    @classmethod
    def from_levels(
        cls, leaves: Sequence[object], columns: Sequence[Sequence[str] | pa.Array], *, ordered: bool = False
    ) -> Hierarchy:
        """Build a hierarchy from the label of every leaf on every level, and check it.

        Parameters
        ----------
        leaves : the values that become leaves.
        columns : for every level, from the leaves' own texts upward, one label per leaf. A root is added
            when the last level has several nodes; a last level of one node is the root and is renamed `*`.
        ordered : keep the order of the leaves and refuse nodes that are not contiguous. Otherwise leaves are
            sorted next to their siblings, nodes in the order in which they first appear.

        Raises
        ------
        HierarchyError
            If leaves repeat, a level is not a function of the one below, or a label is ambiguous or empty.
        """
        levels = [_encode_level(column) for column in columns]
        if len(levels[0].labels) < len(leaves):
            repeated = len(leaves) - len(levels[0].labels)
            raise HierarchyError(f"The hierarchy repeats {repeated} of its {len(leaves)} leaves; list each leaf once.")
        levels = _add_root(levels)
        for height in range(1, len(levels)):
            _check_function(height, levels[height - 1], levels[height])
        if not ordered:
            order = np.lexsort([level.codes for level in levels])
            leaves = [leaves[i] for i in order.tolist()]
            levels = [_Level(level.codes[order], level.labels) for level in levels]
        runs = [_sort_into_runs(height, level) for height, level in enumerate(levels)]
        _check_labels(runs, len(leaves))
        for level in runs:
            level.codes.flags.writeable = False
        return cls(tuple(leaves), tuple(level.codes for level in runs), tuple(level.labels for level in runs))


class _Level(NamedTuple):
    codes: Nodes
    labels: tuple[str, ...]


def _encode_level(column: Sequence[str] | pa.Array) -> _Level:
    labels = column if isinstance(column, pa.Array) else pa.array(column, pa.string())
    encoded = labels.dictionary_encode()
    codes = np.array(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int32)
    return _Level(codes, tuple(encoded.dictionary.to_pylist()))


def _add_root(levels: list[_Level]) -> list[_Level]:
    root = _Level(np.zeros_like(levels[0].codes), (ROOT,))
    below = levels if len(levels) == 1 or len(levels[-1].labels) > 1 else levels[:-1]
    return [*below, root]


def _check_function(height: int, below: _Level, above: _Level) -> None:
    parent = np.zeros(len(below.labels), dtype=np.int32)
    parent[below.codes] = above.codes
    torn = np.unique(below.codes[parent[below.codes] != above.codes]).size
    if torn:
        raise HierarchyError(
            f"Level {height} of the hierarchy is not a function of level {height - 1}: {torn} of "
            f"{len(below.labels)} nodes have several parents; give each node one parent."
        )


def _sort_into_runs(height: int, level: _Level) -> _Level:
    starts = _run_starts(level.codes)
    if starts.size > len(level.labels):
        torn = starts.size - len(level.labels)
        raise HierarchyError(
            f"Level {height} of the hierarchy breaks the order of its leaves {torn} times; "
            "list the leaves of each group next to each other."
        )
    nodes = np.zeros(level.codes.size, dtype=np.int32)
    nodes[starts[1:]] = 1
    labels = tuple(level.labels[code] for code in level.codes[starts].tolist())
    return _Level(np.cumsum(nodes, dtype=np.int32), labels or level.labels)


def _run_starts(codes: Nodes) -> npt.NDArray[np.intp]:
    return np.flatnonzero(np.diff(codes, prepend=codes[:1] - 1))


def _check_labels(levels: list[_Level], leaves: int) -> None:
    for height, level in enumerate(levels[1:], start=1):
        if "" in level.labels and "" not in levels[0].labels:
            raise HierarchyError(f"Level {height} of the hierarchy has a node without a label; name it.")
    starts = np.concatenate([_run_starts(level.codes) for level in levels])
    stops = np.concatenate([np.append(_run_starts(level.codes)[1:], leaves) for level in levels if leaves] or [starts])
    texts = pa.array([text for level in levels for text in level.labels if leaves], pa.string())
    encoded = texts.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    first = np.zeros(len(encoded.dictionary), dtype=np.intp)
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    unlike = (starts != starts[first[codes]]) | (stops != stops[first[codes]])
    ambiguous = np.unique(codes[unlike]).size
    if ambiguous:
        raise HierarchyError(
            f"The hierarchy has {ambiguous} labels that stand for different sets of leaves; "
            f"give each set its own label, and keep {ROOT!r} for the root."
        )


# What every hierarchy builder can do.


class HierarchyBuilder(Protocol):
    """Settings that turn the distinct values of a column into a hierarchy.

    `kind` is its name in recipes; `scale` is how the values of such a column relate to each other.
    """

    kind: ClassVar[str]
    scale: ClassVar[str]

    def build(self, values: pa.Array) -> Hierarchy:
        """Build the hierarchy over the distinct, nonmissing values of a column."""

    def find_uncovered(self, values: pa.Array) -> pa.Array:
        """Return the texts of those distinct, nonmissing values that have nothing above them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain numbers, strings, lists and dictionaries."""

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Self:
        """Rebuild a builder from the settings returned by `to_dict`."""


def check_settings(kind: str, settings: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse settings that a builder does not have."""
    for name in settings:
        if name != "kind" and name not in known:
            hint = suggest_closest(name, known) or f"; it has {', '.join(sorted(known))}."
            raise RecipeError(f"A hierarchy of kind {kind!r} has no setting {name!r}{hint}")
