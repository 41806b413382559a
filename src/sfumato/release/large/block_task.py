"""What is known of a table before it is cut into blocks, and what is searched in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Task, refused_missing
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.segmented import SegmentedSearch, SegmentPlan
from sfumato.coding.codes import refuse_uncoded
from sfumato.coding.cutting.batches import Batch
from sfumato.exceptions import InfeasibleError, UnsupportedModelError
from sfumato.models.requirements import without_implied
from sfumato.randomness import generator
from sfumato.recipe import Recipe
from sfumato.release.large.large_run import LargeRun
from sfumato.release.large.segment_task import domain_of, watched_counts
from sfumato.release.large.served import watched
from sfumato.release.tasks import most_suppressed, refuse_nearly_unique, refuse_unkept
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
    totals : how often every value of a watched column occurs in the table.
    """

    recipe: Recipe
    rows: int
    cutter: SegmentedSearch
    totals: Mapping[str, npt.NDArray[np.int64]]

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
        refuse_uncoded(cutter.quasi, cutter.sensitive, run.profile.rows)
        counted = replace(cutter.task(), table=watched_counts(run, cutter), models=models)
        _refuse(run, counted)
        return cls(recipe=run.recipe, rows=run.profile.rows, cutter=cutter, totals=counted.whole().totals)

    def of_block(self, plan: SegmentPlan, block: int, batch: Batch) -> Task:
        """Build the task of one block: the same as in memory, see `sfumato.algorithms.in_blocks`."""
        blocks, most = plan.tree.segments, most_suppressed(self.recipe, self.rows)
        rng, alone = generator(self.recipe.seed or 0), blocks == 1
        return replace(
            self.cutter.task(batch, totals=None if alone else self.totals),
            models=without_implied(self.recipe.models),
            most_suppressed=most if alone else most * len(batch) // self.rows,
            rng=rng if alone else rng.spawn(blocks)[block],
        )


def refuse_large_blocks(recipe: Recipe, memory: int) -> None:
    """Refuse blocks that do not fit into memory."""
    rows, most = recipe.block_rows or 0, most_block_rows(memory)
    if rows > most:
        raise InfeasibleError(
            f"Blocks of {rows:,} rows may not fit into the {memory / 1e9:g} GB of memory that are given; set "
            f"block_rows= (--block-rows) to {most:,} or less, or give more with memory= (--memory)."
        )


def most_block_rows(memory: int) -> int:
    """Return how many rows a block may have; DuckDB has taken half of the memory."""
    return memory // 2 // BYTES_PER_BLOCK_ROW


def _refuse(run: LargeRun, counted: Task) -> None:
    """Refuse models that not even all records together keep, and what the algorithm does not support."""
    algorithm, table = run.recipe.algorithm, counted.table
    for model in counted.models:
        refuse_unkept(model, counted, algorithm)
    single = replace(counted, table=replace(table, rows=table.cases, weights=None))  # no record is counted here
    missing = {name: run.profile.column(name).missing for name in run.recipe.schema.quasi}
    refusal = next(refused_missing(algorithm, missing), None) or algorithm.refusal(single)
    if refusal is not None:
        raise UnsupportedModelError(refusal)
    refuse_nearly_unique([column.domain for column in table.quasi], table.rows)
