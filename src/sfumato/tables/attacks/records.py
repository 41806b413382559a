"""Attacks on records that are perturbed, synthetic or averaged: by the nearest record, and by learning.

They ask how often an adversary is right about a person in the original, and how often by the same way about one who is
not. What is right about both is what the population tells; the rest is what the published table gave away. No
correspondence is needed: the original is the truth.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any, ClassVar

import numpy as np

from sfumato._optional import import_optional
from sfumato._randomness import draw_seed
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core.attack import INFERENCE, LINKABILITY, SINGLING_OUT, resolve_attack, run_attacks
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.schema.schema import Schema
from sfumato.tables.attacks._beliefs import Flags, Floats, Ints
from sfumato.tables.attacks._gower import TIE
from sfumato.tables.attacks._record_results import (
    RecordAttackResult,
    RecordAttackResults,
    auc_with_error,
    result_from_auc,
    result_from_counts,
)
from sfumato.tables.attacks._record_setting import FEW, FEWEST, RecordSetting, prepare_record_setting
from sfumato.tables.attacks._setting import MOST_TARGETS

GIOMI = "Giomi, Boenisch, Wehmeyer, Tasnadi, A unified framework for quantifying privacy risk, PoPETs 2023(2)"
NO_CONTROL = "it needs persons who were not used for the release; give a control."
CONSTANTS = 500  # candidates for the best constant guess of a number
TREES = 200
LEAF = 3


@dataclass(frozen=True, kw_only=True)
class RecordAttack(ABC):
    """An adversary's way to learn something about targets from published records.

    A subclass states its name, which of the three questions of WP216 it answers, its source, and `judges`: which kinds
    of release it can judge. Columns that are generalized are never compared.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    reference: ClassVar[str]
    judges: ClassVar[str] = "perturbed, synthetic and averaged records"

    def check(self, setting: RecordSetting) -> str | None:  # noqa: ARG002 - most attacks work on every setting
        """Return why the attack does not apply to a setting; None where it does."""
        return None

    @abstractmethod
    def run(self, setting: RecordSetting) -> Iterator[RecordAttackResult]:
        """Attack all targets: one result, or one for each column that is guessed."""


