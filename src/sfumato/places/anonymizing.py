"""Publish ways: search, judge, measure, and write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.core.progress import Progress, followed
from sfumato.exceptions import BrokenPromiseError, InvalidParameterError
from sfumato.kinds.audit import KindAudit, audited
from sfumato.kinds.promise import KindPromise
from sfumato.kinds.recipe import KindRecipe
from sfumato.kinds.search import KindRequest, KindSearch
from sfumato.places.measures import measure_ways
from sfumato.places.region_ways import RegionWays
from sfumato.places.trajectories import Trajectories
from sfumato.places.way_release import WayRelease
from sfumato.randomness import Stream, check_secret, draw_secret
from sfumato.validation import require

KIND = "ways"


def anonymize(
    ways: Trajectories,
    *,
    models: Sequence[KindPromise[Any]],
    algorithm: KindSearch[Any],
    secret: str | None = None,
    progress: Progress | bool = False,
) -> WayRelease:
    """Publish ways that keep a promise.

    Parameters
    ----------
    ways : the trajectories.
    models : what is promised, such as `KDelta(k=5, delta=300)`.
    algorithm : how ways are found that keep it, such as `NeverWalkAlone()`.
    secret : makes new numbers and other choices that hide somebody repeatable: 64 hexadecimal digits, by default drawn
        from the operating system. The recipe keeps it inside.
    progress : True shows a bar; a function is told the share of the work that is done.

    Raises
    ------
    InfeasibleError
        If the promise cannot be kept.
    """
    require(isinstance(ways, Trajectories), "anonymize", "ways", "sf.places.Trajectories", type(ways).__name__)
    check_models(models)
    require(isinstance(algorithm, KindSearch), "anonymize", "algorithm", "such as NeverWalkAlone()", algorithm)
    check_secret("anonymize", secret)
    algorithm.check(models)
    secret = secret or draw_secret()
    with followed(progress, "Searching") as tell:
        stream = Stream(secret, "ways", about=ways.digest)
        found = algorithm.find(KindRequest(data=ways, models=models, stream=stream, progress=tell))
    judged = audit(found, models=models)
    if not judged.holds:
        raise BrokenPromiseError("The ways found fail their audit, so they are withheld; please report this as a bug.")
    source = {"digest": ways.digest(), "points": len(ways.points), "ways": len(ways)}
    recipe = KindRecipe(kind=KIND, models=tuple(models), algorithm=algorithm, secret=secret, source=source)
    return WayRelease(
        published=found, original=ways, audit=judged, measures=measure_ways(ways, found), recipe=recipe, judge=audit
    )


def audit(published: Trajectories | RegionWays, *, models: Sequence[KindPromise[Any]]) -> KindAudit:
    """Judge published ways by themselves.

    Parameters
    ----------
    published : the ways as they are published; name their column of clusters with `cluster=` where a promise is about
        clusters.
    models : what is promised.
    """
    check_models(models)
    if isinstance(published, RegionWays):
        facts = {"persons": published.persons, "ways": len(published), "steps": len(published.boxes)}
    else:
        points = published.points
        facts = {"persons": points.persons, "ways": points.ways, "points": len(points)}
    return audited(models, published, facts)


def check_models(models: Sequence[KindPromise[Any]]) -> None:
    """Refuse what are no promises about ways."""
    if not models:
        raise InvalidParameterError(
            "No promise is given; give at least one, such as [sf.places.KDelta(k=5, delta=300)]."
        )
    for model in models:
        require(isinstance(model, KindPromise), "models", "model", "a promise about ways, such as KDelta", model)
