# ruff: noqa: D101, D102 - the name of a wrong attack says what is wrong with it
"""Every attack on a series keeps the laws, and each check is seen to fail on an attack that breaks its law."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from sfumato._randomness import draw_seed, seeded_generator
from sfumato.tables.series.attacks._attack_series import SERIES_ATTACKS
from sfumato.tables.series.attacks._base import Claims, SeriesAttack
from sfumato.tables.series.attacks.inference import Intersection
from sfumato.testing import series_attacks as suite
from sfumato.testing.suite import checks_for


@dataclass(frozen=True, kw_only=True)
class WithoutSource(Intersection):
    reference = ""


@dataclass(frozen=True, kw_only=True)
class MoreSuccessesThanClaims(Intersection):
    def run(self, setting):
        return (replace(each, claims=0) for each in super().run(setting))


@dataclass(frozen=True, kw_only=True)
class ClaimsNothing(Intersection):
    def claims(self, one):
        return Claims(np.full(one.history.persons, -1))


@dataclass(frozen=True, kw_only=True)
class ClaimsTheFirstValue(Intersection):
    def claims(self, one):
        return Claims(np.zeros(one.history.persons, dtype=np.int64))


@dataclass(frozen=True, kw_only=True)
class AttacksOneRelease(Intersection):
    def check_attribute(self, one):  # noqa: ARG002 - it refuses nothing
        return None


@dataclass(frozen=True, kw_only=True)
class ClaimsByNumber(Intersection):
    def claims(self, one):
        found = super().claims(one).value
        return Claims(np.where(np.arange(len(found)) % 3 == 0, -1, np.where(found == 1, -1, found)))


@dataclass(frozen=True, kw_only=True)
class OtherEveryTime(Intersection):
    def run(self, setting):
        return (replace(each, baseline=seeded_generator(draw_seed()).random()) for each in super().run(setting))


@dataclass(frozen=True, kw_only=True)
class RefusesWithoutAReason(Intersection):
    def check(self, setting):
        return None if setting.attributes else ""


@dataclass(frozen=True, kw_only=True)
class NotStored(Intersection):
    seen: list[int] = field(default_factory=list)


BROKEN = [
    (suite.check_metadata, WithoutSource()),
    (suite.check_counts_are_consistent, MoreSuccessesThanClaims()),
    (suite.check_unprotected_series_is_attacked, ClaimsNothing()),
    (suite.check_claims_are_correct, ClaimsTheFirstValue()),
    (suite.check_repeated_groups_disclose_nothing, ClaimsTheFirstValue()),
    (suite.check_single_release_is_rejected, AttacksOneRelease()),
    (suite.check_names_do_not_matter, ClaimsByNumber()),
    (suite.check_seed_repeats_the_attack, OtherEveryTime()),
    (suite.check_inapplicable_attack_gives_reason, RefusesWithoutAReason()),
]


@pytest.mark.parametrize("name", SERIES_ATTACKS)
def test_every_attack_keeps_the_laws(name):
    suite.check_series_attack(SERIES_ATTACKS[name]())


@pytest.mark.parametrize(("check", "attack"), BROKEN)
def test_the_check_fails_where_its_law_is_broken(check, attack):
    with pytest.raises(AssertionError):
        check(attack)


def test_an_attack_that_cannot_be_stored_is_seen():
    with pytest.raises(TypeError):
        suite.check_serialization(NotStored())


def test_every_check_was_seen_to_fail():
    seen = {check for check, _ in BROKEN} | {suite.check_serialization}
    assert seen == set(suite.SERIES_ATTACK_CHECKS)


def test_the_suite_knows_attacks_on_series():
    assert isinstance(Intersection(), SeriesAttack)
    assert checks_for(Intersection()) == suite.SERIES_ATTACK_CHECKS
