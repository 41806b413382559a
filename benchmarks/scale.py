"""Tables beyond memory: releases of 10, 50 and 100 million rows by the command line, and by Spark.

    python benchmarks/scale.py duckdb --rows 10 50 100 --columns 6 9 [--memory 2GB] [--folder FOLDER]
    python benchmarks/scale.py spark --rows 10 50 --columns 6

The table is a made-up census, in files of one million rows. Beyond 5 million rows the occupation, hours and salary of
people of one sex and education are dealt anew among them, and postcodes are drawn anew. Times are processor seconds of
all processes; a release is compared with copying the table by the same engine, and with one GROUP BY, in the same run.
Targets, as ratios to copying: by DuckDB 3.5 counted (6 columns, peak 1 GB) and 6 segmented (9 columns, 10 million rows,
peak 1.5 GB; 8 at 100 million); by Spark 3 and 7. Releases of the same size have the same digest whatever engine made
them; `--equal` makes one in memory, too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf

PART = 1_000_000
GENERATED = 5
SIX = ["sex", "age", "relationship", "marital_status", "race", "education"]
NINE = [*SIX, "hours_per_week", "occupation", "postcode"]
DEALT = ["hours_per_week", "occupation", "salary"]
POSTCODES = 10_000
TREE_EVERY = 0.2  # seconds


def main() -> None:
    """Print the figures of every size."""
    parser = argparse.ArgumentParser(description="Measure releases of tables beyond memory.")
    parser.add_argument("engine", choices=["duckdb", "spark"])
    parser.add_argument("--rows", type=int, nargs="+", default=[10], help="in millions")
    parser.add_argument("--columns", type=int, nargs="+", choices=[6, 9], default=[6, 9])
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--sensitive", action="store_true", help="judge the salaries of every group, too")
    parser.add_argument("--equal", action="store_true", help="compare with a release made in memory")
    parser.add_argument("--folder", type=Path, help="where the table is, or is made; by default a temporary one")
    parser.add_argument("--unit", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.unit:
        unit(asked)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        for millions in asked.rows:
            parts = census(folder, millions)
            for columns in asked.columns:
                measure(asked, parts, SIX if columns == len(SIX) else NINE, folder)


def census(folder: Path, millions: int) -> list[Path]:
    """Make the files of the census that are missing, and return as many as asked for."""
    parts = [folder / f"census-{number:03}.parquet" for number in range(millions)]
    base: list[pa.Table] = []
    for number, part in enumerate(parts):
        if part.exists():
            continue
        while len(base) <= number % GENERATED:
            base.append(sf.datasets.generate_census(PART, seed=len(base)))
        table = base[number % GENERATED]
        rng = np.random.default_rng(number)
        table = table if number < GENERATED else _dealt(table, rng)
        pq.write_table(table.append_column("postcode", _postcodes(rng)), part)
    return parts


def _dealt(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """Deal some columns anew among the people of one sex and education."""
    cells = np.zeros(table.num_rows, dtype=np.int64)
    for name in ("sex", "education"):
        coded = table[name].combine_chunks().dictionary_encode()
        cells = cells * len(coded.dictionary) + coded.indices.to_numpy()
    order = rng.permutation(table.num_rows)
    order = order[np.argsort(cells[order], kind="stable")]
    source = np.empty_like(order)
    source[np.argsort(cells, kind="stable")] = order
    for name in DEALT:
        table = table.set_column(table.schema.get_field_index(name), name, table[name].take(pa.array(source)))
    return table


def _postcodes(rng: np.random.Generator) -> pa.Array:
    weights = 1 / np.arange(1, POSTCODES + 1) ** 0.8
    drawn = rng.choice(POSTCODES, PART, p=weights / weights.sum()) + POSTCODES
    return pa.DictionaryArray.from_arrays(
        pa.array((drawn - POSTCODES).astype(np.int32)),
        pa.array([str(POSTCODES + code) for code in range(POSTCODES)]),
    ).cast(pa.string())


@dataclass(frozen=True)
class Cost:
    """What a command took: processor seconds and the peak of memory, of all its processes, and wall time."""

    processor: float
    wall: float
    peak: float

    def __str__(self) -> str:
        return f"{self.processor:.1f} processor s, {self.wall:.1f} s, peak {self.peak:.2f} GB"


def run(command: list[str]) -> Cost:
    """Run a command, and watch what it and all its children take (Linux)."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    seen = Seen()
    watching = threading.Thread(target=_watch, args=(process.pid, seen))
    watching.start()
    _, status, used = os.wait4(process.pid, 0)
    watching.join()
    if status:
        raise SystemExit(f"{' '.join(command[:4])} failed")
    processor = max(sum(seen.ticks.values()) / os.sysconf("SC_CLK_TCK"), used.ru_utime + used.ru_stime)
    return Cost(processor, time.perf_counter() - start, max(seen.peak, seen.highest) / 1e9)


