"""Singling out by published records: conditions that are true of one record only, and of one person, too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.attacks.base import SINGLING_OUT
from sfumato.attacks.beliefs import Flags, Floats
from sfumato.attacks.record_attacks import GIOMI, RecordAttack
from sfumato.attacks.record_results import RecordAttackResult, result_from_counts
from sfumato.attacks.record_setting import FEW, FEWEST, RecordSetting
from sfumato.validation import is_integer, require

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
