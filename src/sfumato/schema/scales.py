"""Scales: what may be compared with what inside one attribute."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias


class Scale(StrEnum):
    """How the values of an attribute relate to each other.

    numeric: numbers and dates, with distances. ordinal: an order, no distances. categorical: a taxonomy
    says what belongs together. nominal: equal or not (booleans, names of things).
    """

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    NOMINAL = "nominal"

    @property
    def ordered(self) -> bool:
        """Whether values between two others are between them in meaning, too."""
        return self in {Scale.NUMERIC, Scale.ORDINAL}


ScaleName: TypeAlias = Literal["numeric", "ordinal", "categorical", "nominal"]
