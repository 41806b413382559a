"""Who is who in the versions of a table: persons are known by their identifiers, as canonical texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._locale.messages import LocalizedText
from sfumato.errors import SchemaError
from sfumato.io._values import format_values

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class RowsPerIndividual:
    """What a repeating identifier says: rows are not individuals, and whatever counts rows says less about these.

    Parameters
    ----------
    column : the identifier.
    table : whose it is: of a table, of the original of a published one, or of a population.
    rows : the number of rows that have one.
    individuals : how many different ones there are.
    most : the number of rows of the individual with the most; None where only the different ones were counted.
    """

    column: str
    table: Literal["table", "original", "population"] = "table"
    rows: int
    individuals: int
    most: int | None = None

    @classmethod
    def from_table(
        cls,
        table: pa.Table,
        identifier: Sequence[str],
        called: Literal["table", "original", "population"] = "table",
    ) -> RowsPerIndividual | None:
        """Return the identifier of a table that repeats most often, if one does; rows without it are left out.

        >>> RowsPerIndividual.from_table(pa.table({"patient": ["a", "b", "a "]}), ["patient"])
        RowsPerIndividual(column='patient', table='table', rows=3, individuals=2, most=2)
        >>> RowsPerIndividual.from_table(pa.table({"patient": ["a", "b", None]}), ["patient"])
        """
        found: list[RowsPerIndividual] = []
        for name in identifier:
            if name in table.column_names and table[name].null_count < table.num_rows:
                counts = pc.value_counts(_normalized_keys(table[name])).field("counts").to_numpy()
                rows, most = int(counts.sum()), int(counts.max(initial=0))
                found.append(cls(column=name, table=called, rows=rows, individuals=len(counts), most=most))
        return cls.worst(found)

    @classmethod
    def worst(cls, found: Sequence[RowsPerIndividual]) -> RowsPerIndividual | None:
        """Return the one of which individuals have the most rows on average; None if no individual has two."""
        worst = max(found, key=lambda each: each.rows / max(1, each.individuals), default=None)
        return None if worst is None or worst.rows == worst.individuals else worst

    @property
    def sentence(self) -> LocalizedText:
        """How many rows an individual has, and that these are counted, in words."""
        return LocalizedText(
            "promises.rows_counted" if self.most is None else "promises.rows_counted_most",
            table=LocalizedText(f"promises.tables.{self.table}"),
            column=self.column,
            rows=self.rows,
            individuals=self.individuals,
            **({} if self.most is None else {"most": self.most}),
            mean=self.rows / self.individuals,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was counted as plain values."""
        return asdict(self)


def _to_text(column: pa.ChunkedArray) -> pa.Array:
    """Write identifiers in Unicode's form NFC without spaces around them; those of blanks alone are empty."""
    return pc.utf8_trim_whitespace(pc.utf8_normalize(format_values(column), form="NFC"))


def _normalized_keys(column: pa.ChunkedArray) -> pa.Array:
    """Return the identifiers of a column that are not missing."""
    written = _to_text(column).drop_null()
    return written.filter(pc.not_equal(written, ""))


def individual_keys(table: pa.Table, identifier: Sequence[str], version: str = "the table") -> pa.Array:
    """Return a text for every row that tells persons apart: all identifiers, each with its length before it.

    Numbers are written as everywhere in the house, so 7, "7" and 7.0 are one person, and texts in Unicode's form NFC
    without spaces around them, so that a space does not make a person a newcomer.
    A row without an identifier and a person with two rows are refused.

    >>> individual_keys(pa.table({"id": [7.0, 8.0]}), ["id"]).to_pylist()
    ['1:7', '1:8']
    """
    if not identifier:
        raise SchemaError("A series needs to know who is who in every version; name the columns in Schema.identifier.")
    for name in identifier:
        if name not in table.column_names:
            raise SchemaError(f"In {version} the identifier {name!r} is missing; every version needs the same columns.")
    parts = []
    for name in identifier:
        written = _to_text(table[name])
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


def number_individuals(versions: Sequence[pa.Array]) -> tuple[list[Ints], int]:
    """Give the persons of several versions numbers; return the number of every row, and how many persons there are."""
    everybody = pa.chunked_array(list(versions), pa.string()).dictionary_encode().unify_dictionaries()
    codes = everybody.combine_chunks()
    indices = codes.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    ends = np.cumsum([len(each) for each in versions])
    return np.split(indices, ends[:-1]), len(codes.dictionary)
