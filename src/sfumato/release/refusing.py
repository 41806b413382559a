"""`sf.refusals`: what cannot be carried out, told without a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from sfumato.core.progress import silent
from sfumato.exceptions import InfeasibleError, SfumatoError
from sfumato.judging.audit.audit import check_models
from sfumato.masking.masking import earlier_steps, mask_source
from sfumato.models.base import PrivacyModel
from sfumato.models.requirements import without_implied
from sfumato.randomness import Stream
from sfumato.recipe import Recipe
from sfumato.release.masking_laws import refuse_unfit_masking, searched_recipe
from sfumato.release.tasks import (
    coded_task,
    refuse_free_text,
    refuse_huge_numbers,
    refuse_rows_of_individuals,
    refuse_unfit_blocks,
    refuse_unkept,
    refuse_unpublished,
    refuse_unsupported,
)
from sfumato.table.frames import Frame, to_arrow


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """One reason why a recipe cannot be carried out on a table.

    Parameters
    ----------
    error : what `sf.carry_out` would raise, were it the only reason; its text is one sentence.
    model : the place among the recipe's models of the one that is refused; None if it is about something else.
    """

    error: SfumatoError
    model: int | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the kind of the error, its sentence and the model as plain values."""
        return {"kind": type(self.error).__name__, "sentence": str(self.error), "model": self.model}


def refusals(recipe: Recipe, data: Frame) -> tuple[Refusal, ...]:
    """Find what `sf.carry_out` would refuse before it searches; empty if it would search.

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
    ...     schema=Schema(quasi=["age"], sensitive=["disease"]),
    ...     models=(KAnonymity(k=3), DistinctLDiversity(l=9, sensitive="disease")),
    ...     algorithm=Mondrian(),
    ... )
    >>> [(each.model, type(each.error).__name__) for each in refusals(recipe, table)]
    [(1, 'InfeasibleError')]
    """
    table, kind = to_arrow(data)
    return tuple(_found(replace(recipe, schema=recipe.schema.with_orders(kind.orders)), table))


def _found(recipe: Recipe, table: pa.Table) -> Iterator[Refusal]:
    fitting = []
    for at, model in enumerate(recipe.models):
        try:
            check_models([model], recipe.schema)
            fitting.append(model)
        except SfumatoError as error:
            yield Refusal(error=error, model=at)
    try:
        recipe.schema.check_columns(table.column_names)
        refuse_unpublished(recipe)
        refuse_rows_of_individuals(recipe, table)
        refuse_free_text(recipe, table)
        refuse_huge_numbers(recipe, table)
        refuse_unfit_masking(recipe)
        refuse_unfit_blocks(recipe)
        source = mask_source(table, earlier_steps(recipe.masking), recipe.schema.quasi, lambda _: Stream())
        searched = searched_recipe(recipe)
        task = coded_task(searched, source.table, silent)
    except SfumatoError as error:
        yield Refusal(error=error)
        return
    understood: list[PrivacyModel] = []
    for given, model in zip(without_implied(searched.models), task.models, strict=True):
        if not _is_among(given, fitting):
            continue
        try:
            refuse_unkept(model, task, recipe.algorithm)
            understood.append(model)
        except SfumatoError as error:
            yield Refusal(error=error, model=next(at for at, each in enumerate(recipe.models) if each is given))
            understood += [model] if isinstance(error, InfeasibleError) else []
    try:
        refuse_unsupported(replace(task, models=tuple(understood)), recipe.algorithm)
    except SfumatoError as error:
        yield Refusal(error=error)


def _is_among(model: PrivacyModel, models: Sequence[PrivacyModel]) -> bool:
    return any(each is model for each in models)
