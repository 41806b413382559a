"""What is known of a table before it is cut into blocks, and what is searched in each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.buckets.slicing import Slicing
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.algorithms.local.segmented import SegmentedSearch, SegmentPlan
from sfumato.coding.codes import CodedColumn, CodedTable, check_encodable
from sfumato.coding.cutting.batches import Batch
from sfumato.coding.domain import Domain
from sfumato.exceptions import InfeasibleError
from sfumato.models.requirements import drop_implied
from sfumato.randomness import seeded_generator
from sfumato.recipe import Recipe
from sfumato.release.large.large_run import EngineRun
from sfumato.release.large.segment_task import column_domain, count_model_attributes
from sfumato.release.large.served import model_attributes
from sfumato.release.tasks import (
    check_feasible,
    check_feasible_without_suppression,
    check_supported,
    max_suppressed_records,
)
from sfumato.schema.missing import MissingPolicy

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
        """Build the task of one block: the same as in memory, see `sfumato.algorithms.in_blocks`.

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
