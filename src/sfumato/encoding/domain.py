"""A domain: the values that one attribute can take, in an order that keeps siblings together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.encoding._lookalikes import group_lookalikes, without_value
from sfumato.errors import HierarchyError, SchemaError
from sfumato.io._values import dictionary_encode, format_values
from sfumato.schema.roles import Scale

if TYPE_CHECKING:
    from sfumato.hierarchies.hierarchy import Hierarchy
    from sfumato.schema.schema import Schema

MAX_NOMINAL_VALUES = 100_000
NEARLY_UNIQUE = 0.9  # different values per row: postcodes and jobs of small tables stay below, names and lines above
FEW_VALUES = 50
LARGEST_PLACE = 2.0**63 - 1024  # the largest float64 that is a 64-bit whole number


def nearly_unique(distinct: int, rows: int) -> bool:
    """Return whether sets of so many different values would be published one and all: they are names or free texts.

    Where there are only a few values, a set of them tells little about whose they are.
    """
    return distinct > max(FEW_VALUES, rows * NEARLY_UNIQUE)


@dataclass(frozen=True, eq=False, repr=False)
class Domain:
    """The leaves of one attribute; code i represents leaf i, code `len(domain)` a missing value.

    `values` are typed (numbers, dates) on the numeric scale and canonical texts on every other scale. For a sensitive
    attribute, `same` gives the leaf that represents each leaf: cells of leaves that look alike have one code, and those
    of texts such as "n/a" the code of a missing value.
    """

    name: str
    scale: Scale
    values: pa.Array
    hierarchy: Hierarchy | None = None
    same: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Domain({self.name!r}, {self.scale}, {len(self)} values)"

    @property
    def missing(self) -> int:
        """The code of a missing value."""
        return len(self)

    @property
    def merged(self) -> tuple[int, int]:
        """How many leaves look like others, and as how many they count."""
        if self.same is None:
            return 0, 0
        alike = np.bincount(self.same)
        return int(alike[alike > 1].sum()), int(np.count_nonzero(alike > 1))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The canonical text of every leaf."""
        return tuple(format_values(self.values).to_pylist())

    @cached_property
    def positions(self) -> npt.NDArray[np.float64]:
        """The positions of the leaves on their axis: numbers and dates by value, others by rank."""
        if self.scale is Scale.NUMERIC:
            return to_axis(self.values)
        return np.arange(len(self), dtype=np.float64)

    @cached_property
    def exact_positions(self) -> npt.NDArray[Any]:
        """Positions that are never rounded: Python's whole numbers where floats would share a place, beyond 2^53."""
        type_ = self.values.type
        if self.scale is not Scale.NUMERIC or not (pa.types.is_int64(type_) or pa.types.is_timestamp(type_)):
            return self.positions
        whole = self.values.cast(pa.int64()).to_numpy()
        rounded = np.clip(self.positions, -LARGEST_PLACE, LARGEST_PLACE).astype(np.int64) != whole
        return whole.astype(object) if rounded.any() else self.positions

    def encode(self, column: pa.ChunkedArray) -> npt.NDArray[np.unsignedinteger]:
        """Code every cell of a column; refuse values outside the domain."""
        encoded = dictionary_encode(column)
        if encoded.dictionary.type == self.values.type:
            found = pc.index_in(encoded.dictionary, value_set=self.values)
        else:
            found = pc.index_in(format_values(encoded.dictionary), value_set=format_values(self.values))
        if found.null_count:
            raise SchemaError(
                f"Column {self.name!r} has {found.null_count} distinct values outside its {self.scale} domain; "
                "extend its hierarchy or order."
            )
        places = found.to_numpy(zero_copy_only=False)
        places = places if self.same is None else self.same[places]
        look_up = np.append(places, self.missing).astype(_code_type(len(self)))
        indices = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        return np.asarray(look_up[indices])


def infer_domain(name: str, column: pa.ChunkedArray, schema: Schema) -> Domain:
    """Find the domain of one column from its values and what the schema says about it."""
    domain = _described(name, column, schema)
    return replace(domain, same=_same(domain.values)) if name in schema.sensitive else domain


def _same(values: pa.Array) -> npt.NDArray[np.int64] | None:
    """Return the code that cells of each leaf of a sensitive attribute have; None if all leaves differ."""
    same, nothing = group_lookalikes(values), without_value(values)
    if not nothing.any():
        return same
    return np.where(nothing, len(values), np.arange(len(values)) if same is None else same)


