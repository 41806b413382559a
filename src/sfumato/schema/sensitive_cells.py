"""Flags of sensitive cells, from a table of flags or from rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sfumato._validation import suggest_closest
from sfumato.errors import SchemaError
from sfumato.schema.roles import Role

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.io._dataframes import Frame, SameBackend
    from sfumato.schema.schema import Schema

FLAG_SUFFIX = "__sensitive"
COMPARISONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
CONDITION_LENGTH = 2
Rule: TypeAlias = "list[Any] | tuple[Literal['<', '<=', '>', '>='], object]"


def mark_sensitive_cells(
    data: Frame, schema: Schema, *, mask: Frame | None = None, rules: Mapping[str, Rule] | None = None
) -> tuple[SameBackend, Schema]:
    """Mark single cells as sensitive; return the table with the flags and the schema that names them.

    For every attribute with a flagged cell the table gets a column `NAME__sensitive`, which is never published. A cell
    is flagged if the mask or a rule says so. A missing cell may be any value, so a rule for its attribute flags it.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not touched.
    schema : the roles; flagged attributes must be quasi or sensitive.
    mask : a table of booleans with the same rows, whose columns are named like the attributes to flag.
    rules : for an attribute, the list of its sensitive values, or a comparison of numbers or dates with one of
        `<`, `<=`, `>` and `>=`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.schema.schema import Schema
    >>> people = pa.table({"age": [30, 71], "job": ["judge", "clerk"]})
    >>> schema = Schema(quasi_identifiers=["age", "job"])
    >>> table, schema = mark_sensitive_cells(people, schema, rules={"age": (">=", 65), "job": ["judge"]})
    >>> table["age__sensitive"].to_pylist(), table["job__sensitive"].to_pylist()
    ([False, True], [True, False])
    >>> schema.flags
    {'age': 'age__sensitive', 'job': 'job__sensitive'}
    """
    import pyarrow.compute as pc

    from sfumato.io._dataframes import to_arrow

    table, kind = to_arrow(data)
    schema.check_columns(table.column_names)
    flags = {} if mask is None else _read_mask(to_arrow(mask)[0], table.num_rows)
    if not isinstance(rules or {}, Mapping):
        raise SchemaError("The rules must be a mapping with column names as keys.")
    for name in (*flags, *(rules or {})):
        _check_attribute(name, schema, table.column_names)
    for name, rule in (rules or {}).items():
        ruled = _apply_rule(name, table[name], rule)
        flags[name] = pc.or_(flags[name], ruled) if name in flags else ruled
    found = {name: column for name, column in flags.items() if pc.any(column).as_py()}
    if not found:
        raise SchemaError("No cell is flagged; give a mask with a true cell, or rules that some cell satisfies.")
    for name, column in found.items():
        table = table.append_column(name + FLAG_SUFFIX, column)
    return kind.restore_aligned(table), replace(
        schema, flags={**schema.flags, **{name: name + FLAG_SUFFIX for name in found}}
    )


def _read_mask(mask: pa.Table, rows: int) -> dict[str, pa.ChunkedArray]:
    """Read a table of flags."""
    import pyarrow as pa

    if mask.num_rows != rows:
        raise SchemaError(f"The mask has {mask.num_rows:,} rows but the table has {rows:,}; flag every cell.")
    for name in mask.column_names:
        if not pa.types.is_boolean(mask[name].type) or mask[name].null_count:
            raise SchemaError(f"Column {name!r} of the mask must be true or false in every row.")
    return {name: mask[name] for name in mask.column_names}


def _check_attribute(name: str, schema: Schema, columns: list[str]) -> None:
    """Refuse flags for attributes that cannot have them or already do."""
    known = (*schema.quasi_identifiers, *schema.sensitive)
    if name not in known:
        hint = suggest_closest(str(name), known) or f"; give it the role {Role.QUASI} or {Role.SENSITIVE}."
        raise SchemaError(f"Cells of {name!r} cannot be flagged, because its role is not quasi or sensitive{hint}")
    if name in schema.flags or name + FLAG_SUFFIX in columns:
        raise SchemaError(
            f"Attribute {name!r} already has flags, or the table has a column {name + FLAG_SUFFIX!r}; drop them first."
        )


def _apply_rule(name: str, column: pa.ChunkedArray, rule: object) -> pa.ChunkedArray:
    """Flag the cells that satisfy a rule, and missing ones."""
    import pyarrow.compute as pc

    if isinstance(rule, list) and rule:
        flags = _mark_values(name, column, rule)
    elif isinstance(rule, tuple) and len(rule) == CONDITION_LENGTH and rule[0] in COMPARISONS:
        flags = _mark_by_comparison(name, column, *rule)
    else:
        raise SchemaError(
            f"The rule for {name!r} must be a list of values or a comparison such as ('>=', 65) with one of "
            f"{', '.join(COMPARISONS)}."
        )
    return pc.fill_null(flags, fill_value=True)


def _mark_values(name: str, column: pa.ChunkedArray, values: list[object]) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    from sfumato.io._values import format_value, format_values

    if any(value is None for value in values):
        raise SchemaError(
            f"The rule for {name!r} lists a missing value; drop it, because missing cells are flagged anyway."
        )
    try:
        wanted = pa.array([format_value(value) for value in values], pa.string())
    except TypeError:
        raise SchemaError(f"The rule for {name!r} lists something that cannot be a value; drop it.") from None
    shown = format_values(column)
    unknown = len(values) - int(pc.sum(pc.is_in(wanted, value_set=shown.unique())).as_py())
    if unknown:
        raise SchemaError(f"The rule for {name!r} lists {unknown} values that are not in the column; correct them.")
    flags = pc.if_else(pc.is_null(shown), None, pc.is_in(shown, value_set=wanted))
    return pa.chunked_array([flags]) if isinstance(flags, pa.Array) else flags


def _mark_by_comparison(name: str, column: pa.ChunkedArray, sign: str, bound: object) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    ordered = (pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp)
    comparable = any(kind(column.type) for kind in ordered) and not isinstance(bound, bool | str | None)
    try:
        if comparable:
            return pc.call_function(COMPARISONS[sign], [column, pa.scalar(bound)])
    except (pa.ArrowException, TypeError, ValueError):
        pass
    raise SchemaError(
        f"The rule for {name!r} cannot be compared; give a number for a column of numbers, or a date for dates."
    )
