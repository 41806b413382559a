"""Rules that tables are commonly judged by, each with its short name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sfumato.exceptions import InvalidParameterError
from sfumato.judging.risk.ema import check_ema
from sfumato.judging.risk.findings import ComplianceReport
from sfumato.judging.risk.hipaa import check_safe_harbor
from sfumato.judging.risk.wp216 import check_wp216
from sfumato.validation import suggest_closest

if TYPE_CHECKING:
    from sfumato.judging.risk.assess import RiskAssessment


def _hipaa(risk: RiskAssessment) -> ComplianceReport:
    return check_safe_harbor(risk.subject.table)


PRESETS: Mapping[str, Callable[[RiskAssessment], ComplianceReport]] = {
    "ema": check_ema,
    "hipaa": _hipaa,
    "wp216": check_wp216,
}


def check_compliance(risk: RiskAssessment, preset: str) -> ComplianceReport:
    """Judge a table by one of the rules: ema, hipaa or wp216."""
    if preset not in PRESETS:
        hint = suggest_closest(preset, PRESETS) or f"; choose one of {', '.join(PRESETS)}."
        raise InvalidParameterError(f"There is no preset {preset!r}{hint}")
    if risk.subject.groups.weights is not None and preset != "ema":
        raise InvalidParameterError(
            f"{preset} looks at the cells of single records, but these rows stand for several each; judge by ema, or "
            "give every record a row of its own."
        )
    return PRESETS[preset](risk)
