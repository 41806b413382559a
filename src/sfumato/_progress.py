"""How long work says how far it is, and a bar that shows it on a terminal and in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from html import escape
from typing import Any, Protocol, Self, TypeVar

UPDATE_INTERVAL = 1.0  # seconds after which somebody who listens is told again
Result = TypeVar("Result")


class Progress(Protocol):
    """A function called with the share of the work done, in [0, 1], and a note on its state; it may raise to stop."""

    def __call__(self, done: float, note: str = "") -> None:
        """Show the progress."""


class ProgressNote(str):
    """A note on the state of a search that also knows its figures: the least loss found, and a lower bound.

    >>> note = ProgressNote("loss 0.5, lower bound 0.25", found=0.5, bound=0.25)
    >>> note, note.figures
    ('loss 0.5, lower bound 0.25', {'found': 0.5, 'bound': 0.25})
    """

    __slots__ = ("figures",)

    figures: dict[str, float]

    def __new__(cls, text: str, **figures: float) -> Self:
        """Write the note."""
        made = super().__new__(cls, text)
        made.figures = figures
        return made


def ignore_progress(done: float, note: str = "") -> None:
    """Show no progress."""


def scale_progress(tell: Progress, start: float, end: float) -> Progress:
    """Return what is told the progress of a part of the work.

    >>> scale_progress(lambda done, note="": print(done, note), 0.5, 1.0)(0.5, "linkage")
    0.75 linkage
    """
    return lambda done, note="": tell(start + (end - start) * done, note)


def wait_for_futures(begun: Sequence[Future[Any]], beat: Callable[[], None]) -> None:
    """Wait until all work is done or some of it has failed, and call `beat` every second from this thread.

    If `beat` raises, work that has not begun is dropped, and what is underway is left to end.
    """
    try:
        while True:
            done, left = wait(begun, UPDATE_INTERVAL, FIRST_EXCEPTION)
            if not left or any(each.exception() is not None for each in done):
                break
            beat()
    finally:
        for each in begun:
            each.cancel()


def run_with_progress(work: Callable[[Progress], Result], tell: Progress) -> Result:
    """Do work in another thread; what it says last is told every second from this one, which may raise to stop it."""
    if tell is ignore_progress:
        return work(ignore_progress)
    said: tuple[float, str] = (0.0, "")
    stopped = False

    def heard(done: float, note: str = "") -> None:
        nonlocal said
        said = (done, note)
        if stopped:
            raise InterruptedError

    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(work, heard)
        try:
            tell(0.0)
            wait_for_futures([begun], lambda: tell(*said))
        finally:
            stopped = True
    return begun.result()


@contextmanager
def open_progress(progress: Progress | bool, title: str) -> Iterator[Progress]:
    """Yield what is told the progress: a function as it is, a bar for True, nothing for False."""
    if progress is True:
        with open_progress_bar(title) as tell:
            yield tell
    else:
        yield ignore_progress if progress is False else progress


@contextmanager
def open_progress_bar(title: str) -> Iterator[Progress]:
    """Show a bar in the notebook that this runs in, or else on the error stream; it disappears at the end."""
    shown = _notebook_display()
    if shown is not None:
        yield from _show_in_notebook(shown, title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[note]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(title, total=None, note="")

        def tell(done: float, note: str = "") -> None:
            drawn.update(task, total=1.0, completed=done, note=note)

        yield tell


def _notebook_display() -> Any:
    """Return what displays HTML in the notebook that this runs in; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        return None
    from importlib import import_module

    return import_module("IPython.display")


def _show_in_notebook(shown: Any, title: str) -> Iterator[Progress]:
    """Show an element that browsers draw themselves, redrawn at every hundredth."""
    handle = shown.display(shown.HTML(_format_bar(title, 0.0, "")), display_id=True)
    last = 0

    def tell(done: float, note: str = "") -> None:
        nonlocal last
        if int(100 * done) != last:
            last = int(100 * done)
            handle.update(shown.HTML(_format_bar(title, done, note)))

    try:
        yield tell
    finally:
        handle.update(shown.HTML(""))


def _format_bar(title: str, done: float, note: str) -> str:
    return f'{escape(title)} <progress value="{done:.2f}" max="1"></progress> {escape(note)}'


# When a search must stop.


class TimeLimit:
    """A point in time some seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._begin, self._seconds = time.monotonic(), seconds

    def left(self) -> float:
        """Return how many seconds are left."""
        return max(0.0, self._begin + self._seconds - time.monotonic())

    def passed(self) -> bool:
        """Return whether the time is up."""
        return self.left() <= 0

    def share(self) -> float:
        """Return the share of the time that has passed."""
        return min(1.0, 1 - self.left() / self._seconds) if self._seconds else 1.0
