"""PRAM, the post-randomization method: categories are changed with known odds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, require
from sfumato.errors import SchemaError
from sfumato.io._columns import is_text_type
from sfumato.io._values import encode_distinct, format_distinct_values
from sfumato.tables.masking.base import ColumnsStep, StepDescription, changed_share, check_names, replace_columns

Matrix = npt.NDArray[np.float64]
ROW_SUM = 1e-9
SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class CountEstimate:
    """Unbiased estimates of the counts of the original from published counts, with their covariances.

    An estimate may be negative: it is not clipped, for that would make it biased.
    """

    labels: tuple[str, ...]
    counts: Matrix
    covariance: Matrix


@dataclass(frozen=True, kw_only=True)
class PRAM(ColumnsStep):
    """Change every category with known odds, each cell on its own [1]_.

    Missing cells stay missing. With `invariant`, published counts are unbiased as they are; otherwise `estimate`
    corrects them.

    Parameters
    ----------
    columns : columns of text or of booleans, each changed for itself.
    keep : the chance that a cell stays as it is, in (0, 1); all other values are equally likely.
    matrix : instead of `keep`, the chances of every value (in rows) to become every other (in columns), in the order
        of `labels`; for a single column.
    labels : the values that the rows and columns of `matrix` stand for.
    invariant : whether the matrix is changed so that the expected counts are those of the original.
    alpha : how much an invariant matrix changes: 1 as it is, towards 0 less and less.

    References
    ----------
    .. [1] Gouweleeuw, Kooiman, Willenborg and de Wolf, "Post randomisation for statistical disclosure control: theory
       and implementation", Journal of Official Statistics 14(4), 1998.
    """

    name = "pram"
    reference = "Gouweleeuw et al., Journal of Official Statistics 14(4), 1998"
    description = StepDescription(
        promise="A category may be another one, with known odds: of no single cell can anybody be sure.",
        open="No number of persons is promised to look alike. Tables that cross these columns with others are "
        "weakened, and combinations may appear that cannot exist. Another draw for the same persons tells more.",
    )

    keep: float | None = None
    matrix: Sequence[Sequence[float]] | None = field(default=None, hash=False)
    labels: Sequence[str] = ()
    invariant: bool = False
    alpha: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require((self.keep is None) != (self.matrix is None), self, "keep", "given, or else matrix", self.keep)
        inside = self.keep is None or (is_finite_number(self.keep) and 0 < self.keep < 1)
        require(inside, self, "keep", "a chance in (0, 1)", self.keep)
        require(isinstance(self.invariant, bool), self, "invariant", "true or false", self.invariant)
        require(is_finite_number(self.alpha) and 0 < self.alpha <= 1, self, "alpha", "in (0, 1]", self.alpha)
        require(self.invariant or self.alpha == 1, self, "alpha", "1 unless invariant", self.alpha)
        if self.matrix is not None:
            self._check_matrix()

    @property
    def random(self) -> bool:
        """Values are drawn."""
        return True

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:
        """Draw a value for every cell."""
        self.check_columns(table)
        found = {}
        for name in self.columns:
            values, codes = self._coded(name, table[name])
            known = codes < len(values)
            if not known.any():
                continue
            drawn = draw_values(
                self._transition_matrix(np.bincount(codes[known], minlength=len(values))), codes[known], stream
            )
            anew = np.zeros(len(codes), dtype=np.int64)
            anew[known] = drawn
            found[name] = pa.chunked_array([values.take(pa.array(anew, mask=~known))])
        return replace_columns(table, found)

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Measure how many cells changed, and the largest total variation between counts before and after."""
        return {
            "changed-cells": changed_share(before, after, self.columns),
            "total-variation": max(total_variation(before[name], after[name]) for name in self.columns),
        }

    def plain_matrix(self, labels: Sequence[str]) -> Matrix:
        """Return the chances of every value to become every other, before they are made invariant."""
        if self.matrix is not None:
            return np.asarray(self.matrix, dtype=np.float64)
        assert self.keep is not None  # noqa: S101 - one of both is given
        count = len(labels)
        require(count > 1, self, "columns", "of at least two different values", count)
        found = np.full((count, count), (1 - self.keep) / (count - 1))
        np.fill_diagonal(found, self.keep)
        return found

    def epsilon(self, labels: Sequence[str]) -> float:
        """Return the local differential privacy of the plain matrix: infinite where a value tells another one out."""
        require(not self.invariant, self, "invariant", "false: an invariant matrix depends on the data", self.invariant)
        chances = self.plain_matrix(labels)
        most, least = chances.max(axis=0), chances.min(axis=0)
        shown = most > 0
        return float(np.log(most[shown] / least[shown]).max()) if (least[shown] > 0).all() else float("inf")

    def estimate(self, published: Mapping[str, int]) -> CountEstimate:
        """Estimate the counts of the original from the published counts of all its values, without bias.

        Counts under an invariant matrix are their own estimate; their covariances depend on the original, and are NaN.

        Parameters
        ----------
        published : the count of every value; values that may occur but do not have 0.
        """
        labels = tuple(self.labels or sorted(published))
        require(set(published) <= set(labels), self, "labels", "all values that are counted", len(published))
        counts = np.array([published.get(label, 0) for label in labels], dtype=np.float64)
        if self.invariant:
            return CountEstimate(labels, counts, np.full((len(labels), len(labels)), np.nan))
        chances = self.plain_matrix(labels)
        if np.linalg.svd(chances, compute_uv=False)[-1] < SINGULAR:
            raise SchemaError("The matrix of Pram cannot be inverted, so nothing can be estimated; keep more.")
        inverse = np.linalg.inv(chances)
        found = counts @ inverse
        spread = np.diag(found @ chances) - chances.T @ (found[:, None] * chances)
        return CountEstimate(labels, found, np.asarray(inverse.T @ spread @ inverse))

    def public_parameters(self) -> dict[str, object]:
        """Return what receivers may know: of an invariant matrix nothing that the original's counts follow from."""
        told = self.parameters()
        return {name: told[name] for name in ("columns", "invariant")} if self.invariant else told

    def _coded(self, name: str, column: pa.ChunkedArray) -> tuple[pa.Array, npt.NDArray[np.int64]]:
        """Return the values in the order of the matrix, and the place of every cell's among them; missing is last."""
        if not (is_text_type(column.type) or pa.types.is_boolean(column.type)):
            raise SchemaError(
                f"Pram changes categories, but column {name!r} holds numbers or dates; convert it to text, or use "
                "AddNoise."
            )
        distinct, codes = encode_distinct(column)
        found = format_distinct_values(distinct).to_pylist()
        labels = list(self.labels) or sorted(found)
        if len(labels) == 1:
            raise SchemaError(f"Column {name!r} has only one value, which Pram can change into nothing; leave it out.")
        strange = len(set(found) - set(labels))
        if strange:
            raise SchemaError(f"Pram.labels lacks {strange} values of column {name!r}; name all of them.")
        place = {label: at for at, label in enumerate(labels)}
        places = np.array([place[each] for each in found] + [len(labels)], dtype=np.int64)
        values = pa.array(labels, pa.string()).cast(column.type)
        return values, places[codes.fill_null(len(found)).to_numpy(zero_copy_only=False)]

    def _transition_matrix(self, counts: npt.NDArray[np.int64]) -> Matrix:
        plain = self.plain_matrix([""] * len(counts))
        return invariant_matrix(plain, counts, self.alpha) if self.invariant else plain

    def _check_matrix(self) -> None:
        rows = self.matrix
        assert rows is not None  # noqa: S101 - asked by those who know that it is there
        wanted = "a square list of lists of chances, each row summing to 1"
        require(_is_stochastic_matrix(rows), self, "matrix", wanted, rows)
        require(len(self.columns) == 1, self, "columns", "one column where a matrix is given", self.columns)
        labels = check_names(self, "labels", self.labels)
        require(len(labels) == len(rows), self, "labels", f"{len(rows)} values, as the matrix has rows", len(labels))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "matrix", tuple(tuple(float(each) for each in row) for row in rows))


