"""Carrying out steps one after the other."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from masked_persons import SECRET
from sfumato.tables.masking.add_noise import AddNoise
from sfumato.tables.masking.round_numbers import RoundNumbers
from sfumato.tables.masking.suppress_cells import SuppressCells
from sfumato.tables.masking.top_bottom_coding import BottomCode, TopCode

PEOPLE = pd.DataFrame({"age": [23, 35, 91, 64, 35, 52], "income": [900.5, 1200.0, 1500.25, 3100.0, 2200.75, 1800.0]})


def test_steps_see_what_the_steps_before_them_left():
    found = sf.masking.mask(PEOPLE, [TopCode(column="age", at=60), RoundNumbers(columns=["age"], base=10)])
    assert found.frame["age"].tolist() == [20, 40, 60, 60, 40, 50]
    assert [record.step.name for record in found.records] == ["top-code", "round-numbers"]
    assert isinstance(found.frame, pd.DataFrame)
    assert "top-code of age" in repr(found)


def test_every_step_draws_for_itself():
    noise = AddNoise(columns=["income"], share=0.1)
    one, two = (sf.masking.mask(PEOPLE, [noise] * many, secret=SECRET).table["income"].to_pylist() for many in (1, 2))
    step_one = [shown - was for shown, was in zip(one, PEOPLE["income"], strict=True)]
    step_two = [shown - was for shown, was in zip(two, one, strict=True)]
    assert all(abs(first - second) > 1e-6 for first, second in zip(step_one, step_two, strict=True))


def test_without_a_secret_every_run_draws_anew():
    noise = AddNoise(columns=["income"], share=0.1)
    assert not sf.masking.mask(PEOPLE, [noise]).table.equals(sf.masking.mask(PEOPLE, [noise]).table)


@pytest.mark.parametrize("steps", [[], "noise", ["noise"], [AddNoise]])
def test_what_is_no_list_of_steps_is_refused(steps):
    with pytest.raises(sf.errors.InvalidParameterError, match="masking step"):
        sf.masking.mask(PEOPLE, steps)


def test_bounds_that_leave_nothing_between_them_are_refused():
    with pytest.raises(sf.errors.InvalidParameterError, match="nothing between"):
        sf.masking.mask(PEOPLE, [BottomCode(column="age", at=60), TopCode(column="age", at=50)])
    sf.masking.mask(
        PEOPLE, [BottomCode(column="age", at=30), TopCode(column="age", at=50), TopCode(column="income", at=20)]
    )


def test_no_cell_is_shown_by_what_is_printed():
    table = pa.table({"job": ["spy", "spy", "cook", "nurse"], "age": [33, 34, 35, 36]})
    found = sf.masking.mask(table, [SuppressCells(columns=["job"], k=2)])
    assert "spy" not in repr(found)
    assert "spy" not in repr(found.records)
