"""Change a recipe so that it stays one that can be carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sfumato.recipe import Recipe
from sfumato.schema.roles import Role


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
    >>> schema = sf.Schema(quasi=["age"], sensitive=["disease"])
    >>> models = [sf.KAnonymity(k=2), sf.DistinctLDiversity(l=2, sensitive="disease")]
    >>> recipe = sf.Recipe(schema=schema, models=models, algorithm=sf.Mondrian())
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
    known = {name: entry["role"] for name, entry in attributes.items()}
    content["models"] = [
        kept
        for model, entry in zip(recipe.models, content["models"], strict=True)
        if all(known.get(name) == Role.SENSITIVE.value for name in model.attributes)
        and (kept := _of_quasi(entry, known)) is not None
    ]
    return Recipe.from_dict(content)


def _of_quasi(entry: dict[str, object], known: Mapping[str, str]) -> dict[str, object] | None:
    """Drop columns from a model of some quasi-identifiers; None if it would be left without any."""
    named = entry.get("quasi")
    if not isinstance(named, list):
        return entry
    left = [name for name in named if known.get(name) == Role.QUASI.value]
    return {**entry, "quasi": left} if left else None


def titled(recipe: Recipe, name: str, date: str | None = None, *, recorded: bool = False) -> Recipe:
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
