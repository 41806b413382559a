"""The segmented way: cut a table into segments that fit into memory, and finish each of them alone."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.core.progress import partly
from sfumato.exceptions import ReadError
from sfumato.recipe import Recipe
from sfumato.release.large.coded_rows import CodedRows, RowCoder
from sfumato.release.large.disk_space import refuse_full_disks
from sfumato.release.large.finishing import FinishedSegment, Finishing, truth_of
from sfumato.release.large.large_release import Passage
from sfumato.release.large.large_run import LargeOutcome, LargeRun
from sfumato.release.large.segment_judging import judge_segments
from sfumato.release.large.segment_task import coder_of, search_of
from sfumato.sources.duckdb_source import size_of

ENDS = {"profile": 0.05, "code": 0.2, "cut": 0.35, "part": 0.45, "finish": 0.85, "judge": 0.97}  # shares of the time


def is_segmented(recipe: Recipe) -> bool:
    """Return whether the algorithm of a recipe cuts a table top-down, and can do so while it is read in batches."""
    return isinstance(recipe.algorithm, Mondrian) and recipe.algorithm.strict and bool(recipe.schema.quasi)


def carry_out_segmented(run: LargeRun, parts: Path) -> LargeOutcome:
    """Code all rows, cut them into segments, finish these one by one, and judge the files.

    Parameters
    ----------
    run : the recipe and its table.
    parts : the folder for the parts of the published table.
    """
    search = search_of(run)
    coder = coder_of(run, search)
    parts.mkdir(parents=True)
    refuse_full_disks(run.profile, coder, run.source.temporary, parts)
    place = run.source.temporary / "segments"
    place.mkdir(mode=0o700)
    rows = code_rows(run, coder, place)
    plan = search.cut(
        search.pass_over(rows.batches),
        most_rows=run.limits.segment_rows,
        progress=partly(run.progress, ENDS["code"], ENDS["cut"]),
    )
    spilled = 2 * size_of(place)  # the rows of all together are there until all segments are
    tell = partly(run.progress, ENDS["cut"], ENDS["part"])
    rows.part(plan.tree, lambda done: tell(done, "parting"))
    columns = tuple(run.profile.column(name) for name in run.names)
    finishing = Finishing(search=search, plan=plan, rows=rows, schema=run.recipe.schema, columns=columns)
    finished = finish_all(run, finishing)
    move_parts(finished, parts)
    written = run.source.written(parts)
    truth = truth_of(finished, rows, run.profile.rows)
    tell = partly(run.progress, ENDS["finish"], ENDS["judge"])
    return LargeOutcome(
        judged=judge_segments(run, written, search.quasi, truth, tell),
        written=written,
        passage=Passage(
            engine=run.source.engine,
            way="segmented",
            reason=f"more than {run.limits.combinations:,} combinations of {len(run.columns)} columns do not fit into "
            "memory",
            segments=len(finished),
            memory=run.memory,
            spilled=max(spilled, run.source.spilled),
        ),
    )


def code_rows(run: LargeRun, coder: RowCoder, place: Path) -> CodedRows:
    """Code all rows once; refuse a table that is not the one any more that was described."""
    tell = partly(run.progress, ENDS["profile"], ENDS["code"])
    rows = CodedRows.write(coder, run.source.batches(coder.names, lambda done: tell(done, "coding")), place)
    again = run.source.profile(run.names, run.columns)
    if (again.rows, again.digest) != (rows.rows, run.profile.digest):
        raise ReadError("The table changed while it was read; make the release again.")
    return rows


def finish_all(run: LargeRun, finishing: Finishing) -> list[FinishedSegment]:
    """Finish all segments, and remove the rows of each as soon as it is finished."""
    tell, finished = partly(run.progress, ENDS["part"], ENDS["finish"]), []
    segments = finishing.plan.tree.segments
    for segment in range(segments):
        tell(segment / segments, f"segment {segment + 1} of {segments}")
        finished.append(finishing.finish(segment))
        finishing.rows.path(segment).unlink()
    finishing.retype(finished)
    return finished


def move_parts(finished: Sequence[FinishedSegment], parts: Path) -> None:
    """Move the parts of all segments to where they stay."""
    for each in finished:
        shutil.move(each.part, parts / each.part.name)
