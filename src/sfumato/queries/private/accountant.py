"""The accountant: who spent how much of the budget, in a file that survives restarts and crashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sfumato.exceptions import InfeasibleError, InvalidParameterError, ReadError
from sfumato.queries.private.budget import shown, units_of_budget, units_of_cost
from sfumato.table.held_file import complete, create, damaged, facts, held
from sfumato.validation import require

FORMAT = "sfumato accountant 1"
WHAT = "accountant"
LONGEST_NAME = 200
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE ledger (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    analyst TEXT NOT NULL,
    units INTEGER NOT NULL CHECK (units > 0),
    question TEXT NOT NULL
);
CREATE TABLE spent (analyst TEXT PRIMARY KEY, units INTEGER NOT NULL CHECK (units > 0)) WITHOUT ROWID;
"""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """How much of a budget is spent, as exact decimal numbers."""

    spent: str
    budget: str
    left: str


@dataclass(frozen=True, kw_only=True)
class Balance:
    """The whole budget, and the budget of everyone who asked."""

    total: Spending
    analysts: Mapping[str, Spending]
    answers: int


class Accountant:
    """Keep a privacy budget in an SQLite file that belongs to one table.

    A cost is written to disk before the answer is computed: whatever stops the program in between, the budget is
    spent, and nobody gets two answers for one cost. Users in other threads and processes wait for each other. Costs
    add up (sequential composition of pure differential privacy), in whole multiples of 1e-12, so that no rounding lets
    anything slip through.

    Parameters
    ----------
    path : the file. It is created if `total` is given and there is no file; deleting it forgets what was spent, so keep
        it as safe as the table.
    total : the epsilon that all analysts together may spend on the table.
    per_analyst : the epsilon that each of them may spend; by default all of `total`.
    """

    def __init__(
        self, path: str | Path, *, total: float | str | None = None, per_analyst: float | str | None = None
    ) -> None:
        self.path = Path(path)
        require(total is not None or per_analyst is None, self, "per_analyst", "given together with total", per_analyst)
        if total is not None:
            budget = units_of_budget(total, "Accountant", "total")
            share = budget if per_analyst is None else units_of_budget(per_analyst, "Accountant", "per_analyst")
            require(share <= budget, self, "per_analyst", f"at most the total, {shown(budget)}", per_analyst)
            self._create({"total": str(budget), "per_analyst": str(share)})
        elif not self.path.is_file():
            raise ReadError(f"There is no accountant file {self.path}; give total to create it.")
        self._verify()

    def __repr__(self) -> str:
        total = self.balance().total
        return f"Accountant({total.left} of {total.budget} left)"

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

    def spend(self, analyst: str, epsilon: float | str, question: str) -> int:
        """Spend before answering, or refuse; return the entry in the ledger."""
        cost = units_of_cost(epsilon, "Accountant")
        named = str(analyst) == analyst and 0 < len(analyst.strip()) <= LONGEST_NAME
        require(named, self, "analyst", f"a name of at most {LONGEST_NAME} characters", analyst)
        with held(self.path, WHAT) as store:
            if not complete(store, "ledger"):
                raise damaged(self.path, WHAT)
            known = facts(store)
            (everyone,) = store.execute("SELECT coalesce(sum(units), 0) FROM spent").fetchone()
            own = store.execute("SELECT units FROM spent WHERE analyst = ?", (analyst,)).fetchone() or (0,)
            _refuse_overspending("the table", int(known["total"]) - everyone, cost)
            _refuse_overspending(f"analyst {analyst!r}", int(known["per_analyst"]) - own[0], cost)
            entry = store.execute(
                "INSERT INTO ledger (analyst, units, question) VALUES (?, ?, ?)", (analyst, cost, question)
            ).lastrowid
            store.execute(
                "INSERT INTO spent VALUES (?, ?) ON CONFLICT (analyst) DO UPDATE SET units = units + excluded.units",
                (analyst, cost),
            )
        assert entry is not None  # noqa: S101 - SQLite numbers every row that it inserts
        return entry

    def balance(self) -> Balance:
        """Return what is spent and left."""
        with held(self.path, WHAT) as store:
            known = facts(store)
            own = dict(store.execute("SELECT analyst, units FROM spent ORDER BY analyst"))
            (answers,) = store.execute("SELECT count(*) FROM ledger").fetchone()
        share = int(known["per_analyst"])
        return Balance(
            total=_spending(sum(own.values()), int(known["total"])),
            analysts={analyst: _spending(units, share) for analyst, units in own.items()},
            answers=answers,
        )

    def _create(self, budgets: Mapping[str, str]) -> None:
        """Create the file, unless it exists; then it must agree."""
        if create(self.path, WHAT, SCHEMA, {"format": FORMAT, **budgets}):
            return
        with held(self.path, WHAT) as store:
            known = facts(store)
        if any(known.get(name) != value for name, value in budgets.items()):
            raise InvalidParameterError(
                f"The accountant {self.path} exists with another budget; omit total and per_analyst to use it."
            )

    def _verify(self) -> None:
        """Refuse a file that is not an accountant's, or that contradicts itself."""
        with held(self.path, WHAT) as store:
            sound = store.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            known = facts(store)
            sums = dict(store.execute("SELECT analyst, sum(units) FROM ledger GROUP BY analyst"))
            spent = dict(store.execute("SELECT analyst, units FROM spent"))
            whole = complete(store, "ledger")
        budgets = all(known.get(name, "").isdecimal() for name in ("total", "per_analyst"))
        if not (sound and budgets and known.get("format") == FORMAT and sums == spent and whole):
            raise damaged(self.path, WHAT)


def _spending(spent: int, budget: int) -> Spending:
    return Spending(spent=shown(spent), budget=shown(budget), left=shown(budget - spent))


def _refuse_overspending(whose: str, left: int, cost: int) -> None:
    if cost > left:
        raise InfeasibleError(
            f"The budget of {whose} has {shown(left)} left, but the question costs {shown(cost)}; "
            "ask with a smaller epsilon or stop asking."
        )
