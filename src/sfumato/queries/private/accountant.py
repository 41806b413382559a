"""The accountant: who spent how much of the budget, in a file that survives restarts and crashes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from sfumato.exceptions import InfeasibleError, InvalidParameterError, ReadError, SfumatoError
from sfumato.queries.private.budget import (
    shown,
    shown_delta,
    units_of_budget,
    units_of_cost,
    units_of_delta_budget,
    units_of_delta_cost,
)
from sfumato.table.held_file import complete, create, damaged, facts, held
from sfumato.validation import require

PURE_FORMAT = "sfumato accountant 1"  # files without deltas, which answer pure questions only
FORMAT = "sfumato accountant 2"
WHAT = "accountant"
LONGEST_NAME = 200
PURE_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE ledger (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    analyst TEXT NOT NULL,
    units INTEGER NOT NULL CHECK (units > 0),
    question TEXT NOT NULL
);
CREATE TABLE spent (analyst TEXT PRIMARY KEY, units INTEGER NOT NULL CHECK (units > 0)) WITHOUT ROWID;
"""
REFUSED_SCHEMA = """
CREATE TABLE IF NOT EXISTS refused (
    analyst TEXT NOT NULL, question TEXT NOT NULL, reason TEXT NOT NULL, times INTEGER NOT NULL,
    PRIMARY KEY (analyst, question, reason)
) WITHOUT ROWID
"""
P = ParamSpec("P")
T = TypeVar("T")
DELTAS = """
ALTER TABLE ledger ADD COLUMN delta INTEGER NOT NULL DEFAULT 0 CHECK (delta >= 0);
ALTER TABLE spent ADD COLUMN delta INTEGER NOT NULL DEFAULT 0 CHECK (delta >= 0);
"""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """How much of a budget is spent, as exact decimal numbers."""

    spent: str
    budget: str
    left: str


@dataclass(frozen=True, kw_only=True)
class RefusedQuestion:
    """A question that was refused: who asked what, the kind of error, and how many times."""

    analyst: str
    question: str
    reason: str
    times: int


@dataclass(frozen=True, kw_only=True)
class Balance:
    """The whole budget of epsilon and of delta, and the epsilon of everyone who asked."""

    total: Spending
    delta: Spending
    analysts: Mapping[str, Spending]
    answers: int


