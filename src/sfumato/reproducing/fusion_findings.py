"""What the text on fusion says about its figures, and whether it is seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.reproducing.claims import Claim
from sfumato.reproducing.figures import FigureFinding
from sfumato.reproducing.repeated import (
    RepeatedLine,
    check_clearly_below,
    check_clearly_falling,
    check_falls_more,
    check_rises_to,
    check_steepest_step,
    check_within_factor_two,
)

OURS, PLAIN, CHANGED = "Factors of figure 3", "ASHP (no factors)", "Factors of figure 4"
RAW, NOTHING = "BE (nothing anonymized)", "UE (quasi-identifiers at the top)"
STEEPEST, RISE_AT = (75.0, 100.0), 75.0


@dataclass(frozen=True)
class FindingCauses:
    """Why findings are not seen, as far as it can be measured: equal tables, and what is left to classify by."""

    as_plain: str
    as_changed: str
    left: str = ""


def time_findings(rounds: Mapping[str, RepeatedLine], causes: FindingCauses) -> list[FigureFinding]:
    """Judge what is said about time, by the number of rounds."""
    ours, plain, changed = (rounds[label] for label in (OURS, PLAIN, CHANGED))
    less = Claim("4a", "With smaller factors of sensitive values fusing takes less time")
    return [
        check_within_factor_two(Claim("3a", "Fusing takes about as long with factors as without"), ours, plain),
        check_clearly_falling(Claim("3a", "Time falls as k grows"), [ours]),
        check_steepest_step(Claim("3a", "Time falls most steeply between k=75 and k=100"), ours, STEEPEST),
        check_clearly_falling(Claim("4a", "Time falls as k grows, with both factors"), [ours, changed]),
        check_within_factor_two(Claim("4a", "Time hardly differs between the factors"), changed, ours),
        check_clearly_below(less, changed, ours).explanation(causes.as_changed),
    ]


def accuracy_findings(part: str, right: Mapping[str, RepeatedLine], causes: FindingCauses) -> list[FigureFinding]:
    """Judge what is said about accuracy, as measured with some attributes; the part names them."""
    ours, plain, changed, nothing = (right[label] for label in (OURS, PLAIN, CHANGED, NOTHING))
    third, fourth = f"3b{part}", f"4b{part}"
    found = [
        check_clearly_below(Claim(third, "The fused table is useful: accuracy is above UE"), nothing, ours),
        check_clearly_below(Claim(third, "Factors cost accuracy: it is below ASHP's"), ours, plain).explanation(
            causes.as_plain
        ),
        check_clearly_falling(Claim(third, "Accuracy falls as k grows, except at k=75"), [ours], excepted=[RISE_AT]),
        check_rises_to(Claim(third, "At k=75 accuracy rises a little"), ours, RISE_AT),
        check_clearly_below(Claim(fourth, "The fused table stays useful: accuracy is above UE"), nothing, changed),
        check_clearly_falling(
            Claim(fourth, "Accuracy falls as k grows, with both factors"), [ours, changed], excepted=[RISE_AT]
        ),
        check_clearly_below(
            Claim(fourth, "Smaller factors of sensitive values cost accuracy"), changed, ours
        ).explanation(causes.as_changed),
        check_falls_more(
            Claim(fourth, "With them accuracy falls more from the smallest to the largest k"), changed, ours
        ),
    ]
    return [each.explanation(causes.left) if causes.left else each for each in found]
