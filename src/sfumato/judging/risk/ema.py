"""The threshold of the European Medicines Agency (Policy 0070) and of Health Canada for clinical reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.judging.risk.attackers import min_group_size
from sfumato.judging.risk.findings import ComplianceReport, Finding
from sfumato.words import LocalizedText

if TYPE_CHECKING:
    from sfumato.judging.risk.assess import RiskAssessment

WRITTEN = 0.09
LEAST_GROUP = 11
EXACT = 1 / LEAST_GROUP


def check_ema(risk: RiskAssessment, *, strict: bool = True) -> ComplianceReport:
    """Judge a table by the threshold 0.09 that EMA and Health Canada recommend [1]_ [2]_.

    0.09 is 1/11 = 0.0909... rounded: groups of at least 11 records are meant. Taken literally, a risk of at most
    0.09 would require 12. Groups of 11 pass here.

    Parameters
    ----------
    risk : the assessment of the table.
    strict : judge the record at highest risk, as for public release; otherwise only the average.

    References
    ----------
    .. [1] European Medicines Agency, "External guidance on the implementation of Policy 0070", 2018.
    .. [2] Health Canada, "Guidance document: Public release of clinical information", 2019.
    """
    return ComplianceReport(preset="ema", findings=(_highest(risk, strict=strict), _average(risk)))


def _highest(risk: RiskAssessment, *, strict: bool) -> Finding:
    groups = risk.subject.groups
    smallest = int(groups.candidates.min())
    small = int(groups.sizes[groups.candidates < LEAST_GROUP].sum())
    return Finding(
        name=LocalizedText("risk.name.highest"),
        passed=smallest >= LEAST_GROUP if strict else None,
        sentence=LocalizedText(
            "risk.ema.highest",
            small=small,
            records=risk.records,
            least=LEAST_GROUP,
            smallest=smallest,
            written=WRITTEN,
        ),
        figures={
            "smallest_group": smallest,
            "least_group": LEAST_GROUP,
            "least_group_if_taken_literally": min_group_size(WRITTEN),
            "highest_risk": 1 / smallest,
            "threshold_written": WRITTEN,
            "threshold_exact": EXACT,
            "records_in_smaller_groups": small,
            "share_in_smaller_groups": small / risk.records,
        },
        columns=risk.quasi,
    )


def _average(risk: RiskAssessment) -> Finding:
    average = risk.prosecutor.average
    return Finding(
        name=LocalizedText("risk.name.average"),
        passed=average <= EXACT,
        sentence=LocalizedText("risk.ema.average", average=average, least=LEAST_GROUP, exact=EXACT),
        figures={"average_risk": average, "threshold_exact": EXACT},
        columns=risk.quasi,
    )
