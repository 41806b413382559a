"""Releases of a series in which persons come and none leaves: everybody stays with those she came with.

An atom is a set of persons who came in the same release and never part. Every atom keeps all models alone, and every
group of every release is a union of atoms with at most one that is new. So whatever is combined from the groups of all
releases is a union of atoms, and keeps every model whose unions of good groups are good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import TableAlgorithm, TableRequest
from sfumato.algorithms.in_blocks import merge_solutions
from sfumato.algorithms.local.covers import label_covers
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.newcomers import publishable_subset
from sfumato.algorithms.suppressing import round_up_share
from sfumato.coding.codes import CodedColumn
from sfumato.core.atoms import NO_COHORT, Cohorts
from sfumato.core.groups import Groups
from sfumato.core.progress import scale_progress
from sfumato.core.publication import NOT_PUBLISHED, TableSolution
from sfumato.exceptions import InfeasibleError
from sfumato.models.base import GroupModel
from sfumato.schema.missing import SENSITIVE

Ints: TypeAlias = npt.NDArray[np.int64]
Search: TypeAlias = Callable[[TableRequest, Ints], TableSolution]
COVERED = 0.1  # of the work is done when the persons of earlier releases are covered


def supports_cohorts(algorithm: TableAlgorithm) -> bool:
    """Whether releases of a series by this algorithm go by atoms: it finds groups, and generalizes their values."""
    return algorithm.publishes == "covers" and algorithm.recodes == "searched"


def check_cohorts(algorithm: TableAlgorithm, models: Sequence[GroupModel]) -> str | None:
    """Return in one sentence why a series by this algorithm cannot promise these models, or nothing."""
    name = type(algorithm).__name__
    for model in models:
        if model.compares_with_table or model.needs_original:
            return (
                f"{name} does not support {model!r} in a series, because it compares groups with the whole table, "
                "which changes from release to release; promise another model."
            )
        if not model.monotone:
            return (
                f"{name} does not support {model!r} in a series, because groups of several releases combine to unions, "
                "which can break it; promise another model, or use MInvariantBuckets."
            )
    return None


def search_with_cohorts(algorithm: TableAlgorithm, task: TableRequest, atoms: Cohorts, search: Search) -> TableSolution:
    """Find what to publish of a table whose persons were published before, but for some who are new.

    Everybody who was published before stays with her atom, which is shown by what covers its values now. Newcomers are
    searched among themselves; their groups are new atoms, and who is in none of them waits.

    Parameters
    ----------
    algorithm : what the release is made by.
    task : all records, one by one.
    atoms : of their persons.
    search : finds what to publish of the newcomers, given their task and their places among the records.
    """
    old, newcomers = np.flatnonzero(atoms.of_case != NO_COHORT), atoms.inserted
    stayed = _republish_cohorts(algorithm, task, atoms, old)
    task.progress(COVERED)
    came = _search_inserted(replace(task, progress=scale_progress(task.progress, COVERED, 1.0)), newcomers, search)
    if stayed is not None and came is not None:
        shown = merge_solutions([stayed, came], [old, newcomers])
    elif stayed is not None:
        shown = _restrict_to_cases(stayed, old, task.table.n_weighted_records)
    elif came is not None:
        shown = _restrict_to_cases(came, newcomers, task.table.n_weighted_records)
    else:
        raise InfeasibleError(
            f"Nobody can be published: none of the {len(old):,} persons whom earlier releases published, and all "
            f"{len(newcomers):,} newcomers wait; wait for more of them, or promise less."
        )
    task.progress(1.0)
    return replace(shown, waiting=int(np.count_nonzero(shown.group[newcomers] == NOT_PUBLISHED)))


def _republish_cohorts(
    algorithm: TableAlgorithm, task: TableRequest, atoms: Cohorts, old: Ints
) -> TableSolution | None:
    """Publish everybody with her atom; leave out atoms that lost persons or keep a model no more, if that many may be.

    Returns nothing if nobody is left.
    """
    here, atom = np.unique(atoms.of_case[old], return_inverse=True)
    broken = atoms.present[here] < atoms.sizes[here]
    groups = Groups.from_rows(atom, len(here), [column.take(old) for column in task.model_columns], SENSITIVE)
    unkept = {model: ~model.satisfied_by(groups) & ~broken for model in task.models}
    left_out = np.logical_or.reduce([broken, *unkept.values()])[atom]
    if np.count_nonzero(left_out) > task.max_suppressed:
        gone = int((atoms.sizes - atoms.present)[here].sum())
        worst = max(unkept, key=lambda model: np.count_nonzero(unkept[model]), default=None)
        raise _excess_suppression_error(task, gone, worst, int(np.count_nonzero(left_out)))
    stays = np.flatnonzero(~left_out)
    if not len(stays):
        return None
    _, number = np.unique(atom[stays], return_inverse=True)
    quasi = [column.take(old[stays]) for column in task.table.quasi]
    return _restrict_to_cases(_label_groups(algorithm, quasi, number.astype(np.int32)), stays, len(old))


def _excess_suppression_error(
    task: TableRequest, gone: int, unkept: GroupModel | None, persons: int
) -> InfeasibleError:
    needed = round_up_share(persons, task.table.rows)
    advice: list[dict[str, str | float | list[str]]] = [{"max_suppressed": needed}]
    if gone:
        return InfeasibleError(
            f"{gone:,} persons left whom earlier releases published in groups with others who stay, and comparing "
            f"groups with and without them tells values; set max_suppressed={needed} to leave the {persons:,} others "
            "out, too, or start a series by MInvariantBuckets, which serves persons who leave.",
            advice,
        )
    return InfeasibleError(
        f"{persons:,} persons were published in groups that do not keep {unkept!r}, because more is promised now, "
        f"values changed or releases told these persons apart; set max_suppressed={needed} to leave them out, or "
        "promise less.",
        advice,
    )


def _label_groups(
    algorithm: TableAlgorithm, quasi: Sequence[CodedColumn], group: npt.NDArray[np.int32]
) -> TableSolution:
    """Show groups by what covers their values, as the algorithm does."""
    sets = isinstance(algorithm, Mondrian) and algorithm.publish == "sets"
    exact = isinstance(algorithm, Mondrian) and algorithm.bounds == "exact"
    return label_covers(quasi, group, int(group.max()) + 1, sets=sets, exact=exact)


def _search_inserted(task: TableRequest, newcomers: Ints, search: Search) -> TableSolution | None:
    """Find what to publish of newcomers; nothing if all of them wait."""
    table = task.table.take(newcomers)
    known = None if task.known is None else task.known.take(newcomers)
    fits = publishable_subset(replace(task, table=table, known=known)) if len(newcomers) else newcomers
    if not len(fits):
        return None
    among = replace(
        task,
        table=table.take(fits),
        max_suppressed=task.max_suppressed * len(fits) // task.table.rows,
        known=None if known is None else known.take(fits),
    )
    try:
        found = search(among, newcomers[fits])
    except InfeasibleError:  # the search finds no groups among them
        return None
    return _restrict_to_cases(found, fits, len(newcomers)) if (found.group != NOT_PUBLISHED).any() else None


def _restrict_to_cases(publication: TableSolution, rows: Ints, cases: int) -> TableSolution:
    """Return what is published of some of so many cases, and nothing of the others."""
    group = np.full(cases, NOT_PUBLISHED, dtype=np.int32)
    group[rows] = publication.group
    return TableSolution(group, publication.recoded)
