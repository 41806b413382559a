"""Hide item sets or rules with as few side effects, and then as few deleted cells, as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from sfumato.exceptions import InfeasibleError
from sfumato.mining.patterns import Rule, maximal_itemsets, minimal_itemsets, rule_splits
from sfumato.mining.program import IntegerProgram, LinearExpression, as_expression, complement, sum_variables
from sfumato.mining.transactions import Flags, Ints, ItemSet, TransactionMatrix


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
