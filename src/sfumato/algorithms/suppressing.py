"""How much may be suppressed: refuse what would leave out all records, or more than allowed."""

from __future__ import annotations

from fractions import Fraction

from sfumato.algorithms.base import TableAlgorithm
from sfumato.exceptions import InfeasibleError


def check_suppression(algorithm: TableAlgorithm, suppressed: int, rows: int, most: int) -> None:
    """Refuse what would suppress all records, or more than may be."""
    name = type(algorithm).__name__
    if suppressed == rows:
        raise InfeasibleError(f"{name} would suppress all records; promise less.")
    if suppressed > most:
        needed = round_up_share(suppressed, rows)
        raise InfeasibleError(
            f"{name} would suppress {suppressed:,} records, more than the {most:,} "
            f"allowed; set max_suppressed={needed} or promise less.",
            [{"max_suppressed": needed}],
        )


def round_up_share(part: int, whole: int, digits: int = 4) -> float:
    """Return a share of the records that allows to suppress so many."""
    return float(Fraction(-(-part * 10**digits // whole), 10**digits))
