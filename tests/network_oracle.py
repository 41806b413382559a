"""Slow, obvious definitions of what networks promise, and small networks to try them on."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import combinations, permutations
from math import gcd

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from sfumato.graphs.graph import Graph


def graphs(most: int = 7) -> st.SearchStrategy[nx.Graph]:
    """Draw graphs of 2 to some persons."""

    def made(drawn: tuple[int, int]) -> nx.Graph:
        persons, bits = drawn
        graph = nx.empty_graph(persons)
        pairs = list(combinations(range(persons), 2))
        graph.add_edges_from(pair for place, pair in enumerate(pairs) if bits >> place & 1)
        return graph

    return st.tuples(st.integers(2, most), st.integers(0, 2 ** (most * (most - 1) // 2) - 1)).map(made)


def network_of(graph: nx.Graph) -> Graph:
    return Graph.from_networkx(graph)


def signature(graph: nx.Graph, person: int, rounds: int) -> object:
    """H0 says nothing; H(i+1) is the multiset of Hi over the neighbors."""
    if rounds == 0:
        return ()
    return tuple(sorted((signature(graph, other, rounds - 1) for other in graph[person]), key=repr))


def counted(signatures: list[object]) -> list[int]:
    """Count for everybody who looks alike."""
    counts = Counter(signatures)
    return [counts[each] for each in signatures]


def same_neighborhoods(graph: nx.Graph) -> list[int]:
    around = [graph.subgraph(graph[person]) for person in graph]
    return [sum(nx.is_isomorphic(mine, other) for other in around) for mine in around]


def known_subgraphs(graph: nx.Graph, person: int, most: int) -> set[object]:
    """Return the connected subgraphs of at most some edges that hold a person, nodes numbered in the least way."""
    found: set[object] = set()
    for size in range(1, most + 1):
        for chosen in combinations(graph.edges, size):
            part = nx.Graph(chosen)
            if person in part and nx.is_connected(part):
                others = [each for each in part if each != person]
                found.add(min(_numbered(part, (person, *order)) for order in permutations(others)))
    return found


def _numbered(part: nx.Graph, order: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(sorted(tuple(sorted(order.index(each) for each in edge)) for edge in part.edges))


def copies(graph: nx.Graph) -> int:
    """Return the greatest number of copies that a graph consists of."""
    kinds: list[list[nx.Graph]] = []
    for part in nx.connected_components(graph):
        mine = graph.subgraph(part)
        for kind in kinds:
            if nx.is_isomorphic(kind[0], mine):
                kind.append(mine)
                break
        else:
            kinds.append([mine])
    return reduce(gcd, (len(kind) for kind in kinds))


def least_raises(degrees: list[int], k: int) -> int:
    """Try all ways to cut descending degrees into groups of at least k, each raised to its first."""
    if not degrees:
        return 0
    best = 10**9
    for size in range(k, len(degrees) + 1):
        rest = degrees[size:]
        if not rest or len(rest) >= k:
            best = min(best, size * degrees[0] - sum(degrees[:size]) + least_raises(rest, k))
    return best


def least_changes(degrees: list[int], k: int) -> int:
    """Try the same with medians."""
    if not degrees:
        return 0
    best = 10**9
    for size in range(k, len(degrees) + 1):
        rest = degrees[size:]
        if not rest or len(rest) >= k:
            middle = degrees[size // 2]
            best = min(best, sum(abs(each - middle) for each in degrees[:size]) + least_changes(rest, k))
    return best


def fewest_changes(graph: nx.Graph, k: int, *, adding: bool) -> int:
    """Try all graphs, and return the fewest pairs in which one differs whose every degree occurs k times."""
    persons = len(graph)
    pairs = list(combinations(range(persons), 2))
    now = np.array([graph.has_edge(*pair) for pair in pairs])
    every = np.arange(2 ** len(pairs))[:, None] >> np.arange(len(pairs)) & 1 == 1
    ends = np.array([[person in pair for person in range(persons)] for pair in pairs])
    degrees = every.astype(np.int64) @ ends.astype(np.int64)
    alike = (degrees[:, :, None] == degrees[:, None, :]).sum(axis=2)
    good = (alike >= k).all(axis=1) & (every | ~(now & adding)).all(axis=1)
    return int((every[good] != now).sum(axis=1).min())


def grown_slowly(graph: nx.Graph, k: int, *, near: bool) -> list[int]:
    """Grow super-nodes by structure as Campan and Truta say; near ones only are within two steps of a member."""
    free, groups = sorted(graph, key=lambda person: (-graph.degree(person), person)), []
    while free:
        group = [free.pop(0)]
        while free and len(group) < k:
            around = {other for member in group for other in nx.single_source_shortest_path_length(graph, member, 2)}
            looked_at = sorted(around & set(free) if near else free)
            costs = [sum(len((set(graph[one]) ^ set(graph[it])) - {one, it}) for it in group) for one in looked_at]
            group.append(looked_at[costs.index(min(costs))] if looked_at else free[0])
            free.remove(group[-1])
        groups.append(group)
    return [next(place for place, group in enumerate(groups) if person in group) for person in graph]
