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

from sfumato._progress import scale_progress
from sfumato.encoding.coded_table import CodedColumn
from sfumato.errors import InfeasibleError
from sfumato.schema.roles import SENSITIVE
from sfumato.tables.algorithms._blocks import merge_solutions
from sfumato.tables.algorithms._labels import label_covers
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest, round_up_share
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models._conjunction import satisfy_all
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups, Histogram
from sfumato.tables.published.solution import NOT_PUBLISHED, TableSolution
from sfumato.tables.series._prior_disclosure import NO_COHORT, Cohorts

Ints = npt.NDArray[np.int64]


# Which newcomers of a series can be published together, and who waits for a later release.

STEPS = 1000  # limits of all values that are tried
SINGLE, SINGLE_STEPS = 20, 60  # of so many frequent values also so many limits of one alone
DENSE = 4_000_000  # numbers at once; of very many values fewer limits are tried


def publishable_subset(task: TableRequest) -> Ints:
    """Return records that keep every model as one group, as many as are found; none if no such records are found.

    Where values are too frequent, a limit of them is published: of those who waited longest first, and else at random.
    All values are limited alike, or one of the most frequent alone, whichever leaves out fewer. This errs on the side
    of too few records.
    """
    rows = np.arange(task.table.n_weighted_records, dtype=np.int64)
    if _satisfy_as_one_group(task, rows):
        return rows
    order = np.lexsort((task.stream.permutation(len(rows)), -_releases_waited(task)))
    for column in task.model_columns:
        rows = _limit_frequent_values(task, column, rows, order) if len(rows) else rows
    return rows if len(rows) and _satisfy_as_one_group(task, rows) else rows[:0]


def _satisfy_as_one_group(task: TableRequest, rows: Ints) -> bool:
    """Return whether records keep every model as one group."""
    columns = [column.take(rows) for column in task.model_columns]
    whole = Groups.from_rows(np.zeros(len(rows), dtype=np.int32), 1, columns, SENSITIVE)
    return bool(satisfy_all(whole, task.models)[0])


def _releases_waited(task: TableRequest) -> Ints:
    """Return for how many releases everybody has waited."""
    return np.zeros(task.table.n_weighted_records, dtype=np.int64) if task.known is None else task.known.waited


def _limit_frequent_values(task: TableRequest, column: CodedColumn, rows: Ints, order: Ints) -> Ints:
    """Leave out records whose values are too frequent for the models of one attribute; the first in order stay."""
    models = [model for model in task.models if set(model.sensitive_attributes) <= {column.name}]
    codes, width = column.codes[rows].astype(np.int64), len(column.domain) + 1
    counts = np.bincount(codes, minlength=width)
    occurring = np.flatnonzero(counts)
    shown = np.minimum(counts[occurring], _frequency_limits(counts[occurring]))
    group, value = np.nonzero(shown)
    histogram = Histogram.from_entries(group, occurring[value], shown[group, value], groups=len(shown), width=width)
    tried = Groups(shown.sum(axis=1), {column.name: histogram}, domains={column.name: column.domain})
    kept = satisfy_all(tried, models)
    if not kept.any():
        return rows[:0]
    most = np.zeros(width, dtype=np.int64)
    most[occurring] = shown[int(np.argmax(np.where(kept, tried.sizes, -1)))]
    place = np.empty(task.table.n_weighted_records, dtype=np.int64)
    place[order] = np.arange(len(order))
    by_value = np.lexsort((place[rows], codes))
    starts = np.cumsum(counts) - counts
    rank = np.arange(len(rows)) - starts[codes[by_value]]
    return np.sort(rows[by_value[rank < most[codes[by_value]]]])


def _frequency_limits(counts: Ints) -> Ints:
    """Return what is tried: in every row, how often every value may be published."""
    frequent = np.argsort(-counts, kind="stable")[:SINGLE]
    room = max(2, DENSE // len(counts))
    alike = np.unique(np.linspace(1, counts.max(), min(STEPS, room)).astype(np.int64))
    tried = [np.repeat(alike[:, None], len(counts), axis=1)]
    for value in frequent.tolist():
        steps = np.unique(np.linspace(0, counts[value], min(SINGLE_STEPS, room)).astype(np.int64))
        alone = np.repeat(counts[None, :], len(steps), axis=0)
        alone[:, value] = steps
        tried.append(alone)
    return np.concatenate(tried)


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
