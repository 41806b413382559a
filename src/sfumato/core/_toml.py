"""TOML files that people write: recipes, plans, agreements. One reader, one error, and no value in its sentence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from sfumato._validation import suggest_closest
from sfumato.errors import RecipeError

MAX_BYTES = 1 << 28
MAX_NESTED = 100
PLACE = re.compile(r"\((at line \d+, column \d+|at end of document)\)\Z")


def read_toml(path: Path, what: str, *, remedy: str = "") -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    path : the file.
    what : what kind of file it is, as errors name it.
    remedy : how to go on if it cannot be read, as errors end with it.

    Raises
    ------
    RecipeError
        If it is not there, too large, not UTF-8, not TOML, or nested too deep.
    """
    owner, end = f"The {what} {path}", _format_remedy(remedy)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RecipeError(f"{owner} cannot be read: {error.strerror}{end}") from None
    if len(content) > MAX_BYTES:
        raise RecipeError(f"{owner} is larger than any {what} should be, {MAX_BYTES >> 20:,} MiB{end}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RecipeError(f"{owner} is not UTF-8 text{end}") from None
    return _parse(text, owner, end)


def parse_toml(text: str, what: str, *, remedy: str = "") -> dict[str, Any]:
    """Parse a TOML text, as `read_toml` does what is in a file.

    >>> parse_toml("k = 5", "recipe")
    {'k': 5}
    >>> parse_toml("k = = 5", "recipe")
    Traceback (most recent call last):
    ...
    sfumato.errors.RecipeError: The recipe is not valid TOML, at line 1, column 5.
    """
    return _parse(text, f"The {what}", _format_remedy(remedy))


def get_table(content: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """Return the table that some keys lead to, empty if there is none; refuse what is something else.

    >>> get_table({"release": {"missing": "own-value"}}, "release")
    {'missing': 'own-value'}
    """
    table: Any = content
    for depth, key in enumerate(keys, start=1):
        table = table.get(key, {})
        if not isinstance(table, Mapping):
            raise RecipeError(f"[{'.'.join(keys[:depth])}] must be a table.")
    return cast("Mapping[str, Any]", table)


def check_known_keys(content: Mapping[str, Any], known: Collection[str], owner: str) -> None:
    """Refuse keys that nobody reads: they are misspelled.

    >>> check_known_keys({"algorithm": {}, "model": []}, ["algorithm", "models"], "The recipe")
    Traceback (most recent call last):
    ...
    sfumato.errors.RecipeError: The recipe has an unknown entry 'model'; did you mean 'models'?
    """
    for key in content:
        if key not in known:
            hint = suggest_closest(key, known) or f"; the known entries are {', '.join(known) or 'none'}."
            raise RecipeError(f"{owner} has an unknown entry {key!r}{hint}")


def get_section(content: Mapping[str, Any], name: str, known: Collection[str]) -> Mapping[str, Any]:
    """Return a table of which all keys are known."""
    found = get_table(content, name)
    check_known_keys(found, known, f"[{name}]")
    return found


def _format_remedy(remedy: str) -> str:
    return f"; {remedy}." if remedy else "."


def _parse(text: str, owner: str, end: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # its message may quote a value; besides TOMLDecodeError, numbers with too many digits
        place = PLACE.search(str(error))
        raise RecipeError(f"{owner} is not valid TOML{f', {place[1]}' if place else ''}{end}") from None
    except RecursionError:
        raise _nesting_error(owner, end) from None
    if _exceeds_depth(content, MAX_NESTED):
        raise _nesting_error(owner, end)
    return content


def _nesting_error(owner: str, end: str) -> RecipeError:
    return RecipeError(f"{owner} is nested more than {MAX_NESTED} deep{end}")


def _exceeds_depth(content: dict[str, Any], most: int) -> bool:
    """Return whether there are more tables and lists inside each other, without recursion."""
    layer: list[Any] = [content]
    for _ in range(most):
        members = (each.values() if isinstance(each, dict) else each for each in layer)
        layer = [each for inside in members for each in inside if isinstance(each, dict | list)]
    return bool(layer)
