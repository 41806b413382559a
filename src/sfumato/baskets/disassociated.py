"""Baskets that were taken apart: clusters, the parts of their baskets in chunks of items, and terms without counts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.baskets.disassociated_files import FILES, read_disassociated, write_disassociated
from sfumato.baskets.disassociating import (
    TERM,
    ChunkAssignment,
    group_offsets,
    joint_cluster_sizes,
    max_forced_k,
    requires_term_chunk,
)
from sfumato.baskets.published import Pair, PublishedTransactions
from sfumato.randomness import KeyedRandom

if TYPE_CHECKING:
    from sfumato.baskets.baskets import Transactions

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
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
        from sfumato.baskets.disassociated_tables import disassociated_from_tables

        return cls(**disassociated_from_tables(parts, terms, clusters))

    def to_tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """Return what is published: parts, terms and clusters."""
        from sfumato.baskets.disassociated_tables import disassociated_to_tables

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
        """Where every item stands, and the parts there, as `sfumato.coding.kernels.reconstructing` reads them."""
        from sfumato.baskets.expecting import item_positions

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
        from sfumato.coding.item_sets import ItemsetCounter

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
        from sfumato.baskets.inside_chunks import disassociation_loss

        return disassociation_loss(self, original)

    def pair_supports(self, pairs: Sequence[Pair]) -> Floats:
        """Estimate how many baskets hold both items of each pair, chunks being independent."""
        from sfumato.baskets.expecting import expected_pair_supports

        return expected_pair_supports(self, pairs)

    def top_pairs(self, count: int) -> list[Pair]:
        """Return the pairs that most baskets hold if chunks are independent, ties by name."""
        from sfumato.baskets.expecting import most_expected_pairs

        return most_expected_pairs(self, count)

    def match_counts(self, known: Sequence[Sequence[str]]) -> Ints:
        """Count the baskets that may hold known items: in every cluster, the parts of the chunk where fewest fit."""
        from sfumato.baskets.estimate import estimate_supports

        return estimate_supports(self, known)[1]

    def match_details(self, known: Sequence[Sequence[str]]) -> Mapping[str, float]:
        """Return how many baskets are expected to hold known items if chunks are independent, and how often below 1."""
        from sfumato.baskets.estimate import estimate_supports

        expected = estimate_supports(self, known)[2]
        return {"mean_expected": float(expected.mean()), "expected_below_1": float((expected < 1).mean())}
