"""Hypothesis strategies that all tests share: group counts, hierarchies, tables and schemas."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa
from hypothesis import strategies as st

from sfumato.hierarchies.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

JOBS = Taxonomy({"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}})
GRADES = OrderedGroups({"low": ["none", "school"], "high": ["degree", "doctor"]})
DISEASES = Taxonomy({"lung": ["flu", "cold"], "gut": ["ulcer", "gastritis", "colitis"]})


def counts(values: int, most: int = 6) -> st.SearchStrategy[list[int]]:
    """Draw counts of some values in one group that is not empty."""
    return st.lists(st.integers(0, most), min_size=values, max_size=values).filter(any)


@st.composite
def group_counts(draw: st.DrawFn, *, most_values: int = 6, most_groups: int = 5, most: int = 6) -> list[list[int]]:
    """Draw counts of the same values in several groups, none of them empty."""
    values = draw(st.integers(1, most_values))
    return draw(st.lists(counts(values, most), min_size=1, max_size=most_groups))


@st.composite
def hierarchies(draw: st.DrawFn, leaves: Sequence[object], *, most_levels: int = 3) -> Hierarchy:
    """Draw a hierarchy over leaves in their order: on every level, neighbors of the level below unite."""
    nodes = list(range(len(leaves)))
    columns = [[f"leaf {node}" for node in nodes]]
    for level in range(draw(st.integers(0, most_levels))):
        starts = draw(st.lists(st.booleans(), min_size=len(leaves), max_size=len(leaves)))
        starts = [start and (i == 0 or nodes[i - 1] != nodes[i]) for i, start in enumerate(starts)]
        nodes = [sum(starts[1 : i + 1]) for i in range(len(leaves))]
        columns.append([f"node {level} {node}" for node in nodes])
        if nodes[-1] == 0:
            break
    return Hierarchy.from_levels(leaves, columns, ordered=True)


CELLS: dict[str, tuple[pa.DataType, st.SearchStrategy[object]]] = {
    "age": (pa.int64(), st.integers(18, 30)),
    "income": (pa.float64(), st.integers(0, 12).map(lambda step: step * 250.5 + 0.25)),
    "born": (pa.date32(), st.integers(1, 28).map(lambda day: date(1984, 2, day))),
    "zip": (pa.string(), st.sampled_from(["53715", "53703", "53706", "90210", "90211"])),
    "job": (pa.string(), st.sampled_from(JOBS.hierarchy.leaves)),
    "grade": (pa.string(), st.sampled_from(GRADES.hierarchy.leaves)),
    "sex": (pa.string(), st.sampled_from(["F", "M"])),
    "member": (pa.bool_(), st.booleans()),
    "disease": (pa.string(), st.sampled_from(DISEASES.hierarchy.leaves)),
}
BUILDERS: dict[str, list[HierarchyBuilder | None]] = {
    "age": [None, Intervals(5, 10)],
    "income": [None, Intervals(501, 2004)],
    "born": [None, Intervals("month", "year")],
    "zip": [None, Prefixes(), Prefixes(3)],
    "job": [None, JOBS],
    "grade": [GRADES],
    "sex": [None],
    "member": [None],
    "disease": [None, DISEASES],
}


@st.composite
def tables(
    draw: st.DrawFn,
    columns: Sequence[str] = tuple(CELLS),
    *,
    least_rows: int = 1,
    most_rows: int = 30,
    missing: bool = False,
) -> pa.Table:
    """Draw a canonical table of some of the columns in `CELLS`, with missing cells if asked."""
    rows = draw(st.integers(least_rows, most_rows))
    cells = {}
    for name in columns:
        kind, values = CELLS[name]
        value = st.none() | values if missing else values
        cells[name] = pa.array(draw(st.lists(value, min_size=rows, max_size=rows)), kind)
    return pa.table(cells)


@st.composite
def schemas(draw: st.DrawFn, *, most_quasi: int = 4, sensitive: str | None = "disease") -> Schema:
    """Draw a schema of columns in `CELLS`: quasi-identifiers, with hierarchies or not, and one sensitive."""
    free = [name for name in CELLS if name != sensitive]
    quasi = draw(st.lists(st.sampled_from(free), min_size=1, max_size=most_quasi, unique=True))
    named = [*quasi, *([sensitive] if sensitive else [])]
    chosen = {name: draw(st.sampled_from(BUILDERS[name])) for name in named}
    return Schema(
        quasi_identifiers=quasi,
        sensitive=[sensitive] if sensitive else [],
        hierarchies={name: builder for name, builder in chosen.items() if builder is not None},
        missing=draw(st.sampled_from(MissingPolicy)),
    )


@st.composite
def described_tables(
    draw: st.DrawFn,
    *,
    least_rows: int = 1,
    most_rows: int = 30,
    schema: st.SearchStrategy[Schema] | None = None,
) -> tuple[pa.Table, Schema]:
    """Draw a schema and a table that fits it; cells are missing in some tables."""
    described = draw(schema or schemas())
    columns = described.attributes
    table = draw(tables(columns, least_rows=least_rows, most_rows=most_rows, missing=draw(st.booleans())))
    return table, described
