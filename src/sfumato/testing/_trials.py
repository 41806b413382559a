"""What an algorithm makes of the requests of the suite: found once, looked at by many checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, ignore_progress
from sfumato._randomness import KeyedRandom, secret_from_seed, seeded_generator
from sfumato.encoding.coded_table import CodedTable, encode_table
from sfumato.errors import InfeasibleError, UnsupportedModelError
from sfumato.io._columns import strip_metadata
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.schema.roles import MissingPolicy
from sfumato.tables._pipeline.anonymize import anonymize
from sfumato.tables._pipeline.apply import apply_solution
from sfumato.tables.algorithms._blocks import search_in_blocks
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit, audit_context
from sfumato.tables.published.solution import NOT_PUBLISHED, Label, RecodedAttribute, TableSolution
from sfumato.testing._requests import ConformanceRequest, edge_case_requests, requests

Ints: TypeAlias = npt.NDArray[np.integer]


# Equal records as one case with a weight, and what a search answers about every record.


# Equal records as one case with a weight, and what a search answers about every record.
CASE_SEED = 3
SKEW = 0.08


def duplicate_records(task: TableRequest) -> TableRequest:
    """Repeat the records of a task unevenly, some often, others not at all; the number of records stays."""
    rows = task.table.rows
    drawn = np.minimum(seeded_generator(CASE_SEED).geometric(SKEW, rows) - 1, rows - 1)
    return replace(task, table=task.table.take(drawn))


def to_weighted_records(task: TableRequest) -> tuple[TableRequest, Ints]:
    """Unite the equal records of a task to cases, in an order of no meaning; also return the case of every record."""
    table = task.table
    columns = (*table.quasi, *table.sensitive, *table.target_columns.values())
    cells = np.array([*(column.codes for column in columns), *table.flags.values(), np.zeros(table.rows)])
    _, first, case_of, counts = np.unique(cells, axis=1, return_index=True, return_inverse=True, return_counts=True)
    order = seeded_generator(CASE_SEED).permutation(len(first))
    place = np.argsort(order)
    united = replace(table.take(first[order]), rows=table.rows, weights=counts[order].astype(np.int64))
    return replace(task, table=united), place[case_of.ravel()]


def copy_table(table: CodedTable) -> list[npt.NDArray[Any]]:
    """Copy all arrays of a coded table."""
    columns = (*table.quasi, *table.sensitive, *table.target_columns.values())
    weights = [] if table.weights is None else [table.weights]
    return [each.copy() for each in (*(column.codes for column in columns), *table.flags.values(), *weights)]


def labels_by_record(algorithm: TableAlgorithm, task: TableRequest, case_of: Ints) -> dict[str, Any]:
    """Tell what a search publishes about every record, or why it finds nothing; records are given by their case."""
    try:
        found = algorithm.search(task)
    except InfeasibleError as error:
        return {"refused": str(error)}
    return {
        "suppressed": found.suppressed(task.table),
        "proof": found.proof,
        "by_value": {name: _labels_by_row(recoded) for name, recoded in found.by_value.items()},
        "records": published_labels(found, case_of),
    }


def published_labels(found: TableSolution, case_of: Ints) -> list[tuple[tuple[str, Label], ...] | None]:
    """Return the labels of every record, given by its case; None for one that is not published."""
    by_group = _transposed({name: _labels_by_row(recoded) for name, recoded in found.recoded.items()})
    group = found.group[case_of].tolist()
    return [None if number == NOT_PUBLISHED else by_group.get(number, ()) for number in group]


def _labels_by_row(recoded: RecodedAttribute) -> list[Label]:
    labels = list(recoded.labels)
    return [labels[number] for number in recoded.by_group.tolist()]


def _transposed(columns: Mapping[str, list[Label]]) -> dict[int, tuple[tuple[str, Label], ...]]:
    rows = zip(*columns.values(), strict=True)
    return {number: tuple(zip(columns, row, strict=True)) for number, row in enumerate(rows)}


TRIAL_SEED = 7
SECRET = secret_from_seed(TRIAL_SEED)


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchOutcome:
    """What an algorithm made of a request: the publication, the published table and whose row each row is.

    `suppressed` counts the records that are left out, `told` is the progress that the search reported, and `untouched`
    says whether it left its coded table as it was.
    """

    request: ConformanceRequest
    publication: TableSolution
    suppressed: int
    published: pa.Table
    correspondence: npt.NDArray[np.int64]
    centers: bool
    told: tuple[tuple[float, str], ...]
    untouched: bool

    def audit(self, **original: Any) -> Audit:
        """Judge the published table."""
        schema, models = self.request.schema, self.request.models
        return audit_context(AuditContext(self.published, schema, centers=self.centers, **original), models)


@dataclass(frozen=True, kw_only=True)
class FrameOutcome:
    """What a release of a dataframe gave: its cells, or None where it was refused, and whether the frame stayed."""

    cells: bytes | None
    untouched: bool


@dataclass(frozen=True, eq=False)
class AlgorithmTrial:
    """An algorithm before the checks, with all that it has already answered.

    Each answer is sought when the first check asks for it and kept for the others, which can read it but not change it.
    An algorithm that cannot serve the requests of the suite can be tried on requests of its own. With `block_rows`,
    tables with more records are searched in blocks.
    """

    algorithm: TableAlgorithm
    requests: tuple[ConformanceRequest, ...] = field(default_factory=lambda: tuple(requests()))
    odd_requests: tuple[ConformanceRequest, ...] = field(default_factory=lambda: tuple(edge_case_requests()))
    block_rows: int | None = None
    _outcomes: dict[ConformanceRequest, SearchOutcome | None] = field(default_factory=dict, init=False, repr=False)
    _releases: dict[ConformanceRequest, bytes | None] = field(default_factory=dict, init=False, repr=False)
    _handovers: dict[ConformanceRequest, tuple[FrameOutcome, ...]] = field(default_factory=dict, init=False, repr=False)

    def outcomes(self) -> Iterator[SearchOutcome]:
        """Go through what was made of every request that the algorithm serves."""
        return self._supported_outcome(self.requests)

    def odd_outcomes(self) -> Iterator[SearchOutcome]:
        """Go through what was made of every table at the edge of what tables can be."""
        return self._supported_outcome(self.odd_requests)

    def release(self, request: ConformanceRequest) -> bytes | None:
        """Return the cells of the release of a request as bytes, or None where the algorithm refuses it."""
        if request not in self._releases:
            self._releases[request] = self.release_again(request, request.table)
        return self._releases[request]

    def release_bundles(self, request: ConformanceRequest) -> tuple[FrameOutcome, ...]:
        """Return what the releases of a request from every other kind of dataframe gave."""
        if request not in self._handovers:
            handed = (self._bundle(request, frame) for frame in _as_all_backends(request.table))
            self._handovers[request] = tuple(handed)
        return self._handovers[request]

    def release_again(self, request: ConformanceRequest, frame: Frame) -> bytes | None:
        """Release a request anew, from the same table in another form."""
        try:
            release = anonymize(
                frame,
                request.schema,
                request.models,
                self.algorithm,
                max_suppressed=request.max_suppressed,
                block_rows=self.block_rows,
                seed=TRIAL_SEED,
                secret=SECRET,
            )
        except UnsupportedModelError:
            return None
        table, _ = to_arrow(release.frame)
        return repr((table.schema, table.to_pydict())).encode()

    def _bundle(self, request: ConformanceRequest, frame: Frame) -> FrameOutcome:
        before = to_arrow(frame)[0]
        cells = self.release_again(request, frame)
        return FrameOutcome(cells=cells, untouched=to_arrow(frame)[0].equals(before))

    def _supported_outcome(self, asked: tuple[ConformanceRequest, ...]) -> Iterator[SearchOutcome]:
        """Publish every request that the algorithm serves."""
        served: set[bool] = set()
        for request in asked:
            if request not in self._outcomes:
                self._outcomes[request] = self._outcome(request)
            outcome = self._outcomes[request]
            if outcome is not None:
                served.add(any(model.sensitive_attributes for model in request.models))
                yield outcome
        assert False in served, "no request without sensitive attributes was served"
        assert True in served, "no request with sensitive attributes was served"

    def task(self, request: ConformanceRequest, progress: Progress = ignore_progress) -> TableRequest:
        """Return a request as the task of a search."""
        return TableRequest(
            table=encode_table(request.table, request.schema, self.algorithm.target_columns),
            models=request.models,
            max_suppressed=request.max_suppressed_records,
            missing=MissingPolicy(request.schema.missing),
            rng=seeded_generator(TRIAL_SEED),
            stream=KeyedRandom(SECRET),
            progress=progress,
        )

    def _outcome(self, request: ConformanceRequest) -> SearchOutcome | None:
        """Search once; the release's own guard is left out, so that a wrong algorithm is seen."""
        told: list[tuple[float, str]] = []
        task = self.task(request, lambda done, note="": told.append((done, note)))
        before = copy_table(task.table)
        if self.algorithm.check(task) is not None:
            return None
        publication = _freeze_arrays(self._search(task))
        applied = apply_solution(publication, request.table, request.schema, KeyedRandom(SECRET))
        published, correspondence = applied.shown, applied.rows
        correspondence.flags.writeable = False
        return SearchOutcome(
            request=request,
            publication=publication,
            suppressed=publication.suppressed(task.table),
            published=strip_metadata(published),
            correspondence=correspondence,
            centers=self.algorithm.publishes == "centers",
            told=tuple(told),
            untouched=all(map(np.array_equal, before, copy_table(task.table))),
        )

    def _search(self, task: TableRequest) -> TableSolution:
        if self.block_rows is None:
            return self.algorithm.search(task)
        return search_in_blocks(self.algorithm, task, self.block_rows)


def _freeze_arrays(publication: TableSolution) -> TableSolution:
    """Let no check change what the next one looks at."""
    recoded = (*publication.recoded.values(), *publication.by_value.values())
    for array in (publication.group, *publication.buckets.values(), *(each.by_group for each in recoded)):
        array.flags.writeable = False
    return publication


def _as_all_backends(table: pa.Table) -> Iterator[Frame]:
    """Return the table as every other kind of dataframe that is installed."""
    if find_spec("pandas"):
        yield table.to_pandas(date_as_object=False)
    if find_spec("polars"):
        import polars as pl

        yield pl.DataFrame(table)
