"""What an epsilon is about: which data it keeps from being told apart; said wherever an epsilon is shown."""

from __future__ import annotations

ROW = "adding or removing one row"
EDGE = "adding or removing one edge"
NODE = "adding or removing all edges of one individual"
TRIPS = "adding or removing one individual with all trips"
REPORTS = "any two sequences of values of one individual, in all reports together"
PLACES = "any two sequences of places of one individual, in all reports together"
PLACE = "any two places of one row"
BASKET = "any two baskets"


def one_individual(column: str, most: int | None = None) -> str:
    """Say that an individual is added or removed, and of how many rows of hers something is counted.

    >>> one_individual("patient", 5)
    "adding or removing one individual (by 'patient', of whose rows at most 5 count)"
    """
    rows = "with all rows" if most is None else f"of whose rows at most {most:,} count"
    return f"adding or removing one individual (by {column!r}, {rows})"


def describe_epsilon(epsilon: float | str, neighbors: str, *, delta: float | str | None = None) -> str:
    """Write a privacy loss with what it is about.

    >>> describe_epsilon(0.25, EDGE)
    'epsilon 0.25 for adding or removing one edge'
    """
    shown = epsilon if isinstance(epsilon, str) else f"{epsilon:.4g}"
    chance = "" if delta is None else f", delta {delta}"
    return f"epsilon {shown}{chance} for {neighbors}"
