"""Microaggregation: times, growth and losses, with the targets beside them.

Run `SFUMATO_SHARED_DATA=folder python benchmarks/microaggregation.py [numbers] [growth] [levels] [million] [stream]`
(all parts unless some are named). The folder holds `adult_full/adult_full.csv`; without it a made-up census takes its
place, and losses cannot be compared with the targets. Units are one Polars `group_by` of the quasi-identifiers as they
are.

- numbers: MDAV, V-MDAV and k-member on 30 thousand records, k = 10;
- growth: MDAV, V-MDAV and k-member on 30 thousand to 1 million records, by trees of boxes and, up to 100 thousand, by
  looks at every record, in processor seconds; groups must be the same;
- levels: MAA-SLIE and GPKC with (H,p,k)-anonymity, 7 quasi-identifiers, on 3 thousand, 30 thousand and all records, and
  what the approximate mode loses beside the exact one;
- million: approximate MAA-SLIE on 1 million made-up hospital stays;
- stream: `condensation.py`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from papers.maa_slie.setting import LEVEL_WEIGHTS, RankedTable, generate_ranked_census, ranked_adult

import condensation
import measuring
import sfumato as sf
from measuring import best_of
from sfumato._progress import ignore_progress
from sfumato._warmup import warm_up
from sfumato.core.recipe import Recipe
from sfumato.encoding.coded_table import encode_table
from sfumato.tables._pipeline.request import build_request
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.microaggregation._space import RecordSpace, to_boxes, to_points
from sfumato.tables.algorithms.microaggregation._tree_clusters import (
    cluster_by_k_member,
    cluster_by_mdav,
    cluster_by_v_mdav,
)
from sfumato.tables.metrics.sse import sum_of_squares_ratio
from sfumato.tables.models.base import GroupModel

NUMBERS = ("age", "fnlwgt", "education-num", "hours-per-week")
CENSUS_NUMBERS = ("age", "salary", "hours_per_week")
GROWING, LOOKED_AT = (30_000, 100_000, 300_000, 1_000_000), 100_000
ROWS, SMALL, ALL, MILLION, STREAM = 30_000, 3_000, 45_222, 1_000_000, 5_000_000
STAYS = ("age", "sex", "zip", "education", "marital_status", "job", "nationality")
DEMANDS = ((2, 3, 8), (3, 6, 8), (3, 8, 8))
WEIGHTS = {str(level): weight for level, weight in LEVEL_WEIGHTS.items()}


@dataclass(frozen=True)
class Row:
    """One line of the report."""

    what: str
    seconds: float
    unit: float
    more: str = ""

    def show(self, target: float | None = None, goal: str = "") -> None:
        """Print it, with what is to be reached."""
        wanted = f"at most {target:g} s: {'kept' if self.seconds <= target else 'NOT KEPT'}" if target else ""
        said = "; ".join(part for part in (wanted, goal) if part)
        units = f"{self.seconds / self.unit:>9,.0f}"
        print(f"  {self.what:<44}{self.seconds:>8.2f} s{units} units  {self.more:<32}{said}", flush=True)


def numbers() -> None:
    """Time methods for numbers, and tell which share of variance is lost."""
    table, names, real = _numbers()
    unit = _unit(table, names)
    schema, models = sf.Schema(quasi_identifiers=names), (sf.models.KAnonymity(k=10),)
    print(f"\nnumbers: {table.num_rows:,} records, {len(names)} columns, k = 10; unit {unit * 1000:.1f} ms")
    for algorithm, target, most in (
        (sf.algorithms.MDAV(), 1.0, 0.023),
        (sf.algorithms.VMDAV(), None, None),
        (sf.algorithms.VMDAV(gamma=1.1), None, None),
        (sf.algorithms.KMember(), 10.0, None),
    ):
        task = _task(table, schema, models, algorithm)
        seconds, _ = best_of(2, lambda task=task, algorithm=algorithm: algorithm.search(task))
        begin = time.perf_counter()
        release = sf.anonymize(table, schema, models, algorithm, seed=1)
        whole = time.perf_counter() - begin
        lost = sum_of_squares_ratio(release.original, release.published, release.correspondence, names)
        goal = ""
        if most is not None and real:
            goal = f"SSE/SST at most {most:.1%}: {'kept' if lost <= most else 'NOT KEPT'}"
        name = f"{algorithm.name}{', gamma 1.1' if algorithm == sf.algorithms.VMDAV(gamma=1.1) else ''}, search"
        Row(name, seconds, unit, f"SSE/SST {lost:.3%}, release {whole:.2f} s").show(target, goal)


def growth() -> None:
    """Tell how processor time grows with records, by trees and by looks at every record."""
    warm_up()
    print("\ngrowth: 4 columns of numbers (normal), k = 10, processor seconds; and MDAV with 8 columns")
    for name, columns, target in (("mdav", 4, 10.0), ("v-mdav", 4, None), ("k-member", 4, None), ("mdav", 8, 120.0)):
        before = None
        for rows in GROWING:
            clustered = _clustering(name, _normal(rows, columns))
            seconds, groups = _processor(lambda clustered=clustered: clustered(0))
            words = f"  {name + ',':<10}{columns} columns, {rows:>9,}: {seconds:>8.2f} s"
            if before is not None:
                words += f", exponent {np.log(seconds / before[1]) / np.log(rows / before[0]):.2f}"
            if rows <= LOOKED_AT:
                slow, expected = _processor(lambda clustered=clustered, rows=rows: clustered(rows + 1))
                same = "same groups" if np.array_equal(groups, expected) else "OTHER GROUPS"
                words += f", {seconds / slow:.2f} of the time of looks at every record, {same}"
            elif target is not None and rows == MILLION:
                words += f", at most {target:g} s: {'kept' if seconds <= target else 'NOT KEPT'}"
            print(words, flush=True)
            before = rows, seconds


def levels() -> None:
    """Time MAA-SLIE and GPKC, and compare the loss of the approximate mode with the exact one's."""
    subject = _ranked()
    everybody = subject.max_level(ALL)
    unit = _unit(subject.sample(everybody, 0, 0), subject.schema.quasi_identifiers)
    quasi = len(subject.schema.quasi_identifiers)
    print(f"\nlevels: (H,p,k)-anonymity, {quasi} quasi-identifiers; unit {unit * 1000:.1f} ms at {everybody:,} records")
    sizes = ((SMALL, 1.0), (subject.max_level(ROWS), None), (everybody, 60.0))
    for demand in DEMANDS:
        for rows, target in sizes:
            losses = {}
            for name, algorithm in _methods(rows).items():
                seconds, losses[name] = _partition(subject, rows, demand, algorithm)
                words = f"{name}, {demand}, {rows:,}"
                over, goal = losses[name] / losses["exact MAA-SLIE"] - 1, ""
                if name == "approximate MAA-SLIE":
                    wanted = "at most 15 % more" if rows == ROWS else ""
                    goal = f"{over:+.1%} loss{f', {wanted}' * bool(wanted)}"
                more = f"loss {losses[name]:.4f}"
                Row(words, seconds, unit, more).show(target if name == "exact MAA-SLIE" else None, goal)
    task = _k_member_task(subject)
    seconds, _ = best_of(2, lambda: sf.algorithms.KMember().search(task))
    Row(f"k-member, k = 10, {subject.max_level(ROWS):,}", seconds, unit).show(10.0)


