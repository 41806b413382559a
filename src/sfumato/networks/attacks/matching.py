"""Find persons in a published network by what is known of the structure around them in the original."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.attacks.base import SINGLING_OUT
from sfumato.attacks.results import AttackResult
from sfumato.coding.kernels.refining import gather_rows
from sfumato.coding.kernels.seed_matching import row_distances
from sfumato.networks.attacks.setting import Flags, Integers, NetworkSetting
from sfumato.networks.network import Network
from sfumato.networks.refinement import structure_classes


def match_structure(setting: NetworkSetting, knowledge: str) -> AttackResult:
    """Claim the published person who fits what is known of a target, if there is only one.

    Those fit who have the nearest degree (H1), or whose neighbors have the nearest degrees (H2), by earth mover's
    distance where missing neighbors have degree 0; by all other knowledge those who look exactly the same.
    """
    chosen = setting.chosen
    if knowledge == "H1":
        fits = _nearest_degrees(setting)
    elif knowledge == "H2":
        fits = _nearest_rows(setting)
    else:
        fits = _alike(setting, knowledge)
    count = fits.sum(axis=1)
    claimed = np.where(count == 1, fits.argmax(axis=1), -1)
    truth = setting.who[chosen]
    there = fits[np.arange(len(chosen)), truth]
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
            "candidates": float(count.mean()),
            "in the crowd": float(there.mean()),
            "belief": float((there / np.maximum(count, 1)).mean()),
        },
    )


def _nearest_degrees(setting: NetworkSetting) -> Flags:
    off = np.abs(setting.published.degrees[None, :] - setting.original.degrees[setting.chosen][:, None])
    return np.asarray(off == off.min(axis=1, keepdims=True))


def _nearest_rows(setting: NetworkSetting) -> Flags:
    known, shown = _degree_rows(setting.original), _degree_rows(setting.published)
    starts = setting.original.offsets
    off = np.stack(
        [
            row_distances(known[starts[each] : starts[each + 1]], setting.published.offsets, shown)
            for each in setting.chosen
        ]
    )
    return np.asarray(off == off.min(axis=1, keepdims=True))


def _degree_rows(network: Network) -> Integers:
    rows = np.empty(len(network.neighbors), dtype=np.int64)
    gather_rows(network.offsets, network.neighbors, network.degrees, rows)
    return rows


def _alike(setting: NetworkSetting, knowledge: str) -> Flags:
    """Refine both networks as one, so that equal classes mean the same in both."""
    first = len(setting.original)
    edges = np.concatenate([setting.original.edges, setting.published.edges + np.int32(first)])
    both = Network(keys=pa.array(np.arange(first + len(setting.published))), edges=edges)
    labels = structure_classes(both, knowledge)
    return np.asarray(labels[setting.chosen][:, None] == labels[first:][None, :])
