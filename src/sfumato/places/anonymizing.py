"""Publish ways: search, judge, measure, and write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.core.progress import Progress, followed, partly
from sfumato.exceptions import BrokenPromiseError, InvalidParameterError
from sfumato.kinds.audit import KindAudit, audited
from sfumato.kinds.promise import AnyPromise, KindPromise
from sfumato.kinds.recipe import KindRecipe, Source
from sfumato.kinds.search import AnySearch, KindRequest, KindSearch, usual_search
from sfumato.places.catalogue import ALGORITHMS, KIND
from sfumato.places.measures import measure_ways
from sfumato.places.region_ways import RegionWays
from sfumato.places.trajectories import Points, Trajectories
from sfumato.places.way_release import WayRelease
from sfumato.randomness import Stream, draw_secret
from sfumato.validation import require


def anonymize(
    ways: Trajectories,
    *,
    models: Sequence[AnyPromise],
    algorithm: AnySearch | None = None,
    secret: str | None = None,
    source: Source | None = None,
    progress: Progress | bool = False,
) -> WayRelease:
    """Publish ways that keep a promise.

    Parameters
    ----------
    ways : the trajectories.
    models : what is promised, such as `KDelta(k=5, delta=300)`.
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
    require(isinstance(search, KindSearch), "anonymize", "algorithm", "such as NeverWalkAlone()", search)
    recipe = KindRecipe(kind=KIND, models=tuple(models), algorithm=search, secret=secret, source=dict(source or {}))
    return carry_out(recipe, ways, progress=progress)


def carry_out(recipe: KindRecipe, ways: Trajectories, *, progress: Progress | bool = False) -> WayRelease:
    """Make the release that a recipe describes.

    Parameters
    ----------
    recipe : what is promised and how to search; read one by `sf.places.read_recipe`.
    ways : the trajectories.
    progress : as for `anonymize`.
    """
    require(isinstance(ways, Trajectories), "anonymize", "ways", "sf.places.Trajectories", type(ways).__name__)
    recipe.algorithm.check(recipe.models)
    known = {"points": len(ways.points), "ways": len(ways), "sha256": ways.digest()}
    recipe = replace(recipe, secret=recipe.secret or draw_secret(), source={**recipe.source, **known})
    with followed(progress, "Searching") as tell:
        stream = Stream(recipe.secret, KIND, about=ways.digest)
        request = KindRequest(data=ways, models=recipe.models, stream=stream, progress=partly(tell, 0.0, 0.8))
        found = _as_given(recipe.algorithm.find(request), ways)
        tell(0.8, "judging and measuring")
        judged = audit(found, models=recipe.models)
        if not judged.holds:
            raise BrokenPromiseError(
                "The ways found fail their audit, so they are withheld; please report this as a bug."
            )
        measures = measure_ways(ways, found)
    return WayRelease(published=found, original=ways, audit=judged, measures=measures, recipe=recipe, judge=audit)


def _as_given(found: Trajectories | RegionWays, ways: Trajectories) -> Trajectories | RegionWays:
    """Let published ways become tables of the kind that the original was."""
    if isinstance(found, RegionWays):
        return replace(found, kind=ways.kind)
    found.kind = ways.kind
    return found


def audit(published: Trajectories | RegionWays, *, models: Sequence[AnyPromise]) -> KindAudit:
    """Judge published ways by themselves.

    Parameters
    ----------
    published : the ways as they are published; name their column of clusters with `cluster=` where a promise is about
        clusters.
    models : what is promised.
    """
    check_models(models)
    if isinstance(published, RegionWays):
        held: Points | RegionWays = published
        facts = {"ways": len(published), "steps": len(published.boxes)}
    else:
        held = published.points
        facts = {"ways": held.ways, "points": len(held)}
    persons = {} if held.trip_keys else {"persons": held.persons}
    return audited(models, published, persons | facts)


def check_models(models: Sequence[AnyPromise]) -> None:
    """Refuse what are no promises about ways."""
    if not models:
        raise InvalidParameterError(
            "No promise is given; give at least one, such as [sf.places.KDelta(k=5, delta=300)]."
        )
    for model in models:
        require(isinstance(model, KindPromise), "models", "model", "a promise about ways, such as KDelta", model)
