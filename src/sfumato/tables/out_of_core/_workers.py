"""The segmented way where an engine has workers: they code, count, finish and judge; what they found comes here."""

from __future__ import annotations

import json
import pickle
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato._progress import scale_progress
from sfumato.encoding.domain import Domain
from sfumato.errors import ReadError
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms._segments.cuts import Ints
from sfumato.tables.algorithms._segments.streamed import CutTree, SegmentCounts
from sfumato.tables.algorithms.local._streaming_mondrian import SegmentedSearch, SegmentPlan
from sfumato.tables.engines._source import ColumnProfile, DistributedSource, WorkerRows
from sfumato.tables.out_of_core._coded_rows import CodedRows, RowCoder
from sfumato.tables.out_of_core._oversized_segments import finish_segment
from sfumato.tables.out_of_core._published_parts import PublishedPart, PublishedParts
from sfumato.tables.out_of_core._run import EngineOutcome, EngineRun
from sfumato.tables.out_of_core._segment_audit import audit_segments, part_findings
from sfumato.tables.out_of_core._segment_results import SegmentProcessing, SegmentResult, retype, truth_of_segments
from sfumato.tables.out_of_core._staging import RunLog, hash_file
from sfumato.tables.out_of_core.stored_release import EngineStatistics

# What workers of an engine do with segments: count codes, deal rows, finish a segment, and judge a part.
#
# Everything here is pickled, travels to workers, and returns nothing row-sized.

ATTEMPT = "attempt-"  # begins the names of folders of which each is one worker's alone
REPORT = "report.json"


@dataclass(frozen=True, eq=False)
class CountCodes:
    """Counts codes in some leaves of a tree."""

    search: SegmentedSearch
    coder: RowCoder
    tree: CutTree
    nodes: Ints

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> bytes:
        """Return the counts that are not zero."""
        counts = self.search.count(map(self.coder.batch, batches), self.tree, self.nodes, workers=1)
        return _packed_entries(*counts.entries())


def add_counts(sent: Iterator[bytes]) -> bytes:
    """Add up counts that several workers made."""
    cells, weights = _entries(list(sent))
    found, place = np.unique(cells, return_inverse=True)
    total = np.zeros(len(found), dtype=np.int64)
    np.add.at(total, place, weights)
    return _packed_entries(found, total)


def decode_counts(sent: Sequence[bytes], search: SegmentedSearch, nodes: Ints) -> SegmentCounts:
    """Return the counts that workers sent."""
    return SegmentCounts.from_entries(len(nodes), search.layout, *_entries(sent))


def _packed_entries(cells: Ints, weights: Ints) -> bytes:
    return np.concatenate([cells, weights]).astype("<i8").tobytes()


def _entries(sent: Sequence[bytes]) -> tuple[Ints, Ints]:
    halves = [np.frombuffer(each, "<i8").reshape(2, -1) for each in sent]
    cells, weights = np.concatenate(halves, axis=1) if halves else np.zeros((2, 0), dtype=np.int64)
    return cells, weights


@dataclass(frozen=True, eq=False)
class DistributeRows:
    """Tells which of some segments rows are in: its place among them, or -1."""

    coder: RowCoder
    tree: CutTree
    wanted: tuple[int, ...]

    def __call__(self, codes: pa.RecordBatch) -> npt.NDArray[np.int32]:
        """Return a number for every row."""
        place = np.full(self.tree.segments, -1, dtype=np.int32)
        place[list(self.wanted)] = np.arange(len(self.wanted))
        return np.asarray(place[self.tree.descend(self.coder.batch(codes).codes)])


