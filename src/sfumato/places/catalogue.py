"""All promises and searches of ways, by the names used in recipes and on the command line."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sfumato.kinds.promise import Model
from sfumato.kinds.recipe import TypedRecipe
from sfumato.kinds.search import Algorithm
from sfumato.places.align_ways import SequenceAlignment
from sfumato.places.hide_from_owners import ProjectionSuppression
from sfumato.places.k_delta import KDeltaAnonymity
from sfumato.places.k_ways import TrajectoryKAnonymity
from sfumato.places.km_places import TrajectoryKmAnonymity
from sfumato.places.lkc_ways import TrajectoryLKCPrivacy
from sfumato.places.merge_places import SeqAnon
from sfumato.places.never_walk_alone import NeverWalkAlone
from sfumato.places.place_owners import PartialKnowledge
from sfumato.places.suppress_visits import LKCSuppression
from sfumato.places.wait_for_me import WaitForMe

DATA_TYPE = "ways"
MODELS: dict[str, type[Model[Any]]] = {
    model.name: model
    for model in (KDeltaAnonymity, TrajectoryKAnonymity, TrajectoryKmAnonymity, TrajectoryLKCPrivacy, PartialKnowledge)
}
ALGORITHMS: dict[str, type[Algorithm[Any]]] = {  # who names none gets the first that keeps all promises
    algorithm.name: algorithm
    for algorithm in (NeverWalkAlone, WaitForMe, SequenceAlignment, SeqAnon, LKCSuppression, ProjectionSuppression)
}


def read_recipe(path: str | PathLike[str]) -> TypedRecipe:
    """Read the recipe of a release of ways, such as `internal/recipe.toml`, to make it again by `run_recipe`."""
    return TypedRecipe.load(path, DATA_TYPE, MODELS, ALGORITHMS)
