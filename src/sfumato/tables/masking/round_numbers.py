"""Rounding: publish multiples of a base."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, require
from sfumato.tables.masking._numbers import (
    EXACT,
    MOST_DECIMALS,
    Floats,
    decimals_as_integers,
    il1s,
    mean_shift,
    to_column,
    to_matrix,
)
from sfumato.tables.masking.base import ColumnsStep, StepDescription, changed_share, replace_columns


@dataclass(frozen=True, kw_only=True)
class RoundNumbers(ColumnsStep):
    """Round numbers to multiples of a base, to the nearest or at random without bias [1]_.

    To the nearest, halves go to even multiples. At random, a value goes up with the share of the way that it has gone
    to the next multiple, so that its expectation is the value itself. Missing cells stay missing; multiples of decimal
    bases are exact.

    Parameters
    ----------
    columns : columns of numbers.
    base : the numbers are rounded to multiples of it.
    how : `"nearest"` or `"random"`.

    References
    ----------
    .. [1] Willenborg and de Waal, "Elements of Statistical Disclosure Control", Springer, 2001.
       https://doi.org/10.1007/978-1-4613-0121-9
    """

    name = "round-numbers"
    reference = "Willenborg and de Waal 2001, https://doi.org/10.1007/978-1-4613-0121-9"
    description = StepDescription(
        promise="Numbers are multiples of the base: rounded to the nearest, a value is at most half a base away; at "
        "random, less than a base.",
        open="Rounded columns do not add up to their rounded totals. A multiple that only one person has still points "
        "to her.",
    )

    base: float
    how: Literal["nearest", "random"] = "nearest"

    def __post_init__(self) -> None:
        super().__post_init__()
        good = is_finite_number(self.base) and 0 < self.base <= EXACT and count_decimals(self.base) <= MOST_DECIMALS
        wanted = f"above 0, of at most {MOST_DECIMALS} digits"
        require(good, self, "base", wanted, self.base)
        require(self.how in ("nearest", "random"), self, "how", "nearest or random", self.how)

    @property
    def random(self) -> bool:
        """Whether directions are drawn."""
        return self.how == "random"

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        """Round every number."""
        self.check_columns(table)
        values = to_matrix(self, table, self.columns)
        kind = pa.int64() if float(self.base).is_integer() else pa.float64()
        found = {}
        for name, column in zip(self.columns, values.T, strict=True):
            rounded = self._rounded(column, stream)
            whole = pa.types.is_integer(table[name].type) and pa.types.is_integer(kind)
            found[name] = to_column(rounded, pa.int64() if whole else pa.float64())
        return replace_columns(table, found)

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Measure the change of cells and means, and the largest distance in bases."""
        first, second = (to_matrix(self, table, self.columns) for table in (before, after))
        return {
            "changed-cells": changed_share(before, after, self.columns),
            "scaled-change": il1s(first, second),
            "mean-shift": mean_shift(first, second),
            "largest-change": float(np.nanmax(np.abs(first - second), initial=0.0) / self.base),
        }

    def _rounded(self, values: Floats, stream: KeyedRandom) -> Floats:
        known = ~np.isnan(values)
        result = np.full(len(values), np.nan)
        decimals = count_decimals(self.base)
        exact = decimals_as_integers(values[known], decimals)
        power = 10.0 ** (decimals if exact is None else exact[1])
        base = round(self.base * power)
        if exact is None:  # more digits than a decimal has: the base is exact, the values are as near as they can be
            below = np.floor(values[known] / self.base)
            part = values[known] / self.base - below
        else:
            below, rest = (each.astype(np.float64) for each in np.divmod(exact[0], base))
            part = rest / base
        multiples = (below + self._upwards(part, below, stream)) * base / power + 0.0
        coarse = np.abs(values[known]) >= EXACT * self.base  # neighboring floats are further apart than multiples
        result[known] = np.where(coarse, values[known], multiples)
        return result

    def _upwards(self, part: Floats, below: Floats, stream: KeyedRandom) -> npt.NDArray[np.bool_]:
        """Say which values go up; `part` is the share of the way to the next multiple."""
        if self.how == "random":
            return np.asarray(stream.uniform(len(part)) < part)
        return np.asarray((part > 0.5) | ((part == 0.5) & (below % 2 == 1)))  # noqa: PLR2004 - a half


def count_decimals(number: float) -> int:
    """Count the digits after the decimal point.

    >>> count_decimals(0.25), count_decimals(10), count_decimals(1e-05)
    (2, 0, 5)
    """
    return max(0, -int(Decimal(str(number)).normalize().as_tuple().exponent))
