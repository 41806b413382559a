"""The accountant: exact, shared, and never forgetful."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato._neighbors import EDGE
from sfumato.dp.accountant import (
    UNIT,
    Accountant,
    AnotherBudgetError,
    epsilon_budget_units,
    epsilon_cost_units,
    format_epsilon,
)
from sfumato.errors import InfeasibleError, InvalidParameterError, ReadError, WriteError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.sqlite"


def test_ten_tenths_are_exactly_one(path):
    accountant = Accountant(path, total=1)
    for _ in range(10):
        accountant.spend("ann", 0.1, "count")
    assert accountant.balance().total.left == "0"
    with pytest.raises(InfeasibleError, match=r"budget of the table has 0 left, but the question costs 1e-12|0\.0+1"):
        accountant.spend("ann", "1e-12", "count")


def test_nobody_spends_more_than_their_share_or_the_total(path):
    accountant = Accountant(path, total=1, per_analyst="0.6")
    accountant.spend("ann", 0.6, "count")
    with pytest.raises(InfeasibleError, match=r"budget of analyst 'ann' has 0 left, but the question costs 0\.1;"):
        accountant.spend("ann", 0.1, "count")
    with pytest.raises(InfeasibleError, match=r"budget of the table has 0\.4 left, but the question costs 0\.5;"):
        accountant.spend("bob", 0.5, "count")
    accountant.spend("bob", 0.4, "count")
    balance = accountant.balance()
    assert balance.total.spent == "1"
    assert {name: each.left for name, each in balance.analysts.items()} == {"ann": "0", "bob": "0.2"}
    assert balance.answers == 2


def test_deltas_are_paid_like_epsilons(path):
    accountant = Accountant(path, total=3, total_delta="3e-6")
    for _ in range(3):
        accountant.spend("ann", 0.5, "log", delta=1e-6)
    accountant.spend("bob", 0.5, "count")
    with pytest.raises(InfeasibleError, match=r"has a delta of 0 left, but the question costs a delta of 0\.0{17}1;"):
        accountant.spend("bob", 0.5, "log", delta="1e-30")
    balance = Accountant(path).balance()
    assert balance.delta.spent == balance.delta.budget == "0.000003"
    assert balance.total.left == "1"
    assert (
        repr(accountant) == "Accountant(epsilon 1 of 3 left, delta 0 of 0.000003 left for data that are not known yet)"
    )


def test_what_is_refused_for_its_delta_costs_no_epsilon(path):
    accountant = Accountant(path, total=1, total_delta=1e-9)
    with pytest.raises(InfeasibleError, match="delta"):
        accountant.spend("ann", 1, "log", delta=1e-8)
    assert accountant.balance().total.left == "1"


@pytest.mark.parametrize("delta", [-1, 1, 2, float("nan"), True, "much", None])
def test_a_delta_out_of_range_is_refused(path, delta):
    accountant = Accountant(path, total=1, total_delta=0.5)
    with pytest.raises(InvalidParameterError, match=r"Accountant\.delta must be a number of at least 0 and below 1"):
        accountant.spend("ann", 0.1, "log", delta=delta)
    with pytest.raises(InvalidParameterError, match=r"Accountant\.total_delta must be"):
        Accountant(path.with_suffix(".other"), total=1, total_delta="1")
    with pytest.raises(InvalidParameterError, match="together with total"):
        Accountant(path, total_delta=0.5)


def test_what_is_spent_survives_the_program(path):
    Accountant(path, total=2).spend("ann", 0.5, "count")
    assert Accountant(path).balance().total.left == "1.5"
    assert Accountant(path, total=2).balance().total.left == "1.5"
    Accountant(path).bind_table("digest", EDGE)
    assert repr(Accountant(path)) == "Accountant(epsilon 1.5 of 2 left for adding or removing one edge)"
    assert Accountant(path).balance().neighbors == "adding or removing one edge"
    with pytest.raises(InfeasibleError, match=r"or stop asking\. The epsilon is for adding or removing one edge\."):
        Accountant(path).spend("ann", 2, "count")


def test_a_budget_cannot_be_changed_by_opening_it_again(path):
    Accountant(path, total=2)
    with pytest.raises(InvalidParameterError, match="exists with another budget"):
        Accountant(path, total=3)
    with pytest.raises(InvalidParameterError, match="exists with another budget"):
        Accountant(path, total=2, per_analyst=1)


def test_a_budget_belongs_to_one_table_and_one_unit(path):
    accountant = Accountant(path, total=2)
    accountant.bind_table("one", "row")
    accountant.bind_table("one", "row")
    with pytest.raises(InvalidParameterError, match="keeps the budget of another table"):
        accountant.bind_table("two", "row")
    with pytest.raises(InvalidParameterError, match="keeps a budget for row, not for person"):
        accountant.bind_table("one", "person")


@pytest.mark.parametrize("epsilon", [0, -1, "-0.1", float("nan"), float("inf"), True, "much", None, 10**7, [1]])
def test_a_cost_that_is_no_epsilon_is_refused(path, epsilon):
    accountant = Accountant(path, total=1)
    with pytest.raises(InvalidParameterError, match=r"Accountant\.epsilon must be a number above 0"):
        accountant.spend("ann", epsilon, "count")
    assert accountant.balance().answers == 0


@pytest.mark.parametrize("analyst", ["", "  ", 5, "a" * 300])
def test_an_analyst_has_a_name(path, analyst):
    with pytest.raises(InvalidParameterError, match=r"Accountant\.analyst must be a name"):
        Accountant(path, total=1).spend(analyst, 0.1, "count")


def test_budgets_out_of_range_are_refused(path):
    for total, share, sentence in ((0, None, "total"), (1, 2, "per_analyst"), (1, -1, "per_analyst")):
        with pytest.raises(InvalidParameterError, match=rf"Accountant\.{sentence} must be"):
            Accountant(path, total=total, per_analyst=share)
    with pytest.raises(InvalidParameterError, match="together with total"):
        Accountant(path, per_analyst=1)
    assert not path.exists()


def test_a_file_that_is_not_there_is_no_fresh_budget(path, tmp_path):
    with pytest.raises(ReadError, match="There is no accountant file"):
        Accountant(path)
    with pytest.raises(WriteError, match="There is no folder"):
        Accountant(tmp_path / "nowhere" / "budget.sqlite", total=1)


DAMAGES = {
    "first entry": "DELETE FROM entries WHERE entry = 1",
    "entry": "DELETE FROM entries WHERE entry = 2",
    "last entry": "DELETE FROM entries WHERE entry = 3",
    "cost": """UPDATE entries SET said = replace(said, '"units": 1', '"units": 0') WHERE entry = 2""",
    "head": "UPDATE entries SET head = (SELECT head FROM entries WHERE entry = 2) WHERE entry = 3",
    "all entries": "DELETE FROM entries",
    "format": "DELETE FROM facts WHERE name = 'format'",
    "name": "UPDATE facts SET value = '../../else' WHERE name = 'name'",
    "table": "DROP TABLE entries",
}


@pytest.mark.parametrize("damage", [*DAMAGES, "cut", "text", "empty"])
def test_a_damaged_file_is_refused_in_a_sentence(path, damage):
    accountant = Accountant(path, total=1)
    accountant.spend("ann", 0.1, "count")
    accountant.spend("ann", 0.1, "count")
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:6000])
    elif damage in {"text", "empty"}:
        path.write_text("" if damage == "empty" else "no database, but text " * 99)
    else:
        with sqlite3.connect(path) as store:
            store.execute(DAMAGES[damage])
        store.close()
    file = re.escape(str(path))
    sentence = (
        rf"^{file} is not a valid accountant file, so nothing is answered; restore it from a"
        rf"|^The accountant {file} is not what was recorded: entry \d was changed, or one before it is missing; restore"
        rf"|^The accountant {file} is older than the record of it in .* says: it has [02] entries, and entry 3"
    )
    for again in ({}, {"total": 1}):
        with pytest.raises(ReadError, match=sentence):
            Accountant(path, **again)
    for ask in (lambda: accountant.spend("ann", 0.1, "count"), accountant.balance, lambda: Accountant.repair(path)):
        with pytest.raises(ReadError, match=sentence):
            ask()


def test_a_copy_from_before_an_answer_is_refused_wherever_it_lies(path, tmp_path):
    accountant = Accountant(path, total=1)
    accountant.spend("ann", "0.3", "count")
    copy = tmp_path / "elsewhere" / "kept.sqlite"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    assert Accountant(copy).balance().total.left == "0.7"
    accountant.spend("ann", "0.3", "count")
    older = "is older than the record of it in .* says: it has 2 entries, and entry 3 was written; restore"
    with pytest.raises(ReadError, match=older):
        Accountant(copy)
    shutil.copy(copy, path)
    for ask in (
        lambda: accountant.spend("ann", "0.1", "count"),
        lambda: Accountant(path),
        lambda: Accountant.repair(path),
    ):
        with pytest.raises(ReadError, match=older):
            ask()


def test_of_two_copies_only_one_goes_on_and_it_may_be_moved(path, tmp_path):
    one = Accountant(path, total=1)
    copy = tmp_path / "copy.sqlite"
    shutil.copy(path, copy)
    other = Accountant(copy)
    one.spend("ann", "0.3", "count")
    with pytest.raises(ReadError, match="is older than the record of it"):
        other.spend("ann", "0.5", "count")
    (tmp_path / "new").mkdir()
    moved = path.rename(tmp_path / "new" / "budget.db")
    assert Accountant(moved).spend("ann", "0.3", "count") == 2
    assert Accountant(moved).balance().total.left == "0.4"


def test_an_accountant_that_was_made_elsewhere_goes_on_on_purpose_only(path, tmp_path, monkeypatch):
    accountant = Accountant(path, total=1)
    accountant.spend("ann", "0.3", "count")
    assert Accountant.repair(path) == "There is nothing to repair."
    older = path.read_bytes()
    accountant.spend("ann", "0.3", "count")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    for ask in (lambda: Accountant(path), lambda: accountant.spend("ann", "0.1", "count"), accountant.balance):
        with pytest.raises(
            ReadError, match=r"Nothing is remembered of .*: it was made elsewhere or by .* query repair\."
        ):
            ask()
    assert Accountant.repair(path) == f"The accountant {path} is remembered from now on."
    assert Accountant(path).balance().total.left == "0.4"
    path.write_bytes(older)
    with pytest.raises(ReadError, match="is older than the record"):
        Accountant(path)
    with pytest.raises(ReadError, match="There is no accountant file"):
        Accountant.repair(tmp_path / "nowhere")


def test_what_a_killed_program_wrote_and_did_not_remember_stays_spent(path, monkeypatch):
    accountant = Accountant(path, total=1)
    with monkeypatch.context() as patched:
        patched.setattr("sfumato.dp.accountant.save_head", lambda *_: sys.exit(1))
        with pytest.raises(SystemExit):
            accountant.spend("ann", "0.75", "count")
    with pytest.raises(InfeasibleError, match=r"has 0\.25 left"):
        Accountant(path).spend("ann", "0.75", "count")


def test_a_second_budget_of_the_same_data_is_asked_for_on_purpose(path, tmp_path):
    first = Accountant(path, total=1)
    first.bind_table("digest", "row")
    second = Accountant(tmp_path / "second.sqlite", total=1)
    for unit in ("row", "person"):
        with pytest.raises(
            AnotherBudgetError, match=rf"have a budget already: {re.escape(str(path))}\. Ask with that one; or"
        ):
            second.bind_table("digest", unit)
    second.bind_table("another digest", "row")
    third = Accountant(tmp_path / "third.sqlite", total=1)
    with pytest.raises(AnotherBudgetError, match="by another_budget=True, and what both spend adds up"):
        third.bind_table("digest", "row")
    Accountant(tmp_path / "third.sqlite", another_budget=True)
    third.bind_table("digest", "row")
    first.bind_table("digest", "row")
    path.unlink()
    with pytest.raises(AnotherBudgetError):
        Accountant(path, total=1).bind_table("digest", "row")


def test_neither_the_file_nor_the_state_folder_holds_a_plain_digest(path, monkeypatch):
    digest = "5f" * 32
    Accountant(path, total=1).bind_table(digest, "row")
    plain = {digest.encode(), bytes.fromhex(digest), hashlib.sha256(digest.encode()).hexdigest().encode()}
    kept = [path, *(each for each in Path(os.environ["XDG_STATE_HOME"]).rglob("*"))]
    for each in kept:
        assert not any(one in os.fsencode(each) for one in plain)
        if each.is_file():
            assert not any(one in each.read_bytes() for one in plain)
            assert each.stat().st_mode & 0o077 == 0
    notes = {each.parent.name for each in kept if each.parent.parent.name == "budgets"}
    monkeypatch.setenv("XDG_STATE_HOME", os.environ["XDG_STATE_HOME"] + "-2")
    Accountant(path.with_name("2"), total=1).bind_table(digest, "row")
    other = {each.name for each in Path(os.environ["XDG_STATE_HOME"]).glob("sfumato/budgets/*")}
    assert len(notes) == len(other) == 1
    assert notes != other


@given(st.lists(st.decimals("0.001", "0.3", places=3), min_size=1, max_size=12))
def test_costs_add_up_exactly(costs):
    units = sum(epsilon_cost_units(float(cost), "PrivateTable") for cost in costs)
    assert Decimal(format_epsilon(units)) == sum(costs)


def test_costs_are_rounded_up_and_budgets_down():
    third = Fraction(1, 3)
    assert epsilon_cost_units(third, "PrivateTable") == epsilon_budget_units(third, "Accountant", "total") + 1
    assert epsilon_cost_units(0.1 + 0.2, "PrivateTable") == 3 * UNIT // 10 + 1


SPENDER = """
import sys
from sfumato.errors import InfeasibleError
from sfumato.dp.accountant import Accountant

