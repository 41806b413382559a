"""Slicing: attributes in slices, records in buckets, and every slice shuffled within every bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_integer, require
from sfumato.core._kernels.grouping import Grouped, group_columns, group_keys, representative_rows
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.encoding.domain import Domain
from sfumato.schema.roles import SENSITIVE, MissingPolicy
from sfumato.tables.algorithms._segments.cuts import NO_CUT, Cuts
from sfumato.tables.algorithms.base import Settled, Shows, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.local._top_down import MedianPartitioning
from sfumato.tables.models._conjunction import satisfy_all
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import JOINING, TableSolution

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


# How strongly attributes are associated, and clusters of associated attributes.


# How strongly attributes are associated, and clusters of associated attributes.


# How strongly attributes are associated, and clusters of associated attributes.
MOST_BINS = 10
DENSE_PAIRS = 1 << 22  # pairs of values, up to which all are counted
MOST_CHOICES = 20_000  # of medoids, up to which all are tried
DIGITS = 12  # to which costs are compared, so that the order of a sum does not matter


def bin_values(column: CodedColumn, most: int = MOST_BINS) -> Ints:
    """Return a number for every value of an attribute; many numbers, dates or ranks share bins of about equal counts.

    Missing cells are a value of their own. Every number below the largest occurs.
    """
    codes = column.codes.astype(np.int64)
    return _bins(column.domain, np.bincount(codes, minlength=len(column.domain) + 1), most)[codes]


def _bins(domain: Domain, counts: Ints, most: int = MOST_BINS) -> Ints:
    """Return the number of every code, given how often it occurs; those of codes that do not occur mean nothing."""
    missing, known = domain.missing, counts[: domain.missing]
    number = np.arange(missing + 1)
    if domain.scale.ordered and np.count_nonzero(known) > most:
        middle = np.cumsum(known) - known / 2
        number[:missing] = np.minimum(middle * most / known.sum(), most - 1).astype(np.int64)
        number[missing] = most
    return np.searchsorted(np.unique(number[counts > 0]), number).astype(np.int64)


def mean_square_contingency(first: Ints, second: Ints) -> float:
    r"""Compute $\phi^2$ of two attributes, from 0 for independent ones to 1 if one determines the other.

    A constant is associated with nothing: 0.

    Parameters
    ----------
    first, second : the value of every record, numbered from 0; every number below the largest occurs.

    Examples
    --------
    >>> mean_square_contingency(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    >>> mean_square_contingency(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    0.0
    """
    rows, columns = np.bincount(first), np.bincount(second)
    pairs = _PairCounts(len(columns), len(rows) * len(columns))
    pairs.add(first, second)
    return _contingency(rows, columns, pairs)


class _PairCounts:
    """How often every pair of two attributes' values occurs, added up batch by batch."""

    def __init__(self, width: int, span: int) -> None:
        self.width, self.span = width, span
        self.keys = np.arange(span) if span <= DENSE_PAIRS else np.zeros(0, dtype=np.int64)
        self.counts = np.zeros(len(self.keys), dtype=np.int64)

    def add(self, first: Ints, second: Ints) -> None:
        """Count the pairs of some more records."""
        keys = first * self.width + second
        if self.span <= DENSE_PAIRS:
            self.counts += np.bincount(keys, minlength=self.span)
            return
        found = group_keys(keys, self.span)
        together = np.concatenate([self.keys, found.keys])
        self.keys, place = np.unique(together, return_inverse=True)
        counts = np.concatenate([self.counts, found.counts])
        self.counts = np.bincount(place.ravel(), counts, len(self.keys)).astype(np.int64)


def _contingency(rows: Ints, columns: Ints, pairs: _PairCounts) -> float:
    least = min(len(rows), len(columns))
    if least < 2:  # noqa: PLR2004 - a constant
        return 0.0
    met = np.flatnonzero(pairs.counts)
    row, column = np.divmod(pairs.keys[met], pairs.width)
    total = float((pairs.counts[met].astype(np.float64) ** 2 / (rows[row] * columns[column].astype(np.float64))).sum())
    return min(max((total - 1.0) / (least - 1), 0.0), 1.0)


def contingency_matrix(tables: Callable[[], Iterable[Sequence[CodedColumn]]]) -> Floats:
    r"""Compute $\phi^2$ of every pair of attributes; 1 on the diagonal.

    Parameters
    ----------
    tables : returns the same columns of disjoint parts of a table, which are looked at twice.
    """
    domains: list[Domain] = []
    counts: list[Ints] = []
    for columns in tables():
        domains = [column.domain for column in columns]
        here = [np.bincount(column.codes, minlength=len(column.domain) + 1).astype(np.int64) for column in columns]
        counts = [before + more for before, more in zip(counts, here, strict=True)] if counts else here
    bins = [_bins(domain, many) for domain, many in zip(domains, counts, strict=True)]
    sums = [
        np.bincount(number[many > 0], many[many > 0]).astype(np.int64)
        for number, many in zip(bins, counts, strict=True)
    ]
    widths = [len(each) for each in sums]
    pairs = {
        (i, j): _PairCounts(widths[j], widths[i] * widths[j])
        for i, j in combinations(range(len(bins)), 2)
        if min(widths[i], widths[j]) > 1
    }
    for columns in tables():
        values = [number[column.codes] for number, column in zip(bins, columns, strict=True)]
        for (i, j), met in pairs.items():
            met.add(values[i], values[j])
    found = np.eye(len(bins))
    for (i, j), met in pairs.items():
        found[i, j] = found[j, i] = _contingency(sums[i], sums[j], met)
    return found


def k_medoids(distances: Floats, clusters: int) -> Ints:
    """Cluster points around medoids with the smallest total distance; return the cluster of every point.

    All choices of medoids are tried if they are few; otherwise, medoids are added one by one and then swapped
    while that helps (PAM). Ties go to the lowest numbers. Clusters are numbered by their lowest points.
    """
    points = len(distances)
    clusters = min(clusters, points)
    if comb(points, clusters) <= MOST_CHOICES:
        choices = np.array(list(combinations(range(points), clusters)), dtype=np.int64).reshape(-1, clusters)
        medoids = choices[_costs(distances, choices).argmin()]
    else:
        medoids = partition_around_medoids(distances, clusters)
    owner = distances[:, medoids].argmin(axis=1)
    owner[medoids] = np.arange(clusters)
    _, first = np.unique(owner, return_index=True)
    rank = np.empty(clusters, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(clusters)
    return np.asarray(rank[owner])


def partition_around_medoids(distances: Floats, clusters: int) -> Ints:
    """Choose medoids one by one, each the best next one, then make the best swap as long as it lowers the cost."""
    points = np.arange(len(distances))
    medoids = np.zeros(0, dtype=np.int64)
    while len(medoids) < clusters:
        others = np.setdiff1d(points, medoids)
        grown = np.column_stack([np.tile(medoids, (len(others), 1)), others])
        medoids = grown[_costs(distances, grown).argmin()]
    cost = _costs(distances, medoids[None])[0]
    while True:
        others = np.setdiff1d(points, medoids)
        swapped = np.repeat(medoids[None], clusters * len(others), axis=0)
        swapped[np.arange(len(swapped)), np.repeat(np.arange(clusters), len(others))] = np.tile(others, clusters)
        costs = _costs(distances, swapped)
        if not len(costs) or costs.min() >= cost:
            return np.sort(medoids)
        medoids, cost = swapped[costs.argmin()], costs.min()


def _costs(distances: Floats, choices: Ints) -> Floats:
    """Sum the distance of every point to its nearest medoid, for every choice of medoids."""
    return np.asarray(np.round(distances[:, choices].min(axis=2).sum(axis=0), DIGITS))


@dataclass(frozen=True, kw_only=True)
class Slicing(TableAlgorithm):
    r"""Split attributes into slices and records into buckets, and shuffle slices within buckets [1]_.

    Associated attributes ($\phi^2$, k-medoids) form a slice; their cells stay together, exact. Sensitive attributes
    share one slice, with the quasi-identifiers of their cluster, which are *linked* with them. Records are cut into
    buckets at medians, as Mondrian does, while in both halves the records with equal linked values keep every model.
    All other slices are then permuted within every bucket. Quasi-identifiers that cannot be linked even in a single
    bucket of all records move to other slices.

    This is stricter than the paper, which requires the models on average over all buckets that a person may be in.
    If a model is about identities, as k-anonymity is, no slice contains all quasi-identifiers.
    The work grows as $d\,n \log n + d^2 n$ for $n$ records and $d$ quasi-identifiers. Nothing is generalized or
    suppressed.

    Parameters
    ----------
    slices : the number of slices, at least 2; fewer if there are too few attributes.

    References
    ----------
    .. [1] Li, Li, Zhang, Molloy, "Slicing: a new approach for privacy preserving data publishing", TKDE 2012.
       https://doi.org/10.1109/TKDE.2010.236
    """

    name = "slicing"
    reference = "Li, Li, Zhang, Molloy 2012, https://doi.org/10.1109/TKDE.2010.236"
    needs_monotone = "always"
    suppresses = False

    slices: int = 2

    def __post_init__(self) -> None:
        require(is_integer(self.slices) and self.slices > 1, self, "slices", "a whole number, at least 2", self.slices)

    @property
    def publishes(self) -> Shows:
        """Values in buckets, apart from their records."""
        return "buckets"

    def check(self, task: TableRequest) -> str | None:
        """Refuse names that buckets cannot carry, cells that match all, and a slice that would show identities."""
        refusal = super().check(task)
        if refusal is not None:
            return refusal
        for column in (*task.table.quasi, *task.table.sensitive):
            if JOINING in column.name:
                return (
                    f"Slicing cannot name the buckets of column {column.name!r}, because {JOINING!r} joins the names "
                    "of a slice; rename it."
                )
        broken = _find_identity_model(task)
        if broken is not None and len(task.table.quasi) == 1 and not _satisfy_models(task, [0], [task.table]):
            return (
                f"Slicing does not support {broken!r} with one quasi-identifier, which its slice shows unchanged; "
                "use Mondrian."
            )
        return None

    def check_missing(self, missing: Mapping[str, int], policy: MissingPolicy) -> str | None:
        """Refuse missing cells that match all."""
        for name, lost in missing.items():
            if lost and policy is MissingPolicy.MATCHES_ALL:
                return (
                    f"Slicing cannot shuffle the {lost:,} missing cells of column {name!r} that may be any "
                    "value; use the policy own-value or fill them."
                )
        return None

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        quasi, rows = task.table.quasi, task.table.rows
        if not quasi:
            task.progress(1.0)
            return TableSolution(np.zeros(rows, dtype=np.int32), {})
        layout = self._layout(task)
        bucket = np.zeros(rows, dtype=np.int32)
        if layout.moved:
            descent = _BucketPartitioning(task, layout.linked)
            descent.run()
            bucket = descent.groups()
        else:
            task.progress(1.0)
        group = _parts(bucket, int(bucket.max()) + 1, [quasi[j] for j in layout.linked]).labels
        together = tuple(tuple(quasi[j].name for j in each) for each in layout.moved)
        return TableSolution(group, {}, buckets={name: bucket for each in together for name in each}, together=together)

    def fit_blocks(self, task: TableRequest, blocks: Callable[[], Iterable[CodedTable]]) -> Settled:
        """Choose the slices of all blocks together, so that every block is published in the same columns."""
        layout = _choose_layout(task, self.slices, blocks)
        return {"linked": list(layout.linked), "moved": [list(each) for each in layout.moved]}

    def for_blocks(self, facts: Settled) -> TableAlgorithm:
        """Return what searches blocks, with the slices of all of them."""
        layout = _Layout(tuple(facts["linked"]), tuple(tuple(each) for each in facts["moved"]))
        return _FittedSlicing(slices=self.slices, layout=layout)

    def _layout(self, task: TableRequest) -> _Layout:
        return _choose_layout(task, self.slices, lambda: [task.table])


@dataclass(frozen=True, eq=False)
class _Layout:
    """The numbers of the quasi-identifiers in slices: those linked with sensitive values, and the permuted slices."""

    linked: tuple[int, ...]
    moved: tuple[tuple[int, ...], ...]

    def without(self, lost: int, correlation: Floats) -> _Layout:
        """Move a linked quasi-identifier to the other slice with the strongest association, or to one of its own."""
        linked = tuple(j for j in self.linked if j != lost)
        if not self.moved:
            return _Layout(linked, ((lost,),))
        best = int(np.argmax([correlation[lost, list(each)].mean() for each in self.moved]))
        moved = list(self.moved)
        moved[best] = tuple(sorted((*moved[best], lost)))
        return _Layout(linked, tuple(moved))

    def broken_up(self, correlation: Floats) -> _Layout:
        """Split a slice of all quasi-identifiers, which would show everybody's: the least associated one leaves."""
        if len(self.moved) > 1 or len(self.moved[0]) == 1:
            return self
        together = list(self.moved[0])
        strength = correlation[np.ix_(together, together)].mean(axis=1)
        lost = together.pop(int(np.argmin(strength)))
        return _Layout(self.linked, tuple(sorted((tuple(together), (lost,)))))


@dataclass(frozen=True, kw_only=True)
class _FittedSlicing(Slicing):
    """Slicing with slices that were chosen for a larger table."""

    layout: _Layout

    def _layout(self, task: TableRequest) -> _Layout:  # noqa: ARG002 - it is known
        return self.layout


class _BucketPartitioning(MedianPartitioning):
    """The descent to buckets in which records with equal linked values keep every model."""

    def __init__(self, task: TableRequest, linked: Sequence[int]) -> None:
        super().__init__(task, strict=True)
        self.linked = linked

    def _rejected(self, segments: Ints, cuts: Cuts) -> Ints:
        """Find the segments with a half in which some records with equal linked values break a model."""
        proposed = np.flatnonzero(cuts.axis != NO_CUT)
        if not self.linked or not len(proposed):
            return super()._rejected(segments, cuts)
        named = segments[proposed]
        rows, place = self.records.list_rows(named)
        half = 2 * place + ~self.cutter.sides(self.records, named, cuts.select(proposed))
        linked = [CodedColumn(self.task.table.quasi[j].domain, self.records.codes[j][rows]) for j in self.linked]
        parts = _parts(half, 2 * len(named), linked)
        groups = self.counted(rows, parts.labels, len(parts))
        bad = representative_rows(parts)[~satisfy_all(groups, self.task.models)]
        return named[np.unique(place[bad])]


def _choose_layout(task: TableRequest, slices: int, blocks: Callable[[], Iterable[CodedTable]]) -> _Layout:
    """Cluster the attributes; unlink quasi-identifiers until every block of records, as a bucket, keeps every model."""
    quasi, sensitive = task.table.quasi, task.table.sensitive
    correlation = contingency_matrix(lambda: ((*each.quasi, *each.sensitive) for each in blocks()))
    width = len(quasi)
    points = correlation[:width, :width]
    if sensitive:
        shared = correlation[:width, width:].mean(axis=1)
        points = np.block([[points, shared[:, None]], [shared[None], np.ones((1, 1))]])
    cluster = k_medoids(1 - points, slices)
    open_cluster = cluster[-1] if sensitive else 0
    members = [np.flatnonzero(cluster[:width] == each) for each in range(int(cluster.max()) + 1)]
    moved = tuple(tuple(each.tolist()) for c, each in enumerate(members) if c != open_cluster and len(each))
    layout = _Layout(tuple(members[open_cluster].tolist()), moved)
    while layout.linked and not _satisfy_models(task, layout.linked, blocks()):
        linked = list(layout.linked)
        strength = shared[linked] if sensitive else points[np.ix_(linked, linked)].mean(axis=1)
        layout = layout.without(linked[int(np.argmin(strength))], correlation)
    if not layout.linked and _find_identity_model(task) is not None:
        return layout.broken_up(correlation)
    return layout


def _find_identity_model(task: TableRequest) -> GroupModel | None:
    """Find a model that the table keeps as a whole but no single record does, whatever its values."""
    whole = task.as_one_group()
    alone = Groups(np.ones(1, dtype=np.int64), whole.histograms, whole.totals, whole.domains)
    return next((m for m in task.models if m.satisfied_by(whole)[0] and not m.satisfied_by(alone)[0]), None)


def _satisfy_models(task: TableRequest, linked: Sequence[int], buckets: Iterable[CodedTable]) -> bool:
    """Return whether the records of every bucket with equal linked values keep every model."""
    watched, totals = {column.name for column in task.model_columns}, task.as_one_group().totals
    for table in buckets:
        one = np.zeros(table.n_weighted_records, dtype=np.int32)
        parts = _parts(one, 1, [table.quasi[j] for j in linked])
        seen = [column for column in table.sensitive if column.name in watched]
        groups = Groups.from_rows(parts.labels, len(parts), seen, SENSITIVE, weights=table.weights, totals=totals)
        if not satisfy_all(groups, task.models).all():
            return False
    return True


def _parts(bucket: npt.NDArray[np.integer], buckets: int, linked: Sequence[CodedColumn]) -> Grouped:
    """Split the records of every bucket by their linked values."""
    return group_columns(
        [bucket, *(column.codes for column in linked)], [buckets, *(len(column.domain) + 1 for column in linked)]
    )
