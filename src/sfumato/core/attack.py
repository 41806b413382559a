"""What an attack got right: a success rate with its confidence interval, the rate of guessing, and a control."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import Any, ClassVar, Protocol, TypeVar

from sfumato._progress import Progress, ignore_progress
from sfumato._validation import is_integer, require, suggest_closest
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.attacks._allowed_rates import Guarantee
from sfumato.tables.attacks._setting import AttackSetting

LEVEL = 0.95
NEGLIGIBLE = 1e-6


class AttackVerdict(StrEnum):
    """What the rate of an attack means, given what would be right anyway and what the guarantee allows."""

    NO_GAIN = "no gain"
    ALLOWED = "within the guarantee"
    NOT_LIMITED = "not limited"
    BROKEN = "above the guarantee"


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """How often an attack was right.

    Parameters
    ----------
    attack : the name of the attack.
    question : which of the three questions of WP216 it answers: singling out, linkability or inference.
    sensitive : the attribute that was attacked; empty for attacks on identity or presence.
    targets : the number of people attacked, and `claims` the number of them about whom the adversary claimed something.
    successes : the number of right claims.
    baseline : the rate of claims about the same targets without the published table.
    control_targets, control_successes : the same attack on people about whom the table says nothing.
    details : further shares, by name.
    level : the level of the confidence intervals.
    runs : how many independent runs the targets come from, if those of one run are found together or not at all.
        Intervals then count a run as one target, which is wider than it need be.
    allowed : the largest rate that the guarantee of the table allows; None if nothing that is promised limits it.
    """

    attack: str
    question: str
    sensitive: str = ""
    targets: int
    claims: int
    successes: int
    baseline: float
    control_targets: int
    control_successes: int
    details: Mapping[str, float] = field(default_factory=dict)
    level: float = LEVEL
    runs: int | None = None
    allowed: float | None = None

    @property
    def rate(self) -> float:
        """The share of all targets about whom the adversary was right."""
        return self.successes / self.targets

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the rate (Clopper and Pearson)."""
        return self._interval(self.successes, self.targets)

    @property
    def precision(self) -> float:
        """The share of claims that are right; 0 without claims."""
        return self.successes / self.claims if self.claims else 0.0

    @property
    def control(self) -> float:
        """The rate of the control; 0 if there was none."""
        return self.control_successes / self.control_targets if self.control_targets else 0.0

    @property
    def control_interval(self) -> tuple[float, float]:
        """The confidence interval of the control's rate; from 0 to 1 if there was none."""
        if self.control_targets == 0:
            return 0.0, 1.0
        return self._interval(self.control_successes, self.control_targets)

    def _interval(self, successes: int, targets: int) -> tuple[float, float]:
        if self.runs is None:
            return clopper_pearson(successes, targets, self.level)
        return clopper_pearson(successes * self.runs / targets, self.runs, self.level)

    @property
    def excess(self) -> float:
        """How far the attack gets from what is right anyway (baseline or control) toward always right.

        0 means that the published table gave the adversary nothing, and 1 that she is always right.
        """
        anyway = max(self.baseline, self.control)
        return max(0.0, (self.rate - anyway) / (1 - anyway)) if anyway < 1 else 0.0

    @property
    def gains(self) -> bool:
        """Whether the attack is surely better than guessing and than its control: intervals do not overlap."""
        surely = max(self.baseline, self.control_interval[1] if self.control_targets else 0.0)
        return self.interval[0] > surely

    @property
    def broken(self) -> bool:
        """Whether the attack is surely right more often than the guarantee allows."""
        return self.allowed is not None and self.interval[0] > self.allowed

    @property
    def verdict(self) -> AttackVerdict:
        """What the rate means: worry if an attack is not limited, and more if the guarantee is broken."""
        if self.broken:
            return AttackVerdict.BROKEN
        if not self.gains:
            return AttackVerdict.NO_GAIN
        return AttackVerdict.NOT_LIMITED if self.allowed is None else AttackVerdict.ALLOWED

    @property
    def meaning(self) -> str:
        """What the verdict means for this attack, in a sentence."""
        right = f"{self.title}: right about {self.rate:.1%} of the targets"
        anyway = f"{max(self.baseline, self.control):.1%} without the table"
        match self.verdict:
            case AttackVerdict.BROKEN:
                return f"{right}, surely more than the {self.allowed:.1%} that the guarantee allows: it is broken."
            case AttackVerdict.ALLOWED:
                return f"{right} ({anyway}), and the guarantee allows up to {self.allowed:.1%}."
            case AttackVerdict.NOT_LIMITED:
                return f"{right} ({anyway}), and no model that was given limits this."
            case _:
                return f"{right}, not surely more than without the table."

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers."""
        return {
            "attack": self.attack,
            "question": self.question,
            "sensitive": self.sensitive,
            "targets": self.targets,
            "claims": self.claims,
            "successes": self.successes,
            "rate": self.rate,
            "interval": list(self.interval),
            "level": self.level,
            "precision": self.precision,
            "baseline": self.baseline,
            "control": self.control,
            "control_interval": list(self.control_interval),
            "control_targets": self.control_targets,
            "excess": self.excess,
            "gains": self.gains,
            "allowed": self.allowed,
            "verdict": self.verdict.value,
            "details": dict(self.details),
            **({} if self.runs is None else {"runs": self.runs}),
        }

    @property
    def title(self) -> str:
        """The attack, and the attribute it is about."""
        return f"{self.attack} of {self.sensitive!r}" if self.sensitive else self.attack

    def cells(self) -> tuple[str, ...]:
        """Return the result as a row of a table."""
        low, high = self.interval
        return (
            self.title,
            self.question,
            f"{self.rate:.3g} ({_round_lower_end(low)} to {high:.3g})",
            f"{self.baseline:.3g}",
            f"{self.control:.3g}" if self.control_targets else "-",
            "-" if self.allowed is None else f"{self.allowed:.3g}",
            self.verdict.value.upper() if self.verdict in WORRYING else self.verdict.value,
        )

    def __repr__(self) -> str:
        low, high = self.interval
        against = f"baseline {self.baseline:.3g}, control {self.control:.3g}"
        said = f"{self.successes:,} of {self.targets:,} targets ({self.claims:,} claims)"
        return f"<{self.title}: rate {self.rate:.3g} ({_round_lower_end(low)} to {high:.3g}), {said}; {against}>"


WORRYING = (AttackVerdict.NOT_LIMITED, AttackVerdict.BROKEN)
HEAD = ("attack", "question", "rate", "guessing", "control", "allowed", "verdict")


@dataclass(frozen=True, kw_only=True)
class AttackResults:
    """Several attacks on one table; `skipped` says in a sentence why others did not apply."""

    results: tuple[AttackResult, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def gaining(self) -> tuple[AttackResult, ...]:
        """The attacks that are surely better than guessing and than their controls."""
        return tuple(result for result in self.results if result.gains)

    @property
    def broken(self) -> tuple[AttackResult, ...]:
        """The attacks that are surely right more often than the guarantee allows."""
        return tuple(result for result in self.results if result.broken)

    def result(self, attack: str, sensitive: str = "") -> AttackResult:
        """Return the result of an attack, for one sensitive attribute if there are several."""
        found = [each for each in self.results if each.attack == attack and sensitive in {"", each.sensitive}]
        names = sorted({each.attack for each in self.results})
        require(bool(found), "Attacks", "attack", f"one that was run ({', '.join(names)})", attack)
        return found[0]

    def questions(self) -> dict[str, AttackResult]:
        """Return for each question of WP216 the attack with the largest excess."""
        found: dict[str, AttackResult] = {}
        for result in self.results:
            if result.question not in found or result.excess > found[result.question].excess:
                found[result.question] = result
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers and strings."""
        return {"attacks": [result.to_dict() for result in self.results], "skipped": dict(self.skipped)}

    def __iter__(self) -> Iterator[AttackResult]:
        return iter(self.results)

    def __repr__(self) -> str:
        rows = [HEAD, *(result.cells() for result in self.results)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *(f"{name} skipped: {why}" for name, why in self.skipped.items())])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in HEAD)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in result.cells()) + "</tr>" for result in self.results
        )
        return f"<table><tr>{head}</tr>{rows}</table>"


