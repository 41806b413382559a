"""An integer program over the cells of a database: which to keep, so that supports are as required."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from sfumato._optional import import_optional
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.mining.association_rules import Rule, maximal_itemsets, minimal_itemsets, rule_splits
from sfumato.mining.transaction_matrix import Flags, Ints, ItemSet, TransactionMatrix

MAX_VARIABLES = 60_000


@dataclass(frozen=True)
class LinearExpression:
    """A whole number that depends on the variables of the program."""

    constant: int
    terms: Mapping[int, int]

    def scale(self, factor: int) -> LinearExpression:
        """Multiply by a number."""
        return LinearExpression(self.constant * factor, {at: factor * each for at, each in self.terms.items()})

    def add(self, other: LinearExpression) -> LinearExpression:
        """Add another amount."""
        terms = dict(self.terms)
        for at, each in other.terms.items():
            terms[at] = terms.get(at, 0) + each
        return LinearExpression(self.constant + other.constant, terms)

    def bounds(self) -> tuple[int, int]:
        """Return the smallest and the largest value, whatever variables from 0 to 1 are."""
        low = sum(min(each, 0) for each in self.terms.values())
        high = sum(max(each, 0) for each in self.terms.values())
        return self.constant + low, self.constant + high


class IntegerProgram:
    """Variables from 0 to 1 and linear conditions, for HiGHS.

    A cell that may be deleted is a variable, 1 if it is kept. A transaction contains an item set if all its cells are
    kept: that product of cells is also a variable, tied to them by linear conditions. Equal products are shared.
    """

    def __init__(self, transactions: TransactionMatrix, free: Flags) -> None:
        self.transactions, self.free = transactions, free
        rows, columns = np.nonzero(free)
        cells = zip(rows.tolist(), columns.tolist(), strict=True)
        self.cells = {cell: number for number, cell in enumerate(cells)}
        self.whole = [True] * len(self.cells)
        self._products: dict[tuple[int, tuple[int, ...]], int] = {}
        self._conditions: list[tuple[Mapping[int, int], float, float]] = []

    def add_variable(self, *, whole: bool = True) -> int:
        """Add a variable."""
        if len(self.whole) >= MAX_VARIABLES:
            raise InfeasibleError(
                f"The exact program has more than {MAX_VARIABLES:,} variables; use the method 'border' instead."
            )
        self.whole.append(whole)
        return len(self.whole) - 1

    def support(self, items: ItemSet) -> LinearExpression:
        """Return the support of an item set."""
        columns = np.array(self.transactions.columns(items))
        rows = np.flatnonzero(self.transactions.supporting(items))
        free = self.free[np.ix_(rows, columns)]
        touched = free.any(axis=1)
        terms: dict[int, int] = {}
        for row, which in zip(rows[touched].tolist(), free[touched], strict=True):
            at = self._product(row, tuple(columns[which].tolist()))
            terms[at] = terms.get(at, 0) + 1
        return LinearExpression(int((~touched).sum()), terms)

    def _product(self, row: int, columns: tuple[int, ...]) -> int:
        factors = [self.cells[row, column] for column in columns]
        if len(factors) == 1:
            return factors[0]
        if (row, columns) not in self._products:
            made = self.add_variable(whole=False)
            for factor in factors:
                self._conditions.append(({made: 1, factor: -1}, -np.inf, 0))
            self._conditions.append(({made: 1, **dict.fromkeys(factors, -1)}, 1 - len(factors), np.inf))
            self._products[row, columns] = made
        return self._products[row, columns]

    def at_most(self, amount: LinearExpression, bound: int, *, unless: Iterable[LinearExpression] = ()) -> None:
        """Require an upper bound, unless one of some variables (amounts of 0 or 1) is 1."""
        room = max(0, amount.bounds()[1] - bound)
        for each in unless:
            amount = amount.add(each.scale(-room))
        self._conditions.append((amount.terms, -np.inf, bound - amount.constant))

    def at_least(self, amount: LinearExpression, bound: int, *, unless: Iterable[LinearExpression] = ()) -> None:
        """Require a lower bound, unless one of some variables (amounts of 0 or 1) is 1."""
        self.at_most(amount.scale(-1), -bound, unless=unless)

    def solve(self, costs: LinearExpression) -> Ints | None:
        """Find values of all variables with the smallest cost; None if there are none.

        What the solver finds is checked in whole numbers: the solver's own arithmetic is not exact.
        """
        highs = import_optional("highspy", extra="rules", error=InvalidParameterError)
        solver = highs.Highs()
        solver.setOptionValue("output_flag", False)  # noqa: FBT003 - the name says it
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.passModel(self._model(highs, costs))
        solver.run()
        status = solver.getModelStatus()
        if status == highs.HighsModelStatus.kInfeasible:
            return None
        values: Ints = np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)
        if status != highs.HighsModelStatus.kOptimal or not self._verify_solution(values):
            raise InfeasibleError("The solver found no exact solution; use the method 'border' instead.")
        return values

    def _model(self, highs: Any, costs: LinearExpression) -> Any:
        """Convert the program to the form that HiGHS reads."""
        width = len(self.whole)
        objective = np.zeros(width)
        objective[list(costs.terms)] = list(costs.terms.values())
        model = highs.HighsLp()
        model.num_col_, model.num_row_ = width, len(self._conditions)
        model.col_cost_, model.col_lower_, model.col_upper_ = objective, np.zeros(width), np.ones(width)
        model.row_lower_ = np.array([low for _, low, _ in self._conditions], dtype=np.float64)
        model.row_upper_ = np.array([high for _, _, high in self._conditions], dtype=np.float64)
        sizes = [len(terms) for terms, _, _ in self._conditions]
        model.a_matrix_.format_ = highs.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.append(0, np.cumsum(sizes)).astype(np.int32)
        model.a_matrix_.index_ = np.array([at for terms, _, _ in self._conditions for at in terms], dtype=np.int32)
        values = [each for terms, _, _ in self._conditions for each in terms.values()]
        model.a_matrix_.value_ = np.array(values, dtype=np.float64)
        kinds = {True: highs.HighsVarType.kInteger, False: highs.HighsVarType.kContinuous}
        model.integrality_ = [kinds[whole] for whole in self.whole]
        return model

    def _verify_solution(self, values: Ints) -> bool:
        """Check all conditions in whole numbers."""
        return all(
            low <= sum(each * int(values[at]) for at, each in terms.items()) <= high
            for terms, low, high in self._conditions
        )

    def retained_cells(self, values: Ints) -> Flags:
        """Return the cells that a solution leaves."""
        matrix = self.transactions.matrix.copy()
        for (row, column), at in self.cells.items():
            matrix[row, column] = bool(values[at])
        return matrix


def as_expression(variable: int) -> LinearExpression:
    """Return a variable as an amount."""
    return LinearExpression(0, {variable: 1})


def complement(variable: int) -> LinearExpression:
    """Return the complement of a variable of 0 or 1 as an amount."""
    return LinearExpression(1, {variable: -1})


def sum_variables(variables: Iterable[int], factor: int = 1) -> LinearExpression:
    """Sum variables."""
    return LinearExpression(0, dict.fromkeys(variables, factor))


# Hide item sets or rules with as few side effects, and then as few deleted cells, as possible.


def hide_itemsets_exactly(
    transactions: TransactionMatrix, sensitive: Sequence[ItemSet], frequent: Mapping[ItemSet, int], least: int
) -> Flags:
    """Make sensitive sets infrequent: first with as few other frequent sets lost as possible; then fewest deletions.

    Only items of sensitive sets are deleted, from transactions that contain these sets: other deletions hide nothing.
    First the program of Gkoulalas-Divanis and Verykios (2006) is tried, which keeps the whole border. If it has no
    solution, lost sets are counted and minimized.
    """
    hidden = [items for items in minimal_itemsets(sensitive) if transactions.support(items) >= least]
    others = [items for items in frequent if not any(secret <= items for secret in hidden)]
    free = _deletable_cells(transactions, hidden)
    program = IntegerProgram(transactions, free)
    for items in hidden:
        program.at_most(program.support(items), least - 1)
    for items in maximal_itemsets(others):
        program.at_least(program.support(items), least)
    found = program.solve(sum_variables(program.cells.values(), -1))
    if found is None:
        found = _count_lost_itemsets(transactions, hidden, others, free, least)
    return program.retained_cells(found)


def _count_lost_itemsets(
    transactions: TransactionMatrix, hidden: Sequence[ItemSet], others: Sequence[ItemSet], free: Flags, least: int
) -> Ints:
    program = IntegerProgram(transactions, free)
    for items in hidden:
        program.at_most(program.support(items), least - 1)
    lost = []
    for items in others:
        amount = program.support(items)
        if amount.bounds()[0] < least:
            lost.append(program.add_variable())
            program.at_least(amount, least, unless=[as_expression(lost[-1])])
    return _solve_lexicographically(program, lost)


def hide_rules_exactly(
    transactions: TransactionMatrix,
    sensitive: Sequence[Rule],
    frequent: Mapping[ItemSet, int],
    least: int,
    confidence: Fraction,
) -> Flags:
    """Hide rules by support or confidence: first fewest lost and new rules together, then fewest deletions.

    Only items of sensitive rules are deleted, from transactions that contain these rules.
    """
    confidence = _attainable_confidence(confidence, len(transactions))
    program = IntegerProgram(transactions, _deletable_cells(transactions, [rule.items for rule in sensitive]))
    secret, effects = set(sensitive), []
    for items in frequent:
        both = program.support(items)
        for rule in rule_splits(items):
            left = program.support(rule.left)
            if rule not in secret and not both.terms and not left.terms:
                continue
            margin = _confidence_margin(both, left, confidence)
            seen = Fraction(frequent[items], frequent[rule.left]) >= confidence
            if rule in secret:
                _require_hidden(program, both, margin, least)
            elif seen:
                effects.append(program.add_variable())
                program.at_least(both, least, unless=[as_expression(effects[-1])])
                program.at_least(margin, 0, unless=[as_expression(effects[-1])])
            else:
                effects.append(program.add_variable())
                _require_hidden(program, both, margin, least, unless=effects[-1])
    return program.retained_cells(_solve_lexicographically(program, effects))


def _require_hidden(
    program: IntegerProgram, both: LinearExpression, margin: LinearExpression, least: int, unless: int | None = None
) -> None:
    """Require that a rule misses the support or the confidence."""
    by_confidence = program.add_variable()
    excused = [] if unless is None else [as_expression(unless)]
    program.at_most(both, least - 1, unless=[as_expression(by_confidence), *excused])
    program.at_most(margin, -1, unless=[complement(by_confidence), *excused])


def _confidence_margin(both: LinearExpression, left: LinearExpression, confidence: Fraction) -> LinearExpression:
    """Return a whole number that is negative if and only if the confidence is below the minimum."""
    return both.scale(confidence.denominator).add(left.scale(-confidence.numerator))


def _solve_lexicographically(program: IntegerProgram, effects: Sequence[int]) -> Ints:
    """Minimize side effects, then deletions without any more side effects."""
    first = program.solve(sum_variables(effects))
    if first is not None:
        program.at_most(sum_variables(effects), int(first[list(effects)].sum()))
        second = program.solve(sum_variables(program.cells.values(), -1))
        if second is not None:
            return second
    raise InfeasibleError("The solver found no way to hide all sensitive patterns; use the method 'border' instead.")


def _deletable_cells(transactions: TransactionMatrix, sensitive: Sequence[ItemSet]) -> Flags:
    """Mark the cells that may be deleted."""
    free = np.zeros_like(transactions.matrix)
    for items in sensitive:
        free[np.ix_(np.flatnonzero(transactions.supporting(items)), np.array(transactions.columns(items)))] = True
    return free


def _attainable_confidence(confidence: Fraction, transactions: int) -> Fraction:
    """Return the smallest confidence of that many transactions that is at least a confidence: its numbers are small.

    >>> _attainable_confidence(Fraction("0.3333"), 10)
    Fraction(1, 3)
    """
    return min(Fraction(ceil(confidence * left), left) for left in range(1, transactions + 1))
