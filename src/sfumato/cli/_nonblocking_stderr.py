"""An error stream that nobody has to read: whoever writes to it never waits for its reader."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import queue
import sys
import threading
from typing import Any

MAX_PENDING = 10_000  # pieces of text that wait for a reader; what comes then is dropped
FLUSH_TIMEOUT = 1.0  # seconds at the end in which a reader must read something


def make_stderr_nonblocking() -> None:
    """Let all that is said on the error stream go through a thread, unless it is a terminal.

    A pipe that is full blocks whoever writes: the session with other parties, and the signal that is to end it.
    """
    if sys.stderr.isatty():
        return
    try:
        waiting = _BufferedStderr(sys.stderr.fileno())
    except OSError:  # captured in memory, which never blocks
        return
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(waiting), "utf-8", errors="replace", write_through=True)


class _BufferedStderr(io.RawIOBase):
    """What waits to be written to a file by a thread."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._pieces: queue.Queue[bytes] = queue.Queue(MAX_PENDING)
        self._written = threading.Event()
        threading.Thread(target=self._work, name="sfumato-errors", daemon=True).start()
        atexit.register(self._end)

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, piece: Any, /) -> int:
        """Take a piece, or drop it if too many wait."""
        text = bytes(piece)
        with contextlib.suppress(queue.Full):
            self._pieces.put_nowait(text)
        return len(text)

    def _work(self) -> None:
        while True:
            piece = self._pieces.get()
            while piece:
                try:
                    piece = piece[os.write(self._file, piece) :]
                except OSError:  # the reader is gone
                    break
                self._written.set()
            self._pieces.task_done()

    def _end(self) -> None:
        """Wait as long as somebody reads."""
        while self._pieces.unfinished_tasks:
            self._written.clear()
            if self._pieces.unfinished_tasks and not self._written.wait(FLUSH_TIMEOUT):
                return
