"""The accountant: who spent how much of the budget, in a file that survives restarts and crashes."""

from __future__ import annotations

import hmac
import json
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sfumato._neighbors import describe_epsilon
from sfumato._validation import require
from sfumato.core._hash_chain import NAME, EntryChain, check_not_rolled_back, load_head, register_budget, save_head
from sfumato.core._locked_sqlite import corrupted_file_error, create_locked, open_locked, read_facts
from sfumato.errors import InfeasibleError, InvalidParameterError, ReadError, SfumatoError

# Epsilons and deltas as whole multiples of the smallest unit, so that their sums are exact.

DECIMALS = 12
UNIT = 10**12
MOST = 10**6  # above it nothing is private; it fits SQLite's integers in units
DELTA_DECIMALS = 18
DELTA_UNIT = 10**18


def epsilon_cost_units(epsilon: object, owner: str, parameter: str = "epsilon") -> int:
    """Read an epsilon that is spent, in units; digits beyond the last decimal are rounded up.

    >>> epsilon_cost_units(0.1, "PrivateTable") * 10 == epsilon_cost_units(1, "PrivateTable")
    True
    """
    exact = _exact_epsilon(epsilon, owner, parameter)
    return -(-exact.numerator * UNIT // exact.denominator)


def epsilon_budget_units(epsilon: object, owner: str, parameter: str) -> int:
    """Read an epsilon that is granted, in units; digits beyond the last decimal are rounded down."""
    exact = _exact_epsilon(epsilon, owner, parameter)
    granted = exact.numerator * UNIT // exact.denominator
    require(granted > 0, owner, parameter, f"at least 1e-{DECIMALS}", epsilon)
    return granted


def delta_cost_units(delta: object, owner: str, parameter: str = "delta") -> int:
    """Read a delta that is spent, in units; digits beyond the last decimal are rounded up.

    >>> delta_cost_units("1e-6", "Accountant") == DELTA_UNIT // 10**6, delta_cost_units("1e-30", "Accountant")
    (True, 1)
    """
    exact = _exact_delta(delta, owner, parameter)
    return -(-exact.numerator * DELTA_UNIT // exact.denominator)


def delta_budget_units(delta: object, owner: str, parameter: str) -> int:
    """Read a delta that is granted, in units; digits beyond the last decimal are rounded down."""
    exact = _exact_delta(delta, owner, parameter)
    return exact.numerator * DELTA_UNIT // exact.denominator


def format_epsilon(units: int) -> str:
    """Format units of epsilon as a decimal number.

    >>> format_epsilon(epsilon_cost_units("0.30", "PrivateTable")), format_epsilon(2 * UNIT)
    ('0.3', '2')
    """
    return _format_units(units, DECIMALS)


def format_delta(units: int) -> str:
    """Format units of delta as a decimal number.

    >>> format_delta(delta_cost_units(1e-7, "Accountant"))
    '0.0000001'
    """
    return _format_units(units, DELTA_DECIMALS)


def exact_decimal_number(written: object) -> Fraction | None:
    """Convert a float to the exact decimal it is written as: 0.1 is one tenth; None if it is no number.

    >>> exact_decimal_number(0.1), exact_decimal_number("much")
    (Fraction(1, 10), None)
    """
    number: Any = repr(float(written)) if isinstance(written, float) else written
    try:
        return None if isinstance(written, bool) else Fraction(number)
    except (TypeError, ValueError, ArithmeticError):
        return None


def _format_units(units: int, decimals: int) -> str:
    whole, rest = divmod(units, 10**decimals)
    return f"{whole}.{rest:0{decimals}d}".rstrip("0").rstrip(".")


def _exact_epsilon(epsilon: object, owner: str, parameter: str) -> Fraction:
    exact = exact_decimal_number(epsilon) or Fraction(0)
    require(0 < exact <= MOST, owner, parameter, f"a number above 0 and at most {MOST:,}", epsilon)
    return exact


def _exact_delta(delta: object, owner: str, parameter: str) -> Fraction:
    exact = exact_decimal_number(delta)
    fine = exact is not None and 0 <= exact < 1
    require(fine, owner, parameter, "a number of at least 0 and below 1", delta)
    return exact or Fraction(0)


FORMAT = "sfumato accountant 3"
WHAT = "accountant"
MAX_NAME_LENGTH = 200
UNBOUND = "data that are not known yet"
OPENED, BOUND, SPENT, ANOTHER = "opened", "bound", "spent", "another budget"
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (entry INTEGER PRIMARY KEY, said TEXT NOT NULL, head TEXT NOT NULL);
"""
REFUSED_SCHEMA = """
CREATE TABLE IF NOT EXISTS refused (
    analyst TEXT NOT NULL, question TEXT NOT NULL, reason TEXT NOT NULL, times INTEGER NOT NULL,
    PRIMARY KEY (analyst, question, reason)
) WITHOUT ROWID
"""
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class BudgetUsage:
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
class BudgetBalance:
    """The whole budget of epsilon and of delta, the epsilon of everyone who asked, and what the epsilon is about."""

    neighbors: str
    total: BudgetUsage
    delta: BudgetUsage
    analysts: Mapping[str, BudgetUsage]
    answers: int


class AnotherBudgetError(InvalidParameterError):
    """The data have a budget already, and nobody asked for another one."""


@dataclass(frozen=True, kw_only=True)
class Books:
    """What the entries of an accountant say: what is granted, whose data it belongs to, and what is spent."""

    total: int
    per_analyst: int
    total_delta: int
    another: bool
    data: str | None
    unit: str | None
    spent: Mapping[str, int]
    delta: int
    answers: int

    @classmethod
    def of(cls, chain: EntryChain) -> Books:
        """Sum up the entries."""
        opened, *later = chain.entries
        bound = next((each for each in later if each["kind"] == BOUND), {})
        paid = [each for each in later if each["kind"] == SPENT]
        spent: dict[str, int] = {}
        for each in paid:
            spent[each["analyst"]] = spent.get(each["analyst"], 0) + each["units"]
        return cls(
            total=opened["total"],
            per_analyst=opened["per_analyst"],
            total_delta=opened["total_delta"],
            another=any(each["kind"] == ANOTHER for each in later),
            data=bound.get("data"),
            unit=bound.get("unit"),
            spent=dict(sorted(spent.items())),
            delta=sum(each["delta"] for each in paid),
            answers=len(paid),
        )


class Accountant:
    """Keep a privacy budget in an SQLite file that belongs to one table.

    A cost is written to disk before the answer is computed: whatever stops the program in between, the budget is
    spent, and nobody gets two answers for one cost. Users in other threads and processes wait for each other. Costs
    add up (sequential composition of differential privacy), epsilons in whole multiples of 1e-12 and deltas of 1e-18,
    so that no rounding lets anything slip through.

    All that is spent is a chain of entries, whose newest head the user's state folder remembers. So a copy of the file
    from before an answer is refused wherever it lies, and the file itself may be moved. The folder also knows, by keyed
    hashes, which data have a budget.

    Parameters
    ----------
    path : the file. It is created if `total` is given and there is no file.
    total : the epsilon that all analysts together may spend on the table.
    per_analyst : the epsilon that each of them may spend; by default all of `total`.
    total_delta : the delta that all analysts together may spend; by default 0, so that only questions with pure
        differential privacy are answered.
    another_budget : whether this may be a further budget of data that have one; what all of them spend adds up.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        total: float | str | None = None,
        per_analyst: float | str | None = None,
        total_delta: float | str | None = None,
        another_budget: bool = False,
    ) -> None:
        self.path = Path(path)
        for name, given in (("per_analyst", per_analyst), ("total_delta", total_delta)):
            require(total is not None or given is None, self, name, "given together with total", given)
        if total is not None:
            self._create(total, per_analyst, total_delta)
        elif not self.path.is_file():
            raise ReadError(f"There is no accountant file {self.path}; give total to create it.")
        with self._opened() as (store, chain):
            if store.execute("PRAGMA quick_check(1)").fetchone() != ("ok",) or not chain.entries:
                raise corrupted_file_error(self.path, WHAT)
            if another_budget and not Books.of(chain).another:
                chain.append(store, {"kind": ANOTHER, "time": _now()})
        self._forward()

    def __repr__(self) -> str:
        balance = self.balance()
        left, delta = (f"{each.left} of {each.budget} left" for each in (balance.total, balance.delta))
        pure = balance.delta.budget == "0"
        return f"Accountant({describe_epsilon(left, balance.neighbors, delta=None if pure else delta)})"

    @classmethod
    def repair(cls, path: str | Path) -> str:
        """Remember a file that was made elsewhere or by somebody else, and say what was done.

        Be sure that it is the newest copy: what was spent from a newer one is forgotten.
        """
        self = cls.__new__(cls)
        self.path = Path(path)
        if not self.path.is_file():
            raise ReadError(f"There is no accountant file {self.path}.")
        with self._opened(unknown=True) as (_, chain):
            if load_head(chain.name) == chain.newest_head:
                return "There is nothing to repair."
            save_head(chain.newest_head)
        return f"The accountant {self.path} is remembered from now on."

    def bind_table(self, fingerprint: str, unit: str) -> None:
        """Bind the budget to one table and one unit of privacy; refuse any other, and a second budget of the table."""
        with self._opened() as (store, chain):
            books, salt = Books.of(chain), read_facts(store)["salt"]
            data = hmac.digest(bytes.fromhex(salt), fingerprint.encode(), "sha256").hex()
            if books.data not in {None, data}:
                raise InvalidParameterError(f"The accountant {self.path} keeps the budget of another table.")
            if books.unit not in {None, unit}:
                raise InvalidParameterError(
                    f"The accountant {self.path} keeps a budget for {books.unit}, not for {unit}; ask for the same."
                )
            others, note = register_budget(fingerprint, chain.name, self.path)
            if books.data is None:
                if others and not books.another:
                    note.unlink()
                    raise AnotherBudgetError(
                        f"These data have a budget already: {', '.join(others)}. Ask with that one; or ask for another "
                        "one by another_budget=True, and what both spend adds up."
                    )
                chain.append(store, {"kind": BOUND, "time": _now(), "data": data, "unit": unit})
        self._forward()

    def spend(self, analyst: str, epsilon: float | str, question: str, *, delta: float | str = 0) -> int:
        """Spend before answering, or refuse; return the number of the answer."""
        cost, chance = epsilon_cost_units(epsilon, "Accountant"), delta_cost_units(delta, "Accountant")
        named = str(analyst) == analyst and 0 < len(analyst.strip()) <= MAX_NAME_LENGTH
        require(named, self, "analyst", f"a name of at most {MAX_NAME_LENGTH} characters", analyst)
        with self._opened() as (store, chain):
            books = Books.of(chain)
            left, own = books.total - sum(books.spent.values()), books.per_analyst - books.spent.get(analyst, 0)
            _check_epsilon_left("the table", left, cost, books.unit)
            _check_epsilon_left(f"analyst {analyst!r}", own, cost, books.unit)
            _check_delta_left(books.total_delta - books.delta, chance)
            said = {"analyst": analyst, "units": cost, "delta": chance, "question": question}
            chain.append(store, {"kind": SPENT, "time": _now(), **said})
        self._forward()
        return books.answers + 1

    def record_refusal(self, analyst: str, question: str, reason: str) -> None:
        """Remember that a question was refused; the same again is counted, so that nobody fills the disk."""
        asked = (analyst[:MAX_NAME_LENGTH], question[:MAX_NAME_LENGTH], reason)
        with open_locked(self.path, WHAT) as store:
            store.execute(REFUSED_SCHEMA)
            store.execute(
                "INSERT INTO refused VALUES (?, ?, ?, 1) ON CONFLICT (analyst, question, reason)"
                " DO UPDATE SET times = times + 1",
                asked,
            )

    def refusals(self) -> tuple[RefusedQuestion, ...]:
        """Return the questions that were refused."""
        with open_locked(self.path, WHAT) as store:
            store.execute(REFUSED_SCHEMA)
            rows = store.execute("SELECT analyst, question, reason, times FROM refused").fetchall()
        return tuple(
            RefusedQuestion(analyst=analyst, question=question, reason=reason, times=times)
            for analyst, question, reason, times in rows
        )

    def balance(self) -> BudgetBalance:
        """Return what is spent and left."""
        with self._opened() as (_, chain):
            books = Books.of(chain)
        granted, gone = books.total_delta, books.delta
        return BudgetBalance(
            neighbors=books.unit or UNBOUND,
            total=_budget_usage(sum(books.spent.values()), books.total),
            delta=BudgetUsage(
                spent=format_delta(gone), budget=format_delta(granted), left=format_delta(granted - gone)
            ),
            analysts={analyst: _budget_usage(units, books.per_analyst) for analyst, units in books.spent.items()},
            answers=books.answers,
        )

    def _create(self, total: float | str, per_analyst: float | str | None, total_delta: float | str | None) -> None:
        """Make the file and its first entry, unless it exists with the same budget."""
        budget = epsilon_budget_units(total, "Accountant", "total")
        share = budget if per_analyst is None else epsilon_budget_units(per_analyst, "Accountant", "per_analyst")
        require(share <= budget, self, "per_analyst", f"at most the total, {format_epsilon(budget)}", per_analyst)
        delta = delta_budget_units(0 if total_delta is None else total_delta, "Accountant", "total_delta")
        said = {"total": budget, "per_analyst": share, "total_delta": delta}
        create_locked(
            self.path, WHAT, SCHEMA, {"format": FORMAT, "name": secrets.token_hex(16), "salt": secrets.token_hex(32)}
        )
        with self._opened() as (store, chain):
            if not chain.entries:
                save_head(chain.newest_head)
                chain.append(store, {"kind": OPENED, "time": _now(), **said})
            elif any(chain.entries[0][name] != value for name, value in said.items()):
                raise InvalidParameterError(
                    f"The accountant {self.path} exists with another budget; omit total, per_analyst and total_delta to"
                    " use it."
                )

    @contextmanager
    def _opened(self, *, unknown: bool = False) -> Iterator[tuple[sqlite3.Connection, EntryChain]]:
        """Hold the file; refuse one that is not an accountant's, that was changed, or that is an older copy."""
        try:
            with open_locked(self.path, WHAT) as store:
                known = read_facts(store)
                if known.get("format") != FORMAT or not NAME.fullmatch(known.get("name", "")):
                    raise corrupted_file_error(self.path, WHAT)
                chain = EntryChain.read(store, self.path, known["name"], WHAT)
                if chain.entries and not unknown and load_head(chain.name) is None:
                    raise ReadError(
                        f"Nothing is remembered of the accountant {self.path}: it was made elsewhere or by somebody "
                        "else. If it is the newest copy, go on with it by Accountant.repair or sfumato query repair."
                    )
                check_not_rolled_back(chain)
                yield store, chain
        except (KeyError, json.JSONDecodeError):
            raise corrupted_file_error(self.path, WHAT) from None

    def _forward(self) -> None:
        """Remember the newest head; it is on disk before an answer is computed, and after the entry is."""
        with self._opened() as (_, chain):
            save_head(chain.newest_head)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def recording_refusals(ask: Callable[P, T]) -> Callable[P, T]:
    """Let a question be recorded if it is refused, by its `accountant` and `analyst` or those of its object."""

    @wraps(ask)
    def asked(*args: P.args, **options: P.kwargs) -> T:
        try:
            return ask(*args, **options)
        except SfumatoError as error:
            owner = args[0] if args else None
            accountant = options.get("accountant", getattr(owner, "accountant", None))
            if isinstance(accountant, Accountant):
                analyst = str(options.get("analyst", getattr(owner, "analyst", None)))
                accountant.record_refusal(analyst, _told(ask.__name__, options), type(error).__name__)
            raise

    return asked


def _told(question: str, options: Mapping[str, object]) -> str:
    """Say what was asked: the name of the question and those of its options that are one number or word."""
    said = {
        name: value for name, value in options.items() if isinstance(value, (int, float, str)) and name != "analyst"
    }
    return f"{question}({', '.join(f'{name}={value!r}' for name, value in said.items())})"


def _budget_usage(spent: int, budget: int) -> BudgetUsage:
    return BudgetUsage(spent=format_epsilon(spent), budget=format_epsilon(budget), left=format_epsilon(budget - spent))


def _check_epsilon_left(whose: str, left: int, cost: int, neighbors: str | None) -> None:
    if cost > left:
        about = "" if neighbors is None else f" The epsilon is for {neighbors}."
        raise InfeasibleError(
            f"The budget of {whose} has {format_epsilon(left)} left, but the question costs {format_epsilon(cost)}; "
            f"ask with a smaller epsilon or stop asking.{about}"
        )


def _check_delta_left(left: int, chance: int) -> None:
    if chance > left:
        raise InfeasibleError(
            f"The budget of the table has a delta of {format_delta(left)} left, but the question costs a delta of "
            f"{format_delta(chance)}; ask with a smaller delta or stop asking."
        )
