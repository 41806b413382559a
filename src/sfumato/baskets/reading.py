"""Read baskets from a file: FIMI text, a long table, or a column of lists."""

from __future__ import annotations

import csv
import os
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.baskets.basket_files import read_fimi
from sfumato.baskets.baskets import Transactions
from sfumato.exceptions import ReadError, ReadWarning
from sfumato.table.formats.encoding import detect_encoding, read_unpacked
from sfumato.table.read import check_readable_file
from sfumato.table.read import read as read_table

FIMI_SUFFIXES = (".dat", ".fimi", ".basket")
PARQUET_SUFFIXES = (".parquet", ".pq")
LINES = (".csv", ".txt")
SEPARATORS = (",", ";", "\t", "|")
MOSTLY = 0.9  # of the lines of a table with a few broken ones have the same number of cells
PAIR = 2  # columns of a long table, of which one may be empty


def read(
    source: str | os.PathLike[str],
    *,
    person: str | None = None,
    item: str | None = None,
    item_separator: str | None = None,
    sensitive: Iterable[str] = (),
) -> Transactions:
    """Read baskets.

    Parameters
    ----------
    source : FIMI text (.dat, .fimi, .basket: one basket a line, items separated by blanks), a Parquet file with a
        column of lists or in long form, or any table that `sf.read` reads, in long form: one row for each person and
        item. A .csv or .txt file without a header and with lines of different lengths, or filled up at their ends, has
        one basket a line, if no columns are named.
    person, item, item_separator, sensitive : as for `Baskets`; of a file with the columns basket and item, as Sfumato
        writes it, no columns need to be named.
    """
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in FIMI_SUFFIXES:
        return Transactions(_read_fimi_file(path), sensitive=sensitive)
    if suffix in LINES and person is None and item is None and (lines := _basket_lines(path)) is not None:
        told = f"{path.name} has no table, so each of its {len(lines):,} lines is read as a basket."
        warnings.warn(told, ReadWarning, stacklevel=2)
        return Transactions(lines, sensitive=sensitive)
    table = _read_parquet(path) if suffix in PARQUET_SUFFIXES else read_table(source, as_text=True, missing=())
    if person is None and item is None and table.column_names == ["basket", "item"]:
        person, item, item_separator = "basket", "item", ""
    return Transactions(table, person=person, item=item, item_separator=item_separator, sensitive=sensitive)


def _basket_lines(path: Path) -> list[list[str]] | None:
    """Return the items of each line, if the lines of a text file are baskets and no rows of a table.

    Baskets have different lengths, or are filled up at their ends, and then some item stands at different places of
    lines. Lines that mostly begin with what is nowhere else begin with keys of persons.
    """
    check_readable_file(path)
    text = read_unpacked(path).decode(detect_encoding(path), errors="replace").removeprefix("\ufeff")
    separator = max(SEPARATORS, key=text.count)
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines(), delimiter=separator)]
    rows = [row for row in rows if row]
    lengths = Counter(map(len, rows))
    held = [row[: len([cell for cell in row if cell])] for row in rows]
    cells = Counter(cell for row in held for cell in row)
    if not cells or "" in cells or 2 * sum(cells[row[0]] == 1 for row in held if row) > len(held):
        return None
    if max(lengths.values()) <= MOSTLY * len(rows):
        return held
    padded = len(lengths) == 1 and max(lengths) > PAIR and len({*map(len, held)}) > 1
    places = {(cell, place) for row in held for place, cell in enumerate(row)}
    return held if padded and len(places) > len(cells) else None


def _read_fimi_file(path: Path) -> pa.Table:
    check_readable_file(path)
    try:
        return read_fimi(path)
    except UnicodeError:
        raise ReadError(f"Cannot read {path.name}: it is not UTF-8 text; convert it first.") from None


def _read_parquet(path: Path) -> pa.Table:
    check_readable_file(path)
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException):
        raise ReadError(f"Cannot read {path.name}: it is no Parquet file.") from None
