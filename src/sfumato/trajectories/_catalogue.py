"""All promises and searches of ways, by the names used in recipes and on the command line."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sfumato.core.algorithm import Algorithm
from sfumato.core.model import Model
from sfumato.core.recipe import TypedRecipe
from sfumato.trajectories.algorithms.lkc_suppression import LKCSuppression
from sfumato.trajectories.algorithms.never_walk_alone import NeverWalkAlone
from sfumato.trajectories.algorithms.projection_suppression import ProjectionSuppression
from sfumato.trajectories.algorithms.seq_anon import SeqAnon
from sfumato.trajectories.algorithms.sequence_alignment import SequenceAlignment
from sfumato.trajectories.algorithms.wait_for_me import WaitForMe
from sfumato.trajectories.models.k_delta_anonymity import KDeltaAnonymity
from sfumato.trajectories.models.partial_knowledge import PartialKnowledge
from sfumato.trajectories.models.trajectory_k_anonymity import TrajectoryKAnonymity
from sfumato.trajectories.models.trajectory_km_anonymity import TrajectoryKmAnonymity
from sfumato.trajectories.models.trajectory_lkc_privacy import TrajectoryLKCPrivacy

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
