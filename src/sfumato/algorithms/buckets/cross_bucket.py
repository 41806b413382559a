"""Cross-bucket generalization: groups hide identities, and buckets across them hide values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.algorithms.buckets.assignment import (
    exact_fraction,
    ineligible_error,
    min_suppression,
    suppress_frequent_values,
)
from sfumato.algorithms.buckets.cross_blocks import BlockTree, build_block_tree
from sfumato.algorithms.buckets.cross_groups import Crossing, cross_sets, order_by_proximity, tight_ranges
from sfumato.algorithms.buckets.cross_picking import RecordSets, pick_sets
from sfumato.algorithms.publishing import label_ranges, merge_identical_groups
from sfumato.algorithms.set_labels import label_sets
from sfumato.coding.codes import CodedColumn
from sfumato.coding.cutting.axes import make_axes
from sfumato.coding.cutting.partition import Records
from sfumato.core.publication import NOT_PUBLISHED, RecodedAttribute, TableSolution
from sfumato.exceptions import InfeasibleError
from sfumato.models.base import GroupModel
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.entropy_l_diversity import EntropyLDiversity
from sfumato.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.kl_anonymity import KLAnonymity
from sfumato.schema.scales import Scale

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
                    f"CrossBucketGeneralization does not support {model!r}, only k-anonymity, (k,l)-anonymity and distinct, "
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
