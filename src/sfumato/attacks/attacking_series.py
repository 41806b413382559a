"""`sf.attacks.attack_series`: attack several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.attacks.results import AttackResults
from sfumato.attacks.running import resolve_attack, run_attacks
from sfumato.attacks.series.comparing import BackwardComparison, CrossComparison, ForwardComparison, GroupDifference
from sfumato.attacks.series.equating import ValueEquivalence
from sfumato.attacks.series.intersecting import CriticalAbsence, Intersection, Unflagging
from sfumato.attacks.series.reading import read_series_setting
from sfumato.attacks.series.row_linking import RowLinking
from sfumato.attacks.series.setting import SeriesAttack
from sfumato.attacks.setting import MOST_TARGETS
from sfumato.judging.series.versions import Element, Versions
from sfumato.randomness import draw_seed
from sfumato.schema.schema import Schema
from sfumato.validation import is_integer, require

SERIES_ATTACKS: dict[str, type[SeriesAttack]] = {
    each.name: each
    for each in (
        Intersection,
        GroupDifference,
        ForwardComparison,
        CrossComparison,
        BackwardComparison,
        CriticalAbsence,
        ValueEquivalence,
        RowLinking,
        Unflagging,
    )
}


def attack_series(
    releases: Sequence[Element],
    schema: Schema | None = None,
    attacks: Sequence[SeriesAttack | str] = (),
    *,
    targets: int = MOST_TARGETS,
    seed: int | None = None,
) -> AttackResults:
    """Attack several releases of one table as one would who holds them all, and count what she gets right.

    She knows who is in which version, everybody's quasi-identifiers, and in which group everybody is; she knows
    nobody's sensitive value. Sensitive attributes are attacked one by one; each must stay the same for every person.
    A promise that every release keeps alone says nothing about this.

    Parameters
    ----------
    releases : the releases in order: each an `sf.Release`, or a published table with its original, or these two with
        the original row of every published row (-1 for a counterfeit). Without it, persons are found by their
        cells, which must tell their groups.
    schema : the roles; identifiers tell who is who. Releases bring their own.
    attacks : attacks or their names; by default all that apply.
    targets, seed : attack at most this many persons, drawn at random; a seed makes the draw repeatable.
    """
    require(
        is_integer(targets) and targets >= 1,
        "attack_series",
        "targets",
        "at least 1",
        targets,
    )
    chosen = [resolve_attack(each, SERIES_ATTACKS, SeriesAttack, "attack_series") for each in attacks]
    versions = Versions.of(releases, schema)
    setting = read_series_setting(versions, targets=targets, seed=draw_seed() if seed is None else seed)
    results, skipped = run_attacks(chosen, SERIES_ATTACKS, setting)
    return AttackResults(results=results, skipped=skipped)
