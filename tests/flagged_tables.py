"""Small tables with flagged cells, and what is published about them, read without the library."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import csv

import sfumato as sf

GOLDEN = Path(__file__).parent / "golden"
JOBS = sf.hierarchies.Taxonomy(
    {"office": ["clerk", "lawyer"], "outdoors": {"land": ["farmer"], "sea": ["sailor", "diver"]}}
)
CELLS = {
    "age": st.integers(18, 26),
    "job": st.sampled_from(["clerk", "lawyer", "farmer", "sailor", "diver"]),
    "town": st.sampled_from(["A", "B", "C"]),
}
DISEASES = st.sampled_from(["flu", "cold", "ulcer", "gastritis"])


def golden(name: str) -> pa.Table:
    """Read a table that the source text prints."""
    return csv.read_csv(GOLDEN / f"{name}.csv")


def largest_l(values: list[object]) -> int:
    """Give the largest whole l for which no value accounts for more than 1/l."""
    return len(values) // max(Counter(values).values()) if values else 0


def flagged_values(table: pa.Table, name: str) -> list[object]:
    """List the flagged values of an attribute."""
    flags = table[f"{name}__sensitive"].to_pylist()
    return [cell for cell, flag in zip(table[name].to_pylist(), flags, strict=True) if flag]


@st.composite
def flagged_tables(
    draw: st.DrawFn, *, most_rows: int = 24
) -> tuple[pa.Table, sf.Schema, list[sf.models.FrequencyLDiversity]]:
    """Draw a table, its schema and models that it can keep; attributes that can keep none have no flags."""
    rows = draw(st.integers(2, most_rows))
    cells: dict[str, list[object]] = {
        name: draw(st.lists(cell, min_size=rows, max_size=rows))
        for name, cell in {**CELLS, "disease": DISEASES}.items()
    }
    columns = {name: pa.array(values) for name, values in cells.items()}
    models, flags = [], {}
    for name in (*CELLS, "disease"):
        kind = draw(st.sampled_from(["some", "some", "all", "none"]))
        mask = draw(st.lists(st.booleans(), min_size=rows, max_size=rows)) if kind == "some" else [kind == "all"] * rows
        most = largest_l([value for value, flag in zip(cells[name], mask, strict=True) if flag])
        if most >= 2:
            flags[name] = f"{name}__sensitive"
            columns[flags[name]] = pa.array(mask)
            models.append(sf.models.FrequencyLDiversity(l=draw(st.integers(2, most)), sensitive=name))
    sensitive = ["disease"] if "disease" in flags else []
    schema = sf.Schema(quasi_identifiers=list(CELLS), sensitive=sensitive, hierarchies={"job": JOBS}, flags=flags)
    return pa.table(columns), schema, models


def buckets_of(published: pa.Table, name: str) -> dict[int, list[int]]:
    """List the published rows of every bucket of an attribute."""
    found = defaultdict(list)
    for row, bucket in enumerate(published[f"_bucket_{name}"].to_pylist()):
        if bucket is not None:
            found[bucket].append(row)
    return dict(found)


def check_flagged_cells(release: sf.Release, original: pa.Table, models: list[sf.models.FrequencyLDiversity]) -> None:
    """Exactly the flagged cells stand in buckets, with the bucket's own values, and none is exposed above 1/l."""
    published = pa.table(release.frame) if not isinstance(release.frame, pa.Table) else release.frame
    whose = release.correspondence.tolist()
    for model in models:
        name = model.sensitive
        flags = original[f"{name}__sensitive"].to_pylist()
        inside = {row for rows in buckets_of(published, name).values() for row in rows}
        assert inside == {row for row, source in enumerate(whose) if flags[source]}
        shown, had = published[name].to_pylist(), original[name].to_pylist()
        for rows in buckets_of(published, name).values():
            values = Counter(str(shown[row]) for row in rows)
            assert values == Counter(str(had[whose[row]]) for row in rows)
            assert max(values.values()) * model.l <= len(rows)


def linked_rows(published: pa.Table, names: list[str]) -> list[tuple[object, ...]]:
    """Give the quasi-identifiers of every row, those in buckets as `*`."""
    columns = []
    for name in names:
        cells = [None if cell is None else str(cell) for cell in published[name].to_pylist()]
        if f"_bucket_{name}" in published.column_names:
            buckets = published[f"_bucket_{name}"].to_pylist()
            cells = [cell if bucket is None else "*" for cell, bucket in zip(cells, buckets, strict=True)]
        columns.append(cells)
    return list(zip(*columns, strict=True))
