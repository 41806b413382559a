"""Hierarchies: how the values of an attribute can be generalized, level by level.

A builder (`Intervals`, `Prefixes`, `OrderedGroups`, `Taxonomy`) holds what a user says; its `build` turns the
values of a column into a `Hierarchy`, which holds one array of node numbers per level. `automatic.automatic`
proposes a builder, `drawing.draw` shows a hierarchy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.exceptions import RecipeError
from sfumato.hierarchies.builder import Builder
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.validation import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BUILDERS",
    "Builder",
    "Hierarchy",
    "Intervals",
    "OrderedGroups",
    "Prefixes",
    "Taxonomy",
    "builder_from_dict",
]

BUILDERS: dict[str, type[Builder]] = {
    builder.kind: builder for builder in (Intervals, Prefixes, OrderedGroups, Taxonomy)
}


def builder_from_dict(settings: Mapping[str, object]) -> Builder:
    """Rebuild a builder from the settings that its `to_dict` gave.

    >>> builder_from_dict({"kind": "intervals", "widths": [5, 10]})
    Intervals(5, 10)
    """
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in BUILDERS:
        hint = did_you_mean(str(kind), BUILDERS) or f"; it is one of {', '.join(BUILDERS)}."
        raise RecipeError(f"A hierarchy cannot be of kind {kind!r}{hint}")
    return BUILDERS[kind].from_dict(settings)
