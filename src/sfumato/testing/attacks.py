# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every attack on a published table obeys.

`check_attack(MyAttack())` runs them all on your own attack. Each check attacks small tables from fixed seeds and
raises `AssertionError` if its law is broken. Where chance decides, a correct attack fails with a probability below
1e-6.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import seeded_generator
from sfumato.core.attack import INFERENCE, LINKABILITY, SINGLING_OUT, Attack, AttackResult, clopper_pearson
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema
from sfumato.tables.attacks._setting import AttackSetting, prepare_setting

SEEDS = range(3)
ROWS = 400
OLDEST = 10 * ROWS
FALSE_ALARM = 1e-6
ESTIMATED = 0.05  # the largest error of the baseline, which is counted in one table and applied to another
DISEASE_TAXONOMY = {
    "heart": ["angina", "stroke"],
    "chest": ["asthma", "influenza"],
    "other": ["gastritis", "migraine", "ulcer"],
}
ILLS = ("angina", "asthma", "gastritis", "influenza", "migraine", "stroke", "ulcer")
SCHEMA = Schema(
    quasi_identifiers=["age", "sex"],
    sensitive=["ill"],
    hierarchies={"ill": Taxonomy(DISEASE_TAXONOMY)},
)


def check_attack(attack: Attack) -> None:
    """Run every check on one attack."""
    for check in ATTACK_CHECKS:
        check(attack)


def check_metadata(attack: Attack) -> None:
    """An attack states its name, its source and which question it answers."""
    assert attack.name == attack.name.lower().replace(" ", "-")
    assert attack.reference
    assert attack.question in {SINGLING_OUT, LINKABILITY, INFERENCE}


def check_counts_are_consistent(attack: Attack) -> None:
    """No more claims than targets, no more successes than claims, and all rates from 0 to 1."""
    for seed in SEEDS:
        for width in (1, 40, 400, OLDEST):
            for result in attack.run(draw_setting(seed, width)):
                assert 0 <= result.successes <= result.claims <= result.targets
                assert 0 <= result.control_successes <= result.control_targets
                assert 0 <= result.baseline <= 1
                assert result.interval[0] <= result.rate <= result.interval[1]
                assert result.attack == attack.name
                assert result.question == attack.question


def check_original_is_easiest_to_attack(attack: Attack) -> None:
    """No release is easier to attack than the raw table, in which everybody is unique."""
    for seed in SEEDS:
        raw = list(attack.run(draw_setting(seed, 1)))
        for width in (40, 400, OLDEST):
            for before, after in zip(raw, attack.run(draw_setting(seed, width)), strict=True):
                assert before.rate >= after.rate
        assert any(result.rate > result.baseline for result in raw)


def check_unrelated_individuals_give_no_advantage(attack: Attack) -> None:
    """A table of other people gives no better claims than guessing."""
    for seed in SEEDS:
        for width in (40, 400):
            for result in attack.run(draw_setting(seed, width, blind=True)):
                low, _ = clopper_pearson(result.successes, result.targets, 1 - 2 * FALSE_ALARM)
                assert low <= result.baseline + ESTIMATED


def check_control_is_no_success(attack: Attack) -> None:
    """The control of an attack on raw data succeeds less often than the attack: it is checked against other people."""
    for seed in SEEDS:
        for result in attack.run(draw_setting(seed, 1)):
            assert result.control < result.rate


def check_seed_repeats_the_attack(attack: Attack) -> None:
    """The same setting gives the same figures."""
    for seed in SEEDS:
        assert _result_counts(attack, draw_setting(seed, 40)) == _result_counts(attack, draw_setting(seed, 40))


def check_order_of_rows_is_ignored(attack: Attack) -> None:
    """The targets of claims do not depend on the order of the published rows."""
    for seed in SEEDS:
        straight, turned = (attack.run(draw_setting(seed, 40, turned=turned)) for turned in (False, True))
        assert [result.claims for result in straight] == [result.claims for result in turned]


def check_no_cell_is_shown(attack: Attack) -> None:
    """What is printed and stored of a result contains no value of the data."""
    for result in attack.run(draw_setting(0, 40)):
        for text in (repr(result), str(result.to_dict())):
            assert not any(ill in text for ill in ILLS)


def check_inapplicable_attack_gives_reason(attack: Attack) -> None:
    """If an attack does not apply, it says why; if it says nothing, it returns results."""
    bare = draw_setting(0, 40, bare=True)
    why = attack.check(bare)
    if why is None:
        assert list(attack.run(bare))
    else:
        assert why.endswith(".")
    assert attack.check(draw_setting(0, 40)) is None


def check_serialization(attack: Attack) -> None:
    """An attack equals what its pickle restores."""
    copy = pickle.loads(pickle.dumps(attack))  # noqa: S301 - made here
    assert copy == attack
    assert hash(copy) == hash(attack)


ATTACK_CHECKS: tuple[Callable[[Attack], None], ...] = (
    check_metadata,
    check_counts_are_consistent,
    check_original_is_easiest_to_attack,
    check_unrelated_individuals_give_no_advantage,
    check_control_is_no_success,
    check_seed_repeats_the_attack,
    check_order_of_rows_is_ignored,
    check_no_cell_is_shown,
    check_inapplicable_attack_gives_reason,
    check_serialization,
)


def draw_setting(
    seed: int, width: int, *, blind: bool = False, turned: bool = False, bare: bool = False
) -> AttackSetting:
    """Publish ages in intervals of a width, with a second release, outsiders and the truth.

    If `blind`, the published people are not the targets. If `turned`, rows are published in reverse. If `bare`, there
    are neither outsiders nor a second release, and nothing is sensitive.
    """
    rng = seeded_generator(seed)
    ages = rng.permutation(OLDEST)
    known, outsiders, others = (_draw_individuals(part, rng) for part in np.array_split(ages[: 3 * ROWS], 3))
    people = others if blind else known
    order = np.arange(ROWS)[::-1] if turned else np.arange(ROWS)
    shown = _published(people.take(pa.array(order)), width, 0)
    schema = Schema(quasi_identifiers=SCHEMA.quasi_identifiers) if bare else SCHEMA
    return prepare_setting(
        shown.select(schema.attributes),
        schema,
        known,
        correspondence=rng.permutation(ROWS) if blind else order,
        outsiders=None if bare else outsiders,
        other=None if bare else (_published(people, width, width // 2), SCHEMA),
        seed=seed,
    )


def _draw_individuals(ages: npt.NDArray[np.int64], rng: np.random.Generator) -> pa.Table:
    """Draw people of different ages, whose illness is independent of everything else."""
    chances = np.arange(1, len(ILLS) + 1) / np.arange(1, len(ILLS) + 1).sum()
    return pa.table(
        {
            "age": pa.array(ages),
            "sex": pa.array([("female", "male")[i] for i in rng.integers(0, 2, len(ages))]),
            "ill": pa.array([ILLS[i] for i in rng.choice(len(ILLS), len(ages), p=chances)]),
        }
    )


def _published(people: pa.Table, width: int, shift: int) -> pa.Table:
    """Publish ages in intervals that begin at multiples of the width, shifted; width 1 publishes the raw table."""
    if width == 1:
        return people
    low = (people["age"].to_numpy() + shift) // width * width - shift
    texts = [f"[{each}, {each + width - 1}]" for each in low.tolist()]
    return people.set_column(0, "age", pa.array(texts))


def _result_counts(attack: Attack, where: AttackSetting) -> list[dict[str, object]]:
    results: Iterator[AttackResult] = attack.run(where)
    return [result.to_dict() for result in results]
