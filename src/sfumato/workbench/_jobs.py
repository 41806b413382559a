"""Jobs: work that the worker process does, one at a time, told as it goes on, and canceled by ending the process."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError

IDLE = 600.0  # seconds after which a worker without work ends
LINE = 1 << 28  # bytes of the longest answer
KEPT = 50  # jobs that are remembered


@dataclass(kw_only=True, eq=False)
class Job:
    """One piece of work and its state: waiting, running, done, failed or canceled.

    `quiet` work is what a page asks for by itself; what a person asks for goes before it and is not held up by it.
    `table` is the number of the table that it is about, `request` what the worker is told, `asked` what was asked for,
    and `key` what its result is kept under.
    """

    verb: str
    table: int | None
    request: Mapping[str, Any] = field(repr=False)
    asked: Mapping[str, Any] = field(repr=False)
    key: str = field(repr=False)
    quiet: bool = False
    number: int = 0
    state: str = "waiting"
    done: float = 0.0
    note: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    memory: int = 0
    result: Any = field(default=None, repr=False)
    error: str | None = None
    kind: str | None = None
    advice: Sequence[Mapping[str, Any]] = ()
    changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in {"done", "failed", "canceled"}

    def facts(self, place: int = 0) -> dict[str, Any]:
        """Return what a page is told; `place` is how many jobs are before it."""
        told = {"job": self.number, "verb": self.verb, "state": self.state, "done": self.done, "note": self.note}
        told |= {"figures": self.figures} if self.figures else {}
        told |= {"place": place} if place else {}
        return told | ({} if self.error is None else {"error": self.error, "kind": self.kind})

    def change(self, **state: Any) -> None:
        """Set the state, and wake up who follows it."""
        for name, value in state.items():
            setattr(self, name, value)
        self.changed.set()
        self.changed = asyncio.Event()


class Failed(Exception):  # noqa: N818 - no error of the program: an answer that tells how a job ended
    """A job that a request waited for failed or was canceled."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.error or "This was canceled.")
        self.kind = job.kind or "Canceled"


