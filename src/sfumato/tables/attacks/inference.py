"""Attacks on sensitive values: what all records that may be a target's have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core.attack import INFERENCE, LINKABILITY, Attack, AttackResult
from sfumato.encoding.domain import Domain
from sfumato.tables.attacks._allowed_rates import Guarantee
from sfumato.tables.attacks._beliefs import Flags, Floats, Ints, ValueBeliefs, find_texts
from sfumato.tables.attacks._setting import AttackSetting

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Guesses:
    """For every target, whether a claim is made, whether it is right, and the chance to be right without the table."""

    claimed: Flags
    right: Flags
    anyway: Floats


@dataclass(frozen=True, kw_only=True)
class InferenceAttack(Attack):
    """An attack on a sensitive attribute, by what the matching records say about it.

    The control attacks outsiders, if their sensitive values are known. Otherwise it checks the claims about a target
    against the value of another one.
    """

    question = INFERENCE

    @abstractmethod
    def guess(self, beliefs: ValueBeliefs, truth: Ints, prior: Floats, domain: Domain) -> Guesses:
        """Make claims about targets; `truth` says which are right, `prior` is the distribution of the whole table."""

    def check(self, setting: AttackSetting) -> str | None:
        """Require a sensitive attribute that the attack can work on."""
        if not self.attacked(setting):
            return "there is no sensitive attribute that it works on and whose truth is known."
        return None

    def attacked(self, setting: AttackSetting) -> tuple[str, ...]:
        """Return the sensitive attributes that the attack works on."""
        return setting.sensitive

    def believed(self, setting: AttackSetting, sensitive: str) -> ValueBeliefs:
        """Return what is believed about the targets."""
        return setting.beliefs(sensitive)

    def details(self, setting: AttackSetting, sensitive: str) -> dict[str, float]:  # noqa: ARG002 - most have none
        """Return further shares about one sensitive attribute."""
        return {}

    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        """Attack the sensitive attributes one by one."""
        for name in self.attacked(setting):
            prior, domain = setting.view.prior(name), setting.view.groups.domains[name]
            beliefs, truth = self.believed(setting, name), setting.targets.truth[name]
            made = self.guess(beliefs, truth, prior, domain)
            control = self._control(setting, name, beliefs)
            checked = None if control is None else self.guess(*control, prior, domain)
            yield AttackResult(
                attack=self.name,
                question=self.question,
                sensitive=name,
                targets=len(truth),
                claims=int(made.claimed.sum()),
                successes=int((made.claimed & made.right).sum()),
                baseline=float(np.where(made.claimed, made.anyway, 0.0).mean()),
                control_targets=0 if checked is None else len(checked.claimed),
                control_successes=0 if checked is None else int((checked.claimed & checked.right).sum()),
                details=self.details(setting, name),
            )

    def _control(
        self, setting: AttackSetting, sensitive: str, beliefs: ValueBeliefs
    ) -> tuple[ValueBeliefs, Ints] | None:
        outsiders, candidates = setting.outsiders, setting.outside_candidates
        if outsiders is not None and candidates is not None and sensitive in outsiders.truth:
            return setting.view.beliefs(candidates, sensitive), outsiders.truth[sensitive]
        if len(setting.targets) == 1:
            return None
        return beliefs, setting.targets.truth[sensitive][setting.control_targets]


@dataclass(frozen=True, kw_only=True)
class Homogeneity(InferenceAttack):
    """Claim a value if all records that match a target have it, or at least the given share of them.

    Without the table, the adversary names the most frequent value overall.

    Parameters
    ----------
    certainty : the smallest share of the value among the matching records.
    """

    name = "homogeneity"
    reference = "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, l-diversity, ICDE 2006"
    certainty: float = 1.0

    def __post_init__(self) -> None:
        require(
            is_finite_number(self.certainty) and 0 < self.certainty <= 1, self, "certainty", "in (0, 1]", self.certainty
        )

    def guess(self, beliefs: ValueBeliefs, truth: Ints, prior: Floats, domain: Domain) -> Guesses:  # noqa: ARG002 - values are not compared
        """Claim values that are certain."""
        return claim_value(beliefs, truth, prior, self.certainty)

    def allowed(self, guarantee: Guarantee, sensitive: str) -> float | None:
        """Return 0 if no value can have so large a share."""
        share = guarantee.max_share(sensitive)
        diverse = self.certainty == 1 and guarantee.min_values(sensitive) > 1
        return 0.0 if diverse or share < self.certainty - ROUNDING else share if share < 1 else None


@dataclass(frozen=True, kw_only=True)
class BackgroundKnowledge(InferenceAttack):
    """Claim a value if it is certain once some values that the target does not have are ruled out.

    The adversary knows some values that each target does not have. In the worst case these are the most likely wrong
    ones.

    Parameters
    ----------
    ruled_out : the number of values she can rule out.
    certainty : the smallest share of the claimed value among the rest.
    """

    name = "background-knowledge"
    reference = "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam, l-diversity, ICDE 2006"
    ruled_out: int = 1
    certainty: float = 1.0

    def __post_init__(self) -> None:
        require(is_integer(self.ruled_out) and self.ruled_out >= 0, self, "ruled_out", "at least 0", self.ruled_out)
        require(
            is_finite_number(self.certainty) and 0 < self.certainty <= 1, self, "certainty", "in (0, 1]", self.certainty
        )

    def guess(self, beliefs: ValueBeliefs, truth: Ints, prior: Floats, domain: Domain) -> Guesses:  # noqa: ARG002 - values are not compared
        """Rule out values, then claim what is certain; knowledge without the table is treated in the same way."""
        made = claim_value(self._left(beliefs, truth), truth, prior, self.certainty)
        values = np.arange(len(prior))
        everything = ValueBeliefs.of_entries(
            np.repeat(np.arange(len(truth)), len(prior)),
            np.tile(values, len(truth)),
            np.tile(prior, len(truth)),
            targets=len(truth),
            width=len(prior),
        )
        anyway, _ = self._left(everything, truth).likeliest()
        return Guesses(made.claimed, made.right, (anyway == truth).astype(np.float64))

    def allowed(self, guarantee: Guarantee, sensitive: str) -> float | None:
        """Return 0 if more than one value is left, however many are ruled out."""
        return 0.0 if self.certainty == 1 and guarantee.min_values(sensitive) > self.ruled_out + 1 else None

    def _left(self, beliefs: ValueBeliefs, truth: Ints) -> ValueBeliefs:
        rank = beliefs.ranked_wrong(truth)
        return beliefs.without((rank >= 0) & (rank < self.ruled_out))


@dataclass(frozen=True, kw_only=True)
class Skewness(InferenceAttack):
    """Claim the value whose share among the matching records has grown most over its share in the whole table.

    Parameters
    ----------
    gain : claim only if the share has grown at least by this factor.
    """

    name = "skewness"
    reference = "Li, Li, Venkatasubramanian, t-closeness, ICDE 2007"
    gain: float = 2.0

    def __post_init__(self) -> None:
        require(is_finite_number(self.gain) and self.gain > 1, self, "gain", "above 1", self.gain)

    def guess(self, beliefs: ValueBeliefs, truth: Ints, prior: Floats, domain: Domain) -> Guesses:  # noqa: ARG002 - values are not compared
        """Claim the value that has grown most."""
        usual = np.maximum(prior[beliefs.codes], np.finfo(float).tiny)
        value, growth = beliefs.likeliest(beliefs.chances / usual)
        claimed = growth >= self.gain - ROUNDING
        return Guesses(claimed, value == truth, np.where(claimed, np.append(prior, 0.0)[value], 0.0))

    def allowed(self, guarantee: Guarantee, sensitive: str) -> float | None:
        """Return the largest share that a value may have."""
        share = guarantee.max_share(sensitive)
        return share if share < 1 else None


@dataclass(frozen=True, kw_only=True)
class Similarity(InferenceAttack):
    """Claim a kind of value if all records that match a target have values of that kind.

    Kinds are the first level of the attribute's hierarchy. Without one, values with an order are of one kind if they
    lie within a part of their range; values without an order cannot be attacked.

    Parameters
    ----------
    closeness : the size of that part, as a share of the range.
    """

    name = "similarity"
    reference = "Li, Li, Venkatasubramanian, t-closeness, ICDE 2007"
    closeness: float = 0.1

    def __post_init__(self) -> None:
        require(
            is_finite_number(self.closeness) and 0 <= self.closeness < 1, self, "closeness", "in [0, 1)", self.closeness
        )

    def attacked(self, setting: AttackSetting) -> tuple[str, ...]:
        """Return the attributes whose values can be alike."""
        domains = setting.view.groups.domains
        return tuple(
            name
            for name in setting.sensitive
            if _has_categories(domains[name]) or (domains[name].scale.ordered and len(domains[name]) > 1)
        )

    def guess(self, beliefs: ValueBeliefs, truth: Ints, prior: Floats, domain: Domain) -> Guesses:
        """Claim the kind that is certain."""
        if _has_categories(domain):
            assert domain.hierarchy is not None  # noqa: S101 - it has kinds
            kinds = np.asarray(domain.hierarchy.levels[1], dtype=np.int64)
            width = int(kinds.max()) + 2
            kinds = np.append(kinds, width - 1)  # missing values are a kind of their own
            own = np.where(truth >= 0, kinds[truth], -1)
            shares: Floats = np.bincount(kinds, weights=prior, minlength=width).astype(np.float64)
            return claim_value(beliefs.coarsened(kinds, width), own, shares, 1.0)
        return self._near(beliefs, truth, prior, domain)

    def _near(self, beliefs: ValueBeliefs, truth: Ints, prior: Floats, domain: Domain) -> Guesses:
        """Claim a short interval; without the table, the interval of that length that contains most records."""
        place = np.append(domain.positions, np.nan)  # a missing value is nowhere
        length = self.closeness * float(domain.positions.max() - domain.positions.min())
        low, high = np.full(len(beliefs), np.nan), np.full(len(beliefs), np.nan)
        filled = np.flatnonzero(np.diff(beliefs.offsets))
        if len(filled):
            low[filled] = np.minimum.reduceat(place[beliefs.codes], beliefs.offsets[filled])
            high[filled] = np.maximum.reduceat(place[beliefs.codes], beliefs.offsets[filled])
        own = np.where(truth >= 0, place[truth], np.nan)
        held = np.append(0.0, np.cumsum(prior[:-1]))
        ends = np.searchsorted(domain.positions, domain.positions + length + ROUNDING, side="right")
        start = int(np.argmax(held[ends] - held[:-1]))
        usual = (domain.positions[start] <= own) & (own <= domain.positions[start] + length)
        return Guesses(high - low <= length + ROUNDING, (low <= own) & (own <= high), usual.astype(np.float64))


def claim_value(beliefs: ValueBeliefs, truth: Ints, prior: Floats, certainty: float) -> Guesses:
    """Claim the most likely value if it is certain enough; without the table, name the most frequent one."""
    value, chance = beliefs.likeliest()
    claimed = (chance >= certainty - ROUNDING) & (value >= 0)
    return Guesses(claimed, value == truth, (truth == int(np.argmax(prior))).astype(np.float64))


def _has_categories(domain: Domain) -> bool:
    return domain.hierarchy is not None and domain.hierarchy.height > 1


# The attack on two releases of the same people: a value must be possible in both.


@dataclass(frozen=True, kw_only=True)
class Composition(Homogeneity):
    """Claim a value if it is the only one that both of two releases leave possible for a target.

    `details` are the rates that either release gives alone.

    Parameters
    ----------
    certainty : the smallest probability of the value, given both releases.
    """

    name = "composition"
    question = LINKABILITY
    reference = "Ganta, Kasiviswanathan, Smith, Composition attacks and auxiliary information, KDD 2008"

    def check(self, setting: AttackSetting) -> str | None:
        """Require a second release with a sensitive attribute of the first."""
        if setting.other is None:
            return "it needs a second release of the same people; give other."
        if not self.attacked(setting):
            return "the second release has no sensitive attribute of the first."
        return None

    def attacked(self, setting: AttackSetting) -> tuple[str, ...]:
        """Return the sensitive attributes of both releases."""
        shared = () if setting.other is None else setting.other.groups.histograms
        return tuple(name for name in setting.sensitive if name in shared)

    def believed(self, setting: AttackSetting, sensitive: str) -> ValueBeliefs:
        """Return what both releases leave possible."""
        return setting.beliefs(sensitive).combine(self._second(setting, sensitive), setting.view.prior(sensitive))

    def details(self, setting: AttackSetting, sensitive: str) -> dict[str, float]:
        """Return the rates of either release alone."""
        truth, prior = setting.targets.truth[sensitive], setting.view.prior(sensitive)
        alone = {"first_alone": setting.beliefs(sensitive), "second_alone": self._second(setting, sensitive)}
        made = {name: claim_value(beliefs, truth, prior, self.certainty) for name, beliefs in alone.items()}
        return {name: float((each.claimed & each.right).mean()) for name, each in made.items()}

    @staticmethod
    def _second(setting: AttackSetting, sensitive: str) -> ValueBeliefs:
        """Read the second release, with values numbered as in the first."""
        assert setting.other is not None  # noqa: S101 - refused before
        found = setting.other.beliefs(setting.other.candidates(setting.targets.points), sensitive)
        names = setting.view.texts(sensitive)
        place = find_texts([*setting.other.texts(sensitive), ""], names)
        place[-1] = len(names)  # missing values
        return found.recoded(place, len(names) + 1)
