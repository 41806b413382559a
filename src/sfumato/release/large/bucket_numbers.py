"""Number the buckets of all blocks at random, although no block is held together with all others.

Every block draws a key of 64 bits for each of its buckets. The number of a bucket is the rank of its key among those of
all blocks, as it is in memory. So numbers tell nothing about blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.coding.applying import rank_jointly
from sfumato.exceptions import ReadError
from sfumato.release.large.finishing import write_part

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
