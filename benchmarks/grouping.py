"""Grouping of 64-bit keys: the ratio to one Polars group_by, for keys that are neighbors and keys in large steps.

Run `python benchmarks/grouping.py` or give another number of keys. Keys in steps of 2^40 differ in high bits only;
a hash table that takes its places from low bits would be some 40 times as slow on them.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import polars as pl

from measuring import best_of
from sfumato.core._kernels.grouping import group_keys


def main(rows: int) -> None:
    """Print one line per kind of keys."""
    near = np.random.default_rng(6).integers(0, rows, rows)
    for name, keys in {"neighbors": near, "steps of 2^40": near % (1 << 22) << 40}.items():
        frame = pl.DataFrame({"key": keys})
        unit, counted = best_of(3, partial(frame.group_by("key").len))
        seconds, grouped = best_of(3, partial(group_keys, keys))
        assert len(grouped) == len(counted)
        print(f"{rows:,} keys, {name}: {seconds / unit:.2f} of one group_by, which takes {unit:.3f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
