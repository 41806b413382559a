"""The demo of a series: quarters of a made-up hospital, published with a ledger and, to compare, each on its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sfumato.core._atomic_writes import atomic_folder
from sfumato.core.attack import AttackResults
from sfumato.core.recipe import Recipe
from sfumato.datasets.hospital import COUNTRIES, DISEASES, EDUCATION_ORDER, JOBS, MARITAL, generate_hospital
from sfumato.datasets.hospital_series import SERIES_SCHEMA, generate_hospital_series
from sfumato.errors import RecipeError, WriteError
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._writing import write
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline.anonymize import run_recipe
from sfumato.tables._pipeline.release import Release
from sfumato.tables.algorithms.bucketization.anatomy import Anatomy
from sfumato.tables.algorithms.bucketization.m_invariant_buckets import MInvariantBuckets
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.series.attacks._attack_series import attack_series
from sfumato.tables.series.audit import SeriesAudit, audit_series
from sfumato.tables.series.models.bounded_series_disclosure import BoundedSeriesDisclosure
from sfumato.tables.series.models.m_invariance import MInvariance
from sfumato.tables.series.series import Series

# The demo: how the made-up hospital population is published.


def demo_schema() -> Schema:
    """Return the roles of the attributes of `sfumato.datasets.generate_hospital`."""
    return Schema(
        identifiers=["name"],
        quasi_identifiers=["age", "sex", "zip", "marital_status", "education", "job", "nationality", "admission"],
        sensitive=["disease", "cost"],
        hierarchies={
            "zip": Prefixes(),
            "marital_status": Taxonomy(MARITAL),
            "job": Taxonomy(JOBS),
            "nationality": Taxonomy(COUNTRIES),
            "disease": Taxonomy(DISEASES),
        },
        orders={"education": EDUCATION_ORDER},
    )


def demo_recipe(seed: int) -> Recipe:
    """Return the recipe of the demo: 5-anonymity with three distinct diseases and costs in every group."""
    return Recipe(
        schema=demo_schema(),
        models=(KAnonymity(k=5), *(DistinctLDiversity(l=3, sensitive=name) for name in ("disease", "cost"))),
        algorithm=Mondrian(),
        seed=seed,
    )


def run_demo(rows: int, seed: int) -> Release:
    """Make up a population and publish it."""
    release: Release = run_recipe(demo_recipe(seed), generate_hospital(rows, seed=seed))
    return release


def check_demo_folder(folder: Path) -> None:
    """Refuse a folder that contains anything but a release that the demo wrote."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir() or not _is_demo_folder(folder):
        raise WriteError(f"{folder} contains something that the demo did not write; choose another folder.")


def _is_demo_folder(folder: Path) -> bool:
    if {path.name for path in folder.iterdir()} != {"public", "internal"}:
        return False
    try:
        found = Recipe.read(folder / "internal" / "recipe.toml")
    except RecipeError:
        return False
    asked = replace(found, input_rows=None, input_sha256=None)
    return found.seed is not None and asked == demo_recipe(found.seed)


QUARTERS: Final = 4
SENSITIVE: Final = "condition"
M: Final = 3
KEPT: Final = ("patient", "age", "sex", "zip", "nationality", SENSITIVE)
LEDGER, ORIGINALS, TOGETHER, APART, ABOUT = "hospital.ledger", "originals", "with-ledger", "independent", "about.txt"
ABOUT_TEXT: Final = f"""A demo of a series of releases, written by `sfumato demo --series`; nobody in it exists.

{ORIGINALS}/     the table of every quarter; of real people it would be private
{TOGETHER}/   releases that know each other by {LEDGER}; each has public/ and internal/
{APART}/   releases of the same quarters, each made on its own: do not publish like this

Try:
    sfumato ledger show {LEDGER}
    sfumato ledger exposure {LEDGER}
    sfumato audit --series --ledger {LEDGER}
"""
SCHEMA: Final = Schema(
    identifiers=SERIES_SCHEMA.identifiers,
    quasi_identifiers=SERIES_SCHEMA.quasi_identifiers,
    sensitive=[SENSITIVE],
    hierarchies=SERIES_SCHEMA.hierarchies,
)
RECIPES: Final[Mapping[str, Recipe]] = {
    TOGETHER: Recipe(schema=SCHEMA, models=(MInvariance(m=M, sensitive=SENSITIVE),), algorithm=MInvariantBuckets()),
    APART: Recipe(schema=SCHEMA, models=(FrequencyLDiversity(l=M, sensitive=SENSITIVE),), algorithm=Anatomy()),
}


@dataclass(frozen=True, eq=False, repr=False)
class SeriesDemo:
    """A series of releases, judged and attacked as one who holds all of them would."""

    releases: tuple[Release, ...]
    audit: SeriesAudit
    attacks: AttackResults

    @property
    def last_individuals(self) -> int:
        """How many persons the last release has."""
        return int(self.releases[-1].original.num_rows)


def run_series_demo(persons: int, seed: int, folder: Path) -> dict[str, SeriesDemo]:
    """Make up a population that changes, publish its quarters in both ways, and judge and attack both series.

    Parameters
    ----------
    persons : how many there are in every quarter.
    seed : another seed gives other persons.
    folder : where to write; an older demo there is replaced.
    """
    tables = [table.select(KEPT) for table in generate_hospital_series(persons, QUARTERS, seed=seed)]
    limit = BoundedSeriesDisclosure(limit=1 / M, sensitive=SENSITIVE)
    found = {}
    with atomic_folder(folder, replace=True) as made:
        for name in (ORIGINALS, *RECIPES):
            (made / name).mkdir()
        (made / ABOUT).write_text(ABOUT_TEXT, "utf-8")
        ledger = Series.create(made / LEDGER)
        for name, recipe in RECIPES.items():
            releases = []
            for quarter, table in enumerate(tables, start=1):
                followed: dict[str, Any] = {"ledger": ledger} if name == TOGETHER else {}
                release = run_recipe(recipe, table, **followed)
                release.write(made / name / f"q{quarter}", report=name == TOGETHER)
                releases.append(release)
            audit = audit_series(releases, models=[*recipe.models, limit])
            attacks = attack_series(releases, attacks=("intersection",), targets=persons, seed=seed)
            found[name] = SeriesDemo(tuple(releases), audit, attacks)
        for quarter, table in enumerate(tables, start=1):
            write(table, made / ORIGINALS / f"q{quarter}.csv")
    return found


def check_series_demo_folder(folder: Path) -> None:
    """Refuse a folder that contains anything but a series that the demo wrote."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    names = {LEDGER, f"{LEDGER}.key", f"{LEDGER}.head", ORIGINALS, TOGETHER, APART, ABOUT}
    ours = folder.is_dir() and {path.name for path in folder.iterdir()} == names
    if not ours or (folder / ABOUT).read_text("utf-8") != ABOUT_TEXT:
        raise WriteError(f"{folder} contains something that the demo did not write; choose another folder.")
