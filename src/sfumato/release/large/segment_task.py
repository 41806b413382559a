"""What is known of a table before it is cut into segments: its domains, and that its promises can be kept."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pyarrow as pa

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.segmented import SegmentedSearch
from sfumato.coding.codes import CodedColumn, CodedTable, check_encodable
from sfumato.coding.domain import Domain, infer_domain
from sfumato.exceptions import UnsupportedModelError
from sfumato.models.requirements import drop_implied
from sfumato.release.large.coded_rows import RowCoder
from sfumato.release.large.large_run import EngineRun
from sfumato.release.large.served import model_attributes
from sfumato.release.tasks import check_model, check_supported
from sfumato.schema.missing import MissingPolicy
from sfumato.sources.base import WEIGHT

MOST_TEXTS = 200_000  # of a kept column that is coded, too


def segment_search(run: EngineRun) -> SegmentedSearch:
    """Find the domains of all columns that a search reads, and refuse what it refuses in memory."""
    schema, names = run.recipe.schema, model_attributes(run.recipe)
    quasi = tuple(column_domain(run, name) for name in schema.quasi_identifiers)
    sensitive = tuple(column_domain(run, name) for name in names)
    check_encodable(quasi, sensitive, run.profile.rows)
    search = SegmentedSearch(
        algorithm=cast("Mondrian", run.recipe.algorithm),
        quasi=quasi,
        sensitive=sensitive,
        models=drop_implied(run.recipe.models),
        missing=MissingPolicy(schema.missing),
    )
    _check_request(run, search)
    return search


def row_coder(run: EngineRun, search: SegmentedSearch) -> RowCoder:
    """Say how rows are coded: columns of few texts are kept as ranks."""
    kept = tuple(name for name in run.names if name not in run.recipe.schema.quasi_identifiers)
    texts = [name for name in kept if pa.types.is_string(run.profile.column(name).type)]
    few = {name: run.source.values(name) for name in texts if run.source.estimate([name]) <= MOST_TEXTS}
    return RowCoder(search.quasi, search.sensitive, kept, few)


def column_domain(run: EngineRun, name: str) -> Domain:
    """Find the domain of a column from its values."""
    return infer_domain(name, pa.chunked_array([run.source.values(name)]), run.recipe.schema)


def count_model_attributes(run: EngineRun, search: SegmentedSearch, *, quasi: bool = False) -> CodedTable:
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


def _check_request(run: EngineRun, search: SegmentedSearch) -> None:
    """Refuse models that not even all records together keep, and what the algorithm does not support."""
    task = replace(search.request(), table=count_model_attributes(run, search))
    for model in task.models:
        check_model(model, task, search.algorithm)
    check_supported(task, search.algorithm)
    refusal = search.check()
    if refusal is not None:
        raise UnsupportedModelError(refusal)
