"""Promise: who receives the table, what nobody must learn, and whether records may be left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sfumato.catalogue import ALGORITHMS, MODELS
from sfumato.models.base import GroupModel
from sfumato.release.presets import Preset, list_presets, starting_model
from sfumato.words import Messages
from sfumato.workbench.desk import Session
from sfumato.workbench.pages.model_cards import PROTECTED, card_texts, model_card, model_fields
from sfumato.workbench.pages.state import risk_so_far

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
        "serves_flags": _algorithm_for_sensitive_cells(desk),
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
