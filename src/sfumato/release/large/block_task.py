"""What is known of a table before it is cut into blocks, and what is searched in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Task
from sfumato.algorithms.buckets.slicing import Slicing
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.segmented import SegmentedSearch, SegmentPlan
from sfumato.coding.codes import CodedColumn, CodedTable, refuse_uncoded
from sfumato.coding.cutting.batches import Batch
from sfumato.coding.domain import Domain
from sfumato.exceptions import InfeasibleError
from sfumato.models.requirements import without_implied
from sfumato.randomness import generator
from sfumato.recipe import Recipe
from sfumato.release.large.large_run import LargeRun
from sfumato.release.large.segment_task import domain_of, watched_counts
from sfumato.release.large.served import watched
from sfumato.release.tasks import (
    most_suppressed,
    refuse_impossible,
    refuse_unsupported,
    refuse_without_suppression,
)
from sfumato.schema.missing import Missing

BYTES_PER_BLOCK_ROW = 3_000  # of a search with nine quasi-identifiers, with what it publishes and compares


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockTask:
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
    counted: Task
    others: tuple[Domain, ...] = ()

    @classmethod
    def of(cls, run: LargeRun) -> BlockTask:
        """Find the domains of all columns that a search reads, and refuse what is refused in memory."""
        schema, algorithm = run.recipe.schema, run.recipe.algorithm
        models = without_implied(run.recipe.models)
        cutter = SegmentedSearch(
            algorithm=Mondrian(),
            quasi=tuple(domain_of(run, name) for name in schema.quasi),
            sensitive=tuple(domain_of(run, name) for name in watched(run.recipe)),
            models=tuple(algorithm.needed_of_blocks(models)),
            missing=Missing(schema.missing),
        )
        unread = [name for name in schema.sensitive if name not in watched(run.recipe)]
        others = tuple(domain_of(run, name) for name in unread) if algorithm.publishes == "buckets" else ()
        refuse_uncoded(cutter.quasi, (*cutter.sensitive, *others), run.profile.rows)
        task = cls(recipe=run.recipe, rows=run.profile.rows, cutter=cutter, counted=cutter.task(), others=others)
        lost = {name: run.profile.column(name).missing for name in schema.quasi}
        one = isinstance(algorithm, Slicing) and len(schema.quasi) == 1  # which a slice would show unchanged
        counted = replace(
            task.counted,
            table=task.all_sensitive(watched_counts(run, cutter, quasi=one)),
            models=models,
            most_suppressed=most_suppressed(run.recipe, run.profile.rows),
            lost=lost,
        )
        _refuse(run, counted)
        return replace(task, counted=counted)

    @cached_property
    def totals(self) -> Mapping[str, npt.NDArray[np.int64]]:
        """How often every value of a column that models read occurs in the table."""
        return self.counted.whole().totals

    def of_block(self, plan: SegmentPlan, block: int, batch: Batch, cells: Mapping[str, pa.Array]) -> Task:
        """Build the task of one block: the same as in memory, see `sfumato.algorithms.in_blocks`.

        Parameters
        ----------
        plan, block : how the table was cut, and the number of the block.
        batch, cells : what is coded of its records, and all their other columns.
        """
        blocks, most = plan.tree.segments, most_suppressed(self.recipe, self.rows)
        rng, alone = generator(self.recipe.seed or 0), blocks == 1
        task = self.cutter.task(batch, totals=None if alone else self.totals)
        return replace(
            task,
            table=self.all_sensitive(task.table, cells),
            models=without_implied(self.recipe.models),
            most_suppressed=most if alone else most * len(batch) // self.rows,
            rng=rng if alone else rng.spawn(blocks)[block],
        )

    def all_sensitive(self, table: CodedTable, cells: Mapping[str, pa.Array] | None = None) -> CodedTable:
        """Add the sensitive columns that no model reads, in their order; without cells, only that they are there."""
        found = {column.name: column for column in table.sensitive}
        for domain in self.others:
            nothing = np.zeros(table.cases, dtype=np.uint8)
            codes = nothing if cells is None else domain.encode(pa.chunked_array([cells[domain.name]]))
            found[domain.name] = CodedColumn(domain, codes)
        named = (name for name in self.recipe.schema.sensitive if name in found)
        return replace(table, sensitive=tuple(found[name] for name in named))


def refuse_large_blocks(recipe: Recipe, memory: int) -> None:
    """Refuse blocks that do not fit into memory."""
    rows, most = recipe.block_rows or 0, most_block_rows(memory)
    if rows > most:
        raise InfeasibleError(
            f"Blocks of {rows:,} rows may not fit into the {memory / 1e9:g} GB of memory that are given; set "
            f"block_rows= to {most:,} or less, or give more with memory=."
        )


def most_block_rows(memory: int) -> int:
    """Return how many rows a block may have; DuckDB has taken half of the memory."""
    return memory // 2 // BYTES_PER_BLOCK_ROW


def _refuse(run: LargeRun, counted: Task) -> None:
    """Refuse models that not even all records together keep, and what the algorithm does not support."""
    refuse_impossible(counted, run.recipe.algorithm)
    refuse_unsupported(counted, run.recipe.algorithm)
    refuse_without_suppression(counted, run.recipe.algorithm)
