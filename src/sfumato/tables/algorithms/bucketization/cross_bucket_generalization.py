"""Cross-bucket generalization: groups hide identities, and buckets across them hide values."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil

import numpy as np
import numpy.typing as npt

from sfumato._threads import count_workers, map_in_threads
from sfumato.core._kernels.grouping import COMPILED_ROWS, stable_argsort
from sfumato.core._kernels.readiness import should_compile_for
from sfumato.encoding.coded_table import CodedColumn
from sfumato.errors import InfeasibleError
from sfumato.schema.roles import Scale
from sfumato.tables.algorithms._labels import label_ranges, label_sets, merge_identical_groups
from sfumato.tables.algorithms._segments.cuts import (
    Axes,
    CuttingRule,
    Ranges,
    Records,
    choose_cutter,
    make_axes,
    measure_widths,
)
from sfumato.tables.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.bucketization._assignment import (
    exact_fraction,
    ineligible_error,
    min_suppression,
    suppress_frequent_values,
)
from sfumato.tables.algorithms.bucketization._cross_bucket_sets import (
    BlockTree,
    RecordSets,
    build_block_tree,
    pick_sets,
)
from sfumato.tables.models.base import GroupModel
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.kl_anonymity import KLAnonymity
from sfumato.tables.published.solution import NOT_PUBLISHED, RecodedAttribute, TableSolution

Ints = npt.NDArray[np.int64]


# Groups and buckets across each other: every set of picked records is cut both ways.


# Groups and buckets across each other: every set of picked records is cut both ways.
Codes = npt.NDArray[np.unsignedinteger]
PLAIN_RULE = CuttingRule(1, relaxed=False)


@dataclass(frozen=True, eq=False)
class Crossing:
    """Records in the order of their groups, where each group begins, and the bucket of every record."""

    order: Ints
    starts: Ints
    bucket: Ints


def cross_sets(sets: RecordSets, codes: Codes, axes: Axes, k: int, l: Fraction) -> Crossing:
    """Cut every set into groups of k, and every crossed set into buckets.

    The records of a set are ordered so that neighbors are close: by recursive median cuts at the widest attribute,
    whose leaves are the groups. Sizes of groups differ by at most one. Record j of a crossed set goes to bucket
    j mod b, where b is the largest number up to k that keeps every exposure at 1/l or below.

    Parameters
    ----------
    sets : the sets, by positions of records.
    codes : the codes of every quasi-identifier, by positions of records.
    axes : the quasi-identifiers.
    k : the smallest number of records in a group.
    l : one over the largest exposure.
    """
    cutting = _Cutting(sets.sizes, k)
    order = sets.places
    taken = np.arange(len(order))
    if len(axes):
        taken = cutting.arranged(codes[:, order], axes)
    return Crossing(order[taken], cutting.group_starts(), _buckets(sets, taken, k, l))


def order_by_proximity(tree: BlockTree, codes: Codes, axes: Axes, k: int) -> tuple[BlockTree, Ints]:
    """Order the records inside every block so that nearby ones are close; also return the sizes of the blocks."""
    leaves = np.flatnonzero(tree.leaf)
    sizes = tree.size[leaves[np.argsort(tree.start[leaves])]]
    if not len(axes):
        return tree, sizes
    taken = _Cutting(sizes, k).arranged(codes[:, tree.order], axes)
    return replace(tree, order=tree.order[taken]), sizes


class _Cutting:
    """Segments of sets that are cut in two until each is one group."""

    def __init__(self, sizes: Ints, k: int) -> None:
        self.sizes, self.groups = sizes, sizes // k
        self.starts = np.cumsum(sizes) - sizes

    def bound(self, of_set: Ints, group: Ints) -> Ints:
        """Return where a group of a set begins."""
        size, groups = self.sizes[of_set], self.groups[of_set]
        return np.asarray(self.starts[of_set] + group * (size // groups) + np.minimum(group, size % groups))

    def group_starts(self) -> Ints:
        """Return where all groups begin."""
        of_set = np.repeat(np.arange(len(self.sizes)), self.groups)
        return self.bound(of_set, np.arange(len(of_set)) - (np.cumsum(self.groups) - self.groups)[of_set])

    def arranged(self, codes: Codes, axes: Axes) -> Ints:
        """Order the records so that those of a group are close to each other."""
        if should_compile_for(codes.shape[1], COMPILED_ROWS):
            return self._arranged_by_sets(codes, axes)
        return self._arranged_by_levels(codes, axes)

    def _arranged_by_sets(self, codes: Codes, axes: Axes) -> Ints:
        from sfumato.tables.algorithms.bucketization._kernels import cross_buckets as kernel

        order = np.arange(codes.shape[1])
        room, sets = np.empty_like(order), (self.starts, self.sizes, self.groups)

        def work(part: tuple[int, int]) -> None:
            kernel.order_sets(codes, axes.arrays, sets, *part, order, room)

        edges = np.linspace(0, len(self.sizes), 4 * count_workers() + 1).astype(int).tolist()
        deque(map_in_threads(work, pairwise(edges)), maxlen=0)
        return order

    def _arranged_by_levels(self, codes: Codes, axes: Axes) -> Ints:
        order = np.arange(codes.shape[1])
        of_set = np.arange(len(self.sizes))
        first, last = np.zeros_like(of_set), self.groups
        while True:
            cut = last - first > 1
            of_set, first, last = of_set[cut], first[cut], last[cut]
            if not len(of_set):
                return order
            begin, end = self.bound(of_set, first), self.bound(of_set, last)
            lengths = end - begin
            segment = np.repeat(np.arange(len(of_set)), lengths)
            offsets = np.append(0, np.cumsum(lengths))
            at = np.arange(len(segment)) + (begin - offsets[:-1])[segment]
            mine = order[at]
            key = _sort_key(codes, mine, segment, offsets, axes)
            order[at] = mine[stable_argsort(key, len(of_set) * (int(axes.leaves.max()) + 1))]
            middle = (first + last) // 2
            of_set = np.repeat(of_set, 2)
            first, last = np.column_stack([first, middle]).ravel(), np.column_stack([middle, last]).ravel()


def _sort_key(codes: Codes, rows: Ints, segment: Ints, offsets: Ints, axes: Axes) -> Ints:
    """Order records by segment, and in a segment by its widest attribute."""
    here = np.ascontiguousarray(codes[:, rows])
    weight, origin = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    found = choose_cutter(here.shape[1]).ranges(Records(here, here[:0], weight, origin, offsets), axes)
    axis = np.argmax(measure_widths(found, axes), axis=1) % len(axes)
    span = int(axes.leaves.max()) + 1
    return np.asarray(segment * span + here[axis[segment], np.arange(len(rows))])


def tight_ranges(crossing: Crossing, codes: Codes, axes: Axes) -> Ranges:
    """Find the ranges of all groups."""
    weight, origin = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    offsets = np.append(crossing.starts, len(crossing.order))
    here = np.ascontiguousarray(codes[:, crossing.order])
    return choose_cutter(here.shape[1]).ranges(Records(here, here[:0], weight, origin, offsets), axes)


def _buckets(sets: RecordSets, taken: Ints, k: int, l: Fraction) -> Ints:
    """Find the bucket of every record, in order."""
    sizes = sets.sizes[: sets.crossed]
    distinct, place = np.unique(sizes, return_inverse=True)
    number = np.array([max_buckets(size, k, l) for size in distinct.tolist()], dtype=np.int64)[place]
    first = np.cumsum(number) - number
    rows = int(sizes.sum())
    within = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    crossed = np.repeat(first, sizes) + within % np.repeat(number, sizes)
    return np.concatenate([crossed, int(number.sum()) + sets.bucket[taken[rows:]]])


@lru_cache(maxsize=4096)
def max_buckets(size: int, k: int, l: Fraction) -> int:
    """Find how many buckets, up to k, this many records of different values may be dealt to.

    A value is in one bucket B only, so a group G exposes it with |G and B| / |G| / |B|. One bucket always works.

    >>> [max_buckets(4, 2, Fraction(4)), max_buckets(5, 2, Fraction(5))]
    [2, 1]
    """
    groups = size // k
    ends = np.cumsum(np.full(groups, size // groups) + (np.arange(groups) < size % groups))
    starts = np.append(0, ends[:-1])
    for buckets in range(min(k, size), 1, -1):
        each = np.arange(buckets)
        held = _records_distributed(size, each, buckets)
        shared = _records_distributed(ends[:, None], each, buckets) - _records_distributed(
            starts[:, None], each, buckets
        )
        product = (ends - starts)[:, None] * held
        pairs = zip(shared.ravel().tolist(), product.ravel().tolist(), strict=True)
        if all(part * l <= whole for part, whole in pairs):
            return buckets
    return 1


def _records_distributed(records: int | Ints, bucket: Ints, buckets: int) -> Ints:
    """Count the records before some position that went to a bucket."""
    return np.asarray((records - bucket + buckets - 1) // buckets)


Rows = npt.NDArray[np.intp]
SPARE, MORE_SPARE = 8, 64  # times the size of a set: a block leaves less than that to the enclosing block
Diversity = KLAnonymity | FrequencyLDiversity | DistinctLDiversity | EntropyLDiversity


@dataclass(frozen=True, kw_only=True)
class CrossBucketGeneralization(TableAlgorithm):
    r"""Cut small sets of nearby records into groups of $k$ and, across the groups, into buckets [1]_.

    It keeps (k,l)-anonymity: an adversary who knows a person's quasi-identifiers finds the record with probability at
    most $1/k$ and the sensitive value with at most $1/\ell$. A set of $m \ge \ell$ records with different values, $m$ a
    multiple of $k$, gives groups of $k$ records that have one record in each of $k$ buckets: every value is exposed
    with $1/m$, although buckets have only $m/k$ records. Groups do not grow with $\ell$.

    Sets are picked by the assignment step of m-invariance from blocks: the table is cut as by Mondrian while both
    halves stay l-eligible, and what the picks of a block leave goes to the enclosing block. So every record is looked
    at on few levels of one tree, instead of descending from the root for every set, and the work grows as
    $d\,n \log n$ for $n$ records and $d$ quasi-identifiers. Sets whose size is not a multiple of $k$ get fewer buckets,
    and picks of fewer than $k$ values are combined. Nothing is suppressed if no value accounts for more than
    $1/\ell$ of the records; otherwise the smallest surplus of too frequent values is, if that many may be.

    Ranges of different groups may overlap. A person covered by several groups is exposed with their mean, which is
    at most the exposure in the worst group.

    Distinct and entropy l-diversity are kept by frequency l-diversity of the same $\ell$, which is stricter.

    References
    ----------
    .. [1] Li, Liu, Han et al., "Cross-Bucket Generalization for Information and Privacy Preservation", IEEE
       Transactions on Knowledge and Data Engineering 30(3), 2018, pages 449-459.
    .. [2] "Research on Privacy-Preserving Data Publishing Algorithms Based on Different Anonymity Requests", doctoral
       thesis, Jilin University, 2018, chapter 3.
    .. [3] Xiao, Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006, pages 139-150.
       https://dl.acm.org/doi/10.5555/1182635.1164141 (the buckets)
    """

    name = "cross-bucket"
    reference = "Li, Liu, Han et al. 2018, IEEE TKDE 30(3), pages 449-459"
    needs_monotone = "always"
    supports_attributes = "one"

    @property
    def publishes(self) -> Shows:
        """Values in buckets, apart from their records."""
        return "buckets"

    def check(self, task: TableRequest) -> str | None:
        """Refuse other models, and cells in buckets that match all."""
        refusal = super().check(task)
        if refusal is not None:
            return refusal
        for model in task.models:
            if not isinstance(model, KAnonymity | Diversity):
                return (
                    f"CrossBucketGeneralization does not support {model!r}, only k-anonymity, "
                    "(k,l)-anonymity and distinct, "
                    "frequency or entropy l-diversity; use another algorithm."
                )
        refusal = super().check(task)
        if refusal is not None:
            return refusal
        names = [model.sensitive for model in _diversities(task.models)]
        lost = {
            column.name: task.table.records(np.flatnonzero(column.codes == column.domain.missing))
            for column in task.table.sensitive
        }
        if names and lost[names[0]]:
            return (
                f"CrossBucketGeneralization cannot hide the {lost[names[0]]:,} missing cells of column {names[0]!r} "
                "which may be any value; fill them or leave these records out."
            )
        return None

    def block_models(self, models: Sequence[GroupModel]) -> Sequence[GroupModel]:
        """Return models with frequency l-diversity in place of what it keeps, too."""
        return (*models, *(FrequencyLDiversity(l=model.l, sensitive=model.sensitive) for model in _diversities(models)))

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        k = max((model.k for model in task.models if isinstance(model, KAnonymity | KLAnonymity)), default=1)
        diversities = _diversities(task.models)
        l = max((exact_fraction(model.l) for model in diversities), default=Fraction(1))
        named = {model.sensitive for model in diversities}
        column = next((column for column in task.table.sensitive if column.name in named), None)
        rows = np.arange(task.table.rows) if column is None else _eligible_rows(column, l, task)
        if len(rows) < k:
            raise InfeasibleError(
                f"CrossBucketGeneralization has {len(rows):,} records left for groups of {k:,}; choose a lower k."
            )
        quasi = [each.take(rows) for each in task.table.quasi]
        values = None if column is None else column.take(rows)
        published, bucket = _form_groups_and_buckets(quasi, values, k, l, task)
        buckets = {} if column is None else {column.name: _expand_to_table(bucket, rows, task.table.rows)}
        task.progress(1.0)
        return TableSolution(
            _expand_to_table(published.group, rows, task.table.rows), published.recoded, buckets=buckets
        )


def _diversities(models: Sequence[GroupModel]) -> list[Diversity]:
    """Find the models that hide values; l = 1 hides none."""
    return [model for model in models if isinstance(model, Diversity) and model.l > 1]


def _eligible_rows(column: CodedColumn, l: Fraction, task: TableRequest) -> Rows:
    """Suppress the smallest surplus of too frequent values."""
    counts = np.bincount(column.codes, minlength=len(column.domain) + 1).astype(np.int64)
    extra = min_suppression(counts, l)
    if extra.sum() > task.max_suppressed or extra.sum() == task.table.rows:
        raise ineligible_error(column.name, counts, l)
    rows = np.arange(task.table.rows)
    return suppress_frequent_values(rows, column.codes, extra, task.stream) if extra.any() else rows


def _form_groups_and_buckets(
    quasi: list[CodedColumn], values: CodedColumn | None, k: int, l: Fraction, task: TableRequest
) -> tuple[TableSolution, npt.NDArray[np.int32]]:
    """Find groups with their labels, and the bucket of every record.

    If a block gave up sets of a multiple of k, blocks are also tried that leave more to the enclosing block, and what
    has the smaller discernibility is taken.
    """
    extra = [] if values is None else [values]
    rows = len((quasi or extra)[0].codes) if quasi or extra else task.table.rows
    axes = make_axes([column.domain for column in quasi])
    smallest = ceil(Fraction(max(Fraction(k), l), k)) * k
    tree, codes = BlockTree.whole(rows), np.zeros((0, rows), dtype=np.uint8)
    if quasi:
        seen, along = ([column.codes for column in columns] for columns in (quasi, extra))
        records = Records.from_columns(seen, along, np.ones(rows, dtype=np.int64))
        width = 1 if values is None else len(values.domain) + 1
        codes = records.codes.copy()  # cutting moves the records
        tree = build_block_tree(records, axes, smallest, width, l)
    task.progress(0.3)
    tree, sizes = order_by_proximity(tree, codes, axes, k)
    codes = codes[:, tree.order]
    if values is None:
        sets = RecordSets(np.arange(rows), sizes, 0, np.zeros(rows, dtype=np.int64))
        return _published(quasi, tree, cross_sets(sets, codes, axes, k, l), codes)
    mine = values.codes[tree.order].astype(np.int64)
    found = []
    for spare, told in ((SPARE, _subprogress(task, 0.4)), (MORE_SPARE, _subprogress(task, 0.6))):
        sets = pick_sets(tree, mine, k, l, spare=spare, told=told)
        found.append(_published(quasi, tree, cross_sets(sets, codes, axes, k, l), codes))
        if not sets.hurried:
            break
    task.progress(0.9)
    return min(found, key=lambda each: int((np.bincount(each[0].group).astype(np.int64) ** 2).sum()))


def _subprogress(task: TableRequest, start: float) -> Callable[[float], None]:
    """Tell the progress of a fifth of the work."""
    return lambda done: task.progress(start + 0.2 * done)


def _published(
    quasi: list[CodedColumn], tree: BlockTree, crossing: Crossing, codes: npt.NDArray[np.unsignedinteger]
) -> tuple[TableSolution, npt.NDArray[np.int32]]:
    """Label groups, and number the bucket of every record."""
    rows = len(crossing.order)
    group, bucket = np.empty(rows, dtype=np.int32), np.empty(rows, dtype=np.int32)
    place = tree.order[crossing.order]
    lengths = np.diff(np.append(crossing.starts, rows))
    group[place] = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    bucket[place] = crossing.bucket
    return merge_identical_groups(group, _label_groups(quasi, group, crossing, codes)), bucket


def _label_groups(
    quasi: list[CodedColumn], group: npt.NDArray[np.int32], crossing: Crossing, codes: npt.NDArray[np.unsignedinteger]
) -> dict[str, RecodedAttribute]:
    """Publish every group by its tightest cover."""
    if not quasi:
        return {}
    ranges = tight_ranges(crossing, codes, make_axes([column.domain for column in quasi]))
    recoded = {}
    for j, column in enumerate(quasi):
        if column.domain.scale is Scale.NOMINAL:
            recoded[column.name] = label_sets(column, group, len(crossing.starts))
        else:
            low, high, missing = ranges.low[:, j], ranges.high[:, j], ranges.missing[:, j]
            recoded[column.name] = label_ranges(column.domain, low, high, missing)
    return recoded


def _expand_to_table(of_kept: npt.NDArray[np.int32], rows: Rows, total: int) -> npt.NDArray[np.int32]:
    """Return one number per record of the table, including suppressed ones."""
    result = np.full(total, NOT_PUBLISHED, dtype=np.int32)
    result[rows] = of_kept
    return result
