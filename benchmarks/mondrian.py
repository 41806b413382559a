"""Mondrian over 8 quasi-identifiers, k = 10: time, memory, and the ratio to one Polars group_by of the same columns.

Run `python benchmarks/mondrian.py` (30 thousand, 1 and 10 million rows) or give other numbers of rows. Targets,
warm: at most 4 times the group_by at 1 million rows and 2.5 times at 10 million, growth exponent from 1 to
10 million at most 1.15, at 10 million at most 2.5 GB above the loaded table; whole releases, audited, at most 3 times
the group_by at 1 million rows and 2.5 times at 10 million.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import sfumato as sf
from measuring import QUASI, best_of, cost_of, group_by, peak_above, schema, yardstick
from sfumato.encoding.coded_table import CodedTable, encode_table
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.published.solution import TableSolution

WHOLE = {1_000_000: 3.0, 10_000_000: 2.5}  # units of one group_by allowed for a whole release


def main(sizes: list[int]) -> None:
    """Print one line per size, and the growth between sizes."""
    print(f"{'rows':>12} {'code':>8} {'search':>8} {'peak GB':>8}   ratio of search (code + search) to group_by")
    before: tuple[int, float] | None = None
    for rows in sizes:
        table = sf.datasets.generate_hospital(rows, seed=1)
        coding, coded = best_of(3, lambda table=table: encode_table(table, schema()))
        searching, publication = best_of(3, lambda coded=coded: search(coded))
        assert np.bincount(publication.group).min() >= 10
        del publication, coded
        peak, _ = peak_above(lambda table=table: search(encode_table(table, schema())))
        ratios = "; ".join(
            f"columns {name}: {searching / unit:.2f} ({(coding + searching) / unit:.2f}) of {unit:.3f} s"
            for name, unit in yardstick(table).items()
        )
        print(f"{rows:>12,} {coding:>8.3f} {searching:>8.3f} {peak:>8.2f}   {ratios}")
        unit = group_by(table, QUASI)
        whole, _ = cost_of(2, lambda table=table: sf.anonymize(table, schema(), [sf.models.KAnonymity(k=10)], seed=1))
        print(f"{'':>12} whole release: {whole.beside(unit, WHOLE.get(rows))} one group_by", flush=True)
        if before is not None:
            exponent = math.log(searching / before[1]) / math.log(rows / before[0])
            print(f"{'':>12} growth exponent from {before[0]:,} to {rows:,} rows: {exponent:.2f}")
        before = rows, searching


def search(coded: CodedTable) -> TableSolution:
    """Search with strict Mondrian for groups of 10."""
    task = TableRequest(
        table=coded,
        models=[sf.models.KAnonymity(k=10)],
        max_suppressed=0,
        missing=MissingPolicy.OWN_VALUE,
        rng=np.random.default_rng(0),
    )
    return sf.algorithms.Mondrian().search(task)


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [30_000, 1_000_000, 10_000_000])
