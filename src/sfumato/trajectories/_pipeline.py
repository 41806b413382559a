"""Publish ways: search, judge, measure, and write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato._progress import Progress, open_progress, scale_progress
from sfumato._randomness import KeyedRandom, draw_secret
from sfumato._validation import require
from sfumato.core.algorithm import Algorithm, AnyAlgorithm, Request, usual_search
from sfumato.core.audit import Audit, evaluate_models
from sfumato.core.model import AnyModel, Model
from sfumato.core.recipe import InputOptions, TypedRecipe
from sfumato.errors import GuaranteeViolatedError, InvalidParameterError
from sfumato.trajectories._catalogue import ALGORITHMS, DATA_TYPE
from sfumato.trajectories._release import TrajectoriesRelease
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.metrics import compute_metrics
from sfumato.trajectories.trajectories import Points, Trajectories


def anonymize(
    ways: Trajectories,
    *,
    models: Sequence[AnyModel],
    algorithm: AnyAlgorithm | None = None,
    secret: str | None = None,
    source: InputOptions | None = None,
    progress: Progress | bool = False,
) -> TrajectoriesRelease:
    """Publish ways that keep a promise.

    Parameters
    ----------
    ways : the trajectories.
    models : what is promised, such as `KDeltaAnonymity(k=5, delta=300)`.
    algorithm : how ways are found that keep it, such as `NeverWalkAlone()`; by default the usual one for the promises.
    secret : makes new numbers and other choices that hide somebody repeatable: 64 hexadecimal digits, by default drawn
        from the operating system. The recipe keeps it inside.
    source : how the original is read, for the recipe: the options of `Trajectories`.
    progress : True shows a bar; a function is told the share of the work that is done.

    Raises
    ------
    InfeasibleError
        If the promise cannot be kept.
    """
    check_models(models)
    search = usual_search(models, ways, ALGORITHMS.values()) if algorithm is None else algorithm
    require(isinstance(search, Algorithm), "anonymize", "algorithm", "such as NeverWalkAlone()", search)
    recipe = TypedRecipe(
        data_type=DATA_TYPE, models=tuple(models), algorithm=search, secret=secret, input=dict(source or {})
    )
    return run_recipe(recipe, ways, progress=progress)


def run_recipe(recipe: TypedRecipe, ways: Trajectories, *, progress: Progress | bool = False) -> TrajectoriesRelease:
    """Make the release that a recipe describes.

    Parameters
    ----------
    recipe : what is promised and how to search; read one by `sf.trajectories.read_recipe`.
    ways : the trajectories.
    progress : as for `anonymize`.
    """
    require(isinstance(ways, Trajectories), "anonymize", "ways", "sf.trajectories.Trajectories", type(ways).__name__)
    recipe.algorithm.check(recipe.models)
    known = {"points": len(ways.points), "ways": len(ways), "sha256": ways.digest()}
    recipe = replace(recipe, secret=recipe.secret or draw_secret(), input={**recipe.input, **known})
    with open_progress(progress, "Searching") as tell:
        stream = KeyedRandom(recipe.secret, DATA_TYPE, about=ways.digest)
        request = Request(data=ways, models=recipe.models, stream=stream, progress=scale_progress(tell, 0.0, 0.8))
        found = _as_input_backend(recipe.algorithm.search(request), ways)
        tell(0.8, "judging and measuring")
        judged = audit(found, models=recipe.models)
        if not judged.holds:
            raise GuaranteeViolatedError(
                "The ways found fail their audit, so they are withheld; please report this as a bug."
            )
        measures = compute_metrics(ways, found)
    return TrajectoriesRelease(
        published=found, original=ways, audit=judged, metrics=measures, recipe=recipe, audit_function=audit
    )


def _as_input_backend(
    found: Trajectories | CloakedTrajectories, ways: Trajectories
) -> Trajectories | CloakedTrajectories:
    """Let published ways become tables of the kind that the original was."""
    if isinstance(found, CloakedTrajectories):
        return replace(found, backend=ways.backend)
    found.backend = ways.backend
    return found


def audit(published: Trajectories | CloakedTrajectories, *, models: Sequence[AnyModel]) -> Audit:
    """Judge published ways by themselves.

    Parameters
    ----------
    published : the ways as they are published; name their column of clusters with `cluster=` where a promise is about
        clusters.
    models : what is promised.
    """
    check_models(models)
    if isinstance(published, CloakedTrajectories):
        held: Points | CloakedTrajectories = published
        facts = {"ways": len(published), "steps": len(published.boxes)}
    else:
        held = published.points
        facts = {"ways": held.n_trajectories, "points": len(held)}
    persons = {} if held.trip_keys else {"persons": held.n_individuals}
    return evaluate_models(models, published, persons | facts)


def check_models(models: Sequence[AnyModel]) -> None:
    """Refuse what are no promises about ways."""
    if not models:
        raise InvalidParameterError(
            "No promise is given; give at least one, such as [sf.trajectories.KDeltaAnonymity(k=5, delta=300)]."
        )
    for model in models:
        require(isinstance(model, Model), "models", "model", "a promise about ways, such as KDeltaAnonymity", model)
