"""Distinct combinations of codes, packed so that a function of every column's code costs a few lookups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers
from sfumato.core._kernels.grouping import COMPILED_ROWS, LARGEST_KEY, group_columns, group_keys, representative_rows
from sfumato.core._kernels.readiness import should_compile_for
from sfumato.encoding._counts import RecordReduction, count_codes, reduce_records
from sfumato.encoding.coded_table import CodedColumn, Weights

Ints: TypeAlias = npt.NDArray[np.integer]
Floats: TypeAlias = npt.NDArray[np.float64]


# Keys of many combinations, made block by block, so that they stay in the fastest memory while they are counted.

Result = TypeVar("Result")
Keys = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.unsignedinteger]
BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class CombinationKeys:
    """The keys of combinations: for every pack, its codes and what each code adds to the key.

    Parameters
    ----------
    codes : the codes of every pack.
    addends : what each of its codes adds.
    span : a number that all keys are below.
    """

    codes: Sequence[Numbers]
    addends: Sequence[Keys]
    span: int

    def count(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Sum the weights in every cell; whole numbers, so that their order does not matter."""
        from sfumato.tables.algorithms.full_domain import _kernels as kernel

        def of_part(start: int, stop: int) -> npt.NDArray[np.float64]:
            cells = np.zeros(self.span)
            for first, keys in self._blocks(start, stop):
                kernel.add_weights(keys, weights[first : first + len(keys)], cells)
            return cells

        parts = self._map_in_threads(of_part, len(weights))
        for other in parts[1:]:
            parts[0] += other
        return parts[0]

    def last_places(self, rows: int) -> npt.NDArray[np.int32]:
        """Find the last combination of every cell; anything where there is none."""
        from sfumato.tables.algorithms.full_domain import _kernels as kernel

        places = np.zeros(self.span, dtype=np.int32)
        for first, keys in self._blocks(0, rows):
            kernel.record_positions(keys, first, places)
        return places

    def all(self, rows: int) -> npt.NDArray[np.integer]:
        """Return the keys of all combinations."""
        small = self.span <= np.iinfo(np.int32).max
        keys: npt.NDArray[np.integer] = np.empty(rows, dtype=np.int32 if small else np.int64)

        def of_part(start: int, stop: int) -> None:
            for first, own in self._blocks(start, stop):
                keys[first : first + len(own)] = own

        self._map_in_threads(of_part, rows)
        return keys

    def _blocks(self, start: int, stop: int) -> Iterator[tuple[int, Keys]]:
        """Yield keys block by block, each with the place of its first; a block is gone when the next one comes."""
        from sfumato.tables.algorithms.full_domain import _kernels as kernel

        room = np.empty(min(BLOCK, stop - start), dtype=np.int64)
        for first in range(start, stop, BLOCK):
            keys = room[: min(BLOCK, stop - first)]
            keys[:] = 0
            for codes, addends in zip(self.codes, self.addends, strict=True):
                kernel.add_to_keys(codes[first : first + len(keys)], addends, keys)
            yield first, keys

    @staticmethod
    def _map_in_threads(work: Callable[[int, int], Result], rows: int) -> list[Result]:
        edges = np.linspace(0, rows, count_workers() + 1).astype(int).tolist()
        with ThreadPoolExecutor(len(edges) - 1) as pool:
            return [job.result() for job in [pool.submit(work, *edge) for edge in pairwise(edges)]]


