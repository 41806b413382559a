"""What searches betray of sensitive values to somebody who knows how they choose groups (`sf.minimality_attack`).

Run `SFUMATO_SHARED_DATA=folder python benchmarks/minimality.py [rows] [runs]`. The folder holds
`adult_full/adult_full.csv`; without it a made-up census takes its place. Each search publishes 300 rows under
frequency-l-diversity of the occupation and, with fewer values, of the marital status, and runs again 3,000 times
with the values of a tenth of its groups dealt anew.
Shown are the individuals who are surely believed to have a value with more than 1/l, and the largest belief.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.tables.algorithms.base import TableAlgorithm

QUASI = ("age", "education-num", "hours-per-week", "sex")
NAMES = {"age": "age", "hours_per_week": "hours-per-week", "sex": "sex", "education": "education-num"}
SENSITIVE = (("occupation", 4), ("marital-status", 2))
UNKNOWN = 0.1  # of the groups
LEVELS = {
    "age": sf.hierarchies.Intervals(5),
    "education-num": sf.hierarchies.Intervals(2),
    "hours-per-week": sf.hierarchies.Intervals(10),
}
SEARCHES: tuple[TableAlgorithm, ...] = (
    sf.algorithms.Mondrian(),
    sf.algorithms.Mondrian(strict=False),
    sf.algorithms.TopDownNCP(),
    sf.algorithms.SABRE(),
    sf.algorithms.LocalRecoding(),
    sf.algorithms.TopDownSpecialization(),
    sf.algorithms.BottomUpGeneralization(),
    sf.algorithms.Optimal(),
    sf.algorithms.Datafly(),
    sf.algorithms.MDAV(publish="ranges"),
    sf.algorithms.VMDAV(publish="ranges"),
    sf.algorithms.KMember(publish="ranges"),
    sf.algorithms.MAASLIE(),
    sf.algorithms.GreedyPKClustering(),
)


def people(rows: int) -> pa.Table:
    """Read some of the people: every so manieth."""
    folder = os.environ.get("SFUMATO_SHARED_DATA")
    if folder is None:
        census = sf.datasets.generate_census(rows, seed=1)
        table = pa.Table.from_pandas(census) if not isinstance(census, pa.Table) else census
        table = table.rename_columns([name.replace("_", "-") for name in table.column_names])
        return table.rename_columns([NAMES.get(name, name) for name in table.column_names])
    table = pa.Table.from_pandas(sf.read(Path(folder) / "adult_full" / "adult_full.csv").to_pandas())
    return table.take(pa.array(np.linspace(0, table.num_rows - 1, rows).astype(int)))


def attacked(table: pa.Table, search: TableAlgorithm, sensitive: str, l: int, runs: int) -> str:
    """Attack one search, in a line of the report."""
    quasi = [name for name in QUASI if name in table.column_names]
    levels = {name: each for name, each in LEVELS.items() if pa.types.is_integer(table[name].type)}
    schema = sf.Schema(quasi_identifiers=quasi, sensitive=[sensitive], hierarchies=levels)
    models = [sf.models.KAnonymity(k=2), sf.models.FrequencyLDiversity(l=l, sensitive=sensitive)]
    if isinstance(search, sf.algorithms.MAASLIE | sf.algorithms.GreedyPKClustering):
        models = [sf.models.PSensitiveKAnonymity(k=4, p=2, sensitive=sensitive), models[1]]
    started = time.perf_counter()
    try:
        release = sf.anonymize(table, schema, models, search, max_suppressed=0.05, seed=1)
        (found,) = sf.minimality_attack(table, release.recipe, runs=runs, unknown=UNKNOWN, seed=1)
    except SfumatoError as error:
        return f"refused: {str(error)[:90]}"
    said, lasted = found.to_dict(), time.perf_counter() - started
    groups = len(release.audit.sizes)
    shown = f"{said['exceeding']:5} {said['undecided']:9} {said['targets']:7} {groups:6} {said['largest_belief']:7.3f}"
    return f"{shown} {lasted:6.0f} s"


def main() -> None:
    """Print what was found of every search."""
    given = [int(each) for each in sys.argv[1:3]]
    rows, runs = (*given, *(300, 3_000)[len(given) :])
    table = people(rows)
    for sensitive, l in SENSITIVE:
        if sensitive not in table.column_names:
            continue
        print(f"{sensitive}, l = {l}, {rows} rows, {runs} runs")
        print(f"{'search':28}  more undecided targets groups largest")
        for search in SEARCHES:
            name = f"{search.name}{'' if getattr(search, 'strict', True) else ' (relaxed)'}"
            print(f"{name:28} {attacked(table, search, sensitive, l, runs)}", flush=True)


if __name__ == "__main__":
    main()
