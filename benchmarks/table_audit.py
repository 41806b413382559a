"""Audits of published tables: all models, as ratios to one Polars group_by of the eight original columns.

Run `python benchmarks/table_audit.py` (1 and 10 million rows) or give other numbers of rows. Target: k-anonymity and
distinct l-diversity of a table of 10 million rows within 4 times the group_by. The audit counts groups once; the line
of a model is the time to judge it on these counts. The matrix distance of t-closeness solves one transport problem per
distinct distribution, so it is judged on the first 2,000 groups.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

import sfumato as sf
from measuring import best_of, peak_above, schema, yardstick
from sfumato.datasets import hospital
from sfumato.tables._catalogue import MODELS
from sfumato.tables.models.base import GroupModel

DISEASES = [disease for areas in hospital.DISEASES.values() for diseases in areas.values() for disease in diseases]
LEVELS = {disease: number % 5 for number, disease in enumerate(DISEASES)}
D = {"sensitive": "disease"}


def models() -> list[GroupModel]:
    """Ask for a little of everything."""
    one_apart = [[float(a != b) for b in DISEASES] for a in DISEASES]
    return [
        sf.models.KAnonymity(k=10),
        sf.models.KAnonymity(k=10, quasi=["age", "sex", "zip"]),
        sf.models.DistinctLDiversity(l=2, **D),
        sf.models.FrequencyLDiversity(l=2, **D),
        sf.models.EntropyLDiversity(l=2, **D),
        sf.models.RecursiveLDiversity(c=4, l=2, **D),
        *(sf.models.TCloseness(t=0.5, distance=distance, **D) for distance in ("equal", "hierarchical", "kl")),
        sf.models.TCloseness(t=0.5, distance="matrix", costs=one_apart, **D),
        sf.models.TCloseness(t=0.5, distance="ordered", sensitive="cost"),
        sf.models.NTCloseness(n=1000, t=0.5, **D),
        sf.models.PSensitiveKAnonymity(p=2, k=10, **D),
        sf.models.PPlusSensitiveKAnonymity(p=2, k=10, categories={d: str(level) for d, level in LEVELS.items()}, **D),
        sf.models.HPKAnonymity(h=2, p=2, k=10, sensitivity_levels=LEVELS, **D),
        sf.models.KLAnonymity(k=10, l=2, **D),
        sf.models.AlphaKAnonymity(alpha=0.5, k=10, **D),
        sf.models.ConfidenceBounding(bounds=0.5, **D),
        sf.models.BetaLikeness(beta=2, **D),
        sf.models.DeltaDisclosure(delta=2, present_only=True, **D),
        sf.models.XYAnonymity(k=2, y="disease"),
        sf.models.KMap(k=20, fraction=0.1),
        sf.models.DeltaPresence(delta_min=0.1, delta_max=0.6),
        sf.models.KEAnonymity(k=2, e=100, sensitive="cost"),
        sf.models.EpsilonMAnonymity(epsilon=100, m=2, sensitive="cost"),
    ]


def main(sizes: list[int]) -> None:
    """Print the ratios of every size."""
    for rows in sizes:
        table = sf.datasets.generate_hospital(rows, seed=1)
        unit, coded = yardstick(table).values()
        promised = [sf.models.KAnonymity(k=10), sf.models.DistinctLDiversity(l=2, sensitive="disease")]
        release = sf.anonymize(table, schema(), promised)
        published = release.frame
        del release
        judge = partial(sf.audit, published, schema(), promised)
        best, audit = best_of(2, judge)
        peak, _ = peak_above(judge)
        assert audit.holds
        print(f"{rows:,} rows, {len(audit.sizes):,} groups; one group_by: {unit:.3f} s ({coded:.3f} s of codes)")
        print(
            f"  k-anonymity and l-diversity: {best:.3f} s = {best / unit:.2f} ({best / coded:.2f}), peak {peak:.2f} GB"
        )
        del audit, table
        judge_all(published, unit, coded)


def judge_all(published: pa.Table, unit: float, coded: float) -> None:
    """Judge every model on groups that are counted once, and name the slowest."""
    wider = sf.Schema(
        quasi_identifiers=schema().quasi,
        sensitive=["disease", "cost"],
        hierarchies=schema().hierarchies,
        orders=schema().orders,
    )
    counting, audit = best_of(1, partial(sf.audit, published, wider, []))
    print(f"  two sensitive attributes, all standard levels: {counting / unit:.2f} ({counting / coded:.2f})")
    times = {}
    assert {model.name for model in models()} == set(MODELS)
    for model in models():
        groups = audit.counts.of(model)[0]
        share = 1.0
        if getattr(model, "distance", "") == "matrix":
            share = min(1.0, 2_000 / len(groups))
            groups = groups.take(np.arange(int(len(groups) * share)))
        groups = replace(groups, population=2 * groups.sizes)
        seconds, _ = best_of(2, partial(model.satisfied_by, groups))
        times[_called(model)] = seconds / share
        part = "" if share == 1.0 else f"  on {share:.1%} of the groups"
        print(f"    {_called(model):<40} {seconds / unit:8.3f} ({seconds / coded:.3f}){part}")
    print(f"  slowest: {max(times, key=times.__getitem__)}")


def _called(model: GroupModel) -> str:
    distance, quasi = model.parameters().get("distance", ""), model.parameters().get("quasi", ())
    return f"{type(model).__name__} {distance}{'on ' if quasi else ''}{', '.join(quasi)}".strip()


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [1_000_000, 10_000_000])
