"""Comparing releases, as a ratio to auditing them.

Run `python benchmarks/compare.py` (1 million rows) or give other numbers of rows. Target: comparing four releases costs
at most four audits. An audit is what `sf.audit` does with the published table, the original and the rows that belong
together; a comparison takes exposure, attacks, losses and what analysts find of all four, beside their promises.
"""

from __future__ import annotations

import sys
from functools import partial

import sfumato as sf
from measuring import best_of, schema
from sfumato.tables._pipeline.release import Release

PROMISED = [sf.models.KAnonymity(k=10), sf.models.DistinctLDiversity(l=2, sensitive="disease")]
ALGORITHMS = (
    sf.algorithms.Mondrian(),
    sf.algorithms.Mondrian(strict=False),
    sf.algorithms.CrossBucketGeneralization(),
    sf.algorithms.TopDownNCP(),
)
MOST = 1.0


def main(sizes: list[int]) -> None:
    """Print the ratio of every size; end with an error if one is above the target."""
    missed = False
    for rows in sizes:
        table = sf.datasets.generate_hospital(rows, seed=1)
        releases = [sf.anonymize(table, schema(), PROMISED, each, seed=1) for each in ALGORITHMS]
        audited, _ = best_of(2, partial(audit_all, releases))
        compared, found = best_of(2, partial(sf.compare, releases))
        assert len(found.candidates) == len(releases)
        ratio = compared / audited
        print(f"{rows:,} rows, {len(releases)} releases: audits {audited:.2f} s, comparison {compared:.2f} s")
        print(f"  comparison / audits: {ratio:.2f} (target: at most {MOST:g})")
        missed |= ratio > MOST
    if missed:
        raise SystemExit("The target is missed.")


def audit_all(releases: list[Release]) -> None:
    """Audit every release anew, as its owner would."""
    for each in releases:
        sf.audit(each.published, schema(), PROMISED, original=each.original, correspondence=each.correspondence)


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [1_000_000])