class JobQueue:
    """The jobs of a project, and the process that does them.

    Parameters
    ----------
    folder : the folder of the project.
    finished : is called with every job that gave a result, before anybody is told so.
    """

    def __init__(self, folder: Path, finished: Callable[[Job], None]) -> None:
        self.folder = folder
        self.finished = finished
        self.all: dict[int, Job] = {}
        self._count = 0
        self._waiting: list[Job] = []
        self._running: Job | None = None
        self._worker: asyncio.subprocess.Process | None = None
        self._runner: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None

    @property
    def current(self) -> Job | None:
        """The job that a person waits for, or else the one that runs, or else the last one."""
        asked = next(iter(self.asked), self._running)
        return self.all[max(self.all)] if asked is None and self.all else asked

    @property
    def unfinished(self) -> list[Job]:
        """The jobs that run or wait."""
        return [job for job in self.all.values() if not job.is_finished]

    @property
    def asked(self) -> list[Job]:
        """The jobs that run or wait and that a person asked for."""
        return [job for job in self.unfinished if not job.quiet]

    def last(self, verb: str) -> Job | None:
        """Return the last job of a verb."""
        found = [job for job in self.all.values() if job.verb == verb]
        return found[-1] if found else None

    def start(self, job: Job) -> Job:
        """Add a job, and give it a number; it runs when those before it are over, quiet ones after all others."""
        self._count += 1
        job.number = self._count
        self.all[job.number] = job
        for old in [number for number, each in self.all.items() if each.is_finished][:-KEPT]:
            del self.all[old]
        self._waiting.append(job)
        self._waiting.sort(key=lambda each: each.quiet)
        if self._runner is None or self._runner.done():
            self._runner = asyncio.create_task(self._run())
        return job

    async def prepare(self) -> None:
        """Start the process before there is a job, so that the first one need not wait for it."""
        await self._start_worker()

    def position(self, job: Job) -> int:
        """Return how many jobs are before this one."""
        return 0 if job not in self._waiting else self._waiting.index(job) + (self._running is not None)

    async def follow(self, job: Job) -> AsyncIterator[dict[str, Any]]:
        """Yield the state of a job now and whenever it changes, until it is over."""
        while True:
            changed = job.changed
            yield job.facts(self.position(job))
            if job.is_finished:
                return
            await changed.wait()

    async def cancel(self, job: Job) -> None:
        """Stop a job; one that runs takes its process with it."""
        if job in self._waiting:
            self._waiting.remove(job)
            job.change(state="canceled")
        elif job is self._running:
            job.change(state="canceled")
            await self.end_worker()

    def cancel_waiting(self, table: int) -> None:
        """Refuse the jobs that wait and are about another table than the one that was opened meanwhile."""
        for job in [each for each in self._waiting if each.verb != "open" and each.table != table]:
            self._waiting.remove(job)
            job.change(state="failed", kind="ReadError", error="Another table was opened; start this again.")

    async def close(self) -> None:
        """Cancel everything and end the process."""
        for job in [*self._waiting, *([self._running] if self._running else [])]:
            await self.cancel(job)
        await self.end_worker()

    async def end_worker(self) -> None:
        """End the process, if there is one."""
        worker, self._worker = self._worker, None
        if worker is not None and worker.returncode is None:
            worker.kill()
            await worker.wait()
        if worker is not None and worker.stdin is not None:
            worker.stdin.close()

    async def _run(self) -> None:
        while self._waiting:
            if self._idle is not None:
                self._idle.cancel()
            self._running = job = self._waiting.pop(0)
            job.change(state="running")
            try:
                await self._run_job(job)
            except Exception as error:  # noqa: BLE001 - whatever happens, the job is over and the next one runs
                await self.end_worker()
                if not job.is_finished:
                    told = f"An unexpected {type(error).__name__} occurred here; please report it as a bug."
                    job.change(state="failed", error=told, kind=type(error).__name__)
            finally:
                self._running = None
        self._idle = asyncio.get_running_loop().call_later(IDLE, self._stop_idle_worker)

    def _stop_idle_worker(self) -> None:
        self._idle = None
        if self._running is None and self._worker is not None and self._worker.stdin is not None:
            self._worker.stdin.close()
            self._worker = None

    async def _run_job(self, job: Job) -> None:
        worker = await self._start_worker()
        if worker.stdin is None or worker.stdout is None:
            raise RuntimeError  # both were asked for
        line = json.dumps({"verb": job.verb, "table": job.table, "request": job.request})
        try:
            worker.stdin.write(line.encode() + b"\n")
            await worker.stdin.drain()
            while answer := await worker.stdout.readline():
                if self._on_message(job, json.loads(answer)):
                    return
        except ConnectionError:
            pass
        if not job.is_finished:
            await self.end_worker()
            used = f"; {job.memory / 1e9:.1f} GB were in use" if job.memory else ""
            job.change(
                state="failed",
                kind="WorkerEnded",
                error=f"The process that did this ended unexpectedly{used}. Nothing else is lost; start it again.",
            )

    def _on_message(self, job: Job, answer: Mapping[str, Any]) -> bool:
        """Take an answer; return whether it was the last one."""
        if job.is_finished:
            return False
        if "error" in answer:
            job.change(state="failed", **{name: answer[name] for name in ("error", "kind", "advice") if name in answer})
            return True
        if "result" in answer:
            job.result = answer["result"]
            try:
                self.finished(job)
            except SfumatoError as error:
                job.change(state="failed", error=str(error), kind=type(error).__name__)
            else:
                job.change(state="done", done=1.0, note="")
            return True
        job.change(**answer)
        return False

    async def _start_worker(self) -> asyncio.subprocess.Process:
        if self._worker is None or self._worker.returncode is not None:
            self._worker = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "sfumato.workbench.worker",
                str(self.folder),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LINE,
                start_new_session=True,  # Ctrl+C is for the server, which ends it
            )
        return self._worker
