"""Set enumeration: how much of 2^32 sets of cuts k-Optimize has to check until it is sure, and how long that takes.

Run `python benchmarks/set_enumeration.py`; it needs no data. Targets, on made-up records with 32 places to cut: the
optimum of discernibility is proven for k = 10 and k = 50 within 20,000 sets, and checking a set takes at most 15 times
one grouping of the quasi-identifiers.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

import sfumato as sf
from measuring import best_of
from sfumato.core._kernels.grouping import group_columns
from sfumato.encoding.coded_table import encode_table

SCHEMA = sf.Schema(
    quasi_identifiers=["age", "education", "sex", "race"],
    sensitive=["income"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 20)},
)
MOST_GROUPINGS = 15


def made_up(records: int) -> pa.Table:
    """Draw ages, years of education, sexes, races and incomes, each for itself."""
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "age": rng.integers(18, 78, records),
            "education": np.clip(rng.normal(9, 3, records).astype(int), 1, 16),
            "sex": rng.choice(["f", "m"], records),
            "race": rng.choice(list("abcde"), records, p=[0.8, 0.1, 0.05, 0.03, 0.02]),
            "income": rng.choice(list("xyz"), records),
        }
    )


def main() -> None:
    """Search both tables for both losses."""
    for records, k in ((1_000, 10), (5_000, 10), (5_000, 50)):
        table = made_up(records)
        columns = encode_table(table, SCHEMA).quasi
        codes, widths = [each.codes for each in columns], [len(each.domain) + 1 for each in columns]
        grouping, _ = best_of(5, lambda codes=codes, widths=widths: group_columns(codes, widths))
        for algorithm in (sf.algorithms.KOptimize(), sf.algorithms.KOptimize(loss="classification", target="income")):
            begin = time.perf_counter()
            release = sf.anonymize(table, SCHEMA, [sf.models.KAnonymity(k=k)], algorithm=algorithm, max_suppressed=0.05)
            seconds = time.perf_counter() - begin
            assert release.proof is not None
            groupings = seconds / release.proof.checked / grouping
            print(f"{records:,} records, k = {k}: {release.proof} {seconds:.1f} s, {groupings:.1f} groupings per set")
            assert algorithm.loss == "classification" or release.proof.optimal
            assert groupings <= MOST_GROUPINGS


if __name__ == "__main__":
    main()
