"""Deal the rows of blocks to parts by what they show, so that no part tells from which block a row comes.

Labels of a segment show its cuts, but centers and suppressed cells do not show those of their block.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.coding.applying import order_rows, rank_column
from sfumato.coding.ordering import stable_argsort
from sfumato.exceptions import ReadError
from sfumato.release.large.coded_rows import MOST_FILES
from sfumato.release.large.finishing import write_part
from sfumato.release.large.row_hashes import hash_each, hash_rows


def shuffle_into_parts(blocks: Sequence[Path], temporary: Path, folder: Path) -> None:
    """Write as many parts as there are blocks, or fewer: a row's part follows from a hash of its cells.

    Parameters
    ----------
    blocks : the files of what is published of each block; they are removed.
    temporary : a folder for rows that are underway.
    folder : the folder for the parts, each in the order of its cells.

    Raises
    ------
    ReadError
        The parts, read back, do not hold the rows of the blocks.
    """
    dealt = written = count = 0
    for begin in range(0, len(blocks), MOST_FILES):
        hands = [temporary / f"hand-{hand:05}.arrow" for hand in range(begin, min(begin + MOST_FILES, len(blocks)))]
        dealt += _distribute(blocks, hands, begin)
        for hand in hands:
            rows = _read(hand)
            hand.unlink()
            if rows.num_rows:
                part = folder / f"part-{count:05}.parquet"
                write_part(part, _ordered(rows))
                written += hash_rows(_plain(pq.read_table(part)))
                count += 1
    for block in blocks:
        block.unlink()
    if (dealt - written) % 2**64:
        raise ReadError("A part of the release was not written as it should be; check the disk and try again.")


def _distribute(blocks: Sequence[Path], hands: Sequence[Path], begin: int) -> int:
    """Write the rows that belong to some of all hands into a file each; return the sum of their hashes."""
    total = 0
    with ExitStack() as files:
        schema = pq.read_schema(blocks[0]).remove_metadata()
        writers = [files.enter_context(pa.ipc.new_file(hand, schema)) for hand in hands]
        for block in blocks:
            rows = pq.read_table(block).replace_schema_metadata(None)
            hashes = hash_each(_plain(rows))
            owner = ((hashes >> np.uint64(32)) % np.uint64(len(blocks))).astype(np.int64)
            order = stable_argsort(owner, len(blocks))
            bounds = np.searchsorted(owner[order], begin + np.arange(len(hands) + 1))
            total += int(hashes[order[bounds[0] : bounds[-1]]].sum(dtype=np.uint64))
            mine = rows.take(pa.array(order[bounds[0] : bounds[-1]]))
            for writer, (start, stop) in zip(writers, pairwise((bounds - bounds[0]).tolist()), strict=True):
                writer.write_table(mine.slice(start, stop - start))
    return total


def _read(hand: Path) -> pa.Table:
    with pa.OSFile(str(hand)) as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


def _ordered(rows: pa.Table) -> pa.Table:
    order = order_rows([rank_column(column) for column in rows.columns], rows.num_rows)
    return rows.take(pa.array(order))


def _plain(rows: pa.Table) -> list[pa.Array]:
    return [
        pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type) for column in rows.columns
    ]
