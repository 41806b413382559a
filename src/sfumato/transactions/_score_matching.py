"""Re-identification of sparse records with many items, such as ratings of films, by a few known items."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, log1p
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core.attack import SINGLING_OUT, AttackResult
from sfumato.encoding.domain import to_axis
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import format_values
from sfumato.tables.attacks._beliefs import Flags, Floats, Ints

if TYPE_CHECKING:
    import scipy.sparse as sp


# How likely it is that somebody else shares the known items of a target.

CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Coincidence:
    """How many of `persons` others agree with a target in `known` items of `values` equally likely values each.

    Items are independent of each other. With `values=2` an item is bought or not; ratings have more values.

    Examples
    --------
    >>> round(Coincidence(individuals=10_000, known=20).expected, 6)
    0.009537
    """

    individuals: int
    known: int
    values: int = 2

    def __post_init__(self) -> None:
        require(is_integer(self.individuals) and self.individuals >= 1, self, "persons", "at least 1", self.individuals)
        require(is_integer(self.known) and self.known >= 0, self, "known", "at least 0", self.known)
        require(is_integer(self.values) and self.values >= 2, self, "values", "at least 2", self.values)  # noqa: PLR2004 - one value tells nothing

    @property
    def expected(self) -> float:
        """The expected number of others who agree, n / R^B; it also bounds the probability that there is one."""
        return self.individuals * float(self.values) ** -self.known

    @property
    def chance(self) -> float:
        """The probability that at least one other agrees; 1 minus it is the probability that the target is unique."""
        alone = float(self.values) ** -self.known
        return 1.0 if alone == 1 else -expm1(self.individuals * log1p(-alone))

    def simulate(self, rounds: int, *, seed: int) -> tuple[float, float]:
        """Simulate everybody's items: return the mean number of others who agree, and how often there is one.

        Only the others who still agree are drawn for the next item, so the work shrinks with every item.
        """
        require(is_integer(rounds) and rounds >= 1, "Coincidence.simulate", "rounds", "at least 1", rounds)
        rng = seeded_generator(seed)
        agree = np.zeros(rounds, dtype=np.int64)
        step = max(1, CELLS_AT_ONCE // self.individuals)
        for start in range(0, rounds, step):
            count = min(step, rounds - start)
            target = rng.integers(0, self.values, (count, max(self.known, 1)))
            left = np.repeat(np.arange(count), self.individuals)
            for item in range(self.known):
                left = left[rng.integers(0, self.values, len(left)) == target[left, item]]
            agree[start : start + count] = np.bincount(left, minlength=count)
        return float(agree.mean()), float((agree > 0).mean())


SCORES_AT_ONCE = 4_000_000


@dataclass(frozen=True, kw_only=True)
class ScoreMatching:
    """Find the record of a person of whom a few items are known, and claim it only if it stands out.

    The adversary scores every record: each known item that the record has, with a rating within the tolerance, adds
    1 / log(support of the item), so rare items count most. She claims the record with the best score if it beats the
    second best by at least `eccentricity` standard deviations of all scores.

    Parameters
    ----------
    known : the number of known items of a target.
    wrong : how many of these are wrong, i.e. items that the target does not have.
    tolerance : how far a known rating may be from the record's.
    eccentricity : how far the best score must stand out.
    """

    name = "score-matching"
    question = SINGLING_OUT
    reference = "Narayanan, Shmatikov, Robust de-anonymization of large sparse datasets, S&P 2008"
    known: int = 8
    wrong: int = 0
    tolerance: float = 0.0
    eccentricity: float = 1.5

    def __post_init__(self) -> None:
        require(is_integer(self.known) and self.known >= 1, self, "known", "at least 1", self.known)
        inside = is_integer(self.wrong) and 0 <= self.wrong <= self.known
        require(inside, self, "wrong", f"from 0 to {self.known}", self.wrong)
        require(
            is_finite_number(self.tolerance) and self.tolerance >= 0, self, "tolerance", "at least 0", self.tolerance
        )
        far = is_finite_number(self.eccentricity) and self.eccentricity >= 0
        require(far, self, "eccentricity", "at least 0", self.eccentricity)

    def run(
        self,
        records: Frame,
        *,
        person: str,
        item: str,
        rating: str | None = None,
        targets: int = 500,
        seed: int | None = None,
    ) -> AttackResult:
        """Attack a table with a row for every item of a person.

        Targets are drawn among the people with enough items. The control removes each target's own record: every claim
        is then false.

        Parameters
        ----------
        records : the published table (pandas, Polars or Arrow).
        person, item, rating : its columns; without a rating, having the item is all that is known.
        targets : attack at most this many people.
        seed : makes all draws repeatable.
        """
        require(is_integer(targets) and targets >= 1, "ScoreMatching.run", "targets", "at least 1", targets)
        table = _RatingMatrix.of(to_arrow(records)[0], person, item, rating)
        rng = seeded_generator(draw_seed() if seed is None else seed)
        able = np.flatnonzero(np.bincount(table.person, minlength=table.individuals) >= self.known)
        if not len(able) or table.individuals < 3:  # noqa: PLR2004 - scores of two records have no spread to stand out from
            raise SchemaError(f"The table needs 3 people, one of them with at least {self.known} items.")
        chosen = np.sort(rng.permutation(able)[:targets])
        known = self._known(table, chosen, rng)
        own_claim, own_right, without = self._scored(table, chosen, known)
        return AttackResult(
            attack=self.name,
            question=self.question,
            targets=len(chosen),
            claims=int(own_claim.sum()),
            successes=int((own_claim & own_right).sum()),
            baseline=1 / table.individuals,
            control_targets=len(chosen),
            control_successes=int(without.sum()),
            details={"best_score_is_hers": float(own_right.mean())},
        )

    def _known(self, table: _RatingMatrix, chosen: Ints, rng: np.random.Generator) -> sp.csr_array:
        """Draw the known items of every target, spread over the ratings that the tolerance allows, with weights."""
        import scipy.sparse as sp

        mine = np.flatnonzero(np.isin(table.person, chosen))
        order = mine[np.lexsort((rng.random(len(mine)), table.person[mine]))]
        target = np.searchsorted(chosen, table.person[order])
        starts = np.searchsorted(target, np.arange(len(chosen)))
        rank = np.arange(len(order)) - starts[target]
        kept = rank < self.known
        target, item, rating = target[kept], table.item[order][kept].copy(), table.rating[order][kept]
        mistaken = rank[kept] < self.wrong
        item[mistaken] = rng.integers(0, table.items, int(mistaken.sum()))
        near = np.abs(rating[:, None] - table.levels[None, :]) <= self.tolerance
        entry, level = np.nonzero(near)
        weight = 1 / np.log(np.maximum(table.support, 2))
        shape = (len(chosen), table.items * len(table.levels))
        columns = item[entry] * len(table.levels) + level
        return sp.csr_array((weight[item[entry]], (target[entry], columns)), shape=shape)

    def _scored(self, table: _RatingMatrix, chosen: Ints, known: sp.csr_array) -> tuple[Flags, Flags, Flags]:
        """Return whether a record is claimed, whether the best one is hers, and whether one is claimed without hers."""
        records = table.matrix().T.tocsc()
        claimed, right, without = (np.zeros(len(chosen), dtype=np.bool_) for _ in range(3))
        step = max(1, SCORES_AT_ONCE // table.individuals)
        for start in range(0, len(chosen), step):
            some = slice(start, start + step)
            scores = np.asarray((known[some] @ records).todense())
            own, row = chosen[some], np.arange(len(scores))
            claimed[some] = self._stands_out(scores)
            right[some] = scores.argmax(axis=1) == own
            right[some] &= (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) == 1
            keep = np.ones(scores.shape, dtype=np.bool_)
            keep[row, own] = False
            without[some] = self._stands_out(scores[keep].reshape(len(scores), -1))
        return claimed, right, without

    def _stands_out(self, scores: Floats) -> Flags:
        best = np.partition(scores, scores.shape[1] - 2, axis=1)[:, -2:]
        gap, spread = best[:, 1] - best[:, 0], scores.std(axis=1)
        out: npt.NDArray[np.bool_] = (gap > 0) & (gap >= self.eccentricity * spread)
        return out


@dataclass(frozen=True, eq=False, repr=False)
class _RatingMatrix:
    """Who has which item, with what rating, as codes; every pair of person and item once."""

    person: Ints
    item: Ints
    rating: Floats
    individuals: int
    items: int

    @classmethod
    def of(cls, table: pa.Table, person: str, item: str, rating: str | None) -> _RatingMatrix:
        columns = [person, item, *([] if rating is None else [rating])]
        for name in columns:
            if name not in table.column_names:
                raise SchemaError(f"The table has no column {name!r}.")
            if table[name].null_count:
                raise SchemaError(f"Column {name!r} has missing cells; drop those rows.")
        who, what = (format_values(table[name]).dictionary_encode() for name in (person, item))
        stars = np.zeros(table.num_rows) if rating is None else _numbers(table, rating)
        people, items = len(who.dictionary), len(what.dictionary)
        keys = who.indices.to_numpy().astype(np.int64) * items + what.indices.to_numpy()
        _, first = np.unique(keys, return_index=True)
        return cls(keys[first] // items, keys[first] % items, stars[first], people, items)

    @property
    def support(self) -> Ints:
        """The number of people who have each item."""
        return np.bincount(self.item, minlength=self.items)

    @property
    def levels(self) -> Floats:
        """The distinct ratings."""
        return np.unique(self.rating)

    def matrix(self) -> sp.csr_array:
        """Return a row per person and a column per item and rating."""
        import scipy.sparse as sp

        columns = self.item * len(self.levels) + np.searchsorted(self.levels, self.rating)
        shape = (self.individuals, self.items * len(self.levels))
        return sp.csr_array((np.ones(len(columns)), (self.person, columns)), shape=shape)


def _numbers(table: pa.Table, name: str) -> Floats:
    column = table[name].combine_chunks()
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise SchemaError(f"Column {name!r} does not contain numbers, so it cannot be the rating.")
    return to_axis(column)
