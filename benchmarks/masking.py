"""Masking: how many cells and how much time every step takes, as ratios to what it cannot do without.

Run `python benchmarks/masking.py`. Targets: cells that `SuppressCells` hides on 2,000 persons and five keys at k = 2, 3
and 5, at most 1.05 (rows) and 1.15 (groups) times those of sdcMicro 5.8.1; 100,000 rows and six keys at k = 3 in at
most a fortieth of its 89.6 s; PRAM, noise and swapping at most 3, 3 and half as much as the NumPy draws and products or
sdcMicro's 0.74 s that they are compared with. sdcMicro's figures were measured on two cores; its ratios are of that
machine.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from measuring import best_of
from sfumato._randomness import KeyedRandom, secret_from_seed
from sfumato.tables.masking._apply import mask
from sfumato.tables.masking.add_noise import AddNoise, draw_normals
from sfumato.tables.masking.pram import PRAM
from sfumato.tables.masking.suppress_cells import SuppressCells
from sfumato.tables.masking.swap_ranks import SwapRanks

SECRET = secret_from_seed(1)
NUMBERS = ("age", "edu", "hours", "income")
KEYS = ("age10", "sex", "region", "edu4", "job")
SDCMICRO_CELLS = {2: 857, 3: 1457, 5: 2054}
SDCMICRO_SECONDS, SDCMICRO_LARGE_CELLS, SDCMICRO_SWAP_SECONDS = 89.6, 5848, 0.74


def persons(rows: int, seed: int) -> pa.Table:
    """Draw persons who do not exist, as the golden table of masking was drawn."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    sex, region = rng.choice(["f", "m"], rows), rng.choice(list("abcdefgh"), rows)
    edu = np.round(np.clip(2 * (rng.normal(size=rows) + 0.5 * (age < 60)) + 8, 0, 16))
    income = np.round(np.exp(9.5 + 0.08 * edu + 0.01 * (age - 18) + rng.normal(0, 0.5, rows)), 2)
    hours = np.round(np.clip(rng.normal(38, 9, rows), 1, 80))
    job = [f"j{number}" for number in ((edu + 5 * (hours > 40) + rng.integers(0, 3, rows)) % 12).astype(int)]
    return pa.table(
        {"age": age, "sex": sex, "region": region, "edu": edu, "hours": hours, "job": job, "income": income}
    )


def keys(table: pa.Table) -> pa.Table:
    """Make the keys of local suppression."""
    return pa.table(
        {
            "age10": np.asarray(table["age"]) // 10,
            "sex": table["sex"],
            "region": table["region"],
            "edu4": np.asarray(table["edu"]).astype(int) // 4,
            "job": table["job"],
            "hours10": np.asarray(table["hours"]).astype(int) // 10,
        }
    )


def suppression() -> None:
    """Count the cells that are hidden, and time a large table."""
    small = keys(persons(4000, 1).slice(0, 2000)).select(KEYS)
    for k, theirs in SDCMICRO_CELLS.items():
        for protect, most in (("rows", 1.05), ("groups", 1.15)):
            step = SuppressCells(columns=KEYS, k=k, protect=protect)
            hidden = mask(small, [step]).records[0].metrics["hidden-cells"]
            print(f"suppress-cells {protect:6} k={k}  {hidden / theirs:.3f} x sdcMicro's cells (target {most})")
    large = keys(persons(100_000, 3))
    for protect in ("rows", "groups"):
        step = SuppressCells(columns=large.column_names, k=3, protect=protect)
        seconds, shown = best_of(3, lambda step=step: step.apply(large, KeyedRandom(SECRET)))
        hidden = step.measure(large, shown)["hidden-cells"]
        print(
            f"suppress-cells {protect:6} 100,000 x 6  {SDCMICRO_SECONDS / seconds:.0f} x faster than sdcMicro "
            f"(target 40), {hidden / SDCMICRO_LARGE_CELLS:.3f} x its cells"
        )


def randomization() -> None:
    """Time PRAM against one search per row."""
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.choice([f"v{number}" for number in range(10)], 1_000_000)})
    step = PRAM(columns=["x"], keep=0.8)
    ends = np.cumsum(np.full(10, 0.1))
    bare, _ = best_of(3, lambda: np.searchsorted(ends, KeyedRandom(SECRET).uniform(1_000_000)))
    seconds, _ = best_of(3, lambda: step.apply(table, KeyedRandom(SECRET)))
    print(f"pram 1,000,000 x 10 values  {seconds / bare:.2f} x one search per row (target 3)")


def swapping() -> None:
    """Time rank swapping against sdcMicro."""
    table = persons(100_000, 3).select(NUMBERS)
    step = SwapRanks(columns=NUMBERS, reach=0.05)
    seconds, _ = best_of(3, lambda: step.apply(table, KeyedRandom(SECRET)))
    print(f"swap-ranks 4 x 100,000  {seconds / SDCMICRO_SWAP_SECONDS:.2f} x sdcMicro's time (target 0.54)")


def noise() -> None:
    """Time noise against the bare draws and products."""
    table = persons(100_000, 3).select(NUMBERS)
    values = np.column_stack([np.asarray(table[name], dtype=np.float64) for name in NUMBERS])
    bare, _ = best_of(
        3, lambda: values + draw_normals(KeyedRandom(SECRET), values.shape) @ np.linalg.cholesky(np.cov(values.T)).T
    )
    for kind in ("kept", "exact"):
        step = AddNoise(columns=NUMBERS, share=0.1, kind=kind)
        seconds, _ = best_of(3, lambda step=step: step.apply(table, KeyedRandom(SECRET)))
        print(f"add-noise {kind} 4 x 100,000  {seconds / bare:.2f} x its draws and products (target 3)")


if __name__ == "__main__":
    suppression()
    randomization()
    swapping()
    noise()
