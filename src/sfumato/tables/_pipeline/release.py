"""A release: a table that keeps its promise, with the proof and the recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.bundle import AuditedRelease, Recorded, ReleaseBundle
from sfumato.core.recipe import Recipe
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import DataFrameBackend, SameBackend, get_time_zones
from sfumato.io._values import format_values
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit, unprotected_attributes
from sfumato.tables.masking._apply import StepRecord
from sfumato.tables.published.solution import SUPPRESSED_TEXT, LossBound
from sfumato.tables.recoding import Recoding
from sfumato.tables.series._context import cumulative_disclosure
from sfumato.tables.series._ledger.draft import ReleaseDraft


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Release(AuditedRelease):
    """A table that keeps its promise, with the proof and the recipe.

    `evidence` holds the published table, the original and the original row of every published row.
    `points_to_suppress` are the
    columns that have no role and are not published. `proof` says how close to optimal the search came, if it can say
    so; `recoding` holds the rules for publishing later rows in the same way, if every value is published in one way.
    `draft` is what the ledger of a series will hold of the release once it is written.
    `waiting` are those of the suppressed records that wait for a later release of their series.
    """

    evidence: AuditContext
    audit: Audit
    metrics: Mapping[str, float]
    recipe: Recipe
    left_out: tuple[str, ...]
    kind: DataFrameBackend
    proof: LossBound | None = None
    recoding: Recoding | None = None
    draft: ReleaseDraft | None = None
    waiting: int = 0

    @property
    def published(self) -> pa.Table:
        """The published table as Arrow."""
        return self.evidence.published

    @property
    def original(self) -> pa.Table:
        """The table that was published from, before it was masked."""
        masked = self.evidence.masking.original
        return self.evidence.source if masked is None else masked

    @property
    def masking(self) -> tuple[StepRecord, ...]:
        """What every masking step did; for the owner alone."""
        return self.evidence.masking.records

    @property
    def correspondence(self) -> npt.NDArray[np.int64]:
        """The original row of every published row; -1 for a counterfeit, which belongs to nobody."""
        return self.evidence.source_rows

    @cached_property
    def frame(self) -> SameBackend:
        """The published table, of the caller's dataframe kind, without suppressed records, in a meaningless order."""
        return self.kind.restore(strip_metadata(self.published))

    @property
    def suppressed(self) -> int:
        """The number of original records that are not published."""
        return int(self.original.num_rows - np.count_nonzero(self.correspondence >= 0))

    @property
    def counterfeits(self) -> int:
        """The number of published rows that belong to nobody."""
        return self.evidence.counterfeits

    def aligned(self) -> SameBackend:
        """Return one row per original row, in the original order; suppressed records show only `*`."""
        return self.kind.restore_aligned(strip_metadata(self.aligned_rows()))

    def aligned_rows(self) -> pa.Table:
        """Return the rows of `aligned` as Arrow; columns that were recoded are dictionaries, which take little room."""
        place = np.full(self.original.num_rows, -1, dtype=np.int64)
        there = np.flatnonzero(self.correspondence >= 0)
        place[self.correspondence[there]] = there
        rows = self.published.take(pa.array(place, mask=place < 0))
        if self.suppressed:
            lost = pa.array(place < 0)
            for name in self.recipe.schema.quasi_identifiers:
                at = rows.column_names.index(name)
                rows = rows.set_column(at, name, pc.if_else(lost, SUPPRESSED_TEXT, format_values(rows[name])))
        return rows

    def with_language(self, language: str) -> Release:
        """Return the same release with report and public page in another language; what was judged is kept."""
        if language == self.recipe.language:
            return self
        other = replace(self, recipe=replace(self.recipe, language=language))
        if "judged" in self.__dict__:
            other.__dict__["judged"] = self.measurements.with_recipe(other.recipe.to_toml())
        return other

    def _bundle(self) -> ReleaseBundle:
        return ReleaseBundle(
            evidence=self.evidence,
            models=self.recipe.models,
            audit=self.audit,
            metrics=self.metrics,
            recipe=self.recipe.to_toml(),
            left_out=self.left_out,
            search=None if self.proof is None else self.proof.describe,
            conventions=self.recipe.conventions,
            zones=get_time_zones(self.original),
            internal={} if self.recoding is None else {"recoding.toml": self.recoding.to_toml()},
            waiting=self.waiting,
            recorded=self._recorded(),
            series=self._series(),
        )

    def _recorded(self) -> Recorded | None:
        """Return what records the release in the ledger of its series when it is written, if it has one."""
        if self.draft is None:
            return None
        return partial(
            self.draft.recorded,
            **self._who(),
            recipe=self.recipe.to_toml(),
            source=self.recipe.input_sha256 or "",
        )

    def _series(self) -> Callable[[], Mapping[str, Any]] | None:
        """Return what tells, when it is asked, what the releases of the series told up to this one."""
        return (
            None
            if self.draft is None
            else partial(cumulative_disclosure, self.draft, self.recipe.models, **self._who())
        )

    def _who(self) -> dict[str, Any]:
        """Return what is published, and about whom."""
        return {"evidence": self.evidence, "rows": self.evidence.source_rows, "at": self.correspondence}

    def __repr__(self) -> str:
        measures = ", ".join(f"{name} {value:.4g}" for name, value in self.metrics.items())
        found = "" if self.proof is None else f"{self.proof}\n"
        found += "".join(f"{record}\n" for record in self.masking)
        found += f"{self.counterfeits:,} rows belong to nobody.\n" if self.counterfeits else ""
        found += f"{self.waiting:,} records wait for a later release.\n" if self.waiting else ""
        found += "" if self.recipe.models else "No privacy model is promised.\n"
        found += "".join(f"{sentence}\n" for sentence in self._unpromised())
        return (
            f"Release: {self.original.num_rows - self.suppressed:,} of {self.original.num_rows:,} records, "
            f"{len(self.audit.sizes):,} groups, {measures}\n{found}{self.audit!r}"
        )

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{value:.4g}</td></tr>" for name, value in self.metrics.items())
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._unpromised())
        return f"{self.audit._repr_html_()}{said}<table><tr><th>measure</th><th>value</th></tr>{rows}</table>"

    def _unpromised(self) -> Iterator[str]:
        """Say which sensitive columns no model protects."""
        return (str(each.sentence) for each in unprotected_attributes(self.audit))
