"""Read baskets from a file: FIMI text, a long table, or a column of lists."""

from __future__ import annotations

import csv
import os
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from sfumato._validation import suggest_closest
from sfumato.errors import ReadError, ReadWarning, SchemaError, WriteError
from sfumato.io._reading import check_readable_file
from sfumato.io._reading import read as read_table
from sfumato.io._text_encoding import detect_encoding, read_unpacked
from sfumato.transactions._published import FILE_NAMES, ITEMS
from sfumato.transactions.transactions import Transactions

# Baskets in files, as they are published: the baskets, and what is known of their items.


def write_transactions(baskets: Transactions, folder: Path, table_format: str) -> None:
    """Write baskets in one of the forms, and the table of their items."""
    if table_format not in FILE_NAMES:
        hint = suggest_closest(table_format, FILE_NAMES) or f"; choose one of {', '.join(FILE_NAMES)}."
        raise WriteError(f"Baskets are not written as {table_format!r}{hint}")
    path = folder / FILE_NAMES[table_format]
    if table_format == "csv":
        pa_csv.write_csv(baskets.to_frame(), path)
    elif table_format == "parquet":
        pq.write_table(pa.table({"item": baskets.to_arrow()}), path)
    else:
        write_fimi(baskets, path)
    pa_csv.write_csv(baskets.items_to_arrow(), folder / ITEMS)


def write_fimi(baskets: Transactions, path: Path) -> None:
    """Write one basket a line, items separated by blanks; refuse names that contain blanks."""
    spaced = sum(len(name.split()) != 1 for name in baskets.items)
    if spaced:
        raise SchemaError(f"{spaced} items have blanks in their names, which FIMI text cannot hold; write CSV.")
    lines = pc.binary_join(baskets.to_arrow().cast(pa.list_(pa.string())), " ")
    path.write_bytes("".join(f"{line}\n" for line in lines.to_pylist()).encode())


def read_transaction_tables(folder: Path) -> tuple[pa.Table, str | None, pa.Table] | None:
    """Read the table of baskets, its column of baskets if it is long, and the table of items; None if there is none."""
    there = {form: folder / name for form, name in FILE_NAMES.items() if (folder / name).is_file()}
    if not there or not (folder / ITEMS).is_file():
        return None
    items = read_items(folder)
    if "csv" in there:
        return read_csv(there["csv"], {"basket": pa.int64(), "item": pa.string()}), "basket", items
    if "parquet" in there:
        return pq.read_table(there["parquet"]), None, items
    return read_fimi(there["fimi"]), None, items


def read_items(folder: Path) -> pa.Table:
    """Read the table of items."""
    return read_csv(folder / ITEMS, {"item": pa.string(), "within": pa.string(), "sensitive": pa.bool_()})


def read_csv(path: Path, types: dict[str, pa.DataType]) -> pa.Table:
    """Read a CSV file as Sfumato wrote it: only what stands unquoted between commas is missing."""
    convert = pa_csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
    )
    return pa_csv.read_csv(path, convert_options=convert, parse_options=pa_csv.ParseOptions(newlines_in_values=True))


def read_fimi(path: Path) -> pa.Table:
    """Read one basket a line; blank lines are empty baskets."""
    lines = pa.array(path.read_text("utf-8").removeprefix("\ufeff").split("\n"), pa.large_string())
    lines = pc.utf8_trim_whitespace(lines[:-1] if lines and lines[-1].as_py() == "" else lines)
    items = pc.utf8_split_whitespace(lines)
    return pa.table({"item": pc.if_else(pc.equal(lines, ""), pa.scalar([], items.type), items)})


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
