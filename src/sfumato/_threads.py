"""Threads: how many work at once, and the same work on several things by all of them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
MANY_ROWS = 20_000


def count_workers() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item], rows: int = MANY_ROWS) -> Iterator[Result]:
    """Yield the results of a function, in order; no more of them are made ahead than there are processors.

    Parameters
    ----------
    work, items : the function, and what it is called with.
    rows : how many rows, or bytes, each call works on; a few are not worth a thread.

    Examples
    --------
    >>> list(map_in_threads(str, [3, 1, 2]))
    ['3', '1', '2']
    """
    if rows < MANY_ROWS:
        yield from map(work, items)
        return
    ahead = count_workers()
    with ThreadPoolExecutor(ahead) as pool:
        begun: deque[Future[Result]] = deque()
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) > ahead:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
