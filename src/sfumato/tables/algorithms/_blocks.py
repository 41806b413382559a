"""Search a large table in blocks: cut it by what its records say, search every block alone, unite what is found.

Blocks are cut at medians of quasi-identifiers, as Mondrian cuts, and only where both sides keep every model as one
group each. So every block can be published, and no block depends on where its records stand in the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import scale_progress
from sfumato._randomness import KeyedRandom
from sfumato.tables.algorithms._labels import merge_identical_groups
from sfumato.tables.algorithms._segments.cuts import Ints
from sfumato.tables.algorithms._segments.streamed import Batch
from sfumato.tables.algorithms.base import Settled, TableAlgorithm, TableRequest
from sfumato.tables.algorithms.local._streaming_mondrian import SegmentedSearch
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.solution import NOT_PUBLISHED, Label, LabelBatch, RecodedAttribute, TableSolution

CUT = 0.05  # of the work is done when the blocks are cut


def check_blocks(algorithm: TableAlgorithm, models: Sequence[GroupModel], flags: Sequence[str]) -> str | None:
    """Return in one sentence why a table is not searched in blocks, or nothing.

    Parameters
    ----------
    algorithm : what would search every block.
    models : what every published group must keep; groups of several blocks may be published alike.
    flags : the columns with single sensitive cells.
    """
    name = type(algorithm).__name__
    if algorithm.supports_weights:
        return f"{name} counts equal records and needs no blocks, however large the table is; drop block_rows."
    if not algorithm.supports_blocks:
        return f"{name} looks at all persons together, so the table is not searched in blocks; drop block_rows."
    if flags:
        columns = ", ".join(repr(column) for column in flags)
        return f"Single sensitive cells (of {columns}) are not searched in blocks; drop block_rows or Schema.flags."
    for model in models:
        if not model.monotone:
            return (
                f"{model!r} can break where groups of two blocks are published alike, so the table is not searched in "
                "blocks; drop block_rows."
            )
    return None


def search_in_blocks(
    algorithm: TableAlgorithm,
    task: TableRequest,
    most_rows: int,
    streams: Callable[[Ints, str], KeyedRandom] | None = None,
) -> TableSolution:
    """Find what to publish of a table, block by block if it has more records than a block.

    Every block may suppress its share of what the table may, rounded down, and groups are compared with the whole
    table by models that do so. A table that cannot be cut, or need not be, is searched as a whole.

    Parameters
    ----------
    algorithm : what searches every block.
    task : the records, in an order that follows from what is published of them if the algorithm depends on it.
    most_rows : blocks with more records are cut, as long as that is possible.
    streams : returns the stream of a block, given its records and what else its search depends on; by default, all
        blocks draw from the stream of the task.
    """
    block = partition_into_blocks(replace(task, models=algorithm.block_models(task.models)), most_rows)
    count = int(block.max(initial=0)) + 1
    if count == 1:
        return algorithm.search(task)
    order = np.argsort(block, kind="stable")
    rows = np.split(order, np.searchsorted(block[order], np.arange(1, count)))
    facts = algorithm.fit_blocks(task, lambda: (task.table.take(mine) for mine in rows))
    settled, found = algorithm.for_blocks(facts), []
    told = digest_of_whole_table(task.table.rows, task.as_one_group().totals, facts)
    for mine, each in zip(
        rows, block_requests(replace(task, progress=scale_progress(task.progress, CUT, 1.0)), rows), strict=True
    ):
        found.append(settled.search(each if streams is None else replace(each, stream=streams(mine, told))))
    return merge_solutions(found, rows)


def digest_of_whole_table(rows: int, totals: Mapping[str, npt.NDArray[np.integer]], facts: Settled) -> str:
    """Tell all that the search of a block depends on besides its records and the recipe.

    Parameters
    ----------
    rows : how many records the whole table has.
    totals : how often every value of what models read occurs in it.
    facts : what was decided for all blocks.
    """
    counts = {name: many.tolist() for name, many in totals.items()}
    return json.dumps([rows, counts, facts], sort_keys=True)


def partition_into_blocks(task: TableRequest, most_rows: int) -> Ints:
    """Return the number of every record's block."""
    table = task.table
    if table.rows <= most_rows or not table.quasi:
        return np.zeros(table.n_weighted_records, dtype=np.int64)
    search = SegmentedSearch(
        algorithm=Mondrian(),
        quasi=tuple(column.domain for column in table.quasi),
        sensitive=tuple(column.domain for column in table.sensitive),
        models=tuple(task.models),
        missing=task.missing,
    )
    batch = Batch.from_columns(
        [column.codes for column in table.quasi], [column.codes for column in task.model_columns], weights=table.weights
    )
    plan = search.cut(
        search.pass_over(lambda: [batch]),
        most_rows=most_rows,
        totals=task.as_one_group().totals,
        progress=scale_progress(task.progress, 0.0, CUT),
    )
    return plan.tree.descend(batch.codes).astype(np.int64)


