"""Scales: how the values of one attribute can be compared."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias


class Scale(StrEnum):
    """How the values of an attribute relate to each other.

    numeric: numbers and dates, with distances. ordinal: an order without distances. categorical: a taxonomy
    groups the values. nominal: values are equal or not (booleans, labels).
    """

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    NOMINAL = "nominal"

    @property
    def ordered(self) -> bool:
        """Whether a value between two others is also between them in meaning."""
        return self in {Scale.NUMERIC, Scale.ORDINAL}


ScaleName: TypeAlias = Literal["numeric", "ordinal", "categorical", "nominal"]
