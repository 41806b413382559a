"""Sensitive columns that no promise names, and what their worst group gives away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.words import LocalizedText

if TYPE_CHECKING:
    from sfumato.judging.audit.audit import Audit

CERTAIN = 1.0


@dataclass(frozen=True)
class UnprotectedAttribute:
    """A published sensitive attribute that no model names.

    `exposure` is the largest share that one value has in a group, so the chance with which it is guessed of somebody
    there; `records` counts the records of such groups. Both follow from the published table alone.
    """

    attribute: str
    exposure: float
    records: int

    @property
    def sentence(self) -> LocalizedText:
        """What is not promised, and what that costs, in words."""
        key = "promises.unpromised_certain" if self.exposure == CERTAIN else "promises.unpromised"
        return LocalizedText(key, column=self.attribute, chance=self.exposure, records=self.records)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return {"attribute": self.attribute, "exposure": self.exposure, "records": self.records}


def unprotected_attributes(audit: Audit) -> tuple[UnprotectedAttribute, ...]:
    """List the sensitive attributes of an audited table that none of its promises names."""
    named = {name for verdict in audit.verdicts for name in verdict.model.sensitive_attributes}
    judged = {name for verdict in audit.levels for name in verdict.model.sensitive_attributes}
    return tuple(_worst(audit, name) for name in audit.counts.schema.sensitive if name in judged - named)


def _worst(audit: Audit, name: str) -> UnprotectedAttribute:
    least, records = audit.counts.rarest(name)
    return UnprotectedAttribute(name, 1 / least, records)
