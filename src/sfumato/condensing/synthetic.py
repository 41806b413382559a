"""Synthetic records as a release: what was drawn, from which groups, and how it compares with the originals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato import __version__
from sfumato.judging.comparing.moments import MomentComparison
from sfumato.judging.comparing.nearest import ClosestRecordDistances
from sfumato.reporting.publishable import WritableRelease
from sfumato.schema.schema import Schema
from sfumato.table.frames import DataFrameBackend, SameBackend
from sfumato.table.persons import RowsPerIndividual

if TYPE_CHECKING:
    from sfumato.reporting.folders import BundleContent
    from sfumato.reporting.page import Page
    from sfumato.reporting.synthetic import SyntheticBundle


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
        """How moments differ from the original's, and how near records are to originals; see `sf.judging`."""
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
        from sfumato.reporting.synthetic import synthetic_metrics

        return synthetic_metrics(self._handover())

    def report(self, language: str | None = None) -> Page:
        """Return the internal report without writing anything; a notebook shows it. It is in English, or in `"zh"`."""
        from sfumato.reporting.synthetic import render_synthetic_page

        return render_synthetic_page(self._handover(), language)

    def _bundle_content(self, *, excel_safe: bool, report: bool) -> BundleContent:  # noqa: ARG002 - what it would tell is known
        from sfumato.reporting.synthetic import make_synthetic_content

        return make_synthetic_content(self._handover(), excel_safe=excel_safe)

    def _handover(self) -> SyntheticBundle:
        from sfumato.reporting.synthetic import SyntheticBundle

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
