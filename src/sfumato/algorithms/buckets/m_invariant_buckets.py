"""m-invariant buckets: sensitive values in buckets that stay safe from release to release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Shows, Task
from sfumato.algorithms.buckets.assignment import surplus
from sfumato.algorithms.buckets.balancing import (
    NOBODY,
    Codes,
    Ints,
    Seats,
    SignatureSets,
    assign_newcomers,
    cut_down,
    fewest_more,
    fill_lacks,
    match_at_random,
)
from sfumato.algorithms.buckets.near_groups import match_near
from sfumato.algorithms.publishing import publish_groups, recode_ranges
from sfumato.algorithms.set_labels import recode_sets
from sfumato.coding.codes import CodedColumn
from sfumato.coding.grouping import first_rows, group_columns, group_keys
from sfumato.core.groups import Groups, Histogram
from sfumato.core.publication import NOT_PUBLISHED, Counterfeits, Publication, Recoded
from sfumato.core.signatures import UNSIGNED, Signatures
from sfumato.exceptions import InfeasibleError
from sfumato.schema.missing import Missing
from sfumato.schema.scales import Scale
from sfumato.validation import require


@dataclass(frozen=True, kw_only=True)
class MInvariantBuckets(Algorithm):
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
    serves_attributes = "one"
    hides_identities = False
    serves_blocks = False

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

    def refusal(self, task: Task) -> str | None:
        """Refuse what is not promised for buckets, and sensitive attributes that no bucket hides."""
        others = replace(task, models=[model for model in task.models if not model.of_buckets])
        return super().refusal(others) or self._refused_attributes(task)

    def search(self, task: Task) -> Publication:
        """Find what to publish."""
        column = task.watched[0]
        series = _Series(self, task, column)
        seats = series.seats()
        task.progress(0.4)
        stream = None if series.first else task.stream  # newcomers sit in random order already
        if self.form == "boxes":
            bucket = match_near(seats, task.table.quasi, series.width, stream)
        else:
            bucket = match_at_random(seats, series.width, stream)
        _refuse_unkept(task, column, seats, series.width)
        task.progress(0.8)
        publication = self._published(task, seats, bucket, series)
        task.progress(1.0)
        return publication

    def _published(self, task: Task, seats: Seats, bucket: Ints, series: _Series) -> Publication:
        """Publish persons in their buckets, and counterfeits beside them."""
        there = seats.row != NOBODY
        rows, mine, fakes = seats.row[there], bucket[there], np.flatnonzero(~there)
        number = np.full(task.table.rows, NOT_PUBLISHED, dtype=np.int32)
        number[rows] = mine
        quasi = [column.take(rows) for column in task.table.quasi]
        show = _boxes if self.form == "boxes" else _exact
        shown, of_fakes = show(quasi, mine, bucket[fakes])
        group = np.full(task.table.rows, NOT_PUBLISHED, dtype=np.int32)
        group[rows] = shown.group
        name, values = series.column.name, pa.array(series.known.texts, pa.string())
        return replace(
            shown,
            group=group,
            buckets={name: number},
            counterfeits=Counterfeits(name, of_fakes, bucket[fakes].astype(np.int32), seats.value[fakes], values)
            if len(fakes)
            else None,
            waiting=series.waiting,
        )

    def _refused_attributes(self, task: Task) -> str | None:
        promised = {name for model in task.models if model.of_buckets for name in model.attributes}
        if task.missing is Missing.MATCHES_ALL:
            return "MInvariantBuckets serves no series in which missing cells may be any value; use own-value."
        if not promised:
            return "MInvariantBuckets needs to know m and the attribute; promise MInvariance."
        if task.smallest_group < 2:  # noqa: PLR2004 - one value hides nothing
            return "MInvariantBuckets has nothing to hide among a single value; choose m > 1."
        named = {name for model in task.models for name in model.attributes}
        for name in (*named, *(column.name for column in task.table.sensitive)):
            if name not in promised or len(promised) > 1:
                return (
                    f"MInvariantBuckets hides one sensitive attribute, and {name!r} beside it would recognize its rows "
                    "in other releases; drop that column or make it insensitive."
                )
        return None


class _Series:
    """One sensitive attribute of a version of a table, and what is known of its persons."""

    def __init__(self, algorithm: MInvariantBuckets, task: Task, column: CodedColumn) -> None:
        self.algorithm, self.task, self.column = algorithm, task, column
        self.m = task.smallest_group
        known = None if task.known is None else task.known.signatures.get(column.name)
        self.known = _unknown(column) if known is None else known
        self.first, self.width = not self.known.sets, self.known.width
        self.waiting = 0

    def seats(self) -> Seats:
        """Divide, balance and assign; seats of all values of a signature are then equally many."""
        task, codes, stream = self.task, self.column.codes, self.task.stream
        signatures, place = SignatureSets.of(self.known.sets, self.width)
        seats, newcomers = self._divided(signatures, place, codes)
        signatures, seats = _occupied(signatures, seats)
        self._refuse_short(signatures, seats)
        added, left = fill_lacks(seats, newcomers, codes, signatures, stream)
        if self.algorithm.balance == "suppress":
            seats, _, back = cut_down(seats, added, signatures, stream)
            left = np.concatenate([left, back])
        else:
            seats = seats + added
        rest = np.bincount(codes[left], minlength=self.width)
        extra, more = np.zeros_like(rest), np.zeros_like(rest)
        if self.first or self.algorithm.newcomers == "wait":
            extra = surplus(rest, self.m)
        else:
            more = self._more(rest, seats)
        if self.first and int(extra.sum()) > (0 if int(extra.sum()) == len(left) else task.most_suppressed):
            raise _ineligible(self.column.name, rest, self.m, task.most_suppressed)
        found = assign_newcomers(np.sort(left), codes, self.m, stream, extra=extra, more=more)
        self.waiting = 0 if self.first else len(found.left_out)
        seats = seats + self._placed(found.pieces, found.seats, signatures, apart=bool(more.any()))
        if not len(seats):
            raise InfeasibleError(
                f"Nobody can be published: all {len(left):,} newcomers wait, because too few values of "
                f"{self.column.name!r} occur for m = {self.m}; wait for more of them, or promise less."
            )
        return seats

    def _divided(self, signatures: SignatureSets, place: Ints, codes: Codes) -> tuple[Seats, Ints]:
        """Seat everybody under her signature; return the seats, and the newcomers."""
        newcomer = self.known.of_case == UNSIGNED
        rows = np.flatnonzero(~newcomer)
        seats = Seats(place[self.known.of_case[rows]], codes[rows].astype(np.int64), rows)
        changed = (signatures.places(seats.signature, seats.value) == NOBODY) | self.known.changed[rows]
        if changed.any() and self.algorithm.changed == "refuse":
            raise InfeasibleError(
                f"{np.count_nonzero(changed):,} persons changed a permanent value of {self.column.name!r}; correct "
                "them, or leave them out by changed='suppress'."
            )
        return seats.take(~changed), np.flatnonzero(newcomer)

    def _refuse_short(self, signatures: SignatureSets, seats: Seats) -> None:
        """Refuse to promise more than earlier releases did."""
        short = signatures.sizes < self.m
        if short.any():
            persons = int(np.count_nonzero(short[seats.signature]))
            raise InfeasibleError(
                f"{persons:,} persons were published among fewer than m = {self.m} values of {self.column.name!r}, "
                f"which no later release can change; promise m = {int(signatures.sizes.min())} at most."
            )

    def _more(self, rest: Ints, seats: Seats) -> Ints:
        """Return the fewest counterfeits that let all newcomers be assigned, of values that occur."""
        occurs = np.bincount(self.column.codes, minlength=self.width) > 0
        occurs[seats.value] = True
        if rest.any() and int(np.count_nonzero(occurs)) < self.m:
            raise InfeasibleError(
                f"Column {self.column.name!r} has {np.count_nonzero(occurs):,} different values, fewer than "
                f"m = {self.m}; promise less."
            )
        more = np.zeros_like(rest)
        more[occurs] = fewest_more(rest[occurs], self.m)
        return more

    def _placed(
        self, pieces: list[tuple[tuple[int, ...], int]], seats: Seats, signatures: SignatureSets, *, apart: bool
    ) -> Seats:
        """Put new seats under equal signatures together, and with those that are known.

        Buckets with counterfeits for newcomers stay apart, so that every group has a person.
        """
        known = [
            tuple(signatures.values[first:last].tolist())
            for first, last in zip(signatures.offsets[:-1].tolist(), signatures.offsets[1:].tolist(), strict=True)
        ]
        places = {} if apart else {values: at for at, values in enumerate(known)}
        number = [places.setdefault(tuple(sorted(values)), len(known) + at) for at, (values, _) in enumerate(pieces)]
        return replace(seats, signature=np.array(number, dtype=np.int64)[seats.signature])


def _occupied(signatures: SignatureSets, seats: Seats) -> tuple[SignatureSets, Seats]:
    """Keep the signatures that somebody has, in an order that does not depend on how they were listed."""
    used = np.unique(seats.signature)
    sets = [tuple(signatures.values[signatures.offsets[at] : signatures.offsets[at + 1]].tolist()) for at in used]
    order = sorted(range(len(sets)), key=sets.__getitem__)
    kept, _ = SignatureSets.of([sets[at] for at in order], signatures.width)
    place = np.zeros(len(signatures), dtype=np.int64)
    place[used[order]] = np.arange(len(order))
    return kept, replace(seats, signature=place[seats.signature])


def _unknown(column: CodedColumn) -> Signatures:
    """Know nobody."""
    nothing = np.zeros(len(column.codes), dtype=np.bool_)
    return Signatures.coded(column.domain, (), np.full(len(nothing), UNSIGNED, dtype=np.int32), nothing, nothing)


def _refuse_unkept(task: Task, column: CodedColumn, seats: Seats, width: int) -> None:
    """Refuse promises that buckets of different values, one of each, do not keep by themselves."""
    shown = group_keys(seats.signature * width + seats.value, (int(seats.signature.max()) + 1) * width).keys
    _, kind = np.unique(shown // width, return_inverse=True)
    groups, once = int(kind.max()) + 1, np.ones(len(shown), dtype=np.int64)
    histogram = Histogram.of_entries(kind.ravel(), shown % width, once, groups=groups, width=width)
    totals = np.bincount(column.codes, minlength=width)
    alone = np.ones(groups, dtype=np.int64)
    seen = Groups(alone, {column.name: histogram}, {column.name: totals}, {column.name: column.domain})
    for model in task.models:
        broken = int(np.count_nonzero(~model.kept_by(seen)))
        if broken:
            raise InfeasibleError(
                f"MInvariantBuckets found {groups:,} sets of values, and buckets of {broken:,} of them do not keep "
                f"{model!r}; promise less of it, or a larger m."
            )


def _ineligible(name: str, counts: Ints, m: int, most: int) -> InfeasibleError:
    rows, largest, lost = int(counts.sum()), int(counts.max(initial=0)), int(surplus(counts, m).sum())
    if lost == rows:
        return InfeasibleError(
            f"Column {name!r} has {int(np.count_nonzero(counts)):,} different values in {rows:,} rows, and buckets of "
            f"m = {m} are asked for; promise less."
        )
    return InfeasibleError(
        f"Column {name!r} cannot keep m = {m}: one value accounts for {largest / rows:.2%} of its {rows:,} records, "
        f"so m can be at most {rows // largest} unless {lost:,} records are suppressed, but only {most:,} may be; "
        "promise less or raise max_suppressed."
    )


def _exact(quasi: list[CodedColumn], bucket: Ints, of_fakes: Ints) -> tuple[Publication, npt.NDArray[np.int32]]:
    """Publish quasi-identifiers unchanged, and suppressed in one more group if there are counterfeits."""
    if not quasi:
        return Publication(np.zeros(len(bucket), dtype=np.int32), {}), np.zeros(len(of_fakes), dtype=np.int32)
    alike = group_columns([column.codes for column in quasi], [len(column.domain) + 1 for column in quasi])
    chosen, star = first_rows(alike), len(of_fakes) > 0
    recoded = {}
    for column in quasi:
        codes = np.append(column.codes[chosen].astype(np.int64), [0] * star)
        lost = codes == column.domain.missing
        starred = np.arange(len(codes)) >= len(chosen)
        recoded[column.name] = recode_ranges(
            column.domain, codes, np.where(lost & ~starred, -1, codes), starred, exact=True
        )
    return Publication(alike.labels, recoded), np.full(len(of_fakes), len(chosen), dtype=np.int32)


def _boxes(quasi: list[CodedColumn], bucket: Ints, of_fakes: Ints) -> tuple[Publication, npt.NDArray[np.int32]]:
    """Publish for every bucket what covers its persons; counterfeits show the same."""
    groups = int(bucket.max()) + 1
    order = np.argsort(bucket, kind="stable")
    starts = np.searchsorted(bucket[order], np.arange(groups))

    def covered(column: CodedColumn) -> Recoded:
        if column.domain.scale is Scale.NOMINAL:
            return recode_sets(column, bucket, groups)
        codes = column.codes[order].astype(np.int64)
        lost = codes == column.domain.missing
        low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(np.where(lost, -1, codes), starts)
        return recode_ranges(column.domain, low, high, np.logical_or.reduceat(lost, starts) & (high >= 0))

    both = np.concatenate([bucket, of_fakes]).astype(np.int32)
    shown = publish_groups(both, {column.name: covered(column) for column in quasi})
    return replace(shown, group=shown.group[: len(bucket)]), shown.group[len(bucket) :]