def clopper_pearson(successes: float, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of probabilities that a count does not contradict; its coverage is never below the level.

    >>> low, high = clopper_pearson(0, 10)
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    from scipy.special import betaincinv

    require(is_integer(trials) and trials >= 1, "clopper_pearson", "trials", "at least 1", trials)
    require(0 <= successes <= trials, "clopper_pearson", "successes", f"from 0 to {trials}", successes)
    require(0 < level < 1, "clopper_pearson", "level", "between 0 and 1", level)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return low, high


def _round_lower_end(low: float) -> str:
    """Return the lower end of an interval for people: far below what any attack can tell from 0, it is 0.

    >>> _round_lower_end(0.0125), _round_lower_end(5.87e-186)
    ('0.0125', '0')
    """
    return f"{low:.3g}" if low >= NEGLIGIBLE else "0"


# What every attack on a published table provides.

SINGLING_OUT, LINKABILITY, INFERENCE = "singling out", "linkability", "inference"


@dataclass(frozen=True, kw_only=True)
class Attack(ABC):
    """A way for an adversary to learn something about targets from a published table.

    A subclass states its name, which of the three questions of WP216 it answers, and its source. `run` attacks the
    targets of a setting; `refusal` returns in a sentence why it cannot, or nothing.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    reference: ClassVar[str]

    def check(self, setting: AttackSetting) -> str | None:  # noqa: ARG002 - most attacks work on every setting
        """Return why the attack does not apply to a setting; None if it does."""
        return None

    def allowed(self, guarantee: Guarantee, sensitive: str) -> float | None:  # noqa: ARG002 - most models limit few attacks
        """Return the largest rate that a guarantee allows; None if it does not limit this attack."""
        return None

    @abstractmethod
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        """Attack all targets: return one result, or one for each sensitive attribute."""


# Run attacks of one kind: those that were chosen, or all that apply.

Chosen = TypeVar("Chosen")

Setting_contra = TypeVar("Setting_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class RunnableAttack(Protocol[Setting_contra, Result_co]):
    """An attack, whatever it works on."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    def check(self, setting: Setting_contra) -> str | None:
        """Return why the attack does not apply; None if it does."""
        ...

    def run(self, setting: Setting_contra) -> Iterator[Result_co]:
        """Attack all targets."""
        ...


def resolve_attack(given: Chosen | str, every: Mapping[str, Callable[[], Chosen]], kind: type, owner: str) -> Chosen:
    """Return an attack that is given as such or by its name; `owner` is who asks."""
    if isinstance(given, str):
        if given not in every:
            hint = suggest_closest(given, every) or f"; choose one of {', '.join(every)}."
            raise InvalidParameterError(f"There is no attack {given!r}{hint}")
        return every[given]()
    require(isinstance(given, kind), owner, "attacks", "a list of attacks or their names", given)
    return given


def run_attacks(
    chosen: Sequence[RunnableAttack[Setting_contra, Result_co]],
    every: Mapping[str, Callable[[], RunnableAttack[Setting_contra, Result_co]]],
    setting: Setting_contra,
    tell: Progress = ignore_progress,
) -> tuple[tuple[Result_co, ...], dict[str, str]]:
    """Run the chosen attacks, all of which must apply, or else every one that applies; `tell` is told which.

    Returns
    -------
    The results, and why others were skipped, by name.
    """
    results: list[Result_co] = []
    skipped = {}
    run = chosen or [kind() for kind in every.values()]
    for number, each in enumerate(run):
        tell(number / len(run), each.name)
        why = each.check(setting)
        if why is None:
            results += each.run(setting)
        elif chosen:
            raise SchemaError(f"The attack {each.name} does not apply: {why}")
        else:
            skipped[each.name] = why
    return tuple(results), skipped
