"""Audit of a published table of 10 million rows: k-anonymity and l-diversity, as ratios to one Polars group_by.

Run `python benchmarks/audit.py` or give other numbers of rows. Target: within 4 times the group_by of the
eight original columns.
"""

from __future__ import annotations

import sys
from functools import partial

import sfumato as sf
from measuring import best_of, peak_above, schema, yardstick
from sfumato.auditing.audit import audit_tables


def main(sizes: list[int]) -> None:
    """Print one line per size."""
    for rows in sizes:
        table = sf.generate(rows, seed=1)
        units = yardstick(table)
        models = [sf.KAnonymity(k=10), sf.DistinctLDiversity(l=2, sensitive="disease")]
        published = sf.anonymize(table, schema(), models).frame
        del table
        judge = partial(audit_tables, published, schema(), models)
        best, audit = best_of(2, judge)
        peak, _ = peak_above(judge)
        assert audit.holds
        ratios = "; ".join(f"columns {name}: {best / unit:.2f} of {unit:.3f} s" for name, unit in units.items())
        print(f"{rows:>12,} rows audited in {best:.3f} s, peak {peak:.2f} GB; ratio to group_by of {ratios}")


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [1_000_000, 10_000_000])
