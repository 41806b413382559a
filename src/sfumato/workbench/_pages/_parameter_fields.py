"""Parameters of models and algorithms as fields of a form, by the types that they declare."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sfumato.tables._catalogue import describe_choice
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.masking.base import MaskingStep
from sfumato.tables.models.base import GroupModel


def make_parameter_fields(
    choice: type[GroupModel | TableAlgorithm | MaskingStep], given: Mapping[str, Any], place: Sequence[str]
) -> list[dict[str, Any]]:
    """Describe a field for every parameter: its kind, its value, and the place in the recipe that it changes.

    Parameters
    ----------
    choice : the class.
    given : the parameters that the recipe has.
    place : where the recipe has them.
    """
    described: Any = describe_choice(choice)["parameters"]
    hints = _type_hints(choice)
    return [
        {
            "name": name,
            "place": json.dumps([*place, name]),
            "value": given.get(name),
            "default": about.get("default"),
            "needed": "default" not in about,
            "lines": as_lines(given.get(name)),
            **_field_type(about["type"], get_args(hints.get(name)) if get_origin(hints.get(name)) is Literal else ()),
        }
        for name, about in described.items()
    ]


def _type_hints(choice: type) -> dict[str, Any]:
    """Return the types of parameters; none if another package names types that cannot be found."""
    try:
        return get_type_hints(choice)
    except NameError:
        return {}


def as_lines(value: object) -> str:
    r"""Write a list or a mapping with one line for each entry, as people type it; anything unusual as JSON.

    >>> as_lines({"flu": "mild", "cold": "mild"}), as_lines(["flu"]), as_lines({"a=b": 1}), as_lines(0.5)
    ('flu = mild\ncold = mild', 'flu', '{"a=b": 1}', '0.5')
    """
    if isinstance(value, Mapping):
        entries = [f"{name} = {entry}" for name, entry in value.items()]
        plain = all(entry.count("=") == 1 and "\n" not in entry for entry in entries)
        return "\n".join(entries) if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence) and not isinstance(value, str):
        texts = [str(each) for each in value]
        return json.dumps(value, ensure_ascii=False) if any("\n" in each for each in texts) else "\n".join(texts)
    return "" if value is None else str(value)


def _field_type(declared: str, choices: Sequence[str] = ()) -> dict[str, Any]:
    """Return the kind of field for a declared type, and what the entries of a mapping are.

    >>> (_field_type("int")["kind"], _field_type("Mapping[str, str]")["kind"],
    ... _field_type("Shown", ("centers", "ranges"))["kind"])
    ('whole', 'mapping', 'choice')
    """
    plain = declared.removesuffix(" | None")
    kinds = {"int": "whole", "float": "number", "bool": "yes", "str": "text", "Sequence[str]": "lines"}
    kind = "mapping" if "Mapping[str, " in plain else kinds.get(plain, "json")
    entries = "text" if "Mapping[str, str]" in plain else "any" if "str | int" in plain else "number"
    return {"kind": "choice" if choices else kind, "choices": tuple(choices), "entries": entries}
