"""Attacks on identity and presence: whose record one is, and who is in the table at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.core.attack import INFERENCE, LINKABILITY, SINGLING_OUT, Attack, AttackResult
from sfumato.tables.attacks._allowed_rates import Guarantee
from sfumato.tables.attacks._beliefs import Floats
from sfumato.tables.attacks._setting import AttackSetting
from sfumato.tables.attacks._view import MatchingGroups, draw_rows


@dataclass(frozen=True, kw_only=True)
class SinglingOut(Attack):
    """Claim a record as a target's if it is the only one that matches her.

    The control checks the claims against the record of another target.
    """

    name = "singling-out"
    question = SINGLING_OUT
    reference = "Article 29 Working Party, Opinion 05/2014 on anonymisation techniques (WP216), 2014"

    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        """Attack all targets."""
        yield _guess_links(self, setting, most=1)

    def check(self, setting: AttackSetting) -> str | None:
        """Ask whose record is whose."""
        return _check_correspondence(setting)

    def allowed(self, guarantee: Guarantee, sensitive: str) -> float | None:  # noqa: ARG002 - it is about identity
        """Return 0: in groups of two or more, no record is the only one that matches."""
        return 0.0 if guarantee.min_group_size > 1 else None


@dataclass(frozen=True, kw_only=True)
class Linkage(Attack):
    """Claim one of the records that match a target as hers, drawn at random.

    The control checks the claims against the record of another target.
    """

    name = "linkage"
    question = LINKABILITY
    reference = "Sweeney, k-anonymity: a model for protecting privacy, IJUFKS 10(5), 2002"

    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        """Attack all targets."""
        yield _guess_links(self, setting, most=setting.view.table.rows)

    def check(self, setting: AttackSetting) -> str | None:
        """Ask whose record is whose."""
        return _check_correspondence(setting)

    def allowed(self, guarantee: Guarantee, sensitive: str) -> float | None:  # noqa: ARG002 - it is about identity
        """Return one in k, the chance to draw the right one of k records."""
        return 1 / guarantee.min_group_size if guarantee.min_group_size > 1 else None


def _check_correspondence(setting: AttackSetting) -> str | None:
    return None if setting.linked else "nothing tells whose record is whose; give a correspondence."


def _guess_links(attack: Attack, setting: AttackSetting, *, most: int) -> AttackResult:
    """Guess whose record is whose, for targets with at most this many matching records."""
    candidates, rows = setting.candidates, setting.view.table.rows
    rng = setting.rng(2)
    guess = draw_rows(candidates.draw_groups(rng), setting.view.table.grouped.labels, rng)
    claimed = (candidates.records >= 1) & (candidates.records <= most)
    own, strangers = setting.targets.own_rows, setting.control_targets
    alone = len(own) == 1
    return AttackResult(
        attack=attack.name,
        question=attack.question,
        targets=len(own),
        claims=int(claimed.sum()),
        successes=int((claimed & (guess == own)).sum()),
        baseline=float(claimed.mean()) / rows,
        control_targets=0 if alone else len(own),
        control_successes=0 if alone else int((claimed & (guess == own[strangers])).sum()),
        details={
            "matched": float((candidates.records > 0).mean()),
            "only_match": float((candidates.records == 1).mean()),
        },
    )


@dataclass(frozen=True, kw_only=True)
class Membership(Attack):
    """Claim that a person is in the table if more of its records may be hers than is usual.

    Each record of a group is equally likely to belong to any known person whom the group matches. The adversary sums
    this over the groups that match a person, and claims that she is in the table if it exceeds the share of members
    among all. Targets are members and as many outsiders, so guessing is right half of the time. The control checks the
    claims against shuffled truth.
    """

    name = "membership"
    question = INFERENCE
    reference = "Nergiz, Atzori, Clifton, Hiding the presence of individuals from shared databases, SIGMOD 2007"

    def check(self, setting: AttackSetting) -> str | None:
        """Require outsiders."""
        if setting.outsiders is None:
            return "it needs people who are not in the table; give outsiders."
        return None

    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        """Attack as many members as outsiders."""
        assert setting.outsiders is not None  # noqa: S101 - refused before
        assert setting.outside_candidates is not None  # noqa: S101 - there are outsiders
        count = min(len(setting.targets), len(setting.outsiders))
        covered = setting.view.individuals_covered(setting.everybody)
        shares = setting.view.groups.sizes / np.maximum(covered, 1)
        usual = setting.members / setting.everybody.shape[1]
        rng = setting.rng(3)
        members, outsiders = (rng.permutation(len(each))[:count] for each in (setting.targets, setting.outsiders))
        member = _expected(setting.candidates, shares)[members] > usual
        outsider = _expected(setting.outside_candidates, shares)[outsiders] > usual
        said, truth = np.append(member, outsider), np.repeat([True, False], count)
        shuffled = rng.permutation(truth)
        yield AttackResult(
            attack=self.name,
            question=self.question,
            targets=2 * count,
            claims=2 * count,
            successes=int((said == truth).sum()),
            baseline=0.5,
            control_targets=2 * count,
            control_successes=int((said == shuffled).sum()),
            details={"members_found": float(member.mean()), "outsiders_accused": float(outsider.mean())},
        )


def _expected(candidates: MatchingGroups, shares: Floats) -> Floats:
    """Sum the shares of the groups that match each person."""
    summed = np.bincount(candidates.target, weights=shares[candidates.group], minlength=candidates.targets)
    return summed.astype(np.float64)
