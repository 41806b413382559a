"""Every masking step keeps every law of the suite."""

from __future__ import annotations

import pytest

from sfumato.tables.masking.add_noise import AddNoise
from sfumato.tables.masking.pram import PRAM
from sfumato.tables.masking.rotate_numbers import RotateNumbers
from sfumato.tables.masking.round_numbers import RoundNumbers
from sfumato.tables.masking.suppress_cells import SuppressCells
from sfumato.tables.masking.swap_ranks import SwapRanks
from sfumato.tables.masking.swap_records import SwapRecords
from sfumato.tables.masking.top_bottom_coding import BottomCode, TopCode
from sfumato.testing.masking import MASKING_CHECKS

NUMBERS = ("age", "income", "weight")
STEPS = (
    SuppressCells(columns=("age", "job", "sex"), k=3),
    SuppressCells(columns=("age", "job", "sex"), k=3, importance=(3, 1, 2)),
    SuppressCells(columns=("age", "job", "sex"), k=3, protect="rows", weights={"age": 2.5}),
    PRAM(columns=("job", "sex"), keep=0.7),
    PRAM(columns=("job",), keep=0.7, invariant=True, alpha=0.5),
    PRAM(columns=("sex",), matrix=((0.9, 0.1), (0.2, 0.8)), labels=("f", "m")),
    SwapRanks(columns=NUMBERS, reach=0.1),
    SwapRecords(place=("job",), risk=("age",), k=3, similar=("sex",), rate=0.2),
    SwapRecords(place=("job",), risk=("weight", "sex"), k=2, similar=(("sex",), ("person",)), rate=0, unit="person"),
    RotateNumbers(columns=NUMBERS),
    TopCode(column="age", at=80),
    TopCode(column="age", quantile=0.9, publish="mean"),
    TopCode(column="income", at=3000, publish="interval", limit=10000),
    BottomCode(column="age", at=25, value=20),
    BottomCode(column="weight", at=55.5, publish="interval"),
    RoundNumbers(columns=NUMBERS, base=5),
    RoundNumbers(columns=("weight",), base=0.25, how="random"),
    *(AddNoise(columns=NUMBERS, share=0.2, kind=kind) for kind in ("kept", "additive", "correlated", "exact")),
    AddNoise(columns=NUMBERS, share=0.2, kind="multiplicative", low=0),
)


@pytest.mark.parametrize("step", STEPS, ids=repr)
@pytest.mark.parametrize("check", MASKING_CHECKS, ids=lambda check: check.__name__)
def test_step_keeps_the_law(step, check):
    check(step)
