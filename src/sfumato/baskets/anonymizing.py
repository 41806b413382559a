"""Anonymize sets: search, judge, measure, and keep what made the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sfumato.baskets.auditing import audit, check_models
from sfumato.baskets.baskets import Baskets
from sfumato.baskets.catalogue import ALGORITHMS, OF_ROWS
from sfumato.baskets.measuring import measures_of
from sfumato.baskets.published import SetPromise, SetSearch
from sfumato.baskets.release import BasketRelease
from sfumato.baskets.rows_with_sets import RowsWithSets
from sfumato.core.progress import Progress, followed, partly
from sfumato.exceptions import BrokenPromiseError
from sfumato.kinds.recipe import KindRecipe
from sfumato.kinds.search import KindRequest, KindSearch, usual_search
from sfumato.randomness import Stream, draw_secret
from sfumato.validation import require

KIND = "baskets"


def anonymize(
    baskets: Baskets | RowsWithSets,
    *,
    models: Sequence[SetPromise],
    algorithm: SetSearch | None = None,
    secret: str | None = None,
    source: Mapping[str, str | Sequence[str]] | None = None,
    progress: Progress | bool = False,
) -> BasketRelease:
    """Publish baskets so that they keep every promise.

    Parameters
    ----------
    baskets : the original; `RowsWithSets` if there are attributes beside the sets.
    models : what is promised, such as `sf.baskets.KMAnonymity(k=5, m=2)`.
    algorithm : how to search, such as `sf.baskets.AprioriAnonymization(taxonomy=tree)`; by default the usual search for
        the promises, which for k^m-anonymity takes baskets apart and keeps every item as it is.
    secret : repeats random choices that hide somebody; by default drawn from the operating system.
    source : how the original is read, for the recipe: its columns `person`, `item` and items that are `sensitive`.
    progress : True shows a bar; a function is told the share of the work that is done.
    """
    good = isinstance(baskets, Baskets | RowsWithSets)
    require(good, "anonymize", "baskets", "an sf.baskets.Baskets", type(baskets).__name__)
    check_models("anonymize", models)
    if algorithm is None:
        algorithm = usual_search(models, baskets, ALGORITHMS.values() if isinstance(baskets, Baskets) else OF_ROWS)
    searches = isinstance(algorithm, KindSearch)
    require(searches, "anonymize", "algorithm", "a search of sf.baskets", type(algorithm).__name__)
    recipe = KindRecipe(kind=KIND, models=tuple(models), algorithm=algorithm, secret=secret, source=dict(source or {}))
    return carry_out(recipe, baskets, progress=progress)


def carry_out(
    recipe: KindRecipe, baskets: Baskets | RowsWithSets, *, progress: Progress | bool = False
) -> BasketRelease:
    """Make the release that a recipe describes.

    Parameters
    ----------
    recipe : what is promised and how to search; read one by `sf.baskets.read_recipe`.
    baskets : the original.
    progress : as for `anonymize`.
    """
    recipe.algorithm.check(recipe.models)
    original = baskets.baskets if isinstance(baskets, RowsWithSets) else baskets
    known = baskets.told() if isinstance(baskets, RowsWithSets) else {}
    if recipe.algorithm.draws and recipe.secret is None:
        recipe = replace(recipe, secret=draw_secret())
    recipe = replace(recipe, source={**recipe.source, **known, "baskets": len(original), "sha256": original.digest})
    with followed(progress, "Searching") as tell:
        stream = Stream(recipe.secret, KIND, about=lambda: original.digest)
        request = KindRequest(data=baskets, models=recipe.models, stream=stream, progress=partly(tell, 0.0, 0.8))
        found = recipe.algorithm.find(request)
        tell(0.8, "measuring")
        measures = measures_of(found, original)
        published = found.ordered()
        tell(0.9, "judging")
        audited = audit(published, models=recipe.models)
    if not audited.holds:
        raise BrokenPromiseError("The release does not keep its promise, so it is withheld; please report it as a bug.")
    return BasketRelease(published=published, audit=audited, measures=measures, recipe=recipe, original=original)
