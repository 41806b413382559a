"""Run many measurements, some side by side in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sfumato.core.progress import Progress, ignore_progress

Job = tuple[Callable[..., Any], tuple[Any, ...]]


def run_jobs(jobs: Sequence[Job], *, workers: int = 1, progress: Progress = ignore_progress) -> list[Any]:
    """Run jobs, some at once in processes of their own if there are several workers; give results in order.

    An interruption is for this process to tell: workers finish their job, and no other is begun.
    """
    if workers <= 1 or len(jobs) <= 1:
        results = []
        for at, (function, arguments) in enumerate(jobs):
            results.append(function(*arguments))
            progress((at + 1) / len(jobs))
        return results
    import signal
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(
        min(workers, len(jobs)),
        mp_context=get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    ) as pool:
        running = [pool.submit(function, *arguments) for function, arguments in jobs]
        try:
            for done, each in enumerate(as_completed(running), start=1):
                each.result()
                progress(done / len(jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [each.result() for each in running]
