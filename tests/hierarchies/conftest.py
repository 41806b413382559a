"""The laws of hierarchies, written out slowly."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sfumato.hierarchies.hierarchy import Hierarchy


def leaves_by_label(hierarchy: Hierarchy) -> dict[str, set[frozenset[int]]]:
    """List the sets of leaves that each published text stands for."""
    sets: dict[str, set[frozenset[int]]] = {}
    for nodes, labels in zip(hierarchy.levels, hierarchy.labels, strict=True):
        for node, label in enumerate(labels):
            below = frozenset(leaf for leaf, at in enumerate(nodes.tolist()) if at == node)
            sets.setdefault(label, set()).add(below)
    return sets


def check(hierarchy: Hierarchy) -> None:
    """Assert everything that a hierarchy promises."""
    leaves = len(hierarchy.leaves)
    assert hierarchy.height == len(hierarchy.levels) - 1 == len(hierarchy.labels) - 1
    assert len(set(hierarchy.leaves)) == leaves == len(set(hierarchy.labels[0]))
    assert hierarchy.levels[0].tolist() == list(range(leaves))
    assert hierarchy.labels[-1] == ("*",)
    assert hierarchy.levels[-1].tolist() == [0] * leaves
    for nodes, labels in zip(hierarchy.levels, hierarchy.labels, strict=True):
        assert nodes.dtype == "int32"
        assert not nodes.flags.writeable
        assert nodes.tolist() == sorted(nodes.tolist())
        assert set(nodes.tolist()) == set(range(len(labels))) or not leaves
    for below, above in pairwise(hierarchy.levels):
        assert len(set(zip(below.tolist(), above.tolist(), strict=True))) == len(set(below.tolist()))
    assert all(len(sets) == 1 for sets in leaves_by_label(hierarchy).values())


@pytest.fixture(scope="session")
def check_laws() -> Callable[[Hierarchy], None]:
    return check
