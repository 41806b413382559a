"""Roles: what an attribute is to an adversary."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What happens to an attribute.

    identifier: identifies a person, never published. quasi: known to the adversary, generalized. sensitive: what
    she wants to learn, protected by models. insensitive: published unchanged.
    """

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
