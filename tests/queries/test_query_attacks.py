"""Attacks succeed on careless answers, and fail on protected ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sfumato.dp.accountant import Accountant
from sfumato.dp.private_table import PrivateTable
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.queries.attacks import (
    UnprotectedTable,
    attack_accuracy,
    averaging_attack,
    difference_attack,
    random_subsets,
    reconstruction_attack,
    tracker_attack,
)
from sfumato.queries.auditor import QueryAuditor

PERSONS = 60
BUDGET = 1


@pytest.fixture
def frame():
    generator = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "number": np.arange(PERSONS),
            "job": ["nurse", "clerk", "smith"] * (PERSONS // 3),
            "pay": generator.integers(1000, 9000, PERSONS),
            "ill": generator.integers(0, 2, PERSONS),
        }
    )


@pytest.fixture
def private(frame, tmp_path):
    accountant = Accountant(tmp_path / "budget.sqlite", total=BUDGET)
    bounds = {"number": (0, PERSONS), "pay": (0, 10_000), "ill": (0, 1)}
    categories = {"job": ["nurse", "clerk", "smith"]}
    return PrivateTable(frame, accountant=accountant, analyst="eve", bounds=bounds, categories=categories)


@pytest.fixture
def auditor(frame, tmp_path):
    return QueryAuditor(frame, "pay", tmp_path / "history.sqlite", public=["number", "job"])


def test_a_difference_tells_a_value_unless_the_table_is_protected(frame, private, auditor):
    everyone, others, truth = {}, {"number": ("!=", 7)}, frame["pay"][7]
    careless = UnprotectedTable(frame)
    assert difference_attack(lambda where: careless.sum("pay", where), everyone, others) == truth

    assert not auditor.ask("sum", everyone).denied
    assert auditor.ask("sum", others).denied

    # The noise of both halves of the budget has scale 20,000: being within 500 has a chance of about 0.0125.
    answers = [private.sum("pay", where, epsilon=0.5) for where in (everyone, others)]
    assert all(answer.scale == pytest.approx(20_000) for answer in answers)
    with pytest.raises(InfeasibleError, match="has 0 left"):
        private.sum("pay", everyone, epsilon=0.5)


def test_a_tracker_tells_what_a_size_limit_hides_unless_the_table_is_protected(frame, auditor):
    careless = UnprotectedTable(frame, smallest=5)
    truth = frame["pay"][12]
    with pytest.raises(InfeasibleError, match="too small or too large"):
        careless.sum("pay", {"number": 12})

    def ask(where):
        return careless.sum("pay", where)

    assert tracker_attack(ask, {"job": frame["job"][12]}, "number", 12) == truth
    assert not auditor.ask("sum", {"job": frame["job"][12]}).denied
    assert auditor.ask("sum", {"job": frame["job"][12], "number": ("!=", 12)}).denied
    with pytest.raises(InvalidParameterError, match="must not name 'number'"):
        tracker_attack(ask, {"number": 12}, "number", 12)


def test_averaging_removes_noise_unless_a_budget_ends_it(frame, private):
    careless = UnprotectedTable(frame, noise=20.0, seed=3)
    truth = frame["ill"].sum()
    assert averaging_attack(lambda where: careless.count({**where, "ill": 1}), {}, 4000) == pytest.approx(truth, abs=2)

    asked = []

    def ask(where):
        asked.append(1)
        return private.count({**where, "ill": 1}, epsilon=0.05).value

    with pytest.raises(InfeasibleError, match="budget of the table has 0 left"):
        averaging_attack(ask, {}, 4000)
    assert len(asked) == BUDGET / 0.05 + 1


def test_many_counts_reconstruct_a_column_unless_a_budget_covers_them_all(frame, private):
    questions = 4 * PERSONS
    subsets = random_subsets(PERSONS, questions, seed=2)
    wheres = [{"number": np.flatnonzero(subset).tolist(), "ill": 1} for subset in subsets]
    careless = UnprotectedTable(frame, noise=1.0, seed=5)
    found = reconstruction_attack(subsets, [careless.count(where) for where in wheres])
    assert attack_accuracy(found, frame["ill"] == 1) >= 0.95

    epsilon = f"{BUDGET / questions:.6f}"[:-1]
    answers = [private.count(where, epsilon=epsilon).value for where in wheres]
    # Nobody's bit is better known than epsilon 1 allows, e / (1 + e) = 0.731 on average; 58 of 60 would then be right
    # with a chance of about 1e-6.
    assert attack_accuracy(reconstruction_attack(subsets, answers), frame["ill"] == 1) < 58 / 60


def test_sums_of_random_subsets_determine_everyone_unless_audited(frame, auditor):
    subsets = random_subsets(PERSONS, PERSONS + 10, seed=4)
    careless = UnprotectedTable(frame)
    wheres = [{"number": np.flatnonzero(subset).tolist()} for subset in subsets]
    found = np.linalg.lstsq(subsets.astype(float), np.array([careless.sum("pay", where) for where in wheres]))[0]
    assert np.allclose(found, frame["pay"])

    answered = [subset for subset, where in zip(subsets, wheres, strict=True) if not auditor.ask("sum", where).denied]
    left = np.linalg.svd(np.array(answered, dtype=float))
    free = left.Vh[len(answered) :]
    assert len(answered) < PERSONS
    assert np.abs(free).max(axis=0).min() > 1e-6


def test_a_yes_or_no_is_left_to_differential_privacy(frame, tmp_path):
    with pytest.raises(SchemaError, match="use PrivateTable"):
        QueryAuditor(frame, "ill", tmp_path / "ill.sqlite", public=["number"])
