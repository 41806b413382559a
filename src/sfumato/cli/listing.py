"""Lists of models, algorithms and masking steps, for people and for programs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from sfumato._plugins import BUILT_IN, Registry, RegistryEntry
from sfumato.cli._options import Json, format_examples
from sfumato.cli._output import print_json, printable
from sfumato.io.formats import FORMATS, Format

if TYPE_CHECKING:
    from sfumato.tables.algorithms.base import TableAlgorithm
    from sfumato.tables.masking.base import MaskingStep
    from sfumato.tables.models.base import GroupModel


T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ListEntry:
    """One choice: its facts for machines, a first line and sentences for people."""

    facts: dict[str, Any]
    first: str
    sentences: tuple[str, ...]


def print_choices(choices: Registry[T], describe: Callable[[T], ListEntry], *, json: bool) -> None:
    """Print every choice, and of one that cannot be used, why not."""
    listed = [
        (each, _broken_plugin(each) if each.choice is None else describe(each.choice)) for each in choices.entries()
    ]
    if json:
        print_json([{**told.facts, "package": each.package} for each, told in listed])
    else:
        typer.echo("\n\n".join(_paragraph(told, each.package) for each, told in listed))


def describe_class(choice: type[GroupModel | TableAlgorithm | MaskingStep]) -> ListEntry:
    """Tell name, parameters, first sentence and reference of a model, algorithm or masking step."""
    from sfumato.tables._catalogue import describe_choice

    facts: dict[str, Any] = describe_choice(choice)
    facts["summary"] = _strip_markup(facts["summary"])
    parameters = ", ".join(_parameter(*item) for item in facts["parameters"].items())
    return ListEntry(
        facts=facts,
        first=f"{facts['name']}  ({parameters})",
        sentences=(facts["summary"], *_purpose_of(facts["facts"]), facts["reference"]),
    )


def _purpose_of(facts: dict[str, Any]) -> tuple[str, ...]:
    """Say which attack a model stops, or what an algorithm gives.

    >>> _purpose_of({"stops": "Linkage: finding a record."})
    ('Stops linkage: finding a record.',)
    """
    stops = facts.get("stops", "")
    stopped = (f"Stops {stops[:1].lower()}{stops[1:]}",) if ": " in stops else ()
    return (*stopped, *([facts["gives"]] if "gives" in facts else []))


def _broken_plugin(each: RegistryEntry[Any]) -> ListEntry:
    facts = {"name": each.name, "problem": each.problem}
    return ListEntry(facts=facts, first=f"{each.name}  (cannot be used)", sentences=(each.problem or "",))


def _paragraph(told: ListEntry, package: str) -> str:
    sentences = told.sentences if package == BUILT_IN else (*told.sentences, f"From the package {package}.")
    wrapped = textwrap.TextWrapper(width=96, initial_indent="    ", subsequent_indent="    ")
    lines = [line for sentence in sentences for line in wrapped.wrap(printable(sentence))]
    return "\n".join([printable(told.first), *lines])


def _parameter(name: str, facts: dict[str, Any]) -> str:
    kind = facts["type"].removeprefix("Literal")
    return f"{name}: {kind} = {facts['default']!r}" if "default" in facts else f"{name}: {kind}"


def _strip_markup(summary: str) -> str:
    """Drop the markup of formulas and references.

    >>> _strip_markup("Require at least $k$ records [1]_.")
    'Require at least k records.'
    """
    return re.sub(r"\\ell\b", "l", re.sub(r"(,?\s*\[\d+\]_)+|\$", "", summary))


# `sfumato algorithms`: list the algorithms.

ALGORITHM_EXAMPLES = format_examples("sfumato algorithms", "sfumato algorithms --json")


def list_algorithms(*, json: Json = False) -> None:
    """List the anonymization algorithms."""
    from sfumato.tables._catalogue import ALGORITHMS

    print_choices(ALGORITHMS, describe_class, json=json)


# `sfumato models`: list the privacy models.

MODEL_EXAMPLES = format_examples("sfumato models", "sfumato models --json")


def list_models(*, json: Json = False) -> None:
    """List the privacy models that can be promised."""
    from sfumato.tables._catalogue import MODELS

    print_choices(MODELS, describe_class, json=json)


# `sfumato steps`: list the masking steps.

STEP_EXAMPLES = format_examples("sfumato steps", "sfumato steps --json")


def list_masking_steps(*, json: Json = False) -> None:
    """List the masking steps that can be carried out before or instead of a search."""
    from sfumato.tables._catalogue import MASKING_STEPS

    print_choices(MASKING_STEPS, describe_class, json=json)


# `sfumato formats`: what tables are read from and written to.

FORMAT_EXAMPLES = format_examples("sfumato formats", "sfumato formats --json")


def list_formats(*, json: Json = False) -> None:
    """List the formats: what tables are read from and written to."""
    print_choices(FORMATS, _describe_format, json=json)


def _describe_format(form: Format) -> ListEntry:
    marks = [*form.suffixes, *(f"{scheme}://" for scheme in form.schemes)]
    told = [form.kind[:1].upper() + form.kind[1:]]
    told += ["only read"] if form.write is None else ["only written"] if form.read is None else []
    told += [f"reading takes {', '.join(form.read_options)}"] if form.read_options else []
    told += [f"writing takes {', '.join(form.write_options)}"] if form.write_options else []
    told += [f'needs pip install "sfumato[{form.extra}]"'] if form.extra else []
    return ListEntry(
        facts={
            "name": form.name,
            "kind": form.kind,
            "marks": marks,
            "reading": None if form.read is None else list(form.read_options),
            "writing": None if form.write is None else list(form.write_options),
            "extra": form.extra or None,
        },
        first=f"{form.name}  ({', '.join(marks)})",
        sentences=(f"{'; '.join(told)}.",),
    )
