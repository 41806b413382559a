"""What there is to choose from, for people and for machines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli.printing import print_json, printable
from sfumato.plugins import OURS

if TYPE_CHECKING:
    from sfumato.algorithms.base import Algorithm
    from sfumato.models.base import PrivacyModel
    from sfumato.plugins import Choices


def print_choices(choices: Choices[type[PrivacyModel]] | Choices[type[Algorithm]], *, json: bool) -> None:
    """Print name, parameters, first sentence and reference of every choice; of one that cannot be used, why not."""
    from sfumato.catalogue import describe_choice

    described: list[dict[str, Any]] = []
    for each in choices.listed():
        about = {"name": each.name, "problem": each.problem} if each.choice is None else describe_choice(each.choice)
        described.append({**about, "package": each.package})
    print_described(described, json=json)


def print_described(described: Sequence[dict[str, Any]], *, json: bool) -> None:
    """Print what there is, for people or as JSON; people are told the package where it is another one than Sfumato."""
    for each in described:
        if "summary" in each:
            each["summary"] = _plain(each["summary"])
    if json:
        print_json(described)
    else:
        typer.echo("\n\n".join("\n".join(_lines(each)) for each in described))


def _lines(choice: dict[str, Any]) -> Iterator[str]:
    if "problem" in choice:
        yield f"{printable(choice['name'])}  (cannot be used)"
    else:
        yield f"{choice['name']}  ({', '.join(_parameter(*item) for item in choice['parameters'].items())})"
    told = [choice.get("summary"), choice.get("reference"), choice.get("problem")]
    if choice["package"] != OURS and "problem" not in choice:
        told.append(f"From the package {choice['package']}.")
    for text in filter(None, told):
        yield from textwrap.wrap(printable(text), width=96, initial_indent="    ", subsequent_indent="    ")


def _parameter(name: str, facts: dict[str, Any]) -> str:
    kind = facts["type"].removeprefix("Literal")
    return f"{name}: {kind} = {facts['default']!r}" if "default" in facts else f"{name}: {kind}"


def _plain(summary: str) -> str:
    """Drop the marks of formulas and references.

    >>> _plain("Require at least $k$ records [1]_.")
    'Require at least k records.'
    """
    return re.sub(r"\\ell\b", "l", re.sub(r"(,?\s*\[\d+\]_)+|\$", "", summary))
