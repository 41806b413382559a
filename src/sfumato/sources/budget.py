"""How much memory a run may take."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sfumato.exceptions import InvalidParameterError

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B)\s*", re.IGNORECASE)
MIN_BUDGET = 50 * 10**6
MIN_DUCKDB_BUDGET = 150 * 10**6  # for DuckDB to sort and to count with a few threads
GROUPS = Path("/sys/fs/cgroup")
FREE = Path("/proc/meminfo")


def parse_memory_budget(memory: str | None) -> int:
    """Read a size such as "4GB" as bytes; by default half of what is free.

    >>> parse_memory_budget("1.5GB")
    1500000000
    """
    if memory is None:
        return max(measure_free_memory() // 2, MIN_BUDGET)
    found = SIZE.fullmatch(memory)
    known = {unit.upper(): size for unit, size in UNITS.items()}
    size = int(float(found[1]) * known.get(found[2].upper(), 0)) if found else 0
    if size < MIN_BUDGET:
        raise InvalidParameterError(
            f'memory must be a size of at least 50MB, such as "4GB" or "512MB"; got {memory!r}.'
        )
    return size


def get_duckdb_share(budget: int) -> int:
    """Return how many bytes of a budget DuckDB counts as its own; it takes more, as do Arrow, Python and the search."""
    return max(budget // 4, min(budget // 2, MIN_DUCKDB_BUDGET))


def measure_free_memory() -> int:
    """Return how many bytes are free for this process, as far as the system tells."""
    free = _read_meminfo()
    limit, used = _read_number(GROUPS / "memory.max"), _read_number(GROUPS / "memory.current")
    if limit is not None and used is not None:
        free = min(free, limit - used)
    return max(free, MIN_BUDGET)


def _read_meminfo() -> int:
    try:
        lines = FREE.read_text().splitlines()
    except OSError:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 4 * 10**9
    values = {line.partition(":")[0]: line.split()[1] for line in lines if ":" in line}
    return int(values.get("MemAvailable", values.get("MemFree", 0))) * 1024


def _read_number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
