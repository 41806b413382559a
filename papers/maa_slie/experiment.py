"""The experiments on MAA-SLIE: entropy privacy protection, information loss and time over p, at two sizes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from papers._reproduction import Figure, Job, Reproduction, run_jobs
from papers.maa_slie._findings import (
    BLOCKS,
    GPKC,
    MAA_SLIE,
    SHOWN,
    LineParameters,
    MaaSliePoint,
    Measured,
    average_line,
    check_findings,
)
from papers.maa_slie.setting import LEVEL_WEIGHTS, MaaSlieGrid, RankedTable, generate_ranked_census
from sfumato._progress import Progress, ignore_progress
from sfumato.core.recipe import Recipe
from sfumato.errors import InfeasibleError
from sfumato.tables._pipeline.request import build_request
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.algorithms.microaggregation._space import RecordSpace
from sfumato.tables.algorithms.microaggregation.greedy_pk_clustering import GreedyPKClustering
from sfumato.tables.algorithms.microaggregation.maa_slie import MAASLIE
from sfumato.tables.metrics.entropy_protection import (
    entropy_privacy_protection,
    information_loss_rate,
    weighted_level_entropy,
)
from sfumato.tables.models.hpk_anonymity import HPKAnonymity
from sfumato.tables.published.groups import Groups

PARTS: Final = "abcdefgh"
WARM_ROWS: Final = 200
LARGE: Final = "-large"


def reproduce_maa_slie(
    grid: MaaSlieGrid | None = None,
    *,
    subject: RankedTable | None = None,
    workers: int = 1,
    progress: Progress = ignore_progress,
) -> Reproduction:
    """Repeat the experiments of Shi, Zhang, Dong 2024, and again on larger tables.

    Parameters
    ----------
    grid : the parameters; by default `MaaSlieGrid()`, which are the paper's.
    subject : the source of records; by default a made-up census.
    workers : the number of processes that measure at once.
    progress : is called with the share that is done.
    """
    grid = MaaSlieGrid() if grid is None else grid
    subject = generate_ranked_census() if subject is None else subject
    sizes: dict[int, int] = {}
    for rows, repetitions in grid.sizes.items():
        sizes.setdefault(subject.max_level(rows), repetitions)
    planned = _measurement_jobs(grid, subject, sizes)
    results = run_jobs([task for _, task in planned], workers=workers, progress=progress)
    measured: dict[LineParameters, dict[int, list[MaaSliePoint]]] = {}
    for (series, _), points in zip(planned, results, strict=True):
        for p, point in points.items():
            measured.setdefault(series, {}).setdefault(p, []).append(point)
    suffixes = {rows: "" if rows == min(sizes) else LARGE for rows in sorted(sizes)}
    return Reproduction.merge(
        Reproduction(tuple(_figures(measured, grid, rows, suffix)), tuple(check_findings(measured, grid, rows, suffix)))
        for rows, suffix in suffixes.items()
    )


def _measurement_jobs(
    grid: MaaSlieGrid, subject: RankedTable, sizes: Mapping[int, int]
) -> list[tuple[LineParameters, Job]]:
    """Return what to measure, the longest first: a line of one repetition each."""
    forms = dict.fromkeys([*grid.settings, *((1, k) for _, k in grid.settings)])
    planned: list[tuple[LineParameters, Job]] = []
    for rows in sorted(sizes, reverse=True):
        for repetition in range(sizes[rows]):
            for method in (MAA_SLIE, GPKC) if rows == min(sizes) else (MAA_SLIE, GPKC, BLOCKS):
                for h, k in grid.settings if method == BLOCKS else forms:
                    series = LineParameters(rows, method, h, k)
                    planned.append((series, (measure_line, (subject, series, grid, repetition))))
    return planned


def measure_line(
    subject: RankedTable, series: LineParameters, grid: MaaSlieGrid, repetition: int
) -> dict[int, MaaSliePoint]:
    """Partition a table for every p, and measure; loops are compiled beforehand on a few records."""
    table = subject.sample(series.rows, grid.seed, repetition)
    measure_partition(subject, table.slice(0, WARM_ROWS), series, grid.values[0], seed=grid.seed, index=grid.index)
    return {
        p: measure_partition(subject, table, series, p, seed=grid.seed + repetition, index=grid.index)
        for p in grid.values
    }


def measure_partition(
    subject: RankedTable,
    table: pa.Table,
    series: LineParameters,
    p: int,
    *,
    seed: int,
    index: Literal["mean", "sum"] = "mean",
) -> MaaSliePoint:
    """Partition a table and measure the parts like the paper; nothing if p or the table does not allow it."""
    name = subject.sensitive
    levels = {value: subject.levels[value] for value in pc.unique(table[name]).to_pylist()}
    weights = {str(level): LEVEL_WEIGHTS[level] for level in sorted(set(levels.values()))}
    if not series.h <= p <= series.k:
        return MaaSliePoint()
    model = HPKAnonymity(h=series.h, p=p, k=series.k, sensitive=name, sensitivity_levels=levels)
    algorithm = _algorithm(series.method, weights, index)
    try:
        task = build_request(
            Recipe(schema=subject.schema, models=(model,), algorithm=algorithm, seed=seed), table, ignore_progress
        )
    except InfeasibleError:
        return MaaSliePoint()
    begin = time.process_time()
    group = algorithm.search(task).group
    seconds = time.process_time() - begin
    count = int(group.max()) + 1
    groups = Groups.from_rows(group, count, task.table.sensitive)
    losses = RecordSpace.of(task.table).losses(group, count)
    entropies = weighted_level_entropy(groups, name, levels, weights)
    return MaaSliePoint(
        entropy_privacy_protection(entropies),
        information_loss_rate(losses, table.num_rows),
        seconds,
        float(np.median(entropies)),
        float(np.median(losses / groups.sizes)),
    )


def _algorithm(method: str, weights: Mapping[str, float], index: Literal["mean", "sum"]) -> TableAlgorithm:
    if method == GPKC:
        return GreedyPKClustering()
    return MAASLIE(level_weights=weights, approximate=method == BLOCKS, index=index)


def _figures(measured: Measured, grid: MaaSlieGrid, rows: int, suffix: str) -> Iterable[Figure]:
    """Draw figures 2, 3 and 4, one part for every H and k."""
    for shown in SHOWN:
        for part, (h, k) in zip(PARTS, grid.settings, strict=False):
            drawn = [(h, MAA_SLIE), (1, MAA_SLIE), (h, GPKC), (1, GPKC), *([(h, BLOCKS)] if suffix else [])]
            lines = tuple(
                average_line(
                    measured,
                    LineParameters(rows, method, form, k),
                    shown.value,
                    f"({'H,' * (form > 1)}p,k)-{method}",
                    median=shown.beside is None,
                )
                for form, method in drawn
            )
            title = f"{shown.title}, H={h}, k={k}, {rows:,} records"
            yield Figure(f"{shown.number}{part}{suffix}", title, "p", shown.label, lines)
