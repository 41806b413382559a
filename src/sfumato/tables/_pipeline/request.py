"""From a recipe and a table to the task of a search; impossible requests are refused first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, ignore_progress
from sfumato._randomness import KeyedRandom, seeded_generator
from sfumato._validation import is_integer
from sfumato.core.recipe import Recipe
from sfumato.encoding.coded_table import CodedColumn, CodedTable, encode_table
from sfumato.encoding.domain import Domain, nearly_unique
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError, SfumatoError, UnsupportedModelError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._individuals import RowsPerIndividual
from sfumato.io._values import refuse_huge
from sfumato.schema.roles import MissingPolicy, Role, Scale
from sfumato.tables.algorithms._blocks import check_blocks
from sfumato.tables.algorithms._cohorts import supports_cohorts
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.bucketization._sensitive_cells import flagged_cells
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.audit.audit import check_models
from sfumato.tables.inspection._roles import is_free_text
from sfumato.tables.masking._apply import check_coding_bounds, mask_source, steps_after_search, steps_before_search
from sfumato.tables.masking.base import MaskingStep
from sfumato.tables.masking.suppress_cells import SuppressCells
from sfumato.tables.models._conjunction import drop_implied
from sfumato.tables.models.base import GroupModel
from sfumato.tables.series._prior_disclosure import KnownIndividuals


def build_request(
    recipe: Recipe,
    table: pa.Table,
    progress: Progress,
    stream: KeyedRandom | None = None,
    *,
    weights: npt.NDArray[np.integer] | None = None,
    known: Callable[[CodedTable], KnownIndividuals] | None = None,
) -> TableRequest:
    """Code a table and build the task of a recipe; refuse what the algorithm does not support or nothing can keep.

    With `weights`, every row of the table represents that many records. `known` tells of the persons of the table.
    """
    check_published_columns(recipe)
    check_block_rows(recipe)
    check_models(recipe.models, recipe.schema)
    task = encode_request(recipe, table, progress, stream, weights=weights, known=known)
    wait = supports_cohorts(recipe.algorithm) and task.known is not None and bool(task.known.published.any())
    check_feasible(task, recipe.algorithm, wait=wait)
    check_supported(task, recipe.algorithm)
    if not wait:
        check_feasible_without_suppression(task, recipe.algorithm)
    return task


def check_published_columns(recipe: Recipe) -> None:
    """Refuse a schema that publishes nothing."""
    schema = recipe.schema
    if not (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive):
        raise SchemaError("There is nothing to publish; give columns the role quasi, sensitive or insensitive.")


def refuse_rows_of_individuals(recipe: Recipe, table: pa.Table) -> None:
    """Refuse to promise anything of rows where individuals have several, unless the recipe counts rows."""
    if recipe.models and not recipe.count_rows:
        refuse_rows(RowsPerIndividual.from_table(table, recipe.schema.identifiers))


def refuse_rows(found: RowsPerIndividual | None) -> None:
    """Refuse to count the rows of individuals that have several."""
    if found is not None:
        raise InfeasibleError(
            f"{found.sentence} Keep one row per individual, or give count_rows=True to count rows.",
            [{"count_rows": True, **found.sentence.to_dict}],
        )


def refuse_huge_numbers(recipe: Recipe, table: pa.Table) -> None:
    """Refuse to publish columns whose numbers cannot be averaged."""
    schema = recipe.schema
    refuse_huge(table, (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive))


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


def check_block_rows(recipe: Recipe) -> None:
    """Refuse blocks for what cannot be searched in them."""
    if recipe.block_rows is None:
        return
    refusal = check_blocks(recipe.algorithm, recipe.models, tuple(recipe.schema.flags))
    if refusal is not None:
        raise UnsupportedModelError(refusal)


def encode_request(
    recipe: Recipe,
    table: pa.Table,
    progress: Progress,
    stream: KeyedRandom | None = None,
    *,
    weights: npt.NDArray[np.integer] | None = None,
    known: Callable[[CodedTable], KnownIndividuals] | None = None,
) -> TableRequest:
    """Code a table and build the task of a recipe, whether it can be carried out or not."""
    coded = encode_table(table, recipe.schema, _target_columns(recipe), weights=weights)
    return TableRequest(
        table=coded,
        models=drop_implied(recipe.models),
        max_suppressed=max_suppressed_records(recipe, coded.rows),
        missing=MissingPolicy(recipe.schema.missing),
        rng=seeded_generator(recipe.seed or 0),
        stream=KeyedRandom() if stream is None else stream,
        progress=progress,
        known=None if known is None else known(coded),
    )


def max_suppressed_records(recipe: Recipe, rows: int) -> int:
    """Return how many of so many records a recipe may suppress."""
    return int(Fraction(str(recipe.max_suppressed)) * rows)


def check_model(model: GroupModel, task: TableRequest, algorithm: TableAlgorithm) -> None:
    """Refuse a model that nothing can keep, or not without suppression where the algorithm suppresses nothing."""
    _check_protected_values(model, task)
    _check_model_feasible(model, task, algorithm)
    _check_model_without_suppression(model, task, algorithm)


def check_feasible(task: TableRequest, algorithm: TableAlgorithm, *, wait: bool = False) -> None:
    """Refuse models that name unknown values, and those that nothing can keep unless some records `wait`."""
    for model in task.models:
        _check_protected_values(model, task)
    for model in () if wait else task.models:
        _check_model_feasible(model, task, algorithm)


def check_feasible_without_suppression(task: TableRequest, algorithm: TableAlgorithm) -> None:
    """Refuse models that not even all records together keep, if the algorithm suppresses none."""
    for model in task.models:
        _check_model_without_suppression(model, task, algorithm)


def check_supported(task: TableRequest, algorithm: TableAlgorithm) -> None:
    """Refuse what the algorithm does not support, and columns that it would publish value by value."""
    refusal = algorithm.check(task)
    if refusal is not None:
        raise UnsupportedModelError(refusal)
    check_nearly_unique([column.domain for column in task.table.quasi], task.table.rows)


def _target_columns(recipe: Recipe) -> tuple[str, ...]:
    guides, known = recipe.algorithm.target_columns, recipe.schema.attributes
    for name in guides:
        if name not in known or recipe.schema.role(name) is Role.IDENTIFIER:
            raise SchemaError(
                f"{type(recipe.algorithm).__name__} is guided by column {name!r}, which is not published; "
                "make it quasi, sensitive or insensitive."
            )
    return guides


def check_nearly_unique(quasi: Sequence[Domain], rows: int) -> None:
    """Refuse names of things that nearly every record has for itself: in sets they would be published one and all.

    Such a column is a name, a free text or, if a file was misread, its whole lines.
    """
    for domain in quasi:
        if domain.scale is Scale.NOMINAL and domain.hierarchy is None and nearly_unique(len(domain), rows):
            raise SchemaError(
                f"Quasi-identifier {domain.name!r} has {len(domain):,} different values in {rows:,} rows "
                "and no hierarchy, so sets of them would be published; give it a hierarchy (such as "
                "sf.hierarchies.Prefixes()), "
                "make it an identifier, or give it another role."
            )


def _check_protected_values(model: GroupModel, task: TableRequest) -> None:
    """Refuse a model that protects values by name if no record has them: a misspelled name would protect nobody."""
    if not model.protected_values:
        return
    protected = {column.name: column for column in task.table.sensitive}
    protected |= {name: flagged_cells(task.table, name) for name in task.table.flags}
    before = {} if task.known is None else task.known.signatures
    known = [
        {*protected[name].domain.texts, *(before[name].texts if name in before else ())}
        for name in model.sensitive_attributes
    ]
    unknown = sum(value not in texts for texts in known for value in model.protected_values)
    if unknown:
        columns = ", ".join(repr(name) for name in model.sensitive_attributes)
        raise SchemaError(
            f"{type(model).__name__} names {unknown} values that are not in column {columns}; correct them."
        )


def _check_model_feasible(model: GroupModel, task: TableRequest, algorithm: TableAlgorithm) -> None:
    """Refuse a model that no group can keep, or not even all records together if nothing may be suppressed.

    In a later release of a series, rows that belong to nobody may fill up a bucket, and others may wait: then only the
    search can tell.
    """
    later = task.known is not None and task.known.is_any_known
    if later and algorithm.supports_series and model.sensitive_attributes:
        return
    reached = _level_of_all_records(model, task) if model.extendable or not task.max_suppressed else None
    if reached is not None:
        raise InfeasibleError(f"No release of these {reached.told}.", reached.advice)


def _check_model_without_suppression(model: GroupModel, task: TableRequest, algorithm: TableAlgorithm) -> None:
    """Refuse a model that not even all records together keep, if the algorithm suppresses none."""
    reached = None if algorithm.suppresses else _level_of_all_records(model, task)
    if reached is not None:
        raise InfeasibleError(
            f"{type(algorithm).__name__} suppresses nothing, and no release of all {reached.told}; use an algorithm "
            "that suppresses, such as Optimal, or ask for less.",
            [{"algorithm": Optimal.name}, *reached.advice],
        )


@dataclass(frozen=True)
class _ReachedLevel:
    """How far a group of all records is from keeping a model, in words, and the model that it would keep."""

    told: str
    advice: tuple[dict[str, str | float | list[str]], ...]


def _level_of_all_records(model: GroupModel, task: TableRequest) -> _ReachedLevel | None:
    """Tell how far a group of all records is from keeping a monotone model; nothing if it keeps it."""
    if model.needs_population or not model.monotone:
        return None
    flagged = [flagged_cells(task.table, name) for name in model.sensitive_attributes if name in task.table.flags]
    _check_flags_present(model, flagged)
    table, columns = task.table, flagged or task.table.sensitive
    if flagged:
        table = table.take(np.flatnonzero(table.flags[flagged[0].name]))
    whole, rows = task.count_as_one_group(table, columns), table.rows
    if model.satisfied_by(whole)[0]:
        return None
    what, together = f"{rows:,} rows", "a single group of all records"
    if flagged:
        what, together = f"{rows:,} flagged cells of {flagged[0].name!r}", "a single bucket of all these cells"
    level = model.worst_level(model.levels(whole))
    needed = {"min": f"{model.limit:g} is needed", "max": f"{model.limit:g} is the limit"}[model.bound]
    told = f"{what} can keep {model!r}: {together} reaches {level:g}, {needed}"
    return _ReachedLevel(told, tuple(_weaker_parameters(model, level)))


def _weaker_parameters(model: GroupModel, level: float) -> Iterator[dict[str, str | float | list[str]]]:
    """Yield the value of a parameter that a level keeps, if a whole number is the parameter and the limit at once."""
    for name, direction in model.stricter.items():
        value = getattr(model, name)
        if direction == "larger" and value == model.limit and is_integer(value) and 1 < level < math.inf:
            named: dict[str, str | float | list[str]] = {
                "model": model.name,
                "attributes": list(model.sensitive_attributes),
            }
            yield {**named, "parameter": name, "value": math.floor(level)}


def _check_flags_present(model: GroupModel, flagged: Sequence[CodedColumn]) -> None:
    """Refuse models that protect flagged cells if no cell is flagged."""
    for column in flagged:
        if not len(column.codes):
            raise SchemaError(
                f"{type(model).__name__} protects the flagged cells of {column.name!r}, but no cell is flagged there; "
                "flag some cells or drop the model."
            )


# Refuse masking steps that do not fit the rest of a recipe.


def check_masking(recipe: Recipe) -> None:
    """Refuse in one sentence what cannot be carried out, or would promise what it does not keep."""
    steps = recipe.masking
    check_coding_bounds(steps)
    for step in steps:
        for sentence in _column_problems(step, recipe):
            raise SchemaError(sentence)
        for sentence in _step_problems(step, recipe):
            raise InvalidParameterError(sentence)
    if steps != (*steps_before_search(steps), *steps_after_search(steps)):
        raise InvalidParameterError("SuppressCells hides what all other steps leave; put it last.")
    if len(steps_after_search(steps)) > 1:
        raise InvalidParameterError("SuppressCells is carried out once; put all its columns into one step.")


def recipe_after_masking(recipe: Recipe) -> Recipe:
    """Return the recipe as a search must see it: a column of intervals is text, unknown to hierarchies of numbers."""
    covered = {name for step in steps_before_search(recipe.masking) if step.covers for name in step.attributes}
    if not covered:
        return recipe
    schema = recipe.schema
    return replace(
        recipe,
        schema=replace(
            schema,
            hierarchies={name: each for name, each in schema.hierarchies.items() if name not in covered},
            scales={name: each for name, each in schema.scales.items() if name not in covered},
            orders={name: each for name, each in schema.orders.items() if name not in covered},
        ),
    )


def _column_problems(step: MaskingStep, recipe: Recipe) -> Iterator[str]:
    schema, name = recipe.schema, type(step).__name__
    published = (*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive)
    for column in step.attributes:
        if column not in published:
            yield f"{name} masks {column!r}, which is not published; give it the role quasi, sensitive or insensitive."
        if column in schema.flags or column in schema.flags.values():
            yield f"{name} masks {column!r}, whose single cells are flagged as sensitive; drop Schema.flags."
        if step.hides and column not in schema.quasi_identifiers:
            yield f"{name} hides cells of quasi-identifiers, and {column!r} is none; leave it out."


def _step_problems(step: MaskingStep, recipe: Recipe) -> Iterator[str]:
    name, algorithm = type(step).__name__, type(recipe.algorithm).__name__
    if step.hides and recipe.algorithm.recodes == "searched":
        yield (
            f"{name} follows a recoding that is given, not a search such as {algorithm}, which reaches the promise by "
            "itself; use Identity or FixedLevels."
        )
    if isinstance(step, SuppressCells) and step.protect == "rows" and recipe.models:
        yield (
            "SuppressCells with protect='rows' keeps no model, for a person may fit fewer than k rows; drop the "
            "models, or protect groups."
        )
    intervals = not step.hides and step.covers and set(step.attributes) & set(recipe.schema.quasi_identifiers)
    if intervals and recipe.algorithm.recodes != "nothing":
        yield (
            f"{name} would publish intervals of a quasi-identifier, which {algorithm} cannot read; use "
            "publish='bound', or Identity."
        )


# `sf.check`: what cannot be carried out, told without a search.


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
