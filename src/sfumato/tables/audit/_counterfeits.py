"""Counterfeits, rows that belong to nobody: how many a release states, and which rows they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_integer, require
from sfumato.errors import SchemaError
from sfumato.io._values import format_values
from sfumato.tables.published.published_table import BUCKET_PREFIX, PublishedTable

Rows = npt.NDArray[np.int64]
Stated: TypeAlias = int | Mapping[str, Mapping[str, int]]  # by column of bucket numbers and by number


def count_stated(stated: Stated) -> int:
    """Count the rows that are stated to belong to nobody."""
    return stated if isinstance(stated, int) else sum(sum(each.values()) for each in stated.values())


def check_stated(stated: object, owner: str) -> None:
    """Refuse anything but a number of counterfeits, or one for every bucket."""
    if isinstance(stated, Mapping):
        known = all(
            isinstance(column, str)
            and isinstance(buckets, Mapping)
            and all(_is_count(each) for each in buckets.values())
            for column, buckets in stated.items()
        )
    else:
        known = _is_count(stated)
    what = "a whole number, or one for every bucket, by column and number of the bucket"
    require(known, owner, "counterfeits", what, stated)


def check_counterfeits(shown: pa.Table, correspondence: Rows | None, stated: Stated) -> None:
    """Refuse a correspondence with other rows of nobody than are stated, in all or in a bucket."""
    if correspondence is None or len(correspondence) != shown.num_rows:
        return
    nobody = correspondence == -1
    found, said = int(nobody.sum()), count_stated(stated)
    if found != said:
        raise SchemaError(
            f"The correspondence has {found:,} rows that belong to nobody (-1), but {said:,} are stated; state as many "
            "as the promise of the release does, by counterfeits=."
        )
    if isinstance(stated, Mapping):
        wrong = 0
        for column, buckets in stated.items():
            bucket, wanted = _wanted(shown, column, buckets)
            there = np.bincount(bucket[nobody], minlength=len(wanted))
            wrong += int(np.count_nonzero(there[:-1] != wanted[:-1]))  # the last are in no bucket of this attribute
        if wrong:
            raise SchemaError(
                f"In {wrong:,} buckets the correspondence has another number of rows that belong to nobody (-1) than "
                "is stated; give the correspondence and the promise of the same release."
            )


def genuine_rows(shown: pa.Table, table: PublishedTable, stated: Stated) -> Rows:
    """Return the rows that belong to somebody, where counterfeits are stated and no correspondence tells them.

    They are rows with nothing but `*` in their quasi-identifiers, if there are as many in all, or in a bucket those of
    them that are in no bucket of another attribute, if there are enough. Of rows that look alike, any count: which
    value is theirs is not told, and all are in one group.
    """
    stars = [column.mask_suppressed() for column in table.columns]
    starred = np.logical_and.reduce(stars) if stars else np.zeros(shown.num_rows, dtype=np.bool_)
    if not isinstance(stated, Mapping):
        if int(starred.sum()) != stated:
            raise SchemaError(
                f"{stated:,} rows are stated to belong to nobody, and {int(starred.sum()):,} have * in all their "
                "quasi-identifiers, so nobody can tell which; state how many every bucket has, as the promise of the "
                "release does."
            )
        return np.flatnonzero(~starred)
    nobody = np.zeros(shown.num_rows, dtype=np.bool_)
    inside = [np.asarray(shown[name].is_valid()) for name in shown.column_names if name.startswith(BUCKET_PREFIX)]
    starred &= np.sum(inside, axis=0) <= 1
    for column, buckets in stated.items():
        bucket, wanted = _wanted(shown, column, buckets)
        chosen = _choose_counterfeits(bucket, wanted, starred, table.grouped.labels)
        if chosen is None or nobody[chosen].any():
            raise SchemaError(
                f"Nobody can tell which rows of the buckets in {column!r} are those that are stated to belong to "
                "nobody; give the promise of the same release."
            )
        nobody[chosen] = True
    return np.flatnonzero(~nobody)


def _choose_counterfeits(
    bucket: Rows, wanted: Rows, starred: npt.NDArray[np.bool_], group: npt.NDArray[np.integer]
) -> Rows | None:
    """Choose as many rows of every bucket as are wanted, those with `*` first; None if it matters which."""
    low, high = np.full(len(wanted), np.iinfo(np.int64).max), np.full(len(wanted), -1)
    np.minimum.at(low, bucket, group)
    np.maximum.at(high, bucket, group)
    plain, rows = np.bincount(bucket[starred], minlength=len(wanted)), np.bincount(bucket, minlength=len(wanted))
    if ((wanted > 0) & (plain < wanted) & ((low != high) | (rows < wanted))).any():
        return None
    order = np.lexsort((~starred, bucket))
    place = np.arange(len(order)) - (np.cumsum(rows) - rows)[bucket[order]]
    return order[place < wanted[bucket[order]]]


def _wanted(shown: pa.Table, column: str, buckets: Mapping[str, int]) -> tuple[Rows, Rows]:
    """Return the bucket of every row, those in none as the last, and how many rows of each belong to nobody."""
    known = column in shown.column_names and column.startswith(BUCKET_PREFIX)
    coded = format_values(shown[column] if known else pa.chunked_array([], pa.string())).dictionary_encode()
    numbers = {text: place for place, text in enumerate(coded.dictionary.to_pylist())}
    if not known or not {str(number) for number in buckets} <= set(numbers):
        raise SchemaError(
            f"Counterfeits are stated for buckets in {column!r} that the table does not have; give the promise of the "
            "same release."
        )
    wanted = np.zeros(len(numbers) + 1, dtype=np.int64)
    wanted[[numbers[str(number)] for number in buckets]] = list(buckets.values())
    return coded.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False).astype(np.int64), wanted


def _is_count(given: object) -> bool:
    return is_integer(given) and given >= 0  # type: ignore[operator]  # a whole number
