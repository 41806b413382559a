"""Why a person is exposed: how many records agree with hers, and which quasi-identifier sets her apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.exceptions import InvalidParameterError
from sfumato.judging.evidence import AuditContext
from sfumato.schema.missing import MissingPolicy
from sfumato.validation import is_integer


@dataclass(frozen=True, kw_only=True)
class DistinguishingAttribute:
    """How many records would agree with a person's if one quasi-identifier were not known."""

    attribute: str
    alike: int


@dataclass(frozen=True, kw_only=True)
class DisclosureReasons:
    """Why one row of the original is exposed, in counts; no value of it is told.

    Parameters
    ----------
    row : the row of the original, counted from 0.
    published : whether the record is published; a suppressed one is not.
    alike : how many records of the original agree with it on all quasi-identifiers, itself included.
    without : how many would agree if one quasi-identifier were not known, the one that sets it apart most first.
    """

    row: int
    published: bool
    alike: int
    without: tuple[DistinguishingAttribute, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {**asdict(self), "without": [asdict(each) for each in self.without]}


def explain_disclosure_risk(evidence: AuditContext, row: int) -> DisclosureReasons:
    """Find out why a row of the original is exposed."""
    evidence.require_single_records("What exposes a person")
    rows = 0 if evidence.original is None else evidence.original.num_rows
    if not (is_integer(row) and 0 <= row < rows):
        raise InvalidParameterError(
            f"There is no row {row}; rows of the original are numbered from 0 to {rows - 1:,}."
            if rows
            else "Without the original nobody can be told why a record is exposed; give it."
        )
    coded = evidence.coded
    assert coded is not None  # noqa: S101 - there is an original
    differs = np.zeros(rows, dtype=np.int64)
    unlike = {}
    for column in coded.quasi:
        same = column.codes == column.codes[row]
        if evidence.schema.missing is MissingPolicy.MATCHES_ALL:
            same |= (column.codes == column.domain.missing) | (column.codes[row] == column.domain.missing)
        unlike[column.name] = ~same
        differs += unlike[column.name]
    alike = int(np.count_nonzero(differs == 0))
    only = differs == 1
    without = [
        DistinguishingAttribute(attribute=name, alike=alike + int(np.count_nonzero(only & here)))
        for name, here in unlike.items()
    ]
    return DisclosureReasons(
        row=int(row),
        published=evidence.correspondence is None or bool((evidence.correspondence == row).any()),
        alike=alike,
        without=tuple(sorted(without, key=lambda each: -each.alike)),
    )
