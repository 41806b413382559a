"""Stage RELEASE: refuse what is impossible, search, apply, audit, record; write what goes out and what stays in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial

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
from sfumato.randomness import Stream, draw_secret, draw_seed
from sfumato.recipe import Recipe
from sfumato.release.applying import apply, fixed_order
from sfumato.release.recoding_rules import Recoding
from sfumato.release.release import Release
from sfumato.release.tasks import task_of
from sfumato.schema.schema import Schema
from sfumato.table.formats.base import Option
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
    secret: str | None = None,
    reading: Mapping[str, Option] | None = None,
    progress: Progress = silent,
) -> Release:
    """Find, check and record a release of a table that keeps every model.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not changed.
    schema : the role of every attribute.
    models : what is promised.
    algorithm : how to search; by default `Mondrian()`.
    max_suppressed : the share of records that may be suppressed, in [0, 1].
    seed : makes the random choices of a search that hide nobody repeatable; by default drawn from the operating system.
    secret : makes those that hide somebody repeatable, such as who is in which bucket: 64 hexadecimal digits, by
        default drawn from the operating system.
    reading : how the table was read, by the options of `sf.read`; a text file is written by the same conventions.
    progress : is called with the share of the search that is done.

    Raises
    ------
    InfeasibleError
        If no release can keep the models, or not without suppressing more.
    """
    recipe = Recipe(
        schema=schema,
        models=models,  # type: ignore[arg-type]  # checked there, and made a tuple
        algorithm=Mondrian() if algorithm is None else algorithm,
        max_suppressed=max_suppressed,
        seed=seed,
        secret=secret,
        reading=reading or {},
    )
    return carry_out(recipe, data, progress=progress)


def carry_out(recipe: Recipe, data: Frame, *, progress: Progress = silent) -> Release:
    """Run a recipe on a table."""
    table, kind = to_arrow(data)
    recipe = replace(recipe, schema=recipe.schema.with_orders(kind.orders))
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
    secret = draw_secret() if recipe.secret is None else recipe.secret
    about = cache(partial(_about, recipe, searched))
    task = task_of(recipe, searched, progress, Stream(secret, "search", about=about))
    publication = _search(recipe.algorithm, task)
    published, found = apply(publication, searched, schema, Stream(secret, "shuffle", about=about))
    if publication.buckets:
        recipe = replace(recipe, secret=secret)
    correspondence = found if order is None else order[found]
    centers = recipe.algorithm.publishes == "centers"
    evidence = Evidence(published, schema, original=table, correspondence=correspondence, centers=centers)
    audit = audit_evidence(evidence, models)
    if not audit.holds:
        raise BrokenPromiseError(
            f"{type(recipe.algorithm).__name__} found a release that fails its audit, so it is withheld; "
            "please report this as a bug."
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


def _about(recipe: Recipe, table: pa.Table) -> str:
    """Say what is released and how, whatever the order of the rows: the secret hides people anew in anything else."""
    content = {key: value for key, value in recipe.to_dict().items() if key not in {"sfumato", "input"}}
    schema = recipe.schema
    names = [*schema.quasi, *schema.sensitive, *schema.insensitive, *schema.flags.values()]
    return fingerprint(table.select(names)) + json.dumps(content, sort_keys=True, default=str)


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
        raise InfeasibleError(f"{name} would suppress all records; promise less.")
    if publication.suppressed > most:
        raise InfeasibleError(
            f"{name} would suppress {publication.suppressed:,} records, more than the {most:,} "
            f"allowed; set max_suppressed={_rounded_up(publication.suppressed, rows)} or promise less."
        )
    return publication


def _rounded_up(part: int, whole: int, digits: int = 4) -> float:
    return float(Fraction(-(-part * 10**digits // whole), 10**digits))
