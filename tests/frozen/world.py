"""A process whose random numbers, clock and environment are fixed, so that the same code writes the same bytes."""

from __future__ import annotations

import builtins
import datetime as dt
import hashlib
import itertools
import os
import random
import tempfile
import time
import types
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

NOW = dt.datetime(2026, 1, 1, 12, 0, tzinfo=dt.UTC)
SETTINGS = {"COLUMNS": "100", "TZ": "UTC", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
PACKAGE = "sfumato."  # whose modules read the fixed clock


class _AnyTime(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, dt.datetime)


class FixedClock(dt.datetime, metaclass=_AnyTime):
    """A `datetime` class that always returns the same time."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:
        """Return the fixed time."""
        return NOW.astimezone(tz) if tz else NOW.replace(tzinfo=None)


def begin(processors: int = 0) -> None:
    """Fix the clock and the settings of a process that has not imported the package yet.

    Parameters
    ----------
    processors : the number of processors that the process reports; 0 for the real one.
    """
    import numpy.random  # noqa: F401 - draws a seed when it is imported

    os.environ.update(SETTINGS)
    time.tzset()
    stopped = types.ModuleType("datetime")
    vars(stopped).update({**vars(dt), "datetime": FixedClock})
    load = builtins.__import__

    def loaded(name: str, within: Any = None, *others: Any, **more: Any) -> Any:
        ours = name == "datetime" and str((within or {}).get("__name__")).startswith(PACKAGE)
        return stopped if ours else load(name, within, *others, **more)

    builtins.__import__ = loaded
    if processors:
        os.sched_getaffinity = lambda _: set(range(processors))  # type: ignore[attr-defined]
        os.cpu_count = lambda: processors


@contextmanager
def fixed(name: str) -> Iterator[Path]:
    """Work in a new folder, where the operating system's random bytes are a stream of this name."""
    numbers = itertools.count()

    def drawn(size: int) -> bytes:
        return hashlib.shake_256(f"{name} {next(numbers)}".encode()).digest(size)

    with tempfile.TemporaryDirectory() as place:
        folder, state = Path(place, "work"), Path(place, "state")
        folder.mkdir()
        with (
            chdir(folder),
            patch.object(os, "urandom", drawn),
            patch.object(random, "_urandom", drawn),
            patch.object(tempfile, "tempdir", place),
            patch.dict(os.environ, {"XDG_STATE_HOME": str(state)}),
        ):
            yield folder
