"""Releases of tables: every model and algorithm, three formats, two languages, masking, series, joined tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import sfumato as sf
from frozen.scenario import SECRET, Scenario
from related_tables import relations
from series_of_patients import quarter
from sfumato.algorithms.base import TableAlgorithm
from sfumato.models.base import GroupModel

D = "disease"
VALUES = ("asthma", "diabetes", "influenza", "migraine", "stroke")
HOSPITAL = sf.samples.generate_hospital(160, seed=3).select(["name", "age", "sex", "height_cm", "cost"])
HOSPITAL = HOSPITAL.append_column(D, pa.array([VALUES[at % len(VALUES)] for at in range(HOSPITAL.num_rows)]))
COSTS = [[abs(one - other) for other in range(len(VALUES))] for one in range(len(VALUES))]
TREE = sf.Taxonomy({"lung": ["asthma", "influenza"], "head": ["migraine", "stroke"], "blood": ["diabetes"]})
LEVELS = {value: at % 2 for at, value in enumerate(VALUES)}
ROLES: dict[str, Any] = {"identifier": ["name"], "quasi": ["age", "sex", "height_cm"]}
TREES = {"age": sf.Intervals(5, 10, 20), "height_cm": sf.Intervals(10, 50), D: TREE}
SCHEMA = sf.Schema(**ROLES, sensitive=[D, "cost"], hierarchies=TREES)
WITHOUT_COST = sf.Schema(**ROLES, sensitive=[D], hierarchies=TREES)
K, L = sf.KAnonymity(k=4), sf.DistinctLDiversity(l=2, sensitive=D)
MODELS: tuple[GroupModel, ...] = (
    K,
    L,
    sf.FrequencyLDiversity(l=2, sensitive=D),
    sf.EntropyLDiversity(l=2, sensitive=D),
    sf.RecursiveLDiversity(c=2, l=2, sensitive=D),
    *(sf.TCloseness(t=0.4, sensitive=D, distance=way) for way in ("equal", "hierarchical", "variational", "kl")),
    sf.TCloseness(t=0.4, sensitive="cost", distance="ordered"),
    sf.TCloseness(t=0.6, sensitive=D, distance="matrix", costs=COSTS),
    sf.NTCloseness(n=40, t=0.5, sensitive=D),
    sf.PSensitiveKAnonymity(p=2, k=3, sensitive=D),
    sf.PPlusSensitiveKAnonymity(
        p=2, k=3, sensitive=D, categories={value: str(at % 3) for at, value in enumerate(VALUES)}
    ),
    sf.HPKAnonymity(h=2, p=2, k=4, sensitive=D, sensitivity_levels=LEVELS),
    sf.AlphaKAnonymity(alpha=0.5, k=3, sensitive=D),
    sf.ConfidenceBounding(bounds={"asthma": 0.5, "stroke": 0.6}, sensitive=D),
    sf.KEAnonymity(k=3, e=500, sensitive="cost"),
    sf.BetaLikeness(beta=2, sensitive=D),
    sf.BetaLikeness(beta=2, sensitive=D, enhanced=True),
    sf.DeltaDisclosure(delta=2, sensitive=D),
    sf.KLAnonymity(k=3, l=2, sensitive=D),
    sf.XYAnonymity(k=2, y=D, h=0.6),
    sf.KMap(k=4, fraction=0.5),
)
PROXIMATE = sf.EpsilonMAnonymity(epsilon=100, m=2, sensitive="cost")
PRESENCE = sf.DeltaPresence(delta_min=0, delta_max=0.9)
SERIES: tuple[tuple[TableAlgorithm, GroupModel], ...] = (
    (sf.Mondrian(), sf.KAnonymity(k=2)),
    (sf.MDAV(), sf.KAnonymity(k=2)),
    (sf.LocalAnatomy(), sf.BoundedSeriesDisclosure(limit=0.5, sensitive=D)),
    (sf.MInvariantBuckets(), sf.MInvariance(m=2, sensitive=D)),
    (sf.MInvariantBuckets(), sf.MDistinct(m=2, sensitive=D, stays={"flu": ["gout"], "gout": ["flu"]})),
)
MERGING: tuple[TableAlgorithm, ...] = (
    sf.Mondrian(),
    sf.Mondrian(strict=False, publish="sets"),
    sf.Optimal(),
    sf.Optimal(loss="entropy"),
    sf.MinGen(),
    sf.Samarati(),
    sf.Incognito(),
    sf.Datafly(),
    sf.TopDownSpecialization(),
    sf.BottomUpGeneralization(),
    sf.KOptimize(most_checked=100),
    sf.LocalRecoding(),
    sf.FixedLevels(levels={"age": 3, "sex": 1, "height_cm": 2}),
    sf.TopDownNCP(),
    sf.SABRE(),
    sf.MDAV(),
    sf.MDAV(publish="ranges"),
    sf.VMDAV(),
    sf.KMember(publish="ranges"),
    sf.GreedyPKClustering(),
    sf.MAASLIE(),
)
BUCKETS: tuple[TableAlgorithm, ...] = (
    sf.Anatomy(),
    sf.CrossBucketGeneralization(),
    sf.LocalAnatomy(),
    sf.LocalAnatomyGeneralization(),
    sf.Slicing(),
)
STEPS = (
    [
        sf.masking.AddNoise(columns=["age", "height_cm", "cost"], share=0.1, low=0),
        sf.masking.PRAM(columns=["sex"], keep=0.9),
    ],
    [sf.masking.SwapRanks(columns=["age", "cost"], reach=0.05), sf.masking.TopCode(column="cost", at=9000)],
    [
        sf.masking.RoundNumbers(columns=["age", "height_cm"], base=10),
        sf.masking.SuppressCells(columns=["age", "sex"], k=4),
    ],
    [sf.masking.RotateNumbers(columns=["age", "cost"]), sf.masking.BottomCode(column="age", at=25, value=20)],
    [sf.masking.SwapRecords(place=("sex",), risk=("age",), k=3, similar=("height_cm",), rate=0.2)],
)


def released(
    folder: Path,
    models: Sequence[GroupModel] = (K, L),
    algorithm: TableAlgorithm | None = None,
    *,
    schema: sf.Schema = SCHEMA,
    table_format: str = "csv",
    **settings: Any,
) -> None:
    """Write a release of the hospital's table."""
    found = sf.anonymize(
        HOSPITAL, schema, list(models), algorithm, seed=1, secret=SECRET, max_suppressed=0.5, **settings
    )
    found.write(folder, table_format=table_format)


