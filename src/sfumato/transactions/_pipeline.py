"""Anonymize sets: search, judge, measure, and keep what made the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sfumato._progress import Progress, open_progress, scale_progress
from sfumato._randomness import KeyedRandom, draw_secret
from sfumato._validation import require
from sfumato.core.algorithm import Algorithm, Request, usual_search
from sfumato.core.recipe import TypedRecipe
from sfumato.errors import GuaranteeViolatedError
from sfumato.transactions._catalogue import ALGORITHMS, OF_ROWS
from sfumato.transactions._published import TransactionAlgorithm, TransactionModel
from sfumato.transactions._release import TransactionsRelease, audit, check_models
from sfumato.transactions.metrics import compute_metrics
from sfumato.transactions.table_with_transactions import TableWithTransactions
from sfumato.transactions.transactions import Transactions

KIND = "baskets"


def anonymize(
    baskets: Transactions | TableWithTransactions,
    *,
    models: Sequence[TransactionModel],
    algorithm: TransactionAlgorithm | None = None,
    secret: str | None = None,
    source: Mapping[str, str | Sequence[str]] | None = None,
    progress: Progress | bool = False,
) -> TransactionsRelease:
    """Publish baskets so that they keep every promise.

    Parameters
    ----------
    baskets : the original; `TableWithTransactions` if there are attributes beside the sets.
    models : what is promised, such as `sf.transactions.KmAnonymity(k=5, m=2)`.
    algorithm : how to search, such as `sf.transactions.AprioriAnonymization(taxonomy=tree)`; by default the usual
        search for the promises, which for k^m-anonymity takes baskets apart and keeps every item as it is.
    secret : repeats random choices that hide somebody; by default drawn from the operating system.
    source : how the original is read, for the recipe: its columns `person`, `item` and items that are `sensitive`.
    progress : True shows a bar; a function is told the share of the work that is done.
    """
    good = isinstance(baskets, Transactions | TableWithTransactions)
    require(good, "anonymize", "baskets", "an sf.transactions.Transactions", type(baskets).__name__)
    check_models("anonymize", models)
    if algorithm is None:
        algorithm = usual_search(models, baskets, ALGORITHMS.values() if isinstance(baskets, Transactions) else OF_ROWS)
    searches = isinstance(algorithm, Algorithm)
    require(searches, "anonymize", "algorithm", "a search of sf.transactions", type(algorithm).__name__)
    recipe = TypedRecipe(
        data_type=KIND, models=tuple(models), algorithm=algorithm, secret=secret, input=dict(source or {})
    )
    return run_recipe(recipe, baskets, progress=progress)


def run_recipe(
    recipe: TypedRecipe, baskets: Transactions | TableWithTransactions, *, progress: Progress | bool = False
) -> TransactionsRelease:
    """Make the release that a recipe describes.

    Parameters
    ----------
    recipe : what is promised and how to search; read one by `sf.transactions.read_recipe`.
    baskets : the original.
    progress : as for `anonymize`.
    """
    recipe.algorithm.check(recipe.models)
    original = baskets.transactions if isinstance(baskets, TableWithTransactions) else baskets
    known = baskets.schema_options() if isinstance(baskets, TableWithTransactions) else {}
    if recipe.algorithm.uses_secret and recipe.secret is None:
        recipe = replace(recipe, secret=draw_secret())
    recipe = replace(recipe, input={**recipe.input, **known, "baskets": len(original), "sha256": original.digest})
    with open_progress(progress, "Searching") as tell:
        stream = KeyedRandom(recipe.secret, KIND, about=lambda: original.digest)
        request = Request(data=baskets, models=recipe.models, stream=stream, progress=scale_progress(tell, 0.0, 0.8))
        found = recipe.algorithm.search(request)
        tell(0.8, "measuring")
        measures = compute_metrics(found, original)
        published = found.ordered()
        tell(0.9, "judging")
        audited = audit(published, models=recipe.models)
    if not audited.holds:
        raise GuaranteeViolatedError(
            "The release does not keep its promise, so it is withheld; please report it as a bug."
        )
    return TransactionsRelease(published=published, audit=audited, metrics=measures, recipe=recipe, original=original)