def block_requests(task: TableRequest, rows: Sequence[Ints]) -> Iterator[TableRequest]:
    """Build the task of every block of a table."""
    totals, done = task.as_one_group().totals, 0
    for mine, rng in zip(rows, task.rng.spawn(len(rows)), strict=True):
        table = task.table.take(mine)
        begin, done = done / task.table.rows, done + table.rows
        yield replace(
            task,
            table=table,
            max_suppressed=task.max_suppressed * table.rows // task.table.rows,
            rng=rng,
            totals=totals,
            known=None if task.known is None else task.known.take(mine),
            progress=scale_progress(task.progress, begin, done / task.table.rows),
        )


def merge_solutions(found: Sequence[TableSolution], rows: Sequence[Ints]) -> TableSolution:
    """Unite what is published of the blocks of a table; groups that are published alike are one group.

    What is proven about single blocks says nothing about the table, and a value may be published in several ways.
    """
    cases, first = sum(map(len, rows)), _offsets(list(map(_groups, found)))
    group = np.full(cases, NOT_PUBLISHED, dtype=np.int32)
    for mine, publication, start in zip(rows, found, first, strict=True):
        published = publication.group != NOT_PUBLISHED
        group[mine[published]] = publication.group[published] + start
    recoded = {name: _merge_labels([each.recoded[name] for each in found]) for name in found[0].recoded}
    buckets = {}
    for name in found[0].buckets:
        buckets[name] = np.full(cases, NOT_PUBLISHED, dtype=np.int32)
        numbers = [each.buckets[name] for each in found]
        for mine, number, start in zip(rows, numbers, _offsets(list(map(_count, numbers))), strict=True):
            buckets[name][mine] = np.where(number == NOT_PUBLISHED, NOT_PUBLISHED, number + start)
    shown = group != NOT_PUBLISHED
    if recoded and shown.any():
        alike = merge_identical_groups(group[shown], recoded)
        group[shown], recoded = alike.group, dict(alike.recoded)
    return TableSolution(group, recoded, buckets=buckets, together=found[0].together)


@dataclass(frozen=True, eq=False)
class _MergedLabels(LabelBatch):
    """Some of the labels of several blocks, by their number among all."""

    parts: tuple[LabelBatch, ...]
    chosen: Ints

    def __len__(self) -> int:
        return len(self.chosen)

    def __contains__(self, label: object) -> bool:
        return any(label == mine for mine in self)

    def __iter__(self) -> Iterator[Label]:
        every = list(chain.from_iterable(self.parts))
        return (every[number] for number in self.chosen.tolist())

    @property
    def texts(self) -> pa.Array:
        """The text of every label, empty for a missing cell."""
        return pa.concat_arrays([part.texts for part in self.parts]).take(pa.array(self.chosen))

    @property
    def are_all_values(self) -> bool:
        """Whether all labels are values or missing cells."""
        return all(part.are_all_values for part in self.parts)


def _merge_labels(parts: Sequence[RecodedAttribute]) -> RecodedAttribute:
    """Put the labels of all blocks together; those with the same text are one label."""
    written = pa.concat_arrays([part.texts for part in parts]).dictionary_encode(null_encoding="encode")
    number = written.indices.to_numpy(zero_copy_only=False)
    _, chosen = np.unique(number, return_index=True)
    known = tuple(part.labels for part in parts if isinstance(part.labels, LabelBatch))
    every = list(chain.from_iterable(part.labels for part in parts)) if len(known) < len(parts) else []
    labels = tuple(every[place] for place in chosen.tolist()) if every else _MergedLabels(known, chosen)
    starts = _offsets([len(part.labels) for part in parts])
    by_group = [number[part.by_group + start] for part, start in zip(parts, starts, strict=True)]
    return RecodedAttribute(labels, np.concatenate(by_group).astype(np.int32))


def _offsets(counts: Sequence[int]) -> list[int]:
    """Return the first number of every part, if parts are numbered one after the other."""
    return [0, *accumulate(counts[:-1])]


def _groups(publication: TableSolution) -> int:
    labeled = next(iter(publication.recoded.values()), None)
    return _count(publication.group) if labeled is None else len(labeled.by_group)


def _count(numbers: npt.NDArray[np.integer]) -> int:
    return int(numbers.max(initial=NOT_PUBLISHED)) + 1
