"""Where the random choices of a release come from that hide people: by purpose, and block by block."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._randomness import KeyedRandom
from sfumato.core.recipe import Recipe
from sfumato.io._values import compute_table_digest
from sfumato.tables.algorithms._blocks import search_in_blocks
from sfumato.tables.algorithms._cohorts import search_with_cohorts
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest, check_suppression
from sfumato.tables.published.solution import TableSolution
from sfumato.tables.recoding import Recoding
from sfumato.tables.series._prior_disclosure import Cohorts

# Search, refuse what was found if too much of it is suppressed, and keep the rules for later rows.

INFORMATION_LOSS = "information-loss-rate"  # the measure of centers, of which no release of covers has one


def find_solution(
    algorithm: TableAlgorithm,
    task: TableRequest,
    block_rows: int | None = None,
    streams: Callable[[npt.NDArray[np.integer], str], KeyedRandom] | None = None,
    atoms: Cohorts | None = None,
) -> TableSolution:
    """Find what to publish, in blocks of at most so many records if that is asked for; refuse to suppress too much.

    `streams` is as for `search_in_blocks`. With `atoms` of a series, only newcomers are searched.
    """
    if atoms is not None:
        publication = search_with_cohorts(
            algorithm,
            task,
            atoms,
            lambda among, newcomers: _search_blocks(
                algorithm, among, block_rows, streams and (lambda mine, told: streams(newcomers[mine], told))
            ),
        )
    else:
        publication = _search_blocks(algorithm, task, block_rows, streams)
    suppressed = publication.suppressed(task.table) - publication.waiting
    check_suppression(algorithm, suppressed, task.table.rows, task.max_suppressed)
    return publication


def _search_blocks(
    algorithm: TableAlgorithm,
    task: TableRequest,
    block_rows: int | None,
    streams: Callable[[npt.NDArray[np.integer], str], KeyedRandom] | None,
) -> TableSolution:
    if block_rows is None:
        return algorithm.search(task)
    return search_in_blocks(algorithm, task, block_rows, streams)


def recoding_of_solution(
    publication: TableSolution, task: TableRequest, table: pa.Table, recipe: Recipe
) -> Recoding | None:
    """Return the rules for later rows, if every value is published in one way."""
    if not publication.by_value or recipe.masking:
        return None
    return Recoding.of(publication.by_value, [column.domain for column in task.table.quasi], table, recipe)


Rows: TypeAlias = npt.NDArray[np.integer]
ByPurpose: TypeAlias = Callable[[str], KeyedRandom]
SEARCH, SHUFFLE = "search", "shuffle"  # purposes: who is in which bucket; whose value is whose there, and its number


def derive_streams(secret: str, recipe: Recipe, table: Callable[[], pa.Table], told: str | None = None) -> ByPurpose:
    """Return the streams of one secret for one table, or for a block of it, by their purpose.

    The secret hides people anew in every other table and by every other recipe. A block that is searched alone has
    streams of its own. These depend on its records and on all else that its search depends on, but on no other block:
    so a block can be searched without the others, and is drawn alike wherever that happens.

    Parameters
    ----------
    secret : 64 hexadecimal digits.
    recipe : how the table is released.
    table : returns the table or block, with its rows in a fixed order; it is asked when bits are first drawn.
    told : what the search of a block depends on besides its records and the recipe.
    """
    about = cache(lambda: _stream_context(recipe, table(), told))
    return lambda purpose: KeyedRandom(secret, purpose, about=about)


@dataclass(eq=False)
class BlockStreams:
    """The streams of the blocks of a table in memory, each noted when the block is searched."""

    secret: str
    recipe: Recipe
    table: pa.Table
    _blocks: list[tuple[Rows, ByPurpose]] = field(default_factory=list)

    def of_block(self, rows: Rows, told: str) -> KeyedRandom:
        """Return the stream that a block is searched with."""
        mine = partial(self.table.take, pa.array(rows))
        self._blocks.append((rows, derive_streams(self.secret, self.recipe, mine, told)))
        return self._blocks[-1][1](SEARCH)

    def shuffles(self) -> list[tuple[Rows, KeyedRandom]]:
        """Return the rows of all blocks that were searched, and the stream that each is shuffled with."""
        return [(rows, streams(SHUFFLE)) for rows, streams in self._blocks]


def _stream_context(recipe: Recipe, table: pa.Table, told: str | None) -> str:
    """Say what is released and how, whatever the order of the rows."""
    if told is None and recipe.block_rows is not None and table.num_rows <= recipe.block_rows:
        recipe = replace(recipe, block_rows=None)  # it is the same release
    content = {key: value for key, value in recipe.to_dict().items() if key not in {"sfumato", "input"}}
    schema = recipe.schema
    names = [*schema.quasi_identifiers, *schema.sensitive, *schema.insensitive, *schema.flags.values()]
    return compute_table_digest(table.select(names)) + json.dumps(content, sort_keys=True, default=str) + (told or "")
