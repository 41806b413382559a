"""Slow, obvious definitions of how networks are attacked."""

from __future__ import annotations

import networkx as nx
import numpy as np


def found_subgraph(graph: nx.Graph, person: int, part: nx.Graph) -> bool:
    """Tell whether a subgraph, rooted at its person 0, is around a person; other edges may be there."""
    here, known = nx.Graph(graph.edges), nx.Graph(part.edges)
    here.add_nodes_from(graph)
    known.add_node(0)
    nx.set_node_attributes(here, {each: each == person for each in here}, "root")
    nx.set_node_attributes(known, {each: each == 0 for each in known}, "root")
    same = nx.isomorphism.categorical_node_match("root", None)
    return nx.isomorphism.GraphMatcher(here, known, node_match=same).subgraph_is_monomorphic()


def spread_slowly(one: nx.Graph, other: nx.Graph, seeds: dict[int, int], orders: list[list[int]]) -> dict[int, int]:
    """Narayanan and Shmatikov: map who sticks out by the mapped neighbors, there and back, in every round anew."""
    mapped = dict(seeds)
    for order in orders:
        for person in order:
            if person in seeds:
                continue
            mapped.pop(person, None)  # she is free, and so is her image, while she is visited
            there = _sticks_out(one, other, mapped, person)
            back = {image: each for each, image in mapped.items()}
            if there is not None and _sticks_out(other, one, back, there) == person:
                mapped[person] = there
    return mapped


def _sticks_out(one: nx.Graph, other: nx.Graph, mapped: dict[int, int], person: int) -> int | None:
    images = [mapped[each] for each in one[person] if each in mapped]
    scores = {
        free: sum(other.has_edge(image, free) for image in images) / other.degree[free] ** 0.5 if other[free] else 0.0
        for free in other
        if free not in mapped.values()
    }
    first, second = (sorted([*scores.values(), 0.0, 0.0], reverse=True))[:2]
    every = [*scores.values(), *[0.0] * (len(other) - len(scores))]
    if first == 0 or (first - second) / np.std(every) < 0.5:
        return None
    return max(scores, key=lambda each: scores[each])
