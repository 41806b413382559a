"""Find persons in a published network by what is known of the structure around them in the original."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.attacks.base import SINGLING_OUT
from sfumato.attacks.results import AttackResult
from sfumato.coding.kernels.refining import distances_from, gather_rows
from sfumato.coding.kernels.seed_matching import row_distances
from sfumato.coding.kernels.subgraph_matching import draw_subgraph, find_subgraph
from sfumato.networks.attacks.setting import Flags, Integers, NetworkSetting
from sfumato.networks.network import Network
from sfumato.networks.refinement import structure_classes

KNOWN = r"H[1-5]|stable|neighborhood|hubs-[1-9]\d?|subgraph-([1-9]|[1-5]\d|60)"
STEPS = 1_000_000  # of the search for the subgraph around a target


def match_structure(setting: NetworkSetting, knowledge: str) -> AttackResult:
    """Claim the published person who fits what is known of a target, if there is only one.

    Who fits depends on the knowledge. `H1`: those of the nearest degree, that in the original if it is published. `H2`:
    those whose neighbors have the nearest degrees, by earth mover's distance where missing neighbors have degree 0.
    `hubs-5`: those whose distances to the hubs of the original, who are recognized, are the nearest in total.
    `subgraph-10`: those around whom ten edges hang together like those that are known of the target, which are drawn at
    random, one next to the other. All others: those who look exactly the same. Where a million steps do not tell who
    has such a subgraph, nobody is claimed, and the share of these targets is *not decided*.
    """
    fits, decided = _fitting(setting, knowledge)
    chosen, truth = setting.chosen, setting.who[setting.chosen]
    count = np.where(decided, fits.sum(axis=1), 0)
    claimed = np.where(count == 1, fits.argmax(axis=1), -1)
    there = fits[np.arange(len(chosen)), truth] & decided
    strangers = truth[setting.strangers(len(chosen))]
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


def _fitting(setting: NetworkSetting, knowledge: str) -> tuple[Flags, Flags]:
    """Return for every target who fits, and whether that is decided."""
    kind, _, number = knowledge.partition("-")
    if kind == "subgraph":
        return _with_subgraph(setting, int(number))
    if knowledge == "H1":
        fits = _nearest_degrees(setting)
    elif knowledge == "H2":
        fits = _nearest_rows(setting)
    elif kind == "hubs":
        fits = _nearest_distances(setting, int(number))
    else:
        fits = _alike(setting, knowledge)
    return fits, np.ones(len(fits), dtype=np.bool_)


def _nearest(off: Integers) -> Flags:
    return np.asarray(off == off.min(axis=1, keepdims=True))


def _nearest_degrees(setting: NetworkSetting) -> Flags:
    return _nearest(
        np.abs(_told_degrees(setting.published)[None, :] - setting.original.degrees[setting.chosen][:, None])
    )


def _told_degrees(network: Network) -> Integers:
    """Return the degrees that everybody had in the original, if they are published, and else those that she has."""
    return network.degrees if network.original_degrees is None else network.original_degrees


def _nearest_rows(setting: NetworkSetting) -> Flags:
    known, shown = _degree_rows(setting.original), _degree_rows(setting.published)
    starts = setting.original.offsets
    off = [
        row_distances(known[starts[each] : starts[each + 1]], setting.published.offsets, shown)
        for each in setting.chosen
    ]
    return _nearest(np.stack(off))


def _degree_rows(network: Network) -> Integers:
    rows = np.empty(len(network.neighbors), dtype=np.int64)
    gather_rows(network.offsets, network.neighbors, _told_degrees(network), rows)
    return rows


def _nearest_distances(setting: NetworkSetting, hubs: int) -> Flags:
    """Compare distances to the persons of highest degree, and all who tie with the last of them."""
    degrees, off = setting.original.degrees, np.zeros((len(setting.chosen), len(setting.published)), dtype=np.int64)
    least = np.sort(degrees)[-min(hubs, len(degrees))]
    for hub in np.flatnonzero(degrees >= least).tolist():
        known, shown = _distances(setting.original, hub), _distances(setting.published, int(setting.who[hub]))
        off += np.abs(known[setting.chosen][:, None] - shown[None, :])
    return _nearest(off)


def _distances(network: Network, hub: int) -> Integers:
    """Return the distances to a person; where no path leads, more than the longest path has."""
    found = np.empty(len(network), dtype=np.int64)
    distances_from(network.offsets, network.neighbors, hub, found)
    return np.where(found < 0, len(network), found)


def _with_subgraph(setting: NetworkSetting, edges: int) -> tuple[Flags, Flags]:
    """Draw edges around every target, and find everybody around whom such edges are, too; others may be there."""
    mine, theirs = ((each.offsets, each.neighbors) for each in (setting.original, setting.published))
    fits = np.zeros((len(setting.chosen), len(setting.published)), dtype=np.bool_)
    decided = np.zeros(len(fits), dtype=np.bool_)
    for row, target in enumerate(setting.chosen.tolist()):
        links = np.zeros((edges + 1, edges + 1), dtype=np.bool_)
        known = draw_subgraph(mine, target, setting.rng.random(edges), links)
        decided[row] = find_subgraph(theirs, links, known, STEPS, fits[row])
    return fits, decided


def _alike(setting: NetworkSetting, knowledge: str) -> Flags:
    """Refine both networks as one, so that equal classes mean the same in both."""
    first = len(setting.original)
    edges = np.concatenate([setting.original.edges, setting.published.edges + np.int32(first)])
    both = Network(keys=pa.array(np.arange(first + len(setting.published))), edges=edges)
    labels = structure_classes(both, knowledge)
    return np.asarray(labels[setting.chosen][:, None] == labels[first:][None, :])
