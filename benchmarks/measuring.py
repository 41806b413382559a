"""What every benchmark needs: warm times, peak memory, the built-in population, and the yardstick."""

from __future__ import annotations

import gc
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import sfumato as sf
from sfumato.datasets import hospital

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

Result = TypeVar("Result")
os.environ.setdefault("SFUMATO_COMPILE", "always")  # benchmarks are warm: the first of several runs compiles

QUASI = ("age", "sex", "zip", "marital_status", "education", "job", "nationality", "admission")


def schema() -> sf.Schema:
    """Describe the built-in population with its eight quasi-identifiers."""
    return sf.Schema(
        identifiers=["name"],
        quasi_identifiers=QUASI,
        sensitive=["disease"],
        insensitive=["cost"],
        hierarchies={
            "zip": sf.hierarchies.Prefixes(),
            "marital_status": sf.hierarchies.Taxonomy(hospital.MARITAL),
            "job": sf.hierarchies.Taxonomy(hospital.JOBS),
            "nationality": sf.hierarchies.Taxonomy(hospital.COUNTRIES),
            "disease": sf.hierarchies.Taxonomy(hospital.DISEASES),
        },
        orders={"education": hospital.EDUCATION_ORDER},
    )


def best_of(runs: int, work: Callable[[], Result]) -> tuple[float, Result]:
    """Run some work several times and keep the shortest time; what is compiled on the first run is warm on the next."""
    shortest = float("inf")
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        result = work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


@dataclass(frozen=True)
class Cost:
    """The shortest time of several runs, and the fewest processor seconds: of all threads, whoever else works."""

    seconds: float
    busy: float

    def beside(self, unit: Cost, most: float | None = None) -> str:
        """Tell both as ratios to a unit measured in the same run, with the target; processor seconds decide."""
        times, ratio = self.seconds / unit.seconds, self.busy / unit.busy
        said = f"{times:.2f} times, {ratio:.2f} in processor seconds"
        return said if most is None else f"{said} (target {most:g}: {'met' if ratio <= most else 'MISSED'})"


def cost_of(runs: int, work: Callable[[], Result]) -> tuple[Cost, Result]:
    """Run some work several times and keep the least of each; what is compiled on the first run is warm on the next."""
    least = Cost(float("inf"), float("inf"))
    for _ in range(runs):
        gc.collect()
        start, begin = time.perf_counter(), time.process_time()
        result = work()
        least = Cost(min(least.seconds, time.perf_counter() - start), min(least.busy, time.process_time() - begin))
    return least, result


def group_by(table: pa.Table, names: Sequence[str], runs: int = 3) -> Cost:
    """Measure one Polars `group_by` of some columns as they are."""
    import polars as pl

    frame = pl.from_arrow(table.select(list(names)))
    return cost_of(runs, lambda: frame.group_by(names).len())[0]


def peak_above(work: Callable[[], Result]) -> tuple[float, Result]:
    """Run some work and tell by how many GB the memory of this process rose at most (Linux)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _memory("VmRSS")
    result = work()
    return (_memory("VmHWM") - before) / 1e6, result


def yardstick(table: pa.Table) -> dict[str, float]:
    """Time one Polars `group_by` of the eight columns, as they are and as integer codes."""
    import polars as pl

    from sfumato.encoding.coded_table import encode_table

    raw = pl.from_arrow(table.select(QUASI))
    coded = pl.DataFrame({column.name: column.codes for column in encode_table(table, schema()).quasi})
    return {
        "as they are": best_of(3, lambda: raw.group_by(QUASI).len())[0],
        "as codes": best_of(3, lambda: coded.group_by(QUASI).len())[0],
    }


def _memory(what: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(what):
            return float(line.split()[1])
    raise RuntimeError(what)
