"""Whether compiled loops stand ready, and what happens until they do: NumPy works, and another process compiles.

Compiling takes longer than most searches. So the first ones do without: every loop that decides here has a plain twin
with the same results. A stamp beside the cache of compiled code says that all loops are there for this machine.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

COMPILE = "SFUMATO_COMPILE"  # "always": whoever comes first waits; "never": NumPy only
PACKAGE = Path(__file__).parents[2]
KERNELS = Path(__file__).parent
WORTH_WAITING = 4_000_000  # rows, from which on NumPy would take longer than compiling
GIVEN_UP = 600.0  # seconds, after which another process is believed to have failed


class _ProcessState:
    """What this process has found out."""

    ready = False
    begun = False


def should_compile_for(rows: int, least: int, worth_waiting: int = WORTH_WAITING) -> bool:
    """Decide whether compiled loops work on so many rows; if they are worth it but not ready, have them compiled.

    Parameters
    ----------
    rows : how many rows there are.
    least : below so many, NumPy is as fast.
    worth_waiting : from so many on, compiling first is faster than NumPy.
    """
    how = os.environ.get(COMPILE, "")
    if rows < least or how == "never":
        return False
    if how == "always" or rows >= worth_waiting or is_cache_warm():
        return True
    compile_in_background()
    return False


def is_cache_warm() -> bool:
    """Return whether all loops were compiled for this machine, these sources and these versions."""
    _ProcessState.ready = _ProcessState.ready or stamp_path().exists()
    return _ProcessState.ready


def mark_ready() -> None:
    """Leave the stamp, where that can be written."""
    with suppress(OSError):
        stamp_path().parent.mkdir(parents=True, exist_ok=True)
        stamp_path().touch()
    with suppress(OSError):
        _lock().unlink(missing_ok=True)
    _ProcessState.ready = True


def compile_in_background() -> None:
    """Compile all loops in another process of low priority, unless one does so already; nobody waits for it."""
    if _ProcessState.begun or not sys.executable or getattr(sys, "frozen", False):
        return
    _ProcessState.begun = True
    with suppress(OSError):
        _take_lock()
        found = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))
        subprocess.Popen(
            [sys.executable, "-m", "sfumato._warmup"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": found},
        )


def kernel_files() -> list[Path]:
    """Return the files with compiled loops: every module `_kernels`, and all modules of packages of that name."""
    return sorted([*PACKAGE.rglob("_kernels.py"), *PACKAGE.rglob("_kernels/*.py")])


def stamp_path() -> Path:
    """Return the file that says that everything is compiled; its name tells for what."""
    facts = [sys.version, platform.machine(), _processor(), version("numba"), version("numpy")]
    for source in kernel_files():
        about = source.stat()
        facts.append(f"{source.relative_to(PACKAGE).as_posix()} {about.st_mtime_ns} {about.st_size}")
    return _folder() / f"sfumato-compiled-{hashlib.sha256('|'.join(facts).encode()).hexdigest()[:16]}"


def _folder() -> Path:
    """Find the folder of the stamp: where Numba keeps what is compiled or, if it cannot write there, the user's own."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    if os.access(KERNELS, os.W_OK):
        return KERNELS / "__pycache__"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sfumato"


def _processor() -> str:
    """Name the processor and what it can do, for which code is compiled."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return "|".join(
        sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))})
    )


def _lock() -> Path:
    return stamp_path().with_suffix(".lock")


def _take_lock() -> None:
    """Leave a file that says that a process compiles; fail if there is one, unless it is old."""
    path = _lock()
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        if time.time() - path.stat().st_mtime > GIVEN_UP:
            path.unlink()
    path.touch(exist_ok=False)
