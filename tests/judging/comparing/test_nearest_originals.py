"""Nearest originals against all pairs, and copies."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.metrics.closest_record import distance_to_closest_record

RNG = np.random.default_rng(1)
ORIGINAL = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60) * 1000, "job": ["clerk", "diver"] * 30})
SYNTHETIC = pd.DataFrame({"a": RNG.normal(size=40), "b": RNG.normal(size=40) * 1000, "job": ["clerk"] * 40})


def test_distances_are_the_least_of_all_pairs():
    deviations = ORIGINAL[["a", "b"]].std(ddof=0)
    before, after = ((table[["a", "b"]] / deviations).to_numpy() for table in (ORIGINAL, SYNTHETIC))
    apart = np.linalg.norm(after[:, None] - before[None], axis=2).min(axis=1)
    among = np.linalg.norm(before[:, None] - before[None], axis=2)
    np.fill_diagonal(among, np.inf)
    found = distance_to_closest_record(ORIGINAL, SYNTHETIC)
    assert found.columns == ("a", "b")
    for share in (0.01, 0.05, 0.25, 0.5):
        assert found.distances[share] == pytest.approx(np.quantile(apart, share))
        assert found.baseline[share] == pytest.approx(np.quantile(among.min(axis=1), share))
    assert found.copies == 0


def test_a_copied_table_is_seen():
    found = distance_to_closest_record(ORIGINAL, ORIGINAL)
    assert found.copies == 1
    assert set(found.distances.values()) == {0.0}
    assert found.baseline[0.5] > 0


def test_a_record_is_a_copy_if_all_its_columns_are():
    half = ORIGINAL.assign(job="clerk")
    found = distance_to_closest_record(ORIGINAL, half)
    assert found.copies == 0.5
    assert found.distances[0.5] == 0


def test_copies_are_seen_across_types():
    original = pa.table({"age": [20, 30], "zip": [4711, 4712]})
    written = pa.table({"age": [20.0, 30.5], "zip": ["4711", "4712"]})
    assert distance_to_closest_record(original, written, columns=["age"]).copies == 0.5


def test_duplicates_are_each_others_neighbor():
    twice = pd.concat([ORIGINAL, ORIGINAL])
    assert distance_to_closest_record(twice, SYNTHETIC).baseline[0.5] == 0


def test_large_tables_are_looked_up_in_part():
    some = distance_to_closest_record(ORIGINAL, SYNTHETIC, most_records=10, seed=3)
    assert some == distance_to_closest_record(ORIGINAL, SYNTHETIC, most_records=10, seed=3)
    assert some.distances != distance_to_closest_record(ORIGINAL, SYNTHETIC).distances


def test_dates_have_distances():
    days = pa.table({"day": [date(2020, 1, 1), date(2020, 1, 3), date(2020, 1, 9)]})
    moved = pa.table({"day": [date(2020, 1, 2), date(2020, 1, 2)]})
    scale = np.std([0, 2, 8])
    assert distance_to_closest_record(days, moved).distances[0.5] == pytest.approx(1 / scale)


def test_distances_are_shown_without_cells():
    shown = repr(distance_to_closest_record(ORIGINAL, SYNTHETIC))
    assert shown.startswith("Nearest originals by 2 columns; 0 of the records are copies\n  share of records")
    assert distance_to_closest_record(ORIGINAL, SYNTHETIC).to_dict()["distances"].keys() == {
        "0.01",
        "0.05",
        "0.25",
        "0.5",
    }


def test_a_bad_number_of_records_is_refused():
    with pytest.raises(sf.errors.InvalidParameterError, match="most_records"):
        distance_to_closest_record(ORIGINAL, SYNTHETIC, most_records=0)
