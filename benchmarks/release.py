"""What follows the search: writing a release with and without its report, and the whole command.

    python benchmarks/release.py [--rows 200000 1000000] [--whole 3000000] [--first 1000000]

All figures are ratios in one run. Targets: `write` with the full report at most 1.5 times `anonymize`; without it
about what writing the table costs; the whole command on 3 million rows of Parquet at most 6 times, of CSV without
report at most 4 times reading, grouping and writing the same file by Polars; the first command ever, with an empty
cache of compiled loops, at most 1.5 times the second, by Mondrian and by local recoding.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

import sfumato as sf
from measuring import QUASI, best_of, schema
from sfumato.core.recipe import Recipe
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.models.base import GroupModel

MODELS = (sf.models.KAnonymity(k=5), sf.models.DistinctLDiversity(l=3, sensitive="disease"))


def main() -> None:
    """Print the ratios of every size."""
    parser = argparse.ArgumentParser(description="Measure what follows the search.")
    parser.add_argument("--rows", type=int, nargs="*", default=[200_000, 1_000_000])
    parser.add_argument("--whole", type=int, default=3_000_000)
    parser.add_argument("--first", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for rows in asked.rows:
            measure_writing(rows, Path(folder))
        for suffix in ("parquet", "csv") if asked.whole else ():
            measure_command(asked.whole, Path(folder), suffix)
        for algorithm in (sf.algorithms.Mondrian(), sf.algorithms.LocalRecoding()) if asked.first else ():
            measure_first(asked.first, Path(folder), algorithm)


def measure_writing(rows: int, folder: Path) -> None:
    """Compare writing a release with making it."""
    table = sf.datasets.generate_hospital(rows, seed=1)
    made, _ = best_of(2, lambda: sf.anonymize(table, schema(), MODELS, seed=1))
    times = {}
    for name, report, table_format in (
        ("full report, CSV", True, "csv"),
        ("no report, CSV", False, "csv"),
        ("full report, Parquet", True, "parquet"),
        ("no report, Parquet", False, "parquet"),
    ):
        shortest = float("inf")
        for attempt in range(2):
            release = sf.anonymize(table, schema(), MODELS, seed=1)
            start = time.perf_counter()
            release.write(folder / f"{rows}-{name}-{attempt}", report=report, table_format=table_format)
            shortest = min(shortest, time.perf_counter() - start)
        times[name] = shortest
    plain, _ = best_of(2, lambda: sf.write(release.frame, folder / "plain.csv"))
    print(f"{rows:,} rows: anonymize {made:.2f} s; writing its table alone, as CSV, {plain / made:.2f} of that")
    for name, seconds in times.items():
        print(f"  write, {name}: {seconds / made:.2f} of anonymize")


def measure_command(rows: int, folder: Path, suffix: str) -> None:
    """Compare the whole command with reading, grouping and writing the file by Polars."""
    source = _source(rows, folder, suffix)

    def plain() -> None:
        if suffix == "csv":
            table = pl.read_csv(source, schema_overrides={"zip": pl.String})
            table.group_by(QUASI).len()
            table.write_csv(folder / "copy.csv")
            return
        table = pl.read_parquet(source)
        table.group_by(QUASI).len()
        table.write_parquet(folder / "copy.parquet")

    unit, _ = best_of(2, plain)
    begin = _processor(resource.RUSAGE_SELF)
    plain()
    work = _processor(resource.RUSAGE_SELF) - begin
    for name, options, most in (("with its report", [], _REPORTED[suffix]), ("without report", ["--no-report"], 4)):
        seconds, worked = _command(source, folder / f"{suffix} {name}", suffix, options)
        print(
            f"{rows:,} rows of {suffix}, whole command {name}: {seconds:.1f} s, {seconds / unit:.1f} times Polars "
            f"({worked / work:.1f} times its processor seconds){_judged(worked / work, most)}",
            flush=True,
        )


_REPORTED = {"parquet": 6, "csv": None}  # times allowed for a command that writes the report, too


def _judged(ratio: float, most: float | None) -> str:
    return "" if most is None else f", target {most:g}: {'met' if ratio <= most else 'MISSED'}"


def measure_first(rows: int, folder: Path, algorithm: TableAlgorithm) -> None:
    """Compare the first command on a machine, with an empty cache of compiled loops, with one after these are ready.

    What another process compiles meanwhile, at low priority, is not counted.
    """
    models = MODELS if isinstance(algorithm, sf.algorithms.Mondrian) else MODELS[:1]
    source = _source(rows, folder, "csv", models, algorithm)
    cache = {**os.environ, "NUMBA_CACHE_DIR": str(folder / f"cache of {algorithm.name}")}
    cache.pop("SFUMATO_COMPILE")
    first = _command(source, folder / f"first {algorithm.name}", "csv", [], cache)
    subprocess.run([sys.executable, "-m", "sfumato", "warmup"], check=True, env=cache, stdout=subprocess.DEVNULL)
    second = _command(source, folder / f"second {algorithm.name}", "csv", [], cache)
    ratios = [one / other for one, other in zip(first, second, strict=True)]
    print(
        f"{rows:,} rows: the first command ({algorithm.name}) takes {ratios[0]:.2f} times the second "
        f"({ratios[1]:.2f} in processor seconds{_judged(ratios[1], 1.5)})",
        flush=True,
    )


def _source(
    rows: int,
    folder: Path,
    suffix: str,
    models: tuple[GroupModel, ...] = MODELS,
    algorithm: TableAlgorithm | None = None,
) -> Path:
    recipe = Recipe(schema=schema(), models=models, algorithm=algorithm or sf.algorithms.Mondrian(), seed=1)
    (folder / "recipe.toml").write_text(recipe.to_toml(), "utf-8")
    source = folder / f"people-{rows}.{suffix}"
    if not source.exists():
        sf.write(sf.datasets.generate_hospital(rows, seed=1), source)
    return source


def _command(
    source: Path, out: Path, suffix: str, options: list[str], environment: dict[str, str] | None = None
) -> tuple[float, float]:
    """Anonymize a file by the command line; return seconds and processor seconds."""
    command = [
        sys.executable,
        "-m",
        "sfumato",
        "anonymize",
        str(source),
        "--recipe",
        str(source.parent / "recipe.toml"),
    ]
    out_options = ["--out", str(out), "--format", suffix, *options]
    start, begin = time.perf_counter(), _processor(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, *out_options], check=True, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603 - ours
    return time.perf_counter() - start, _processor(resource.RUSAGE_CHILDREN) - begin


def _processor(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
