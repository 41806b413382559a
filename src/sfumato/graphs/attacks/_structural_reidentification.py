"""Find persons in a published network by what is known of the structure around them in the original."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.core.attack import SINGLING_OUT, AttackResult
from sfumato.graphs._kernels.attacks import draw_subgraph, find_subgraph, row_distances
from sfumato.graphs._kernels.vertex_refinement import bfs_distances, gather_neighbor_colors
from sfumato.graphs.attacks._setting import Flags, GraphAttackSetting, Integers
from sfumato.graphs.graph import Graph
from sfumato.graphs.vertex_refinement import structural_equivalence_classes

KNOWLEDGE_PATTERN = r"H[1-5]|stable|neighborhood|hubs-[1-9]\d?|subgraph-([1-9]|[1-5]\d|60)"
STEPS = 1_000_000  # of the search for the subgraph around a target


def match_structure(setting: GraphAttackSetting, knowledge: str) -> AttackResult:
    """Claim the published person who fits what is known of a target, if there is only one.

    Who fits depends on the knowledge. `H1`: those of the nearest degree, that in the original if it is published. `H2`:
    those whose neighbors have the nearest degrees, by earth mover's distance where missing neighbors have degree 0.
    `hubs-5`: those whose distances to the hubs of the original, who are recognized, are the nearest in total.
    `subgraph-10`: those around whom ten edges hang together like those that are known of the target, which are drawn at
    random, one next to the other. All others: those who look exactly the same. Where a million steps do not tell who
    has such a subgraph, nobody is claimed, and the share of these targets is *not decided*.
    """
    fits, decided = _matching_vertices(setting, knowledge)
    chosen, truth = setting.target_vertices, setting.who[setting.target_vertices]
    count = np.where(decided, fits.sum(axis=1), 0)
    claimed = np.where(count == 1, fits.argmax(axis=1), -1)
    there = fits[np.arange(len(chosen)), truth] & decided
    strangers = truth[setting.random_controls(len(chosen))]
    return AttackResult(
        attack=f"structure by {knowledge}",
        question=SINGLING_OUT,
        targets=len(chosen),
        claims=int((count == 1).sum()),
        successes=int((claimed == truth).sum()),
        baseline=1 / len(setting.published),
        control_targets=len(chosen),
        control_successes=int((claimed == strangers).sum()),
        details={
            "candidates": float(count[decided].mean()) if decided.any() else 0.0,
            "in the crowd": float(there.mean()),
            "belief": float((there / np.maximum(count, 1)).mean()),
            **({} if decided.all() else {"not decided": float((~decided).mean())}),
        },
    )


def _matching_vertices(setting: GraphAttackSetting, knowledge: str) -> tuple[Flags, Flags]:
    """Return for every target who fits, and whether that is decided."""
    kind, _, number = knowledge.partition("-")
    if kind == "subgraph":
        return _match_subgraph(setting, int(number))
    if knowledge == "H1":
        fits = _nearest_degrees(setting)
    elif knowledge == "H2":
        fits = _nearest_rows(setting)
    elif kind == "hubs":
        fits = _nearest_distances(setting, int(number))
    else:
        fits = _joint_refinement(setting, knowledge)
    return fits, np.ones(len(fits), dtype=np.bool_)


def _closest(off: Integers) -> Flags:
    return np.asarray(off == off.min(axis=1, keepdims=True))


def _nearest_degrees(setting: GraphAttackSetting) -> Flags:
    return _closest(
        np.abs(
            _published_degrees(setting.published)[None, :] - setting.original.degrees[setting.target_vertices][:, None]
        )
    )


def _published_degrees(network: Graph) -> Integers:
    """Return the degrees that everybody had in the original, if they are published, and else those that she has."""
    return network.degrees if network.original_degrees is None else network.original_degrees


def _nearest_rows(setting: GraphAttackSetting) -> Flags:
    known, shown = _degree_rows(setting.original), _degree_rows(setting.published)
    starts = setting.original.offsets
    off = [
        row_distances(known[starts[each] : starts[each + 1]], setting.published.offsets, shown)
        for each in setting.target_vertices
    ]
    return _closest(np.stack(off))


def _degree_rows(network: Graph) -> Integers:
    rows = np.empty(len(network.neighbors), dtype=np.int64)
    gather_neighbor_colors(network.offsets, network.neighbors, _published_degrees(network), rows)
    return rows


def _nearest_distances(setting: GraphAttackSetting, hubs: int) -> Flags:
    """Compare distances to the persons of highest degree, and all who tie with the last of them."""
    degrees, off = (
        setting.original.degrees,
        np.zeros((len(setting.target_vertices), len(setting.published)), dtype=np.int64),
    )
    least = np.sort(degrees)[-min(hubs, len(degrees))]
    for hub in np.flatnonzero(degrees >= least).tolist():
        known, shown = _distances(setting.original, hub), _distances(setting.published, int(setting.who[hub]))
        off += np.abs(known[setting.target_vertices][:, None] - shown[None, :])
    return _closest(off)


def _distances(network: Graph, hub: int) -> Integers:
    """Return the distances to a person; where no path leads, more than the longest path has."""
    found = np.empty(len(network), dtype=np.int64)
    bfs_distances(network.offsets, network.neighbors, hub, found)
    return np.where(found < 0, len(network), found)


def _match_subgraph(setting: GraphAttackSetting, edges: int) -> tuple[Flags, Flags]:
    """Draw edges around every target, and find everybody around whom such edges are, too; others may be there."""
    mine, theirs = ((each.offsets, each.neighbors) for each in (setting.original, setting.published))
    fits = np.zeros((len(setting.target_vertices), len(setting.published)), dtype=np.bool_)
    decided = np.zeros(len(fits), dtype=np.bool_)
    for row, target in enumerate(setting.target_vertices.tolist()):
        links = np.zeros((edges + 1, edges + 1), dtype=np.bool_)
        known = draw_subgraph(mine, target, setting.rng.random(edges), links)
        decided[row] = find_subgraph(theirs, links, known, STEPS, fits[row])
    return fits, decided


def _joint_refinement(setting: GraphAttackSetting, knowledge: str) -> Flags:
    """Refine both networks as one, so that equal classes mean the same in both."""
    first = len(setting.original)
    edges = np.concatenate([setting.original.edges, setting.published.edges + np.int32(first)])
    both = Graph(keys=pa.array(np.arange(first + len(setting.published))), edges=edges)
    labels = structural_equivalence_classes(both, knowledge)
    return np.asarray(labels[setting.target_vertices][:, None] == labels[first:][None, :])
