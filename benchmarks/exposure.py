"""Exposure of every record of a Mondrian release to adversary 1: time, growth, and the ratio to one Polars group_by.

Run `python benchmarks/exposure.py` (100 thousand and 1 million rows) or give other numbers of rows. Target: 1 million
records in a minute on two cores.
"""

from __future__ import annotations

import math
import sys
from functools import partial

import sfumato as sf
from measuring import best_of, peak_above, schema, yardstick


def main(sizes: list[int]) -> None:
    """Print one line per size, and the growth between sizes."""
    before: tuple[int, float] | None = None
    for rows in sizes:
        table = sf.datasets.generate_hospital(rows, seed=1)
        units = yardstick(table)
        release = sf.anonymize(table, schema(), [sf.models.KAnonymity(k=5)])
        expose = partial(sf.attribute_disclosure_risk, release.frame, schema(), original=table)
        seconds, exposure = best_of(2, expose)
        peak, _ = peak_above(expose)
        assert exposure.identity.maximum <= 1 / 5
        ratios = ", ".join(f"{seconds / unit:.1f} (columns {name})" for name, unit in units.items())
        print(f"{rows:>12,} records: {seconds:.2f} s, peak {peak:.2f} GB, {ratios} group_by")
        if before is not None:
            exponent = math.log(seconds / before[1]) / math.log(rows / before[0])
            print(f"{'':>12} growth exponent from {before[0]:,} to {rows:,} records: {exponent:.2f}")
        before = rows, seconds


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [100_000, 1_000_000])