def _described(name: str, column: pa.ChunkedArray, schema: Schema) -> Domain:
    distinct = dictionary_encode(column).dictionary
    scale = get_scale(name, distinct.type, schema)
    if name in schema.orders:
        _check_scale_fits(name, scale, schema)
    if name in schema.hierarchies:
        return _order_by_hierarchy(name, distinct, scale, schema)
    if name in schema.orders:
        order = pa.array(schema.orders[name], pa.string())
        _check_covered(name, distinct, order, "its order")
        return Domain(name, scale, order)
    if scale is Scale.NUMERIC:
        _check_not_text(name, distinct)
        return Domain(name, scale, _sort_values(distinct))
    if scale is Scale.CATEGORICAL:
        raise SchemaError(f"Column {name!r} is categorical but has no hierarchy; give it one or make it nominal.")
    if scale is Scale.ORDINAL and len(distinct) and not _has_own_order(distinct.type):
        raise SchemaError(f"Column {name!r} is ordinal; give its order in Schema.orders.")
    return Domain(name, scale, format_values(_sort_values(distinct)))


def get_scale(name: str, type_: pa.DataType, schema: Schema) -> Scale:
    """Return the scale of a column: as stated, or by its order, its hierarchy or its type."""
    return get_declared_scale(name, schema) or (Scale.NUMERIC if _has_own_order(type_) else Scale.NOMINAL)


def get_declared_scale(name: str, schema: Schema) -> Scale | None:
    """Return the scale that a schema states, or that follows from the order or the hierarchy that it gives."""
    if name in schema.scales:
        return Scale(schema.scales[name])
    if name in schema.orders:
        return Scale.ORDINAL
    if name in schema.hierarchies:
        return Scale(schema.hierarchies[name].scale)
    return None


def to_axis(values: pa.Array) -> npt.NDArray[np.float64]:
    """Place numbers and dates on one axis of real numbers (dates in days, timestamps in microseconds)."""
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))


def _order_by_hierarchy(name: str, distinct: pa.Array, scale: Scale, schema: Schema) -> Domain:
    try:
        hierarchy = schema.hierarchies[name].build(distinct)
    except HierarchyError as error:
        raise HierarchyError(f"Column {name!r}: {error}") from None
    if scale is Scale.NUMERIC:
        _check_not_text(name, distinct)
        values = _sort_values(distinct)
        same_order = list(hierarchy.leaves) in (values.to_pylist(), format_values(values).to_pylist())
        return Domain(name, scale, values, hierarchy if same_order else None)
    leaves = pa.array(hierarchy.labels[0], pa.string())
    _check_covered(name, distinct, leaves, "its hierarchy")
    return Domain(name, scale, leaves, hierarchy)


def _sort_values(distinct: pa.Array) -> pa.Array:
    return distinct.take(pc.array_sort_indices(distinct))


def _has_own_order(type_: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp)
    return any(kind(type_) for kind in kinds)


def _code_type(leaves: int) -> type[np.unsignedinteger]:
    if leaves < np.iinfo(np.uint8).max:
        return np.uint8
    return np.uint16 if leaves < np.iinfo(np.uint16).max else np.uint32


def _check_scale_fits(name: str, scale: Scale, schema: Schema) -> None:
    if scale is not Scale.ORDINAL:
        raise SchemaError(f"Column {name!r} has an order but its scale is {scale}; make it ordinal or drop the order.")
    if name in schema.hierarchies:
        raise SchemaError(
            f"Column {name!r} has an order and a hierarchy; keep one (sf.hierarchies.OrderedGroups combines both)."
        )


def _check_not_text(name: str, distinct: pa.Array) -> None:
    if len(distinct) and not _has_own_order(distinct.type):
        raise SchemaError(
            f"Column {name!r} should be numeric but has text in at least one row; clean it or choose another scale."
        )


def _check_covered(name: str, distinct: pa.Array, leaves: pa.Array, by: str) -> None:
    missed = pc.sum(pc.invert(pc.is_in(format_values(distinct), value_set=leaves))).as_py() or 0
    if missed:
        raise HierarchyError(f"Column {name!r} has {missed} distinct values that are not in {by}; add them to it.")
