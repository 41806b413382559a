"""Lists of models, algorithms and masking steps, for people and for programs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from sfumato.cli.printing import print_json, printable
from sfumato.plugins import OURS, Choices, Listed

if TYPE_CHECKING:
    from sfumato.algorithms.base import Algorithm
    from sfumato.masking.base import MaskingStep
    from sfumato.models.base import PrivacyModel

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class DescribedChoice:
    """One choice: its facts for machines, a first line and sentences for people."""

    facts: dict[str, Any]
    first: str
    sentences: tuple[str, ...]


def print_choices(choices: Choices[T], describe: Callable[[T], DescribedChoice], *, json: bool) -> None:
    """Print every choice, and of one that cannot be used, why not."""
    listed = [(each, _broken(each) if each.choice is None else describe(each.choice)) for each in choices.listed()]
    if json:
        print_json([{**told.facts, "package": each.package} for each, told in listed])
    else:
        typer.echo("\n\n".join(_paragraph(told, each.package) for each, told in listed))


def describe_class(choice: type[PrivacyModel | Algorithm | MaskingStep]) -> DescribedChoice:
    """Tell name, parameters, first sentence and reference of a model, algorithm or masking step."""
    from sfumato.catalogue import describe_choice

    facts: dict[str, Any] = describe_choice(choice)
    facts["summary"] = _plain(facts["summary"])
    parameters = ", ".join(_parameter(*item) for item in facts["parameters"].items())
    return DescribedChoice(
        facts=facts,
        first=f"{facts['name']}  ({parameters})",
        sentences=(facts["summary"], *_said(facts["facts"]), facts["reference"]),
    )


def _said(facts: dict[str, Any]) -> tuple[str, ...]:
    """Say which attack a model stops, or what an algorithm gives.

    >>> _said({"stops": "Linkage: finding a record."})
    ('Stops linkage: finding a record.',)
    """
    stops = facts.get("stops", "")
    stopped = (f"Stops {stops[:1].lower()}{stops[1:]}",) if ": " in stops else ()
    return (*stopped, *([facts["gives"]] if "gives" in facts else []))


def _broken(each: Listed[Any]) -> DescribedChoice:
    facts = {"name": each.name, "problem": each.problem}
    return DescribedChoice(facts=facts, first=f"{each.name}  (cannot be used)", sentences=(each.problem or "",))


def _paragraph(told: DescribedChoice, package: str) -> str:
    sentences = told.sentences if package == OURS else (*told.sentences, f"From the package {package}.")
    wrapped = textwrap.TextWrapper(width=96, initial_indent="    ", subsequent_indent="    ")
    lines = [line for sentence in sentences for line in wrapped.wrap(printable(sentence))]
    return "\n".join([printable(told.first), *lines])


def _parameter(name: str, facts: dict[str, Any]) -> str:
    kind = facts["type"].removeprefix("Literal")
    return f"{name}: {kind} = {facts['default']!r}" if "default" in facts else f"{name}: {kind}"


def _plain(summary: str) -> str:
    """Drop the markup of formulas and references.

    >>> _plain("Require at least $k$ records [1]_.")
    'Require at least k records.'
    """
    return re.sub(r"\\ell\b", "l", re.sub(r"(,?\s*\[\d+\]_)+|\$", "", summary))
