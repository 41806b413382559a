"""From a recipe and a table to the task of a search; impossible requests are refused first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.buckets.bucketing import flagged_cells
from sfumato.algorithms.by_atoms import goes_by_atoms
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.algorithms.in_blocks import refusal_in_blocks
from sfumato.coding.codes import CodedColumn, CodedTable, code
from sfumato.coding.domain import Domain, nearly_unique
from sfumato.core.progress import Progress
from sfumato.core.signatures import KnownPersons
from sfumato.exceptions import InfeasibleError, SchemaError, UnsupportedModelError
from sfumato.inspection.roles import is_free_text
from sfumato.judging.audit.audit import check_models
from sfumato.models.base import PrivacyModel
from sfumato.models.requirements import without_implied
from sfumato.randomness import Stream, generator
from sfumato.recipe import Recipe
from sfumato.schema.missing import Missing
from sfumato.schema.roles import Role
from sfumato.schema.scales import Scale
from sfumato.table.numbers import refuse_huge
from sfumato.table.persons import RowsPerIndividual
from sfumato.validation import is_whole


def task_of(
    recipe: Recipe,
    table: pa.Table,
    progress: Progress,
    stream: Stream | None = None,
    *,
    weights: npt.NDArray[np.integer] | None = None,
    known: Callable[[CodedTable], KnownPersons] | None = None,
) -> Task:
    """Code a table and build the task of a recipe; refuse what the algorithm does not support or nothing can keep.

    With `weights`, every row of the table represents that many records. `known` tells of the persons of the table.
    """
    refuse_unpublished(recipe)
    refuse_unfit_blocks(recipe)
    check_models(recipe.models, recipe.schema)
    task = coded_task(recipe, table, progress, stream, weights=weights, known=known)
    wait = goes_by_atoms(recipe.algorithm) and task.known is not None and bool(task.known.published.any())
    refuse_impossible(task, recipe.algorithm, wait=wait)
    refuse_unsupported(task, recipe.algorithm)
    if not wait:
        refuse_without_suppression(task, recipe.algorithm)
    return task


def refuse_unpublished(recipe: Recipe) -> None:
    """Refuse a schema that publishes nothing."""
    schema = recipe.schema
    if not (*schema.quasi, *schema.sensitive, *schema.insensitive):
        raise SchemaError("There is nothing to publish; give columns the role quasi, sensitive or insensitive.")


def refuse_rows_of_individuals(recipe: Recipe, table: pa.Table) -> None:
    """Refuse to promise anything of rows where individuals have several, unless the recipe counts rows."""
    if recipe.models and not recipe.count_rows:
        refuse_rows(RowsPerIndividual.of(table, recipe.schema.identifier))


def refuse_rows(found: RowsPerIndividual | None) -> None:
    """Refuse to count the rows of individuals that have several."""
    if found is not None:
        raise InfeasibleError(
            f"{found.sentence} Keep one row per individual, or give count_rows=True to count rows.",
            [{"count_rows": True, **found.sentence.told}],
        )


def refuse_huge_numbers(recipe: Recipe, table: pa.Table) -> None:
    """Refuse to publish columns whose numbers cannot be averaged."""
    schema = recipe.schema
    refuse_huge(table, (*schema.quasi, *schema.sensitive, *schema.insensitive))


def refuse_free_text(recipe: Recipe, table: pa.Table) -> None:
    """Refuse to publish free text as it is, unless the recipe names the column: such texts may name individuals."""
    for name in text_columns(recipe, table.column_names):
        refuse_text(name, table[name])


def text_columns(recipe: Recipe, names: Sequence[str]) -> list[str]:
    """Return the columns that a recipe publishes as they are without saying that they may hold free text."""
    published = (*recipe.schema.sensitive, *recipe.schema.insensitive)
    return [name for name in published if name in names and name not in recipe.publish_text]


def refuse_text(name: str, cells: pa.ChunkedArray) -> None:
    """Refuse a column of free text."""
    if pa.types.is_string(cells.type) and is_free_text(name, cells):
        raise SchemaError(
            f"Column {name!r} holds free text, which may name individuals, and would be published as it is; make it an "
            f"identifier, or give publish_text=[{name!r}] if nobody is named in it."
        )


def refuse_unfit_blocks(recipe: Recipe) -> None:
    """Refuse blocks for what cannot be searched in them."""
    if recipe.block_rows is None:
        return
    refusal = refusal_in_blocks(recipe.algorithm, recipe.models, tuple(recipe.schema.flags))
    if refusal is not None:
        raise UnsupportedModelError(refusal)


def coded_task(
    recipe: Recipe,
    table: pa.Table,
    progress: Progress,
    stream: Stream | None = None,
    *,
    weights: npt.NDArray[np.integer] | None = None,
    known: Callable[[CodedTable], KnownPersons] | None = None,
) -> Task:
    """Code a table and build the task of a recipe, whether it can be carried out or not."""
    coded = code(table, recipe.schema, _guides(recipe), weights=weights)
    return Task(
        table=coded,
        models=without_implied(recipe.models),
        most_suppressed=most_suppressed(recipe, coded.rows),
        missing=Missing(recipe.schema.missing),
        rng=generator(recipe.seed or 0),
        stream=Stream() if stream is None else stream,
        progress=progress,
        known=None if known is None else known(coded),
    )


def most_suppressed(recipe: Recipe, rows: int) -> int:
    """Return how many of so many records a recipe may suppress."""
    return int(Fraction(str(recipe.max_suppressed)) * rows)


def refuse_unkept(model: PrivacyModel, task: Task, algorithm: Algorithm) -> None:
    """Refuse a model that nothing can keep, or not without suppression where the algorithm suppresses nothing."""
    _refuse_unknown_values(model, task)
    _refuse_impossible(model, task, algorithm)
    _refuse_without_suppression(model, task, algorithm)


def refuse_impossible(task: Task, algorithm: Algorithm, *, wait: bool = False) -> None:
    """Refuse models that name unknown values, and those that nothing can keep unless some records `wait`."""
    for model in task.models:
        _refuse_unknown_values(model, task)
    for model in () if wait else task.models:
        _refuse_impossible(model, task, algorithm)


def refuse_without_suppression(task: Task, algorithm: Algorithm) -> None:
    """Refuse models that not even all records together keep, if the algorithm suppresses none."""
    for model in task.models:
        _refuse_without_suppression(model, task, algorithm)


def refuse_unsupported(task: Task, algorithm: Algorithm) -> None:
    """Refuse what the algorithm does not support, and columns that it would publish value by value."""
    refusal = algorithm.refusal(task)
    if refusal is not None:
        raise UnsupportedModelError(refusal)
    refuse_nearly_unique([column.domain for column in task.table.quasi], task.table.rows)


def _guides(recipe: Recipe) -> tuple[str, ...]:
    guides, known = recipe.algorithm.guides, recipe.schema.attributes
    for name in guides:
        if name not in known or recipe.schema.role(name) is Role.IDENTIFIER:
            raise SchemaError(
                f"{type(recipe.algorithm).__name__} is guided by column {name!r}, which is not published; "
                "make it quasi, sensitive or insensitive."
            )
    return guides


def refuse_nearly_unique(quasi: Sequence[Domain], rows: int) -> None:
    """Refuse names of things that nearly every record has for itself: in sets they would be published one and all.

    Such a column is a name, a free text or, if a file was misread, its whole lines.
    """
    for domain in quasi:
        if domain.scale is Scale.NOMINAL and domain.hierarchy is None and nearly_unique(len(domain), rows):
            raise SchemaError(
                f"Quasi-identifier {domain.name!r} has {len(domain):,} different values in {rows:,} rows "
                "and no hierarchy, so sets of them would be published; give it a hierarchy (such as sf.Prefixes()), "
                "make it an identifier, or give it another role."
            )


def _refuse_unknown_values(model: PrivacyModel, task: Task) -> None:
    """Refuse a model that protects values by name if no record has them: a misspelled name would protect nobody."""
    if not model.named_values:
        return
    protected = {column.name: column for column in task.table.sensitive}
    protected |= {name: flagged_cells(task.table, name) for name in task.table.flags}
    before = {} if task.known is None else task.known.signatures
    known = [
        {*protected[name].domain.texts, *(before[name].texts if name in before else ())} for name in model.attributes
    ]
    unknown = sum(value not in texts for texts in known for value in model.named_values)
    if unknown:
        columns = ", ".join(repr(name) for name in model.attributes)
        raise SchemaError(
            f"{type(model).__name__} names {unknown} values that are not in column {columns}; correct them."
        )


def _refuse_impossible(model: PrivacyModel, task: Task, algorithm: Algorithm) -> None:
    """Refuse a model that no group can keep, or not even all records together if nothing may be suppressed.

    In a later release of a series, rows that belong to nobody may fill up a bucket, and others may wait: then only the
    search can tell.
    """
    later = task.known is not None and task.known.any
    if later and algorithm.follows_series and model.attributes:
        return
    reached = _all_together(model, task) if model.extendable or not task.most_suppressed else None
    if reached is not None:
        raise InfeasibleError(f"No release of these {reached.told}.", reached.advice)


def _refuse_without_suppression(model: PrivacyModel, task: Task, algorithm: Algorithm) -> None:
    """Refuse a model that not even all records together keep, if the algorithm suppresses none."""
    reached = None if algorithm.suppresses else _all_together(model, task)
    if reached is not None:
        raise InfeasibleError(
            f"{type(algorithm).__name__} suppresses nothing, and no release of all {reached.told}; use an algorithm "
            "that suppresses, such as Optimal, or ask for less.",
            [{"algorithm": Optimal.name}, *reached.advice],
        )


@dataclass(frozen=True)
class _Reached:
    """How far a group of all records is from keeping a model, in words, and the model that it would keep."""

    told: str
    advice: tuple[dict[str, str | float | list[str]], ...]


def _all_together(model: PrivacyModel, task: Task) -> _Reached | None:
    """Tell how far a group of all records is from keeping a monotone model; nothing if it keeps it."""
    if model.needs_population or not model.monotone:
        return None
    flagged = [flagged_cells(task.table, name) for name in model.attributes if name in task.table.flags]
    _refuse_unflagged(model, flagged)
    table, columns = task.table, flagged or task.table.sensitive
    if flagged:
        table = table.take(np.flatnonzero(table.flags[flagged[0].name]))
    whole, rows = task.together(table, columns), table.rows
    if model.kept_by(whole)[0]:
        return None
    what, together = f"{rows:,} rows", "a single group of all records"
    if flagged:
        what, together = f"{rows:,} flagged cells of {flagged[0].name!r}", "a single bucket of all these cells"
    level = model.worst(model.level(whole))
    needed = {"min": f"{model.limit:g} is needed", "max": f"{model.limit:g} is the limit"}[model.bound]
    told = f"{what} can keep {model!r}: {together} reaches {level:g}, {needed}"
    return _Reached(told, tuple(_weaker(model, level)))


def _weaker(model: PrivacyModel, level: float) -> Iterator[dict[str, str | float | list[str]]]:
    """Yield the value of a parameter that a level keeps, if a whole number is the parameter and the limit at once."""
    for name, direction in model.stricter.items():
        value = getattr(model, name)
        if direction == "larger" and value == model.limit and is_whole(value) and 1 < level < math.inf:
            named: dict[str, str | float | list[str]] = {"model": model.name, "attributes": list(model.attributes)}
            yield {**named, "parameter": name, "value": math.floor(level)}


def _refuse_unflagged(model: PrivacyModel, flagged: Sequence[CodedColumn]) -> None:
    """Refuse models that protect flagged cells if no cell is flagged."""
    for column in flagged:
        if not len(column.codes):
            raise SchemaError(
                f"{type(model).__name__} protects the flagged cells of {column.name!r}, but no cell is flagged there; "
                "flag some cells or drop the model."
            )
