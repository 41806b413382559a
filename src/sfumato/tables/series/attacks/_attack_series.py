"""`sf.attacks.attack_series`: attack several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato._randomness import draw_seed
from sfumato._validation import is_integer, require
from sfumato.core._kernels.grouping import group_columns
from sfumato.core.attack import AttackResults, resolve_attack, run_attacks
from sfumato.errors import SchemaError
from sfumato.io._values import format_values
from sfumato.schema.schema import Schema
from sfumato.tables.attacks._setting import MOST_TARGETS
from sfumato.tables.series._versions import Element, Versions, encode_texts_together, visible_columns
from sfumato.tables.series.attacks._base import AttributeSeries, SeriesAttack, SeriesSetting, VisibleRows
from sfumato.tables.series.attacks.group_comparison import (
    BackwardComparison,
    CrossComparison,
    ForwardComparison,
    GroupDifference,
)
from sfumato.tables.series.attacks.inference import CriticalAbsence, Intersection, Unflagging, ValueEquivalence
from sfumato.tables.series.attacks.linkage import RowLinking

# Read a series of releases for attacks: who is in which group, the truth, and what rows show beside the value.


def read_series_setting(versions: Versions, *, targets: int, seed: int) -> SeriesSetting:
    """Read all releases; attributes that change are left out."""
    for each in versions.versions:
        if not each.evidence.published.num_rows:
            raise SchemaError(f"Of {each.name} no row is published; leave it out of the series.")
    schema = versions.schema
    permanent = [name for name in versions.attributes if name not in schema.transient]
    read = {name: _read(versions, name) for name in permanent}
    if versions.unplaced:
        raise SchemaError(
            f"{versions.unplaced:,} persons fit several groups of a release, so nothing tells who is where; give the "
            "correspondence of each release."
        )
    return SeriesSetting(read, targets=targets, seed=seed)


def _read(versions: Versions, name: str) -> AttributeSeries:
    """Read what all releases tell about one attribute, and the truth."""
    history = versions.history(name)
    assert history.truth is not None  # noqa: S101 - made from originals
    return AttributeSeries(history, history.truth.max(axis=0), _visible_rows(versions, name))


def _visible_rows(versions: Versions, name: str) -> tuple[VisibleRows, ...]:
    """Give what rows show beside the value a number; nothing if they show nothing."""
    shown = [each.evidence.published for each in versions.versions]
    stand = [visible_columns(table, versions.schema, name) for table in shown]
    names = [each for each in stand[0] if all(each in some for some in stand)]
    if not names:
        return ()
    coded = [encode_texts_together([format_values(table[each]) for table in shown]) for each in names]
    columns, widths = [np.concatenate(codes) for codes, _ in coded], [len(values) + 1 for _, values in coded]
    ends = np.cumsum([table.num_rows for table in shown])[:-1]
    seen = np.split(group_columns(columns, widths).labels.astype(np.int64), ends)
    groups = [each.groups_of(name) for each in versions.versions]
    return tuple(map(VisibleRows, groups, versions.coded(name)[0], seen))


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