accountant = Accountant(sys.argv[1], total=1)
spent = 0
for _ in range(20):
    try:
        accountant.spend(sys.argv[2], "0.04", "count")
        spent += 1
    except InfeasibleError:
        pass
print(spent)
"""


@pytest.mark.slow
def test_askers_in_other_processes_share_one_budget(path):
    askers = [
        subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-c", SPENDER, str(path), name], stdout=subprocess.PIPE, text=True
        )
        for name in ("ann", "bob", "eve")
    ]
    spent = [int(each.communicate()[0]) for each in askers]
    assert sum(spent) == 25
    assert Accountant(path).balance().total.left == "0"


KILLED = """
import os, signal, sys
import pyarrow as pa
from sfumato.dp import mechanisms
from sfumato.dp.accountant import Accountant
from sfumato.dp.private_table import PrivateTable

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

mechanisms.add_discrete_laplace = die
table = PrivateTable(pa.table({"age": [1, 2, 3]}), accountant=Accountant(sys.argv[1], total=1), analyst="ann")
table.count(epsilon="0.75")
"""


@pytest.mark.slow
def test_what_was_spent_stays_spent_when_the_program_dies_before_it_answers(path):
    died = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", KILLED, str(path)], check=False, capture_output=True, text=True
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    accountant = Accountant(path)
    assert accountant.balance().total.left == "0.25"
    with pytest.raises(InfeasibleError, match=r"has 0\.25 left"):
        accountant.spend("ann", 0.75, "count")


def test_a_spending_that_is_not_finished_leaves_nothing(path):
    accountant = Accountant(path, total=1)
    store = sqlite3.connect(path, isolation_level=None)
    store.execute("BEGIN IMMEDIATE")
    store.execute("INSERT INTO entries VALUES (2, '{}', '')")
    store.close()
    assert Accountant(path).balance().answers == 0
    assert accountant.spend("ann", 0.1, "count") == 1
