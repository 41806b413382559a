"""Small releases for the tests of reports: one complete, one with suppressed records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.io._columns import strip_metadata
from sfumato.report.guarantee import make_data_dictionary
from sfumato.report.measurements import ReleaseMeasurements
from sfumato.tables._pipeline.release import Release
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import audit_context

JOBS = {"office": ["clerk", "engineer"], "outdoor": ["farmer", "driver"], "legend": ["mermaid", "unicorn"]}
SEED = 918273645546372819


def people(rows: int = 613) -> pa.Table:
    """Make a table whose last 37 people have a disease and a postcode that nobody else has."""
    rng = np.random.default_rng(4)
    disease = rng.choice(["flu", "cold", "ulcer", "asthma"], rows).astype(object)
    disease[-37:] = "kuru"
    postcode = rng.choice(["01067", "01069", "10115", "10117"], rows).astype(object)
    postcode[-37:] = "99998"
    age = rng.integers(18, 79, rows)
    age[-37:] = 97
    job = rng.choice(["clerk", "engineer", "farmer", "driver"], rows).astype(object)
    job[5] = None
    return pa.table(
        {
            "full_name": [f"Xanthippe{i:04}" for i in range(rows)],
            "age": age,
            "postcode": postcode.tolist(),
            "job": job.tolist(),
            "admitted": pa.array(19_000 + rng.integers(0, 700, rows), pa.int32()).cast(pa.date32()),
            "disease": disease.tolist(),
            "cost": rng.gamma(2, 800, rows).round(2),
            "height_cm": rng.normal(170, 9, rows).round(1),
        }
    )


@pytest.fixture(scope="session")
def schema() -> sf.Schema:
    return sf.Schema(
        identifiers=["full_name"],
        quasi_identifiers=["age", "postcode", "job", "admitted"],
        sensitive=["disease"],
        insensitive=["cost"],
        hierarchies={"postcode": sf.hierarchies.Prefixes(), "job": sf.hierarchies.Taxonomy(JOBS)},
    )


@pytest.fixture(scope="session")
def release(schema) -> Release:
    """Publish everybody."""
    models = [sf.models.KAnonymity(k=5), sf.models.DistinctLDiversity(l=1, sensitive="disease")]
    return sf.anonymize(people(), schema, models, seed=SEED)


@pytest.fixture(scope="session")
def suppressing(release, schema) -> Release:
    """Publish all but the last 37 people, as an algorithm that suppresses would."""
    inner = sf.anonymize(release.original.slice(0, 576), schema, release.recipe.models, seed=SEED)
    evidence = replace(inner.evidence, original=release.original)
    recipe = replace(release.recipe, max_suppressed=0.25)
    measures = {**inner.metrics, "suppressed-share": 37 / 613}
    audit = audit_context(evidence, release.recipe.models)
    return replace(release, evidence=evidence, audit=audit, recipe=recipe, measures=measures)


@pytest.fixture
def parts():
    """Return what facts are gathered from: what was judged, the table as receivers see it, and what they are told."""

    def taken(release: Release) -> tuple[ReleaseMeasurements, AuditContext, list[dict]]:
        written = AuditContext(
            strip_metadata(release.published), release.recipe.schema, centers=release.evidence.centers
        )
        return ReleaseMeasurements(release._bundle()), written, make_data_dictionary(written)

    return taken
