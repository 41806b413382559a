"""Randomized response: a value is replaced by another with public probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.collecting.coins import BitSource, Numbers, Whole
from sfumato.exceptions import SchemaError
from sfumato.table.values import text
from sfumato.validation import is_number, require

if TYPE_CHECKING:
    from sfumato.table.frames import Column

LEAST_VALUES = 2
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse:
    """Report the true value with some probability, and otherwise another one.

    Parameters
    ----------
    values : all possible values, fixed beforehand and public.
    truth : the probability of reporting the true value; the others are equally likely.
    matrix : instead of `truth`, the probability of report j (column) given value i (row); every row sums to 1.

    Examples
    --------
    >>> response = RandomizedResponse(values=("no", "yes"), truth=0.75)
    >>> round(response.epsilon, 3)
    1.099
    """

    values: Sequence[Any]
    truth: float | None = None
    matrix: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        values = tuple(self.values)
        object.__setattr__(self, "values", values)
        distinct = len({text(value) for value in values})
        require(
            len(values) >= LEAST_VALUES and distinct == len(values),
            self,
            "values",
            "at least two different values",
            len(values),
        )
        if (self.truth is None) == (self.matrix is None):
            require(
                condition=False, owner=self, parameter="truth", expected="given, or else matrix, not both", got=None
            )
        if self.truth is not None:
            require(is_number(self.truth) and 0 <= self.truth <= 1, self, "truth", "between 0 and 1", self.truth)
        if self.matrix is not None:
            rows = tuple(tuple(float(chance) for chance in row) for row in self.matrix)
            object.__setattr__(self, "matrix", rows)
            square = len(rows) == len(values) and all(len(row) == len(values) for row in rows)
            require(square, self, "matrix", f"{len(values)} rows of {len(values)} probabilities", len(rows))
            proper = all(min(row) >= 0 and abs(sum(row) - 1) < ROUNDING for row in rows)
            require(proper, self, "matrix", "a matrix of probabilities that sum to 1 in every row", "other sums")

    @property
    def channel(self) -> Numbers:
        """The probability of report j (column) given value i (row)."""
        if self.matrix is not None:
            return np.asarray(self.matrix, dtype=np.float64)
        truth = float(self.truth or 0.0)
        others = (1 - truth) / (len(self.values) - 1)
        return np.full((len(self.values),) * 2, others) + np.eye(len(self.values)) * (truth - others)

    @property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy; infinite if a report excludes a value."""
        channel = self.channel
        least, most = channel.min(axis=0), channel.max(axis=0)
        if ((least == 0) & (most > 0)).any():
            return float("inf")
        used = most > 0
        return log(float((most[used] / least[used]).max()))

    def codes(self, values: Column, what: str = "The values") -> Whole:
        """Return the indices of values in the domain; a value outside it is refused, and not repeated."""
        return places(values, self.values, what)

    def perturb(self, values: Column, *, secret: str | None = None) -> npt.NDArray[Any]:
        """Replace values; randomness comes from the operating system unless a test gives a secret."""
        drawn = self.perturb_codes(self.codes(values), BitSource(secret))
        return domain_array(self.values)[drawn]

    def perturb_codes(self, codes: Whole, source: BitSource) -> Whole:
        """Replace the indices of values by indices of reports."""
        steps = np.cumsum(self.channel, axis=1)
        steps[:, -1] = 1.0
        drawn = source.uniform(len(codes))
        found = np.empty(len(codes), dtype=np.int64)
        for code in range(len(self.values)):
            rows = np.flatnonzero(codes == code)
            found[rows] = np.searchsorted(steps[code], drawn[rows], side="right")
        return found


def domain_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return a domain as an array that keeps its values unchanged."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def places(values: Column, domain: Sequence[Any], what: str = "The values") -> Whole:
    """Return the indices of values in a public domain, by their canonical texts; refuse all others by number only."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from sfumato.table.values import texts

    listed: Any = values
    if isinstance(listed, str) or not hasattr(listed, "__len__"):
        raise SchemaError(f"{what} must be a column; put a single value into a list.")
    try:
        column = listed if isinstance(listed, pa.Array | pa.ChunkedArray) else pa.array(listed, from_pandas=True)
        written = texts(column)
    except (pa.ArrowException, TypeError, ValueError):
        raise SchemaError(f"{what} are not of one type; give strings, numbers, dates or booleans.") from None
    if written.type != pa.string():
        written = written.cast(pa.string())
    found = pc.index_in(written, value_set=pa.array([text(value) for value in domain], pa.string()))
    foreign = found.null_count
    if foreign:
        raise SchemaError(
            f"{what} have {foreign:,} cells that are missing or outside the domain; add a value for them."
        )
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)
