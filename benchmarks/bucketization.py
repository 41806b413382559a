"""Bucketization: times, growth and query errors, beside Mondrian on the same data.

Run `python benchmarks/bucketization.py` (30 thousand, 100 thousand and 1 million made-up census records) or give other
numbers of rows. Every algorithm is timed twice: its search, and the whole release with applying, audit and measures.
Units are one Polars `group_by` of the quasi-identifiers as they are. Query errors are measured on the smallest table:
1,000 random sums of salaries, four conditions each. Targets on two cores: cross-bucket 1 s for 30 thousand records,
60 s for 1 million, growth exponent at most 1.2; Anatomy and local anatomy within 5 units at 1 million; whole releases
of 1 million records within 10 units for Anatomy and 15 for cross-bucket.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

import sfumato as sf
from measuring import best_of, cost_of, group_by
from sfumato._progress import ignore_progress
from sfumato.core.recipe import Recipe
from sfumato.tables._pipeline.request import build_request
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.models.base import GroupModel

QUASI = ("sex", "age", "relationship", "marital_status", "race", "education", "hours_per_week")
K, L = 3, 10
MILLION = 1_000_000


@dataclass(frozen=True)
class Subject:
    """An algorithm with what it is asked for; `flagged` if some ages and educations are sensitive, too.

    `most` are the units allowed for a whole release of a million records.
    """

    name: str
    algorithm: TableAlgorithm
    models: tuple[GroupModel, ...]
    flagged: bool = False
    most: float | None = None


def subjects() -> list[Subject]:
    """List what is compared."""
    diverse = sf.models.FrequencyLDiversity(l=L, sensitive="salary")
    cells = (
        diverse,
        sf.models.FrequencyLDiversity(l=4, sensitive="age"),
        sf.models.FrequencyLDiversity(l=2, sensitive="education"),
    )
    return [
        Subject("Mondrian, l", sf.algorithms.Mondrian(), (sf.models.KAnonymity(k=K), diverse)),
        Subject("Anatomy, l", sf.algorithms.Anatomy(), (diverse,), most=10),
        Subject(
            "CrossBucketGeneralization, (k,l)",
            sf.algorithms.CrossBucketGeneralization(),
            (sf.models.KLAnonymity(k=K, l=L, sensitive="salary"),),
            most=15,
        ),
        Subject("Slicing, l", sf.algorithms.Slicing(), (diverse,)),
        Subject("Sabre, t", sf.algorithms.SABRE(), (sf.models.TCloseness(t=0.2, sensitive="salary"),)),
        Subject("TopDownNCP, k", sf.algorithms.TopDownNCP(), (sf.models.KAnonymity(k=K),)),
        Subject("LocalAnatomy, l", sf.algorithms.LocalAnatomy(), cells, flagged=True),
        Subject(
            "LocalAnatomyGen., cuts",
            sf.algorithms.LocalAnatomyGeneralization(),
            (*cells, sf.models.KAnonymity(k=K)),
            flagged=True,
        ),
        Subject(
            "LocalAnatomyGen., seeds",
            sf.algorithms.LocalAnatomyGeneralization(mechanism="seeds"),
            (*cells, sf.models.KAnonymity(k=K)),
            flagged=True,
        ),
        Subject(
            "LocalAnatomyGen., cheapest",
            sf.algorithms.LocalAnatomyGeneralization(mechanism="cheapest"),
            (*cells, sf.models.KAnonymity(k=K)),
            flagged=True,
        ),
    ]


def census(rows: int) -> tuple[pa.Table, sf.Schema, sf.Schema]:
    """Make up a census with flags on a fifth of the ages and educations; give both schemas, without and with flags."""
    table = sf.datasets.generate_census(rows, seed=1)
    rng = np.random.default_rng(1)
    for name in ("age", "education"):
        table = table.append_column(f"{name}__sensitive", pa.array(rng.random(rows) < 0.2))
    roles = {"quasi": QUASI, "sensitive": ["salary"]}
    flags = {"age": "age__sensitive", "education": "education__sensitive"}
    return table, sf.Schema(**roles), sf.Schema(**roles, flags=flags)


def main(sizes: list[int]) -> None:
    """Print times, growth and query errors."""
    before: dict[str, tuple[int, float]] = {}
    for rows in sizes:
        table, plain, with_flags = census(rows)
        unit = group_by(table, QUASI, 5)
        print(f"\n{rows:,} records; unit {unit.seconds * 1000:.1f} ms, {unit.busy * 1000:.1f} ms of processors")
        print(
            f"{'':<28}{'search':>10}{'units':>8}{'growth':>8}{'error in bounds':>17}{'expected':>10}  release, in units"
        )
        for subject in subjects():
            schema = with_flags if subject.flagged else plain
            recipe = Recipe(schema=schema, models=subject.models, algorithm=subject.algorithm, seed=1)
            task = build_request(recipe, table, ignore_progress)
            seconds, _ = best_of(2, lambda task=task, subject=subject: subject.algorithm.search(task))
            whole, release = cost_of(2, partial(sf.anonymize, table, schema, subject.models, subject.algorithm, seed=1))
            growth = ""
            if subject.name in before:
                past, then = before[subject.name]
                growth = f"{math.log(seconds / then) / math.log(rows / past):.2f}"
            before[subject.name] = rows, seconds
            errors = _errors(release, table, schema) if rows == sizes[0] else " " * 27
            told = whole.beside(unit, subject.most if rows == MILLION else None)
            print(
                f"{subject.name:<28}{seconds:>8.2f} s{seconds / unit.seconds:>8.1f}{growth:>8}{errors}  {told}",
                flush=True,
            )


def _errors(release: sf.Release, table: pa.Table, schema: sf.Schema) -> str:
    found = sf.queries.relative_errors(
        release.frame, table, schema, sf.queries.Workload(queries=1000, seed=7)
    ).summary()
    return f"{found['median_bound_error']:>17.1%}{found['median_expected_error']:>10.1%}"


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [30_000, 100_000, 1_000_000])
