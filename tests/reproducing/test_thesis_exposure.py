"""The exposure of flagged cells, against a count by hand and against a slow count over all pairs of records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from papers.thesis.chapter_4 import ReleasedCells

import sfumato as sf
from drawn_examples import examples
from sfumato.encoding.coded_table import encode_table

SCHEMA = sf.Schema(quasi_identifiers=["sex", "age", "job"], sensitive=["pay"])


def slow(cells: ReleasedCells, name: str, adversary: int) -> list[float]:
    """Look at every pair of records."""
    codes = {column.name: column.codes for column in (*cells.table.quasi, *cells.table.sensitive)}
    rows = range(cells.table.rows)

    def bucket(row: int, attribute: str) -> int:
        return int(cells.buckets[attribute][row]) if attribute in cells.buckets else -1

    def flagged(row: int, attribute: str) -> bool:
        return attribute in cells.flags and bool(cells.flags[attribute][row])

    def matches(target: int, row: int) -> bool:
        known = [each for each in ("sex", "age", "job") if not flagged(target, each) and each != name]
        shown = all(bucket(row, each) == -1 and codes[each][row] == codes[each][target] for each in known)
        alike = all(flagged(row, each) == flagged(target, each) for each in cells.flags)
        return shown and (name not in cells.buckets or bucket(row, name) != -1) and (alike or adversary == 1)

    def share(row: int, value: int) -> float:
        if bucket(row, name) == -1:
            return float(codes[name][row] == value)
        held = [codes[name][other] for other in rows if bucket(other, name) == bucket(row, name)]
        return held.count(value) / len(held)

    found = []
    for target in rows:
        if name in cells.flags and not flagged(target, name):
            continue
        shares = [share(row, codes[name][target]) for row in rows if matches(target, row)]
        found.append(sum(shares) / len(shares))
    return found


@examples(40)
@given(st.integers(0, 10_000), st.sampled_from([1, 2]), st.booleans())
def test_exposures_are_those_of_a_count_over_all_pairs(seed, adversary, hidden):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 25))
    table = pa.table({name: rng.integers(0, 3, rows) for name in ("sex", "age", "job", "pay")})
    flags = {name: rng.random(rows) < 0.4 for name in ("age", "job")}
    buckets = {"pay": rng.integers(0, 4, rows)}
    if hidden:
        buckets |= {name: np.where(mask, rng.integers(0, 3, rows), -1) for name, mask in flags.items()}
    cells = ReleasedCells(encode_table(table, SCHEMA), flags, buckets)
    for name in ("age", "job", "pay"):
        assert cells.disclosure_risks(name, adversary=adversary) == pytest.approx(slow(cells, name, adversary))


def test_a_release_is_read_in_the_order_of_the_original():
    rows = 40
    people = pa.table(
        {
            "sex": ["f", "m"] * 20,
            "age": list(range(rows)),
            "job": ["a", "b", "c", "d"] * 10,
            "pay": [10 * row for row in range(rows)],
        }
    )
    mask = pa.table({"age": [row % 4 == 0 for row in range(rows)]})
    table, schema = sf.mark_sensitive_cells(people, SCHEMA, mask=mask)
    models = [sf.models.FrequencyLDiversity(l=5, sensitive=name) for name in ("age", "pay")]
    release = sf.anonymize(table, schema, models, sf.algorithms.LocalAnatomy(), seed=1)
    cells = ReleasedCells.from_release(release, {"age": mask["age"].to_numpy()})
    flagged = cells.buckets["age"] != -1
    assert flagged.tolist() == mask["age"].to_pylist()
    for adversary in (1, 2):
        assert cells.disclosure_risks("age", adversary=adversary).max() <= 1 / 5 + 1e-12
        assert cells.disclosure_risks("pay", adversary=adversary).max() <= 1 / 5 + 1e-12
    assert ReleasedCells.from_release(release, {}).disclosure_risks("pay", adversary=1).shape == (rows,)
