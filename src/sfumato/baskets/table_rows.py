"""Rows of a table as baskets: every cell is an item that names its column and its value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.baskets.baskets import Transactions
from sfumato.exceptions import SchemaError
from sfumato.table.frames import Frame, to_arrow
from sfumato.table.values import encode_distinct, format_distinct_values

EQUALS = "="


def transactions_from_rows(table: Frame, *, sensitive: Sequence[str] = ()) -> Transactions:
    """Return the rows of a table as baskets of items such as `age=30`, in the order of the rows.

    A missing cell is no item, and neither is a cell that was suppressed, `*`: nobody knows them.

    Parameters
    ----------
    table : a pandas, Polars or Arrow table; leave out what identifies persons.
    sensitive : the columns whose values are sensitive items; all others may be known.

    Examples
    --------
    >>> import pyarrow as pa
    >>> transactions_from_rows(pa.table({"age": [30, 40], "disease": ["flu", None]})).to_lists()
    [['age=30', 'disease=flu'], ['age=40']]
    """
    content, _ = to_arrow(table)
    strange = [name for name in sensitive if name not in content.column_names]
    if strange:
        raise SchemaError(f"The table has no column {strange[0]!r}; name its sensitive columns.")
    rows, codes = [], []
    names: list[str] = []
    marked: list[bool] = []
    for name in content.column_names:
        distinct, place = encode_distinct(content[name])
        told = place.is_valid().to_numpy(zero_copy_only=False)
        values = format_distinct_values(distinct).to_pylist()
        number = place.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        shown = told & ~np.isin(number, [at for at, value in enumerate(values) if value == "*"])
        rows.append(np.flatnonzero(shown))
        codes.append(number[shown] + len(names))
        names += [f"{name}{EQUALS}{value}" for value in values]
        marked += [name in sensitive] * len(values)
    order = np.argsort(np.concatenate(rows), kind="stable")
    counts = np.bincount(np.concatenate(rows), minlength=content.num_rows)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return Transactions.from_codes(
        np.concatenate(codes)[order], offsets, names, is_sensitive=np.array(marked, dtype=np.bool_)
    )
