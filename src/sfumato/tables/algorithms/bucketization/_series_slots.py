"""The seats of one attribute in a release of a series: everybody under her signature, newcomers where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.encoding.coded_table import CodedColumn
from sfumato.errors import InfeasibleError
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.bucketization._assignment import min_suppression
from sfumato.tables.algorithms.bucketization._balancing import (
    MOST_DENSE,
    NOBODY,
    BucketSlots,
    Ints,
    SignatureSets,
    assign_inserted,
    fill_missing_values,
    min_counterfeits,
    trim_unbalanced,
)
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups, Histogram
from sfumato.tables.series._prior_disclosure import NO_SIGNATURE, Signatures


@dataclass(eq=False, repr=False, kw_only=True)
class SeriesSlots:
    """One attribute of a version of a table, and what is known of its persons.

    Parameters
    ----------
    task : what is asked for.
    column : the attribute.
    m : the fewest values of a signature.
    known : the signatures of all persons.
    first : whether nothing was released before: nobody waits, and who is in excess is suppressed.
    newcomers, balance, changed : as for `MInvariantBuckets`.
    """

    task: TableRequest
    column: CodedColumn
    m: int
    known: Signatures
    first: bool
    newcomers: Literal["wait", "counterfeits"] = "wait"
    balance: Literal["counterfeits", "suppress"] = "counterfeits"
    changed: Literal["refuse", "suppress"] = "refuse"
    left_out: Ints = field(init=False)  # newcomers who wait, or are suppressed in a first release

    @property
    def width(self) -> int:
        """The number of values that have codes."""
        return self.known.width

    def slots(self, rows: Ints) -> BucketSlots:
        """Divide, balance and assign some rows; seats of all values of a signature are then equally many."""
        task, codes, stream = self.task, self.column.codes, self.task.stream
        signatures, place = SignatureSets.of(self.known.sets, self.width)
        seats, newcomers = self._divided(signatures, place, rows)
        signatures, seats = _used_signatures(signatures, seats)
        self._reject_short(signatures, seats)
        added, left = fill_missing_values(seats, newcomers, codes, signatures, stream)
        if self.balance == "suppress":
            seats, _, back = trim_unbalanced(seats, added, signatures, stream)
            left = np.concatenate([left, back])
        else:
            seats = seats + added
        rest = np.bincount(codes[left], minlength=self.width)
        extra, more = np.zeros_like(rest), np.zeros_like(rest)
        if self.first or self.newcomers == "wait":
            extra = min_suppression(rest, self.m)
        else:
            more = self._more(rest, seats)
        if self.first and int(extra.sum()) > (0 if int(extra.sum()) == len(left) else task.max_suppressed):
            raise _ineligible_error(self.column.name, rest, self.m, task.max_suppressed)
        found = assign_inserted(np.sort(left), codes, self.m, stream, extra=extra, more=more)
        self.left_out = found.left_out
        return seats + self._placed(found.pieces, found.seats, signatures, apart=bool(more.any()))

    def by_co_members(self, rows: Ints, company: Ints) -> BucketSlots:
        """Seat persons with those of their company alone, and counterfeits where others of it sat; each is a bucket."""
        codes = self.column.codes
        mine, span = self.known.of_case[rows].astype(np.int64), len(self.known.sets)
        pairs, of_row = np.unique(company[rows] * span + mine, return_inverse=True)
        sets = [self.known.sets[at] for at in (pairs % span).tolist()]
        offsets = np.append(0, np.cumsum([len(each) for each in sets])).astype(np.int64)
        values = np.array([value for each in sets for value in each], dtype=np.int64)
        signatures = SignatureSets(offsets, values, self.width)
        seats = BucketSlots(of_row.astype(np.int64), codes[rows].astype(np.int64), rows)
        self._reject_changed(signatures, seats)
        self._reject_short(signatures, seats)
        nobody = np.zeros(0, dtype=np.int64)
        return seats + fill_missing_values(seats, nobody, codes, signatures, self.task.stream)[0]

    def _divided(self, signatures: SignatureSets, place: Ints, cases: Ints) -> tuple[BucketSlots, Ints]:
        """Seat everybody under her signature; return the seats, and the newcomers."""
        newcomer = self.known.of_case[cases] == NO_SIGNATURE
        rows = cases[~newcomer]
        seats = BucketSlots(place[self.known.of_case[rows]], self.column.codes[rows].astype(np.int64), rows)
        changed = self._reject_changed(signatures, seats)
        return seats.take(~changed), cases[newcomer]

    def _reject_changed(self, signatures: SignatureSets, seats: BucketSlots) -> npt.NDArray[np.bool_]:
        """Refuse persons whose value is not in their signature; return who they are, if they are to be left out."""
        changed = (signatures.places(seats.signature, seats.value) == NOBODY) | self.known.changed[seats.row]
        if changed.any() and self.changed == "refuse":
            persons, name = int(np.count_nonzero(changed)), self.column.name
            if self.known.permanent:
                raise InfeasibleError(
                    f"{persons:,} persons changed a permanent value of {name!r}; correct them, or leave them out by "
                    "changed='suppress'."
                )
            raise InfeasibleError(
                f"{persons:,} persons have a value of {name!r}, which is transient, that is not among those they were "
                "published with; leave them out by changed='suppress', or promise nothing about series for it."
            )
        return np.asarray(changed)

    def _reject_short(self, signatures: SignatureSets, seats: BucketSlots) -> None:
        """Refuse to promise more than earlier releases did."""
        short = signatures.sizes < self.m
        if short.any():
            persons = int(np.count_nonzero(short[seats.signature]))
            raise InfeasibleError(
                f"{persons:,} persons were published among fewer than m = {self.m} values of {self.column.name!r}, "
                f"which no later release can change; promise m = {int(signatures.sizes.min())} at most."
            )

    def _more(self, rest: Ints, seats: BucketSlots) -> Ints:
        """Return the fewest counterfeits that let all newcomers be assigned, of values that occur."""
        occurs = np.bincount(self.column.codes, minlength=self.width) > 0
        occurs[seats.value] = True
        if rest.any() and int(np.count_nonzero(occurs)) < self.m:
            raise InfeasibleError(
                f"Column {self.column.name!r} has {np.count_nonzero(occurs):,} different values, fewer than "
                f"m = {self.m}; promise less."
            )
        more = np.zeros_like(rest)
        more[occurs] = min_counterfeits(rest[occurs], self.m)
        return more

    def _placed(
        self, pieces: list[tuple[tuple[int, ...], int]], seats: BucketSlots, signatures: SignatureSets, *, apart: bool
    ) -> BucketSlots:
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


def _used_signatures(signatures: SignatureSets, seats: BucketSlots) -> tuple[SignatureSets, BucketSlots]:
    """Keep the signatures that somebody has, in an order that does not depend on how they were listed."""
    used = np.flatnonzero(np.bincount(seats.signature, minlength=len(signatures)))
    sets = [tuple(signatures.values[signatures.offsets[at] : signatures.offsets[at + 1]].tolist()) for at in used]
    order = sorted(range(len(sets)), key=sets.__getitem__)
    kept, _ = SignatureSets.of([sets[at] for at in order], signatures.width)
    place = np.zeros(len(signatures), dtype=np.int64)
    place[used[order]] = np.arange(len(order))
    return kept, replace(seats, signature=place[seats.signature])


def signatures_of_request(task: TableRequest, column: CodedColumn) -> Signatures:
    """Return what is known of the persons of a task, or that nothing is."""
    known = None if task.known is None else task.known.signatures.get(column.name)
    if known is not None:
        return known
    nothing = np.zeros(len(column.codes), dtype=np.bool_)
    return Signatures.from_texts(
        column.domain, (), np.full(len(nothing), NO_SIGNATURE, dtype=np.int32), nothing, nothing
    )


def check_satisfied(
    name: str, models: Sequence[GroupModel], column: CodedColumn, seats: BucketSlots, width: int
) -> None:
    """Refuse promises that buckets of different values, one of each, do not keep by themselves."""
    if not len(seats):
        return
    shown = _unique_keys(seats.signature * width + seats.value)
    _, kind = np.unique(shown // width, return_inverse=True)
    groups, once = int(kind.max()) + 1, np.ones(len(shown), dtype=np.int64)
    histogram = Histogram.from_entries(kind.ravel(), shown % width, once, groups=groups, width=width)
    totals = np.bincount(column.codes, minlength=width)
    alone = np.ones(groups, dtype=np.int64)
    seen = Groups(alone, {column.name: histogram}, {column.name: totals}, {column.name: column.domain})
    for model in models:
        broken = int(np.count_nonzero(~model.satisfied_by(seen)))
        if broken:
            raise InfeasibleError(
                f"{name} found {groups:,} sets of values, and buckets of {broken:,} of them do not keep "
                f"{model!r}; promise less of it, or a larger m."
            )


def _unique_keys(keys: Ints) -> Ints:
    """Return every key once, ascending."""
    return np.flatnonzero(np.bincount(keys)) if keys.max() < MOST_DENSE else np.unique(keys)


def _ineligible_error(name: str, counts: Ints, m: int, most: int) -> InfeasibleError:
    rows, largest, lost = int(counts.sum()), int(counts.max(initial=0)), int(min_suppression(counts, m).sum())
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