@dataclass
class Seen:
    """What was seen of a process and its descendants, some of which nobody waits for: the peak, and their ticks.

    `highest` is the peak of the process alone, of which the system keeps track between two looks. (What it tells of a
    process that has ended counts the memory of the one that started it, too.)
    """

    peak: int = 0
    highest: int = 0
    ticks: dict[int, int] = field(default_factory=dict)


def _watch(root: int, seen: Seen) -> None:
    """Add up the memory of a process and its descendants until it ends; shared pages count once (PSS)."""
    while (mine := _memory(root, "smaps_rollup", "Pss:")) > 0:
        total, waiting = mine, _children(root)
        seen.highest = max(seen.highest, _memory(root, "status", "VmHWM:"))
        _count_ticks(root, seen)
        while waiting:
            pid = waiting.pop()
            total += _memory(pid, "smaps_rollup", "Pss:")
            _count_ticks(pid, seen)
            waiting += _children(pid)
        seen.peak = max(seen.peak, total)
        time.sleep(TREE_EVERY)


def _memory(pid: int, file: str, what: str) -> int:
    """Read how many bytes the system tells of a process; none if it has ended."""
    told = ""
    with suppress(OSError):
        told = Path(f"/proc/{pid}/{file}").read_text(encoding="utf-8")
    return sum(int(line.split()[1]) for line in told.splitlines() if line.startswith(what)) * 1024


