"""Tiny requests, most of them impossible."""

from __future__ import annotations

import random

import pyarrow as pa

import sfumato as sf
from sfumato.models.base import GroupModel

D = "disease"
SEARCHES = [
    sf.Mondrian(),
    sf.Mondrian(strict=False),
    sf.LocalRecoding(),
    sf.SABRE(),
    sf.TopDownNCP(),
    sf.Slicing(),
    sf.Anatomy(),
    sf.CrossBucketGeneralization(),
    sf.LocalAnatomy(),
    sf.LocalAnatomyGeneralization(),
    sf.TopDownSpecialization(),
    sf.TopDownSpecialization(refine=True),
    sf.BottomUpGeneralization(),
    sf.BottomUpGeneralization(refine=True),
    sf.Optimal(),
    sf.Optimal(refine=True),
    sf.Datafly(),
    sf.MDAV(),
    sf.KMember(),
]


def promises(rng: random.Random) -> list[GroupModel]:
    """Draw what is promised, mostly too much."""
    k, l = rng.randint(1, 8), rng.randint(2, 4)
    return rng.choice(
        [
            [sf.KAnonymity(k=k)],
            [sf.KLAnonymity(k=min(k, 5), l=l, sensitive=D)],
            [sf.DistinctLDiversity(l=l, sensitive=D)],
            [sf.FrequencyLDiversity(l=l - 0.5, sensitive=D)],
            [sf.EntropyLDiversity(l=2, sensitive=D)],
            [sf.KAnonymity(k=2), sf.TCloseness(t=0.1, sensitive=D)],
            [sf.FrequencyLDiversity(l=2, sensitive="age")],
            [sf.KAnonymity(k=2), *(sf.FrequencyLDiversity(l=2, sensitive=name) for name in ("age", D))],
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
        hierarchies={"age": sf.Intervals(5, 10)} if rng.random() < 0.6 else {},
        flags={"age": "flag"} if flagged else {},
        missing=rng.choice(["own-value", "matches-all"]),
    )
    return table, schema, models, rng.choice([0.0, 0.34, 0.5, 1.0])
