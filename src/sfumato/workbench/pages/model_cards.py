"""A model as a card: its sentence with fields for its numbers, the attack that it stops, and six records to show it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any

from sfumato.models.base import GroupModel
from sfumato.reporting.numbers import format_percent
from sfumato.reporting.words import model_texts
from sfumato.samples.six_patients import AttackExample, Rows, attack_example_for
from sfumato.words import Messages
from sfumato.workbench.desk import Session
from sfumato.workbench.pages.parameters import make_parameter_fields

PROTECTED = ("sensitive", "y")  # parameters that name a column to protect
KNOWN = ("quasi", "x")  # parameters that name quasi-identifiers
INLINE = ("whole", "number", "column", "choice")


def model_card(desk: Session, say: Messages, place: int, refused: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Arrange one model of the recipe.

    Parameters
    ----------
    desk : the project.
    say : the words of the page.
    place : its place among the models.
    refused : what the library refuses of this model.
    """
    model = desk.recipe.models[place]
    given = model.parameters()
    made = {each["name"]: each for each in model_fields(desk, say, type(model), given, ("models", str(place)))}
    pieces = list(
        _sentence_parts(
            model, made, say, flagged=any(name in desk.recipe.schema.flags for name in model.sensitive_attributes)
        )
    )
    inside = [piece["field"]["name"] for piece in pieces if "field" in piece]
    further = f"workbench_promise.means.{model.name}"
    return {
        **card_texts(type(model), say),
        "place": place,
        "pieces": pieces,
        "fields": [field for name, field in made.items() if name not in inside],
        "means": say(further, **given) if further in say else "",
        "refused": refused,
        "remove": {"set": [[["models", str(place)], None]]},
        "needs_population": model.needs_population,
    }


@cache
def card_texts(kind: type[GroupModel], say: Messages) -> dict[str, Any]:
    """Return what is told of a model without its parameters: name, attack that it stops, and what it leaves open."""
    example, words = attack_example_for(kind.name), model_texts(kind, say)
    return {
        "name": kind.name,
        "title": words.title,
        "stops": words.stops,
        "open": words.open,
        "example": None if example is None else example_context(example, say),
    }


def model_fields(
    desk: Session, say: Messages, kind: type[GroupModel], given: Mapping[str, Any], place: Sequence[str]
) -> list[dict[str, Any]]:
    """Describe a field for every parameter of a model, with its label and, for columns, what there is to choose."""
    schema = desk.recipe.schema
    found = []
    for field in make_parameter_fields(kind, given, place):
        name = field["name"]
        if name in PROTECTED:
            field |= {"kind": "column", "choices": tuple(dict.fromkeys((*schema.sensitive, *schema.flags)))}
        elif name in KNOWN:
            field |= {
                "kind": "columns",
                "choices": _column_checkboxes(schema.quasi_identifiers, field["value"] or (), place, name),
            }
        found.append({**field, "label": parameter_label(kind, name, say)})
    return found


def parameter_label(kind: type[GroupModel], name: str, say: Messages) -> str:
    """Return how people call a parameter; of another package's model, its name."""
    known = (f"workbench_promise.parameter.{each}" for each in (f"{kind.name}-{name}", name))
    return next((say(key) for key in known if key in say), name)


def _column_checkboxes(
    columns: Sequence[str], chosen: Sequence[str], place: Sequence[str], name: str
) -> list[dict[str, Any]]:
    """Describe a box for every quasi-identifier, with the change of the recipe that checking or clearing it makes."""
    found = []
    for column in columns:
        others = [each for each in columns if (each in chosen) != (each == column)]
        change = {"set": [[[*place, name], others or None]]}
        found.append({"name": column, "chosen": column in chosen, "change": json.dumps(change)})
    return found


def _sentence_parts(
    model: GroupModel, fields: Mapping[str, Mapping[str, Any]], say: Messages, *, flagged: bool
) -> Iterator[dict[str, Any]]:
    """Cut the sentence of a model into texts and fields."""
    own, words = f"workbench_promise.sentence.{model.name}", model_texts(model, say)
    entry = say.entries[own] if own in say else words.promise
    group = say("promises.bucket" if flagged else "promises.group")
    told = {"group": group, "Group": group[:1].upper() + group[1:], "title": words.title}
    for text, name, _, _ in Formatter().parse(str(entry).replace("“{", "{").replace("}”", "}")):
        if text:
            yield {"text": text}
        if name is None:
            continue
        if name not in fields:
            yield {"text": told.get(name, "")}
        elif fields[name]["kind"] in INLINE:
            yield {"field": fields[name]}
        else:
            yield {"text": say("workbench_promise.as_below")}


def example_context(example: AttackExample, say: Messages) -> dict[str, Any]:
    """Arrange the six records before and after, and what the attacker finds in them."""
    return {
        "name": example.name,
        "title": say(f"attack_examples.{example.name}.title"),
        "knows": say(f"attack_examples.{example.name}.knows"),
        "columns": [_cell(name, say) for name in example.before],
        "tables": [
            {
                "when": when,
                "rows": _rows(example, published, say),
                "told": say(
                    f"attack_examples.{example.name}.{when}",
                    chance=format_percent(float(example.inference_probability(published))),
                ),
            }
            for when, published in (("before", example.before), ("after", example.after))
        ],
    }


def _rows(example: AttackExample, published: Rows, say: Messages) -> list[dict[str, Any]]:
    fitting = example.matching_rows(published)
    records = zip(*published.values(), strict=True)
    return [{"fits": at in fitting, "cells": [_cell(cell, say) for cell in each]} for at, each in enumerate(records)]


def _cell(cell: object, say: Messages) -> str:
    key = f"attack_examples.cells.{cell}"
    return say(key) if key in say else str(cell)
