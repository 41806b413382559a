"""All promises and searches of ways, by the names used in recipes and on the command line."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sfumato.kinds.promise import KindPromise
from sfumato.kinds.recipe import KindRecipe
from sfumato.kinds.search import KindSearch
from sfumato.places.align_ways import AlignWays
from sfumato.places.hide_from_owners import HideFromOwners
from sfumato.places.k_delta import KDelta
from sfumato.places.k_ways import KWays
from sfumato.places.km_places import KMPlaces
from sfumato.places.lkc_ways import LKC
from sfumato.places.merge_places import MergePlaces
from sfumato.places.never_walk_alone import NeverWalkAlone
from sfumato.places.place_owners import PlaceOwners
from sfumato.places.suppress_visits import SuppressVisits
from sfumato.places.wait_for_me import WaitForMe

KIND = "ways"
MODELS: dict[str, type[KindPromise[Any]]] = {model.name: model for model in (KDelta, KWays, KMPlaces, LKC, PlaceOwners)}
ALGORITHMS: dict[str, type[KindSearch[Any]]] = {  # who names none gets the first that keeps all promises
    algorithm.name: algorithm
    for algorithm in (NeverWalkAlone, WaitForMe, AlignWays, MergePlaces, SuppressVisits, HideFromOwners)
}


def read_recipe(path: str | PathLike[str]) -> KindRecipe:
    """Read the recipe of a release of ways, such as `internal/recipe.toml`, to make it again by `carry_out`."""
    return KindRecipe.read(path, KIND, MODELS, ALGORITHMS)
