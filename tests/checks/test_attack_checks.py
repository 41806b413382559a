# ruff: noqa: D101, D102 - the name of a wrong attack says what is wrong with it
"""Every attack keeps the laws, and each check is seen to fail on an attack that breaks its law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from sfumato._randomness import draw_seed, seeded_generator
from sfumato.core.attack import AttackResult
from sfumato.tables.attacks._attack_table import ATTACKS
from sfumato.tables.attacks._setting import AttackSetting
from sfumato.tables.attacks.inference import Homogeneity
from sfumato.tables.attacks.linkage import Linkage, Membership
from sfumato.testing import attacks as suite


@dataclass(frozen=True, kw_only=True)
class WithoutSource(Linkage):
    reference = ""


@dataclass(frozen=True, kw_only=True)
class UnknownQuestion(Linkage):
    question = "curiosity"


@dataclass(frozen=True, kw_only=True)
class MoreSuccessesThanClaims(Homogeneity):
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        for result in super().run(setting):
            yield replace(result, claims=0)


@dataclass(frozen=True, kw_only=True)
class WorksOnReleasesOnly(Homogeneity):
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        raw = len(setting.view.groups) == setting.view.table.rows
        for result in super().run(setting):
            yield replace(result, successes=0) if raw else result


@dataclass(frozen=True, kw_only=True)
class KnowsTheTruth(Homogeneity):
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        for result in super().run(setting):
            yield replace(result, claims=result.targets, successes=result.targets)


@dataclass(frozen=True, kw_only=True)
class ControlIsTheAttack(Homogeneity):
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        for result in super().run(setting):
            yield replace(result, control_targets=result.targets, control_successes=result.successes)


@dataclass(frozen=True, kw_only=True)
class OtherEveryTime(Linkage):
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        for result in super().run(setting):
            yield replace(result, baseline=seeded_generator(draw_seed()).random() / result.targets)


@dataclass(frozen=True, kw_only=True)
class CountsTheFirstRow(Linkage):
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        early = int(setting.targets.own_rows[0] < setting.view.table.rows / 2)
        for result in super().run(setting):
            yield replace(result, claims=result.targets - early, successes=0)


@dataclass(frozen=True, kw_only=True)
class ShowsACell(Homogeneity):
    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        for result in super().run(setting):
            yield replace(result, details={setting.view.texts("ill")[0]: 1.0})


@dataclass(frozen=True, kw_only=True)
class RefusesWithoutAReason(Membership):
    def check(self, setting: AttackSetting) -> str | None:
        return "" if setting.outsiders is None else None


@dataclass(frozen=True, kw_only=True)
class NotStored(Linkage):
    seen: list[int] = field(default_factory=list)


BROKEN = [
    (suite.check_metadata, WithoutSource()),
    (suite.check_metadata, UnknownQuestion()),
    (suite.check_counts_are_consistent, MoreSuccessesThanClaims()),
    (suite.check_original_is_easiest_to_attack, WorksOnReleasesOnly()),
    (suite.check_unrelated_individuals_give_no_advantage, KnowsTheTruth()),
    (suite.check_control_is_no_success, ControlIsTheAttack()),
    (suite.check_seed_repeats_the_attack, OtherEveryTime()),
    (suite.check_order_of_rows_is_ignored, CountsTheFirstRow()),
    (suite.check_no_cell_is_shown, ShowsACell()),
    (suite.check_inapplicable_attack_gives_reason, RefusesWithoutAReason()),
]


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_keeps_the_laws(name):
    suite.check_attack(ATTACKS[name]())


@pytest.mark.parametrize(("check", "attack"), BROKEN)
def test_the_check_fails_where_its_law_is_broken(check, attack):
    with pytest.raises(AssertionError):
        check(attack)


def test_an_attack_that_cannot_be_stored_is_seen():
    with pytest.raises(TypeError):
        suite.check_serialization(NotStored())


def test_every_check_was_seen_to_fail():
    seen = {check for check, _ in BROKEN} | {suite.check_serialization}
    assert seen == set(suite.ATTACK_CHECKS)
