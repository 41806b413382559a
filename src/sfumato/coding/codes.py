"""Code a table once: every later step works on arrays of small integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.coding.domain import MOST_NOMINAL_VALUES, Domain, describe
from sfumato.exceptions import SchemaError
from sfumato.hierarchies.hierarchy import ROOT
from sfumato.schema.scales import Scale
from sfumato.threads import worker_count

if TYPE_CHECKING:
    from sfumato.schema.schema import Schema

STARS = r"\A\s*\*+\s*\z"
Codes = npt.NDArray[np.unsignedinteger]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One attribute of every record as codes into its domain."""

    domain: Domain
    codes: Codes

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.domain.name

    def take(self, rows: npt.NDArray[np.intp] | slice) -> CodedColumn:
        """Return the same attribute of some records."""
        return CodedColumn(self.domain, self.codes[rows])


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table ready for search: quasi-identifying and sensitive columns as codes, and flags of sensitive cells.

    `guides` are further columns that a search needs, such as a class to predict.
    """

    rows: int
    quasi: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    guides: Mapping[str, CodedColumn] = field(default_factory=dict)
    flags: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=dict)

    def take(self, rows: npt.NDArray[np.intp]) -> CodedTable:
        """Return the same columns of some records."""
        return CodedTable(
            rows=len(rows),
            quasi=tuple(column.take(rows) for column in self.quasi),
            sensitive=tuple(column.take(rows) for column in self.sensitive),
            guides={name: column.take(rows) for name, column in self.guides.items()},
            flags={name: flags[rows] for name, flags in self.flags.items()},
        )


def code(table: pa.Table, schema: Schema, guides: Sequence[str] = ()) -> CodedTable:
    """Code the quasi-identifying and sensitive columns of a canonical table, and those that guide a search."""
    if table.num_rows == 0:
        raise SchemaError("The table has no rows; there is nothing to publish.")
    with ThreadPoolExecutor(worker_count()) as pool:
        names = tuple(dict.fromkeys((*schema.quasi, *schema.sensitive, *guides)))
        coded = pool.map(lambda name: code_column(name, table[name], schema), names)
        columns = dict(zip(names, coded, strict=True))
    for name in schema.quasi:
        _refuse_too_many(columns[name].domain, table.num_rows)
    for name in (*schema.quasi, *schema.sensitive):
        _refuse_stars(columns[name].domain)
    return CodedTable(
        rows=table.num_rows,
        quasi=tuple(columns[name] for name in schema.quasi),
        sensitive=tuple(columns[name] for name in schema.sensitive),
        guides={name: columns[name] for name in guides},
        flags={name: _flags(flag, table[flag]) for name, flag in schema.flags.items()},
    )


def code_column(name: str, column: pa.ChunkedArray, schema: Schema) -> CodedColumn:
    """Code one column into the domain given by its values and the schema."""
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    domain = describe(name, encoded, schema)
    return CodedColumn(domain, domain.encode(encoded))


def _refuse_too_many(domain: Domain, rows: int) -> None:
    if domain.scale is Scale.NOMINAL and len(domain) > MOST_NOMINAL_VALUES:
        raise SchemaError(
            f"Quasi-identifier {domain.name!r} has {len(domain):,} distinct values in {rows:,} rows and no hierarchy; "
            "give it one (such as sf.Prefixes()) or make it an identifier."
        )


def _refuse_stars(domain: Domain) -> None:
    if pa.types.is_string(domain.values.type) and pc.any(pc.match_substring_regex(domain.values, STARS)).as_py():
        raise SchemaError(
            f"All cells of column {domain.name!r} are {ROOT!r}, which means suppressed; replace or clear them."
        )


def _flags(name: str, column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    if not pa.types.is_boolean(column.type) or column.null_count:
        raise SchemaError(f"Flag column {name!r} must be true or false in every row.")
    return np.asarray(column.to_numpy())
