# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every attack on a series of releases obeys.

`check_series_attack(MyAttack())` runs them all on your own attack. Each check attacks a small series from fixed seeds
and raises `AssertionError` if its law is broken.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np

from sfumato._randomness import seeded_generator
from sfumato.core.attack import INFERENCE, LINKABILITY, SINGLING_OUT
from sfumato.tables.attacks._beliefs import Ints
from sfumato.tables.published.groups import Histogram
from sfumato.tables.series.attacks._base import AttributeSeries, SeriesAttack, SeriesSetting, VisibleRows
from sfumato.tables.series.history import GroupedRelease, History

SEEDS = range(3)
EARLY, LATE, VALUES, SIZE = 60, 24, 8, 2
LATER = EARLY + LATE
NAME = "ill"


def check_series_attack(attack: SeriesAttack) -> None:
    """Run every check on one attack."""
    for check in SERIES_ATTACK_CHECKS:
        check(attack)


def check_metadata(attack: SeriesAttack) -> None:
    """An attack states its name, its source and which question it answers."""
    assert attack.name == attack.name.lower().replace(" ", "-")
    assert attack.reference
    assert attack.question in {SINGLING_OUT, LINKABILITY, INFERENCE}


def check_counts_are_consistent(attack: SeriesAttack) -> None:
    """No more claims than targets, no more successes than claims, and all rates from 0 to 1."""
    for seed in SEEDS:
        for result in attack.run(draw_series(seed)):
            assert 0 <= result.successes <= result.claims <= result.targets
            assert 0 <= result.control_successes <= result.control_targets
            assert 0 <= result.baseline <= 1
            assert (result.attack, result.question, result.sensitive) == (attack.name, attack.question, NAME)


def check_unprotected_series_is_attacked(attack: SeriesAttack) -> None:
    """The attack is right about somebody in a series that repeats all mistakes, and more often than by guessing."""
    found = [result for seed in SEEDS for result in attack.run(draw_series(seed))]
    assert sum(result.successes for result in found) > 0
    assert sum(result.rate - result.baseline for result in found) > 0


def check_claims_are_correct(attack: SeriesAttack) -> None:
    """What is claimed follows from the releases, so all of it is right."""
    for seed in SEEDS:
        for result in attack.run(draw_series(seed)):
            assert result.successes == result.claims


def check_repeated_groups_disclose_nothing(attack: SeriesAttack) -> None:
    """Who publishes the same groups a second time tells nothing new: nothing is claimed, or the attack is refused."""
    for seed in SEEDS:
        again = draw_series(seed, again=True)
        if attack.check(again) is None:
            assert not any(result.claims for result in attack.run(again))


def check_single_release_is_rejected(attack: SeriesAttack) -> None:
    """A single release is refused."""
    one = draw_series(0).attributes[NAME]
    alone = AttributeSeries(History(NAME, LATER, one.releases[:1]), one.truth, one.rows[:1])
    assert attack.check(SeriesSetting({NAME: alone}, targets=LATER, seed=0)) is not None


def check_names_do_not_matter(attack: SeriesAttack) -> None:
    """Persons and values under other numbers get the same number of claims."""
    for seed in SEEDS:
        straight, turned = (attack.run(draw_series(seed, turned=turned)) for turned in (False, True))
        assert [(each.claims, each.successes) for each in straight] == [
            (each.claims, each.successes) for each in turned
        ]


def check_seed_repeats_the_attack(attack: SeriesAttack) -> None:
    """The same setting gives the same figures, also for a draw of targets."""
    first, second = ([each.to_dict() for each in attack.run(draw_series(1, targets=20))] for _ in range(2))
    assert first == second


def check_inapplicable_attack_gives_reason(attack: SeriesAttack) -> None:
    """If an attack does not apply, it says why; to a series that repeats all mistakes it applies."""
    why = attack.check(SeriesSetting({}, targets=1, seed=0))
    assert why is not None
    assert why.endswith(".")
    assert attack.check(draw_series(0)) is None


def check_serialization(attack: SeriesAttack) -> None:
    """An attack equals what its pickle restores."""
    copy = pickle.loads(pickle.dumps(attack))  # noqa: S301 - made here
    assert copy == attack
    assert hash(copy) == hash(attack)


