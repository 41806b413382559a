"""Disassociated baskets as three long tables, and back: what a receiver sees is all that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.baskets.disassociating import group_offsets, joint_cluster_sizes
from sfumato.exceptions import SchemaError
from sfumato.table.values import encode_distinct

if TYPE_CHECKING:
    from sfumato.baskets.disassociated import DisassociatedTransactions

Ints = npt.NDArray[np.int64]


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
