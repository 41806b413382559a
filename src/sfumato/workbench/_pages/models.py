"""Promise: who receives the table, what nobody must learn, and whether records may be left out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any

from sfumato._locale.messages import Messages
from sfumato._number_format import format_percent
from sfumato.datasets._attack_examples import AttackExample, Rows, attack_example_for
from sfumato.report.texts import model_texts
from sfumato.tables._catalogue import ALGORITHMS, MODELS
from sfumato.tables._pipeline.presets import Preset, list_presets, starting_model
from sfumato.tables.models.base import GroupModel
from sfumato.workbench._pages._context import risk_so_far
from sfumato.workbench._pages._parameter_fields import make_parameter_fields
from sfumato.workbench._session import Session

# A model as a card: its sentence with fields for its numbers, the attack that it stops, and six records to show it.

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


MEMBERSHIP = ("delta-presence", "k-map")
OFFERED = ("distinct-l-diversity", "frequency-l-diversity", "t-closeness")  # for a column, the mildest first
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1)
ORDERED = ("numeric", "ordinal")


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:
    """Arrange the presets, the models of the recipe by what they hide, and everything that can be added."""
    content = desk.recipe.to_dict()
    checked = desk.result("check")
    refused = (checked or desk.latest("check") or {"refusals": []})["refusals"]
    chosen = query.get("add")
    return {
        "receivers": [_preset(desk, say, each) for each in list_presets() if each.of == "receiver"],
        "rules": [_preset(desk, say, each) for each in list_presets() if each.of == "rule"],
        "groups": _groups(desk, say, refused),
        "refused": [each for each in refused if each["model"] is None],
        "checked": checked is not None,
        "risk_waits": checked is None,
        "adding": _model_form(desk, say, chosen) if chosen is not None and chosen in MODELS else None,
        "catalogue": [card_texts(each.choice, say) for each in MODELS.entries() if each.choice is not None],
        "flags": _sensitive_cell_rules(desk),
        "supports_flags": _algorithm_for_sensitive_cells(desk),
        "shares": sorted({*SHARES, float(desk.recipe.max_suppressed)}),
        "suppresses": desk.recipe.algorithm.suppresses,
        **risk_so_far(desk),
        "fragment_of": {"models": content["models"], "release": content["release"]},
    }


def _preset(desk: Session, say: Messages, preset: Preset) -> dict[str, Any]:
    columns = desk.inspection["attributes"]
    made = preset.applied(
        desk.recipe,
        distinct={each["name"]: each["distinct"] for each in columns},
        ordered=[each["name"] for each in columns if each["scale"] in ORDERED],
    )
    content = made.to_dict()
    change = [[["models"], content["models"]], [["release", "max_suppressed"], content["release"]["max_suppressed"]]]
    return {
        "name": preset.name,
        **{part: say(f"presets.{preset.name}.{part}") for part in ("title", "note", "reason")},
        "source": preset.source,
        "chosen": (made.models, made.max_suppressed) == (desk.recipe.models, desk.recipe.max_suppressed),
        "change": {"set": change},
    }


def _groups(desk: Session, say: Messages, refused: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sort the models by what they hide: which record is whose, what a column tells, and who is in the table."""
    schema, models = desk.recipe.schema, desk.recipe.models
    columns = [name for name in desk.columns if name in schema.sensitive or name in schema.flags]
    of = [_protects(model, columns) for model in models]
    cards = [model_card(desk, say, at, [each for each in refused if each["model"] == at]) for at in range(len(models))]
    found = []
    for what in ("identity", *columns, "membership"):
        number = desk.columns.index(what) if what in columns else what
        heading = "cells" if what in schema.flags else "column" if what in columns else what
        found.append(
            {
                "id": f"group-{number}",
                "heading": say(f"workbench_promise.hide.{heading}", column=what),
                "cards": [card for card, group in zip(cards, of, strict=True) if group == what],
                "offers": _suggested_models(desk, say, what, columns),
                "what": heading,
            }
        )
    return found


def _protects(model: GroupModel, columns: Collection[str]) -> str:
    if model.name in MEMBERSHIP:
        return "membership"
    return next((name for name in model.sensitive_attributes if name in columns), "identity")


def _suggested_models(desk: Session, say: Messages, what: str, columns: Collection[str]) -> list[dict[str, Any]]:
    """List what can be promised with one click: for a column what it does not have yet, and k-anonymity for all."""
    known = {(model.name, model.sensitive_attributes) for model in desk.recipe.models}
    names = OFFERED if what in columns else ("k-anonymity",) if what == "identity" else ()
    column = what if what in columns else None
    offered = [name for name in names if (name, () if column is None else (column,)) not in known]
    place = ["models", str(len(desk.recipe.models))]
    return [
        {**card_texts(MODELS[name], say), "change": {"set": [[place, starting_model(MODELS[name], column)]]}}
        for name in offered
    ]


def _model_form(desk: Session, say: Messages, name: str) -> dict[str, Any]:
    """Arrange the fields for what a model needs before it can be added."""
    kind, schema = MODELS[name], desk.recipe.schema
    columns = (*schema.sensitive, *schema.flags)
    given = starting_model(kind, columns[0] if columns else None)
    fields = model_fields(desk, say, kind, given, ("add",))
    needed = [each for each in fields if each["needed"]]
    return {
        **card_texts(kind, say),
        "place": len(desk.recipe.models),
        "fields": needed,
        "lacks_column": not columns and any(each["name"] in PROTECTED for each in needed),
    }


def _sensitive_cell_rules(desk: Session) -> dict[str, Any]:
    """List which cells are flagged by which column, and the columns to choose from."""
    schema = desk.recipe.schema
    booleans = [each["name"] for each in desk.inspection["attributes"] if each["kind"] == "booleans"]
    hidden = (*schema.quasi_identifiers, *schema.sensitive)
    return {
        "given": [
            {"column": name, "by": flag, "number": at, "remove": {"flags": {str(at): ""}}}
            for at, name in enumerate(desk.columns)
            if (flag := schema.flags.get(name)) is not None
        ],
        "columns": [(at, name) for at, name in enumerate(desk.columns) if name in hidden and name not in schema.flags],
        "by": [(at, name) for at, name in enumerate(desk.columns) if name in booleans],
    }


def _algorithm_for_sensitive_cells(desk: Session) -> str | None:
    """Name an algorithm for flagged cells, if there are any and the chosen one cannot protect them."""
    if not desk.recipe.schema.flags or desk.recipe.algorithm.supports_flags:
        return None
    hides = any(not model.sensitive_attributes for model in desk.recipe.models)
    name = "local-anatomy-generalization" if hides else "local-anatomy"
    return name if name in ALGORITHMS else None
