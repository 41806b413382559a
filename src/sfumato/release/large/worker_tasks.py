"""What workers of an engine do with segments: count codes, deal rows, finish a segment, and judge a part.

Everything here is pickled, travels to workers, and returns nothing row-sized.
"""

from __future__ import annotations

import json
import pickle
import secrets
import shutil
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.algorithms.local.segmented import SegmentedSearch
from sfumato.coding.cutting.batches import SegmentCounts
from sfumato.coding.cutting.cut_tree import CutTree
from sfumato.coding.cutting.partition import Ints
from sfumato.coding.domain import Domain
from sfumato.release.large.coded_rows import CodedRows, RowCoder
from sfumato.release.large.finishing import SegmentProcessing, retype
from sfumato.release.large.keeping import hash_file
from sfumato.release.large.published_parts import PublishedPart, PublishedParts
from sfumato.release.large.uncut_segments import finish_segment
from sfumato.schema.schema import Schema
from sfumato.sources.base import ColumnProfile

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
