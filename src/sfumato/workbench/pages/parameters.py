"""Parameters of models and algorithms as fields of a form, by the types that they declare."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.algorithms.base import Algorithm
from sfumato.catalogue import describe_choice
from sfumato.masking.base import MaskingStep
from sfumato.models.base import PrivacyModel

CHOICES = re.compile(r"'([^']*)'")


def parameter_fields(
    choice: type[PrivacyModel | Algorithm | MaskingStep], given: Mapping[str, Any], place: Sequence[str]
) -> list[dict[str, Any]]:
    """Describe a field for every parameter: its kind, its value, and the place in the recipe that it changes.

    Parameters
    ----------
    choice : the class.
    given : the parameters that the recipe has.
    place : where the recipe has them.
    """
    described: Any = describe_choice(choice)["parameters"]
    return [
        {
            "name": name,
            "place": json.dumps([*place, name]),
            "value": given.get(name),
            "default": about.get("default"),
            **_kind(about["type"]),
        }
        for name, about in described.items()
    ]


def _kind(declared: str) -> dict[str, Any]:
    """Return the kind of field for a declared type.

    >>> _kind("int"), _kind("Literal['a', 'b']")
    ({'kind': 'whole', 'choices': ()}, {'kind': 'choice', 'choices': ('a', 'b')})
    """
    choices = tuple(CHOICES.findall(declared)) if "Literal" in declared else ()
    plain = declared.replace(" | None", "")
    kinds = {"int": "whole", "float": "number", "bool": "yes", "str": "text"}
    return {"kind": "choice" if choices else kinds.get(plain, "json"), "choices": choices}