@dataclass(frozen=True, kw_only=True)
class LinkabilityAttack(RecordAttack):
    """Link what is known of a target from two sources, if both are nearest to one published record.

    Parameters
    ----------
    left, right : the columns of both sources; without any, the quasi-identifiers and the other columns.
    neighbors : how many nearest records of each are compared.
    """

    name = "link-halves"
    question = LINKABILITY
    reference = GIOMI
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    neighbors: int = 1

    def __post_init__(self) -> None:
        require(is_integer(self.neighbors) and self.neighbors >= 1, self, "neighbors", "at least 1", self.neighbors)
        require(not set(self.left) & set(self.right), self, "right", "other columns than left", self.right)

    def sides(self, setting: RecordSetting) -> tuple[list[str], list[str]]:
        """Return the columns of both sources."""
        quasi = () if setting.schema is None else setting.schema.quasi_identifiers
        first = [name for name in setting.names if name in (self.left or quasi)]
        first = first or list(setting.names[: len(setting.names) // 2])
        return first, [name for name in setting.names if name in self.right or (not self.right and name not in first)]

    def check(self, setting: RecordSetting) -> str | None:
        """Ask for columns on both sides."""
        return None if all(self.sides(setting)) else "there are no columns that can be compared on both sides."

    def run(self, setting: RecordSetting) -> Iterator[RecordAttackResult]:
        """Attack all targets."""
        counted = [(self._linked(setting, which, rows), len(rows)) for which, rows in setting.attacked()]
        published = setting.records.rows["published"]
        k = min(self.neighbors, published)
        baseline = 1 - comb(published - k, k) / comb(published, k)
        yield result_from_counts(
            self.name, self.question, counted[0], counted[1] if setting.controlled else None, baseline, few=FEW
        )

    def _linked(self, setting: RecordSetting, which: str, rows: Ints) -> float:
        left, right = self.sides(setting)
        pairs = zip(
            setting.records.distances(which, rows, left), setting.records.distances(which, rows, right), strict=True
        )
        return sum(float(self._shared(one, other).sum()) for (_, one), (_, other) in pairs)

    def _shared(self, one: Floats, other: Floats) -> Floats:
        """Return the chance that the nearest records by both sides are the same; ties are drawn for one neighbor."""
        if self.neighbors == 1:
            first, second = _nearest_published(one), _nearest_published(other)
            return np.asarray((first & second).sum(axis=1) / (first.sum(axis=1) * second.sum(axis=1)))
        near = [np.argsort(np.round(each, 9), axis=1, kind="stable")[:, : self.neighbors] for each in (one, other)]
        return np.array([float(len(np.intersect1d(a, b)) > 0) for a, b in zip(*near, strict=True)])


@dataclass(frozen=True, kw_only=True)
class _Inference(RecordAttack):
    """Guess a sensitive column of a target by what is known of her.

    Parameters
    ----------
    sensitive : the column to guess; without one, each sensitive one of the schema, or else each column.
    tolerance : a number is guessed right if it is off by at most this share of the truth.
    """

    question = INFERENCE
    sensitive: str = ""
    tolerance: float = 0.05

    def __post_init__(self) -> None:
        require(
            is_finite_number(self.tolerance) and self.tolerance >= 0, self, "tolerance", "at least 0", self.tolerance
        )

    def guessed(self, setting: RecordSetting) -> list[str]:
        """Return the columns to guess."""
        sensitive = () if setting.schema is None else setting.schema.sensitive
        wanted = [self.sensitive] if self.sensitive else [name for name in setting.names if name in sensitive]
        return [name for name in wanted or setting.names if name in setting.names and _varies(setting, name)]

    def check(self, setting: RecordSetting) -> str | None:
        """Ask for a column to guess and for something that is known."""
        if not self.guessed(setting):
            return "there is no column to guess that varies and is published as persons have it."
        return None if len(setting.names) > 1 else "nothing else is published by which to guess."

    def run(self, setting: RecordSetting) -> Iterator[RecordAttackResult]:
        """Guess the columns one by one."""
        for sensitive in self.guessed(setting):
            known = [name for name in setting.names if name != sensitive]
            shown = setting.records.values("published", sensitive)
            counted, truth = [], None
            for which, rows in setting.attacked():
                own = setting.records.values(which, sensitive)[rows]
                told = ~np.isnan(own)
                counted.append((self.right(setting, which, rows[told], known, sensitive), int(told.sum())))
                truth = own[told] if truth is None else truth
            if min(total for _, total in counted) == 0 or truth is None:
                continue
            right = self.is_right(setting, sensitive, shown[~np.isnan(shown)], truth[:, None])
            yield result_from_counts(
                self.name,
                self.question,
                counted[0],
                counted[1] if setting.controlled else None,
                float(right.mean()),
                sensitive=sensitive,
                few=FEW,
                details={"best_constant": self._best_constant(setting, sensitive, truth)},
            )

    @abstractmethod
    def right(self, setting: RecordSetting, which: str, rows: Ints, known: list[str], sensitive: str) -> float:
        """Return how many guesses are right, ties counting in part."""

    def is_right(self, setting: RecordSetting, sensitive: str, guess: Floats, truth: Floats) -> Flags:
        """Return which guesses are right: equal values, and numbers near the truth."""
        if not setting.records.is_number(sensitive):
            return np.asarray(guess == truth)
        scaled = setting.records.scales[sensitive]
        size = np.abs(truth * scaled.width + scaled.low)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(guess - truth) * scaled.width <= self.tolerance * size + TIE * scaled.width)

    def _best_constant(self, setting: RecordSetting, sensitive: str, truth: Floats) -> float:
        shown = np.unique(setting.records.values("published", sensitive))
        shown = shown[~np.isnan(shown)]
        step = max(1, len(shown) // CONSTANTS)
        return max(float(self.is_right(setting, sensitive, each, truth).mean()) for each in shown[::step])


@dataclass(frozen=True, kw_only=True)
class NearestInference(_Inference):
    """Guess that a target has the value of the nearest published record; of several, one is drawn."""

    name = "nearest-inference"
    reference = GIOMI

    def right(self, setting: RecordSetting, which: str, rows: Ints, known: list[str], sensitive: str) -> float:
        """Return how many guesses are right."""
        shown = setting.records.values("published", sensitive)
        own = setting.records.values(which, sensitive)[rows]
        total = 0.0
        for part, apart in setting.records.distances(which, rows, known):
            near = _nearest_published(apart)
            hits = near & self.is_right(setting, sensitive, shown[None, :], own[part][:, None])
            total += float((hits.sum(axis=1) / near.sum(axis=1)).sum())
        return total


@dataclass(frozen=True, kw_only=True)
class LearnedInference(_Inference):
    """Guess the value by gradient boosting that was trained on the published records; needs scikit-learn."""

    name = "learned-inference"
    reference = "Stadler, Oprisanu, Troncoso, Synthetic data: anonymisation groundhog day, USENIX Security 2022"

    def check(self, setting: RecordSetting) -> str | None:
        """Ask for scikit-learn, too."""
        return super().check(setting) or _check_sklearn()

    def right(self, setting: RecordSetting, which: str, rows: Ints, known: list[str], sensitive: str) -> float:
        """Return how many guesses are right."""
        ensemble = import_optional("sklearn.ensemble", extra="learn", error=SchemaError)
        shown = setting.records.values("published", sensitive)
        told = ~np.isnan(shown)
        number = setting.records.is_number(sensitive)
        kind = ensemble.HistGradientBoostingRegressor if number else ensemble.HistGradientBoostingClassifier
        model = kind(random_state=0, max_iter=60).fit(_matrix(setting, "published", known)[told], shown[told])
        guess = np.asarray(model.predict(_matrix(setting, which, known)[rows]), dtype=np.float64)
        own = setting.records.values(which, sensitive)[rows]
        return float(self.is_right(setting, sensitive, guess, own).sum())


@dataclass(frozen=True, kw_only=True)
class _ControlledAttack(RecordAttack):
    """An attack that means nothing without a control."""

    question = INFERENCE

    def check(self, setting: RecordSetting) -> str | None:
        """Ask for a control."""
        return None if setting.controlled else NO_CONTROL


@dataclass(frozen=True, kw_only=True)
class ClosestRecord(_ControlledAttack):
    """Measure how many published records are closer to the original than to the control; a half tells no memory."""

    name = "closest-record"
    reference = "Platzer, Reutterer, Holdout-based empirical assessment of mixed-type synthetic data, 2021"

    def run(self, setting: RecordSetting) -> Iterator[RecordAttackResult]:
        """Compare all published records with as many of either."""
        records, rng = setting.records, setting.rng(5)
        count = min(records.rows["original"], records.rows["control"])
        shown = np.arange(records.rows["published"])
        apart = []
        for which in ("original", "control"):
            kept = np.zeros(records.rows[which], dtype=np.bool_)
            kept[rng.permutation(records.rows[which])[:count]] = True
            least = np.empty(len(shown))
            for part, block in records.distances("published", shown, setting.names, which):
                least[part] = block[:, kept].min(axis=1)
            apart.append(least)
        gap = apart[0] - apart[1]
        share = float((gap < -TIE).mean() + (np.abs(gap) <= TIE).mean() / 2)
        details = {"copies": float((apart[0] <= TIE).mean()), "copies_of_control": float((apart[1] <= TIE).mean())}
        for which, each in zip(("original", "control"), apart, strict=True):
            details |= {f"{which}_{at}%": float(np.percentile(each, at)) for at in (1, 5, 50)}
        error = sqrt(max(share * (1 - share), 1 / (4 * len(shown))) / len(shown))
        yield result_from_auc(self.name, self.question, len(shown), share, error, details)


@dataclass(frozen=True, kw_only=True)
class MembershipDistance(_ControlledAttack):
    """Tell by the distance to the nearest published record who was in the original; a half tells nothing."""

    name = "membership-distance"
    reference = "Chen, Yu, Zhang, Fritz, GAN-Leaks, CCS 2020"

    def run(self, setting: RecordSetting) -> Iterator[RecordAttackResult]:
        """Compare targets with the control."""
        inside, outside = (-setting.records.least(which, rows, setting.names) for which, rows in setting.attacked())
        yield _membership(self, np.round(inside, 9), np.round(outside, 9))


@dataclass(frozen=True, kw_only=True)
class MembershipLearned(_ControlledAttack):
    """Tell by a classifier of published records against half of the control who was in the original."""

    name = "membership-learned"
    reference = "Stadler, Oprisanu, Troncoso, Synthetic data: anonymisation groundhog day, USENIX Security 2022"

    def check(self, setting: RecordSetting) -> str | None:
        """Ask for scikit-learn, too."""
        return super().check(setting) or _check_sklearn()

    def run(self, setting: RecordSetting) -> Iterator[RecordAttackResult]:
        """Train on the published records and half of the control; compare targets with the other half."""
        ensemble = import_optional("sklearn.ensemble", extra="learn", error=SchemaError)
        order = setting.rng(6).permutation(setting.records.rows["control"])
        taught, kept = order[: len(order) // 2], order[len(order) // 2 :]
        shown = _matrix(setting, "published", setting.names)
        others = _matrix(setting, "control", setting.names)
        model = ensemble.RandomForestClassifier(
            n_estimators=TREES, min_samples_leaf=LEAF, random_state=0, class_weight="balanced"
        )
        model.fit(np.vstack([shown, others[taught]]), np.repeat([1, 0], [len(shown), len(taught)]))
        inside = model.predict_proba(_matrix(setting, "original", setting.names)[setting.targets])[:, 1]
        yield _membership(self, inside, model.predict_proba(others[kept])[:, 1])


def _membership(attack: RecordAttack, inside: Floats, outside: Floats) -> RecordAttackResult:
    area, error = auc_with_error(inside, outside)
    details = {}
    for rate in (0.01, 0.001):
        bar = np.quantile(outside, 1 - rate, method="higher")
        details[f"found_at_{rate:g}_false"] = float((inside > bar).mean())
    return result_from_auc(attack.name, attack.question, len(inside), area, error, details)


def _nearest_published(apart: Floats) -> Flags:
    return np.asarray(apart <= apart.min(axis=1, keepdims=True) + TIE)


def _varies(setting: RecordSetting, name: str) -> bool:
    values = setting.records.values("original", name)
    told = values[~np.isnan(values)]
    return len(told) * 2 >= len(values) and len(np.unique(told)) > 1


def _matrix(setting: RecordSetting, which: str, names: Any) -> Floats:
    return np.column_stack([np.nan_to_num(setting.records.values(which, name), nan=-1.0) for name in names])


def _check_sklearn() -> str | None:
    try:
        import_optional("sklearn.ensemble", extra="learn", error=SchemaError)
    except SchemaError as error:
        return str(error)
    return None


# Singling out by published records: conditions that are true of one record only, and of one person, too.

TRIES = 100  # per condition that is wanted
DRAWS = 10
EQUAL, AT_LEAST, AT_MOST, MISSING = "=", ">=", "<=", "?"
Part = tuple[str, str, float]
Condition = tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class _PredicateSinglingOut(RecordAttack):
    """Find conditions that one published record alone satisfies, and claim that one person alone does.

    The control is the share of them that one person alone of as many others satisfies.

    Parameters
    ----------
    conditions : how many to try.
    """

    question = SINGLING_OUT
    reference = GIOMI
    conditions: int = 500

    def __post_init__(self) -> None:
        require(is_integer(self.conditions) and self.conditions >= FEWEST, self, "conditions", f"at least {FEWEST}", 0)

    @abstractmethod
    def predicates(self, setting: RecordSetting) -> list[Condition]:
        """Return conditions that one published record alone satisfies."""

    def check(self, setting: RecordSetting) -> str | None:
        """Refuse to judge by few conditions."""
        found = len(self.predicates(setting))
        return None if found >= FEWEST else f"{found} conditions single out a published record; {FEWEST} are needed."

    def run(self, setting: RecordSetting) -> Iterator[RecordAttackResult]:
        """Try all conditions."""
        found = self.predicates(setting)
        random = [self._random(setting, len(each), setting.rng(8 + at)) for at, each in enumerate(found)]
        rows = setting.records.rows
        count = min(rows["original"], rows["control"]) if setting.controlled else rows["original"]
        inside, outside = self._is_unique(setting, "original", found, count), None
        if setting.controlled:
            outside = (self._is_unique(setting, "control", found, count), len(found))
        yield result_from_counts(
            self.name,
            self.question,
            (inside, len(found)),
            outside,
            self._is_unique(setting, "original", random, count) / len(found),
            few=FEW,
        )

    def _is_unique(self, setting: RecordSetting, which: str, conditions: list[Condition], count: int) -> float:
        """Count conditions that one of `count` persons alone satisfies; of more persons, on average over draws."""
        true = np.array([_matching_records(setting, which, each) for each in conditions])
        total, rng = true.shape[1], setting.rng(7)
        if total == count:
            return float((true.sum(axis=1) == 1).sum())
        drawn = [true[:, rng.permutation(total)[:count]] for _ in range(DRAWS)]
        return float(np.mean([(each.sum(axis=1) == 1).sum() for each in drawn]))

    def _random(self, setting: RecordSetting, size: int, rng: np.random.Generator) -> Condition:
        """Draw a condition without caring whom it is true of."""
        names = rng.choice(len(setting.names), min(size, len(setting.names)), replace=False)
        parts = []
        for name in (setting.names[at] for at in names):
            value = float(rng.choice(setting.records.values("published", name)))
            sign = (AT_LEAST, AT_MOST)[rng.integers(2)] if setting.records.is_number(name) else EQUAL
            parts.append((name, MISSING if np.isnan(value) else sign, value))
        return tuple(parts)


@dataclass(frozen=True, kw_only=True)
class UnivariateSinglingOut(_PredicateSinglingOut):
    """Single out by one value: one that a single published record has, or that is the least or greatest of all."""

    name = "single-value"

    def predicates(self, setting: RecordSetting) -> list[Condition]:
        """Return conditions on one column each, in random order."""
        made: list[Condition] = []
        for name in setting.names:
            values = setting.records.values("published", name)
            told = values[~np.isnan(values)]
            distinct, counts = np.unique(told, return_counts=True)
            made += [((name, EQUAL, float(value)),) for value in distinct[counts == 1]]
            if len(told) == len(values) - 1:
                made.append(((name, MISSING, np.nan),))
            if setting.records.is_number(name) and len(distinct):
                ends = ((AT_MOST, 0), (AT_LEAST, -1))
                made += [((name, sign, float(distinct[at])),) for sign, at in ends if counts[at] == 1]
        return [made[at] for at in setting.rng(9).permutation(len(made))[: self.conditions]]


@dataclass(frozen=True, kw_only=True)
class MultivariateSinglingOut(_PredicateSinglingOut):
    """Single out by several values of a published record: equal ones, and numbers beyond its own on their side.

    Parameters
    ----------
    columns : how many values are combined.
    """

    name = "single-combination"
    columns: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        require(is_integer(self.columns) and self.columns >= 2, self, "columns", "at least 2", self.columns)  # noqa: PLR2004 - one value is UnivariateSinglingOut

    def predicates(self, setting: RecordSetting) -> list[Condition]:
        """Return conditions made of random records and columns."""
        if len(setting.names) < self.columns:
            return []
        rng, records = setting.rng(10), setting.records
        middles = {name: _median(records.values("published", name)) for name in setting.names}
        made: dict[Condition, None] = {}
        for _ in range(TRIES * self.conditions):
            row = int(rng.integers(records.rows["published"]))
            names = sorted(rng.choice(len(setting.names), self.columns, replace=False).tolist())
            condition = tuple(self._part(setting, setting.names[at], row, middles) for at in names)
            if condition not in made and _matching_records(setting, "published", condition).sum() == 1:
                made[condition] = None
            if len(made) == self.conditions:
                break
        return list(made)

    def _part(self, setting: RecordSetting, name: str, row: int, middles: dict[str, float]) -> Part:
        value = float(setting.records.values("published", name)[row])
        if np.isnan(value):
            return name, MISSING, -1.0
        if not setting.records.is_number(name):
            return name, EQUAL, value
        return name, AT_LEAST if value > middles[name] else AT_MOST, value


def _matching_records(setting: RecordSetting, which: str, condition: Condition) -> Flags:
    found = np.ones(setting.records.rows[which], dtype=np.bool_)
    for name, sign, value in condition:
        values = setting.records.values(which, name)
        if sign == MISSING:
            found &= np.isnan(values)
        elif sign == EQUAL:
            found &= values == value
        else:
            found &= values >= value if sign == AT_LEAST else values <= value
    return found


def _median(values: Floats) -> float:
    told = values[~np.isnan(values)]
    return float(np.median(told)) if len(told) else 0.0


# `sf.attacks.attack_records`: attack perturbed, synthetic or averaged records, beside a control.

RECORD_ATTACKS: dict[str, type[RecordAttack]] = {
    each.name: each
    for each in (
        UnivariateSinglingOut,
        MultivariateSinglingOut,
        LinkabilityAttack,
        NearestInference,
        LearnedInference,
        ClosestRecord,
        MembershipDistance,
        MembershipLearned,
    )
}


def attack_records(
    published: Frame,
    original: Frame,
    attacks: Sequence[RecordAttack | str] = (),
    *,
    control: Frame | None = None,
    schema: Schema | None = None,
    targets: int = MOST_TARGETS,
    seed: int | None = None,
) -> RecordAttackResults:
    """Attack records that are perturbed, synthetic or averaged, by the nearest record and by learning.

    Every attack runs alike on persons of the original and of the control. What it gets right about both is what the
    population tells. Generalized columns are not compared: for these take `sf.attack`, which looks who is covered.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow).
    original : the table that it was made from.
    attacks : attacks or their names; without any, all that apply.
    control : persons of the same population who were not used for the release. Without them nothing tells how much of
        a rate is the release's doing, and attacks on presence are refused.
    schema : its columns are compared except identifiers, and its sensitive columns are guessed; without a schema, all
        columns are compared and guessed.
    targets : attack at most so many persons, drawn at random.
    seed : repeats all draws.
    """
    require(schema is None or isinstance(schema, Schema), "attack_records", "schema", "an sf.Schema", schema)
    enough = is_integer(targets) and targets >= FEWEST
    require(enough, "attack_records", "targets", f"at least {FEWEST}", targets)
    chosen = [resolve_attack(each, RECORD_ATTACKS, RecordAttack, "attack_records") for each in attacks]
    setting = prepare_record_setting(
        to_arrow(published)[0],
        to_arrow(original)[0],
        None if control is None else to_arrow(control)[0],
        schema=schema,
        targets=targets,
        seed=draw_seed() if seed is None else seed,
    )
    results, skipped = run_attacks(chosen, RECORD_ATTACKS, setting)
    return RecordAttackResults(results=results, skipped=skipped, generalized=setting.generalized)
