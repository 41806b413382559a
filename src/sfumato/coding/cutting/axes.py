"""The quasi-identifiers as axes that a partition can be cut along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.coding.domain import Domain
from sfumato.schema.scales import Scale

Floats = npt.NDArray[np.float64]
Offsets = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Axes:
    """All axes in flat arrays that compiled loops can read.

    Axis j has `leaves[j]` codes; a missing value has the code `leaves[j]`. An ordered axis has positions
    in [0, 1], from `places[j]`. A tree axis (`heights[j] > 0`) has for every level and leaf the node and
    the node's share of all leaves, level by level from `trees[j]`.
    """

    leaves: Offsets
    heights: Offsets
    places: Offsets
    positions: Floats
    trees: Offsets
    nodes: npt.NDArray[np.int32]
    shares: Floats

    def __len__(self) -> int:
        return len(self.leaves)

    @property
    def arrays(self) -> tuple[Offsets, Offsets, Offsets, Floats, Offsets, npt.NDArray[np.int32], Floats]:
        """Everything, as compiled loops take it."""
        return self.leaves, self.heights, self.places, self.positions, self.trees, self.nodes, self.shares


def make_axes(domains: Sequence[Domain]) -> Axes:
    """Build the axes of several domains: trees for taxonomies, positions for all other scales."""
    positions: list[Floats] = []
    nodes: list[npt.NDArray[np.int32]] = []
    shares: list[Floats] = []
    heights = np.zeros(len(domains), dtype=np.int64)
    for j, domain in enumerate(domains):
        positions.append(_normalize(domain))
        if domain.scale is Scale.CATEGORICAL and domain.hierarchy is not None:
            heights[j] = domain.hierarchy.height
            for level in domain.hierarchy.levels:
                nodes.append(level)
                shares.append((np.bincount(level) / len(domain))[level])
    leaves = np.array([len(domain) for domain in domains], dtype=np.int64)
    tree_cells = np.where(heights > 0, (heights + 1) * leaves, 0)
    return Axes(
        leaves=leaves,
        heights=heights,
        places=_offsets(leaves),
        positions=_concatenate(positions, np.float64),
        trees=_offsets(tree_cells),
        nodes=_concatenate(nodes, np.int32),
        shares=_concatenate(shares, np.float64),
    )


def _normalize(domain: Domain) -> Floats:
    """Place the leaves in [0, 1]."""
    places = domain.positions
    if domain.scale is Scale.NUMERIC and pa.types.is_int64(domain.values.type):
        whole = domain.values.to_numpy().view(np.uint64)
        places = (whole - whole[:1]).astype(np.float64)  # exact for neighbors that floats cannot distinguish
    if len(places) < 2 or places[-1] == places[0]:  # noqa: PLR2004 - a range needs two ends
        return np.zeros_like(places)
    if places[-1] / 2 - places[0] / 2 > np.finfo(np.float64).max / 2:
        places = places / 2
    return np.asarray((places - places[0]) / (places[-1] - places[0]))


def _offsets(sizes: Offsets) -> Offsets:
    return np.asarray(np.cumsum(sizes) - sizes)


def _concatenate(parts: Sequence[npt.NDArray[Number]], dtype: type[Number]) -> npt.NDArray[Number]:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype=dtype)
