"""Risk: how easily the records of a table, raw or published, can be matched with people, and what rules say to that.

`assess_risk` measures what adversaries achieve, estimates the population, finds special uniques and ranks
quasi-identifiers; `Risk.judge` compares it with rules. Their results contain column names, counts,
probabilities and row numbers, never a cell value.
"""

from __future__ import annotations

from sfumato.judging.risk.assess import RiskAssessment, assess_risk
from sfumato.judging.risk.findings import ComplianceReport, Finding

__all__ = ["Finding", "ComplianceReport", "RiskAssessment", "assess_risk"]
