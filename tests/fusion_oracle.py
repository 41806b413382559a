"""Top-down specialization by sensitivity as it is told, slow and obvious: lists of records, sets of leaves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Requirement = tuple[tuple[str, ...], int]


@dataclass(eq=False)
class Vertex:
    """Some values of an attribute that are published under one label."""

    label: str
    leaves: list[object]
    children: list[Vertex] = field(default_factory=list)


@dataclass
class Attribute:
    """A column with a tree of vertices, or else with values in an order that is cut where the class says so."""

    name: str
    cells: Sequence[object]
    root: Vertex
    weight: float = 1.0
    factors: float | Mapping[str, float] = 1.0
    cut: bool = False
    scoring: str = "sensitive"

    def factor(self, vertex: Vertex) -> float:
        """Give the mean of the leaves' factors, or their sum."""
        if self.scoring == "plain":
            return 1.0
        given = isinstance(self.factors, Mapping)
        total = sum(self.factors.get(str(leaf), 1.0) if given else self.factors for leaf in vertex.leaves)
        return total if self.scoring == "sensitive-sum" else total / len(vertex.leaves)


def tree_vertex(label: str, groups: object) -> Vertex:
    """Build the vertices of a taxonomy of nested groups; a group with one member is that member."""
    if isinstance(groups, Mapping):
        children = [tree_vertex(name, below) for name, below in groups.items()]
    else:
        children = [Vertex(leaf, [leaf]) for leaf in groups]
    if len(children) == 1:
        (child,) = children
        return Vertex(label if label == "*" else child.label, child.leaves, child.children)
    return Vertex(label, [leaf for child in children for leaf in child.leaves], children)


def with_missing(root: Vertex, cells: Sequence[object]) -> Vertex:
    """Make missing values, if there are any, one more child of the root, shown as `*`."""
    if None not in cells:
        return root
    others = root.children or [Vertex(str(root.leaves[0]), root.leaves)]
    return Vertex("*", [*root.leaves, None], [*others, Vertex("*", [None])])


def range_vertex(leaves: list[object]) -> Vertex:
    text = str(leaves[0]) if len(leaves) == 1 else f"[{leaves[0]}, {leaves[-1]}]"
    return Vertex(text, leaves)


def entropy(items: Sequence[object]) -> float:
    return -sum(count / len(items) * math.log2(count / len(items)) for count in Counter(items).values())


def inside(parts: Sequence[Sequence[object]]) -> float:
    """Give the entropy that is left inside parts."""
    whole = sum(map(len, parts))
    return sum(len(part) / whole * entropy(part) for part in parts if part)


def classes_under(attribute: Attribute, classes: Sequence[str], vertex: Vertex) -> list[str]:
    return [each for cell, each in zip(attribute.cells, classes, strict=True) if cell in vertex.leaves]


def children_of(attribute: Attribute, vertex: Vertex, classes: Sequence[str]) -> list[Vertex]:
    if not attribute.cut:
        return vertex.children
    if len(vertex.leaves) == 1:
        return []
    known = [leaf for leaf in vertex.leaves if leaf is not None]
    lost = [Vertex("*", [None])] if None in vertex.leaves else []
    if len(known) == 1:
        return [range_vertex(known), *lost]
    cuts = [[range_vertex(known[:at]), range_vertex(known[at:])] for at in range(1, len(known))]
    left = [inside([classes_under(attribute, classes, part) for part in cut]) for cut in cuts]
    best = min(range(len(cuts)), key=lambda at: (round(left[at], 8), at))
    return [*cuts[best], *lost]


def score(attribute: Attribute, vertex: Vertex, classes: Sequence[str]) -> float:
    parts = [classes_under(attribute, classes, child) for child in children_of(attribute, vertex, classes)]
    whole = [each for part in parts for each in part]
    sides = [number for number, part in enumerate(parts) for _ in part]
    if len(set(sides)) < 2:
        return 0.0
    gain = entropy(whole) - inside(parts)
    weight = 1.0 if attribute.scoring == "plain" else attribute.weight
    return 0.0 if gain < 1e-9 else gain / entropy(sides) * weight * attribute.factor(vertex)


def shown(attribute: Attribute, cut: Sequence[Vertex]) -> list[int]:
    """Tell for every record which vertex of a cut it is published under."""
    return [next(at for at, vertex in enumerate(cut) if cell in vertex.leaves) for cell in attribute.cells]


def keeps(
    attributes: Sequence[Attribute], cuts: Sequence[Sequence[Vertex]], requirements: Sequence[Requirement]
) -> bool:
    columns = {each.name: shown(each, cut) for each, cut in zip(attributes, cuts, strict=True)}
    for quasi, k in requirements:
        groups = Counter(zip(*(columns[name] for name in quasi), strict=True))
        if min(groups.values()) < k:
            return False
    least = min(k for _, k in requirements)
    named = {name for quasi, _ in requirements for name in quasi}
    return all(
        min(Counter(columns[each.name]).values()) >= least
        for each, cut in zip(attributes, cuts, strict=True)
        if each.name not in named and len(cut) > 1
    )


def without_implied(requirements: Sequence[Requirement]) -> list[Requirement]:
    """Drop requirements on a subset of another's attributes with a smaller or equal k."""
    distinct = {(frozenset(quasi), k) for quasi, k in requirements}
    return [
        (tuple(quasi), k)
        for quasi, k in distinct
        if not any((quasi, k) != (other, most) and quasi <= other and k <= most for other, most in distinct)
    ]


def specialize(
    attributes: Sequence[Attribute], classes: Sequence[str], requirements: Sequence[Requirement]
) -> tuple[list[tuple[str, ...]], list[tuple[str, str]]]:
    """Give the published rows, sorted, with the class in the last place, and who was specialized in which order."""
    requirements = without_implied(requirements)
    cuts: list[list[Vertex]] = [[each.root] for each in attributes]
    history: list[tuple[str, str]] = []
    while True:
        best = None
        for place, attribute in enumerate(attributes):
            for vertex in cuts[place]:
                worth = float(f"{score(attribute, vertex, classes):.9g}")
                if worth <= 0 or (best is not None and worth <= best[0]):
                    continue
                at = cuts[place].index(vertex)
                finer = [*cuts[place][:at], *cuts[place][at + 1 :], *children_of(attribute, vertex, classes)]
                if keeps(attributes, [*cuts[:place], finer, *cuts[place + 1 :]], requirements):
                    best = worth, place, vertex, finer
        if best is None:
            columns = [[cut[at].label for at in shown(a, cut)] for a, cut in zip(attributes, cuts, strict=True)]
            return sorted(zip(*columns, classes, strict=True)), history
        _, place, vertex, cuts[place] = best
        history.append((attributes[place].name, vertex.label))
