"""Code a table once: every later step works on arrays of small integers.

A coded table holds cases. A case is a record or, if the table has weights, a combination of values with the number of
records that have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._threads import map_in_threads
from sfumato.encoding.domain import MAX_NOMINAL_VALUES, Domain, infer_domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.hierarchies.hierarchy import ROOT
from sfumato.io._values import dictionary_encode
from sfumato.schema.roles import Scale

if TYPE_CHECKING:
    from sfumato.schema.schema import Schema

STARS = r"\A\s*\*+\s*\z"
MAX_RECORDS = 3_000_000_000  # whose square still fits a whole number of 64 bits
Codes = npt.NDArray[np.unsignedinteger]
Weights = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One attribute of every case as codes into its domain."""

    domain: Domain
    codes: Codes

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.domain.name

    def take(self, cases: npt.NDArray[np.intp] | slice) -> CodedColumn:
        """Return the same attribute of some cases."""
        return CodedColumn(self.domain, self.codes[cases])


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table ready for search: quasi-identifying and sensitive columns as codes, and flags of sensitive cells.

    Parameters
    ----------
    rows : the number of records.
    quasi, sensitive : the columns, with a code for every case.
    target_columns : further columns that a search needs, such as a class to predict.
    flags : for every attribute with flags, whether the cell of each case is sensitive.
    weights : the number of records that every case represents; None if every case is a record.
    """

    rows: int
    quasi: tuple[CodedColumn, ...]
    sensitive: tuple[CodedColumn, ...]
    target_columns: Mapping[str, CodedColumn] = field(default_factory=dict)
    flags: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=dict)
    weights: Weights | None = None

    @property
    def n_weighted_records(self) -> int:
        """The number of cases, which is the length of every column."""
        return self.rows if self.weights is None else len(self.weights)

    def take(self, cases: npt.NDArray[np.intp]) -> CodedTable:
        """Return the same columns of some cases."""
        return CodedTable(
            rows=self.records(cases),
            quasi=tuple(column.take(cases) for column in self.quasi),
            sensitive=tuple(column.take(cases) for column in self.sensitive),
            target_columns={name: column.take(cases) for name, column in self.target_columns.items()},
            flags={name: flags[cases] for name, flags in self.flags.items()},
            weights=None if self.weights is None else self.weights[cases],
        )

    def records(self, cases: npt.NDArray[np.intp]) -> int:
        """Count the records of some cases."""
        return len(cases) if self.weights is None else int(self.weights[cases].sum())


def encode_table(
    table: pa.Table, schema: Schema, guides: Sequence[str] = (), *, weights: npt.NDArray[np.integer] | None = None
) -> CodedTable:
    """Code the quasi-identifying and sensitive columns of a canonical table, and those that guide a search.

    With `weights`, every row of the table represents that many records.
    """
    if table.num_rows == 0:
        raise SchemaError("The table has no rows; there is nothing to publish.")
    if weights is not None:
        weights = _check_weights(weights, table.num_rows)
    records = table.num_rows if weights is None else int(weights.sum())
    names = tuple(dict.fromkeys((*schema.quasi_identifiers, *schema.sensitive, *guides)))
    coded = map_in_threads(lambda name: encode_column(name, table[name], schema), names, table.num_rows)
    columns = dict(zip(names, coded, strict=True))
    check_encodable(
        [columns[name].domain for name in schema.quasi_identifiers],
        [columns[name].domain for name in schema.sensitive],
        records,
    )
    return CodedTable(
        rows=records,
        quasi=tuple(columns[name] for name in schema.quasi_identifiers),
        sensitive=tuple(columns[name] for name in schema.sensitive),
        target_columns={name: columns[name] for name in guides},
        flags={name: _read_flags(flag, table[flag]) for name, flag in schema.flags.items()},
        weights=weights,
    )


def encode_column(name: str, column: pa.ChunkedArray, schema: Schema) -> CodedColumn:
    """Code one column into the domain given by its values and the schema."""
    encoded = dictionary_encode(column)
    domain = infer_domain(name, encoded, schema)
    return CodedColumn(domain, domain.encode(encoded))


def _check_weights(weights: npt.NDArray[np.integer], rows: int) -> Weights:
    whole = np.issubdtype(weights.dtype, np.integer)
    if not whole or weights.shape != (rows,) or weights.min() < 1:
        raise InvalidParameterError("code: weights must be whole numbers of at least 1, one for every row.")
    if weights.astype(np.float64).sum() > MAX_RECORDS:
        raise SchemaError(f"The table has more than {MAX_RECORDS:,} records, too many to count; publish it in parts.")
    return weights.astype(np.int64)


def check_encodable(quasi: Sequence[Domain], sensitive: Sequence[Domain], rows: int) -> None:
    """Refuse columns of so many names that they tell people apart, and of nothing but suppressed cells."""
    for domain in quasi:
        _check_not_nearly_unique(domain, rows)
    for domain in (*quasi, *sensitive):
        _check_no_stars(domain)


def _check_not_nearly_unique(domain: Domain, rows: int) -> None:
    if domain.scale is Scale.NOMINAL and len(domain) > MAX_NOMINAL_VALUES:
        raise SchemaError(
            f"Quasi-identifier {domain.name!r} has {len(domain):,} distinct values in {rows:,} rows and no hierarchy; "
            "give it one (such as sf.hierarchies.Prefixes()) or make it an identifier."
        )


def _check_no_stars(domain: Domain) -> None:
    if has_stars(domain.values):
        raise stars_error(domain.name)


def has_stars(values: pa.Array) -> bool:
    """Return whether some texts are nothing but stars, which means suppressed."""
    return bool(pa.types.is_string(values.type) and pc.any(pc.match_substring_regex(values, STARS)).as_py())


def stars_error(name: str) -> SchemaError:
    """Return the error about a column with cells that nothing tells apart from suppressed ones."""
    return SchemaError(f"Cells of column {name!r} are {ROOT!r}, which means suppressed; replace or clear them.")


def _read_flags(name: str, column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    if not pa.types.is_boolean(column.type) or column.null_count:
        raise SchemaError(f"Flag column {name!r} must be true or false in every row.")
    return np.asarray(column.to_numpy())
