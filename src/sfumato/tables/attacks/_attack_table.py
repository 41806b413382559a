"""`sf.attack`: run attacks on a published table, and report what they get right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, ignore_progress
from sfumato._randomness import draw_seed
from sfumato._validation import is_integer, require
from sfumato.core.attack import Attack, AttackResult, AttackResults, resolve_attack, run_attacks
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.schema.schema import Schema
from sfumato.tables.attacks._allowed_rates import Guarantee
from sfumato.tables.attacks._beliefs import Ints
from sfumato.tables.attacks._setting import MOST_TARGETS, AttackSetting, prepare_setting, worst_case_setting
from sfumato.tables.attacks.inference import BackgroundKnowledge, Composition, Homogeneity, Similarity, Skewness
from sfumato.tables.attacks.linkage import Linkage, Membership, SinglingOut
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._truthfulness import row_numbers
from sfumato.tables.models.base import GroupModel

MOSTLY = 0.5
ATTACKS: dict[str, type[Attack]] = {
    each.name: each
    for each in (
        SinglingOut,
        Linkage,
        Membership,
        Homogeneity,
        Similarity,
        Skewness,
        BackgroundKnowledge,
        Composition,
    )
}


def attack(
    published: Frame,
    schema: Schema,
    attacks: Sequence[Attack | str] = (),
    *,
    known: Frame,
    original: Frame | None = None,
    key: str | None = None,
    correspondence: Sequence[int] | npt.NDArray[np.integer] | None = None,
    outsiders: Frame | None = None,
    other: Frame | None = None,
    other_schema: Schema | None = None,
    models: Sequence[GroupModel] = (),
    targets: int = MOST_TARGETS,
    seed: int | None = None,
) -> AttackResults:
    """Attack a published table as an adversary who knows some people would, and count what she gets right.

    These attacks look up whose values a published cell covers, so they judge generalizations: tables in which every
    cell is a person's value, or an interval, set or node that contains it. Perturbed tables, whose records do not cover
    their own people, are refused; `attack_records` judges them. Nothing is claimed without the truth.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow).
    schema : the roles; hierarchies are needed to read taxonomy labels.
    attacks : attacks or their names; by default all that apply.
    known : the people the adversary knows, by their quasi-identifiers. She does not know the sensitive columns of this
        table; they show whether she is right. The original is the worst case.
    original, key : the original table and a column, such as a name, that it shares with the known table; the truth is
        looked up there, and known people who are not in it are outsiders.
    correspondence : the row of the original, if given, or else of the known table that each published row comes from.
    outsiders : known people who are not in the published table.
    other, other_schema : a second release of the same people, for the attack on their composition by what both share.
    models : what is promised of the published table: then every result tells the rate that the guarantee allows.
    targets, seed : attack at most this many people, drawn at random; a seed makes all draws repeatable.
    """
    _check(schema, targets, seed)
    shown, people, source = to_arrow(published)[0], to_arrow(known)[0], _optional_table(original)
    setting = prepare_setting(
        shown,
        schema,
        people,
        original=source,
        key=key,
        correspondence=_published_rows(correspondence, shown, people if source is None else source),
        outsiders=_optional_table(outsiders),
        other=None if other is None else (to_arrow(other)[0], other_schema or schema),
        targets=targets,
        seed=draw_seed() if seed is None else seed,
    )
    return _run_chosen([resolve_attack(each, ATTACKS, Attack, "attack") for each in attacks], setting, models)


def attack_context(
    evidence: AuditContext,
    attacks: Sequence[Attack],
    models: Sequence[GroupModel] = (),
    *,
    targets: int,
    seed: int,
    tell: Progress = ignore_progress,
) -> AttackResults:
    """Attack evidence that others judge, too, as one would who knows everybody in the original; see `attack`."""
    return _run_chosen(attacks, worst_case_setting(evidence, targets=targets, seed=seed), models, tell)


def _check(schema: object, targets: object, seed: object) -> None:
    require(isinstance(schema, Schema), "attack", "schema", "an sf.Schema", schema)
    require(
        isinstance(targets, int) and is_integer(targets) and targets >= 1, "attack", "targets", "at least 1", targets
    )
    drawn = seed is None or (isinstance(seed, int) and is_integer(seed) and seed >= 0)
    require(drawn, "attack", "seed", "at least 0", seed)


def _published_rows(
    correspondence: Sequence[int] | npt.NDArray[np.integer] | None, shown: pa.Table, source: pa.Table
) -> Ints | None:
    if correspondence is None:
        return None
    rows = row_numbers(correspondence)
    inside = len(rows) == shown.num_rows and bool(((rows >= 0) & (rows < source.num_rows)).all())
    if not inside:
        raise InvalidParameterError(
            "The correspondence must list the known row number of every published row, or of one of the original."
        )
    return rows


def _run_chosen(
    chosen: Sequence[Attack], setting: AttackSetting, models: Sequence[GroupModel], tell: Progress = ignore_progress
) -> AttackResults:
    """Run the chosen attacks, all of which must apply; by default all that apply."""
    _reject_perturbed(setting)
    guarantee = Guarantee(tuple(models), tuple(setting.schema.quasi_identifiers))
    limited = [_Limited(each, guarantee) for each in chosen]
    every = {name: partial(_Limited.of, kind, guarantee) for name, kind in ATTACKS.items()}
    results, skipped = run_attacks(limited, every, setting, tell)
    return AttackResults(results=results, skipped=skipped)


@dataclass(frozen=True)
class _Limited:
    """An attack whose results tell what a guarantee allows."""

    attack: Attack
    guarantee: Guarantee

    @classmethod
    def of(cls, kind: Callable[[], Attack], guarantee: Guarantee) -> _Limited:
        return cls(kind(), guarantee)

    @property
    def name(self) -> str:
        return self.attack.name

    def check(self, setting: AttackSetting) -> str | None:
        return self.attack.check(setting)

    def run(self, setting: AttackSetting) -> Iterator[AttackResult]:
        for each in self.attack.run(setting):
            yield replace(each, allowed=self.attack.allowed(self.guarantee, each.sensitive))


def _reject_perturbed(setting: AttackSetting) -> None:
    """Refuse a table that is no generalization of its persons: who is covered would be nobody, or a stranger.

    Where it is known whose the records are, only who has one counts: most may be suppressed, or wait.
    """
    share = setting.covered if setting.linked else float((setting.candidates.records > 0).mean())
    if share < MOSTLY:
        raise SchemaError(
            f"Only {share:.0%} of the targets are covered by published records of theirs, so the table is no "
            "generalization of these persons; for perturbed, synthetic or averaged records take "
            "sf.attacks.attack_records."
        )


def _optional_table(table: Frame | None) -> pa.Table | None:
    return None if table is None else to_arrow(table)[0]