class Accountant:
    """Keep a privacy budget in an SQLite file that belongs to one table.

    A cost is written to disk before the answer is computed: whatever stops the program in between, the budget is
    spent, and nobody gets two answers for one cost. Users in other threads and processes wait for each other. Costs
    add up (sequential composition of differential privacy), epsilons in whole multiples of 1e-12 and deltas of 1e-18,
    so that no rounding lets anything slip through.

    Parameters
    ----------
    path : the file. It is created if `total` is given and there is no file; deleting it forgets what was spent, so keep
        it as safe as the table.
    total : the epsilon that all analysts together may spend on the table.
    per_analyst : the epsilon that each of them may spend; by default all of `total`.
    total_delta : the delta that all analysts together may spend; by default 0, so that only questions with pure
        differential privacy are answered. A file that was made before there were deltas has 0, too.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        total: float | str | None = None,
        per_analyst: float | str | None = None,
        total_delta: float | str | None = None,
    ) -> None:
        self.path = Path(path)
        for name, given in (("per_analyst", per_analyst), ("total_delta", total_delta)):
            require(total is not None or given is None, self, name, "given together with total", given)
        if total is None:
            if not self.path.is_file():
                raise ReadError(f"There is no accountant file {self.path}; give total to create it.")
            self._verify()
            return
        budget = units_of_budget(total, "Accountant", "total")
        share = budget if per_analyst is None else units_of_budget(per_analyst, "Accountant", "per_analyst")
        require(share <= budget, self, "per_analyst", f"at most the total, {shown(budget)}", per_analyst)
        delta = units_of_delta_budget(0 if total_delta is None else total_delta, "Accountant", "total_delta")
        said = {"total": str(budget), "per_analyst": str(share), "total_delta": str(delta)}
        create(self.path, WHAT, PURE_SCHEMA + DELTAS, {"format": FORMAT, **said})
        known = self._verify()
        if any(known[name] != value for name, value in said.items()):
            raise InvalidParameterError(
                f"The accountant {self.path} exists with another budget; omit total, per_analyst and total_delta to"
                " use it."
            )

    def __repr__(self) -> str:
        balance = self.balance()
        delta = "" if balance.delta.budget == "0" else f", delta {balance.delta.left} of {balance.delta.budget}"
        return f"Accountant({balance.total.left} of {balance.total.budget} left{delta})"

    def belong_to(self, fingerprint: str, unit: str) -> None:
        """Bind the budget to one table and one unit of privacy; refuse any other."""
        with held(self.path, WHAT) as store:
            for name, value in (("table", fingerprint), ("unit", unit)):
                store.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, value))
            known = facts(store)
        if known["table"] != fingerprint:
            raise InvalidParameterError(f"The accountant {self.path} keeps the budget of another table.")
        if known["unit"] != unit:
            raise InvalidParameterError(
                f"The accountant {self.path} keeps a budget per {known['unit']}, not per {unit}; ask with that unit."
            )

    def spend(self, analyst: str, epsilon: float | str, question: str, *, delta: float | str = 0) -> int:
        """Spend before answering, or refuse; return the entry in the ledger."""
        cost, chance = units_of_cost(epsilon, "Accountant"), units_of_delta_cost(delta, "Accountant")
        named = str(analyst) == analyst and 0 < len(analyst.strip()) <= LONGEST_NAME
        require(named, self, "analyst", f"a name of at most {LONGEST_NAME} characters", analyst)
        with held(self.path, WHAT) as store:
            if not complete(store, "ledger"):
                raise damaged(self.path, WHAT)
            known = facts(store)
            everyone, gone = store.execute(
                "SELECT coalesce(sum(units), 0), coalesce(sum(delta), 0) FROM spent"
            ).fetchone()
            own = store.execute("SELECT units FROM spent WHERE analyst = ?", (analyst,)).fetchone() or (0,)
            _refuse_overspending("the table", int(known["total"]) - everyone, cost)
            _refuse_overspending(f"analyst {analyst!r}", int(known["per_analyst"]) - own[0], cost)
            _refuse_chance(int(known["total_delta"]) - gone, chance)
            entry = store.execute(
                "INSERT INTO ledger (analyst, units, question, delta) VALUES (?, ?, ?, ?)",
                (analyst, cost, question, chance),
            ).lastrowid
            store.execute(
                "INSERT INTO spent (analyst, units, delta) VALUES (?, ?, ?) ON CONFLICT (analyst)"
                " DO UPDATE SET units = units + excluded.units, delta = delta + excluded.delta",
                (analyst, cost, chance),
            )
        assert entry is not None  # noqa: S101 - SQLite numbers every row that it inserts
        return entry

    def record_refusal(self, analyst: str, question: str, reason: str) -> None:
        """Remember that a question was refused; the same again is counted, so that nobody fills the disk."""
        asked = (analyst[:LONGEST_NAME], question[:LONGEST_NAME], reason)
        with held(self.path, WHAT) as store:
            store.execute(REFUSED_SCHEMA)
            store.execute(
                "INSERT INTO refused VALUES (?, ?, ?, 1) ON CONFLICT (analyst, question, reason)"
                " DO UPDATE SET times = times + 1",
                asked,
            )

    def refusals(self) -> tuple[RefusedQuestion, ...]:
        """Return the questions that were refused."""
        with held(self.path, WHAT) as store:
            store.execute(REFUSED_SCHEMA)
            rows = store.execute("SELECT analyst, question, reason, times FROM refused").fetchall()
        return tuple(
            RefusedQuestion(analyst=analyst, question=question, reason=reason, times=times)
            for analyst, question, reason, times in rows
        )

    def balance(self) -> Balance:
        """Return what is spent and left."""
        with held(self.path, WHAT) as store:
            known = facts(store)
            own = dict(store.execute("SELECT analyst, units FROM spent ORDER BY analyst"))
            answers, gone = store.execute("SELECT count(*), coalesce(sum(delta), 0) FROM ledger").fetchone()
        granted = int(known["total_delta"])
        share = int(known["per_analyst"])
        return Balance(
            total=_spending(sum(own.values()), int(known["total"])),
            delta=Spending(spent=shown_delta(gone), budget=shown_delta(granted), left=shown_delta(granted - gone)),
            analysts={analyst: _spending(units, share) for analyst, units in own.items()},
            answers=answers,
        )

    def _verify(self) -> dict[str, str]:
        """Refuse a file that is not an accountant's, or that contradicts itself; return its facts."""
        with held(self.path, WHAT) as store:
            sound = store.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if sound and facts(store).get("format") == PURE_FORMAT:
                _add_deltas(store)
            known = facts(store)
            sums = store.execute("SELECT analyst, sum(units), sum(delta) FROM ledger GROUP BY analyst").fetchall()
            spent = store.execute("SELECT analyst, units, delta FROM spent").fetchall()
            budgets = all(known.get(name, "").isdecimal() for name in ("total", "per_analyst", "total_delta"))
            whole = complete(store, "ledger") and sorted(sums) == sorted(spent)
            if not (sound and budgets and known.get("format") == FORMAT and whole):
                raise damaged(self.path, WHAT)
        return known


def recording_refusals(ask: Callable[P, T]) -> Callable[P, T]:
    """Let a question that its parameters `accountant` and `analyst` pay for be recorded if it is refused."""

    @wraps(ask)
    def asked(*args: P.args, **options: P.kwargs) -> T:
        try:
            return ask(*args, **options)
        except SfumatoError as error:
            accountant = options.get("accountant")
            if isinstance(accountant, Accountant):
                accountant.record_refusal(
                    str(options.get("analyst")), _told(ask.__name__, options), type(error).__name__
                )
            raise

    return asked


def _told(question: str, options: Mapping[str, object]) -> str:
    """Say what was asked: the name of the question and those of its options that are one number or word."""
    said = {
        name: value for name, value in options.items() if isinstance(value, (int, float, str)) and name != "analyst"
    }
    return f"{question}({', '.join(f'{name}={value!r}' for name, value in said.items())})"


def _add_deltas(store: sqlite3.Connection) -> None:
    """Add what a file lacks that was made before there were deltas: it spent none, and may spend none."""
    for statement in filter(str.strip, DELTAS.split(";")):
        store.execute(statement)
    store.execute("INSERT INTO facts VALUES ('total_delta', '0')")
    store.execute("UPDATE facts SET value = ? WHERE name = 'format'", (FORMAT,))


def _spending(spent: int, budget: int) -> Spending:
    return Spending(spent=shown(spent), budget=shown(budget), left=shown(budget - spent))


def _refuse_overspending(whose: str, left: int, cost: int) -> None:
    if cost > left:
        raise InfeasibleError(
            f"The budget of {whose} has {shown(left)} left, but the question costs {shown(cost)}; "
            "ask with a smaller epsilon or stop asking."
        )


def _refuse_chance(left: int, chance: int) -> None:
    if chance > left:
        raise InfeasibleError(
            f"The budget of the table has a delta of {shown_delta(left)} left, but the question costs a delta of "
            f"{shown_delta(chance)}; ask with a smaller delta or stop asking."
        )