SERIES_ATTACK_CHECKS: tuple[Callable[[SeriesAttack], None], ...] = (
    check_metadata,
    check_counts_are_consistent,
    check_unprotected_series_is_attacked,
    check_claims_are_correct,
    check_repeated_groups_disclose_nothing,
    check_single_release_is_rejected,
    check_names_do_not_matter,
    check_seed_repeats_the_attack,
    check_inapplicable_attack_gives_reason,
    check_serialization,
)


def draw_series(seed: int, *, again: bool = False, turned: bool = False, targets: int = LATER) -> SeriesSetting:
    """Publish three releases that repeat all mistakes: groups made anew, grown by one, and cells that are shown.

    In the second everybody of the first is still there, with newcomers; then all holders of a value leave, and some
    cells are shown. Rows show a number that is each person's own. If `again`, the first release is repeated instead.
    If `turned`, persons and values have other numbers.
    """
    rng = seeded_generator(seed)
    truth = rng.permutation(np.resize(np.arange(VALUES), LATER))
    first = _draw_groups(rng, np.arange(EARLY), truth)
    later = [first, first] if again else [_grow_groups(rng, first, truth), _released_with_shown_cells(rng, truth)]
    if turned:
        person, value = rng.permutation(LATER), rng.permutation(VALUES)
        renamed = np.empty(LATER, dtype=np.int64)
        renamed[person] = value[truth]
        truth, (first, *later) = renamed, [[person[group] for group in each] for each in (first, *later)]
    groups = [first, *later]
    releases = tuple(_release_groups(each, truth) for each in groups)
    rows = tuple(_rows(each, truth) for each in groups)
    one = AttributeSeries(History(NAME, LATER, releases), truth, rows)
    return SeriesSetting({NAME: one}, targets=targets, seed=seed)


def _draw_groups(rng: np.random.Generator, persons: Ints, truth: Ints) -> list[Ints]:
    """Put persons into pairs with different values; one who is left over is in none."""
    mixed, rank = rng.permutation(persons), rng.permutation(VALUES)
    order = mixed[np.argsort(rank[truth[mixed]], kind="stable")]
    half = len(order) // SIZE
    return [np.array(pair) for pair in zip(order[:half], order[half : SIZE * half], strict=True)]


def _grow_groups(rng: np.random.Generator, first: list[Ints], truth: Ints) -> list[Ints]:
    """Add a newcomer to some groups of the first release, and make the others anew with the rest of the newcomers."""
    newcomers, kept = np.arange(EARLY, LATER), 8
    grown = [np.append(group, newcomers[at]) for at, group in enumerate(first[:kept])]
    alike = sorted(first[kept:], key=lambda group: int(truth[group[0]]))
    swapped = [group.copy() for group in alike[:4]]
    for one, other in (swapped[:2], swapped[2:]):  # exchange persons with the same value, so that it shows
        one[0], other[0] = other[0], one[0]
    rest = np.concatenate([*alike[4:], newcomers[kept:]])
    return [*grown, *swapped, *_draw_groups(rng, rest, truth)]


def _released_with_shown_cells(rng: np.random.Generator, truth: Ints) -> list[Ints]:
    """Leave out the holders of a value, and show the cells of some persons."""
    present = np.flatnonzero(truth != 0)
    shown, hidden = present[:10], present[10:]
    return [*(np.array([person]) for person in shown), *_draw_groups(rng, hidden, truth)]


def _release_groups(groups: list[Ints], truth: Ints) -> GroupedRelease:
    members = np.full(LATER, -1, dtype=np.int64)
    number = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    person = np.concatenate(groups)
    members[person] = number
    once = np.ones(len(person), dtype=np.int64)
    histogram = Histogram.from_entries(number, truth[person], once, groups=len(groups), width=VALUES)
    return GroupedRelease(members, histogram, np.zeros(len(groups), dtype=np.int64))


def _rows(groups: list[Ints], truth: Ints) -> VisibleRows:
    person = np.concatenate(groups)
    number = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return VisibleRows(number, truth[person], person)
