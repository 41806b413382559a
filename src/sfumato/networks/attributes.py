"""Attributes of persons as numbers and nodes of trees, and how super-nodes show them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.publishing import label_ranges
from sfumato.coding.codes import CodedColumn, encode_column
from sfumato.core.publication import SUPPRESSED_TEXT
from sfumato.networks.clustered import ClusteredGraph
from sfumato.networks.network import Graph
from sfumato.schema.scales import Scale

Arrays = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int64]]


def encode_attributes(network: Graph) -> Arrays:
    """Return numbers and their widths, and nodes of trees by level with where each tree begins."""
    coded = _encode_columns(network)
    numbers, widths, nodes, starts = [], [], [], [0]
    for column in coded:
        domain, codes = column.domain, column.codes.astype(np.int64)
        if domain.scale in {Scale.NUMERIC, Scale.ORDINAL}:
            places = np.append(domain.positions, np.nan)
            numbers.append(places[codes])
            widths.append(float(np.ptp(domain.positions)) if len(domain) else 0.0)
            continue
        flat = (np.arange(len(domain)), np.zeros(len(domain), dtype=np.int64))
        levels: tuple[npt.NDArray[Any], ...] = flat if domain.hierarchy is None else tuple(domain.hierarchy.levels)
        for height, level in enumerate(levels):
            top = height == len(levels) - 1
            nodes.append(np.append(level, 0 if top else len(domain))[codes].astype(np.int32))
        starts.append(len(nodes))
    people = len(network)
    return (
        np.array(numbers, dtype=np.float64).reshape(-1, people),
        np.array(widths, dtype=np.float64),
        np.array(nodes, dtype=np.int32).reshape(-1, people),
        np.array(starts, dtype=np.int64),
    )


def generalize_attributes(network: Graph, counted: ClusteredGraph) -> ClusteredGraph:
    """Show the attributes of the persons of super-nodes: quasi-identifiers as their super-nodes have them in common."""
    if network.vertices is None:
        return counted
    shown = {
        column.name: _cluster_labels(column, counted.cluster, len(counted.inner)) for column in _encode_columns(network)
    }
    schema = network.schema
    shown |= {name: network.vertices[name] for name in (*schema.sensitive, *schema.insensitive)}
    return replace(counted, vertices=pa.table(shown) if shown else None, schema=schema)


def _encode_columns(network: Graph) -> list[CodedColumn]:
    if network.vertices is None:
        return []
    return [encode_column(name, network.vertices[name], network.schema) for name in network.schema.quasi_identifiers]


def _cluster_labels(column: CodedColumn, cluster: npt.NDArray[np.int64], count: int) -> pa.Array:
    """Return the text of everybody's super-node for one attribute."""
    domain, codes = column.domain, column.codes.astype(np.int64)
    low, high = np.full(count, len(domain) + 1), np.full(count, -1)
    known = codes != domain.missing
    np.minimum.at(low, cluster[known], codes[known])
    np.maximum.at(high, cluster[known], codes[known])
    missing = np.bincount(cluster[~known], minlength=count) > 0
    if domain.scale is Scale.NOMINAL and domain.hierarchy is None:
        texts = np.full(count, SUPPRESSED_TEXT, dtype=object)
        alone = (low == high) & ~missing
        texts[alone] = np.array([*domain.texts, None], dtype=object)[high[alone]]
        texts[high < 0] = None
        return pa.array(texts[cluster].tolist(), pa.string())
    recoded = label_ranges(domain, low, high, missing & (high >= 0))
    return recoded.texts.take(pa.array(recoded.by_group[cluster]))
