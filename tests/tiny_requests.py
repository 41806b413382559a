"""Tiny requests, most of them impossible."""

from __future__ import annotations

import random

import pyarrow as pa

import sfumato as sf
from sfumato.tables.models.base import GroupModel

D = "disease"
SEARCHES = [
    sf.algorithms.Mondrian(),
    sf.algorithms.Mondrian(strict=False),
    sf.algorithms.LocalRecoding(),
    sf.algorithms.SABRE(),
    sf.algorithms.TopDownNCP(),
    sf.algorithms.Slicing(),
    sf.algorithms.Anatomy(),
    sf.algorithms.CrossBucketGeneralization(),
    sf.algorithms.LocalAnatomy(),
    sf.algorithms.LocalAnatomyGeneralization(),
    sf.algorithms.TopDownSpecialization(),
    sf.algorithms.TopDownSpecialization(refine=True),
    sf.algorithms.BottomUpGeneralization(),
    sf.algorithms.BottomUpGeneralization(refine=True),
    sf.algorithms.Optimal(),
    sf.algorithms.Optimal(refine=True),
    sf.algorithms.Datafly(),
    sf.algorithms.MDAV(),
    sf.algorithms.KMember(),
]


def promises(rng: random.Random) -> list[GroupModel]:
    """Draw what is promised, mostly too much."""
    k, l = rng.randint(1, 8), rng.randint(2, 4)
    return rng.choice(
        [
            [sf.models.KAnonymity(k=k)],
            [sf.models.KLAnonymity(k=min(k, 5), l=l, sensitive=D)],
            [sf.models.DistinctLDiversity(l=l, sensitive=D)],
            [sf.models.FrequencyLDiversity(l=l - 0.5, sensitive=D)],
            [sf.models.EntropyLDiversity(l=2, sensitive=D)],
            [sf.models.KAnonymity(k=2), sf.models.TCloseness(t=0.1, sensitive=D)],
            [sf.models.FrequencyLDiversity(l=2, sensitive="age")],
            [sf.models.KAnonymity(k=2), *(sf.models.FrequencyLDiversity(l=2, sensitive=name) for name in ("age", D))],
        ]
    )


def request(rng: random.Random) -> tuple[pa.Table, sf.Schema, list[GroupModel], float]:
    """Draw a few records, what they are, what is promised of them, and how many may be lost."""
    rows, models = rng.randint(1, 6), promises(rng)
    table = pa.table(
        {
            "age": pa.array([rng.choice([1, 2, 30, None]) for _ in range(rows)], pa.int64()),
            "sex": [rng.choice("fm") for _ in range(rows)],
            D: [rng.choice("ab") for _ in range(rows)],
            "flag": [rng.random() < 0.6 for _ in range(rows)],
        }
    )
    flagged = any("age" in model.sensitive_attributes for model in models)
    schema = sf.Schema(
        quasi_identifiers=["age", "sex"],
        sensitive=[D],
        hierarchies={"age": sf.hierarchies.Intervals(5, 10)} if rng.random() < 0.6 else {},
        flags={"age": "flag"} if flagged else {},
        missing=rng.choice(["own-value", "matches-all"]),
    )
    return table, schema, models, rng.choice([0.0, 0.34, 0.5, 1.0])
