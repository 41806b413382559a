"""Bottom coding: show no value below a bound."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.masking.base import StepDescription
from sfumato.masking.coding_extremes import ExtremeCoding, format_bound


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
