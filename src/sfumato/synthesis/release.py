"""Synthetic records as a release: what was drawn, from which groups, and how it compares with the originals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato import __version__
from sfumato._locale.messages import load_messages
from sfumato._progress import Progress
from sfumato.core._formatting import json_number
from sfumato.core.bundle import WritableRelease
from sfumato.core.writing import BundleContent, PublicStatement
from sfumato.errors import GuaranteeViolatedError
from sfumato.io._dataframes import DataFrameBackend, SameBackend
from sfumato.io._individuals import RowsPerIndividual
from sfumato.report.guarantee import type_text
from sfumato.report.page import SYNTHETIC_FORMAT, Page, render_synthetic_about, render_synthetic_report
from sfumato.report.texts import ENGLISH
from sfumato.schema.schema import Schema
from sfumato.tables._verification import changed_columns, read_back
from sfumato.tables.metrics.closest_record import ClosestRecordDistances
from sfumato.tables.metrics.moments import MomentComparison


@dataclass(frozen=True, kw_only=True, repr=False)
class GroupSizes:
    """What takes the place of an audit: the groups that synthetic records were drawn from.

    `records` original records were put into `groups` groups of `smallest` to `largest`; `drawn` synthetic records were
    drawn from their statistics. Nothing is said about the synthetic rows themselves.
    """

    k: int
    records: int
    groups: int
    smallest: int
    largest: int
    drawn: int
    rows_counted: RowsPerIndividual | None = None

    @property
    def holds(self) -> bool:
        """Whether every group has at least k records."""
        return self.smallest >= self.k

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        told = {name: value for name, value in asdict(self).items() if value is not None}
        return {"holds": self.holds, **told}

    def __repr__(self) -> str:
        said = "holds" if self.holds else "DOES NOT HOLD"
        return (
            f"Groups of at least {self.k}: {said}; {self.drawn:,} records drawn from {self.groups:,} groups of "
            f"{self.smallest:,} to {self.largest:,} of {self.records:,} records"
            + ("" if self.rows_counted is None else f"\n{self.rows_counted.sentence}")
        )


@dataclass(frozen=True, kw_only=True)
class CondensationRecipe:
    """What made synthetic records.

    Parameters
    ----------
    k, by, secret : as for `Condensation`.
    rows : how many records were drawn.
    schema : what the columns are.
    input_rows, input_sha256 : the number of rows and the fingerprint of the original table.
    """

    k: int
    by: str | None
    secret: str | None
    rows: int
    schema: Schema
    input_rows: int
    input_sha256: str

    def to_toml(self) -> str:
        """Write the recipe as TOML."""
        import tomli_w

        condensation = {"k": self.k, "by": self.by, "rows": self.rows, "secret": self.secret}
        return tomli_w.dumps(
            {
                "sfumato": {"version": __version__},
                "input": {"rows": self.input_rows, "sha256": self.input_sha256},
                "condensation": {name: value for name, value in condensation.items() if value is not None},
                "attributes": {name: {"role": self.schema.role(name).value} for name in self.schema.attributes},
            }
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SyntheticRecords(WritableRelease):
    """Synthetic records, the sizes of the groups that they were drawn from, and how they compare with the originals.

    No record is a person's, and no privacy model is promised of the rows.
    """

    published: pa.Table
    audit: GroupSizes
    moments: MomentComparison
    nearest: ClosestRecordDistances
    recipe: CondensationRecipe
    kind: DataFrameBackend

    @cached_property
    def frame(self) -> SameBackend:
        """The synthetic records, of the caller's dataframe kind."""
        return self.kind.restore(self.published)

    @property
    def metrics(self) -> Mapping[str, float]:
        """How moments differ from the original's, and how near records are to originals; see `sf.tables`."""
        moments, nearest = self.moments, self.nearest
        found = {
            "mean-shift": moments.mean_shift,
            "covariance-error": moments.covariance_error,
            "correlation-difference": moments.largest_correlation_difference,
            "copies": nearest.copies,
            "nearest-original": nearest.distances[0.5],
            "originals-nearest-original": nearest.baseline[0.5],
        }
        return {name: value for name, value in found.items() if value is not None}

    def figures(self) -> Mapping[str, Any]:
        """Return what `compare` puts beside other releases, as plain values that the report tells, too."""
        return synthetic_metrics(self._handover())

    def report(self, language: str | None = None) -> Page:
        """Return the internal report without writing anything; a notebook shows it. It is in English, or in `"zh"`."""
        return render_synthetic_page(self._handover(), language)

    def _bundle_content(self, *, excel_safe: bool, report: bool) -> BundleContent:  # noqa: ARG002 - what it would tell is known

        return make_synthetic_content(self._handover(), excel_safe=excel_safe)

    def _handover(self) -> SyntheticBundle:

        return SyntheticBundle(
            published=self.published,
            schema=self.recipe.schema,
            k=self.recipe.k,
            certificate=self.audit.to_dict(),
            moments=self.moments.to_dict(),
            nearest=self.nearest.to_dict(),
            metrics=self.metrics,
            recipe=self.recipe.to_toml(),
        )

    def __repr__(self) -> str:
        measures = ", ".join(f"{name} {value:.3g}" for name, value in self.metrics.items())
        return f"SyntheticRecords: {self.published.num_rows:,} records, {measures}\n{self.audit!r}"


