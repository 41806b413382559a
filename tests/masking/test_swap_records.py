"""Record swapping against its definition: who moves, to whom, and what every place keeps."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from masked_persons import SECRET, secret
from sfumato.tables.masking._swapping import pair_units_across_places
from sfumato.tables.masking.swap_records import SwapRecords


def slow_pairs(seekers, keys, profile, place, need):
    """Pair units as the definition says."""
    partner, need = [-1] * len(keys), list(need)
    for unit in seekers:
        if partner[unit] >= 0 or need[place[unit]] <= 0:
            continue
        fit = [
            (need[place[other]] <= 0, keys[other], other)
            for other in range(len(keys))
            if partner[other] < 0 and profile[other] == profile[unit] and place[other] != place[unit]
        ]
        if fit:
            other = min(fit)[2]
            partner[unit], partner[other] = other, unit
            need[place[unit]] -= 1
            need[place[other]] -= 1
    return partner


@examples(80)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_partners_are_those_of_the_definition(units, profiles, places, seed):
    generator = np.random.default_rng(seed)
    profile, place = generator.integers(0, profiles, units), generator.integers(0, places, units)
    keys, need = generator.random(units), generator.integers(-1, 5, places)
    seekers = generator.permutation(units)[: generator.integers(0, units + 1)]
    partner = np.full(units, -1)
    pair_units_across_places(seekers, keys=keys, profile=profile, place=place, need=need.copy(), partner=partner)
    assert partner.tolist() == slow_pairs(seekers, keys, profile, place, need)


def households(count, seed=1, places=20):
    """Make persons in households of one to five, at places of two levels."""
    generator = np.random.default_rng(seed)
    town, size = generator.integers(0, places, count), generator.integers(1, 6, count)
    of_row = np.repeat(np.arange(count), size)
    return pa.table(
        {
            "household": of_row,
            "region": town[of_row] // 4,
            "town": town[of_row],
            "size": size[of_row],
            "age": generator.integers(0, 90, len(of_row)) // 10,
            "job": generator.choice(["clerk", "farmer", "nurse", "diver"], len(of_row), p=[0.5, 0.3, 0.195, 0.005]),
        }
    )


STEP = SwapRecords(place=["region", "town"], risk=["age", "job"], k=2, similar=["size"], rate=0.05, unit="household")


def per_unit(table):
    """Return one row for every household."""
    first = np.unique(np.asarray(table["household"]), return_index=True)[1]
    return {name: np.asarray(table[name])[first] for name in table.column_names}


@pytest.fixture(scope="module")
def swapped():
    before = households(2000)
    return before, sf.masking.mask(before, [STEP], secret=SECRET)


def test_every_place_keeps_its_units_by_size(swapped):
    before, masked = swapped
    for names in (["region"], ["town"], ["region", "size"], ["town", "size"], ["region", "town"]):
        counts = [
            Counter(zip(*(per_unit(table)[name] for name in names), strict=True)) for table in (before, masked.table)
        ]
        assert counts[0] == counts[1]
    assert Counter(before["town"].to_pylist()) == Counter(masked.table["town"].to_pylist())


def test_units_move_as_a_whole_and_nothing_else_changes(swapped):
    before, masked = swapped
    after = masked.table
    assert len({*zip(after["household"].to_pylist(), after["town"].to_pylist(), strict=True)}) == 2000
    assert (np.asarray(after["region"]) == np.asarray(after["town"]) // 4).all()
    assert after.select(["household", "size", "age", "job"]).equals(before.select(["household", "size", "age", "job"]))


def test_every_place_moves_at_least_the_rate(swapped):
    before, masked = swapped
    was, now = per_unit(before)["town"], per_unit(masked.table)["town"]
    shares = [(now[was == town] != town).mean() for town in np.unique(was)]
    assert min(shares) >= 0.05
    quiet = SwapRecords(place=["region", "town"], risk=["job"], k=2, similar=["size"], rate=0.05, unit="household")
    now = per_unit(sf.masking.mask(before, [quiet], secret=SECRET).table)["town"]
    for town in np.unique(was):
        units = (was == town).sum()
        assert 0.05 <= (now[was == town] != town).mean() < 0.05 + 3 / units


def test_who_stands_out_in_a_region_leaves_it_or_nobody_similar_was_left(swapped):
    before, masked = swapped
    columns = [before[name].to_pylist() for name in ("household", "region", "age", "job")]
    counts = Counter(zip(*columns[1:], strict=True))
    risky = {house for house, *combination in zip(*columns, strict=True) if counts[tuple(combination)] < 2}
    was, now = per_unit(before), per_unit(masked.table)
    assert risky
    for house in risky:
        if was["region"][house] == now["region"][house]:
            assert not any(
                was["size"][other] == was["size"][house] and was["region"][other] != was["region"][house]
                for other in np.flatnonzero(was["town"] == now["town"])
            )
    assert masked.records[0].metrics["stuck-units"] == 0


def test_measures_are_those_of_the_definition(swapped):
    before, masked = swapped
    after, measures = masked.table, masked.records[0].metrics
    was, now = per_unit(before)["town"], per_unit(after)["town"]
    assert measures["moved-units"] == pytest.approx((was != now).mean())
    shown = list(zip(*(after[name].to_pylist() for name in ("town", "age", "job")), strict=True))
    alone = np.array([Counter(shown)[each] == 1 for each in shown])
    true = np.asarray(before["town"]) == np.asarray(after["town"])
    assert measures["stand-out-true"] == pytest.approx(true[alone].mean())
    assert measures["stand-out-true"] < 1


def test_who_stands_out_more_is_drawn_more_often():
    """Two partners are similar to the unit that moves; their values occur twice and five times at their place."""
    kinds = ["rare", "two", "two", "five", "five", "five", "five", "five"]
    table = pa.table({"town": ["a"] + ["b"] * 7, "kind": kinds, "row": list(range(8)), "size": list("xxyxyyyy")})
    step = SwapRecords(place=["town"], risk=["kind"], k=2, similar=["size"], rate=0)
    moved = Counter()
    for number in range(1000):
        shown = sf.masking.mask(table, [step], secret=secret(number)).table["town"].to_pylist()
        moved[shown.index("a")] += 1
    assert set(moved) == {1, 3}
    assert moved[1] / 1000 == pytest.approx(5 / 7, abs=0.05)


def test_later_profiles_are_for_those_who_found_nobody():
    table = pa.table(
        {"town": ["a", "b", "b"], "kind": ["rare", "two", "two"], "sex": ["f", "m", "f"], "age": [1, 1, 2]}
    )
    strict = SwapRecords(place=["town"], risk=["kind"], k=2, similar=["sex", "age"], rate=0)
    masked = sf.masking.mask(table, [strict], secret=SECRET)
    assert masked.table.equals(table)
    assert "1 units stand out and found no similar one" in masked.records[0].warnings[1]
    loose = SwapRecords(place=["town"], risk=["kind"], k=2, similar=[["sex", "age"], ["sex"]], rate=0)
    assert sf.masking.mask(table, [loose], secret=SECRET).table["town"].to_pylist() == ["b", "b", "a"]


def test_whose_place_is_missing_stays():
    table = pa.table({"town": ["a", "a", None, None, "b", "b"], "kind": list("xyzuvw"), "sex": ["f"] * 6})
    step = SwapRecords(place=["town"], risk=["kind"], k=2, similar=["sex"], rate=0.5)
    for number in range(20):
        shown = sf.masking.mask(table, [step], secret=secret(number)).table["town"].to_pylist()
        assert shown == ["b", "b", None, None, "a", "a"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"place": []}, "a list of different names"),
        ({"place": "town"}, "a list of different names"),
        ({"risk": ["town"]}, "columns other than place"),
        ({"similar": ["town"]}, "columns other than place"),
        ({"similar": []}, "list"),
        ({"similar": [["sex"], []]}, "a list of different names"),
        ({"k": 1}, "at least 2"),
        ({"rate": 0.6}, "a share from 0 to 0.5"),
        ({"unit": 3}, "the name of a column"),
    ],
)
def test_bad_parameters_are_refused(given, sentence):
    with pytest.raises(sf.errors.InvalidParameterError, match=sentence):
        SwapRecords(**{"place": ["town"], "risk": ["kind"], "k": 2, "similar": ["sex"], **given})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"place": ["town", "region"]}, "lies in several"),
        ({"similar": ["age"]}, "'age' varies inside units"),
        ({"risk": ["agee"]}, "did you mean 'age'"),
        ({"unit": "flat"}, "reads 'flat'"),
    ],
)
def test_unfit_columns_are_refused(given, sentence):
    made = {"place": ["region", "town"], "risk": ["age"], "k": 2, "similar": ["size"], "unit": "household", **given}
    with pytest.raises(sf.errors.SchemaError, match=sentence):
        sf.masking.mask(households(50), [SwapRecords(**made)])
