"""Reads the house's docstrings for mkdocstrings: types are in signatures, so `k : text` is no `k : type`."""

from __future__ import annotations

import re
from typing import Any

from griffe import Docstring, Extension, Object

SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(\w[\w, ]*?) : (.+)$", re.MULTILINE)
REFERENCE = re.compile(r"^\.\. \[(\d+)\] ", re.MULTILINE)


class HouseDocstrings(Extension):
    """Rewrites docstrings before they are parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Put descriptions on lines of their own, and references into a list."""
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring)


def rewritten(docstring: Docstring) -> str:
    """Give the text of a docstring in the form that mkdocstrings expects."""
    text = SECTION.sub(lambda found: ENTRY.sub(r"\1\n    \2", found[0]), docstring.value)
    return re.sub(r"\[(\d+)\]_", r"[\1]", REFERENCE.sub(r"\1. ", text))