def _children(pid: int) -> list[int]:
    """List the processes that a process has started; its threads, which know them, come and go."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def _count_ticks(pid: int, seen: Seen) -> None:
    with suppress(OSError):
        spent = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
        seen.ticks[pid] = sum(map(int, spent))


def measure(asked: argparse.Namespace, parts: list[Path], quasi: list[str], folder: Path) -> None:
    """Make one release, and compare it with copying the table and with grouping it."""
    work = Path(tempfile.mkdtemp(dir=folder, prefix="scale-"))
    try:
        table = work / "census"
        table.mkdir()
        for part in parts:
            (table / part.name).symlink_to(part.resolve())
        print(f"{asked.engine}, {len(parts)} million rows, {len(quasi)} quasi-identifiers, k = {asked.k}", flush=True)
        options = ["--memory", asked.memory, "--k", str(asked.k), *(["--sensitive"] if asked.sensitive else [])]
        unit = [sys.executable, __file__, asked.engine, *options, "--unit"]
        copied = run([*unit, "copy", str(table), str(work / "copy")])
        shutil.rmtree(work / "copy")
        print(f"  copy: {copied}", flush=True)
        grouped = run([*unit, "group", str(table), ",".join(quasi)])
        print(f"  one GROUP BY: {grouped}", flush=True)
        out = work / "release"
        if asked.engine == "duckdb":
            released = run(_command(asked, table, quasi, out))
        else:
            released = run([*unit, "release", str(table), str(out), ",".join(quasi)])
        print(f"  release: {released}")
        ratios = released.processor / copied.processor, released.processor / grouped.processor
        print(f"  ratio to copying {ratios[0]:.2f}, to one GROUP BY {ratios[1]:.2f}")
        facts = json.loads((out / "internal" / "report.json").read_text(encoding="utf-8"))
        print(f"  the report says: {facts['engine']}", flush=True)
        print(f"  digest of its rows: {_written(out)}", flush=True)
        if asked.equal:
            print("  the same, made in memory: ", end="", flush=True)
            subprocess.run([*unit, "memory", str(table), ",".join(quasi)], check=True)  # noqa: S603 - our own command
    finally:
        shutil.rmtree(work)


def _command(asked: argparse.Namespace, table: Path, quasi: list[str], out: Path) -> list[str]:
    """Return the command that makes a release."""
    schema = _schema(quasi, sensitive=asked.sensitive)
    roles = {"--quasi": schema.quasi_identifiers, "--sensitive": schema.sensitive, "--insensitive": schema.insensitive}
    columns = [word for option, names in roles.items() if names for word in (option, ",".join(names))]
    given = ["--k", str(asked.k), "--seed", "1", "--engine", "duckdb", "--memory", asked.memory]
    command = [str(Path(sys.executable).with_name("sfumato")), "anonymize", str(table), "--out", str(out)]
    return [*command, *columns, *given, "--format", "parquet", "--quiet"]


def _schema(quasi: list[str], *, sensitive: bool) -> sf.Schema:
    others = [name for name in [*NINE, "salary"] if name not in quasi]
    return sf.Schema(
        quasi_identifiers=quasi,
        sensitive=["salary"] if sensitive else [],
        insensitive=[name for name in others if name != "salary" or not sensitive],
    )


def _in_memory(asked: argparse.Namespace, table: str, quasi: list[str]) -> str:
    """Make the same release in memory, and digest its rows."""
    schema = _schema(quasi, sensitive=asked.sensitive)
    made = sf.anonymize(table, schema, [sf.models.KAnonymity(k=asked.k)], seed=1, engine="memory")
    work = duckdb.connect()
    work.register("released", made.published)
    return _digest(work, "released")


def _written(out: Path) -> str:
    return _digest(duckdb.connect(), f"read_parquet('{out}/public/table/*.parquet')")


def _digest(work: duckdb.DuckDBPyConnection, rows: str) -> str:
    """Digest published rows so that their order does not matter."""
    names = ", ".join(f'CAST("{name}" AS VARCHAR)' for name in sorted([*NINE, "salary"]))
    ((digest,),) = work.execute(f"SELECT sum(CAST(hash({names}) AS HUGEINT)) FROM {rows}").fetchall()  # noqa: S608 - our own names
    return f"{digest:x}"


def unit(asked: argparse.Namespace) -> None:
    """Do one thing that is measured, alone in its process."""
    what, table, *rest = asked.unit
    if what == "memory":
        print(_in_memory(asked, table, rest[0].split(",")))
        return
    if asked.engine == "spark":
        _spark_unit(asked, what, table, rest)
        return
    settings = {"memory_limit": asked.memory, "threads": 2, "preserve_insertion_order": False}
    work = duckdb.connect(config={**settings, "temp_directory": f"{table}/spilled"})
    files = f"read_parquet('{table}/*.parquet')"
    if what == "copy":
        work.execute(f"COPY (SELECT * FROM {files}) TO '{rest[0]}' (FORMAT parquet, PER_THREAD_OUTPUT)")  # noqa: S608 - our own names
    else:
        names = rest[0]
        work.execute(f"SELECT count(*) FROM (SELECT {names}, count(*) FROM {files} GROUP BY {names})").fetchone()  # noqa: S608 - our own names


def _spark_unit(asked: argparse.Namespace, what: str, table: str, rest: list[str]) -> None:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.driver.memory": "3g", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "8"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    frame = session.read.parquet(table)
    if what == "copy":
        frame.write.parquet(rest[0])
    elif what == "group":
        frame.groupBy(*rest[0].split(",")).count().agg({"count": "sum"}).collect()
    else:
        out, quasi = rest
        sf.anonymize(
            frame,
            _schema(quasi.split(","), sensitive=asked.sensitive),
            [sf.models.KAnonymity(k=asked.k)],
            seed=1,
            engine="spark",
            memory=asked.memory,
            out=out,
        )
    session.stop()


if __name__ == "__main__":
    main()
