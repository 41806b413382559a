"""Baskets in files, as they are published: the baskets, and what is known of their items."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from sfumato.exceptions import SchemaError, WriteError
from sfumato.validation import suggest_closest

if TYPE_CHECKING:
    from sfumato.baskets.baskets import Transactions

ITEMS = "items.csv"
FILE_NAMES = {"csv": "baskets.csv", "parquet": "baskets.parquet", "fimi": "baskets.dat"}
FILES = {
    "baskets.csv": "one line for each basket and item; baskets are numbered anew",
    "baskets.parquet": "one list of items for each basket",
    "baskets.dat": "one basket a line, its items separated by blanks",
    ITEMS: "the items, the narrowest published group that also stands for each, and which are sensitive",
}


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
