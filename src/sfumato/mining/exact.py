"""Hide item sets or rules with as few side effects, and then as few deleted cells, as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from sfumato.exceptions import InfeasibleError
from sfumato.mining.patterns import Rule, maximal, minimal, splits
from sfumato.mining.program import Amount, Program, one, total, zero_if
from sfumato.mining.transactions import Flags, Ints, ItemSet, Transactions


def hide_sets_exactly(
    transactions: Transactions, sensitive: Sequence[ItemSet], frequent: Mapping[ItemSet, int], least: int
) -> Flags:
    """Make sensitive sets infrequent: first with as few other frequent sets lost as possible; then fewest deletions.

    Only items of sensitive sets are deleted, from transactions that contain these sets: other deletions hide nothing.
    First the program of Gkoulalas-Divanis and Verykios (2006) is tried, which keeps the whole border. If it has no
    solution, lost sets are counted and minimized.
    """
    hidden = [items for items in minimal(sensitive) if transactions.support(items) >= least]
    others = [items for items in frequent if not any(secret <= items for secret in hidden)]
    free = _free(transactions, hidden)
    program = Program(transactions, free)
    for items in hidden:
        program.at_most(program.support(items), least - 1)
    for items in maximal(others):
        program.at_least(program.support(items), least)
    found = program.solve(total(program.cells.values(), -1))
    if found is None:
        found = _counting_lost(transactions, hidden, others, free, least)
    return program.kept(found)


def _counting_lost(
    transactions: Transactions, hidden: Sequence[ItemSet], others: Sequence[ItemSet], free: Flags, least: int
) -> Ints:
    program = Program(transactions, free)
    for items in hidden:
        program.at_most(program.support(items), least - 1)
    lost = []
    for items in others:
        amount = program.support(items)
        if amount.bounds()[0] < least:
            lost.append(program.choice())
            program.at_least(amount, least, unless=[one(lost[-1])])
    return _solved_in_turn(program, lost)


def hide_rules_exactly(
    transactions: Transactions,
    sensitive: Sequence[Rule],
    frequent: Mapping[ItemSet, int],
    least: int,
    confidence: Fraction,
) -> Flags:
    """Hide rules by support or confidence: first fewest lost and new rules together, then fewest deletions.

    Only items of sensitive rules are deleted, from transactions that contain these rules.
    """
    confidence = _attainable(confidence, len(transactions))
    program = Program(transactions, _free(transactions, [rule.items for rule in sensitive]))
    secret, effects = set(sensitive), []
    for items in frequent:
        both = program.support(items)
        for rule in splits(items):
            left = program.support(rule.left)
            if rule not in secret and not both.terms and not left.terms:
                continue
            margin = _margin(both, left, confidence)
            seen = Fraction(frequent[items], frequent[rule.left]) >= confidence
            if rule in secret:
                _hide(program, both, margin, least)
            elif seen:
                effects.append(program.choice())
                program.at_least(both, least, unless=[one(effects[-1])])
                program.at_least(margin, 0, unless=[one(effects[-1])])
            else:
                effects.append(program.choice())
                _hide(program, both, margin, least, unless=effects[-1])
    return program.kept(_solved_in_turn(program, effects))


def _hide(program: Program, both: Amount, margin: Amount, least: int, unless: int | None = None) -> None:
    """Require that a rule misses the support or the confidence."""
    by_confidence = program.choice()
    excused = [] if unless is None else [one(unless)]
    program.at_most(both, least - 1, unless=[one(by_confidence), *excused])
    program.at_most(margin, -1, unless=[zero_if(by_confidence), *excused])


def _margin(both: Amount, left: Amount, confidence: Fraction) -> Amount:
    """Return a whole number that is negative if and only if the confidence is below the minimum."""
    return both.times(confidence.denominator).plus(left.times(-confidence.numerator))


def _solved_in_turn(program: Program, effects: Sequence[int]) -> Ints:
    """Minimize side effects, then deletions without any more side effects."""
    first = program.solve(total(effects))
    if first is not None:
        program.at_most(total(effects), int(first[list(effects)].sum()))
        second = program.solve(total(program.cells.values(), -1))
        if second is not None:
            return second
    raise InfeasibleError("The solver found no way to hide all sensitive patterns; use the method 'border' instead.")


def _free(transactions: Transactions, sensitive: Sequence[ItemSet]) -> Flags:
    """Mark the cells that may be deleted."""
    free = np.zeros_like(transactions.matrix)
    for items in sensitive:
        free[np.ix_(np.flatnonzero(transactions.holding(items)), np.array(transactions.columns(items)))] = True
    return free


def _attainable(confidence: Fraction, transactions: int) -> Fraction:
    """Return the smallest confidence of that many transactions that is at least a confidence: its numbers are small.

    >>> _attainable(Fraction("0.3333"), 10)
    Fraction(1, 3)
    """
    return min(Fraction(ceil(confidence * left), left) for left in range(1, transactions + 1))
