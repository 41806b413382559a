"""The attack that proves two persons to have the same value, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.attacks.base import LINKABILITY
from sfumato.attacks.beliefs import Flags, Ints
from sfumato.attacks.results import AttackResult
from sfumato.attacks.series.deciding import NOBODY
from sfumato.attacks.series.setting import AttributeSeries, Claims, SeriesAttack, SeriesSetting
from sfumato.models.worlds.equal_values import value_equivalence_classes
from sfumato.models.worlds.propagating import intersect_candidates
from sfumato.models.worlds.system import ConstraintSystem

TWO = 2


@dataclass(frozen=True, kw_only=True)
class ValueEquivalence(SeriesAttack):
    """Claim that two persons have the same value, if two groups that show the same differ in these two only.

    Persons who are proved equal stand for each other in further groups; whom her own groups decide is left out. Who
    learns the value of one learns that of the others. m-invariance does not stop this attack; it is reported, not
    promised against. Guessing names another person at random. `details` are the number of pairs and the size of the
    largest set of equals.
    """

    name = "value-equivalence"
    question = LINKABILITY
    reference = "He, Barman, Naughton, Preventing equivalence attacks in updated, anonymized data, ICDE 2011"

    def claims(self, one: AttributeSeries) -> Claims:
        """Claim for every person who has equals the value of one of them; it is known to nobody but the truth."""
        fellow, sizes = _equivalent_partners(equivalence_numbers(one), one.published)
        value = np.where(fellow >= 0, one.truth[fellow], NOBODY)
        pairs = float((sizes * (sizes - 1) // 2).sum())
        return Claims(value, {"pairs": pairs, "largest_set": float(sizes.max(initial=0))})

    def _evaluate_claims(self, setting: SeriesSetting, name: str, one: AttributeSeries) -> AttackResult:
        found = super()._evaluate_claims(setting, name, one)
        truth = one.truth[one.published]
        shares = np.bincount(truth[truth >= 0]) / max(len(truth), 1)
        return replace(found, baseline=found.claims / found.targets * float((shares**2).sum()))


def equivalence_numbers(one: AttributeSeries) -> Ints:
    """Return the number of a set for every person; persons of one set have the same value in every world.

    Persons with equal histories may exchange their values, so each of them is a set of her own.
    """
    system = ConstraintSystem.of(one.history)
    sets = value_equivalence_classes(system, intersect_candidates(system))[system.unit]
    alike = system.weight[system.unit] > 1
    return np.where(alike, len(system.weight) + np.arange(len(sets)), sets)


def _equivalent_partners(sets: Ints, published: Flags) -> tuple[Ints, Ints]:
    """Return for every person another one of her set, -1 if there is none, and the sizes of sets with several."""
    everybody = np.flatnonzero(published)
    order = everybody[np.argsort(sets[everybody], kind="stable")]
    _, first, size = np.unique(sets[order], return_index=True, return_counts=True)
    following = np.arange(1, len(order) + 1)
    following[first + size - 1] = first
    fellow = np.full(len(sets), NOBODY, dtype=np.int64)
    several = np.repeat(size, size) >= TWO
    fellow[order[several]] = order[following[several]]
    return fellow, size[size >= TWO]
