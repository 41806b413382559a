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
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.models.base import GroupModel

D = "disease"
VALUES = ("asthma", "diabetes", "influenza", "migraine", "stroke")
HOSPITAL = sf.datasets.generate_hospital(160, seed=3).select(["name", "age", "sex", "height_cm", "cost"])
HOSPITAL = HOSPITAL.append_column(D, pa.array([VALUES[at % len(VALUES)] for at in range(HOSPITAL.num_rows)]))
COSTS = [[abs(one - other) for other in range(len(VALUES))] for one in range(len(VALUES))]
TREE = sf.hierarchies.Taxonomy({"lung": ["asthma", "influenza"], "head": ["migraine", "stroke"], "blood": ["diabetes"]})
LEVELS = {value: at % 2 for at, value in enumerate(VALUES)}
ROLES: dict[str, Any] = {"identifiers": ["name"], "quasi_identifiers": ["age", "sex", "height_cm"]}
TREES = {"age": sf.hierarchies.Intervals(5, 10, 20), "height_cm": sf.hierarchies.Intervals(10, 50), D: TREE}
SCHEMA = sf.Schema(**ROLES, sensitive=[D, "cost"], hierarchies=TREES)
WITHOUT_COST = sf.Schema(**ROLES, sensitive=[D], hierarchies=TREES)
K, L = sf.models.KAnonymity(k=4), sf.models.DistinctLDiversity(l=2, sensitive=D)
MODELS: tuple[GroupModel, ...] = (
    K,
    L,
    sf.models.FrequencyLDiversity(l=2, sensitive=D),
    sf.models.EntropyLDiversity(l=2, sensitive=D),
    sf.models.RecursiveLDiversity(c=2, l=2, sensitive=D),
    *(sf.models.TCloseness(t=0.4, sensitive=D, distance=way) for way in ("equal", "hierarchical", "variational", "kl")),
    sf.models.TCloseness(t=0.4, sensitive="cost", distance="ordered"),
    sf.models.TCloseness(t=0.6, sensitive=D, distance="matrix", costs=COSTS),
    sf.models.NTCloseness(n=40, t=0.5, sensitive=D),
    sf.models.PSensitiveKAnonymity(p=2, k=3, sensitive=D),
    sf.models.PPlusSensitiveKAnonymity(
        p=2, k=3, sensitive=D, categories={value: str(at % 3) for at, value in enumerate(VALUES)}
    ),
    sf.models.HPKAnonymity(h=2, p=2, k=4, sensitive=D, sensitivity_levels=LEVELS),
    sf.models.AlphaKAnonymity(alpha=0.5, k=3, sensitive=D),
    sf.models.ConfidenceBounding(bounds={"asthma": 0.5, "stroke": 0.6}, sensitive=D),
    sf.models.KEAnonymity(k=3, e=500, sensitive="cost"),
    sf.models.BetaLikeness(beta=2, sensitive=D),
    sf.models.BetaLikeness(beta=2, sensitive=D, enhanced=True),
    sf.models.DeltaDisclosure(delta=2, sensitive=D),
    sf.models.KLAnonymity(k=3, l=2, sensitive=D),
    sf.models.XYAnonymity(k=2, y=D, h=0.6),
    sf.models.KMap(k=4, fraction=0.5),
)
PROXIMATE = sf.models.EpsilonMAnonymity(epsilon=100, m=2, sensitive="cost")
PRESENCE = sf.models.DeltaPresence(delta_min=0, delta_max=0.9)
SERIES: tuple[tuple[TableAlgorithm, GroupModel], ...] = (
    (sf.algorithms.Mondrian(), sf.models.KAnonymity(k=2)),
    (sf.algorithms.MDAV(), sf.models.KAnonymity(k=2)),
    (sf.algorithms.LocalAnatomy(), sf.models.BoundedSeriesDisclosure(limit=0.5, sensitive=D)),
    (sf.algorithms.MInvariantBuckets(), sf.models.MInvariance(m=2, sensitive=D)),
    (
        sf.algorithms.MInvariantBuckets(),
        sf.models.MDistinct(m=2, sensitive=D, stays={"flu": ["gout"], "gout": ["flu"]}),
    ),
)
MERGING: tuple[TableAlgorithm, ...] = (
    sf.algorithms.Mondrian(),
    sf.algorithms.Mondrian(strict=False, publish="sets"),
    sf.algorithms.Optimal(),
    sf.algorithms.Optimal(loss="entropy"),
    sf.algorithms.MinGen(),
    sf.algorithms.Samarati(),
    sf.algorithms.Incognito(),
    sf.algorithms.Datafly(),
    sf.algorithms.TopDownSpecialization(),
    sf.algorithms.BottomUpGeneralization(),
    sf.algorithms.KOptimize(most_checked=100),
    sf.algorithms.LocalRecoding(),
    sf.algorithms.FixedLevels(levels={"age": 3, "sex": 1, "height_cm": 2}),
    sf.algorithms.TopDownNCP(),
    sf.algorithms.SABRE(),
    sf.algorithms.MDAV(),
    sf.algorithms.MDAV(publish="ranges"),
    sf.algorithms.VMDAV(),
    sf.algorithms.KMember(publish="ranges"),
    sf.algorithms.GreedyPKClustering(),
    sf.algorithms.MAASLIE(),
)
BUCKETS: tuple[TableAlgorithm, ...] = (
    sf.algorithms.Anatomy(),
    sf.algorithms.CrossBucketGeneralization(),
    sf.algorithms.LocalAnatomy(),
    sf.algorithms.LocalAnatomyGeneralization(),
    sf.algorithms.Slicing(),
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
    found = sf.tables.relational.anonymize_relations(
        tables, [sf.models.KAnonymity(k=3)], persons="people", secret=SECRET
    )
    found.write(folder)


def masked_only(folder: Path, steps: Sequence[Any]) -> None:
    """Write a table that masking steps have changed."""
    schema = sf.Schema(
        identifiers=["name"], quasi_identifiers=["age", "sex", "height_cm"], insensitive=["cost"], sensitive=[D]
    )
    sf.anonymize(HOSPITAL, schema, [], sf.algorithms.Identity(), masking=steps, seed=1, secret=SECRET).write(folder)


def synthetic(folder: Path) -> None:
    """Write synthetic records."""
    sf.synthesis.Condensation(k=10, secret=SECRET).release(HOSPITAL, SCHEMA).write(folder)


def fused(folder: Path) -> None:
    """Write what two parties fuse."""
    rows = HOSPITAL.append_column("person", pa.array([f"p{row}" for row in range(HOSPITAL.num_rows)]))
    parties = [
        sf.fusion.Party(name=name, data=rows.select(["person", D, column]), id="person", attributes=[column])
        for name, column in (("clinic", "age"), ("agency", "sex"))
    ]
    asked = [sf.fusion.KAnonymityRequirement(quasi=("age", "sex"), k=5)]
    sf.fusion.fuse(parties, target=D, requirements=asked, scoring="plain").write(folder)


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
    task = partial(released, models=[PROXIMATE], algorithm=sf.algorithms.Optimal())
    yield Scenario("model-epsilon-m-anonymity", task, (PROXIMATE,))
    yield Scenario("model-delta-presence", judged, (PRESENCE,))
    for number, algorithm in enumerate(MERGING):
        yield Scenario(f"algorithm-{number}-{algorithm.name}", partial(released, algorithm=algorithm), (algorithm,))
    in_buckets = partial(released, models=[sf.models.FrequencyLDiversity(l=2, sensitive=D)], schema=WITHOUT_COST)
    for algorithm in BUCKETS:
        yield Scenario(f"algorithm-{algorithm.name}", partial(in_buckets, algorithm=algorithm), (algorithm,))
    for kind in ("parquet", "xlsx"):
        yield Scenario(f"format-{kind}", partial(released, table_format=kind))
        yield Scenario(
            f"format-{kind}-anatomy", partial(in_buckets, algorithm=sf.algorithms.Anatomy(), table_format=kind)
        )
    yield Scenario("language-zh", partial(released, language="zh"))
    yield Scenario("language-zh-anatomy", partial(in_buckets, algorithm=sf.algorithms.Anatomy(), language="zh"))
    for number, steps in enumerate(STEPS):
        yield Scenario(f"masking-{number}", partial(masked_only, steps=steps), (sf.algorithms.Identity(), *steps))
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
