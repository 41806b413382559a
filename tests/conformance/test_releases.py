"""Every kind of release keeps every law of the suite."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.bundle import PublishedRelease
from sfumato.testing.releases import RELEASE_CHECKS

SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "sex", "height_cm"],
    sensitive=["disease"],
    insensitive=["cost"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20), "height_cm": sf.hierarchies.Intervals(10, 50)},
)
PEOPLE = sf.datasets.generate_hospital(160, seed=3)


def anonymized() -> sf.Release:
    return sf.anonymize(
        PEOPLE, SCHEMA, [sf.models.KAnonymity(k=4), sf.models.DistinctLDiversity(l=2, sensitive="disease")], seed=1
    )


def centers() -> sf.Release:
    return sf.anonymize(PEOPLE, SCHEMA, [sf.models.KAnonymity(k=4)], sf.algorithms.MDAV(), seed=1)


def in_buckets() -> sf.Release:
    diverse = sf.models.FrequencyLDiversity(l=2, sensitive="disease")
    return sf.anonymize(PEOPLE, SCHEMA, [diverse], sf.algorithms.Anatomy(), max_suppressed=0.5, seed=1)


def recoded() -> sf.tables.TransformedRows:
    first = sf.anonymize(
        PEOPLE,
        SCHEMA,
        [sf.models.KAnonymity(k=4)],
        sf.algorithms.FixedLevels(levels={"age": 3, "height_cm": 2}),
        max_suppressed=0.5,
    )
    later = sf.datasets.generate_hospital(120, seed=4)
    return sf.transform(later, first.recoding)


def fused() -> PublishedRelease:
    rows = PEOPLE.append_column("person", pa.array([f"p{row}" for row in range(PEOPLE.num_rows)]))
    parties = [
        sf.fusion.Party(name=name, data=rows.select(["person", "disease", column]), id="person", attributes=[column])
        for name, column in (("clinic", "age"), ("agency", "sex"))
    ]
    return sf.fusion.fuse(
        parties,
        target="disease",
        requirements=[sf.fusion.KAnonymityRequirement(quasi=("age", "sex"), k=5)],
        scoring="plain",
    )


def synthetic() -> sf.synthesis.SyntheticRecords:
    return sf.synthesis.Condensation(k=10, secret="5f" * 32).release(PEOPLE, SCHEMA)


def masked_only() -> sf.Release:
    masking = [
        sf.masking.AddNoise(columns=["age", "height_cm", "cost"], share=0.1, low=0),
        sf.masking.PRAM(columns=["sex"], keep=0.9),
    ]
    return sf.anonymize(PEOPLE, SCHEMA, [], sf.algorithms.Identity(), masking=masking, seed=1, secret="5f" * 32)


def masked_and_generalized() -> sf.Release:
    masking = [sf.masking.SwapRanks(columns=["age", "cost"], reach=0.05), sf.masking.TopCode(column="cost", at=9000)]
    return sf.anonymize(PEOPLE, SCHEMA, [sf.models.KAnonymity(k=4)], masking=masking, seed=1, secret="5f" * 32)


def cells_suppressed() -> sf.Release:
    masking = [
        sf.masking.RoundNumbers(columns=["age", "height_cm"], base=10),
        sf.masking.SuppressCells(columns=["age", "sex", "height_cm"], k=4),
    ]
    return sf.anonymize(PEOPLE, SCHEMA, [sf.models.KAnonymity(k=4)], sf.algorithms.Identity(), masking=masking, seed=1)


MASKED = (masked_only, masked_and_generalized, cells_suppressed)
SUBJECTS = {made.__name__: made for made in (anonymized, centers, in_buckets, recoded, fused, synthetic, *MASKED)}


@pytest.fixture(scope="module", params=SUBJECTS)
def release(request) -> PublishedRelease:
    return SUBJECTS[request.param]()


@pytest.mark.parametrize("check", RELEASE_CHECKS, ids=lambda check: check.__name__)
def test_release_keeps_the_law(release, check, tmp_path):
    check(release, tmp_path)


def test_the_types_say_so():
    subjects: list[PublishedRelease] = [anonymized(), synthetic()]
    assert all(isinstance(subject, PublishedRelease) for subject in subjects)
