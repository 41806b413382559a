"""Baskets that were taken apart: clusters, the parts of their baskets in chunks of items, and terms without counts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from sfumato._randomness import KeyedRandom
from sfumato.errors import SchemaError, WriteError
from sfumato.io._values import encode_distinct
from sfumato.transactions._published import Pair, PublishedTransactions
from sfumato.transactions.io import read_csv
from sfumato.transactions.transactions import Transactions

# Take baskets apart: clusters of baskets, chunks of items, and chunks that several clusters share.


# Take baskets apart: clusters of baskets, chunks of items, and chunks that several clusters share.
TERM = 0

if TYPE_CHECKING:
    from sfumato.transactions.transactions import Transactions

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


# Disassociated baskets as three long tables, and back: what a receiver sees is all that is read.


# Disassociated baskets as three long tables, and back: what a receiver sees is all that is read.


def disassociated_to_tables(published: DisassociatedTransactions) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Return parts, terms and clusters; all numbers begin with 1."""
    names = pa.array(published.items, pa.string())
    part = published.subrecord_of_code
    chunk = published.chunk_of_subrecord[part]
    owner = published.chunk_owner
    first_chunk = np.searchsorted(owner, owner)
    parts = pa.table(
        {
            "cluster": owner[chunk] + 1,
            "chunk": (np.arange(len(owner)) - first_chunk)[chunk] + 1,
            "part": part - published.chunk_begins[chunk] + 1,
            "item": names.take(pa.array(published.codes)),
        }
    )
    holders = np.repeat(np.arange(len(published.sizes)), np.diff(published.term_begins))
    terms = pa.table({"cluster": holders + 1, "item": names.take(pa.array(published.terms))})
    above = published.above
    clusters = pa.table(
        {
            "cluster": np.arange(len(above)) + 1,
            "baskets": published.cluster_sizes,
            "within": pa.array(above + 1, mask=above < 0),
        }
    )
    return parts, terms, clusters


