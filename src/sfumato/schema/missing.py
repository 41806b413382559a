"""The policy for missing values: one choice, the same in search and audit."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias


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