def million() -> None:
    """Time the approximate mode on many made-up records, and its loss beside the exact mode's on fewer."""
    schema = replace(measuring.schema(), quasi=STAYS, insensitive=["cost", "admission"])
    algorithm = sf.algorithms.MAASLIE(level_weights=WEIGHTS, approximate=True)
    _stay_losses(schema)
    table = sf.datasets.generate_hospital(MILLION, seed=1, missing=0)
    unit = _unit(table, STAYS)
    print(f"\nmillion: {MILLION:,} hospital stays, {len(STAYS)} quasi-identifiers; unit {unit * 1000:.0f} ms")
    task = _task(table, schema, (_stay_model(table),), algorithm)
    begin = time.perf_counter()
    publication = algorithm.search(task)
    seconds = time.perf_counter() - begin
    Row(
        f"approximate MAA-SLIE, (2, 3, 8), {MILLION:,}",
        seconds,
        unit,
        f"loss {_loss(task, publication.group):.4f}",
    ).show(120.0)


def stream() -> None:
    """Tell speed and memory of a condensation stream."""
    print("\nstream: condensation, 10 columns of numbers; at least 50,000 records a second, flat memory")
    condensation.measure_stream(STREAM)


def _normal(rows: int, columns: int) -> RecordSpace:
    """Draw independent columns of numbers."""
    drawn = np.random.default_rng(1).normal(size=(columns, rows))
    names = [f"x{at}" for at in range(columns)]
    return RecordSpace.of(
        encode_table(pa.table(dict(zip(names, drawn, strict=True))), sf.Schema(quasi_identifiers=names))
    )