def disassociated_from_tables(parts: pa.Table, terms: pa.Table, clusters: pa.Table) -> dict[str, Any]:
    """Read the fields of disassociated baskets; refuse tables that contradict each other."""
    if any(column.null_count for table in (parts, terms) for column in table.columns):
        raise SchemaError("The tables of parts and terms must have no missing cells.")
    place, sizes, above = _clusters(clusters)
    owner = _cluster_positions(parts["cluster"], place)
    term_owner = _cluster_positions(terms["cluster"], place)
    if (term_owner >= len(sizes)).any():
        raise SchemaError("A joint cluster has terms; only clusters have terms.")
    codes, term_codes, items = _encode_items(parts["item"], terms["item"])
    width = max(len(items), 1)
    keys, first, chunk = np.unique(_pair_keys(owner, parts["chunk"]), return_index=True, return_inverse=True)
    part_keys, part = np.unique(_pair_keys(chunk, parts["part"]), return_inverse=True)
    held, held_terms = np.unique(part * width + codes), np.unique(term_owner * width + term_codes)
    if len(held) < len(codes) or len(held_terms) < len(term_codes):
        raise SchemaError("An item stands twice in one part, or twice among the terms of one cluster.")
    of_chunk = np.empty(len(part_keys), dtype=np.int64)
    of_chunk[part] = chunk
    made = {
        "items": items,
        "sizes": sizes,
        "above": above,
        "chunk_owner": owner[first],
        "chunk_begins": group_offsets(of_chunk, len(keys)),
        "part_begins": group_offsets(held // width, len(part_keys)),
        "codes": held % width,
        "term_begins": group_offsets(held_terms // width, len(sizes)),
        "terms": held_terms % width,
    }
    _check_overlaps(made, np.unique(chunk * width + codes), width)
    return made


def _clusters(clusters: pa.Table) -> tuple[dict[int, int], Ints, Ints]:
    """Return the place of every number of a cluster, the sizes of clusters, and the joint cluster of each."""
    numbers = clusters["cluster"].to_pylist()
    baskets = clusters["baskets"].to_pylist()
    within = clusters["within"].to_pylist()
    if len(set(numbers)) < len(numbers) or None in numbers or not numbers:
        raise SchemaError("The table of clusters must list every cluster once.")
    if any(size is None or size < 1 for size in baskets):
        raise SchemaError("Every cluster must have at least one basket.")
    joint = {each for each in within if each is not None}
    if not joint <= set(numbers):
        raise SchemaError("A cluster is within a joint cluster that the table of clusters does not list.")
    rank = sorted(range(len(numbers)), key=lambda at: (numbers[at] in joint, numbers[at]))
    place = {numbers[at]: new for new, at in enumerate(rank)}
    above = np.array([-1 if within[at] is None else place[within[at]] for at in rank], dtype=np.int64)
    plain = len(numbers) - len(joint)
    told = np.array([baskets[at] for at in rank], dtype=np.int64)
    if not np.array_equal(joint_cluster_sizes(told[:plain], above), told):
        raise SchemaError("A joint cluster does not have the baskets of its clusters, or is within itself.")
    return place, told[:plain], above


def _check_overlaps(made: dict[str, Any], held: Ints, width: int) -> None:
    """Refuse chunks with more parts than their cluster has baskets, and items that stand twice in a cluster."""
    sizes, above, owner = made["sizes"], made["above"], made["chunk_owner"]
    baskets = joint_cluster_sizes(sizes, above)
    if (np.diff(made["chunk_begins"]) > baskets[owner]).any():
        raise SchemaError("A chunk has more parts than its cluster has baskets.")
    first, last = _spans(len(sizes), above)
    term_owner = np.repeat(np.arange(len(sizes)), np.diff(made["term_begins"]))
    node = np.concatenate([owner[held // width], term_owner])
    item = np.concatenate([held % width, made["terms"]])
    order = np.lexsort((first[node], item))
    item, node = item[order], node[order]
    again = (item[1:] == item[:-1]) & (first[node[1:]] <= last[node[:-1]])
    if again.any():
        raise SchemaError("An item stands in two chunks of one cluster, or in a chunk and among its terms.")


def _spans(plain: int, above: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last cluster of every node, clusters being put in an order where nodes are runs."""
    paths = [np.arange(plain)]
    while (paths[-1] >= 0).any():
        paths.append(np.where(paths[-1] >= 0, above[paths[-1]], -1))
    depth = np.sum([path >= 0 for path in paths], axis=0)
    from_root = np.full((len(paths), plain), -1, dtype=np.int64)
    for at, path in enumerate(paths):
        inside = path >= 0
        from_root[(depth - 1 - at)[inside], np.flatnonzero(inside)] = path[inside]
    order = np.lexsort(from_root[::-1])
    rank = np.empty(plain, dtype=np.int64)
    rank[order] = np.arange(plain)
    first, last = np.full(len(above), plain, dtype=np.int64), np.full(len(above), -1, dtype=np.int64)
    for path in paths:
        inside = path >= 0
        np.minimum.at(first, path[inside], rank[inside])
        np.maximum.at(last, path[inside], rank[inside])
    return first, last


def _cluster_positions(column: pa.ChunkedArray, place: dict[int, int]) -> Ints:
    """Return the places of numbers of clusters."""
    distinct, codes = np.unique(_integers(column), return_inverse=True)
    found = np.array([place.get(number, -1) for number in distinct.tolist()], dtype=np.int64)
    if (found < 0).any():
        raise SchemaError("The table of clusters does not list all clusters that have parts or terms.")
    return found[codes]


def _encode_items(parts: pa.ChunkedArray, terms: pa.ChunkedArray) -> tuple[Ints, Ints, tuple[str, ...]]:
    """Return the codes of items in the order of their names, and the names."""
    distinct, found = encode_distinct(pa.chunked_array([*parts.chunks, *terms.chunks], pa.string()))
    names = distinct.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    codes = rank[np.asarray(found, dtype=np.int64)]
    return codes[: len(parts)], codes[len(parts) :], tuple(names[at] for at in order)


def _pair_keys(first: Ints, column: pa.ChunkedArray) -> Ints:
    """Return one key for each pair of numbers, whatever they are, in their order."""
    distinct, second = np.unique(_integers(column), return_inverse=True)
    return np.asarray(first * max(len(distinct), 1) + second)


def _integers(column: pa.ChunkedArray) -> Ints:
    return np.asarray(column.to_numpy(), dtype=np.int64)


# Disassociated baskets in files: parts, terms and clusters.

TABLES = {
    "parts": {"cluster": pa.int64(), "chunk": pa.int64(), "part": pa.int64(), "item": pa.string()},
    "terms": {"cluster": pa.int64(), "item": pa.string()},
    "clusters": {"cluster": pa.int64(), "baskets": pa.int64(), "within": pa.int64()},
}
DESCRIPTIONS = {
    "parts": "the items of every part, by cluster and chunk; numbers of parts join nothing across chunks",
    "terms": "the items of every cluster of which it is not told how many of its baskets have them",
    "clusters": "the number of baskets of every cluster, and the joint cluster it is in",
}
FORMATS = ("csv", "parquet")
FILES = {f"{name}.{form}": holds for name, holds in DESCRIPTIONS.items() for form in FORMATS}


def write_disassociated(tables: Sequence[pa.Table], folder: Path, table_format: str) -> None:
    """Write the three tables."""
    if table_format not in FORMATS:
        raise WriteError(f"Disassociated baskets are not written as {table_format!r}; choose csv or parquet.")
    for name, table in zip(TABLES, tables, strict=True):
        path = folder / f"{name}.{table_format}"
        if table_format == "csv":
            pa_csv.write_csv(table, path)
        else:
            pq.write_table(table, path)


def read_disassociated(folder: Path) -> tuple[pa.Table, pa.Table, pa.Table] | None:
    """Read the three tables; None if there are none."""
    for form in FORMATS:
        paths = [folder / f"{name}.{form}" for name in TABLES]
        if all(path.is_file() for path in paths):
            parts, terms, clusters = (
                _read_table(path, types) for path, types in zip(paths, TABLES.values(), strict=True)
            )
            return parts, terms, clusters
    return None


def _read_table(path: Path, types: dict[str, pa.DataType]) -> pa.Table:
    try:
        table = read_csv(path, types) if path.suffix == ".csv" else pq.read_table(path)
        return table.select(list(types)).cast(pa.schema(types))
    except (KeyError, pa.ArrowException):
        raise SchemaError(
            f"{path.name} does not have the columns {', '.join(types)} of disassociated baskets."
        ) from None


PAIR = 2


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DisassociatedTransactions(PublishedTransactions):
    """Clusters of baskets whose items were parted.

    The items of a cluster stand in chunks, and as terms. A chunk lists the part of every basket that has some of its
    items; parts of different chunks cannot be put together. Of a term only its cluster is known. A joint cluster is a
    cluster of clusters, with chunks that all of them share. Clusters come first, joint clusters after them.

    Parameters
    ----------
    items : the names of the items, sorted.
    sizes : the number of baskets of every cluster.
    above : the joint cluster that each cluster, and each joint cluster, is in; -1 for none.
    chunk_owner : the cluster or joint cluster of every chunk, ascending.
    chunk_begins : where each chunk begins among the parts, and the end of the last.
    part_begins : where each part begins in `codes`, and the end of the last.
    codes : the items of all parts, ascending in each.
    term_begins : where the terms of each cluster begin in `terms`, and the end of the last.
    terms : the terms of all clusters, ascending in each.
    """

    files: ClassVar[Mapping[str, str]] = FILES

    items: tuple[str, ...]
    sizes: Ints
    above: Ints
    chunk_owner: Ints
    chunk_begins: Ints
    part_begins: Ints
    codes: Ints
    term_begins: Ints
    terms: Ints

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    @classmethod
    def from_positions(cls, places: ChunkAssignment, stream: KeyedRandom) -> DisassociatedTransactions:
        """Publish where occurrences stand; clusters, and the parts of each chunk, are shuffled."""
        baskets, plain = places.baskets, len(places.sizes)
        joint = len(places.above) - plain
        number = np.concatenate([stream.permutation(plain), plain + stream.permutation(joint)])
        sizes, above = np.empty(plain, dtype=np.int64), np.full(plain + joint, -1, dtype=np.int64)
        sizes[number[:plain]] = places.sizes
        old_above = np.array(places.above, dtype=np.int64)
        above[number] = np.where(old_above >= 0, number[old_above], -1)
        inside = places.chunk > TERM
        most = int(places.chunk.max(initial=0)) + 1
        keys, chunk = np.unique(number[places.owner[inside]] * most + places.chunk[inside], return_inverse=True)
        parts, part = np.unique(chunk * len(baskets) + baskets.rows[inside], return_inverse=True)
        of_chunk = parts // len(baskets)
        place = np.empty(len(parts), dtype=np.int64)
        place[np.lexsort((stream.random_uint64(len(parts)), of_chunk))] = np.arange(len(parts))
        width = len(baskets.items)
        held = np.sort(place[part] * width + baskets.codes[inside])
        of_term = number[places.cluster_of[baskets.rows[~inside]]]
        terms: Ints = np.unique(of_term * width + baskets.codes[~inside].astype(np.int64))
        return cls(
            items=baskets.items,
            sizes=sizes,
            above=above,
            chunk_owner=keys // most,
            chunk_begins=group_offsets(of_chunk, len(keys)),
            part_begins=group_offsets(held // width, len(parts)),
            codes=held % width,
            term_begins=group_offsets(terms // width, plain),
            terms=terms % width,
        )

    @classmethod
    def from_tables(cls, parts: pa.Table, terms: pa.Table, clusters: pa.Table) -> DisassociatedTransactions:
        """Make a disassociated release of its three tables, as they are published."""
        return cls(**disassociated_from_tables(parts, terms, clusters))

    def to_tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """Return what is published: parts, terms and clusters."""
        return disassociated_to_tables(self)

    @classmethod
    def read_files(cls, folder: Path) -> DisassociatedTransactions | None:
        """Read the three tables back; None if the folder holds another form."""
        tables = read_disassociated(folder)
        return None if tables is None else cls.from_tables(*tables)

    def write_files(self, folder: Path, table_format: str) -> None:
        """Write the three tables, as `"csv"` or `"parquet"`."""
        write_disassociated(self.to_tables(), folder, table_format)

    def ordered(self) -> DisassociatedTransactions:
        """Return the same; its order was drawn."""
        return self

    def __repr__(self) -> str:
        joint = f", {len(self.above) - len(self.sizes):,} joint clusters" if len(self.above) > len(self.sizes) else ""
        told = f"{len(self):,} baskets in {len(self.sizes):,} clusters{joint}"
        return f"<DisassociatedTransactions: {told}, {len(self.part_begins) - 1:,} parts, {len(self.terms):,} terms>"

    def __len__(self) -> int:
        return int(self.sizes.sum())

    def __eq__(self, other: object) -> bool:
        """Whether the same parts stand in the same chunks, in the same order."""
        return isinstance(other, DisassociatedTransactions) and self.digest == other.digest

    @property
    def digest(self) -> str:
        """A digest of all that is published."""
        sha = hashlib.sha256("\n".join(self.items).encode())
        for each in (self.sizes, self.above, self.chunk_owner, self.chunk_begins, self.part_begins, self.codes):
            sha.update(np.ascontiguousarray(each, dtype=np.int64).tobytes() + b"|")
        for each in (self.term_begins, self.terms):
            sha.update(np.ascontiguousarray(each, dtype=np.int64).tobytes() + b"|")
        return sha.hexdigest()

    @cached_property
    def cluster_sizes(self) -> Ints:
        """The number of baskets of every cluster and joint cluster."""
        return joint_cluster_sizes(self.sizes, self.above)

    @property
    def chunk_of_subrecord(self) -> Ints:
        """The chunk of every part."""
        return np.repeat(np.arange(len(self.chunk_owner)), np.diff(self.chunk_begins))

    @property
    def subrecord_of_code(self) -> Ints:
        """The part of every entry of `codes`."""
        return np.repeat(np.arange(len(self.part_begins) - 1), np.diff(self.part_begins))

    @cached_property
    def supports(self) -> tuple[Ints, Ints, Ints]:
        """The chunk, the item and the number of parts with it, for every item of every chunk."""
        chunk = self.chunk_of_subrecord[self.subrecord_of_code]
        keys, counts = np.unique(chunk * len(self.items) + self.codes, return_counts=True)
        return keys // len(self.items), keys % len(self.items), counts

    @cached_property
    def item_positions(self) -> tuple[tuple[Ints, ...], Ints]:
        """Positions of every item and the parts there, as the kernels of reconstruction read them."""
        from sfumato.transactions._chunk_supports import item_positions

        return item_positions(self)

    def to_lists(self) -> list[list[str]]:
        """Return the items of every part, chunk by chunk; terms stand alone at the end."""
        names = pa.array(self.items, pa.string())
        parts = pa.LargeListArray.from_arrays(pa.array(self.part_begins), names.take(pa.array(self.codes)))
        found: list[list[str]] = parts.to_pylist()
        return found + [[self.items[code]] for code in self.terms.tolist()]

    def spare_subrecords(self) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
        """Return for every cluster: own parts beyond one for each basket, own chunks, and whether it has terms."""
        plain = len(self.sizes)
        own = self.chunk_owner < plain
        counts = np.bincount(self.chunk_owner[own], np.diff(self.chunk_begins)[own], minlength=plain).astype(np.int64)
        chunks = np.bincount(self.chunk_owner[own], minlength=plain)
        return counts - self.sizes, chunks, np.diff(self.term_begins) > 0

    def count_rare_itemsets(self, k: int, m: int) -> tuple[int, int]:
        """Judge the three conditions of k^m-anonymity for disassociated baskets.

        Every cluster has at least k baskets; every set of at most m items that a part of a chunk has is in at least k
        of its parts; and a cluster without terms has so many parts that no combination of parts is forced to be rare.
        Sets and clusters that break one are counted.
        """
        from sfumato.transactions._itemsets import ItemsetCounter

        keys, local = np.unique(
            self.chunk_of_subrecord[self.subrecord_of_code] * len(self.items) + self.codes, return_inverse=True
        )
        sets = ItemsetCounter(local.astype(np.int32), self.part_begins, len(keys))
        found = [sets.count(size, k) for size in range(1, m + 1)] if len(keys) else []
        e, chunks, has_terms = self.spare_subrecords()
        forced = np.where(e < 0, 0, max_forced_k(e, chunks, m))[~has_terms]
        level = min([int(self.sizes.min(initial=len(self))), int(forced.min(initial=len(self)))])
        level = min([level, *(each.fewest for each in found if each.sets)])
        broken = int((self.sizes < k).sum() + (requires_term_chunk(e, chunks, k, m) & ~has_terms).sum())
        return level, broken + sum(each.violations for each in found)

    def summary(self) -> Mapping[str, float]:
        """Count what is published, and tell how rare two items of different chunks may be together."""
        return {
            "baskets": len(self),
            "clusters": len(self.sizes),
            "joint clusters": len(self.above) - len(self.sizes),
            "parts": len(self.part_begins) - 1,
            "terms": len(self.terms),
            "fewest expected matches of two items in chunks": float(f"{self.min_expected_support():.4g}"),
        }

    def min_expected_support(self) -> float:
        """Return how many baskets hold two items of different chunks of a cluster, if chunks are independent, at least.

        The promise is about what is possible; this is what is likely. Without two chunks it is the number of baskets.
        """
        chunk, _, counts = self.supports
        rarest = np.full(len(self.chunk_owner), len(self), dtype=np.float64)
        np.minimum.at(rarest, chunk, counts)
        order = np.lexsort((rarest, self.chunk_owner))
        owner, rarest = self.chunk_owner[order], rarest[order]
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
        first, second = np.full((PAIR, len(self.above)), np.inf)
        first[owner[rank == 0]], second[owner[rank == 1]] = rarest[rank == 0], rarest[rank == 1]
        fewest = [first * second / self.cluster_sizes, np.array([len(self)])]
        node = self.above
        while (node >= 0).any():
            fewest.append((first * first[node] / self.cluster_sizes[node])[node >= 0])
            node = np.where(node >= 0, self.above[node], -1)
        return float(np.concatenate(fewest).min())

    def information_loss(self, original: Transactions) -> Mapping[str, float]:
        """Measure what stands as terms, what was taken apart, and what chunks alone tell."""
        from sfumato.transactions._chunk_supports import disassociation_loss

        return disassociation_loss(self, original)

    def pair_supports(self, pairs: Sequence[Pair]) -> Floats:
        """Estimate how many baskets hold both items of each pair, chunks being independent."""
        from sfumato.transactions._chunk_supports import expected_pair_supports

        return expected_pair_supports(self, pairs)

    def top_pairs(self, count: int) -> list[Pair]:
        """Return the pairs that most baskets hold if chunks are independent, ties by name."""
        from sfumato.transactions._chunk_supports import most_expected_pairs

        return most_expected_pairs(self, count)

    def match_counts(self, known: Sequence[Sequence[str]]) -> Ints:
        """Count the baskets that may hold known items: in every cluster, the parts of the chunk where fewest fit."""
        from sfumato.transactions.reconstruction import estimate_supports

        return estimate_supports(self, known)[1]

    def match_details(self, known: Sequence[Sequence[str]]) -> Mapping[str, float]:
        """Return how many baskets are expected to hold known items if chunks are independent, and how often below 1."""
        from sfumato.transactions.reconstruction import estimate_supports

        expected = estimate_supports(self, known)[2]
        return {"mean_expected": float(expected.mean()), "expected_below_1": float((expected < 1).mean())}


@dataclass(eq=False, kw_only=True)
class ChunkAssignment:
    """Where every occurrence of baskets stands.

    Parameters
    ----------
    baskets : the baskets that are taken apart.
    rows : the baskets of all clusters, one cluster after the other.
    begins : where each cluster begins in `rows`, and the end of the last.
    chunk : the chunk of every occurrence in its owner, from 1; 0 for a term.
    owner : who owns that chunk: a cluster or, numbered behind them, a joint cluster.
    above : the joint cluster that each cluster and joint cluster is in, -1 for none.
    """

    baskets: Transactions
    rows: Ints
    begins: Ints
    chunk: Ints
    owner: Ints
    above: list[int]

    @property
    def sizes(self) -> Ints:
        """The number of baskets of every cluster."""
        return np.diff(self.begins)

    @property
    def cluster_of(self) -> Ints:
        """The cluster of every basket."""
        found = np.empty(len(self.rows), dtype=np.int64)
        found[self.rows] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return found


def requires_term_chunk(e: Ints, chunks: Ints, k: int, m: int) -> npt.NDArray[np.bool_]:
    """Return which clusters break condition 3 if they have no terms: baskets must not be empty, so parts are forced.

    `e` is the number of parts beyond one for each basket. With j chunks, up to e // (j - 1) baskets can have j parts;
    for no j of at most m that may be at least 1, but below k. Fewer parts than baskets is impossible without terms.

    >>> requires_term_chunk(np.array([1, 0, 2, -1]), np.array([2, 2, 2, 2]), 2, 2).tolist()
    [True, False, False, True]
    """
    return np.asarray((e < 0) | (max_forced_k(e, chunks, m) < k))


def max_forced_k(e: Ints, chunks: Ints, m: int) -> Ints:
    """Return the largest k that condition 3 allows a cluster without terms."""
    j = np.minimum(np.minimum(chunks, m), e + 1)
    free = np.iinfo(np.int64).max
    return np.where((e <= 0) | (j < 2), np.where(e < 0, 0, free), e // np.maximum(j - 1, 1))  # noqa: PLR2004 - two chunks


def joint_cluster_sizes(sizes: Ints, above: Ints) -> Ints:
    """Add up the baskets of clusters in the joint clusters that they are in; nothing if one is within itself.

    >>> joint_cluster_sizes(np.array([3, 4, 5]), np.array([3, 3, -1, -1])).tolist()
    [3, 4, 5, 7]
    """
    total = np.concatenate([sizes, np.zeros(len(above) - len(sizes), dtype=np.int64)])
    at = above[: len(sizes)]
    for _ in range(len(above) + 1):
        inside = at >= 0
        if not inside.any():
            return total
        np.add.at(total, at[inside], sizes[inside])
        at = np.where(inside, above[at], -1)
    return np.zeros(0, dtype=np.int64)


def group_offsets(numbers: Ints, count: int) -> Ints:
    """Return where each number begins in an ascending list of them, and the end of the last.

    >>> group_offsets(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))]).astype(np.int64)
