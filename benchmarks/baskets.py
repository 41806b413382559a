"""Sets of items: counting, generalizing and taking apart, as ratios to one sparse product; growth and peak memory.

Run `SFUMATO_SHARED_DATA=folder python benchmarks/baskets.py [real] [growth] [million]`, where the folder holds
`baskets/bms1.dat` and `baskets/retail.dat`; growth and million need no folder. The unit is one sparse product of the
incidence matrix of retail with itself, which counts all its pairs and names no basket; it took 0.46 s where the targets
were set, in processor seconds. Targets at k = 5, m = 2: pairs of retail with the baskets that hold rare ones 2 units;
triples of bms1 22 units; apriori anonymization of bms1 4.3 units at an NCP of at most 0.058; disassociation without
joint clusters 4.3 units for bms1, 11 for retail with an expected tKd of 0.08. Time grows with the number of baskets at
most as its power 1.1; a million baskets with ten million occurrences stay below 4 GB.
"""

from __future__ import annotations

import os
import sys
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from measuring import Cost, cost_of, peak_above
from sfumato import transactions as sets
from sfumato._randomness import KeyedRandom, secret_from_seed
from sfumato.core.algorithm import Request
from sfumato.datasets.retail import generate_transactions
from sfumato.transactions._itemsets import ItemsetCounter

KM = sets.KmAnonymity(k=5, m=2)
POWER, MOST_GB = 1.1, 4.0
SIZES = (50_000, 200_000, 800_000)
MILLION, ITEMS, LENGTH = 1_000_000, 20_000, 13.0


def main(asked: list[str]) -> None:
    """Run what is asked for, or everything."""
    parts = {"real": real, "growth": growth, "million": million}
    for name in asked or parts:
        parts[name]()


def real() -> None:
    """Measure the two real tables."""
    folder = os.environ.get("SFUMATO_SHARED_DATA")
    if folder is None:
        raise SystemExit("Set SFUMATO_SHARED_DATA to the folder of the shared tables, or ask for growth and million.")
    tables = {name: sets.read(Path(folder) / "baskets" / f"{name}.dat") for name in ("bms1", "retail")}
    unit = sparse_product(tables["retail"])
    print(f"unit: one sparse product of retail, {unit.busy:.2f} processor seconds")
    counted = {name: ItemsetCounter(each.codes, each.offsets, len(each.items)) for name, each in tables.items()}
    cost, found = cost_of(3, lambda: counted["retail"].count(2, 5, mark=True))
    marked = f"in {found.marks.sum():,} baskets"
    print(f"pairs of retail, rare {found.rare:,} of {found.sets:,}, {marked}  {cost.beside(unit, 2)}")
    cost, found = cost_of(3, lambda: counted["bms1"].count(3, 5))
    print(f"triples of bms1, rare {found.rare:,} of {found.sets:,}  {cost.beside(unit, 22)}")
    for name, most in (("bms1", 4.3), ("retail", None)):
        tree = sets.balanced_taxonomy(tables[name].items)
        for search in (
            sets.AprioriAnonymization,
            sets.DirectAnonymization,
            sets.VerticalPartitioning,
            sets.LocalRecodingAnonymization,
        ):
            cost, release = found_by(search(taxonomy=tree), tables[name])
            ncp = release.losses(tables[name])["ncp"]
            said = cost.beside(unit, most if search is sets.AprioriAnonymization else None)
            print(f"{search.name} of {name}, NCP {ncp:.4f}, {len(release.items)} items left  {said}")
    for name, most in (("bms1", 4.3), ("retail", 11.0)):
        cost, release = found_by(sets.Disassociation(joint=False), tables[name])
        told = ", ".join(f"{what} {value:.3f}" for what, value in sets_measured(release, tables[name]).items())
        print(f"disassociation of {name}, {told}  {cost.beside(unit, most)}")
    for name, each in tables.items():
        cost, _ = cost_of(1, lambda each=each: sets.attack(each, each, seed=1))
        print(f"attack on {name}  {cost.beside(unit)}")


def sets_measured(release: Any, original: sets.Transactions) -> dict[str, float]:
    """Return all measures of a release."""
    from sfumato.transactions.metrics import compute_metrics

    return compute_metrics(release, original)


def found_by(search: Any, baskets: sets.Transactions, runs: int = 3) -> tuple[Cost, Any]:
    """Measure a search alone, without reading, judging and writing."""
    stream = KeyedRandom(secret_from_seed(1), "baskets")
    return cost_of(runs, lambda: search.find(Request(data=baskets, models=[KM], stream=stream)))


def sparse_product(baskets: sets.Transactions) -> Cost:
    """Measure one product of the incidence matrix with itself."""
    ones = np.ones(len(baskets.codes), dtype=np.int32)
    matrix = csr_array((ones, baskets.codes, baskets.offsets), shape=(len(baskets), len(baskets.items)))
    return cost_of(3, lambda: matrix.T @ matrix)[0]


def growth() -> None:
    """Measure how time grows with the number of baskets of one shop."""
    searches = {
        "apriori anonymization": lambda tree: sets.AprioriAnonymization(taxonomy=tree),
        "local recoding": lambda tree: sets.LocalRecodingAnonymization(taxonomy=tree),
        "disassociation": lambda _: sets.Disassociation(joint=False),
    }
    made = [generate_transactions(size, items=5000) for size in SIZES]
    for name, search in searches.items():
        busy = [found_by(search(tree), baskets)[0].busy for baskets, tree in made]
        report(name, busy)
    report("audit", [cost_of(3, lambda each=each: KM.evaluate(each[0]))[0].busy for each in made])


def report(name: str, busy: list[float]) -> None:
    """Tell the largest power with which processor seconds grow from one size to the next."""
    powers = [log(busy[at + 1] / busy[at]) / log(SIZES[at + 1] / SIZES[at]) for at in range(len(SIZES) - 1)]
    seconds = ", ".join(f"{each:.2f}" for each in busy)
    said = "met" if max(powers) <= POWER else "MISSED"
    print(f"{name} of {SIZES} baskets: {seconds} processor seconds, power {max(powers):.2f} (target {POWER}: {said})")


def million() -> None:
    """Publish a million baskets with all that belongs to it, and tell the peak of memory."""
    baskets, tree = generate_transactions(MILLION, items=ITEMS, mean_length=LENGTH)
    print(f"a million baskets: {len(baskets.codes):,} occurrences of {len(baskets.items):,} items")
    for search in (sets.AprioriAnonymization(taxonomy=tree), sets.Disassociation(joint=False)):

        def work(search: Any = search) -> tuple[Cost, Any]:
            return cost_of(1, lambda: sets.anonymize(baskets, models=[KM], algorithm=search))

        peak, (cost, release) = peak_above(work)
        lost = ", ".join(f"{name} {value:.3g}" for name, value in release.metrics.items())
        said = "met" if peak <= MOST_GB else "MISSED"
        print(
            f"{search.name}: {cost.busy:.0f} processor seconds, {peak:.2f} GB above (target {MOST_GB}: {said}); {lost}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
