"""Attacks on networks: every attack on a network as it is, and on what every search publishes of it.

Run `python benchmarks/network_attacks.py [FILE] [--only NAME]` with a list of edges such as that of the Facebook
network of SNAP; without one, a made-up network of 4,000 persons and 88,000 edges takes its place. `--only` publishes
and attacks only those rows whose names contain NAME; `--only copies` and `--only groups` run the two small tables.
Releases and attacks are repeatable. Seconds are the processor's, of the attacks alone: all rows together should take
at most 20 minutes. Targets on the real network: one run of seed-and-propagate 5 s; the shares that the tables of copies
and groups print beside theirs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import sfumato as sf
from sfumato.datasets.friendship_graph import generate_friendship_graph
from sfumato.errors import SfumatoError
from sfumato.graphs._warmup import warm_up_graphs
from sfumato.graphs.attacks._active_attack import find_planted_groups
from sfumato.graphs.attacks._seed_propagation import spread_matching
from sfumato.graphs.graph import Graph

S = sf.graphs
SECRET = "5f" * 32
SEED = 1
RUNS = 3
COPIES = {  # the share of edges that both copies keep, and the number of seeds: recall and precision to reach
    (0.95, 10): (0.70, 0.99),
    (0.95, 100): (0.77, 0.99),
    (0.9, 10): (0.62, 0.98),
    (0.9, 100): (0.72, 0.98),
    (0.75, 10): (0.06, 0.60),
    (0.75, 100): (0.58, 0.94),
    (0.5, 10): (0.005, 0.02),
    (0.5, 100): (0.02, 0.07),
}
GROUPS = {5: 16, 7: 16, 9: 18, 12: 20, 15: 20}  # persons of a planted group, and how many of 20 are to be found
LIMIT = 0.5  # the belief in an edge that super-nodes leave


def searches(k: int) -> Iterator[tuple[str, list[object], object]]:
    """Yield the name, the promises and the search of every release."""
    yield "`KDegreeAnonymity`, `DegreeSequence`", [S.KDegree(k=k)], S.DegreeSequence()
    yield "`KDegreeAnonymity`, edges only added", [S.KDegree(k=k)], S.DegreeSequence(edges="add")
    yield "`KNeighborhoodAnonymity`, `NeighborhoodAnonymization`", [S.KNeighborhood(k=k)], S.AlikeNeighborhoods()
    yield "`KAutomorphism`, `KMatch`", [S.KAutomorphism(k=k)], S.KMatch()
    yield "`KIsomorphism`, `KMatch`", [S.KIsomorphism(k=k)], S.KMatch()
    likely = {"`Sangreea`": S.Sangreea(), "`LikelyPartition`": S.LikelyPartition()}
    for name, search in likely.items():
        yield f"`KAnonymity`, {name}", [sf.models.KAnonymity(k=k)], search
    for name, search in likely.items():
        promised = [sf.models.KAnonymity(k=k), S.EdgeConfidence(limit=LIMIT)]
        yield f"the same by {name} with `EdgeDisclosure(limit={LIMIT})`", promised, search
    for name, search in {"`RandomChange`": S.RandomChange(), "`EdgeSwitching`": S.EdgeSwitching()}.items():
        yield f"`EdgeDisclosure(limit=1 - 1/k)`, {name}", [S.EdgeConfidence(limit=1 - 1 / k)], search
    yield "`LOpacity(length=1, limit=1/k)`, `OpacityGreedy`", [S.LOpacity(length=1, limit=1 / k)], S.OpacityGreedy()


def attacked(published: S.NetworkRelease | Graph, original: Graph) -> tuple[dict[str, str], float]:
    """Attack a release; return the rate of every attack in percent, and the processor seconds."""
    begin = time.process_time()
    found = S.attack(published, original, seed=SEED)
    spent = time.process_time() - begin
    cells = dict.fromkeys(found.skipped, "skipped")
    for name, why in found.skipped.items():
        print(f"{name} skipped: {why}", file=sys.stderr)
    for each in found:
        told = f"{100 * each.rate:.3g}"
        told = f"**{told}**" if each.succeeds else told
        near = each.details.get("against two steps apart")
        cells[each.title] = told if near is None else f"{told} ({100 * near:.3g})"
    return cells, spent


def releases(network: Graph, only: str) -> None:
    """Print the Markdown table of all attacks on all releases."""
    before, spent = attacked(network, network)
    print(f"| promise and search | k | {' | '.join(before)} | seconds |\n|{'---|' * (len(before) + 3)}")
    print(f"| the original | | {' | '.join(before.values())} | {spent:.0f} |", flush=True)
    for k in (5, 10):
        for name, models, search in searches(k):
            if only in name.lower():
                print(f"| {name} | {k} | {_row(network, models, search, list(before))} |", flush=True)


def _row(network: Graph, models: list[object], search: object, attacks: list[str]) -> str:
    try:
        release = S.anonymize(network, models=models, algorithm=search, secret=SECRET)
    except SfumatoError as refusal:
        return f"refused: {refusal}"
    after, spent = attacked(release, network)
    return " | ".join([*(after.get(each, "skipped") for each in attacks), f"{spent:.0f}"])


def copies(network: Graph) -> None:
    """Print what seed-and-propagate finds by two copies that keep each edge with a chance."""
    print("edges kept  seeds  recall (target)  precision (target)  seconds of a run")
    persons = np.arange(len(network))
    for (kept, seeds), (recall, precision) in COPIES.items():
        shares, begin, spent = [], 0.0, 0.0
        for run in range(RUNS):
            rng = np.random.default_rng(run)
            one, other = (network.with_edges(network.edges[rng.random(network.n_edges) < kept]) for _ in range(2))
            start = rng.permutation(len(network))[:seeds]
            begin = time.process_time()
            to = spread_matching(one, other, start, start, rng)
            spent += time.process_time() - begin
            to[start] = -1
            right = (to == persons).sum()
            shares.append((right / (len(network) - seeds), right / max((to >= 0).sum(), 1)))
        mine = np.mean(shares, axis=0)
        print(
            f"{kept:10}  {seeds:5}  {mine[0]:6.3f} ({recall:6.3f})  {mine[1]:9.2f} ({precision:6.2f})"
            f"  {spent / RUNS:16.2f}"
        )


def groups(network: Graph) -> None:
    """Print how many of 20 planted groups are found in a network as it is, by their size; the mean of some runs."""
    print("planted persons  groups found of 20 (target)")
    for size, target in GROUPS.items():
        found = [
            find_planted_groups(
                network, lambda planted: (planted, np.arange(len(planted))), plantings=20, rng=rng, group=size
            ).successes
            for rng in map(np.random.default_rng, range(RUNS))
        ]
        print(f"{size:15}  {np.mean(found):18.1f} ({target})")


def main() -> None:
    """Run all parts, or those that were asked for."""
    asked = argparse.ArgumentParser()
    asked.add_argument("file", nargs="?", type=Path)
    asked.add_argument("--only", default="")
    options = asked.parse_args()
    warm_up_graphs()
    network = S.read(options.file) if options.file else generate_friendship_graph(4_000, mean_friends=44)
    only = options.only.lower()
    for part in (copies, groups):
        if only in {"", part.__name__}:
            part(network)
    if only not in {"copies", "groups"}:
        releases(network, only)


if __name__ == "__main__":
    main()
