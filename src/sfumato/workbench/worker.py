"""The worker: the process that holds the table and computes, one job after the other.

It reads jobs as lines of JSON and answers with lines of JSON: how far it is, then the result or the refusal. It ends
when its input closes.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sfumato.errors import SfumatoError
from sfumato.workbench._tasks import find_task

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.core.recipe import Recipe
    from sfumato.tables._pipeline.release import Release

BETWEEN = 0.1  # seconds between two messages on the same job
MAX_CACHED = 1  # releases that are kept in memory
# What the first job needs, loaded while the user chooses a table.
FIRST = (
    "sfumato.io._reading",
    "sfumato.tables.inspection.inspection",
    "sfumato.tables._pipeline.presets",
    "sfumato.report.sections.distributions",
)


class WorkerState:
    """What a worker holds of a project: its table, and the releases that it made last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._number: int | None = None
        self._table: pa.Table | None = None
        self._releases: OrderedDict[int, Release] = OrderedDict()

    def open_project(self, number: int | None) -> None:
        """Look at the table of some number from now on, and let go of another one and its releases."""
        if number != self._number:
            self._number, self._table = number, None
            self._releases.clear()

    @property
    def table(self) -> pa.Table:
        """The table as it was read, mapped."""
        if self._table is None:
            from sfumato.workbench._row_store import RowStore

            self._table = RowStore(self.folder / "tables" / str(self._number) / "original.arrow").table()
        return self._table

    def write(self, path: Path, text: str) -> None:
        """Write a file of the project, completely or not at all."""
        from sfumato.core._atomic_writes import atomic_path

        with atomic_path(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")

    def recipe(self, request: Mapping[str, Any]) -> Recipe:
        """Return the recipe that was sent along with a request."""
        from sfumato.core.recipe import Recipe

        return Recipe.from_dict(request["recipe"], self.folder)

    def release(self, number: int) -> Release:
        """Return the release of a candidate; it is made again if this process did not make it or let go of it."""
        if number not in self._releases:
            from sfumato.core.recipe import Recipe
            from sfumato.tables._pipeline.anonymize import run_recipe

            recipe = Recipe.read(self.folder / "candidates" / str(number) / "recipe.toml")
            self.cache_release(number, run_recipe(recipe, self.table))
        self._releases.move_to_end(number)
        return self._releases[number]

    def cache_release(self, number: int, release: Release) -> None:
        """Keep a release in memory, and let go of the one that was not used for longest."""
        self._releases[number] = release
        while len(self._releases) > MAX_CACHED:
            self._releases.popitem(last=False)


def main() -> None:
    """Serve jobs until the input closes; whatever else is printed goes to the error stream."""
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.meta_path.insert(0, BlockPandasImport())
    bench = WorkerState(Path(sys.argv[1]))
    for name in FIRST:
        import_module(name)
    for line in sys.stdin:
        job = json.loads(line)
        serve(bench, job, answers)
        release_memory()
        if job["verb"] == "open":
            threading.Thread(target=warm_up_kernels, daemon=True).start()


class BlockPandasImport(MetaPathFinder):
    """Say that there is no pandas, which pyarrow would load for the first list that it sees; nothing here needs it."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Refuse pandas, and leave other modules to others."""
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


def release_memory() -> None:
    """Give memory back to the system that the last job used and no other needs."""
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError):  # only the C library of Linux can be asked
        ctypes.CDLL(None).malloc_trim(0)


def warm_up_kernels() -> None:
    """Load the compiled loops, or compile them, while the user looks at the table."""
    from sfumato import _warmup

    _warmup.warm_up()


def serve(bench: WorkerState, job: Mapping[str, Any], answers: TextIO) -> None:
    """Run one job, and answer it."""
    last = 0.0

    def tell(done: float, note: str = "") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= BETWEEN:
            last = now
            _send_answer(
                answers, {"done": done, "note": note, "figures": getattr(note, "figures", {}), "memory": memory_usage()}
            )

    try:
        bench.open_project(job["table"])
        result = find_task(job["verb"]).load()(bench, job["request"], tell)
    except SfumatoError as error:
        advice = list(getattr(error, "advice", ()))
        _send_answer(answers, {"error": str(error), "kind": type(error).__name__, "advice": advice})
    except MemoryError:
        _send_answer(answers, {"error": "There is not enough memory for this table.", "kind": "MemoryError"})
    except Exception as error:  # noqa: BLE001 - its message may quote cells, so only its type and place are told
        sys.stderr.write("".join(traceback.format_tb(error.__traceback__)))
        sys.stderr.flush()
        told = f"An unexpected {type(error).__name__} occurred here; please report it as a bug."
        _send_answer(answers, {"error": told, "kind": type(error).__name__})
    else:
        _send_answer(answers, {"result": result})


def memory_usage() -> int:
    """Return the bytes of memory that this process uses, where the system tells; otherwise 0."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _send_answer(answers: TextIO, content: Mapping[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
