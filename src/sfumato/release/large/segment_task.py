"""What is known of a table before it is cut into segments: its domains, and that its promises can be kept."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pyarrow as pa

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.segmented import SegmentedSearch
from sfumato.coding.codes import CodedColumn, CodedTable, refuse_uncoded
from sfumato.coding.domain import Domain, describe
from sfumato.exceptions import UnsupportedModelError
from sfumato.models.requirements import without_implied
from sfumato.release.large.coded_rows import RowCoder
from sfumato.release.large.large_run import LargeRun
from sfumato.release.large.served import watched
from sfumato.release.tasks import refuse_unkept, refuse_unsupported
from sfumato.schema.missing import Missing
from sfumato.sources.base import WEIGHT

MOST_TEXTS = 200_000  # of a kept column that is coded, too


def search_of(run: LargeRun) -> SegmentedSearch:
    """Find the domains of all columns that a search reads, and refuse what it refuses in memory."""
    schema, names = run.recipe.schema, watched(run.recipe)
    quasi = tuple(domain_of(run, name) for name in schema.quasi)
    sensitive = tuple(domain_of(run, name) for name in names)
    refuse_uncoded(quasi, sensitive, run.profile.rows)
    search = SegmentedSearch(
        algorithm=cast("Mondrian", run.recipe.algorithm),
        quasi=quasi,
        sensitive=sensitive,
        models=without_implied(run.recipe.models),
        missing=Missing(schema.missing),
    )
    _refuse(run, search)
    return search


def coder_of(run: LargeRun, search: SegmentedSearch) -> RowCoder:
    """Say how rows are coded: columns of few texts are kept as ranks."""
    kept = tuple(name for name in run.names if name not in run.recipe.schema.quasi)
    texts = [name for name in kept if pa.types.is_string(run.profile.column(name).type)]
    few = {name: run.source.values(name) for name in texts if run.source.estimate([name]) <= MOST_TEXTS}
    return RowCoder(search.quasi, search.sensitive, kept, few)


def domain_of(run: LargeRun, name: str) -> Domain:
    """Find the domain of a column from its values."""
    return describe(name, pa.chunked_array([run.source.values(name)]), run.recipe.schema)


def watched_counts(run: LargeRun, search: SegmentedSearch, *, quasi: bool = False) -> CodedTable:
    """Count what models read of all records, and quasi-identifiers only if these are asked for."""
    seen = (*(search.quasi if quasi else ()), *search.sensitive)
    counts = run.source.count([domain.name for domain in seen], run.limits.groups, lambda _: None)
    cases = np.zeros(counts.num_rows, dtype=np.uint8)
    return CodedTable(
        rows=run.profile.rows,
        quasi=tuple(
            CodedColumn(domain, domain.encode(counts[domain.name]) if quasi else cases) for domain in search.quasi
        ),
        sensitive=tuple(CodedColumn(domain, domain.encode(counts[domain.name])) for domain in search.sensitive),
        weights=counts[WEIGHT].to_numpy(),
    )


def _refuse(run: LargeRun, search: SegmentedSearch) -> None:
    """Refuse models that not even all records together keep, and what the algorithm does not support."""
    task = replace(search.task(), table=watched_counts(run, search))
    for model in task.models:
        refuse_unkept(model, task, search.algorithm)
    refuse_unsupported(task, search.algorithm)
    refusal = search.refusal()
    if refusal is not None:
        raise UnsupportedModelError(refusal)
