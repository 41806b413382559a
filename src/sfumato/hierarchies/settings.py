"""Hierarchy builders by kind, rebuilt from the settings that a recipe stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.exceptions import RecipeError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.validation import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sfumato.hierarchies.builder import Builder

BUILDERS: dict[str, type[Builder]] = {
    builder.kind: builder for builder in (Intervals, Prefixes, OrderedGroups, Taxonomy)
}


def builder_from_dict(settings: Mapping[str, object]) -> Builder:
    """Rebuild a builder from the settings returned by its `to_dict`.

    >>> builder_from_dict({"kind": "intervals", "widths": [5, 10]})
    Intervals(5, 10)
    """
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in BUILDERS:
        hint = did_you_mean(str(kind), BUILDERS) or f"; choose one of {', '.join(BUILDERS)}."
        raise RecipeError(f"There is no hierarchy of kind {kind!r}{hint}")
    return BUILDERS[kind].from_dict(settings)
