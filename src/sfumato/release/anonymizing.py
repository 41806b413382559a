"""Stage RELEASE: refuse what is impossible, search, apply, audit, record; write what goes out and what stays in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Task
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.catalogue import MEASURES
from sfumato.coding.fingerprint import fingerprint
from sfumato.core.progress import Progress, silent
from sfumato.core.publication import NOT_PUBLISHED, Publication
from sfumato.exceptions import BrokenPromiseError, InfeasibleError
from sfumato.judging.audit.audit import audit_evidence
from sfumato.judging.evidence import Evidence
from sfumato.judging.measures import Measured
from sfumato.models.base import PrivacyModel
from sfumato.randomness import draw_seed, generator
from sfumato.recipe import Recipe
from sfumato.release.applying import apply, fixed_order
from sfumato.release.recoding_rules import Recoding
from sfumato.release.release import Release
from sfumato.release.tasks import task_of
from sfumato.schema.schema import Schema
from sfumato.table.frames import Frame, to_arrow

INFORMATION_LOSS = "information-loss-rate"


def anonymize(
    data: Frame,
    schema: Schema,
    models: Sequence[PrivacyModel],
    algorithm: Algorithm | None = None,
    *,
    max_suppressed: float = 0.0,
    seed: int | None = None,
    progress: Progress = silent,
) -> Release:
    """Find, check and record a release of a table that keeps every model.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not touched.
    schema : what every attribute is.
    models : what is promised.
    algorithm : how to search; `Mondrian()` unless given.
    max_suppressed : the share of records that may be left out, in [0, 1].
    seed : repeats a run of an algorithm that draws random numbers; drawn from the operating system unless given.
    progress : is told the share of the search that is done.

    Raises
    ------
    InfeasibleError
        No release can keep the models, or not without suppressing more.
    """
    recipe = Recipe(
        schema=schema,
        models=models,  # type: ignore[arg-type]  # checked there, and made a tuple
        algorithm=Mondrian() if algorithm is None else algorithm,
        max_suppressed=max_suppressed,
        seed=seed,
    )
    return carry_out(recipe, data, progress=progress)


def carry_out(recipe: Recipe, data: Frame, *, progress: Progress = silent) -> Release:
    """Carry out a recipe on a table."""
    table, kind = to_arrow(data)
    schema, models = recipe.schema, recipe.models
    left_out = schema.check_columns(table.column_names)
    order = None if recipe.algorithm.ignores_row_order else fixed_order(table, schema)
    searched = table if order is None else table.take(pa.array(order))
    recipe = replace(
        recipe,
        seed=draw_seed() if recipe.seed is None else recipe.seed,
        input_rows=table.num_rows,
        input_sha256=fingerprint(table),
    )
    task = task_of(recipe, searched, progress)
    publication = _search(recipe.algorithm, task)
    published, found = apply(publication, searched, schema, generator(recipe.seed or 0).spawn(1)[0])
    correspondence = found if order is None else order[found]
    centers = recipe.algorithm.publishes == "centers"
    evidence = Evidence(published, schema, original=table, correspondence=correspondence, centers=centers)
    audit = audit_evidence(evidence, models)
    if not audit.holds:
        raise BrokenPromiseError(
            f"{type(recipe.algorithm).__name__} found a release that fails its audit, so it is withheld; "
            "please report this as a flaw."
        )
    return Release(
        evidence=evidence,
        audit=audit,
        measures=_measures(evidence, task, found),
        recipe=recipe,
        left_out=left_out,
        kind=kind,
        proof=publication.proof,
        recoding=_recoding(publication, task, table, recipe),
    )


def _measures(evidence: Evidence, task: Task, rows: npt.NDArray[np.int64]) -> dict[str, float]:
    """Measure what the release has lost; `rows` are the rows of the task that are published."""
    table, centers = evidence.table, evidence.centers
    measured = Measured(table, task.table.rows - table.rows)
    found = {name: each.compute(measured) for name, each in MEASURES.items() if not (centers and each.of_covers)}
    if not centers:
        return found
    from sfumato.algorithms.microaggregation.space import Space

    group = np.full(task.table.rows, NOT_PUBLISHED)
    group[rows] = table.grouped.labels
    lost = float(Space.of(task.table).losses(group, len(table.grouped)).sum())
    return {INFORMATION_LOSS: lost / table.rows, **found}


def _recoding(publication: Publication, task: Task, table: pa.Table, recipe: Recipe) -> Recoding | None:
    if not publication.by_value:
        return None
    return Recoding.of(publication.by_value, [column.domain for column in task.table.quasi], table, recipe)


def _search(algorithm: Algorithm, task: Task) -> Publication:
    publication = algorithm.search(task)
    name, rows, most = type(algorithm).__name__, task.table.rows, task.most_suppressed
    if publication.suppressed == rows:
        raise InfeasibleError(f"{name} would suppress all records; ask for less.")
    if publication.suppressed > most:
        raise InfeasibleError(
            f"{name} would suppress {publication.suppressed:,} records and only {most:,} "
            f"may be; allow max_suppressed={_rounded_up(publication.suppressed, rows)} or ask for less."
        )
    return publication


def _rounded_up(part: int, whole: int, digits: int = 4) -> float:
    return float(Fraction(-(-part * 10**digits // whole), 10**digits))
