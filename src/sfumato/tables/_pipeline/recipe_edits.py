"""Change a recipe so that it stays one that can be carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sfumato.core.recipe import Recipe
from sfumato.schema.roles import Role

FLAGGED_ROLES = (Role.QUASI.value, Role.SENSITIVE.value)


def with_roles(recipe: Recipe, roles: Mapping[str, str | None]) -> Recipe:
    """Give some columns other roles, and drop what the recipe says about them that no longer applies.

    Models about columns that are no longer sensitive are dropped, and so are columns that are no longer
    quasi-identifiers from models that name some of these.

    Parameters
    ----------
    recipe : the recipe; it is not changed.
    roles : the new role by column; None for a column that is not published and not looked at.

    Examples
    --------
    >>> import sfumato as sf
    >>> schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    >>> models = [sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive="disease")]
    >>> recipe = sf.Recipe(schema=schema, models=models, algorithm=sf.algorithms.Mondrian())
    >>> [model.name for model in with_roles(recipe, {"disease": "insensitive"}).models]
    ['k-anonymity']
    """
    content = recipe.to_dict()
    attributes = content["attributes"]
    for name, role in roles.items():
        if role is None:
            attributes.pop(name, None)
        else:
            attributes[name] = {**attributes.get(name, {}), "role": role}
            if role not in FLAGGED_ROLES:
                attributes[name].pop("flags", None)
    return _with_fitting_models(recipe, content)


def with_flags(recipe: Recipe, flags: Mapping[str, str | None]) -> Recipe:
    """Say which column of the table flags the sensitive cells of a column; it is never published itself.

    Models about cells that are no longer flagged are dropped, unless the whole column is sensitive.

    Parameters
    ----------
    recipe : the recipe; it is not changed.
    flags : the column of flags, true or false, by the column that it flags; None to flag nothing.

    Examples
    --------
    >>> import sfumato as sf
    >>> schema = sf.Schema(quasi_identifiers=["age"], insensitive=["hide_age"])
    >>> recipe = sf.Recipe(schema=schema, models=[sf.models.KAnonymity(k=2)], algorithm=sf.algorithms.LocalAnatomy())
    >>> changed = with_flags(recipe, {"age": "hide_age"}).schema
    >>> changed.flags, changed.insensitive
    ({'age': 'hide_age'}, ())
    """
    content = recipe.to_dict()
    attributes = content["attributes"]
    for name, flag in flags.items():
        entry = {key: value for key, value in attributes.get(name, {}).items() if key != "flags"}
        attributes[name] = entry if flag is None else {**entry, "flags": flag}
        if flag is not None:
            attributes.pop(flag, None)
    return _with_fitting_models(recipe, content)


def _with_fitting_models(recipe: Recipe, content: dict[str, Any]) -> Recipe:
    """Drop the models that no longer apply to the columns."""
    known = {name: entry["role"] for name, entry in content["attributes"].items()}
    hidden = {name for name, role in known.items() if role == Role.SENSITIVE.value}
    hidden |= {name for name, entry in content["attributes"].items() if "flags" in entry}
    content["models"] = [
        kept
        for model, entry in zip(recipe.models, content["models"], strict=True)
        if set(model.sensitive_attributes) <= hidden and (kept := _restrict_to_columns(entry, known)) is not None
    ]
    return Recipe.from_dict(content)


def _restrict_to_columns(entry: dict[str, object], known: Mapping[str, str]) -> dict[str, object] | None:
    """Drop columns from a model of some quasi-identifiers; None if it would be left without any."""
    named = entry.get("quasi")
    if not isinstance(named, list):
        return entry
    left = [name for name in named if known.get(name) == Role.QUASI.value]
    return {**entry, "quasi": left} if left else None


def with_title(recipe: Recipe, name: str, date: str | None = None, *, recorded: bool = False) -> Recipe:
    """Record what the title of the report tells: the name of the file, and the date, by default today's.

    Parameters
    ----------
    recipe : the recipe; it is not changed.
    name : the name of the file, unless the recipe has one.
    date : as in 2026-01-31.
    recorded : whether the recipe was run before: on the table that it states it keeps what it has recorded, so that it
        gives the same bytes again.
    """
    if recipe.input_sha256 is not None and recorded:
        return replace(recipe, input_date=date or recipe.input_date)
    day = date or recipe.input_date or datetime.now().astimezone().date().isoformat()
    return replace(recipe, input_file=recipe.input_file or name, input_date=day)
