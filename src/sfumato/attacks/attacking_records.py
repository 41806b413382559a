"""`sf.attacks.attack_records`: attack perturbed, synthetic or averaged records, beside a control."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.attacks.record_attacks import (
    ClosestRecord,
    LearnedInference,
    LinkabilityAttack,
    MembershipDistance,
    MembershipLearned,
    NearestInference,
    RecordAttack,
)
from sfumato.attacks.record_results import RecordAttackResults
from sfumato.attacks.record_setting import FEWEST, prepare_record_setting
from sfumato.attacks.record_singling import MultivariateSinglingOut, UnivariateSinglingOut
from sfumato.attacks.running import resolve_attack, run_attacks
from sfumato.attacks.setting import MOST_TARGETS
from sfumato.randomness import draw_seed
from sfumato.schema.schema import Schema
from sfumato.table.frames import Frame, to_arrow
from sfumato.validation import is_integer, require

RECORD_ATTACKS: dict[str, type[RecordAttack]] = {
    each.name: each
    for each in (
        UnivariateSinglingOut,
        MultivariateSinglingOut,
        LinkabilityAttack,
        NearestInference,
        LearnedInference,
        ClosestRecord,
        MembershipDistance,
        MembershipLearned,
    )
}


def attack_records(
    published: Frame,
    original: Frame,
    attacks: Sequence[RecordAttack | str] = (),
    *,
    control: Frame | None = None,
    schema: Schema | None = None,
    targets: int = MOST_TARGETS,
    seed: int | None = None,
) -> RecordAttackResults:
    """Attack records that are perturbed, synthetic or averaged, by the nearest record and by learning.

    Every attack runs alike on persons of the original and of the control. What it gets right about both is what the
    population tells. Generalized columns are not compared: for these take `sf.attack`, which looks who is covered.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow).
    original : the table that it was made from.
    attacks : attacks or their names; without any, all that apply.
    control : persons of the same population who were not used for the release. Without them nothing tells how much of
        a rate is the release's doing, and attacks on presence are refused.
    schema : its columns are compared except identifiers, and its sensitive columns are guessed; without a schema, all
        columns are compared and guessed.
    targets : attack at most so many persons, drawn at random.
    seed : repeats all draws.
    """
    require(schema is None or isinstance(schema, Schema), "attack_records", "schema", "an sf.Schema", schema)
    enough = is_integer(targets) and targets >= FEWEST
    require(enough, "attack_records", "targets", f"at least {FEWEST}", targets)
    chosen = [resolve_attack(each, RECORD_ATTACKS, RecordAttack, "attack_records") for each in attacks]
    setting = prepare_record_setting(
        to_arrow(published)[0],
        to_arrow(original)[0],
        None if control is None else to_arrow(control)[0],
        schema=schema,
        targets=targets,
        seed=draw_seed() if seed is None else seed,
    )
    results, skipped = run_attacks(chosen, RECORD_ATTACKS, setting)
    return RecordAttackResults(results=results, skipped=skipped, generalized=setting.generalized)
