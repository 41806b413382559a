"""Versions of a table, released one after another by a memory of signatures that a ledger would have."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.encoding.coded_table import CodedTable
from sfumato.tables._pipeline import anonymize
from sfumato.tables.series._prior_disclosure import KnownIndividuals, Signatures

D = "disease"
SCHEMA = sf.Schema(identifiers=["name"], quasi_identifiers=["age"], sensitive=[D])


def version(persons: dict[str, str | None], ages: dict[str, int] | None = None) -> pa.Table:
    """Make a table of persons with their diseases, everybody of another age."""
    known = ages or {name: at for at, name in enumerate(sorted(persons))}
    return pa.table(
        {
            "name": list(persons),
            "age": [known[name] for name in persons],
            D: pa.array(list(persons.values()), pa.string()),
        }
    )


class Series:
    """Releases that know what the earlier ones showed."""

    def __init__(self, m: int = 2, schema: sf.Schema = SCHEMA, **options: str) -> None:
        self.m, self.schema = m, schema
        self.algorithm = sf.algorithms.MInvariantBuckets(**options)
        self.signatures: dict[str, frozenset[str | None]] = {}
        self.releases: list[sf.Release] = []

    def release(self, table: pa.Table, monkeypatch, **options: object) -> sf.Release:
        """Publish the next version, and remember it."""

        def knowing(_draft, order, _models):
            return lambda coded: self.known(coded, table if order is None else table.take(pa.array(order)))

        with monkeypatch.context() as patch:
            patch.setattr(anonymize, "earlier_disclosures", knowing)
            models = [sf.models.MInvariance(m=self.m, sensitive=D)]
            release = sf.anonymize(table, self.schema, models, self.algorithm, seed=1, **options)
        for number, values in groups_of(release).items():
            for name in members_of(release)[number]:
                self.signatures.setdefault(name, frozenset(values))
                assert self.signatures[name] == frozenset(values)
        self.releases.append(release)
        return release

    def known(self, coded: CodedTable, table: pa.Table) -> KnownIndividuals:
        """Tell what was published about the persons of a table."""
        names, nobody = table["name"].to_pylist(), np.zeros(table.num_rows, dtype=np.bool_)
        sets = sorted(set(self.signatures.values()), key=lambda each: sorted(map(str, each)))
        place = {each: at for at, each in enumerate(sets)}
        rows = [place[self.signatures[name]] if name in self.signatures else -1 for name in names]
        of_case = np.array(rows, dtype=np.int32)
        signatures = Signatures.from_texts(coded.sensitive[0].domain, list(map(tuple, sets)), of_case, nobody, nobody)
        return KnownIndividuals(of_case >= 0, np.zeros(len(names), dtype=np.int64), {D: signatures})


def groups_of(release: sf.Release) -> dict[int, list[str | None]]:
    """List the values of every bucket, by its published number."""
    found: dict[int, list[str | None]] = {}
    for number, value in zip(*(release.published[name].to_pylist() for name in (f"_bucket_{D}", D)), strict=True):
        found.setdefault(number, []).append(value)
    return found


def members_of(release: sf.Release) -> dict[int, list[str]]:
    """List the persons of every bucket."""
    names, found = release.original["name"].to_pylist(), {number: [] for number in groups_of(release)}
    for number, row in zip(release.published[f"_bucket_{D}"].to_pylist(), release.correspondence.tolist(), strict=True):
        found[number] += [names[row]] if row >= 0 else []
    return found


def is_m_invariant(release: sf.Release, m: int) -> bool:
    """Return whether every bucket shows at least m values, each equally often."""
    counts = [Counter(values) for values in groups_of(release).values()]
    return all(len(each) >= m and len(set(each.values())) == 1 for each in counts)


def stated_by(release: sf.Release) -> dict[str, dict[str, int]]:
    """Return how many rows of every bucket belong to nobody, as the promise of a release states it."""
    numbers = release.published[f"_bucket_{D}"].to_pylist()
    nobody = [number for number, row in zip(numbers, release.correspondence, strict=True) if row < 0]
    return {f"_bucket_{D}": {str(number): nobody.count(number) for number in nobody}}
