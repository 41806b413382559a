"""The result of a fusion: the table, which is the same at all parties, its audit, and what each party learned."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import pyarrow as pa

from sfumato.catalogue import measure
from sfumato.fusing.agreement import Agreement
from sfumato.judging.audit.audit import Audit
from sfumato.judging.evidence import Evidence
from sfumato.judging.measures import Measured
from sfumato.reporting.handover import Handover
from sfumato.reporting.publishable import HandedOver
from sfumato.schema.schema import Schema
from sfumato.table.frames import FrameKind, SameKind


@dataclass(frozen=True, kw_only=True)
class Learned:
    """One thing that a party learned from the others, or told them."""

    round: int
    winner: str
    attribute: str
    node: str
    children: tuple[str, ...]
    records: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Fused(HandedOver):
    """One anonymous table with the attributes of all parties.

    `evidence` holds the table, with rows sorted by what they show, the same at all parties; nobody has the original.
    `transcript` lists every specialization in order: who won the round, and how many records went to which child.
    Besides that, a party learns the number of common people, which of its own people are common, and the length of the
    others' lists. `recipe` is the agreement. `warning` names attributes that no requirement names, which are published
    more finely than readers may expect. `confirm` is called when all is written and before it is moved into place; if
    it raises, nothing is there.
    """

    evidence: Evidence
    audit: Audit
    recipe: Agreement
    transcript: Sequence[Learned]
    lengths: tuple[int, ...]
    kind: FrameKind
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
    def frame(self) -> SameKind:
        """The published table, of the party's dataframe kind."""
        return self.kind.restore(self.published)

    @cached_property
    def measures(self) -> Mapping[str, float]:
        """What the fusion has lost, as far as can be told without the original."""
        measured = Measured.of(self.evidence.table, suppressed=0, sensitive=self.evidence.groups.histograms)
        return measure(measured, covers=False)

    @property
    def rounds(self) -> int:
        """The number of specializations."""
        return len(self.transcript)

    def __repr__(self) -> str:
        return (
            f"Fused: {self.published.num_rows:,} people, {self.published.num_columns} columns, "
            f"{self.rounds:,} rounds\n{self.audit!r}" + (f"\n{self.warning}" if self.warning else "")
        )

    def _handover(self) -> Handover:
        told = json.dumps([asdict(each) for each in self.transcript], indent=2, ensure_ascii=False)
        return Handover(
            evidence=self.evidence,
            models=tuple(verdict.model for verdict in self.audit.verdicts),
            audit=self.audit,
            measures=self.measures,
            recipe=self.recipe.to_toml(),
            internal={"transcript.json": told + "\n"},
            confirm=self.confirm,
        )