PACKED = 4096  # combinations of codes in one pack: its lookup tables stay in the fastest cache
DENSE_SHARE = 8  # cells per combination up to which counting in a dense array pays off
DENSE_LEAST = 1 << 18
CACHE_SIZE = 1 << 23  # node numbers kept from one grouping to the next, 32 MB
MIXER = np.uint64(0x9E3779B97F4A7C15)  # an odd number that scatters neighboring keys
REDUCTION_SHARE = 0.9  # of the cases may be distinct for a reduction to pay off
Sizes: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PackedColumns:
    """Some columns as one: `codes` numbers the combinations of their codes, the first column counting most."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    codes: npt.NDArray[np.unsignedinteger]
    occurring: npt.NDArray[np.intp]

    def nodes(self, levels: Sequence[npt.NDArray[np.int32]]) -> tuple[npt.NDArray[np.int32], int]:
        """Return a number for every combination of nodes that occurs, from the node of every code of every column."""
        table = np.zeros(1, dtype=np.int32)
        for nodes, width in zip(levels, self.widths, strict=True):
            own = nodes[:width]
            table = np.add.outer(table * (int(own.max()) + 1), own).ravel()
        distinct, numbers = np.unique(table[self.occurring], return_inverse=True)
        table[self.occurring] = numbers
        return table, len(distinct)

    def unpacked(self, place: int) -> Ints:
        """Return the codes of the column at an index in the pack."""
        return np.asarray(self.codes // np.uint32(prod(self.widths[place + 1 :])) % np.uint32(self.widths[place]))


class CountedGroups:
    """Grouped combinations: the number of records of every group, and the group of each combination.

    Combinations were counted in `cells`, one for every key, many of which may be empty. The nonempty cells are found
    on demand, and so are keys that were not stored.
    """

    def __init__(self, cells: Floats, keys: Ints | CombinationKeys, combinations: int) -> None:
        self._cells, self._given, self._combinations = cells, keys, combinations

    def count_in_small_groups(self, size: int) -> int:
        """Count the records in groups that are smaller than a size."""
        return int(self._cells[self._cells < size].sum())

    @cached_property
    def _present(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self._cells > 0)

    @cached_property
    def sizes(self) -> Sizes:
        """The number of records of every group."""
        return self._cells[self._present].astype(np.int64)

    @property
    def _keys(self) -> Ints:
        return self._given.all(self._combinations) if isinstance(self._given, CombinationKeys) else self._given

    @cached_property
    def rows(self) -> npt.NDArray[np.intp]:
        """The last combination of every group."""
        if isinstance(self._given, CombinationKeys):
            return self._given.last_places(self._combinations)[self._present].astype(np.intp)
        rows = np.zeros(len(self.sizes), dtype=np.intp)
        rows[self.labels] = np.arange(len(self.labels))
        return rows

    @cached_property
    def labels(self) -> Ints:
        """The group of every combination."""
        if len(self._present) == len(self._cells):
            return self._keys
        return _number_cells(self._keys, self._present, len(self._cells))


@dataclass(frozen=True, eq=False)
class Combinations:
    """Distinct combinations of the codes of several columns, and of further columns.

    Parameters
    ----------
    ladders : for every column and each of its levels, the node of every code, with that of missing values last.
    packs : the columns, packed.
    weights : the number of records of every combination.
    along : the further columns, one code per combination.
    """

    ladders: tuple[tuple[npt.NDArray[np.int32], ...], ...]
    packs: tuple[PackedColumns, ...]
    weights: Floats
    along: tuple[CodedColumn, ...]
    _remembered: dict[tuple[int, ...], tuple[npt.NDArray[np.int32], int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.weights)

    def column(self, number: int) -> Ints:
        """Return the codes of one column."""
        pack = self._find_pack(number)
        return pack.unpacked(pack.columns.index(number))

    def group(self, levels: Sequence[int]) -> CountedGroups:
        """Group combinations that fall into the same node in every column, on one level per column."""
        if should_compile_for(len(self), COMPILED_ROWS) and (many := self._cell_keys(levels)) is not None:
            return CountedGroups(many.count(self.weights), many, len(self))
        found = [self._pack_nodes(number, pack, levels) for number, pack in enumerate(self.packs)]
        span = prod(width for _, width in found)
        if span > LARGEST_KEY:
            grouped = group_columns([nodes for nodes, _ in found], [width for _, width in found])
            return self._count(grouped.labels, len(grouped))
        keys: Ints = found[0][0].astype(np.int32 if span <= np.iinfo(np.int32).max else np.int64)
        for nodes, width in found[1:]:
            keys = keys * width + nodes
        if span > max(DENSE_LEAST, DENSE_SHARE * len(self)):
            wide = keys.astype(np.int64)
            labels = _hash_keys(wide) if len(keys) < COMPILED_ROWS else group_keys(wide).labels
            return self._count(labels)
        return self._count(keys, span)

    def histograms(self, chosen: npt.NDArray[np.intp] | slice = slice(None)) -> list[Floats]:
        """Count the codes of every column among all or some combinations."""
        result = [np.zeros(len(ladder[0])) for ladder in self.ladders]
        for pack in self.packs:
            counts = np.bincount(pack.codes[chosen], self.weights[chosen], minlength=prod(pack.widths))
            counts = counts.reshape(pack.widths)
            for place, column in enumerate(pack.columns):
                others = tuple(axis for axis in range(len(pack.columns)) if axis != place)
                result[column][: pack.widths[place]] = counts.sum(axis=others)
        return result

    def histogram(self, column: int) -> Floats:
        """Count the codes of one column."""
        width = len(self.ladders[column][0])
        return np.asarray(np.bincount(self.column(column), self.weights, minlength=width), dtype=np.float64)

    def with_codes(self, column: int, chosen: npt.NDArray[np.bool_]) -> Combinations:
        """Keep the combinations that have a chosen code in one column."""
        pack = self._find_pack(column)
        place = pack.columns.index(column)
        own = [-1 if other == place else 1 for other in range(len(pack.widths))]
        table = np.broadcast_to(chosen[: pack.widths[place]].reshape(own), pack.widths).ravel()
        rows = np.flatnonzero(table[pack.codes])
        return self._take(rows, self.weights[rows])

    def roll_up(self, counted: CountedGroups) -> Combinations:
        """Keep one combination for every group (and for every combination of the further columns in it)."""
        if self.along:
            columns = [counted.labels, *(column.codes for column in self.along)]
            widths = [len(counted.sizes), *(len(column.domain) + 1 for column in self.along)]
            grouped = group_columns(columns, widths)
            rows, weights = representative_rows(grouped), _weighted_counts(grouped.labels, self.weights)
        else:
            rows, weights = counted.rows, counted.sizes.astype(np.float64)
        return self._take(rows, weights)

    def _take(self, rows: npt.NDArray[np.intp], weights: Floats) -> Combinations:
        packs = tuple(_pack_codes(pack.columns, pack.widths, pack.codes[rows]) for pack in self.packs)
        along = tuple(column.take(rows) for column in self.along)
        return Combinations(self.ladders, packs, weights, along)

    def _find_pack(self, column: int) -> PackedColumns:
        return next(pack for pack in self.packs if column in pack.columns)

    def _count(self, keys: Ints, cells: int = 0) -> CountedGroups:
        return CountedGroups(_weighted_counts(keys, self.weights, cells), keys, len(self))

    def _cell_keys(self, levels: Sequence[int]) -> CombinationKeys | None:
        """Prepare the keys of a node without storing any; nothing if it has too many cells to count in each."""
        tables = [pack.nodes([self.ladders[j][levels[j]] for j in pack.columns]) for pack in self.packs]
        span, addends = prod(width for _, width in tables), []
        if span > max(DENSE_LEAST, DENSE_SHARE * len(self)):
            return None
        stride = span
        for table, width in tables:
            stride //= width
            addends.append(table.astype(np.int64) * stride)
        return CombinationKeys([pack.codes for pack in self.packs], addends, span)

    def _pack_nodes(self, number: int, pack: PackedColumns, levels: Sequence[int]) -> tuple[npt.NDArray[np.int32], int]:
        """Return the combined node of every combination in one pack, cached while that takes little memory."""
        own = tuple(levels[column] for column in pack.columns)
        if (number, *own) in self._remembered:
            return self._remembered[number, *own]
        table, width = pack.nodes([self.ladders[j][level] for j, level in zip(pack.columns, own, strict=True)])
        found = table[pack.codes], width
        if len(self) <= CACHE_SIZE // 64:
            while len(self._remembered) * len(self) > CACHE_SIZE:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[number, *own] = found
        return found


def combine_columns(
    columns: Sequence[CodedColumn],
    ladders: Sequence[Sequence[npt.NDArray[np.int32]]],
    along: Sequence[CodedColumn] = (),
    weights: Weights | None = None,
) -> tuple[Combinations, RecordReduction]:
    """Reduce cases to distinct combinations if that pays off; also return the reduction."""
    reduction = reduce_records([*columns, *along], weights, worthwhile=REDUCTION_SHARE)
    widths = [count_codes(column) for column in columns]
    packs = tuple(_pack_columns(columns, widths, numbers, reduction.cases) for numbers in _assign_to_packs(widths))
    riders = tuple(column.take(reduction.cases) for column in along)
    steps = tuple(tuple(ladder) for ladder in ladders)
    return Combinations(steps, packs, reduction.weights.astype(np.float64), riders), reduction


def _weighted_counts(keys: Ints, weights: Floats, cells: int = 0) -> Floats:
    return np.asarray(np.bincount(keys, weights, minlength=cells), dtype=np.float64)


def _number_cells(keys: Ints, present: Ints, span: int) -> Ints:
    number = np.zeros(span, dtype=np.int32)
    number[present] = np.arange(len(present), dtype=np.int32)
    return np.asarray(number[keys])


def _hash_keys(keys: npt.NDArray[np.int64]) -> Ints:
    """Return a number for every key, the same for equal keys: its slot in a hash table, or by sorting on collisions."""
    bits = max(4, (4 * len(keys)).bit_length())
    places = (keys.view(np.uint64) * MIXER >> np.uint64(64 - bits)).astype(np.intp)
    owners = np.empty(1 << bits, dtype=np.int64)
    owners[places] = keys
    owned = owners[places] == keys
    taken = np.zeros(1 << bits, dtype=np.bool_)
    taken[places] = True
    present = np.flatnonzero(taken)
    labels = _number_cells(places, present, 1 << bits)
    others = np.flatnonzero(~owned)
    if len(others):
        labels[others] = len(present) + np.unique(keys[others], return_inverse=True)[1]
    return labels


def _assign_to_packs(widths: Sequence[int]) -> list[list[int]]:
    """Put columns into as few packs as a simple rule finds: widest first, each into the first pack with room."""
    bins: list[list[int]] = []
    for column in sorted(range(len(widths)), key=lambda j: (-widths[j], j)):
        for numbers in bins:
            if prod(widths[j] for j in numbers) * widths[column] <= PACKED:
                numbers.append(column)
                break
        else:
            bins.append([column])
    return bins


def _pack_columns(
    columns: Sequence[CodedColumn], all_widths: Sequence[int], numbers: Sequence[int], chosen: slice | Ints
) -> PackedColumns:
    widths = tuple(all_widths[j] for j in numbers)
    codes = columns[numbers[0]].codes[chosen].astype(np.uint32)
    for j, width in zip(numbers[1:], widths[1:], strict=True):
        codes *= np.uint32(width)
        codes += columns[j].codes[chosen]
    small = prod(widths) <= np.iinfo(np.uint16).max
    return _pack_codes(tuple(numbers), widths, codes.astype(np.uint16) if small else codes)


def _pack_codes(
    columns: tuple[int, ...], widths: tuple[int, ...], codes: npt.NDArray[np.unsignedinteger]
) -> PackedColumns:
    return PackedColumns(columns, widths, codes, np.flatnonzero(np.bincount(codes, minlength=prod(widths))))
