"""Enter baskets: lists, long tables and columns of lists become pairs of a basket and an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._validation import suggest_closest
from sfumato.errors import SchemaError
from sfumato.io._dataframes import Frame, to_arrow_with_lists
from sfumato.io._values import encode_distinct, format_distinct_values, format_value

Ints = npt.NDArray[np.int64]
SEPARATORS = (",", ";", "|")
FEW, MOST = 0.1, 0.5  # shares of cells that hold a separator, where persons have one row and where they have several


class ItemPairs(NamedTuple):
    """Pairs of a basket and an item, in any order; `persons` baskets, of which some may have no item."""

    rows: Ints
    codes: Ints
    items: tuple[str, ...]
    n_individuals: int
    united: int = 0


def parse_transactions(
    data: Sequence[Iterable[object]] | Frame, person: str | None, item: str | None, separator: str | None = None
) -> ItemPairs:
    """Read baskets in any form that `Baskets` takes."""
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _from_lists(data, person, item)
    table = to_arrow_with_lists(cast("Frame", data))
    for name in (person, item):
        if name is not None and name not in table.column_names:
            hint = suggest_closest(name, table.column_names) or f"; it has {', '.join(table.column_names)}."
            raise SchemaError(f"The table has no column {name!r}{hint}")
    others = [name for name in table.column_names if name != person]
    if item is None and len(others) != 1:
        raise SchemaError("Say which column holds the items by item=, and whose they are by person=.")
    name = item or others[0]
    column = table[name]
    if separator and not _is_list(column.type):
        column = _parted(column, separator)
    if _is_list(column.type):
        return _from_list_column(column, None if person is None else table[person])
    if separator is None:
        refuse_joined(column, None if person is None else table[person], name)
    if person is None:
        raise SchemaError("A long table needs the column of persons: say person=, or give a column of lists.")
    return _from_pairs(table[person], column)


def _from_lists(lists: Sequence[Iterable[object]], person: str | None, item: str | None) -> ItemPairs:
    if person is not None or item is not None:
        raise SchemaError("Lists of items have no columns; leave out person= and item=.")
    if any(isinstance(each, str | bytes) or not isinstance(each, Iterable) for each in lists):
        raise SchemaError("Every basket must be a list of items.")
    held: list[list[object]] = [list(each) for each in lists]
    rows = np.repeat(np.arange(len(held)), np.fromiter(map(len, held), dtype=np.int64, count=len(held)))
    flat: list[Any] = list(chain.from_iterable(held))
    try:
        values = pa.array(flat)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        values = pa.array([None if each is None else _to_text(each) for each in flat], pa.string())
    codes, items = _encode_items(values)
    return ItemPairs(rows, codes, items, len(held))


def _to_text(value: object) -> str:
    try:
        return format_value(value)
    except TypeError:
        raise SchemaError(
            f"An item of type {type(value).__name__} has no name; give items as text or numbers."
        ) from None


def _parted(column: pa.ChunkedArray, separator: str) -> pa.ChunkedArray:
    """Part cells into lists of items; a missing or blank cell has none."""
    cells = [None if cell is None else _to_text(cell) for cell in column.to_pylist()]
    lists = [[part.strip() for part in (cell or "").split(separator) if part.strip()] for cell in cells]
    return pa.chunked_array([pa.array(lists, pa.list_(pa.string()))])


def refuse_joined(column: pa.ChunkedArray, persons: pa.ChunkedArray | None, name: str) -> None:
    """Refuse a column whose cells look like lists of items that are joined by commas or the like.

    Many cells hold a separator, their parts come again in other cells, and most persons have one row only.
    """
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return
    once = persons is None or 2 * len(pc.unique(persons)) > len(persons)
    for separator in SEPARATORS:
        counted = pc.value_counts(column.filter(pc.match_substring(column, separator)))
        joined = [cell for cell in counted.field("values").to_pylist() if not cell.startswith("{")]
        rows = sum(counted.field("counts").to_pylist())
        if not joined or rows < (FEW if once else MOST) * len(column):
            continue
        parts = Counter(
            part.strip() for cell in pc.unique(column).to_pylist() for part in {*(cell or "").split(separator)}
        )
        own = [part.strip() for cell in joined for part in cell.split(separator)]
        if 2 * sum(parts[part] > 1 for part in own) > len(own):
            raise SchemaError(
                f"Column {name!r} looks like lists: {rows:,} of its {len(column):,} cells hold a {separator!r}; give "
                f"item_separator={separator!r} to part them, or an empty one if each cell is one item."
            )


def _from_list_column(column: pa.ChunkedArray, persons: pa.ChunkedArray | None) -> ItemPairs:
    lists = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    lists = pa.concat_arrays(lists.chunks) if isinstance(lists, pa.ChunkedArray) else lists
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    codes, items = _encode_items(lists.flatten())
    if persons is None:
        return ItemPairs(np.repeat(np.arange(len(lengths)), lengths), codes, items, len(lengths))
    who, count = _encode_individuals(persons)
    return ItemPairs(np.repeat(who, lengths), codes, items, count, len(lengths) - count)


def _from_pairs(persons: pa.ChunkedArray, column: pa.ChunkedArray) -> ItemPairs:
    who, count = _encode_individuals(persons)
    codes, items = _encode_items(column)
    return ItemPairs(who, codes, items, count)


def _encode_individuals(persons: pa.ChunkedArray) -> tuple[Ints, int]:
    if persons.null_count:
        raise SchemaError(
            f"{persons.null_count:,} rows do not say whose items they are; name the person, or drop them."
        )
    distinct, codes = encode_distinct(persons)
    return codes.to_numpy(zero_copy_only=False).astype(np.int64), len(distinct)


def _encode_items(values: pa.Array | pa.ChunkedArray) -> tuple[Ints, tuple[str, ...]]:
    """Return a code for every item, and the names, equal ones once: values of several types may share a text."""
    missing = values.null_count
    if pa.types.is_floating(values.type):
        missing += pc.sum(pc.is_nan(values)).as_py() or 0
    if missing:
        raise SchemaError(f"{missing:,} items are missing; name them, or drop them.")
    distinct, codes = encode_distinct(values)
    names = pc.cast(format_distinct_values(distinct), pa.string())
    blank = pc.sum(pc.equal(pc.utf8_trim_whitespace(names), "")).as_py() or 0
    if blank:
        raise SchemaError("An item has no name; name it, or drop it.")
    same, again = encode_distinct(names)
    place = again.to_numpy(zero_copy_only=False).astype(np.int64)
    return place[codes.to_numpy(zero_copy_only=False)], tuple(same.to_pylist())


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
