"""The result of a fusion: the table, which is the same at all parties, its audit, and what each party learned."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import pyarrow as pa

from sfumato.core.bundle import AuditedRelease, ReleaseBundle
from sfumato.fusion.session import SessionParameters
from sfumato.io._dataframes import DataFrameBackend, SameBackend
from sfumato.schema.schema import Schema
from sfumato.tables._catalogue import compute_metrics
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit
from sfumato.tables.metrics.base import MetricInput


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """One thing that a party learned from the others, or told them."""

    round: int
    winner: str
    attribute: str
    node: str
    children: tuple[str, ...]
    records: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FusionResult(AuditedRelease):
    """One anonymous table with the attributes of all parties.

    `evidence` holds the table, with rows sorted by what they show, the same at all parties; nobody has the original.
    `transcript` lists every specialization in order: who won the round, and how many records went to which child.
    Besides that, a party learns the number of common people, which of its own people are common, and the length of the
    others' lists. `recipe` is the agreement. `warning` names attributes that no requirement names, which are published
    more finely than readers may expect. `confirm` is called when all is written and before it is moved into place; if
    it raises, nothing is there.
    """

    evidence: AuditContext
    audit: Audit
    recipe: SessionParameters
    transcript: Sequence[Disclosure]
    lengths: tuple[int, ...]
    kind: DataFrameBackend
    warning: str | None = None
    confirm: Callable[[], None] | None = None

    @property
    def published(self) -> pa.Table:
        """The published table as Arrow."""
        return self.evidence.published

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.evidence.schema

    @cached_property
    def frame(self) -> SameBackend:
        """The published table, of the party's dataframe kind."""
        return self.kind.restore(self.published)

    @cached_property
    def metrics(self) -> Mapping[str, float]:
        """What the fusion has lost, as far as can be told without the original."""
        measured = MetricInput.of(self.evidence.table, suppressed=0, sensitive=self.evidence.groups.histograms)
        return compute_metrics(measured, covers=False)

    @property
    def rounds(self) -> int:
        """The number of specializations."""
        return len(self.transcript)

    def __repr__(self) -> str:
        return (
            f"Fused: {self.published.num_rows:,} people, {self.published.num_columns} columns, "
            f"{self.rounds:,} rounds\n{self.audit!r}" + (f"\n{self.warning}" if self.warning else "")
        )

    def _bundle(self) -> ReleaseBundle:
        told = json.dumps([asdict(each) for each in self.transcript], indent=2, ensure_ascii=False)
        return ReleaseBundle(
            evidence=self.evidence,
            models=tuple(verdict.model for verdict in self.audit.verdicts),
            audit=self.audit,
            metrics=self.metrics,
            recipe=self.recipe.to_toml(),
            internal={"transcript.json": told + "\n"},
            confirm=self.confirm,
        )
