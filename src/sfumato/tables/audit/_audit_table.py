"""Audit a published table wherever it is: in memory, or in an engine that looks at its files piece by piece."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, ignore_progress
from sfumato.errors import InvalidParameterError, UnsupportedModelError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._object_store import open_stored_table
from sfumato.io._parquet_parts import check_parts_manifest
from sfumato.io._reading import as_written, read_with_findings
from sfumato.io.formats import Option
from sfumato.schema.schema import Schema, restrict_schema
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._counterfeits import Stated, check_counterfeits, check_stated
from sfumato.tables.audit._engine_audit import EngineAudit
from sfumato.tables.audit._truthfulness import row_numbers
from sfumato.tables.audit.audit import Audit, audit_context, check_models
from sfumato.tables.engines._source import check_no_reserved_names
from sfumato.tables.engines.options import Data, EngineSelector, InputEngineOptions, read_into_memory
from sfumato.tables.masking._apply import MaskingRecord
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.published_table import check_readable_columns

BYTES_PER_COMBINATION = 800  # of a combination that is judged, while its engine may still hold it


def audit(
    published: Data,
    schema: Schema,
    models: Sequence[GroupModel] = (),
    *,
    original: Frame | None = None,
    correspondence: Sequence[int] | npt.NDArray[np.integer] | None = None,
    population: Frame | None = None,
    ignore_suppressed: bool = False,
    centers: bool = False,
    perturbed: Sequence[str] = (),
    counterfeits: Stated = 0,
    **where: Unpack[InputEngineOptions],
) -> Audit:
    """Audit a published table, whichever tool made it.

    Parameters
    ----------
    published : the published table (pandas, Polars or Arrow), or what is larger than memory: a file, a folder of
        Parquet files or a pattern such as `"release/public/table/*.parquet"`, an Arrow dataset, a Spark DataFrame, the
        address of a release in an object store.
    schema : the roles; hierarchies are needed to read taxonomy labels when an original is given.
    models : the promises to judge.
    original : the original table; if given, every published cell must cover the value it represents.
    correspondence : for every published row the number of its original row, counted from 0, or -1 for a counterfeit,
        which belongs to nobody. Without it the audit checks that one exists; an original with flagged cells needs it.
    population : the people that the records come from, with the same quasi-identifiers, for the models
        that compare with them.
    ignore_suppressed : treat rows whose quasi-identifiers are all `*` as suppressed records, and not as a group.
    centers : whether quasi-identifiers are published as centers of groups, such as means: values that stand for
        all records of the group, among whose original values they must lie, and cover none of them.
    perturbed : columns that were masked; their cells are not compared with the original.
    counterfeits : how many published rows belong to nobody, in all or by bucket, as `promise.json` of a release states.
    where : `engine`, `memory`, `temporary` of `sfumato.tables.engines.options.InputEngineOptions`; only memory
        compares with an original.
    """
    check_models(models, schema)
    check_stated(counterfeits, "audit")
    resources, published = EngineSelector(**where), open_stored_table(published)
    check_parts_manifest(published)
    people = None if population is None else to_arrow(population)[0]
    if resources.choose_engine(published, (*schema.quasi_identifiers, *schema.sensitive)) != "memory":
        compared = {"original": original, "correspondence": correspondence, "counterfeits": counterfeits or None}
        reject_comparison_options(**compared, centers=centers, perturbed=perturbed)
        return audit_files(resources, published, schema, models, population=people, ignore_suppressed=ignore_suppressed)
    if isinstance(published, str | os.PathLike):
        found: Frame = as_written(read_with_findings(published, {}), published, schema.quasi_identifiers)
    else:
        found = read_into_memory(published, {})
    shown, known = to_arrow(found)[0], None if original is None else to_arrow(original)[0]
    rows = None if correspondence is None else row_numbers(correspondence)
    check_counterfeits(shown, rows, counterfeits)
    masking = MaskingRecord(perturbed=_known_columns(perturbed, schema))
    evidence = AuditContext(shown, schema, known, rows, centers, masking, stated=counterfeits)
    return audit_context(evidence, models, population=people, ignore_suppressed=ignore_suppressed)


def _known_columns(names: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Refuse columns that have no role."""
    for name in names:
        schema.role(name)
    return tuple(names)


def audit_files(
    resources: EngineSelector,
    published: Data,
    schema: Schema,
    models: Sequence[GroupModel],
    *,
    reading: Mapping[str, Option] | None = None,
    population: pa.Table | None = None,
    ignore_suppressed: bool = False,
    progress: Progress = ignore_progress,
) -> Audit:
    """Audit a published table in its engine; `reading` are the options of `sf.read`, all others as for `audit`."""
    check_models(models, schema)
    _reject_unsupported(schema, models)
    with resources.open_source(published, reading or {}, texts=schema.quasi_identifiers) as source:
        _reject_columns(schema, source.names)
        audited = EngineAudit(
            source=source,
            schema=restrict_schema(schema, sensitive=schema.sensitive),
            most=resources.budget // BYTES_PER_COMBINATION,
            population=population,
            ignore_suppressed=ignore_suppressed,
        )
        names = audited.columns(audited.schema)
        source.profile(names, names)
        return audited.run(models, progress)


def reject_comparison_options(**given: object) -> None:
    """Refuse what compares with single rows of an original."""
    for name, value in given.items():
        if value is not None and value is not False and value != ():
            raise InvalidParameterError(
                f"{name} compares with single rows, which is not served beyond memory; leave it out, or use "
                'engine="memory".'
            )


def _reject_unsupported(schema: Schema, models: Sequence[GroupModel]) -> None:
    """Refuse before anything is opened what is not judged in an engine."""
    if schema.flags:
        raise UnsupportedModelError(
            'Flagged cells are not judged beyond memory; drop Schema.flags, or use engine="memory".'
        )
    for model in models:
        if model.applies_to_buckets:
            raise UnsupportedModelError(
                f"{type(model).__name__} is about buckets, which are not judged one by one beyond memory; use "
                'engine="memory".'
            )
        if model.needs_original:
            raise UnsupportedModelError(
                f"{type(model).__name__} compares with the original table, which is not served beyond memory; let "
                'compared_with be "published", or use engine="memory".'
            )


def _reject_columns(schema: Schema, names: Sequence[str]) -> None:
    """Refuse before any row is read a table that misses columns, or has some that are not judged in an engine."""
    check_readable_columns(names, schema)
    check_no_reserved_names(schema.attributes)
