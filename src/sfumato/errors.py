"""The exceptions, as a tree.

    SfumatoError
    ├── InvalidParameterError (ValueError)   a parameter is outside its range
    ├── SchemaError (ValueError)             roles, scales or columns do not fit the table
    ├── HierarchyError (ValueError)          a hierarchy misses values or is not a function
    ├── ReadError                            a file, database or table cannot be read
    ├── WriteError                           a file or database cannot be written; no partial file remains
    ├── RecipeError (ValueError)             a recipe file cannot be understood
    ├── PluginError                          what another package adds cannot be used
    ├── InfeasibleError                      no release can keep the promise
    ├── UnsupportedModelError (ValueError)   an algorithm does not support a model
    ├── ProtocolError                        another party broke the protocol or left
    └── GuaranteeViolatedError               a release failed its own audit and was withheld

`ReadWarning` is no error: it says what was found out about a file, or looks odd in it. Nor is `ReleaseWarning`: it says
that earlier releases of the same individuals lie beside a new one.

Every message is one sentence that names columns, parameters and counts, never cell values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    Plain: TypeAlias = str | float | list[str] | dict[str, str | float]

__all__ = [
    "GuaranteeViolatedError",
    "HierarchyError",
    "InfeasibleError",
    "InvalidParameterError",
    "PluginError",
    "ProtocolError",
    "ReadError",
    "ReadWarning",
    "RecipeError",
    "ReleaseWarning",
    "SchemaError",
    "SfumatoError",
    "UnsupportedModelError",
    "WriteError",
]


class SfumatoError(Exception):
    """The base of all errors that Sfumato raises."""


class InvalidParameterError(SfumatoError, ValueError):
    """A parameter is outside its range."""


class SchemaError(SfumatoError, ValueError):
    """Roles, scales or columns do not fit the table."""


class HierarchyError(SfumatoError, ValueError):
    """A hierarchy misses values or is not a function."""


class ReadError(SfumatoError):
    """A file, database or table cannot be read."""


class WriteError(SfumatoError):
    """A file or database cannot be written."""


class RecipeError(SfumatoError, ValueError):
    """A recipe or another TOML file cannot be read or understood."""


class PluginError(SfumatoError):
    """What another package adds to Sfumato cannot be used."""


class InfeasibleError(SfumatoError):
    """No release can keep the promise.

    `advice` lists single changes that would let it go on, as plain values: the share of records in `max_suppressed`,
    the name of another `algorithm`, or of a `model`, with its attributes, the `parameter` and its `value`; or to
    `count_rows`, with the key and the fields of the sentence that says why.
    """

    def __init__(self, sentence: str, advice: Sequence[Mapping[str, Plain]] = ()) -> None:
        super().__init__(sentence)
        self.advice = tuple(advice)


class UnsupportedModelError(SfumatoError, ValueError):
    """An algorithm does not support one of the models."""


class ProtocolError(SfumatoError):
    """Another party broke the protocol or left."""


class GuaranteeViolatedError(SfumatoError):
    """A release failed its own audit and was withheld."""


class ReadWarning(UserWarning):
    """Something was found out about a file when it was read, or looks odd in it."""


class ReleaseWarning(UserWarning):
    """A release is written beside another of the same individuals, which no promise is about."""