def series(folder: Path, *, algorithm: TableAlgorithm, model: GroupModel) -> None:
    """Write three releases of a series, in which patients come, and go where the algorithm allows it."""
    folder.mkdir()
    ledger = sf.Series.create(folder.parent / "ledger", key=folder.parent / "key")
    schema = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=[D])
    gone = 8 if algorithm.name == "m-invariant-buckets" else 0
    for number in range(3):
        data = quarter(gone * number, 40 + 12 * number)
        found = sf.anonymize(data, schema, [model], algorithm, secret=SECRET, seed=1, ledger=ledger)
        found.write(folder / str(number))


def related(folder: Path) -> None:
    """Write two tables that are joined by a person."""
    people = [(30 + at % 9, ("yes", "no")[at % 2]) for at in range(24)]
    visits = [(at % 24, ("heart", "lung", "skin")[at % 3], 2000 + at % 2) for at in range(40)]
    tables = relations(people, visits)
    found = sf.relating.anonymize_relations(tables, [sf.KAnonymity(k=3)], persons="people", secret=SECRET)
    found.write(folder)


def masked_only(folder: Path, steps: Sequence[Any]) -> None:
    """Write a table that masking steps have changed."""
    schema = sf.Schema(
        identifiers=["name"], quasi_identifiers=["age", "sex", "height_cm"], insensitive=["cost"], sensitive=[D]
    )
    sf.anonymize(HOSPITAL, schema, [], sf.Identity(), masking=steps, seed=1, secret=SECRET).write(folder)


def synthetic(folder: Path) -> None:
    """Write synthetic records."""
    sf.condensing.Condensation(k=10, secret=SECRET).release(HOSPITAL, SCHEMA).write(folder)


def fused(folder: Path) -> None:
    """Write what two parties fuse."""
    rows = HOSPITAL.append_column("person", pa.array([f"p{row}" for row in range(HOSPITAL.num_rows)]))
    parties = [
        sf.fusing.Party(name=name, data=rows.select(["person", D, column]), id="person", attributes=[column])
        for name, column in (("clinic", "age"), ("agency", "sex"))
    ]
    asked = [sf.fusing.KAnonymityRequirement(quasi=("age", "sex"), k=5)]
    sf.fusing.fuse(parties, target=D, requirements=asked, scoring="plain").write(folder)


def judged(folder: Path) -> None:
    """Write the audit of a table by a model that needs a population."""
    model, population = PRESENCE, HOSPITAL.select(["age", "sex", "height_cm"])
    audit = sf.audit(HOSPITAL.drop_columns(["name"]).slice(0, 80), SCHEMA, [model], population=population)
    folder.mkdir()
    (folder / "audit.json").write_text(json.dumps(audit.to_dict(), indent=1), "utf-8")


def scenarios() -> Iterator[Scenario]:
    """Yield every release."""
    for number, model in enumerate(MODELS):
        yield Scenario(f"model-{number}-{model.name}", partial(released, models=[model]), (model,))
    task = partial(released, models=[PROXIMATE], algorithm=sf.Optimal())
    yield Scenario("model-epsilon-m-anonymity", task, (PROXIMATE,))
    yield Scenario("model-delta-presence", judged, (PRESENCE,))
    for number, algorithm in enumerate(MERGING):
        yield Scenario(f"algorithm-{number}-{algorithm.name}", partial(released, algorithm=algorithm), (algorithm,))
    in_buckets = partial(released, models=[sf.FrequencyLDiversity(l=2, sensitive=D)], schema=WITHOUT_COST)
    for algorithm in BUCKETS:
        yield Scenario(f"algorithm-{algorithm.name}", partial(in_buckets, algorithm=algorithm), (algorithm,))
    for kind in ("parquet", "xlsx"):
        yield Scenario(f"format-{kind}", partial(released, table_format=kind))
        yield Scenario(f"format-{kind}-anatomy", partial(in_buckets, algorithm=sf.Anatomy(), table_format=kind))
    yield Scenario("language-zh", partial(released, language="zh"))
    yield Scenario("language-zh-anatomy", partial(in_buckets, algorithm=sf.Anatomy(), language="zh"))
    for number, steps in enumerate(STEPS):
        yield Scenario(f"masking-{number}", partial(masked_only, steps=steps), (sf.Identity(), *steps))
    yield Scenario("masking-mondrian", partial(released, masking=STEPS[1]))
    for algorithm, model in SERIES:
        yield Scenario(
            f"series-{algorithm.name}-{model.name}",
            partial(series, algorithm=algorithm, model=model),
            (algorithm, model),
        )
    yield Scenario("relations", related)
    yield Scenario("condensation", synthetic)
    yield Scenario("fusion", fused)
