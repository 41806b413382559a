"""Roles: what an attribute is to an adversary."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

# The policy for missing values: one choice, the same in search and audit.


class MissingPolicy(StrEnum):
    """How a missing value is read.

    own-value: a missing quasi-identifier is a value like any other and equals only itself. matches-all: it may be
    anything, so it matches every value, and the worst that it may be counts. Under both policies, a missing sensitive
    value is no value: it may be anything, so it never makes a group more diverse.
    """

    OWN_VALUE = "own-value"
    MATCHES_ALL = "matches-all"


SENSITIVE = MissingPolicy.MATCHES_ALL  # how sensitive values are counted under every policy

MissingName: TypeAlias = Literal["own-value", "matches-all"]


class Role(StrEnum):
    """What happens to an attribute.

    identifier: identifies a person, never published. quasi: known to the adversary, generalized. sensitive: what
    she wants to learn, protected by models. insensitive: published unchanged.
    """

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"

    @property
    def field(self) -> str:
        """The parameter of `Schema` that lists the attributes of this role."""
        return {"identifier": "identifiers", "quasi": "quasi_identifiers"}.get(self.value, self.value)


# Scales: how the values of one attribute can be compared.


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
