"""Builders of hierarchies from what people write: a short text, a CSV file, or the table of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato._validation import suggest_closest
from sfumato.core._toml import check_known_keys
from sfumato.errors import HierarchyError, RecipeError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._values import parse_number

if TYPE_CHECKING:
    from sfumato.hierarchies.hierarchy import HierarchyBuilder

BUILDERS: dict[str, type[HierarchyBuilder]] = {
    builder.kind: builder for builder in (Intervals, Prefixes, OrderedGroups, Taxonomy)
}
SHORT = {Intervals.kind: "widths", Prefixes.kind: "lengths"}


def parse_builder(how: str | Mapping[str, Any], folder: Path | None = None) -> HierarchyBuilder:
    """Read how an attribute is generalized.

    Parameters
    ----------
    how : `intervals:5,10`, `prefixes`, `prefixes:3,1`, the name of a CSV file of a taxonomy, or the table of a recipe.
    folder : where files are looked for.

    Examples
    --------
    >>> (parse_builder("intervals:5,10"), parse_builder("prefixes"),
    ... parse_builder({"kind": "prefixes", "lengths": [3, 1]}))
    (Intervals(5, 10), Prefixes(), Prefixes(3, 1))
    """
    if isinstance(how, Mapping):
        from_file = how.get("kind") == Taxonomy.kind and "file" in how
        return _read_taxonomy(how, folder) if from_file else builder_from_dict(how)
    kind, _, settings = how.partition(":")
    if kind not in SHORT:
        if not _resolve_path(folder, how).exists():
            raise HierarchyError(
                f"There is no file {how!r}; a hierarchy is intervals:5,10, intervals:month,year, prefixes,"
                " prefixes:3,1, or the name of a CSV file (leaf;level1;...;*)."
            )
        return Taxonomy.read_csv(_resolve_path(folder, how))
    listed = [parse_number(each.strip()) for each in settings.split(",") if each.strip()]
    return builder_from_dict({"kind": kind, **({SHORT[kind]: listed} if listed else {})})


def builder_from_dict(settings: Mapping[str, object]) -> HierarchyBuilder:
    """Rebuild a builder from the settings returned by its `to_dict`.

    >>> builder_from_dict({"kind": "intervals", "widths": [5, 10]})
    Intervals(5, 10)
    """
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in BUILDERS:
        hint = suggest_closest(str(kind), BUILDERS) or f"; choose one of {', '.join(BUILDERS)}."
        raise RecipeError(f"There is no hierarchy of kind {kind!r}{hint}")
    return BUILDERS[kind].from_dict(settings)


def _read_taxonomy(settings: Mapping[str, Any], folder: Path | None) -> Taxonomy:
    given = {key: value for key, value in settings.items() if key != "kind"}
    check_known_keys(given, ("file", "separator", "encoding"), "A taxonomy from a file")
    for key, value in given.items():
        if not isinstance(value, str):
            raise RecipeError(f"{key} must be a string.")
    return Taxonomy.read_csv(_resolve_path(folder, given.pop("file")), **given)


def _resolve_path(folder: Path | None, file: str) -> Path:
    return Path(file) if folder is None else folder / file
