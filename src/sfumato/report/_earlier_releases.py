"""Earlier releases of a table, at the place of a new one and beside it: no promise is about both together."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseWarning


def warn_about_earlier_releases(target: Path, recipe: str) -> None:
    """Warn if a release of the same table lies at a place or beside it, unless both are of one series.

    Parameters
    ----------
    target : where a release is to be written.
    recipe : its recipe, as text; without a digest of its table nothing is compared.
    """
    places = [*([target] if target.is_dir() else []), *_list_folders(target.absolute().parent)]
    earlier = list(find_earlier_releases(places, recipe))
    if not earlier:
        return
    more = f" and {len(earlier) - 1:,} more" if len(earlier) > 1 else ""
    warnings.warn(
        f"An earlier release of the same table lies in {earlier[0]}{more}; whoever receives two releases of the same "
        "individuals can combine their groups, which no promise of a single release covers, so publish only one of "
        "them, or make them as a series with ledger=.",
        ReleaseWarning,
        stacklevel=2,
    )


def find_earlier_releases(places: list[Path], recipe: str) -> Iterator[Path]:
    """Yield the folders with a release of the table that a recipe was run on, but for those of its own series."""
    own = tomllib.loads(recipe)
    seen = set()
    for place in places:
        found = _read_recipe(place)
        if place.absolute() not in seen and _is_same_table(own, found) and not _is_same_series(own, found):
            yield place
        seen.add(place.absolute())


def _list_folders(parent: Path) -> list[Path]:
    try:
        return sorted(each for each in parent.iterdir() if (each / "internal").is_dir())
    except OSError:  # a folder that may not be listed
        return []


def _read_recipe(folder: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads((folder / "internal" / "recipe.toml").read_text("utf-8"))
    except (OSError, ValueError):  # no release, or none that can be read
        return {}


def _is_same_table(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    digests = [(name, of["input"].get(name)) for name in ("sha256", "digest") for of in (one, other) if "input" in of]
    return any(digests.count((name, value)) > 1 for name, value in digests if value is not None)


def _is_same_series(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    ledgers = [of.get("series", {}).get("ledger") for of in (one, other)]
    return ledgers[0] is not None and ledgers[0] == ledgers[1]
