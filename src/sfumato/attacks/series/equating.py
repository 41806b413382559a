"""The attack that proves two persons to have the same value, whichever it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.attacks.base import LINKABILITY
from sfumato.attacks.beliefs import Flags, Ints
from sfumato.attacks.results import AttackResult
from sfumato.attacks.series.candidates import NOBODY
from sfumato.attacks.series.setting import Claims, SeriesAttack, SeriesOfOne, SeriesSetting
from sfumato.core.history import GroupedRelease
from sfumato.randomness import generator

TWO = 2
WORDS = 1 << 63
HASHING = 7  # any seed: it decides which sums stand for sets, and no claim depends on it

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class ValueEquivalence(SeriesAttack):
    """Claim that two persons have the same value, if two groups that show the same differ in these two only.

    Persons who are proved equal stand for each other in further groups. Who learns the value of one learns that of
    the others. m-invariance does not stop this attack; it is reported, not promised against. Guessing names another
    person at random. `details` are the number of pairs and the size of the largest set of equals.
    """

    name = "value-equivalence"
    question = LINKABILITY
    reference = "He, Barman, Naughton, Preventing equivalence attacks in updated, anonymized data, ICDE 2011"

    def claims(self, one: SeriesOfOne) -> Claims:
        """Claim for every person who has equals the value of one of them; it is known to nobody but the truth."""
        fellow, sizes = _fellows(equals(one.releases, one.history.persons), one.published)
        value = np.where(fellow >= 0, one.truth[fellow], NOBODY)
        pairs = float((sizes * (sizes - 1) // 2).sum())
        return Claims(value, {"pairs": pairs, "largest_set": float(sizes.max(initial=0))})

    def _judged(self, setting: SeriesSetting, name: str, one: SeriesOfOne) -> AttackResult:
        from dataclasses import replace

        found = super()._judged(setting, name, one)
        truth = one.truth[one.published]
        shares = np.bincount(truth[truth >= 0]) / max(len(truth), 1)
        return replace(found, baseline=found.claims / found.targets * float((shares**2).sum()))


def equals(releases: Sequence[GroupedRelease], persons: int) -> Ints:
    """Return the number of a set for every person; persons of one set have the same value in every world."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    rng = generator(HASHING)
    width = max((each.histogram.width for each in releases), default=1)
    person_word, value_word = (rng.integers(WORDS, size=size, dtype=np.uint64) for size in (persons, width))
    sets: Ints = np.arange(persons)
    while True:
        left, right = _same_rest(releases, sets, person_word, value_word)
        if not len(left):
            return sets
        joined = csr_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(persons, persons))
        _, label = connected_components(joined, directed=False)
        sets = label[sets].astype(np.int64)


def _same_rest(
    releases: Sequence[GroupedRelease], sets: Ints, person_word: Words, value_word: Words
) -> tuple[Ints, Ints]:
    """Find pairs of sets that are left when equal persons are taken out of two groups that show the same.

    A set of persons is told by the sum of a random number for each of them, and so are the values of a group.
    """
    keys: list[Words] = [np.zeros(0, dtype=np.uint64)]
    who: list[Ints] = [np.zeros(0, dtype=np.int64)]
    for each in releases:
        histogram, groups = each.histogram, len(each.histogram.offsets) - 1
        usable = (histogram.sizes >= TWO) & (each.counterfeits == 0)
        inside = np.flatnonzero(each.members >= 0)
        inside = inside[usable[each.members[inside]]]
        word, group = person_word[sets[inside]], each.members[inside]
        members, values = np.zeros(groups, dtype=np.uint64), np.zeros(groups, dtype=np.uint64)
        np.add.at(members, group, word)
        np.add.at(values, histogram.rows, value_word[histogram.codes] * histogram.counts.astype(np.uint64))
        keys.append(members[group] - word + values[group] * np.uint64(0x9E3779B97F4A7C15))
        who.append(sets[inside])
    key, found = np.concatenate(keys), np.concatenate(who)
    order = np.argsort(key, kind="stable")
    key, found = key[order], found[order]
    same = (key[1:] == key[:-1]) & (found[1:] != found[:-1])
    return found[:-1][same], found[1:][same]


def _fellows(sets: Ints, published: Flags) -> tuple[Ints, Ints]:
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
