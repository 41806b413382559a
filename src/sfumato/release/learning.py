"""What can be learned from a release: publish a part of a table by a recipe, and test a classifier on the rest."""

from __future__ import annotations

from dataclasses import replace

from sfumato.core.progress import Progress, open_progress, scale_progress
from sfumato.judging.comparing.classification import (
    Classifier,
    ClassifierComparison,
    compare_classifiers,
    hold_out,
    require_sklearn,
)
from sfumato.recipe import Recipe
from sfumato.release.anonymizing import run_recipe
from sfumato.table.frames import Frame, to_arrow

SEARCHED = 0.7  # the share of the work, as it is told


def evaluate_classification(
    recipe: Recipe,
    data: Frame,
    *,
    target: str,
    share: float = 0.3,
    classifier: Classifier | None = None,
    seed: int = 0,
    progress: Progress | bool = False,
) -> ClassifierComparison:
    """Hold out some records, publish the others by a recipe, and train a classifier on them before and after.

    A release of the whole table cannot be tested fairly, since it was made from the records to test on. So this makes
    another one, of the records that are kept, and shows nothing of it. Requires scikit-learn: install
    `sfumato[learn]`.

    Parameters
    ----------
    recipe, data : what would be released, and how.
    target : the published column of classes.
    share, seed : how many records are held out, and which; a seed also makes the training repeatable.
    classifier : any scikit-learn classifier; by default a decision tree with at least 10 records in a leaf.
    progress : True shows a bar; a function is called with the share of the work that is done.

    Raises
    ------
    InfeasibleError
        If no release of the records that are kept can keep the models.
    """
    require_sklearn()
    table, kind = to_arrow(data)
    recipe = replace(recipe, schema=recipe.schema.with_orders(kind.category_orders))
    kept, held = hold_out(table, share=share, seed=seed)
    with open_progress(progress, "Learning") as tell:
        release = run_recipe(recipe, kept, progress=scale_progress(tell, 0.0, SEARCHED))
        tell(SEARCHED)
        schema = recipe.schema
        published = [name for name in schema.attributes if name != target and name in release.published.column_names]
        found = compare_classifiers(
            release.evidence.source,
            release.published,
            held,
            target=target,
            schema=schema,
            columns=published,
            classifier=classifier,
            seed=seed,
        )
        tell(1.0)
    return found
