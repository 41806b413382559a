"""A workbench in a process of its own, or inside the test, on a made-up table."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import threading
import time
from urllib.parse import quote

import httpx
import pytest

from sfumato.workbench._access_control import COOKIE, AccessTokens
from sfumato.workbench._application import Application
from sfumato.workbench._project import Project
from sfumato.workbench._session import Session
from sfumato.workbench.worker import WorkerState, serve

PORT = 8123
PATIENCE = 120.0  # seconds; far more than anything takes, so that a busy machine fails no test
SEXES, JOBS, DISEASES = ("f", "m"), ("nurse", "cook", "clerk", "smith"), ("flu", "cold", "cough")


def persons(count=240):
    """Make up persons whose diseases are spread evenly, so that promises can be kept."""
    return [("name", "age", "sex", "zip", "job", "disease")] + [
        (f"Person {n:04}", 18 + n * 7 % 60, SEXES[n % 2], f"{10000 + n * 13 % 40}", JOBS[n % 4], DISEASES[n * 5 % 3])
        for n in range(count)
    ]


@pytest.fixture(scope="session")
def persons_csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("persons") / "persons.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(persons())
    return path


class Inside:
    """Do the work of the worker in a thread of this process, where coverage sees it and nothing needs to be started."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.bench = WorkerState(jobs.folder)

    async def do(self, job):
        """Serve one job as the process would, line by line of JSON."""
        loop = asyncio.get_running_loop()

        class Answers(io.StringIO):
            def write(_, line):  # noqa: N805 - the outer one is meant
                loop.call_soon_threadsafe(self.jobs._on_message, job, json.loads(line))

        asked = json.loads(json.dumps({"verb": job.verb, "table": job.table, "request": job.request}))
        await loop.run_in_executor(None, serve, self.bench, asked, Answers())


class Client:
    """An HTTP client of an application in the same process; `process` lets a worker process do the jobs as ever."""

    def __init__(self, folder, *, process=False):
        self.gate = AccessTokens(port=PORT)
        self.desk = Session(Project(folder))
        if not process:
            self.desk.jobs._run_job = Inside(self.desk.jobs).do
        self.application = Application(self.desk, self.gate)
        self.loop = asyncio.new_event_loop()  # in a thread of its own: Playwright has one in this
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.application.asgi(), raise_app_exceptions=False),
            base_url=self.gate.origin + self.gate.path,
        )
        self.headers = {"origin": self.gate.origin, "x-sfumato": "1"}
        self.http.cookies.set(COOKIE, self.gate.session, domain="127.0.0.1", path=f"{self.gate.path}/")

    def run(self, awaitable):
        """Wait for something, with patience."""
        return asyncio.run_coroutine_threadsafe(awaitable, self.loop).result(PATIENCE)

    def send(self, method, url, **options):
        """Send a request as the page would."""
        headers = {**self.headers, **options.pop("headers", {})}
        return self.run(self.http.request(method, url, headers=headers, **options))

    def get(self, url, **options):
        """Read an address."""
        return self.send("GET", url, **options)

    def post(self, url, body=None, **options):
        """Send a body of JSON."""
        return self.send("POST", url, json={} if body is None else body, **options)

    def patch(self, *changes, step="promise", version=None, **more):
        """Change the recipe."""
        body = {"version": self.desk.version if version is None else version, "step": step, **more}
        return self.send("PATCH", "/recipe", json={**body, "set": [list(each) for each in changes]})

    def follow(self, number):
        """Wait until a job is over, and return it."""

        async def to_the_end():
            job = self.desk.jobs.all[number]
            async for _ in self.desk.jobs.follow(job):
                pass
            return job

        return self.run(to_the_end())

    def job(self, verb, **request):
        """Run a job to its end."""
        answer = self.post("/jobs", {"verb": verb, **request})
        assert answer.status_code == 202, answer.text
        return self.follow(answer.json()["job"])

    def upload(self, content, name, **headers):
        """Upload a file."""
        place = f"/tables?replaces={self.desk.stake}"
        return self.send("POST", place, content=content, headers={"x-file-name": quote(name), **headers})

    def open(self, path):
        """Upload a file and wait until it is open."""
        answer = self.upload(path.read_bytes(), path.name)
        assert answer.status_code == 202, answer.text
        return self.follow(answer.json()["job"])

    def close(self):
        """End the worker and the client."""
        with contextlib.suppress(TimeoutError):
            self.run(self.desk.jobs.close())
        self.run(self.http.aclose())
        self.run(self.loop.shutdown_asyncgens())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture
def bench_client(tmp_path):
    client = Client(tmp_path / "project")
    yield client
    client.close()


@pytest.fixture
def process_client(tmp_path):
    client = Client(tmp_path / "project", process=True)
    yield client
    client.close()


@pytest.fixture(scope="module")
def opened_client(tmp_path_factory, persons_csv):
    """Return a client whose table is open; tests of a module share it and leave the recipe as it was."""
    client = Client(tmp_path_factory.mktemp("opened") / "project")
    job = client.open(persons_csv)
    assert job.state == "done", job.error
    yield client
    client.close()


class Server:
    """`sfumato workbench` as a user starts it."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONUNBUFFERED": "1"}
        self.log = (folder / "log.txt").open("w+", encoding="utf-8")
        command = [sys.executable, "-m", "sfumato", "workbench", "--no-browser", *map(str, arguments)]
        self.process = subprocess.Popen(command, env=self.environment, stdout=self.log, stderr=self.log, cwd=folder)  # noqa: S603 - our own command
        self.url = self._address()
        self.base = self.url.partition("/#")[0]
        self.origin = self.base.rpartition("/")[0]

    def _address(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            said = self.said()
            if "http://" in said and said.endswith("\n"):
                return next(line for line in said.splitlines() if line.startswith("http"))
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(self.said())

    def said(self):
        """Return what the command printed."""
        self.log.flush()
        return (self.folder / "log.txt").read_text(encoding="utf-8")

    def again(self):
        """Return another address of the same server, as `sfumato workbench --again` does."""
        (known,) = (self.folder / "state" / "sfumato" / "workbench").glob("*.json")
        key = json.loads(known.read_text(encoding="utf-8"))["key"]
        token = httpx.post(f"{self.base}/again", headers={"x-sfumato": key}, timeout=PATIENCE).json()["token"]
        return f"{self.base}/#{token}"

    def begin_again(self):
        """Go back to the recipe that was proposed, and return another address."""
        headers = {"origin": self.origin, "x-sfumato": "1"}
        with httpx.Client(base_url=self.base, timeout=PATIENCE, headers=headers) as client:
            client.post("/enter", json={"token": self.again().partition("#")[2]})
            while client.get("/recipe").status_code != 200:
                time.sleep(0.05)
            assert client.post("/changes/0").status_code == 200
        return self.again()

    def stop(self):
        """Stop the server as a user would."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)
        self.log.close()


@pytest.fixture(scope="session")
def start_server(tmp_path_factory):
    running = []

    def start(*arguments):
        server = Server(tmp_path_factory.mktemp("server"), *arguments)
        running.append(server)
        return server

    yield start
    for server in running:
        server.process.terminate()  # all at once
    for server in running:
        server.stop()


@pytest.fixture(scope="module")
def persons_server(start_server, persons_csv):
    """Return a server whose table is open, for all tests of a module; each begins again."""
    return start_server(persons_csv)
