"""Condensation: records a second of a stream and its memory, and the time of the static form.

Run `python benchmarks/condensation.py` (5 million records) or give another number. Targets: at least 50 thousand
records a second with 10 columns of numbers and 1,000 groups, and memory that is flat over 5 million records.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato._randomness import secret_from_seed
from sfumato.synthesis.condensation import Condensation
from sfumato.synthesis.stream import CondensationStream

WIDTH = 10
BATCH = 100_000
K = 20
NAMES = [f"column_{place}" for place in range(WIDTH)]


def batch(rows: int, rng: np.random.Generator) -> pa.Table:
    """Draw records of 30 clusters with correlated columns; the clusters are the same in every batch."""
    fixed = np.random.default_rng(1)
    mixing, centers = fixed.normal(size=(WIDTH, WIDTH)), fixed.normal(size=(30, WIDTH)) * 4
    values = rng.normal(size=(rows, WIDTH)) @ mixing + centers[rng.integers(30, size=rows)]
    return pa.table({name: values[:, place] for place, name in enumerate(NAMES)})


def resident() -> float:
    """Tell the memory that this process holds, in megabytes; 0 where the system does not say."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    (line,) = (line for line in status.read_text("ascii").splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def measure_stream(records: int) -> None:
    """Let a stream grow, and tell speed and memory on the way."""
    rng = np.random.default_rng(2)
    CondensationStream(k=K, columns=NAMES).update(batch(1000, rng))
    stream = CondensationStream(k=K, columns=NAMES)
    wall = work = 0.0
    batches = max(1, records // BATCH)
    for number in range(batches):
        arriving = batch(BATCH, rng)
        begin, busy = time.perf_counter(), time.process_time()
        stream.update(arriving)
        wall, work = wall + time.perf_counter() - begin, work + time.process_time() - busy
        if (number + 1) % max(1, batches // 5) == 0:
            print(
                f"{stream.records:>10,} records  {stream.groups:>5,} groups  {stream.records / wall:>9,.0f} a second  "
                f"{stream.records / work:>9,.0f} a CPU second  statistics {stream.nbytes / 1e6:.2f} MB  "
                f"process {resident():.0f} MB"
            )


def measure_tables() -> None:
    """Time the static form."""
    for rows in (30_000, 300_000):
        table = batch(rows, np.random.default_rng(3))
        begin = time.perf_counter()
        condensed = Condensation(k=K, secret=secret_from_seed(1)).fit(table, sf.Schema(quasi_identifiers=NAMES))
        middle = time.perf_counter()
        condensed.sample()
        end = time.perf_counter()
        print(f"{rows:>10,} rows  fit {middle - begin:.2f} s  sample {end - middle:.2f} s")


if __name__ == "__main__":
    measure_stream(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
    measure_tables()
