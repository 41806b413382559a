"""Rank swapping against its definition and golden figures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from masked_persons import NUMBERS, SECRET, persons, secret
from sfumato._randomness import KeyedRandom
from sfumato.tables.masking._swapping import draw_partners
from sfumato.tables.masking.comparison import compare_masked
from sfumato.tables.masking.swap_ranks import SwapRanks


def slow_partners(rows: int, reach: int, words: list[int]) -> list[int]:
    """Pair ranks as the definition says."""
    partner = list(range(rows))
    for rank in range(rows):
        free = [other for other in range(rank + 1, min(rows, rank + 1 + reach)) if partner[other] == other]
        if partner[rank] == rank and free:
            other = free[words[rank] % len(free)]
            partner[rank], partner[other] = other, rank
    return partner


@examples(50)
@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 10**6))
def test_partners_are_those_of_the_definition(rows, reach, number):
    words = KeyedRandom(secret(number)).random_uint64(rows).tolist()
    assert draw_partners(rows, reach, KeyedRandom(secret(number))).tolist() == slow_partners(rows, reach, words)


@examples(50)
@given(st.lists(st.one_of(st.none(), st.integers(0, 30)), min_size=2, max_size=60), st.floats(0.01, 0.99))
def test_values_stay_and_move_no_farther_than_the_reach(values, reach):
    if all(value is None for value in values):
        return
    shown = sf.masking.mask(pa.table({"x": values}), [SwapRanks(columns=["x"], reach=reach)], secret=SECRET).table["x"]
    known = sorted(value for value in values if value is not None)
    assert sorted(value for value in shown.to_pylist() if value is not None) == known
    for was, now in zip(values, shown.to_pylist(), strict=True):
        assert (was is None) == (now is None)
        if was is not None:
            first, last = (known.index(min(was, now)), len(known) - 1 - known[::-1].index(max(was, now)))
            inner = known.index(max(was, now)) - (len(known) - 1 - known[::-1].index(min(was, now)))
            assert inner <= int(reach * len(known))
            assert last >= first


@pytest.mark.parametrize(
    ("reach", "figures"),
    [
        (0.05, {"change": 0.0908, "eigen": 0.057, "candidates": 2.9, "hit": 0.49, "link": 0.545, "risk": 0.020}),
        (0.15, {"change": 0.227, "eigen": 0.224, "candidates": 31, "hit": 0.041, "link": 0.051}),
    ],
)
def test_the_golden_table_is_changed_as_sdcmicro_changes_it(reach, figures):
    before = persons().select(NUMBERS)
    runs = [sf.masking.mask(before, [SwapRanks(columns=NUMBERS, reach=reach)], secret=secret(run)) for run in range(20)]
    found = [compare_masked(before, run.table) for run in runs]
    assert np.mean([each.per_cell for each in found]) == pytest.approx(figures["change"], rel=0.03)
    assert np.mean([each.eigen_change for each in found]) == pytest.approx(figures["eigen"], rel=0.25)
    assert np.mean([each.link_rate for each in found]) == pytest.approx(figures["link"], rel=0.1)
    if "risk" in figures:
        assert np.mean([each.interval_risk[0.05] for each in found]) == pytest.approx(figures["risk"], rel=0.25)
    assert runs[0].records[0].metrics["candidates"] == pytest.approx(figures["candidates"], rel=0.05)
    assert runs[0].records[0].metrics["intersection-hit"] == pytest.approx(figures["hit"], rel=0.05)


@pytest.mark.parametrize(("reach", "shift"), [(0.05, 0.0276), (0.15, 0.0794)])
def test_incomes_of_the_golden_table_move_as_far_as_they_should(reach, shift):
    before = persons().select(["income"])
    step = SwapRanks(columns=["income"], reach=reach)
    runs = [sf.masking.mask(before, [step], secret=secret(run)).records[0].metrics["rank-shift"] for run in range(20)]
    assert np.mean(runs) == pytest.approx(shift, rel=0.03)


def test_the_intersection_always_holds_the_own_row():
    before = persons().select(NUMBERS)
    step = SwapRanks(columns=NUMBERS, reach=0.02)
    after = sf.masking.mask(before, [step], secret=SECRET).table
    for name in NUMBERS:
        rows = np.arange(before.num_rows)
        low, high, places = step._windows(before[name], after[name], rows)
        assert ((places >= low) & (places <= high)).all()


def test_ties_are_drawn_so_that_other_columns_do_not_move_along():
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    table = pa.table({"a": x, "b": np.rint(x + rng.normal(size=3000)).astype(int)})
    shown = sf.masking.mask(table, [SwapRanks(columns=["b"], reach=0.05)], secret=SECRET).table
    before, after = (np.corrcoef(each["a"], each["b"])[0, 1] for each in (table, shown))
    assert after == pytest.approx(before, rel=0.06)


def test_dates_are_swapped_and_text_is_not():
    days = pa.table({"day": pa.array(range(40), pa.int32()).cast(pa.date32())})
    shown = sf.masking.mask(days, [SwapRanks(columns=["day"], reach=0.2)], secret=SECRET).table
    assert shown["day"].type == pa.date32()
    assert not shown.equals(days)
    with pytest.raises(sf.errors.SchemaError, match="use Pram"):
        sf.masking.mask(pa.table({"job": ["a", "b"]}), [SwapRanks(columns=["job"], reach=0.2)])


@pytest.mark.parametrize("reach", [0, -0.1, "5%", True])
def test_what_is_no_share_is_refused(reach):
    with pytest.raises(sf.errors.InvalidParameterError, match="share"):
        SwapRanks(columns=["x"], reach=reach)


def test_percentages_are_refused_with_the_share_that_is_meant():
    with pytest.raises(sf.errors.InvalidParameterError, match=r"5 % is 0\.05"):
        SwapRanks(columns=["x"], reach=5)


def test_a_reach_that_moves_nothing_is_told():
    found = sf.masking.mask(pa.table({"x": [1, 2, 3]}), [SwapRanks(columns=["x"], reach=0.1)])
    assert found.records[0].warnings == ("SwapRanks changed no cell of 'x'.",)