def _clustering(name: str, space: RecordSpace) -> Callable[[int], np.ndarray]:
    """Return what clusters records into groups of 10, with trees from some number of records on."""
    if name == "k-member":
        candidates, _ = to_boxes(space)
        return lambda rows: cluster_by_k_member(candidates, 10, 0, ignore_progress, trees_from=rows)
    points = to_points(space, "deviation")
    if name == "mdav":
        return lambda rows: cluster_by_mdav(points, 10, ignore_progress, trees_from=rows)
    return lambda rows: cluster_by_v_mdav(points, 10, 0.2, ignore_progress, trees_from=rows)


def _processor(work: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    begin = time.process_time()
    found = work()
    return time.process_time() - begin, found


def _stay_losses(schema: sf.Schema) -> None:
    table = sf.datasets.generate_hospital(ROWS, seed=1, missing=0)
    losses = {}
    for approximate in (False, True):
        algorithm = sf.algorithms.MAASLIE(level_weights=WEIGHTS, approximate=approximate)
        task = _task(table, schema, (_stay_model(table),), algorithm)
        losses[approximate] = _loss(task, algorithm.search(task).group)
    over = losses[True] / losses[False] - 1
    print(f"\napproximate beside exact MAA-SLIE, {ROWS:,} hospital stays: {over:+.1%} loss, at most 15 % more")


def _stay_model(table: pa.Table) -> GroupModel:
    values = sorted(set(table["disease"].to_pylist()))
    dealt = {value: 1 + at % len(LEVEL_WEIGHTS) for at, value in enumerate(values)}
    return sf.models.HPKAnonymity(h=2, p=3, k=8, sensitive="disease", sensitivity_levels=dealt)


def _methods(rows: int) -> dict[str, TableAlgorithm]:
    exact = {"exact MAA-SLIE": sf.algorithms.MAASLIE(level_weights=WEIGHTS)}
    blocks = {"approximate MAA-SLIE": sf.algorithms.MAASLIE(level_weights=WEIGHTS, approximate=True)}
    return {**exact, **(blocks if rows > SMALL else {}), "GPKC": sf.algorithms.GreedyPKClustering()}


def _partition(
    subject: RankedTable, rows: int, demand: tuple[int, int, int], algorithm: TableAlgorithm
) -> tuple[float, float]:
    h, p, k = demand
    table = subject.sample(rows, 0, 0)
    model = sf.models.HPKAnonymity(h=h, p=p, k=k, sensitive=subject.sensitive, sensitivity_levels=subject.levels)
    task = _task(table, subject.schema, (model,), algorithm)
    seconds, publication = best_of(3 if rows <= SMALL else 1, lambda: algorithm.search(task))
    return seconds, _loss(task, publication.group)


def _loss(task: TableRequest, group: np.ndarray) -> float:
    return float(RecordSpace.of(task.table).losses(group, int(group.max()) + 1).sum() / task.table.rows)


def _k_member_task(subject: RankedTable) -> TableRequest:
    table = subject.sample(subject.max_level(ROWS), 0, 0).drop_columns([subject.sensitive])
    schema = replace(subject.schema, sensitive=[])
    return _task(table, schema, (sf.models.KAnonymity(k=10),), sf.algorithms.KMember())


def _task(table: pa.Table, schema: sf.Schema, models: Sequence[GroupModel], algorithm: TableAlgorithm) -> TableRequest:
    return build_request(
        Recipe(schema=schema, models=tuple(models), algorithm=algorithm, seed=1), table, ignore_progress
    )


def _unit(table: pa.Table, names: Sequence[str]) -> float:
    frame = pl.from_arrow(table.select(list(names)))
    return best_of(5, lambda: frame.group_by(names).len())[0]


def _numbers() -> tuple[pa.Table, Sequence[str], bool]:
    shared = _adult()
    if shared is None:
        return sf.datasets.generate_census(ROWS, seed=1).select(CENSUS_NUMBERS), CENSUS_NUMBERS, False
    return shared.slice(0, ROWS).select(NUMBERS), NUMBERS, True


def _ranked() -> RankedTable:
    shared = _adult()
    return generate_ranked_census() if shared is None else ranked_adult(shared)


def _adult() -> pa.Table | None:
    folder = os.environ.get("SFUMATO_SHARED_DATA")
    if folder is None:
        print("\nSFUMATO_SHARED_DATA is not set: a made-up census takes the place of Adult.")
        return None
    return sf.read(Path(folder) / "adult_full" / "adult_full.csv")


PARTS: dict[str, Callable[[], None]] = {
    "numbers": numbers,
    "growth": growth,
    "levels": levels,
    "million": million,
    "stream": stream,
}


if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
