"""Rules that tables are commonly judged by, each with its short name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sfumato.exceptions import InvalidParameterError
from sfumato.judging.risk.ema import judge_ema
from sfumato.judging.risk.findings import Judgment
from sfumato.judging.risk.hipaa import judge_hipaa
from sfumato.judging.risk.wp216 import judge_wp216
from sfumato.validation import did_you_mean

if TYPE_CHECKING:
    from sfumato.judging.risk.assess import Risk


def _hipaa(risk: Risk) -> Judgment:
    return judge_hipaa(risk.subject.table)


PRESETS: Mapping[str, Callable[[Risk], Judgment]] = {"ema": judge_ema, "hipaa": _hipaa, "wp216": judge_wp216}


def judge(risk: Risk, preset: str) -> Judgment:
    """Judge a table by one of the rules: ema, hipaa or wp216."""
    if preset not in PRESETS:
        hint = did_you_mean(preset, PRESETS) or f"; choose one of {', '.join(PRESETS)}."
        raise InvalidParameterError(f"There is no preset {preset!r}{hint}")
    if risk.subject.groups.weights is not None and preset != "ema":
        raise InvalidParameterError(
            f"{preset} looks at the cells of single records, but these rows stand for several each; judge by ema, or "
            "give every record a row of its own."
        )
    return PRESETS[preset](risk)