def _is_stochastic_matrix(rows: object) -> bool:
    """Return whether something is a square list of lists of chances."""
    if not isinstance(rows, list | tuple) or len(rows) < 2:  # noqa: PLR2004 - one value has nothing to become
        return False
    square = all(isinstance(row, list | tuple) and len(row) == len(rows) for row in rows)
    good = square and all(is_finite_number(each) and each >= 0 for row in rows for each in row)
    return good and all(abs(sum(row) - 1) <= ROW_SUM for row in rows)


def invariant_matrix(plain: Matrix, counts: npt.NDArray[np.int64], alpha: float = 1.0) -> Matrix:
    """Change a matrix so that expected counts are the given ones; values that do not occur stay as they are.

    >>> counts = np.array([5, 3, 2])
    >>> chances = invariant_matrix(np.array([[.8, .1, .1], [.1, .8, .1], [.1, .1, .8]]), counts)
    >>> np.round(counts @ chances, 12).tolist()
    [5.0, 3.0, 2.0]
    """
    there = counts > 0
    shares = counts[there] / counts.sum()
    kept = plain[np.ix_(there, there)]
    stays = kept.sum(axis=1, keepdims=True)
    if (stays <= 0).any():
        raise SchemaError(
            "The matrix of Pram turns a value only into values that do not occur, so it cannot be made invariant; give "
            "every value a chance to stay."
        )
    kept = kept / stays
    shown = shares @ kept
    back = np.divide(kept * shares[:, None], shown, out=np.zeros_like(kept), where=shown > 0).T
    found = np.eye(len(counts))
    found[np.ix_(there, there)] = alpha * (kept @ back) + (1 - alpha) * np.eye(len(shares))
    return found


def draw_values(chances: Matrix, codes: npt.NDArray[np.int64], stream: KeyedRandom) -> npt.NDArray[np.int64]:
    """Draw for every code another one with the chances of its row: one search in all rows laid end to end."""
    count = len(chances)
    ends = np.minimum(np.cumsum(chances, axis=1), 1.0)
    ends[:, -1] = 1.0
    line = (ends + np.arange(count)[:, None]).ravel()
    return np.asarray(np.searchsorted(line, codes + stream.uniform(len(codes))) - codes * count, dtype=np.int64)


def total_variation(before: pa.ChunkedArray, after: pa.ChunkedArray) -> float:
    """Return half the summed difference of the shares of values, missing being one of them."""
    shares: dict[object, float] = {}
    for column, sign in ((before, 1), (after, -1)):
        for entry in column.value_counts().to_pylist():
            shares[entry["values"]] = shares.get(entry["values"], 0.0) + sign * entry["counts"] / len(column)
    return sum(abs(share) for share in shares.values()) / 2
