"""Plant persons before a network is published, and find them and those whom they know again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.attack import SINGLING_OUT, AttackResult
from sfumato.graphs._kernels.attacks import find_planted
from sfumato.graphs.attacks._setting import Integers
from sfumato.graphs.graph import Graph, sort_edges

GROUP_SIZE = 12  # planted persons who work together
VICTIMS = 3  # persons whom a group marks
LINKS = 3  # planted persons who know a victim
FEWEST, MOST = 10, 20  # further relations of everybody planted
STEPS = 1_000_000  # of a search
Publish = Callable[[Graph], tuple[Graph, Integers]]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlantedGroup:
    """A group as it was planted.

    Parameters
    ----------
    members : the planted persons, in the order of their path.
    inner : who of them know each other.
    degrees : how many everybody planted knows.
    victims : the persons who are marked.
    marks : for each of these, the places in `members` of those who know her.
    """

    members: Integers
    inner: npt.NDArray[np.bool_]
    degrees: Integers
    victims: Integers
    marks: Integers


def find_planted_groups(
    original: Graph, publish: Publish, *, plantings: int, rng: np.random.Generator, group: int = GROUP_SIZE
) -> AttackResult:
    """Plant groups, publish, and search for each of them by degrees and relations [1]_.

    A group is found if exactly one path of persons looks like it, it is the planted one, and all victims are read from
    it. All groups, of so many persons each, are planted at once. The control searches for as many groups that were
    never planted.

    References
    ----------
    .. [1] Backstrom, Dwork, Kleinberg, "Wherefore art thou R3579X? Anonymized social networks, hidden patterns, and
       structural steganography", WWW 2007. https://doi.org/10.1145/1242572.1242598
    """
    planted, plans = plant_groups(original, plantings, rng, group)
    _, decoys = plant_groups(original, plantings, rng, group)
    published, who = publish(planted)
    found = [find_group(published, plan) for plan in plans]
    right = sum(
        each is not None and np.array_equal(each, who[np.append(plan.members, plan.victims)])
        for each, plan in zip(found, plans, strict=True)
    )
    return AttackResult(
        attack="planted persons",
        question=SINGLING_OUT,
        targets=plantings,
        claims=sum(each is not None for each in found),
        successes=right,
        baseline=1 / len(published),
        control_targets=plantings,
        control_successes=sum(find_group(published, plan) is not None for plan in decoys),
    )


def plant_groups(
    original: Graph, plantings: int, rng: np.random.Generator, group: int = GROUP_SIZE
) -> tuple[Graph, list[PlantedGroup]]:
    """Add groups of persons to a network; what is told of them is that of others, drawn at random."""
    size, added = len(original), plantings * group
    edges, drafts = [original.edges.astype(np.int64)], []
    for first in range(size, size + added, group):
        inner = rng.random((group, group)) < 0.5  # noqa: PLR2004 - a fair coin
        inner[np.arange(group - 1), np.arange(1, group)] = True
        inner = np.triu(inner, 1)
        inner |= inner.T
        victims = rng.permutation(size)[:VICTIMS]
        marks = _distinct_link_sets(rng, group)
        outside = [
            rng.permutation(np.setdiff1d(np.arange(size), victims))[:count] for count in _draw_degrees(rng, size, group)
        ]
        edges.append(first + np.argwhere(np.triu(inner)))
        edges += [
            np.stack([np.full(LINKS, victim), first + row], 1) for victim, row in zip(victims, marks, strict=True)
        ]
        edges += [np.stack([row, np.full(len(row), first + place)], 1) for place, row in enumerate(outside)]
        drafts.append((np.arange(first, first + group), inner, victims, marks))
    planted = _extend_graph(original, added, np.concatenate(edges), rng)
    degrees = planted.degrees
    plans = [
        PlantedGroup(members=members, inner=inner, degrees=degrees[members], victims=victims, marks=marks)
        for members, inner, victims, marks in drafts
    ]
    return planted, plans


def _draw_degrees(rng: np.random.Generator, size: int, group: int) -> Integers:
    return np.minimum(rng.integers(FEWEST, MOST + 1, group), size - VICTIMS)


def _distinct_link_sets(rng: np.random.Generator, group: int) -> Integers:
    while True:
        marks = np.stack([np.sort(rng.permutation(group)[:LINKS]) for _ in range(VICTIMS)])
        if len(np.unique(marks, axis=0)) == VICTIMS:
            return marks


def _extend_graph(original: Graph, added: int, edges: Integers, rng: np.random.Generator) -> Graph:
    rows = np.append(np.arange(len(original)), rng.integers(len(original), size=added))
    persons = None if original.vertices is None else original.vertices.take(pa.array(rows))
    ordered = sort_edges(edges)
    kinds = None
    if original.edge_types is not None and original.n_edges:
        size = len(rows)
        place = np.searchsorted(_edge_keys(original.edges, size), _edge_keys(ordered, size))
        old = np.isin(_edge_keys(ordered, size), _edge_keys(original.edges, size))
        drawn = rng.integers(original.n_edges, size=len(ordered))
        kinds = original.edge_types.take(pa.array(np.where(old, np.minimum(place, original.n_edges - 1), drawn)))
    return Graph(
        keys=pa.array(np.arange(len(rows))), edges=ordered, edge_types=kinds, vertices=persons, schema=original.schema
    )


def _edge_keys(edges: npt.NDArray[np.integer], size: int) -> Integers:
    return edges[:, 0].astype(np.int64) * size + edges[:, 1]


def find_group(published: Graph, plan: PlantedGroup) -> Integers | None:
    """Return the members and victims of a group, if exactly one group and one person for each victim fit."""
    group = len(plan.members)
    members = np.zeros(group, dtype=np.int64)
    if find_planted(published.offsets, published.neighbors, plan.degrees, plan.inner, STEPS, members) != 1:
        return None
    known = np.zeros((group, len(published)), dtype=np.bool_)
    for row, member in zip(known, members.tolist(), strict=True):
        row[published.neighbors[published.offsets[member] : published.offsets[member + 1]]] = True
    known[:, members] = False
    marked = np.zeros((VICTIMS, group), dtype=np.bool_)
    np.put_along_axis(marked, plan.marks, values=True, axis=1)
    fits = (known.T[None, :, :] == marked[:, None, :]).all(axis=2)
    if (fits.sum(axis=1) != 1).any():
        return None
    return np.append(members, fits.argmax(axis=1))
