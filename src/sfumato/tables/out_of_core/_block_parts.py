"""Deal the rows of blocks to parts by what they show, so that no part tells from which block a row comes.

Labels of a segment show its cuts, but centers and suppressed cells do not show those of their block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.core._kernels.grouping import stable_argsort
from sfumato.encoding._row_order import order_rows, rank_column, rank_jointly
from sfumato.errors import ReadError
from sfumato.tables.out_of_core._coded_rows import MOST_FILES, hash_each, hash_rows
from sfumato.tables.out_of_core._segment_results import write_part

# Number the buckets of all blocks at random, although no block is held together with all others.
#
# Every block draws a key of 64 bits for each of its buckets. The number of a bucket is the rank of its key among those
# of
# all blocks, as it is in memory. So numbers tell nothing about blocks.

KEYS_AT_ONCE = 4_000_000  # that are ranked together
HIGHEST = (1 << 64) - 1


def count_keys(blocks: Sequence[Path]) -> int:
    """Count the keys of all blocks, given their files."""
    return sum(len(np.load(block, mmap_mode="r")) for block in blocks)


def number_buckets(blocks: Sequence[Path], at_once: int = KEYS_AT_ONCE) -> list[Path]:
    """Write the rank of every key among those of all blocks to a file beside that of the keys; return these files.

    Parameters
    ----------
    blocks : the files of the keys of every block, which are ascending.
    at_once : about how many keys are held in memory.
    """
    keys = [np.load(block, mmap_mode="r") for block in blocks]
    files = [block.with_suffix(".ranks.npy") for block in blocks]
    ranks = [
        np.lib.format.open_memmap(file, "w+", np.int64, mine.shape) for file, mine in zip(files, keys, strict=True)
    ]
    done, total = 0, sum(len(mine) for mine in keys)
    pieces = max(1, -(-total // at_once))
    begins = [0] * len(keys)
    for piece in range(1, pieces + 1):
        last = np.uint64(HIGHEST * piece // pieces)
        ends = [int(np.searchsorted(mine, last, side="right")) for mine in keys]
        spans = [slice(*each) for each in zip(begins, ends, strict=True)]
        for mine, span, found in zip(
            ranks, spans, rank_jointly([each[span] for each, span in zip(keys, spans, strict=True)]), strict=True
        ):
            mine[span] = found + done
        done, begins = done + sum(ends) - sum(begins), ends
    for each in ranks:
        each.flush()
    return files


def renumber(part: Path, numbers: Mapping[str, Path]) -> None:
    """Write a part again, with the numbers of all blocks in place of those of its own."""
    written = shown = pq.read_table(part)
    for name, file in numbers.items():
        found = np.load(file)[written[name].to_numpy()]
        shown = shown.set_column(shown.schema.get_field_index(name), name, pa.array(found))
    write_part(part, shown)
    if not pq.read_table(part).equals(shown):
        raise ReadError("A part of the release was not written as it should be; check the disk and try again.")


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
