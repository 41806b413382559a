"""`sf.attacks.attack_series`: attack several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.results import Attacks
from sfumato.attacks.running import chosen_attack, run_all
from sfumato.attacks.series.comparing import BackwardComparison, CrossComparison, Difference, ForwardComparison
from sfumato.attacks.series.equating import ValueEquivalence
from sfumato.attacks.series.intersecting import CriticalAbsence, Intersection, Unflagging
from sfumato.attacks.series.reading import VersionTables, read_series
from sfumato.attacks.series.row_linking import RowLinking
from sfumato.attacks.series.setting import SeriesAttack
from sfumato.attacks.setting import MOST_TARGETS
from sfumato.exceptions import InvalidParameterError
from sfumato.judging.audit.truth import row_numbers
from sfumato.randomness import draw_seed
from sfumato.schema.schema import Schema
from sfumato.table.frames import Frame, to_arrow
from sfumato.validation import is_whole, require

SERIES_ATTACKS: dict[str, type[SeriesAttack]] = {
    each.name: each
    for each in (
        Intersection,
        Difference,
        ForwardComparison,
        CrossComparison,
        BackwardComparison,
        CriticalAbsence,
        ValueEquivalence,
        RowLinking,
        Unflagging,
    )
}


@runtime_checkable
class MadeHere(Protocol):
    """A release that knows its original, such as `sf.Release`."""

    @property
    def published(self) -> pa.Table:
        """The published table."""
        ...

    @property
    def original(self) -> pa.Table:
        """The table that it was made from."""
        ...

    @property
    def correspondence(self) -> npt.NDArray[np.int64]:
        """The original row of every published row; -1 for a counterfeit."""
        ...

    @property
    def recipe(self) -> Any:
        """What made it."""
        ...


Rows = Sequence[int] | npt.NDArray[np.integer]
Given = MadeHere | tuple[Frame, Frame] | tuple[Frame, Frame, Rows]


def attack_series(
    releases: Sequence[Given],
    schema: Schema | None = None,
    attacks: Sequence[SeriesAttack | str] = (),
    *,
    targets: int = MOST_TARGETS,
    seed: int | None = None,
) -> Attacks:
    """Attack several releases of one table as one would who holds them all, and count what she gets right.

    She knows who is in which version, everybody's quasi-identifiers, and in which group everybody is; she knows
    nobody's sensitive value. Sensitive attributes are attacked one by one; each must stay the same for every person.
    A promise that every release keeps alone says nothing about this.

    Parameters
    ----------
    releases : the releases in order: each an `sf.Release`, or a published table with its original, or these two with
        the original row of every published row (-1 for a counterfeit). Without it, persons are found by their
        quasi-identifiers, which must tell their groups.
    schema : the roles; identifiers tell who is who. By default those of the first release.
    attacks : attacks or their names; by default all that apply.
    targets, seed : attack at most this many persons, drawn at random; a seed makes the draw repeatable.
    """
    require(len(releases) > 0, "attack_series", "releases", "a list of at least one", releases)
    require(
        is_whole(targets) and targets >= 1,
        "attack_series",
        "targets",
        "at least 1",
        targets,
    )
    known = schema
    if known is None and isinstance(releases[0], MadeHere):
        known = releases[0].recipe.schema
    if not isinstance(known, Schema):
        raise InvalidParameterError("attack_series: give the schema of the tables; only releases bring their own.")
    chosen = [chosen_attack(each, SERIES_ATTACKS, SeriesAttack, "attack_series") for each in attacks]
    versions = [_version(number, each) for number, each in enumerate(releases, 1)]
    setting = read_series(versions, known, targets=targets, seed=draw_seed() if seed is None else seed)
    results, skipped = run_all(chosen, SERIES_ATTACKS, setting)
    return Attacks(results=results, skipped=skipped)


def _version(number: int, given: Given) -> VersionTables:
    if isinstance(given, MadeHere):
        return VersionTables(given.published, given.original, given.correspondence)
    if len(given) not in {2, 3}:
        raise InvalidParameterError(
            f"attack_series: release {number} must be an sf.Release, or a published table and its original."
        )
    shown, original = to_arrow(given[0])[0], to_arrow(given[1])[0]
    rows = row_numbers(given[2]) if len(given) == 3 else None  # noqa: PLR2004 - the third is the correspondence
    if rows is not None and (len(rows) != shown.num_rows or (len(rows) and rows.max() >= original.num_rows)):
        raise InvalidParameterError(
            f"The correspondence of release {number} must list an original row per published row."
        )
    return VersionTables(shown, original, rows)
