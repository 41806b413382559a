"""How many threads work at once."""

from __future__ import annotations

import os


def worker_count() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
