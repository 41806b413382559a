"""Who is who in the versions of a table: persons are known by their identifiers, as canonical texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.exceptions import SchemaError
from sfumato.table.values import texts

Ints = npt.NDArray[np.int64]


def person_keys(table: pa.Table, identifier: Sequence[str], version: str = "the table") -> pa.Array:
    """Return a text for every row that tells persons apart: all identifiers, each with its length before it.

    Numbers are written as everywhere in the house, so 7, "7" and 7.0 are one person, and texts in Unicode's form NFC
    without spaces around them, so that a space does not make a person a newcomer.
    A row without an identifier and a person with two rows are refused.

    >>> person_keys(pa.table({"id": [7.0, 8.0]}), ["id"]).to_pylist()
    ['1:7', '1:8']
    """
    if not identifier:
        raise SchemaError("A series needs to know who is who in every version; name the columns in Schema.identifier.")
    for name in identifier:
        if name not in table.column_names:
            raise SchemaError(f"In {version} the identifier {name!r} is missing; every version needs the same columns.")
    parts = []
    for name in identifier:
        written = pc.utf8_trim_whitespace(pc.utf8_normalize(texts(table[name]), form="NFC"))
        lost = int(written.null_count) + int(pc.sum(pc.equal(written, "")).as_py() or 0)
        if lost:
            raise SchemaError(
                f"In {version} {lost:,} rows have no {name!r}, which identifies persons; fill it in or drop these rows."
            )
        parts.append(pc.binary_join_element_wise(pc.utf8_length(written).cast(pa.string()), written, ":"))
    keys = pc.binary_join_element_wise(*parts, "|")
    twice = len(keys) - len(pc.unique(keys))
    if twice:
        raise SchemaError(
            f"In {version} {twice:,} rows have the identifiers of another row; a person has one row in every version."
        )
    return keys


def numbered(versions: Sequence[pa.Array]) -> tuple[list[Ints], int]:
    """Give the persons of several versions numbers; return the number of every row, and how many persons there are."""
    everybody = pa.chunked_array(list(versions), pa.string()).dictionary_encode().unify_dictionaries()
    codes = everybody.combine_chunks()
    indices = codes.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum([len(each) for each in versions])
    return np.split(indices, ends[:-1]), len(codes.dictionary)