# Write synthetic records as a release: what receivers are told of them, and the report for their owner.

DIGITS = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SyntheticBundle:
    """Synthetic records as they are written.

    Parameters
    ----------
    published : the synthetic records.
    schema : what the columns are.
    k : the least number of persons in a group.
    certificate : what was found of the groups, for the owner alone.
    moments, nearest : how the records compare with the originals.
    metrics : the same as numbers.
    recipe : what made the records, as text.
    """

    published: pa.Table
    schema: Schema
    k: int
    certificate: Mapping[str, Any]
    moments: Mapping[str, Any]
    nearest: Mapping[str, Any]
    metrics: Mapping[str, float]
    recipe: str


def make_synthetic_content(handover: SyntheticBundle, *, excel_safe: bool) -> BundleContent:
    """Return what synthetic records are written from; their file is compared with what was drawn."""

    def judge(file: Path, _: Progress) -> PublicStatement:
        shown = read_back(file, excel_safe=excel_safe)
        changed = [
            name for name in changed_columns(handover.published, shown) if not _nearly_equal(handover, shown, name)
        ]
        if changed:
            raise GuaranteeViolatedError(
                f"Column {changed[0]!r} reads otherwise in its {file.suffix} file than it was drawn, so nothing was "
                "written; write another format."
            )
        promise, dictionary = _guarantee(handover, shown), _data_dictionary(handover, shown)
        about = render_synthetic_about(promise, dictionary)
        return PublicStatement(
            promise=promise, dictionary=dictionary, about=about, report=lambda: _report_facts(handover, dictionary)
        )

    return BundleContent(published=handover.published, judge=judge, internal={"recipe.toml": handover.recipe})


def synthetic_metrics(handover: SyntheticBundle) -> dict[str, Any]:
    """Return what releases are compared by."""
    return _report_facts(handover, [])


def render_synthetic_page(handover: SyntheticBundle, language: str | None) -> Page:
    """Return the internal report of synthetic records that are not written, by default in English."""
    facts = _report_facts(handover, _data_dictionary(handover, handover.published))
    words = load_messages(language or "en")
    return Page(words("synthetic.title"), render_synthetic_report(facts, words))


def _nearly_equal(handover: SyntheticBundle, shown: pa.Table, name: str) -> bool:
    """Return whether numbers agree but for their last digits, which spreadsheets do not keep."""
    drawn = handover.published[name]
    if not pa.types.is_floating(drawn.type) or name not in shown.column_names or len(shown) != len(drawn):
        return False
    read = shown[name]
    return not pa.types.is_string(read.type) and bool(np.allclose(read.to_numpy(), drawn.to_numpy(), rtol=DIGITS))


def _guarantee(handover: SyntheticBundle, shown: pa.Table) -> dict[str, Any]:
    """Say what is promised; how large the groups are stays inside."""
    words = ENGLISH("synthetic.promise", k=str(handover.k))
    return {
        "sfumato": __version__,
        "promise": [{"model": "condensation", "parameters": {"k": handover.k}, "words": words}],
        "audit": {"holds": bool(handover.certificate["holds"]), "records": shown.num_rows, "models": []},
        **({"rows_counted": ENGLISH("promises.rows_counted_told")} if "rows_counted" in handover.certificate else {}),
    }


def _data_dictionary(handover: SyntheticBundle, shown: pa.Table) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "role": handover.schema.role(name).value,
            "type": type_text(shown[name].type),
            "forms": ["synthetic values"],
            "distinct": int(pc.count_distinct(shown[name]).as_py()),
            "missing": shown[name].null_count,
        }
        for name in shown.column_names
    ]


def _report_facts(handover: SyntheticBundle, dictionary: list[dict[str, Any]]) -> dict[str, Any]:
    """Gather the facts of the internal report as plain values that JSON can hold."""
    return {
        "format": SYNTHETIC_FORMAT,
        "sfumato": __version__,
        "k": handover.k,
        "records": handover.published.num_rows,
        "words": ENGLISH("synthetic.promise", k=str(handover.k)),
        "audit": dict(handover.certificate),
        "moments": dict(handover.moments),
        "nearest": dict(handover.nearest),
        "measures": {name: json_number(value) for name, value in handover.metrics.items()},
        "columns": dictionary,
        "recipe": handover.recipe,
    }
