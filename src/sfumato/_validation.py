"""The one check of parameters, so that all error messages read alike."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from math import isfinite

from sfumato.errors import InvalidParameterError

LONGEST_SHOWN = 120
MOST_CONFIDENCE = 1 - 1e-9  # beyond it, what is left for an error is lost in rounding


def require(condition: bool, owner: object, parameter: str, expected: str, got: object) -> None:
    """Refuse a parameter outside its range, stating what was expected.

    >>> require(0 >= 1, "KAnonymity", "k", "at least 1", 0)
    Traceback (most recent call last):
    ...
    sfumato.errors.InvalidParameterError: KAnonymity.k must be at least 1; got 0.
    """
    if not condition:
        raise InvalidParameterError(f"{owner_name(owner)}.{parameter} must be {expected}; got {_format_value(got)}.")


def owner_name(owner: object) -> str:
    """Return the name by which messages call whoever asks: a function's is given, an object's is that of its class."""
    return owner if isinstance(owner, str) else type(owner).__name__


def _format_value(got: object) -> str:
    """Show a value only if it is short and simple: anything else may be a table, whose cells must not be shown."""
    written = repr(got) if isinstance(got, str | int | float | list | tuple | dict | None) else ""
    return written if 0 < len(written) <= LONGEST_SHOWN and "\n" not in written else type(got).__name__


def is_integer(value: object) -> bool:
    """Return whether a value is a whole number (and not a boolean)."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_finite_number(value: object) -> bool:
    """Return whether a value is a finite real number (and not a boolean)."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def check_confidence(owner: object, confidence: object) -> None:
    """Refuse a confidence that is not above 0, or so near to 1 that its intervals could not be computed."""
    good = isinstance(confidence, int | float) and is_finite_number(confidence) and 0 < confidence <= MOST_CONFIDENCE
    require(good, owner, "confidence", f"above 0 and at most {MOST_CONFIDENCE}", confidence)


def is_weight_mapping(given: object) -> bool:
    """Return whether a value maps names to numbers of at least 0."""
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and is_finite_number(weight) and weight >= 0 for name, weight in given.items()
    )


def suggest_closest(name: str, known: Iterable[str]) -> str:
    """Return `"; did you mean 'zip'?"` if a known name is close, otherwise an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
