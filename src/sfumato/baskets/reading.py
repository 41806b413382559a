"""Read baskets from a file: FIMI text, a long table, or a column of lists."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.baskets.basket_files import read_fimi
from sfumato.baskets.baskets import Baskets
from sfumato.exceptions import ReadError
from sfumato.table.read import read as read_table
from sfumato.table.read import refuse_unreadable

FIMI = (".dat", ".fimi", ".basket")
PARQUET = (".parquet", ".pq")


def read(
    source: str | os.PathLike[str], *, person: str | None = None, item: str | None = None, sensitive: Iterable[str] = ()
) -> Baskets:
    """Read baskets.

    Parameters
    ----------
    source : FIMI text (.dat, .fimi, .basket: one basket a line, items separated by blanks), a Parquet file with a
        column of lists or in long form, or any table that `sf.read` reads, in long form: one row for each person and
        item.
    person, item, sensitive : as for `Baskets`; of a file with the columns basket and item, as Sfumato writes it, no
        columns need to be named.
    """
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in FIMI:
        return Baskets(_fimi(path), sensitive=sensitive)
    table = _parquet(path) if suffix in PARQUET else read_table(source, as_text=True, missing=())
    if person is None and item is None and table.column_names == ["basket", "item"]:
        person, item = "basket", "item"
    return Baskets(table, person=person, item=item, sensitive=sensitive)


def _fimi(path: Path) -> pa.Table:
    refuse_unreadable(path)
    try:
        return read_fimi(path)
    except UnicodeError:
        raise ReadError(f"Cannot read {path.name}: it is not UTF-8 text; convert it first.") from None


def _parquet(path: Path) -> pa.Table:
    refuse_unreadable(path)
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException):
        raise ReadError(f"Cannot read {path.name}: it is no Parquet file.") from None
