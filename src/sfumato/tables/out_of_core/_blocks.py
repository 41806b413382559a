"""The blocked way: cut a table into the blocks that its recipe asks for, and search each of them alone in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato._progress import scale_progress
from sfumato._randomness import KeyedRandom, seeded_generator
from sfumato.core.recipe import Recipe
from sfumato.encoding.coded_table import CodedColumn, CodedTable, check_encodable
from sfumato.encoding.domain import Domain
from sfumato.errors import InfeasibleError, ReadError
from sfumato.schema.roles import MissingPolicy
from sfumato.tables._pipeline.apply import canonical_order
from sfumato.tables._pipeline.request import (
    check_feasible,
    check_feasible_without_suppression,
    check_supported,
    max_suppressed_records,
)
from sfumato.tables._pipeline.search import INFORMATION_LOSS, SEARCH, SHUFFLE, ByPurpose, derive_streams
from sfumato.tables.algorithms._blocks import digest_of_whole_table
from sfumato.tables.algorithms._segments.streamed import Batch
from sfumato.tables.algorithms.base import TableRequest, check_suppression
from sfumato.tables.algorithms.bucketization.slicing import Slicing
from sfumato.tables.algorithms.local._streaming_mondrian import SegmentedSearch, SegmentPlan
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, SpaceAxis
from sfumato.tables.engines._source import EngineSource
from sfumato.tables.models._conjunction import drop_implied
from sfumato.tables.out_of_core._audit import AuditFindings, withhold_broken
from sfumato.tables.out_of_core._block_parts import count_keys, number_buckets, renumber, shuffle_into_parts
from sfumato.tables.out_of_core._coded_rows import CodedRows, RowCoder
from sfumato.tables.out_of_core._disk_space import DiskSpace
from sfumato.tables.out_of_core._run import EngineOutcome, EngineRun
from sfumato.tables.out_of_core._segment_audit import audit_segments
from sfumato.tables.out_of_core._segment_results import SegmentProcessing, SegmentResult, truth_of_segments, write_part
from sfumato.tables.out_of_core._segments import (
    ENDS,
    code_rows,
    column_domain,
    count_model_attributes,
    finish_all,
    row_coder,
    segment_folder,
    write_segment_rows,
)
from sfumato.tables.out_of_core._staging import RunLog
from sfumato.tables.out_of_core._support import model_attributes
from sfumato.tables.out_of_core.stored_release import EngineStatistics
from sfumato.tables.published.solution import LossBound, OptimalityProof, TableSolution

# What is known of a table before it is cut into blocks, and what is searched in each of them.

BYTES_PER_BLOCK_ROW = 3_000  # of a search with nine quasi-identifiers, with what it publishes and compares


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockRequest:
    """A table that is searched in blocks.

    Parameters
    ----------
    recipe : what is asked for.
    rows : how many records the table has.
    cutter : cuts the table into blocks.
    counted : all its records by what models read of them, whatever their quasi-identifiers.
    others : the domains of sensitive columns that no model reads, if the search looks at them all the same.
    """

    recipe: Recipe
    rows: int
    cutter: SegmentedSearch
    counted: TableRequest
    others: tuple[Domain, ...] = ()

    @classmethod
    def of(cls, run: EngineRun) -> BlockRequest:
        """Find the domains of all columns that a search reads, and refuse what is refused in memory."""
        schema, algorithm = run.recipe.schema, run.recipe.algorithm
        models = drop_implied(run.recipe.models)
        cutter = SegmentedSearch(
            algorithm=Mondrian(),
            quasi=tuple(column_domain(run, name) for name in schema.quasi_identifiers),
            sensitive=tuple(column_domain(run, name) for name in model_attributes(run.recipe)),
            models=tuple(algorithm.block_models(models)),
            missing=MissingPolicy(schema.missing),
        )
        unread = [name for name in schema.sensitive if name not in model_attributes(run.recipe)]
        others = tuple(column_domain(run, name) for name in unread) if algorithm.publishes == "buckets" else ()
        check_encodable(cutter.quasi, (*cutter.sensitive, *others), run.profile.rows)
        task = cls(recipe=run.recipe, rows=run.profile.rows, cutter=cutter, counted=cutter.request(), others=others)
        lost = {name: run.profile.column(name).missing for name in schema.quasi_identifiers}
        one = (
            isinstance(algorithm, Slicing) and len(schema.quasi_identifiers) == 1
        )  # which a slice would show unchanged
        counted = replace(
            task.counted,
            table=task.all_sensitive(count_model_attributes(run, cutter, quasi=one)),
            models=models,
            max_suppressed=max_suppressed_records(run.recipe, run.profile.rows),
            missing_cells=lost,
        )
        _check_request(run, counted)
        return replace(task, counted=counted)

    @cached_property
    def totals(self) -> Mapping[str, npt.NDArray[np.int64]]:
        """How often every value of a column that models read occurs in the table."""
        return self.counted.as_one_group().totals

    def of_block(self, plan: SegmentPlan, block: int, batch: Batch, cells: Mapping[str, pa.Array]) -> TableRequest:
        """Build the task of one block: the same as in memory, see `sfumato.tables.algorithms._blocks`.

        Parameters
        ----------
        plan, block : how the table was cut, and the number of the block.
        batch, cells : what is coded of its records, and all their other columns.
        """
        blocks, most = plan.tree.segments, max_suppressed_records(self.recipe, self.rows)
        rng, alone = seeded_generator(self.recipe.seed or 0), blocks == 1
        task = self.cutter.request(batch, totals=None if alone else self.totals)
        return replace(
            task,
            table=self.all_sensitive(task.table, cells),
            models=drop_implied(self.recipe.models),
            max_suppressed=most if alone else most * len(batch) // self.rows,
            rng=rng if alone else rng.spawn(blocks)[block],
        )

    def all_sensitive(self, table: CodedTable, cells: Mapping[str, pa.Array] | None = None) -> CodedTable:
        """Add the sensitive columns that no model reads, in their order; without cells, only that they are there."""
        found = {column.name: column for column in table.sensitive}
        for domain in self.others:
            nothing = np.zeros(table.n_weighted_records, dtype=np.uint8)
            codes = nothing if cells is None else domain.encode(pa.chunked_array([cells[domain.name]]))
            found[domain.name] = CodedColumn(domain, codes)
        named = (name for name in self.recipe.schema.sensitive if name in found)
        return replace(table, sensitive=tuple(found[name] for name in named))


def check_block_size(recipe: Recipe, memory: int) -> None:
    """Refuse blocks that do not fit into memory."""
    rows, most = recipe.block_rows or 0, max_block_rows(memory)
    if rows > most:
        raise InfeasibleError(
            f"Blocks of {rows:,} rows may not fit into the {memory / 1e9:g} GB of memory that are given; set "
            f"block_rows= to {most:,} or less, or give more with memory=."
        )


def max_block_rows(memory: int) -> int:
    """Return how many rows a block may have; DuckDB has taken half of the memory."""
    return memory // 2 // BYTES_PER_BLOCK_ROW


def _check_request(run: EngineRun, counted: TableRequest) -> None:
    """Refuse models that not even all records together keep, and what the algorithm does not support."""
    check_feasible(counted, run.recipe.algorithm)
    check_supported(counted, run.recipe.algorithm)
    check_feasible_without_suppression(counted, run.recipe.algorithm)


def release_blocks(run: EngineRun, parts: Path) -> EngineOutcome:
    """Code all rows, cut them into blocks, search these one by one, and judge the files.

    Parameters
    ----------
    run : the recipe and its table.
    parts : the folder for the parts of the published table.
    """
    task = BlockRequest.of(run)
    coder = row_coder(run, task.cutter)
    parts.mkdir(parents=True)
    space = DiskSpace.of(run.profile, coder, run.source.temporary, parts)
    space.check()
    with space.describe():
        return _release_blocks(run, task, coder, parts)


def _release_blocks(run: EngineRun, task: BlockRequest, coder: RowCoder, parts: Path) -> EngineOutcome:
    log = RunLog.of(run.kept or segment_folder(run), run.recipe, lasts=run.kept is not None)
    rows = code_rows(run, coder, log)
    finishing = BlockProcessing(
        search=task.cutter,
        plan=_cut(run, task, rows, log),
        rows=rows,
        schema=run.recipe.schema,
        columns=tuple(run.profile.column(name) for name in run.names),
        centers=run.recipe.algorithm.publishes == "centers",
        by_cases=False,
        task=task,
        log=log,
    )
    write_segment_rows(run, finishing, log)
    finishing.fit_blocks()
    finished = finish_all(run, finishing, log)
    run.progress(ENDS["finish"], "judging")
    staged = run.source.temporary / "blocks"
    staged.mkdir(mode=0o700)
    finishing.stage(finished, staged, keep=log.lasts)
    shuffle_into_parts(sorted(staged.iterdir()), run.source.temporary, parts)
    written = run.source.written(parts)
    return EngineOutcome(
        judged=_audit_blocks(run, finishing, finished, written),
        written=written,
        passage=EngineStatistics(
            engine=run.source.engine,
            way="blocked",
            reason=f"the recipe asks for blocks of at most {run.recipe.block_rows:,} rows",
            segments=len(finished),
            memory=run.memory,
            spilled=max(2 * rows.size, run.source.spilled),
        ),
        proof=finishing.proof,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockProcessing(SegmentProcessing):
    """Finishes the blocks of a table.

    Parameters
    ----------
    task : what is searched in every block.
    log : where is noted what the centers of every block lose, and what is proven of the only one.
    """

    task: BlockRequest
    log: RunLog

    @property
    def losses(self) -> dict[str, float]:
        """What the centers of every block lose, if quasi-identifiers are published as such."""
        return dict(self.log.noted.get("losses", {}))

    @property
    def proof(self) -> LossBound | None:
        """What is proven of the table, if it is one block."""
        noted = self.log.noted.get("proof")
        return noted and (OptimalityProof if "checked" in noted else LossBound)(**noted)

    def read(self, segment: int) -> pa.RecordBatch:
        """Read the rows of a block, in an order that follows from what they say."""
        coded = super().read(segment)
        return coded.take(pa.array(canonical_order(pa.table(self._cells(coded)), self.schema)))

    def fit_blocks(self) -> None:
        """Decide what must be alike in all blocks, unless that was done before."""
        if self.plan.tree.segments > 1 and "settled" not in self.log.noted:
            self.log.note(settled=self.task.recipe.algorithm.fit_blocks(self.task.counted, self._tables))

    def _tables(self) -> Iterator[CodedTable]:
        """Yield the records of all blocks."""
        return (self._request(block, self.rows.segment(block)).table for block in range(self.plan.tree.segments))

    def _request(self, block: int, coded: pa.RecordBatch) -> TableRequest:
        coder = self.rows.coder
        return self.task.of_block(self.plan, block, coder.batch(coded), coder.original(coded))

    def _streams(self, coded: pa.RecordBatch) -> ByPurpose:
        """Return the streams of a block: those that it has in memory."""
        recipe = self.task.recipe
        assert recipe.secret is not None  # noqa: S101 - it was drawn before
        facts = self.log.noted.get("settled")
        told = None if facts is None else digest_of_whole_table(self.task.rows, self.task.totals, facts)
        return derive_streams(recipe.secret, recipe, lambda: self._plain(coded), told)

    def _plain(self, coded: pa.RecordBatch) -> pa.Table:
        """Return the rows of a block as they stand in the original."""
        cells = self._cells(coded)
        return pa.table({column.name: cells[column.name].cast(column.type) for column in self.columns})

    def _cells(self, coded: pa.RecordBatch) -> dict[str, pa.Array]:
        cells = self.rows.coder.original(coded)
        for at, domain in enumerate(self.search.quasi):
            kind = next(column.type for column in self.columns if column.name == domain.name)
            cells[domain.name] = _values(domain, coded.column(at).to_numpy(), kind)
        return cells

    def published_columns(self, publication: TableSolution, coded: pa.RecordBatch) -> dict[str, pa.Array]:
        """Return the columns of a block that are published as they are: slices have quasi-identifiers among them."""
        open_names = [
            name for name in self.schema.quasi_identifiers if publication.buckets and name not in publication.recoded
        ]
        if not open_names:
            return super().published_columns(publication, coded)
        plain = self._plain(coded)
        return {name: plain[name].combine_chunks() for name in plain.column_names}

    def stream(self, coded: pa.RecordBatch) -> KeyedRandom:
        """Return where bits come from that shuffle the values of a block."""
        return self._streams(coded)(SHUFFLE) if self.in_buckets else KeyedRandom()

    @property
    def in_buckets(self) -> bool:
        """Whether values are published in buckets."""
        return self.task.recipe.algorithm.publishes == "buckets"

    def find_solution(self, segment: int, coded: pa.RecordBatch) -> TableSolution:
        """Search one block."""
        task, algorithm, facts = (
            self._request(segment, coded),
            self.task.recipe.algorithm,
            self.log.noted.get("settled"),
        )
        if self.in_buckets:
            task = replace(task, stream=self._streams(coded)(SEARCH))
        publication = (algorithm if facts is None else algorithm.for_blocks(facts)).search(task)
        if self.centers:
            self.log.note(losses={**self.losses, str(segment): _distance_to_centers(task, publication)})
        if publication.proof is not None and self.plan.tree.segments == 1:
            self.log.note(proof=asdict(publication.proof))
        return publication

    def stage(self, finished: Sequence[SegmentResult], folder: Path, *, keep: bool) -> None:
        """Bring all parts to a folder; write centers as one kind of number where that differs, as in memory."""
        super().stage(finished, folder, keep=keep)
        parts = [folder / part.name for each in finished for part in each.parts]
        kinds = {part: pq.read_schema(part) for part in parts}
        for name in self.schema.quasi_identifiers:
            mixed = {schema.field(name).type for schema in kinds.values()} == {pa.int64(), pa.float64()}
            for part in [part for part, schema in kinds.items() if mixed and schema.field(name).type == pa.int64()]:
                _rewrite(part, name)
        numbers = {name: number_buckets([each.keys[name] for each in finished]) for name in finished[0].keys}
        for at, part in enumerate(parts):
            if numbers:
                renumber(part, {name: files[at] for name, files in numbers.items()})


def _cut(run: EngineRun, task: BlockRequest, rows: CodedRows, log: RunLog) -> SegmentPlan:
    """Cut a table into blocks, unless that was done before; one that cannot be cut further must fit into memory."""
    if "plan" in log.noted:
        return SegmentPlan.from_dict(log.noted["plan"])
    tell = scale_progress(run.progress, ENDS["code"], ENDS["cut"])
    tell(0.0, "cutting")
    plan = task.cutter.cut(
        task.cutter.pass_over(rows.batches),
        most_rows=run.recipe.block_rows or 0,
        totals=task.totals,
        progress=tell,
    )
    largest, most = int(plan.sizes.max(initial=0)), max_block_rows(run.memory)
    if largest > most:
        raise InfeasibleError(
            f"A block of {largest:,} rows cannot be cut any further without breaking a promise, and does not fit into "
            "memory; give more with memory=, promise less, or use Mondrian."
        )
    log.note(plan=plan.as_dict())
    return plan


def _values(domain: Domain, codes: npt.NDArray[np.integer], kind: pa.DataType) -> pa.Array:
    """Return the cells that codes stand for, as they are ordered in the original."""
    used, place = np.unique(codes, return_inverse=True)
    known = used[used < domain.missing]
    values = domain.values.take(pa.array(known))
    values = values if values.type == kind else values.cast(kind)
    lost = place.ravel() == len(known)
    return pa.DictionaryArray.from_arrays(pa.array(place.ravel().astype(np.int32), mask=lost), values)


def _distance_to_centers(task: TableRequest, publication: TableSolution) -> float:
    """Sum the distances of the records of a block to their centers, on axes that the whole table spans."""
    axes = []
    for column in task.table.quasi:
        whole = CodedColumn(column.domain, np.arange(len(column.domain), dtype=np.uint32))
        axes.append(replace(SpaceAxis.of(whole), column=column))
    group = publication.group
    return float(RecordSpace(tuple(axes)).losses(group, int(group.max()) + 1).sum())


def _rewrite(part: Path, name: str) -> None:
    """Write the whole numbers of a column as numbers with a fraction."""
    written = pq.read_table(part)
    at = written.schema.get_field_index(name)
    shown = written.set_column(at, name, written[name].cast(pa.float64()))
    write_part(part, shown)
    if not pq.read_table(part).equals(shown):
        raise ReadError("A part of the release was not written as it should be; check the disk and try again.")


def _audit_blocks(
    run: EngineRun, finishing: BlockProcessing, finished: Sequence[SegmentResult], written: EngineSource
) -> AuditFindings:
    """Compare the blocks with their rows, and judge the files."""
    truth = truth_of_segments(finished, finishing.rows, run.profile.rows)
    most = max_suppressed_records(run.recipe, run.profile.rows)
    check_suppression(run.recipe.algorithm, truth.suppressed, run.profile.rows, most)
    tell = scale_progress(run.progress, ENDS["finish"], ENDS["judge"])
    judged = audit_segments(run, written, finishing.search.quasi, truth, tell, centers=finishing.centers)
    buckets = {name: count_keys([each.keys[name] for each in finished]) for name in finished[0].keys}
    if {column: sizes.buckets for column, sizes in judged.buckets.items()} != buckets:
        withhold_broken(run.recipe, replace(truth, unmatched=truth.unmatched + 1))  # two buckets have one number
    if not finishing.centers:
        return judged
    lost = sum(finishing.losses.values()) / truth.rows_out
    return replace(judged, metrics={INFORMATION_LOSS: lost, **judged.metrics})
