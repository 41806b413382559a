"""Flags of sensitive cells, from a table of flags or from rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sfumato.exceptions import SchemaError
from sfumato.schema.roles import Role
from sfumato.validation import did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.schema.schema import Schema
    from sfumato.table.frames import Frame, SameKind

FLAG_SUFFIX = "__sensitive"
COMPARISONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
CONDITION_LENGTH = 2
Rule: TypeAlias = "list[Any] | tuple[Literal['<', '<=', '>', '>='], object]"


def flag(
    data: Frame, schema: Schema, *, mask: Frame | None = None, rules: Mapping[str, Rule] | None = None
) -> tuple[SameKind, Schema]:
    """Say which single cells are sensitive, and give the table and the schema that say so, too.

    For every attribute with a flagged cell the table gets a column `NAME__sensitive`, which is never published. A cell
    is flagged if the mask or a rule says so. A missing cell may be any value, so a rule for its attribute flags it.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not touched.
    schema : the roles; flagged attributes must be quasi or sensitive.
    mask : a table of true and false with the same rows, and columns named like the attributes that have flags.
    rules : for an attribute the list of its sensitive values, or a comparison of numbers or dates with one of
        `<`, `<=`, `>` and `>=`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.schema.schema import Schema
    >>> people = pa.table({"age": [30, 71], "job": ["judge", "clerk"]})
    >>> table, schema = flag(people, Schema(quasi=["age", "job"]), rules={"age": (">=", 65), "job": ["judge"]})
    >>> table["age__sensitive"].to_pylist(), table["job__sensitive"].to_pylist()
    ([False, True], [True, False])
    >>> schema.flags
    {'age': 'age__sensitive', 'job': 'job__sensitive'}
    """
    import pyarrow.compute as pc

    from sfumato.table.frames import to_arrow

    table, kind = to_arrow(data)
    schema.check_columns(table.column_names)
    flags = {} if mask is None else _masked(to_arrow(mask)[0], table.num_rows)
    if not isinstance(rules or {}, Mapping):
        raise SchemaError("The rules must be a mapping from column names.")
    for name in (*flags, *(rules or {})):
        _refuse_name(name, schema, table.column_names)
    for name, rule in (rules or {}).items():
        ruled = _ruled(name, table[name], rule)
        flags[name] = pc.or_(flags[name], ruled) if name in flags else ruled
    found = {name: column for name, column in flags.items() if pc.any(column).as_py()}
    if not found:
        raise SchemaError("No cell at all is flagged; give a mask with a true cell, or rules that cells satisfy.")
    for name, column in found.items():
        table = table.append_column(name + FLAG_SUFFIX, column)
    return kind.restore_aligned(table), replace(
        schema, flags={**schema.flags, **{name: name + FLAG_SUFFIX for name in found}}
    )


def _masked(mask: pa.Table, rows: int) -> dict[str, pa.ChunkedArray]:
    """Read a table of flags."""
    import pyarrow as pa

    if mask.num_rows != rows:
        raise SchemaError(f"The mask has {mask.num_rows:,} rows and the table {rows:,}; give one flag for every cell.")
    for name in mask.column_names:
        if not pa.types.is_boolean(mask[name].type) or mask[name].null_count:
            raise SchemaError(f"Column {name!r} of the mask must hold true or false in every row.")
    return {name: mask[name] for name in mask.column_names}


def _refuse_name(name: str, schema: Schema, columns: list[str]) -> None:
    """Refuse flags for what is no attribute that can have them, or has them already."""
    known = (*schema.quasi, *schema.sensitive)
    if name not in known:
        hint = did_you_mean(str(name), known) or f"; give it the role {Role.QUASI} or {Role.SENSITIVE}."
        raise SchemaError(f"Cells of {name!r} cannot be flagged, whose role is not quasi or sensitive{hint}")
    if name in schema.flags or name + FLAG_SUFFIX in columns:
        raise SchemaError(
            f"Attribute {name!r} has flags already, or the table a column {name + FLAG_SUFFIX!r}; drop these first."
        )


def _ruled(name: str, column: pa.ChunkedArray, rule: object) -> pa.ChunkedArray:
    """Flag the cells that satisfy a rule, and missing ones."""
    import pyarrow.compute as pc

    if isinstance(rule, list) and rule:
        flags = _listed(name, column, rule)
    elif isinstance(rule, tuple) and len(rule) == CONDITION_LENGTH and rule[0] in COMPARISONS:
        flags = _compared(name, column, *rule)
    else:
        raise SchemaError(
            f"The rule for {name!r} must be a list of values, or a comparison such as ('>=', 65) with one of "
            f"{', '.join(COMPARISONS)}."
        )
    return pc.fill_null(flags, fill_value=True)


def _listed(name: str, column: pa.ChunkedArray, values: list[object]) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    from sfumato.table.values import text, texts

    if any(value is None for value in values):
        raise SchemaError(
            f"The rule for {name!r} lists a missing value; leave it out, because missing cells are flagged."
        )
    try:
        wanted = pa.array([text(value) for value in values], pa.string())
    except TypeError:
        raise SchemaError(f"The rule for {name!r} lists something that no cell can hold; list values.") from None
    shown = texts(column)
    unknown = len(values) - int(pc.sum(pc.is_in(wanted, value_set=shown.unique())).as_py())
    if unknown:
        raise SchemaError(f"The rule for {name!r} lists {unknown} values that the column does not have; correct them.")
    flags = pc.if_else(pc.is_null(shown), None, pc.is_in(shown, value_set=wanted))
    return pa.chunked_array([flags]) if isinstance(flags, pa.Array) else flags


def _compared(name: str, column: pa.ChunkedArray, sign: str, bound: object) -> pa.ChunkedArray:
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
        f"The rule for {name!r} cannot compare this; give a number for a column of numbers, a date for dates."
    )
