"""How a table was read before: what a recipe remembers of it, and how to say it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sfumato.exceptions import InvalidParameterError, ReadError
from sfumato.table.formats.known import FORMATS, is_url, resolve_format

if TYPE_CHECKING:
    from sfumato.table.formats.base import Option


def column_types(given: Sequence[str]) -> dict[str, str]:
    """Read the types of columns.

    >>> column_types(["zip=text", "weight=number:kg"])
    {'zip': 'text', 'weight': 'number:kg'}
    """
    types: dict[str, str] = {}
    for each in given:
        name, sign, kind = each.rpartition("=")
        if not sign or not name or name in types:
            raise InvalidParameterError("Write --column-type once per column, as in zip=text.")
        types[name] = kind
    return types


def still_applicable(source: str, remembered: Mapping[str, Option], given: Mapping[str, Option]) -> dict[str, Option]:
    """Return what a recipe remembers and a table of this format can be read by."""
    if not remembered:
        return {}
    from sfumato.table.formats.parquet import is_multi_file

    form = FORMATS["parquet"] if not is_url(source) and is_multi_file(source) else resolve_format(source, ReadError)
    known = {*form.read_options, "column_types"}
    if {"table", "query"} & set(given):
        known -= {"table", "query"}
    return {name: value for name, value in remembered.items() if name in known}


def reading_as_options(reading: Mapping[str, Option]) -> str:
    """Write how a table is read as options of a command line.

    >>> reading_as_options({"separator": ";", "skip_rows": 2, "column_types": {"zip": "text"}})
    "--separator ';' --skip-rows 2 --column-type zip=text"
    """
    from sfumato.table.formats.headers import format_names

    words: list[str] = []
    for name, value in reading.items():
        if isinstance(value, Mapping):
            words += [f"--column-type {shlex.quote(f'{column}={kind}')}" for column, kind in value.items()]
        else:
            option = f"--{name.replace('_', '-')}"
            shown = format_names(value) if isinstance(value, tuple | list) else str(value)
            negated = option.replace("--", "--no-", 1)
            words.append(option if value is True else negated if value is False else f"{option} {shlex.quote(shown)}")
    return " ".join(words)
