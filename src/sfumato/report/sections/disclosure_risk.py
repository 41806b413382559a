"""The exposure of every person before and after, for the internal report; records appear by number only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._progress import Progress, ignore_progress
from sfumato.core._formatting import json_number
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import Scale
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.published.published_table import PublishedColumn
from sfumato.tables.published.solution import Interval
from sfumato.tables.risk.disclosure import DisclosureProbabilities, DisclosureRisk, disclosure_risk_of, risk_given_group

MAX_ROWS = 2_000_000
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DisclosureRisks:
    """The exposure by the original, as if it were published raw, and by what is published; None for centers."""

    before: DisclosureRisk
    after: DisclosureRisk | None

    def row(self, row: int) -> list[dict[str, Any]]:
        """Return the exposure of a row of the original; None where it has nothing of a kind to hide."""
        before, after = _risk_by_attribute(self.before), {} if self.after is None else _risk_by_attribute(self.after)
        return [
            {
                "attribute": name,
                "before": _risk_at(each, row),
                "after": _risk_at(after[name], row) if name in after else None,
            }
            for name, each in before.items()
        ]


def compute_disclosure_risks(evidence: AuditContext, tell: Progress = ignore_progress) -> DisclosureRisks | None:
    """Measure the exposure before and after; None for a table that would take too long, and for counts of rows."""
    if evidence.counted or evidence.source.num_rows > MAX_ROWS:
        return None
    raw = evidence.raw
    before = disclosure_risk_of(raw) if evidence.schema.flags else risk_given_group(raw)
    tell(0.3)
    return DisclosureRisks(before=before, after=None if evidence.centers else disclosure_risk_of(evidence))


def disclosure_risk_facts(
    evidence: AuditContext, written: AuditContext, found: DisclosureRisks | None
) -> list[dict[str, Any]] | None:
    """Compare the exposure of identities and sensitive values in the original and in the published table.

    The original is taken as if it were published raw. `before` and `after` are for an adversary who knows the
    quasi-identifiers of one person (adversary 1), `everybody` is for one who knows everybody's (adversary 2) and sees
    what was written. Centers contain nobody's values; there, adversary 1 is granted what adversary 2 knows.
    `riskiest` are numbers of original rows. `found` is what `compute_disclosure_risks` returns. None for a table that
    would take too long.
    """
    if found is None:
        return None
    before, everybody = _risk_by_attribute(found.before), _risk_by_attribute(risk_given_group(written))
    if found.after is None:
        rows = evidence.source.num_rows
        after = {name: _align_to_original(each, evidence.source_rows, rows) for name, each in everybody.items()}
    else:
        after = _risk_by_attribute(found.after)
    return [
        {
            "attribute": attribute,
            "before": _risk_figures(before[attribute]),
            "after": _risk_figures(after[attribute]),
            "everybody": _risk_figures(everybody[attribute]),
            "riskiest": after[attribute].riskiest(),
        }
        for attribute in after
    ]


def published_disclosure_risk_facts(evidence: AuditContext) -> list[dict[str, Any]] | None:
    """Measure the exposure to one who knows everybody's quasi-identifiers alone; see `disclosure_risk_facts`."""
    if evidence.counted or evidence.source.num_rows > MAX_ROWS:
        return None
    everybody = _risk_by_attribute(risk_given_group(evidence))
    return [{"attribute": name, "everybody": _risk_figures(exposed)} for name, exposed in everybody.items()]


def _align_to_original(exposed: DisclosureProbabilities, correspondence: Rows, rows: int) -> DisclosureProbabilities:
    """Return what is known per published row per original row; who is suppressed is not exposed."""
    by_record = np.zeros(rows)
    by_record[correspondence] = exposed.by_record
    return DisclosureProbabilities(exposed.what, by_record)


def _risk_at(exposed: DisclosureProbabilities, row: int) -> float | None:
    value = float(exposed.by_record[row])
    return None if np.isnan(value) else value


def _risk_by_attribute(found: DisclosureRisk) -> dict[str | None, DisclosureProbabilities]:
    """Return the exposure of identities, under no name, and of each sensitive attribute."""
    return dict([(None, found.identity), *found.values.items()])


def _risk_figures(exposed: DisclosureProbabilities) -> dict[str, Any]:
    most = exposed.maximum
    return {
        "maximum": json_number(most),
        "mean": json_number(exposed.mean),
        "at_maximum": int(np.count_nonzero(exposed.by_record == most)),
        "histogram": exposed.histogram(),
    }


# What the ends of published intervals tell, for the internal report: each may be one person's own value.


def interval_end_facts(evidence: AuditContext) -> list[dict[str, Any]]:
    """Count for every quasi-identifier the ends of closed intervals that are somebody's value, and one person's alone.

    Intervals that end at the bounds of a hierarchy are half-open or its nodes, and are not counted.
    """
    if evidence.coded is None:
        return []
    found = []
    for column, shown in zip(evidence.coded.quasi, evidence.table.columns, strict=True):
        domain = column.domain
        if not domain.scale.ordered:
            continue
        people = np.bincount(column.codes, evidence.original_weights, minlength=len(domain) + 1)[: len(domain)]
        counts = people[_is_end(domain, shown) & (people > 0)]
        if len(counts):
            alone = int(np.count_nonzero(counts == 1))
            found.append({"attribute": column.name, "ends": len(counts), "lonely": alone})
    return found


def _is_end(domain: Domain, shown: PublishedColumn) -> npt.NDArray[np.bool_]:
    """Return which values of a domain are the ends of a closed interval."""
    if domain.scale is Scale.ORDINAL:
        closed = [label for label in shown.others.values() if isinstance(label, Interval)]
        named = {end for label in closed for end in (label.low, label.high)}
        return np.array([text in named for text in domain.texts], dtype=np.bool_)
    intervals = shown.all_intervals()
    exact = intervals.low_closed & intervals.high_closed
    return np.isin(domain.positions, np.concatenate([intervals.low[exact], intervals.high[exact]]))
