"""The segmented way: cut a table into segments that fit into memory, and finish each of them alone."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.segmented import SegmentedSearch, SegmentPlan
from sfumato.core.progress import scale_progress
from sfumato.exceptions import ReadError
from sfumato.recipe import Recipe
from sfumato.release.large.coded_rows import CodedRows, RowCoder, coded_source
from sfumato.release.large.disk_space import DiskSpace
from sfumato.release.large.finishing import SegmentProcessing, SegmentResult, truth_of_segments
from sfumato.release.large.keeping import RunLog
from sfumato.release.large.large_release import EngineStatistics
from sfumato.release.large.large_run import EngineOutcome, EngineRun
from sfumato.release.large.segment_judging import audit_segments, part_findings
from sfumato.release.large.segment_task import row_coder, segment_search
from sfumato.release.large.uncut_segments import finish_segment
from sfumato.release.large.worker_segments import release_in_workers
from sfumato.sources.base import DistributedSource

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
