"""The segmented way: cut a table into segments that fit into memory, and finish each of them alone."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato._progress import scale_progress
from sfumato.core.recipe import Recipe
from sfumato.encoding.coded_table import CodedColumn, CodedTable, check_encodable
from sfumato.encoding.domain import Domain, infer_domain
from sfumato.errors import ReadError, UnsupportedModelError
from sfumato.schema.roles import MissingPolicy
from sfumato.tables._pipeline.request import check_model, check_supported
from sfumato.tables.algorithms.local._streaming_mondrian import SegmentedSearch, SegmentPlan
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.engines._source import WEIGHT, DistributedSource
from sfumato.tables.models._conjunction import drop_implied
from sfumato.tables.out_of_core._coded_rows import CodedRows, RowCoder, coded_source
from sfumato.tables.out_of_core._disk_space import DiskSpace
from sfumato.tables.out_of_core._oversized_segments import finish_segment
from sfumato.tables.out_of_core._run import EngineOutcome, EngineRun
from sfumato.tables.out_of_core._segment_audit import audit_segments, part_findings
from sfumato.tables.out_of_core._segment_results import SegmentProcessing, SegmentResult, truth_of_segments
from sfumato.tables.out_of_core._staging import RunLog
from sfumato.tables.out_of_core._support import model_attributes
from sfumato.tables.out_of_core._workers import release_in_workers
from sfumato.tables.out_of_core.stored_release import EngineStatistics

# What is known of a table before it is cut into segments: its domains, and that its promises can be kept.

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


ENDS = {"profile": 0.05, "code": 0.2, "cut": 0.35, "part": 0.45, "finish": 0.85, "judge": 0.97}  # shares of the time


def is_segmented(recipe: Recipe) -> bool:
    """Return whether the algorithm of a recipe cuts a table top-down, and can do so while it is read in batches."""
    return isinstance(recipe.algorithm, Mondrian) and recipe.algorithm.strict and bool(recipe.schema.quasi_identifiers)


def release_segments(run: EngineRun, parts: Path) -> EngineOutcome:
    """Code all rows, cut them into segments, finish these one by one, and judge the files.

    Parameters
    ----------
    run : the recipe and its table.
    parts : the folder for the parts of the published table.
    """
    search = segment_search(run)
    coder = row_coder(run, search)
    parts.mkdir(parents=True)
    space = DiskSpace.of(run.profile, coder, run.source.temporary, parts)
    if isinstance(run.source, DistributedSource):
        space = replace(space, codes=0)  # workers keep them
    space.check()
    with space.describe():
        if isinstance(run.source, DistributedSource):
            return release_in_workers(run, run.source, search, coder, parts)
        return _release_segments(run, search, coder, parts)


def _release_segments(run: EngineRun, search: SegmentedSearch, coder: RowCoder, parts: Path) -> EngineOutcome:
    log = RunLog.of(run.kept or segment_folder(run), run.recipe, lasts=run.kept is not None)
    rows = code_rows(run, coder, log)
    plan = _cut(run, search, rows, log)
    columns = tuple(run.profile.column(name) for name in run.names)
    judged = part_findings(run)
    finishing = SegmentProcessing(
        search=search, plan=plan, rows=rows, schema=run.recipe.schema, columns=columns, judged=judged
    )
    write_segment_rows(run, finishing, log)
    finished = finish_all(run, finishing, log)
    tell = scale_progress(run.progress, ENDS["finish"], ENDS["judge"])
    tell(0.0, "judging")
    finishing.stage(finished, parts, keep=log.lasts)
    written = run.source.written(parts)
    truth = truth_of_segments(finished, rows, run.profile.rows)
    kinds = {each.name: each.type for each in pq.read_schema(parts / finished[0].parts[0].name)}
    return EngineOutcome(
        judged=audit_segments(run, written, search.quasi, truth, tell, parts=judged, kinds=kinds),
        written=written,
        passage=EngineStatistics(
            engine=run.source.engine,
            way="segmented",
            reason=f"more than {run.limits.combinations:,} combinations of {len(run.columns)} columns do not fit into "
            "memory",
            segments=len(finished),
            memory=run.memory,
            spilled=max(2 * rows.size, run.source.spilled),  # all rows are there until those of all segments are
        ),
    )


def segment_folder(run: EngineRun) -> Path:
    """Make a folder for codes, segments and parts, which is gone at the end."""
    place = run.source.temporary / "segments"
    place.mkdir(mode=0o700)
    return place


def code_rows(run: EngineRun, coder: RowCoder, log: RunLog) -> CodedRows:
    """Code all rows once; refuse a table that is not the one any more that was described."""
    noted = log.noted.get("coded")
    if noted is not None:
        rows = CodedRows(coder, log.folder, **noted)
        if all(log.has(file.name) for file in rows.files):
            return rows
        log.forget()
    tell = scale_progress(run.progress, ENDS["profile"], ENDS["code"])
    tell(0.0, "coding")
    source, reading = coded_source(run.source, coder, run.profile)
    batches = source.batches(coder.names, lambda done: tell(done, "coding"))
    with closing(cast("Generator[pa.RecordBatch]", batches)):  # else it would end after its engine
        rows = CodedRows.write(reading, batches, log.folder)
    if run.source.recompute_digest() != (rows.rows, run.profile.digest):
        raise ReadError("The table changed while it was read; make the release again.")
    log.note_files(rows.files, coded={"rows": rows.rows, "hashed": rows.hashed, "size": rows.size})
    return rows


def _cut(run: EngineRun, search: SegmentedSearch, rows: CodedRows, log: RunLog) -> SegmentPlan:
    """Cut all rows into segments that fit, unless that was done before."""
    if "plan" in log.noted:
        return SegmentPlan.from_dict(log.noted["plan"])
    tell = scale_progress(run.progress, ENDS["code"], ENDS["cut"])
    tell(0.0, "cutting")
    plan = search.cut(search.pass_over(rows.batches), most_rows=run.limits.segment_rows, progress=tell)
    log.note(plan=plan.as_dict())
    return plan


def _is_finished(segment: int, log: RunLog) -> bool:
    noted = log.noted["finished"].get(str(segment))
    return noted is not None and all(map(log.has, (*noted["parts"], *noted["keys"].values())))


def write_segment_rows(run: EngineRun, finishing: SegmentProcessing, log: RunLog) -> None:
    """Write the rows of all segments that are not finished and have no file yet."""
    rows, tree = finishing.rows, finishing.plan.tree
    wanted = [
        segment
        for segment in range(tree.segments)
        if not _is_finished(segment, log) and not log.has(rows.path(segment).name)
    ]
    tell = scale_progress(run.progress, ENDS["cut"], ENDS["part"])
    tell(0.0, "parting")
    rows.part(tree, wanted, lambda done: tell(done, "parting"))
    log.note_files([rows.path(segment) for segment in wanted])
    if not log.lasts:
        for file in rows.files:
            file.unlink()


def finish_all(run: EngineRun, finishing: SegmentProcessing, log: RunLog) -> list[SegmentResult]:
    """Finish all segments, and remove the rows of each as soon as it is finished."""
    tell, finished = scale_progress(run.progress, ENDS["part"], ENDS["finish"]), []
    segments = finishing.plan.tree.segments
    for segment in range(segments):
        tell(segment / segments, f"segment {segment + 1} of {segments}")
        if _is_finished(segment, log):
            each = finishing.read_again(log.noted["finished"][str(segment)])
        else:
            each = finish_segment(finishing, segment, run.limits.segment_rows)
            log.note_files(each.files, finished={**log.noted["finished"], str(segment): each.as_dict()})
        finishing.rows.path(segment).unlink(missing_ok=True)
        finished.append(each)
        pa.default_memory_pool().release_unused()
    return finished
