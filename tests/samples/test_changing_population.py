"""The population that changes: shares come out as asked, and what is permanent stays."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.datasets.hospital_series import (
    ILLNESSES,
    generate_hospital_series,
    hospital_series_schema,
    power_law_shares,
)
from sfumato.errors import InvalidParameterError

KIND = {name: kind for kind, names in ILLNESSES.items() for name in names}


@pytest.fixture(scope="module")
def frames():
    return [table.to_pandas().set_index("patient") for table in generate_hospital_series(4000, 4, seed=2)]


def test_the_same_seed_gives_the_same_tables_and_another_one_others():
    first, again, other = (list(generate_hospital_series(50, 3, seed=seed)) for seed in (4, 4, 5))
    assert all(one.equals(two) for one, two in zip(first, again, strict=True))
    assert not first[0].equals(other[0])


def test_versions_are_made_when_asked_for():
    assert next(generate_hospital_series(20, 10**9)).num_rows == 20


def test_persons_leave_come_and_come_back_in_the_shares_that_were_asked(frames):
    assert [len(frame) for frame in frames] == [4000] * 4
    assert all(frame.index.is_unique for frame in frames)
    assert len(frames[0].index.difference(frames[1].index)) == 400
    back = frames[3].index.intersection(frames[0].index.union(frames[1].index)).difference(frames[2].index)
    assert len(back) == 80


def test_what_is_permanent_stays_and_an_illness_stays_within_its_kind(frames):
    first, last = frames[0], frames[-1]
    both = first.index.intersection(last.index)
    for name in ("condition", "sex", "nationality", "first_visit", "height_cm"):
        assert first.loc[both, name].equals(last.loc[both, name])
    before, after = first.loc[both, "illness"], last.loc[both, "illness"]
    assert (before.map(KIND) == after.map(KIND)).all()
    assert 0.3 < (before == after).mean() < 0.5


def test_persons_grow_older_and_some_move(frames):
    both = frames[0].index.intersection(frames[1].index)
    older = frames[1].loc[both, "age"] - frames[0].loc[both, "age"]
    assert set(older) == {0, 1}
    assert older.mean() == pytest.approx(0.25, abs=0.05)
    assert (frames[0].loc[both, "zip"] != frames[1].loc[both, "zip"]).mean() == pytest.approx(0.02, abs=0.003)


def test_the_largest_share_is_as_asked_and_all_values_occur(frames):
    shares = frames[0]["condition"].value_counts(normalize=True)
    assert len(shares) == 50
    assert shares.iloc[0] == pytest.approx(0.08, abs=0.02)
    many = next(generate_hospital_series(3000, 1, values=60, largest=0.05))["condition"]
    assert "condition 60" in many.to_pylist()


@pytest.mark.parametrize(("values", "largest"), [(1, 1), (2, 0.5), (3, 0.9), (50, 0.08), (50, 0.02)])
def test_shares_begin_with_the_largest_fall_and_sum_to_one(values, largest):
    shares = power_law_shares(values, largest)
    assert shares[0] == pytest.approx(largest)
    assert shares.sum() == pytest.approx(1)
    assert (np.diff(shares) <= 1e-12).all()


@pytest.mark.parametrize(
    "wrong",
    [{"persons": 0}, {"versions": 0}, {"seed": -1}, {"leave": 1.5}, {"move": -0.1}, {"values": 2, "largest": 0.4}],
)
def test_impossible_shares_are_refused_at_once(wrong):
    with pytest.raises(InvalidParameterError, match="generate_hospital_series"):
        generate_hospital_series(**{"persons": 10, "versions": 2} | wrong)


def test_the_schema_names_all_columns(frames):
    assert set(hospital_series_schema().attributes) == {"patient", *frames[0].columns}
    assert hospital_series_schema().transient == ("illness",)
