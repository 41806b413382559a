"""Top and bottom coding: what both ends share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._locale.messages import LocalizedText
from sfumato._randomness import KeyedRandom
from sfumato._validation import is_finite_number, require
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.io._values import format_value, format_values
from sfumato.tables.masking._numbers import Floats, il1s, mean_shift, to_column, to_matrix
from sfumato.tables.masking.base import MaskingStep, StepDescription, changed_share, replace_columns

FEWEST_TO_AVERAGE = 3
LARGEST_PART = 0.8


@dataclass(frozen=True, kw_only=True)
class ExtremeCoding(MaskingStep):
    """Replace the values beyond a bound; `TopCode` and `BottomCode` say on which side."""

    sign: ClassVar[int]

    column: str
    at: float | None = None
    quantile: float | None = None
    publish: Literal["bound", "interval", "mean"] = "bound"
    value: float | None = None
    limit: float | None = None

    def __post_init__(self) -> None:
        require(isinstance(self.column, str), self, "column", "the name of a column", self.column)
        name = type(self).__name__
        if (self.at is None) == (self.quantile is None):
            raise InvalidParameterError(f"{name} needs a bound: give either at or quantile.")
        require(self.at is None or is_finite_number(self.at), self, "at", "a number", self.at)
        inside = self.quantile is None or (is_finite_number(self.quantile) and 0 < self.quantile < 1)
        require(inside, self, "quantile", "a share in (0, 1)", self.quantile)
        require(self.publish in ("bound", "interval", "mean"), self, "publish", "bound, interval or mean", self.publish)
        require(self.value is None or is_finite_number(self.value), self, "value", "a number", self.value)
        require(self.limit is None or is_finite_number(self.limit), self, "limit", "a number", self.limit)
        if self.value is not None and self.publish != "bound":
            raise InvalidParameterError(f"{name}.value stands in the place of the bound; leave publish out.")
        if self.limit is not None and self.publish != "interval":
            raise InvalidParameterError(f"{name}.limit ends an interval; give publish='interval', too.")
        if self.limit is not None and self.at is not None:
            require((self.limit - self.at) * self.sign > 0, self, "limit", "beyond the bound", self.limit)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The column that is coded."""
        return (self.column,)

    @property
    def covers(self) -> bool:
        """Whether coded cells are intervals."""
        return self.publish == "interval"

    @abstractmethod
    def interval(self, bound: float) -> str:
        """Write the interval of coded values."""

    def apply(self, table: pa.Table, stream: KeyedRandom) -> pa.Table:  # noqa: ARG002 - nothing is drawn
        """Code the values beyond the bound."""
        self.check_columns(table)
        values, kind = to_matrix(self, table, [self.column])[:, 0], table[self.column].type
        bound = self._bound(values)
        beyond = self._outside(values, bound)
        if self.covers:
            return replace_columns(table, {self.column: self._intervals(table[self.column], values, beyond, bound)})
        coded = np.where(beyond, self._value(values[beyond], bound), values)
        whole = pa.types.is_integer(kind) and (self.publish == "mean" or bool(np.all(np.mod(coded, 1)[beyond] == 0)))
        return replace_columns(table, {self.column: to_column(coded, kind if whole else pa.float64())})

    def measure(self, before: pa.Table, after: pa.Table) -> dict[str, float]:
        """Measure how many cells are coded, and what that does to cells and the mean."""
        values = to_matrix(self, before, [self.column])
        beyond = int(self._outside(values[:, 0], self._bound(values[:, 0])).sum())
        found = {
            "changed-cells": changed_share(before, after, [self.column]),
            "coded-cells": float(beyond),
        }
        if self.covers:
            return found
        coded = to_matrix(self, after, [self.column])
        return {**found, "scaled-change": il1s(values, coded), "mean-shift": mean_shift(values, coded)}

    def warnings(self, before: pa.Table, after: pa.Table, measures: Mapping[str, float]) -> tuple[str, ...]:
        """Warn of a bound beyond all values, and of few coded ones, whom the coded cell points to."""
        values = to_matrix(self, before, [self.column])[:, 0]
        beyond = int(self._outside(values, self._bound(values)).sum())
        if 0 < beyond < FEWEST_TO_AVERAGE:
            return (LocalizedText("masking.warnings.few_coded", n=beyond, column=self.column),)
        return super().warnings(before, after, measures)

    def _bound(self, values: Floats) -> float:
        if self.at is not None:
            return float(self.at)
        known = values[~np.isnan(values)]
        if not len(known):
            return 0.0
        assert self.quantile is not None  # noqa: S101 - one of both is given
        return float(np.quantile(known, self.quantile, method="inverted_cdf"))

    def _outside(self, values: Floats, bound: float) -> npt.NDArray[np.bool_]:
        with np.errstate(invalid="ignore"):
            return np.asarray(values * self.sign > bound * self.sign)

    def _value(self, coded: Floats, bound: float) -> float:
        if self.value is not None:
            return float(self.value)
        if self.publish == "bound" or not len(coded):
            return bound
        largest = float(np.abs(coded).max() / max(np.abs(coded).sum(), np.finfo(float).tiny))
        if len(coded) < FEWEST_TO_AVERAGE or largest > LARGEST_PART:
            raise InfeasibleError(
                f"{type(self).__name__} would publish a mean of {self.column!r} that shows a single person's value: it "
                f"needs at least {FEWEST_TO_AVERAGE} coded cells, none of them above {LARGEST_PART:.0%} of the sum; "
                "publish the bound."
            )
        return float(coded.mean())

    def _intervals(
        self, column: pa.ChunkedArray, values: Floats, beyond: npt.NDArray[np.bool_], bound: float
    ) -> pa.ChunkedArray:
        if self.limit is not None:
            outside = int(self._outside(values, self.limit).sum())
            if outside:
                raise SchemaError(
                    f"{type(self).__name__}.limit is not the limit: {outside:,} cells of {self.column!r} lie beyond it."
                )
        written = pc.if_else(pa.array(beyond), self.interval(bound), format_values(column))
        return pa.chunked_array([written])


