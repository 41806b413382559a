"""Randomized response: a value is replaced by another with public probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_finite_number, require
from sfumato.errors import SchemaError
from sfumato.io._values import format_value
from sfumato.local_dp._exact_sampling import ExactSampler, Numbers, Whole

if TYPE_CHECKING:
    from sfumato.io._dataframes import Column

MIN_VALUES = 2
DIFFERENT_VALUES = "a list of at least two different values, none of them missing"
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
        require(are_different(values), self, "values", DIFFERENT_VALUES, told_values(values))
        if (self.truth is None) == (self.matrix is None):
            require(
                condition=False, owner=self, parameter="truth", expected="given, or else matrix, not both", got=None
            )
        if self.truth is not None:
            require(is_finite_number(self.truth) and 0 <= self.truth <= 1, self, "truth", "between 0 and 1", self.truth)
        if self.matrix is not None:
            rows = tuple(tuple(float(chance) for chance in row) for row in self.matrix)
            object.__setattr__(self, "matrix", rows)
            square = len(rows) == len(values) and all(len(row) == len(values) for row in rows)
            require(square, self, "matrix", f"{len(values)} rows of {len(values)} probabilities", len(rows))
            proper = all(min(row) >= 0 and abs(sum(row) - 1) < ROUNDING for row in rows)
            require(proper, self, "matrix", "a matrix of probabilities that sum to 1 in every row", "other sums")

    @property
    def transition_matrix(self) -> Numbers:
        """The probability of report j (column) given value i (row)."""
        if self.matrix is not None:
            return np.asarray(self.matrix, dtype=np.float64)
        truth = float(self.truth or 0.0)
        others = (1 - truth) / (len(self.values) - 1)
        return np.full((len(self.values),) * 2, others) + np.eye(len(self.values)) * (truth - others)

    @property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy; infinite if a report excludes a value."""
        channel = self.transition_matrix
        least, most = channel.min(axis=0), channel.max(axis=0)
        if ((least == 0) & (most > 0)).any():
            return float("inf")
        used = most > 0
        return log(float((most[used] / least[used]).max()))

    def codes(self, values: Column, what: str = "The values") -> Whole:
        """Return the indices of values in the domain; a value outside it is refused, and not repeated."""
        return domain_indices(values, self.values, what)

    def perturb(self, values: Column, *, secret: str | None = None) -> npt.NDArray[Any]:
        """Replace values; randomness comes from the operating system unless a test gives a secret.

        What is missing or outside the domain counts as one of the values, drawn at random: a refusal would disclose it.
        """
        source = ExactSampler(secret)
        drawn = self.perturb_codes(places_or_any(values, self.values, source), source)
        return as_domain_array(self.values)[drawn]

    def perturb_codes(self, codes: Whole, source: ExactSampler) -> Whole:
        """Replace the indices of values by indices of reports."""
        steps = np.cumsum(self.transition_matrix, axis=1)
        steps[:, -1] = 1.0
        drawn = source.uniform(len(codes))
        found = np.empty(len(codes), dtype=np.int64)
        for code in range(len(self.values)):
            rows = np.flatnonzero(codes == code)
            found[rows] = np.searchsorted(steps[code], drawn[rows], side="right")
        return found


def as_domain_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return a domain as an array that keeps its values unchanged."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def domain_indices(values: Column, domain: Sequence[Any], what: str = "The values") -> Whole:
    """Return the indices of values in a public domain, by their canonical texts; refuse all others by number only."""
    import pyarrow as pa

    _refuse_single(values, what)
    try:
        found = _looked_up(values, domain)
    except (pa.ArrowException, TypeError, ValueError):
        raise SchemaError(f"{what} are not of one type; give strings, numbers, dates or booleans.") from None
    foreign = int((found < 0).sum())
    if foreign:
        raise SchemaError(
            f"{what} have {foreign:,} cells that are missing or outside the domain; add a value for them."
        )
    return found


def places_or_any(values: Column, domain: Sequence[Any], source: ExactSampler) -> Whole:
    """Return the indices of values in a public domain; others, whatever they are, get one of its values at random.

    Nothing is refused because of a value, for whoever sees that nothing is sent would learn that it is a strange one.
    """
    _refuse_single(values, "The values")
    try:
        found = _looked_up(values, domain)
    except Exception:  # noqa: BLE001 - whatever a value does, its report leaves
        found = np.array([_looked_up_one(value, domain) for value in values], dtype=np.int64)
    drawn = source.integers(len(domain), len(found))
    return np.where(found < 0, drawn, found)


def are_different(values: Sequence[Any]) -> bool:
    """Return whether values can be a public domain: at least two, all different by their texts, and none missing."""
    try:
        written = {format_value(value) for value in values}
    except TypeError:
        return False
    return MIN_VALUES <= len(values) == len(written)


def told_values(values: Sequence[Any]) -> str:
    """Say what a domain lacks, without its values."""
    try:
        return f"{len(values)} values, {len({format_value(value) for value in values})} of them different"
    except TypeError:
        return "one that is missing or of no known type; name it, as in 'none'"


def _refuse_single(values: Any, what: str) -> None:
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise SchemaError(f"{what} must be a column; put a single value into a list.")


def _looked_up(values: Any, domain: Sequence[Any]) -> Whole:
    """Return the indices of values in a domain, by their canonical texts, and -1 for others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from sfumato.io._values import format_values

    column = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
    written = format_values(column)
    if written.type != pa.string():
        written = written.cast(pa.string())
    found = pc.index_in(written, value_set=pa.array([format_value(value) for value in domain], pa.string()))
    return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _looked_up_one(value: object, domain: Sequence[Any]) -> int:
    try:
        return int(_looked_up([value], domain)[0])
    except Exception:  # noqa: BLE001 - the same
        return -1
