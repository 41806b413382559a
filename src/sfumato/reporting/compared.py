"""The figures of one release that are put beside those of others, whatever kind of release it is."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sfumato.reporting.facts import FORMAT
from sfumato.reporting.telling import attack_title, present_models
from sfumato.reporting.words import ENGLISH
from sfumato.words import Messages

LOST_CELLS = ("ncp", "lost-precision")  # 1 if every cell of the quasi-identifiers is lost
SYNTHETIC_UTILITY = ("mean-shift", "covariance-error", "correlation-difference")


@dataclass(frozen=True, kw_only=True)
class ComparedAttack:
    """How often an attack is right about a person, with its 95% confidence interval, and how often guessing is."""

    attack: str
    sensitive: str | None
    rate: float
    interval: tuple[float, float]
    guessing: float
    verdict: str

    @property
    def title(self) -> str:
        """The attack, and what it is about."""
        return attack_title(self.attack, self.sensitive, ENGLISH)


@dataclass(frozen=True, kw_only=True)
class ComparedRelease:
    """What one release promises, exposes, withstands, loses and keeps.

    Parameters
    ----------
    name : what the candidate is called.
    made_by : the algorithm, or what else made it.
    holds : whether everything that is promised holds.
    promises : every promise in words, with the level that is reached.
    records : how many records are published.
    suppressed : how many are left out, if the original is known.
    exposure : the mean and the highest exposure of identities (under no name) and of each sensitive column to an
        adversary who knows everybody's quasi-identifiers; None if it is not known.
    attacks : what attacks get right; None if none was run.
    measures : what is lost, by name.
    utility : what analysts still find, by name; see `sfumato.judging.comparing.utility.UtilityComparison`.
    input : the fingerprint of the table that it was made from, if it is known.
    facts : of the report, from which promises are said in other words.
    """

    name: str
    made_by: str
    holds: bool
    promises: tuple[str, ...]
    records: int
    suppressed: int | None = None
    exposure: Mapping[str | None, tuple[float, float]] | None = field(default=None, hash=False)
    attacks: tuple[ComparedAttack, ...] | None = None
    metrics: Mapping[str, float] = field(default_factory=dict, hash=False)
    utility: Mapping[str, float] = field(default_factory=dict, hash=False)
    input: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False, compare=False)

    def model_texts(self, say: Messages) -> tuple[str, ...]:
        """Say every promise in the words of a language, with the level that is reached."""
        return _models_of(self.facts, say) if self.facts else self.promises

    @property
    def emptied(self) -> bool:
        """Whether every quasi-identifier is published as `*` throughout, so that nothing but the rest is of use."""
        known = [self.metrics[name] for name in LOST_CELLS if name in self.metrics]
        return bool(known) and min(known) >= 1

    @property
    def risk(self) -> float | None:
        """The mean exposure of what is exposed most: identities, or a sensitive column."""
        return None if not self.exposure else max(mean for mean, _ in self.exposure.values())

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        exposure = self.exposure and [
            {"attribute": name, "mean": mean, "maximum": most} for name, (mean, most) in self.exposure.items()
        ]
        attacks = self.attacks and [{**asdict(each), "interval": list(each.interval)} for each in self.attacks]
        return {
            "name": self.name,
            "made_by": self.made_by,
            "holds": self.holds,
            "promises": list(self.promises),
            "records": self.records,
            "suppressed": self.suppressed,
            "exposure": exposure,
            "attacks": attacks,
            "measures": dict(self.metrics),
            "utility": dict(self.utility),
            "risk": self.risk,
            "input": self.input,
        }


def candidate_from_facts(name: str, facts: Mapping[str, Any]) -> ComparedRelease:
    """Take the figures of a candidate from the facts of its report; see `sfumato.reporting.facts`."""
    recipe = tomllib.loads(facts["recipe"])
    source = recipe.get("input", {}).get("sha256")
    if facts["format"] != FORMAT:
        measures = facts["measures"]
        return ComparedRelease(
            name=name,
            made_by="condensation",
            holds=facts["audit"]["holds"],
            promises=_models_of(facts, ENGLISH),
            facts=facts,
            records=facts["records"],
            metrics={key: value for key, value in measures.items() if key not in SYNTHETIC_UTILITY},
            utility={key: value for key, value in measures.items() if key in SYNTHETIC_UTILITY},
            input=source,
        )
    return ComparedRelease(
        name=name,
        made_by=recipe.get("algorithm", {}).get("name", "fusion"),
        holds=facts["audit"]["holds"],
        promises=_models_of(facts, ENGLISH),
        facts=facts,
        records=facts["rows"]["published"],
        suppressed=facts["rows"]["suppressed"],
        exposure=_risk_of(facts),
        attacks=None if facts["attacks"] is None else tuple(_attack_of(each) for each in facts["attacks"]),
        metrics={key: value for key, value in facts["measures"].items() if not isinstance(value, str)},
        utility={} if facts["utility"] is None else facts["utility"]["figures"],
        input=source,
    )


def _models_of(facts: Mapping[str, Any], say: Messages) -> tuple[str, ...]:
    if facts["format"] != FORMAT:
        return (say("synthetic.promise", k=str(facts["k"])),)
    told = present_models(facts["promise"], facts["audit"]["models"], facts["words"], say)
    return tuple(say("comparison.reached", **each["figures"]) for each in told)


def _risk_of(facts: Mapping[str, Any]) -> dict[str | None, tuple[float, float]] | None:
    if facts["exposure"] is None:
        return None
    return {each["attribute"]: (each["everybody"]["mean"], each["everybody"]["maximum"]) for each in facts["exposure"]}


def _attack_of(each: Mapping[str, Any]) -> ComparedAttack:
    after = each["after"]
    return ComparedAttack(
        attack=each["attack"],
        sensitive=each["sensitive"],
        rate=after["rate"],
        interval=(after["low"], after["high"]),
        guessing=after["guessing"],
        verdict=after["verdict"],
    )
