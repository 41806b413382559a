"""m-invariant buckets: sensitive values in buckets that stay safe from release to release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato._validation import require
from sfumato.core._kernels.grouping import group_columns, representative_rows
from sfumato.encoding.coded_table import CodedColumn
from sfumato.errors import InfeasibleError
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.tables.algorithms._labels import label_ranges, label_sets, merge_identical_groups
from sfumato.tables.algorithms.base import Shows, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.bucketization._balancing import NOBODY, BucketSlots, split_at_random, split_in_order
from sfumato.tables.algorithms.bucketization._bisection import Bisection, argsort_keys
from sfumato.tables.algorithms.bucketization._series_slots import SeriesSlots, check_satisfied, signatures_of_request
from sfumato.tables.published.solution import NOT_PUBLISHED, Counterfeits, RecodedAttribute, TableSolution

Ints = npt.NDArray[np.int64]


# Split buckets into groups of persons who are near: halve them, and put counterfeits where a value lacks.


# Split buckets into groups of persons who are near: halve them, and put counterfeits where a value lacks.


def split_by_proximity(seats: BucketSlots, quasi: Sequence[CodedColumn], span: int, stream: KeyedRandom | None) -> Ints:
    """Split every bucket into groups with one seat of every value, whose persons are near; return each seat's group.

    Persons who are equal are in random order. Seats of nobody have no place and go where one is missing in the end.

    Parameters
    ----------
    seats : the seats; all values of a signature have equally many, and one of them only seats of persons.
    quasi : the quasi-identifiers of all rows.
    span : values of seats are below it.
    stream : where bits come from that nobody can repeat; without it, the persons of every value are in random order
        already.
    """
    key = seats.signature * span + seats.value
    order = seats.in_order(span, stream)
    group = split_in_order(seats, key, order)
    if not quasi:
        return group
    starts = np.flatnonzero(np.append(True, np.diff(key[order]) > 0))
    keys, seats_of = key[order][starts], np.diff(np.append(starts, len(order)))
    part = _number(keys // span)
    size = seats_of[np.searchsorted(part, np.arange(int(part[-1]) + 1))]  # how many groups each signature has
    first = np.cumsum(size) - size  # they are numbered one signature after another
    run = np.repeat(np.arange(len(keys)), seats_of)
    somebody = seats.row[order] != NOBODY
    there, held = order[somebody], np.bincount(run[somebody], minlength=len(keys)) > 0
    near = Bisection.from_codes(
        (np.cumsum(held) - 1)[run[somebody]], part[held], size, quasi, seats.row[there]
    ).leaves()
    group[there] = first[part][run[somebody]] + near
    lacking = np.flatnonzero(np.bincount(run[~somebody], minlength=len(keys)))
    if len(lacking):
        mine = part[lacking]
        group[order[~somebody]] = _groups_without_value(
            keys[lacking], first[mine], size[mine], key[there], group[there]
        )
    return group


def _number(keys: Ints) -> Ints:
    """Count up where a key differs from the one before."""
    return np.asarray(np.cumsum(np.append(0, np.diff(keys) != 0)))


def _groups_without_value(wanted: Ints, first: Ints, size: Ints, key: Ints, group: Ints) -> Ints:
    """List for each of some values of a signature the groups in which nobody has it, given who is where."""
    all_keys = np.repeat(wanted, size)
    groups = np.arange(len(all_keys)) + np.repeat(first - np.cumsum(size) + size, size)
    span = int(max(groups.max(), group.max())) + 1
    return np.asarray(groups[~np.isin(all_keys * span + groups, key * span + group)])


@dataclass(frozen=True, kw_only=True)
class MInvariantBuckets(TableAlgorithm):
    r"""Put sensitive values into buckets of at least m values, once each, the same for a person in every release [1]_.

    Everybody whom a ledger knows goes to a bucket with the values of her signature, also after an absence. Newcomers
    fill what these buckets lack, and the others are assigned to new ones as `Anatomy` does; who fills what is random.
    What nobody fills is filled by *counterfeits*, rows that belong to nobody: as few as possible, and none in a first
    release. The work grows as $n \log n$ for $n$ records in form buckets, and as $d^2 n \log n$ for $d$
    quasi-identifiers in form boxes.

    Values are hidden, identities are not. One sensitive attribute is served; its values are permuted apart from all
    other cells of a row, so insensitive attributes recognize a person's row and tell nothing about her value.

    Parameters
    ----------
    form : `"buckets"` publishes quasi-identifiers as they are; `"boxes"` publishes what covers the persons of a bucket,
        which are then chosen to be near.
    newcomers : newcomers of a value too frequent for m values per bucket `"wait"` for a later release, or are published
        with more `"counterfeits"`. In a first release they are suppressed, if that many may be.
    balance : `"counterfeits"` fill what a bucket lacks, or `"suppress"` leaves out persons until nothing lacks, if that
        many may be.
    changed : persons whose value is not in their signature, though it is permanent: `"refuse"` the table, or
        `"suppress"` them.

    References
    ----------
    .. [1] Xiao, Tao, "m-Invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007.
       https://doi.org/10.1145/1247480.1247556
    """

    name = "m-invariant-buckets"
    reference = "Xiao, Tao 2007, https://doi.org/10.1145/1247480.1247556"
    needs_monotone = "always"
    supports_series = True
    supports_attributes = "one"
    hides_identities = False
    supports_blocks = False

    form: Literal["buckets", "boxes"] = "buckets"
    newcomers: Literal["wait", "counterfeits"] = "wait"
    balance: Literal["counterfeits", "suppress"] = "counterfeits"
    changed: Literal["refuse", "suppress"] = "refuse"

    def __post_init__(self) -> None:
        require(self.form in {"buckets", "boxes"}, self, "form", "'buckets' or 'boxes'", self.form)
        served = {"wait", "counterfeits"}
        require(self.newcomers in served, self, "newcomers", "'wait' or 'counterfeits'", self.newcomers)
        served = {"counterfeits", "suppress"}
        require(self.balance in served, self, "balance", "'counterfeits' or 'suppress'", self.balance)
        require(self.changed in {"refuse", "suppress"}, self, "changed", "'refuse' or 'suppress'", self.changed)

    @property
    def publishes(self) -> Shows:
        """Values in buckets, apart from their records."""
        return "buckets"

    def check(self, task: TableRequest) -> str | None:
        """Refuse what is not promised for buckets, and sensitive attributes that no bucket hides."""
        others = replace(task, models=[model for model in task.models if not model.applies_to_buckets])
        return super().check(others) or self._check_attributes(task)

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""
        column = task.model_columns[0]
        known = signatures_of_request(task, column)
        series = SeriesSlots(
            task=task,
            column=column,
            m=task.min_group_size,
            known=known,
            first=not known.sets,
            newcomers=self.newcomers,
            balance=self.balance,
            changed=self.changed,
        )
        seats = series.slots(np.arange(task.table.rows))
        if not len(seats):
            raise InfeasibleError(
                f"Nobody can be published: all {len(series.left_out):,} newcomers wait, because too few values of "
                f"{column.name!r} occur for m = {series.m}; wait for more of them, or promise less."
            )
        task.progress(0.4)
        stream = None if series.first else task.stream  # newcomers sit in random order already
        if self.form == "boxes":
            bucket = split_by_proximity(seats, task.table.quasi, series.width, stream)
        else:
            bucket = split_at_random(seats, series.width, stream)
        check_satisfied(type(self).__name__, task.models, column, seats, series.width)
        task.progress(0.8)
        publication = self._published(task, seats, bucket, series)
        task.progress(1.0)
        return publication

    def _published(self, task: TableRequest, seats: BucketSlots, bucket: Ints, series: SeriesSlots) -> TableSolution:
        """Publish persons in their buckets, and counterfeits beside them."""
        there = seats.row != NOBODY
        rows, mine, fakes = seats.row[there], bucket[there], np.flatnonzero(~there)
        number = np.full(task.table.rows, NOT_PUBLISHED, dtype=np.int32)
        number[rows] = mine
        quasi = [column.take(rows) for column in task.table.quasi]
        show = _label_buckets if self.form == "boxes" else _publish_unchanged
        shown, of_fakes = show(quasi, mine, bucket[fakes])
        group = np.full(task.table.rows, NOT_PUBLISHED, dtype=np.int32)
        group[rows] = shown.group
        name, values = series.column.name, pa.array(series.known.texts, pa.string())
        return replace(
            shown,
            group=group,
            buckets={name: number},
            counterfeits=(Counterfeits(name, of_fakes, bucket[fakes].astype(np.int32), seats.value[fakes], values),)
            if len(fakes)
            else (),
            waiting=0 if series.first else len(series.left_out),
        )

    def _check_attributes(self, task: TableRequest) -> str | None:
        promised = {name for model in task.models if model.applies_to_buckets for name in model.sensitive_attributes}
        signatures = {} if task.known is None else task.known.signatures
        shown = any(each.companies is not None for each in signatures.values())
        if shown:
            return "MInvariantBuckets does not know of cells that earlier releases showed; use LocalAnatomy."
        if task.missing is MissingPolicy.MATCHES_ALL:
            return "MInvariantBuckets serves no series in which missing cells may be any value; use own-value."
        if not promised:
            return "MInvariantBuckets needs to know m and the attribute; promise MInvariance."
        if task.min_group_size < 2:  # noqa: PLR2004 - one value hides nothing
            return "MInvariantBuckets has nothing to hide among a single value; choose m > 1."
        named = {name for model in task.models for name in model.sensitive_attributes}
        for name in (*named, *(column.name for column in task.table.sensitive)):
            if name not in promised or len(promised) > 1:
                return (
                    f"MInvariantBuckets hides one sensitive attribute, and {name!r} beside it would recognize its rows "
                    "in other releases; drop that column or make it insensitive."
                )
        return _refused_missing(task)


def _refused_missing(task: TableRequest) -> str | None:
    for column in task.table.sensitive:
        lost = int(np.count_nonzero(column.codes == column.domain.missing))
        if lost:
            return (
                f"MInvariantBuckets cannot hide the {lost:,} missing cells of column {column.name!r}, which may be any "
                "value; fill them or leave these records out."
            )
    return None


def _publish_unchanged(
    quasi: list[CodedColumn], bucket: Ints, of_fakes: Ints
) -> tuple[TableSolution, npt.NDArray[np.int32]]:
    """Publish quasi-identifiers unchanged, and suppressed in one more group if there are counterfeits."""
    if not quasi:
        return TableSolution(np.zeros(len(bucket), dtype=np.int32), {}), np.zeros(len(of_fakes), dtype=np.int32)
    alike = group_columns([column.codes for column in quasi], [len(column.domain) + 1 for column in quasi])
    chosen, star = representative_rows(alike), len(of_fakes) > 0
    recoded = {}
    for column in quasi:
        codes = np.append(column.codes[chosen].astype(np.int64), [0] * star)
        lost = codes == column.domain.missing
        starred = np.arange(len(codes)) >= len(chosen)
        recoded[column.name] = label_ranges(
            column.domain, codes, np.where(lost & ~starred, -1, codes), starred, exact=True
        )
    return TableSolution(alike.labels, recoded), np.full(len(of_fakes), len(chosen), dtype=np.int32)


def _label_buckets(
    quasi: list[CodedColumn], bucket: Ints, of_fakes: Ints
) -> tuple[TableSolution, npt.NDArray[np.int32]]:
    """Publish for every bucket what covers its persons; counterfeits show the same."""
    groups = int(bucket.max()) + 1
    order = argsort_keys(bucket, groups)
    starts = np.searchsorted(bucket[order], np.arange(groups))

    def covered(column: CodedColumn) -> RecodedAttribute:
        if column.domain.scale is Scale.NOMINAL:
            return label_sets(column, bucket, groups)
        codes = column.codes[order].astype(np.int64)
        lost = codes == column.domain.missing
        low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(np.where(lost, -1, codes), starts)
        return label_ranges(column.domain, low, high, np.logical_or.reduceat(lost, starts) & (high >= 0))

    both = np.concatenate([bucket, of_fakes]).astype(np.int32)
    shown = merge_identical_groups(both, {column.name: covered(column) for column in quasi})
    return replace(shown, group=shown.group[: len(bucket)]), shown.group[len(bucket) :]
