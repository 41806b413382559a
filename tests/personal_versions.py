"""Versions of a tiny table with a flag for every cell, released one after another with a ledger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from series_oracle import chances

D = "disease"
SCHEMA = sf.Schema(identifiers=["name"], quasi_identifiers=["age"], sensitive=[D], flags={D: "hide"})


def version(written: str) -> pa.Table:
    """Read `ax+ by-`: a has x and flags it, b has y and does not."""
    cells = written.split()
    return pa.table(
        {
            "name": [cell[0] for cell in cells],
            "age": [ord(cell[0]) for cell in cells],
            D: [cell[1] for cell in cells],
            "hide": [cell[2] == "+" for cell in cells],
        }
    )


def promised(values: int, limit: float) -> list[sf.models.GroupModel]:
    """Promise so many values in every bucket, and an exposure over the series."""
    return [
        sf.models.FrequencyLDiversity(l=values, sensitive=D),
        sf.models.BoundedSeriesDisclosure(limit=limit, sensitive=D),
    ]


class Personal:
    """A ledger, and what is promised with it."""

    def __init__(self, folder: Path, models: list[sf.models.GroupModel], **options: bool) -> None:
        self.folder, self.models, self.algorithm = folder, models, sf.algorithms.LocalAnatomy(**options)
        self.ledger = sf.Series.create(folder / "ledger")
        self.releases: list[sf.Release] = []

    def release(self, written: str | pa.Table, schema: sf.Schema = SCHEMA, **options: object) -> sf.Release:
        """Publish a version, and record it."""
        table = version(written) if isinstance(written, str) else written
        release = sf.anonymize(table, schema, self.models, self.algorithm, ledger=self.ledger, **options)
        release.write(self.folder / f"r{len(self.releases) + 1}", report=False)
        self.releases.append(release)
        return release

    def changes(self) -> tuple[int, int, int]:
        """Return how many cells the last release shows, hides all the same, and flags too late."""
        last = self.releases[-1]
        found = last.draft.flag_changes(evidence=last.evidence, rows=last.correspondence, at=last.correspondence)[D]
        return found["shown_now"], found["kept_hidden"], found["flagged_late"]

    def highest(self) -> float:
        """Return the exposure of the most exposed person who hides her value, by all worlds."""
        history = self.ledger.history(D)
        tops = [max(each.values(), default=0) for each in chances(history)]
        return float(max(np.array(tops)[~history.unflagged], default=0))


def buckets(release: sf.Release, name: str = D) -> set[tuple[str, str, int]]:
    """Return for every bucket its persons, its values and how many rows of it are nobody's."""
    persons = release.original["name"].to_pylist()
    found: dict[int, tuple[list[str], list[str], list[int]]] = {}
    shown = zip(release.published[f"_bucket_{name}"].to_pylist(), release.published[name].to_pylist(), strict=True)
    for (number, value), row in zip(shown, release.correspondence.tolist(), strict=True):
        if number is not None:
            who, what, nobody = found.setdefault(number, ([], [], []))
            what.append(value)
            (who if row >= 0 else nobody).append(persons[row] if row >= 0 else row)
    return {("".join(sorted(who)), "".join(sorted(what)), len(nobody)) for who, what, nobody in found.values()}
