"""`sf.check`: what cannot be carried out, told without a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sfumato.core.progress import ignore_progress
from sfumato.exceptions import InfeasibleError, SfumatoError
from sfumato.judging.audit.audit import check_models
from sfumato.masking.masking import mask_source, steps_before_search
from sfumato.models.base import GroupModel
from sfumato.models.requirements import drop_implied
from sfumato.randomness import KeyedRandom
from sfumato.recipe import Recipe
from sfumato.release.masking_laws import check_masking, recipe_after_masking
from sfumato.release.tasks import (
    check_block_rows,
    check_model,
    check_published_columns,
    check_supported,
    encode_request,
    refuse_free_text,
    refuse_huge_numbers,
    refuse_rows_of_individuals,
)
from sfumato.table.frames import Frame, to_arrow


@dataclass(frozen=True, kw_only=True)
class RequestProblem:
    """One reason why a recipe cannot be carried out on a table.

    Parameters
    ----------
    error : what `sf.run_recipe` would raise, were it the only reason; its text is one sentence.
    model : the place among the recipe's models of the one that is refused; None if it is about something else.
    """

    error: SfumatoError
    model: int | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the kind of the error, its sentence and the model as plain values."""
        return {"kind": type(self.error).__name__, "sentence": str(self.error), "model": self.model}


def check(recipe: Recipe, data: Frame) -> tuple[RequestProblem, ...]:
    """Find what `sf.run_recipe` would refuse before it searches; empty if it would search.

    A search can still fail: that all records in one group keep every model says nothing about smaller groups, or about
    what an algorithm finds. Where masking is random, other draws are looked at than those of the release.

    Parameters
    ----------
    recipe : what is to be carried out.
    data : a pandas, Polars or Arrow table; it is not changed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.algorithms import Mondrian
    >>> from sfumato.models import DistinctLDiversity, KAnonymity
    >>> from sfumato.schema.schema import Schema
    >>> table = pa.table({"age": [39, 50, 39], "disease": ["flu", "cold", "flu"]})
    >>> recipe = Recipe(
    ...     schema=Schema(quasi_identifiers=["age"], sensitive=["disease"]),
    ...     models=(KAnonymity(k=3), DistinctLDiversity(l=9, sensitive="disease")),
    ...     algorithm=Mondrian(),
    ... )
    >>> [(each.model, type(each.error).__name__) for each in check(recipe, table)]
    [(1, 'InfeasibleError')]
    """
    table, kind = to_arrow(data)
    return tuple(_find_problems(replace(recipe, schema=recipe.schema.with_orders(kind.category_orders)), table))


def _find_problems(recipe: Recipe, table: pa.Table) -> Iterator[RequestProblem]:
    fitting = []
    for at, model in enumerate(recipe.models):
        try:
            check_models([model], recipe.schema)
            fitting.append(model)
        except SfumatoError as error:
            yield RequestProblem(error=error, model=at)
    try:
        recipe.schema.check_columns(table.column_names)
        check_published_columns(recipe)
        refuse_rows_of_individuals(recipe, table)
        refuse_free_text(recipe, table)
        refuse_huge_numbers(recipe, table)
        check_masking(recipe)
        check_block_rows(recipe)
        source = mask_source(
            table, steps_before_search(recipe.masking), recipe.schema.quasi_identifiers, lambda _: KeyedRandom()
        )
        searched = recipe_after_masking(recipe)
        task = encode_request(searched, source.table, ignore_progress)
    except SfumatoError as error:
        yield RequestProblem(error=error)
        return
    understood: list[GroupModel] = []
    for given, model in zip(drop_implied(searched.models), task.models, strict=True):
        if not _is_among(given, fitting):
            continue
        try:
            check_model(model, task, recipe.algorithm)
            understood.append(model)
        except SfumatoError as error:
            yield RequestProblem(error=error, model=next(at for at, each in enumerate(recipe.models) if each is given))
            understood += [model] if isinstance(error, InfeasibleError) else []
    try:
        check_supported(replace(task, models=tuple(understood)), recipe.algorithm)
    except SfumatoError as error:
        yield RequestProblem(error=error)


def _is_among(model: GroupModel, models: Sequence[GroupModel]) -> bool:
    return any(each is model for each in models)