@dataclass(frozen=True, eq=False)
class HeldRows(CodedRows):
    """The rows of one segment, which a worker holds, and writes only if they are more than fit."""

    held: pa.RecordBatch | None = None

    def segment(self, segment: int) -> pa.RecordBatch:
        """Return the rows."""
        return super().segment(segment) if self.held is None else self.held


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishSegment:
    """Finishes one segment in a worker.

    Every attempt works in a folder of its own, so one that is killed or repeated spoils nothing.

    Parameters
    ----------
    finishing : how segments are finished.
    wanted : the segments, by the numbers under which their rows come.
    most : how many rows fit.
    lasts : whether what is written outlives this run, and tells of itself.
    """

    finishing: SegmentProcessing
    wanted: tuple[int, ...]
    most: int
    lasts: bool

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> bytes:
        """Search, write and compare; return what became of the segment, and of which files."""
        segment = self.wanted[number]
        attempt = begin_attempt(self.finishing.rows.folder)
        rows = self._rows(attempt, segment, batches)
        finished = finish_segment(replace(self.finishing, rows=rows), segment, self.most)
        rows.path(segment).unlink(missing_ok=True)
        told: dict[str, Any] = {"segment": segment, "attempt": attempt.name, "finished": finished.as_dict()}
        told["sizes"] = {part.name: part.stat().st_size for part in finished.parts}
        told["files"] = {part.name: hash_file(part) for part in finished.parts} if self.lasts else {}
        if self.lasts:
            fresh = attempt / f"{REPORT}.new"
            fresh.write_text(json.dumps(told), encoding="utf-8")
            fresh.replace(attempt / REPORT)
        return json.dumps(told).encode()

    def _rows(self, attempt: Path, segment: int, batches: Iterator[pa.RecordBatch]) -> CodedRows:
        kept = self.finishing.rows
        if self.finishing.is_uncut(segment, self.most):
            rows = CodedRows(kept.coder, attempt, kept.rows, kept.hashed, kept.size)
            rows.write_segment(segment, batches)
            return rows
        (held,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
        return HeldRows(kept.coder, attempt, kept.rows, kept.hashed, kept.size, held)


@dataclass(frozen=True, eq=False)
class StagePart:
    """Brings one part from a folder to another, with some columns as values of their types."""

    source: Path
    target: Path
    typed: tuple[ColumnProfile, ...]

    def __call__(self, name: str) -> bytes:
        """Write the part anew."""
        part, attempt = self.source / name, begin_attempt(self.target)
        kinds = pq.read_schema(part)
        if any(pa.types.is_string(kinds.field(column.name).type) for column in self.typed):
            retype(part, self.typed, attempt / name)
        else:
            shutil.copyfile(part, attempt / name)
        (attempt / name).replace(self.target / name)
        attempt.rmdir()
        return b""


@dataclass(frozen=True, eq=False)
class AuditPart:
    """Judges one part as it stands in its file."""

    folder: Path
    schema: Schema
    domains: dict[str, Domain]
    judged: PublishedParts

    def __call__(self, name: str) -> bytes:
        """Return what is found of it."""
        found = deepcopy(self.judged)
        found.add(PublishedPart.read(self.folder / name, self.schema, self.domains))
        return pickle.dumps(found)


def begin_attempt(folder: Path) -> Path:
    """Make a folder for one attempt, never its parents: a worker that does not see them must not make any."""
    attempt = folder / f"{ATTEMPT}{secrets.token_hex(8)}"
    attempt.mkdir(mode=0o700)
    return attempt


ENDS = {"profile": 0.05, "code": 0.3, "cut": 0.45, "finish": 0.8, "judge": 0.97}  # shares of the time
CHANGED = "The table changed while it was read; make the release again."


def release_in_workers(
    run: EngineRun, source: DistributedSource, search: SegmentedSearch, coder: RowCoder, parts: Path
) -> EngineOutcome:
    """Let workers code all rows, cut these into segments, let workers finish them, and judge the files.

    Parameters
    ----------
    run, source : the recipe and its table.
    search, coder : how groups are found, and how rows are coded.
    parts : the folder for the parts of the published table, which workers see.
    """
    log = RunLog.of(run.kept or parts, run.recipe, lasts=run.kept is not None)
    with closing(_Workers(run, source, search, coder, log)) as workers:
        return workers.execute(parts)


@dataclass(eq=False)
class _Workers:
    """One run, whose rows are coded when they are needed, and kept until it ends."""

    run: EngineRun
    source: DistributedSource
    search: SegmentedSearch
    coder: RowCoder
    log: RunLog
    coded: WorkerRows | None = None

    def close(self) -> None:
        """Let go of the rows."""
        if self.coded is not None:
            self.coded.close()

    def execute(self, parts: Path) -> EngineOutcome:
        """Do everything."""
        run, finishing = self.run, self._finishing()
        finished = self._finish_all(finishing)
        tell = scale_progress(run.progress, ENDS["finish"], ENDS["judge"])
        tell(0.0, "judging")
        names = [part.name for each in finished for part in each.parts]
        self._stage(finishing.typed(finished), names, parts)
        judged = self._audit(finishing, finished, parts)
        written = self.source.written(parts)
        truth = truth_of_segments(finished, finishing.rows, run.profile.rows)
        kinds = {each.name: each.type for each in pq.read_schema(parts / names[0])}
        return EngineOutcome(
            judged=audit_segments(run, written, self.search.quasi, truth, tell, parts=judged, kinds=kinds),
            written=written,
            passage=EngineStatistics(
                engine=self.source.engine,
                way="segmented",
                reason=f"more than {run.limits.combinations:,} combinations of {len(run.columns)} columns do not fit "
                "into memory",
                segments=len(finished),
                memory=run.memory,
                spilled=2 * finishing.rows.size,  # workers keep all rows, and deal them once
            ),
        )

    @cached_property
    def most(self) -> int:
        """How many rows a segment may have."""
        return min(self.run.limits.segment_rows, self.source.worker_rows)

    def _finishing(self) -> SegmentProcessing:
        """Cut all rows into segments, unless that was done before and still holds."""
        self._adopt_left()
        if not ("plan" in self.log.noted and self._is_same()):
            plan = self.search.cut(
                self._count, most_rows=self.most, progress=scale_progress(self.run.progress, ENDS["code"], ENDS["cut"])
            )
            self.log.note(plan=plan.as_dict())
        return SegmentProcessing(
            search=self.search,
            plan=SegmentPlan.from_dict(self.log.noted["plan"]),
            rows=CodedRows(self.coder, self.log.folder, **self.log.noted["coded"]),
            schema=self.run.recipe.schema,
            columns=tuple(self.run.profile.column(name) for name in self.run.names),
        )

    def _is_same(self) -> bool:
        """Return whether rows are coded as when they were cut, if any are still needed; else begin anew."""
        log = self.log
        if not self._wanted(SegmentPlan.from_dict(log.noted["plan"])) or self._facts() == log.noted["coded"]:
            return True
        log.forget()
        log.note(coded=self._facts())
        return False

    def _resumable_files(self) -> WorkerRows:
        """Let workers code all rows, once."""
        if self.coded is None:
            self.run.progress(ENDS["profile"], "coding")
            self.coded = self.source.persist(self.coder.names, self.coder.coded)
            if "coded" not in self.log.noted:
                self.log.note(coded=self._facts())
        return self.coded

    def _facts(self) -> dict[str, int]:
        kept = self._resumable_files()
        return {"rows": kept.rows, "hashed": kept.hashed, "size": kept.size}

    def _count(self, tree: CutTree, nodes: Ints) -> SegmentCounts:
        look = CountCodes(self.search, self.coder, tree, nodes)
        return decode_counts(self._resumable_files().gather(look, add_counts), self.search, nodes)

    def _wanted(self, plan: SegmentPlan) -> tuple[int, ...]:
        """List the segments that are not finished."""
        noted = self.log.noted["finished"]
        return tuple(
            segment
            for segment in range(plan.tree.segments)
            if str(segment) not in noted or not all(map(self.log.has, noted[str(segment)]["parts"]))
        )

    def _finish_all(self, finishing: SegmentProcessing) -> list[SegmentResult]:
        plan, log = finishing.plan, self.log
        wanted = self._wanted(plan) if log.lasts else tuple(range(plan.tree.segments))
        if wanted:
            kept, tell = self._resumable_files(), scale_progress(self.run.progress, ENDS["cut"], ENDS["finish"])
            tell(0.0, f"segments, {len(wanted)} of {plan.tree.segments}")
            work = FinishSegment(finishing=finishing, wanted=wanted, most=self.most, lasts=log.lasts)
            replies = kept.finish(DistributeRows(self.coder, plan.tree, wanted), len(wanted), work)
            self._adopt([json.loads(reply) for reply in replies])
        _remove_attempts(log.folder)
        noted = log.noted["finished"]
        if len(noted) < plan.tree.segments:
            raise ReadError(CHANGED)
        return [SegmentResult.from_dict(log.folder, noted[str(at)]) for at in range(plan.tree.segments)]

    def _adopt_left(self) -> None:
        """Take what workers had finished, but an earlier run was not told any more; remove what they had not."""
        if self.log.lasts and "plan" in self.log.noted:
            reports = (_read_report(path) for path in self.log.folder.glob(f"{ATTEMPT}*/{REPORT}"))
            self._adopt([each for each in reports if each is not None])
        _remove_attempts(self.log.folder)

    def _adopt(self, reports: Sequence[dict[str, Any]]) -> None:
        """Take what workers finished out of the folders of their attempts, and note it."""
        folder, noted = self.log.folder, self.log.noted
        finished, files = dict(noted["finished"]), dict(noted["files"])
        for report in reports:
            for name, size in report["sizes"].items():
                made = folder / report["attempt"] / name
                if not made.is_file() or made.stat().st_size != size:
                    raise self.source.unshared_folder_error(folder)
                made.replace(folder / name)
            finished[str(report["segment"])] = report["finished"]
            files |= report["files"]
        self.log.note(finished=finished, files=files)

    def _stage(self, typed: Sequence[Any], names: Sequence[str], parts: Path) -> None:
        """Bring all parts to their folder, unless workers have written them there as they are published."""
        if typed or self.log.lasts:
            for _ in self.source.map(names, StagePart(self.log.folder, parts, tuple(typed))):
                pass
            _remove_attempts(parts)

    def _audit(
        self, finishing: SegmentProcessing, finished: Sequence[SegmentResult], parts: Path
    ) -> PublishedParts | None:
        """Let workers judge every part as it stands in its file, and put together what they find."""
        judged = part_findings(self.run)
        if judged is None:
            return None
        if any(len(each.parts) > 1 for each in finished):
            judged.reject()
            return judged
        names = [each.parts[0].name for each in finished]
        for found in self.source.map(names, AuditPart(parts, finishing.schema, finishing.domains, judged)):
            judged.unite(pickle.loads(found))  # noqa: S301 - from our own function in a worker of this session
        return judged


def _read_report(path: Path) -> dict[str, Any] | None:
    """Read what a worker left; what is not complete was not finished."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    sizes = ((path.parent / name, size) for name, size in report["sizes"].items())
    return report if all(file.is_file() and file.stat().st_size == size for file, size in sizes) else None


def _remove_attempts(folder: Path) -> None:
    for attempt in folder.glob(f"{ATTEMPT}*"):
        shutil.rmtree(attempt)
