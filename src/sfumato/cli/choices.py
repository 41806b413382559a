"""Lists of models and algorithms, for people and for programs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli.printing import print_json

if TYPE_CHECKING:
    from sfumato.algorithms.base import Algorithm
    from sfumato.models.base import PrivacyModel


def print_choices(choices: Iterable[type[PrivacyModel | Algorithm]], *, json: bool) -> None:
    """Print the name, parameters, first sentence and reference of every choice."""
    from sfumato.catalogue import describe_choice

    described: list[dict[str, Any]] = [describe_choice(choice) for choice in choices]
    for each in described:
        each["summary"] = _plain(each["summary"])
    if json:
        print_json(described)
    else:
        typer.echo("\n\n".join("\n".join(_lines(each)) for each in described))


def _lines(choice: dict[str, Any]) -> Iterator[str]:
    yield f"{choice['name']}  ({', '.join(_parameter(*item) for item in choice['parameters'].items())})"
    for text in (choice["summary"], choice["reference"]):
        yield from textwrap.wrap(text, width=96, initial_indent="    ", subsequent_indent="    ")


def _parameter(name: str, facts: dict[str, Any]) -> str:
    kind = facts["type"].removeprefix("Literal")
    return f"{name}: {kind} = {facts['default']!r}" if "default" in facts else f"{name}: {kind}"


def _plain(summary: str) -> str:
    """Drop the markup of formulas and references.

    >>> _plain("Require at least $k$ records [1]_.")
    'Require at least k records.'
    """
    return re.sub(r"\\ell\b", "l", re.sub(r"(,?\s*\[\d+\]_)+|\$", "", summary))