def format_bound(number: float) -> str:
    """Write a bound as cells are written."""
    return format_value(int(number) if float(number).is_integer() else float(number))


# Top coding: show no value above a bound.


@dataclass(frozen=True, kw_only=True)
class TopCode(ExtremeCoding):
    """Replace every value above a bound, such as ages above 90 [1]_.

    Parameters
    ----------
    column : a column of numbers.
    at : the bound; the bound itself is not coded.
    quantile : the bound as a share of the values that lie at or below it, such as 0.99; the bound then depends on the
        data, and is published.
    publish : what stands in coded cells: the `"bound"`, an `"interval"` such as `>90`, which makes the column text, or
        the `"mean"` of the coded values, which is refused where it would show one person's value.
    value : a number to publish instead of the bound.
    limit : the upper end of the interval, as the owner declares it; never the largest value of the data.

    References
    ----------
    .. [1] Hundepool et al., "Statistical Disclosure Control", Wiley, 2012. https://doi.org/10.1002/9781118348239
    """

    name = "top-code"
    reference = "Hundepool et al. 2012, https://doi.org/10.1002/9781118348239"
    description = StepDescription(
        promise="No value above the bound is shown.",
        open="How many persons lie above the bound is not promised; a single one is still found there, and known to be "
        "above it.",
    )
    sign = 1

    def interval(self, bound: float) -> str:
        """Write the interval of coded values."""
        return (
            f">{format_bound(bound)}" if self.limit is None else f"({format_bound(bound)}, {format_bound(self.limit)}]"
        )


# Bottom coding: show no value below a bound.


@dataclass(frozen=True, kw_only=True)
class BottomCode(ExtremeCoding):
    """Replace every value below a bound, such as very small incomes [1]_.

    Parameters
    ----------
    column : a column of numbers.
    at : the bound; the bound itself is not coded.
    quantile : the bound as a share of the values that lie at or below it, such as 0.01; the bound then depends on the
        data, and is published.
    publish : what stands in coded cells: the `"bound"`, an `"interval"` such as `<5`, which makes the column text, or
        the `"mean"` of the coded values, which is refused where it would show one person's value.
    value : a number to publish instead of the bound.
    limit : the lower end of the interval, as the owner declares it; never the smallest value of the data.

    References
    ----------
    .. [1] Hundepool et al., "Statistical Disclosure Control", Wiley, 2012. https://doi.org/10.1002/9781118348239
    """

    name = "bottom-code"
    reference = "Hundepool et al. 2012, https://doi.org/10.1002/9781118348239"
    description = StepDescription(
        promise="No value below the bound is shown.",
        open="How many persons lie below the bound is not promised; a single one is still found there, and known to be "
        "below it.",
    )
    sign = -1

    def interval(self, bound: float) -> str:
        """Write the interval of coded values."""
        return (
            f"<{format_bound(bound)}" if self.limit is None else f"[{format_bound(self.limit)}, {format_bound(bound)})"
        )
