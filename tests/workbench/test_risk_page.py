"""What the page of risk says of attacks is no more than what was found."""

from __future__ import annotations

import pytest

from sfumato._locale.messages import load_messages
from sfumato.core.attack import AttackVerdict
from sfumato.workbench._pages.risk import _attack

ATTACKS = ("singling-out", "linkage", "homogeneity", "background-knowledge", "skewness")
ATTACKS += ("membership", "similarity", "composition")


def attack(name="linkage", *, rate=0.1, guessing=0.01, control=None, verdict="no gain", allowed=None, before=0.5):
    after = {"rate": rate, "low": rate / 2, "high": 2 * rate, "guessing": guessing, "control": control}
    return {
        "attack": name,
        "question": "linkability",
        "sensitive": "",
        "targets": 150,
        "before": None if before is None else {"rate": before},
        "after": {**after, "verdict": verdict, "allowed": allowed},
    }


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"verdict": "not limited"}, "gains, not limited"),
        ({"verdict": "within the guarantee", "allowed": 0.2}, "within the guarantee"),
        ({"verdict": "above the guarantee", "allowed": 0.01}, "above the guarantee"),
        ({}, "not surely better"),
        ({"rate": 0.01}, "no better than guessing"),
        ({"rate": 0.1, "control": 0.2}, "no better than guessing"),
        ({"rate": 0.0, "guessing": 0.0}, "no better than guessing"),
    ],
)
def test_an_attack_that_may_be_better_is_not_called_no_better(given, verdict):
    told = _attack(attack(**given), load_messages("en"))
    assert told["verdict"] == verdict
    assert ("may be chance" in told["meaning"]) == (verdict == "not surely better")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("verdict", list(AttackVerdict))
@pytest.mark.parametrize("before", [0.5, None])
def test_every_attack_has_its_words(language, name, verdict, before):
    told = _attack(attack(name, verdict=verdict, allowed=0.2, before=before), load_messages(language))
    assert "{" not in told["meaning"] + told["title"] + told["picture"]


def test_linkage_is_explained_by_what_is_promised():
    told = _attack(attack(rate=0.076, guessing=0.0, verdict="within the guarantee", allowed=0.2), load_messages("en"))
    assert "7.6% of the time" in told["meaning"]
    assert "what is promised allows up to 20.0%" in told["meaning"]
    assert told["color"] == "good"
