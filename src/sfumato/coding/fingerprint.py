"""A fingerprint of a table's content, independent of the kind of dataframe or file it came from."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.formats.inference import NUMBER
from sfumato.table.values import dictionary_encode, format_distinct_values, reorder_dictionary


def compute_table_digest(table: pa.Table) -> str:
    """Hash names, types and cells of a canonical table (SHA-256); a coded column has the hash of its cells."""
    digest = hashlib.sha256()
    for name in table.column_names:
        column = table[name]
        encoded = dictionary_encode(column)
        if pa.types.is_dictionary(column.type) and len(column):
            encoded = reorder_dictionary(encoded)
        digest.update(f"{len(name)} {name} {encoded.type.value_type} {len(column)} {len(encoded.dictionary)} ".encode())
        shown = format_distinct_values(encoded.dictionary)
        digest.update(np.ascontiguousarray(pc.binary_length(shown).to_numpy(), dtype="<i4").tobytes())
        digest.update(_utf8_buffer(shown))
        indices = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        digest.update(np.ascontiguousarray(indices, dtype="<i4").tobytes())
    return digest.hexdigest()


def fingerprint_of_rows(table: pa.Table) -> str:
    """Hash a table of texts whatever the order of its rows and columns, and whatever its numbers are written like.

    >>> shown, turned = pa.table({"a": ["x", "y"], "b": ["1", None]}), pa.table({"b": [None, "1"], "a": ["y", "x"]})
    >>> fingerprint_of_rows(shown) == fingerprint_of_rows(turned)
    True
    >>> fingerprint_of_rows(pa.table({"a": ["1.0", ""]})) == fingerprint_of_rows(pa.table({"a": ["1", None]}))
    True
    """
    names = sorted(table.column_names)
    alike = pa.table({name: _plain_numbers(table[name]) for name in names})
    return compute_table_digest(alike.sort_by([(name, "ascending") for name in names]))


def _plain_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write numbers in one way, and cells of blanks alone as missing: a file has 1.0 where another has 1."""
    encoded = dictionary_encode(column)
    cells = pc.utf8_trim_whitespace(encoded.dictionary)
    number = pc.match_substring_regex(cells, rf"\A(?:{NUMBER})\z")
    plain = format_distinct_values(pc.if_else(number, cells, None).cast(pa.float64()))
    written = pc.if_else(pc.equal(cells, ""), None, pc.coalesce(plain, cells))
    return pa.chunked_array([written.take(encoded.indices)])


def _utf8_buffer(shown: pa.StringArray) -> memoryview:
    """Return all texts as one, in UTF-8, without copying them."""
    _, offsets, letters = shown.buffers()
    places = memoryview(offsets).cast("i")[shown.offset : shown.offset + len(shown) + 1] if offsets else [0, 0]
    return memoryview(letters or b"")[places[0] : places[-1]]
