"""The workbench as a user meets it: start, open, search, write, pages and memory, beside the library alone.

    python benchmarks/workbench.py [--rows 1000000] [--clients 20] [--projects 20]

The page's share of opening, searching and writing is what the workbench takes beyond the same functions of the library,
measured in the same run; the target is at most 15 %. Needs the extra `workbench`, httpx and Playwright with Chromium.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from playwright.sync_api import Browser, sync_playwright

import sfumato as sf

STEPS = ("data", "roles", "hierarchies", "promise", "search", "explore", "utility", "risk", "release", "history")
ALONE = """
import sys, time
from pathlib import Path
import sfumato as sf
from sfumato._warmup import warm_up
from sfumato.io._reading import read_with_findings
from sfumato.tables._pipeline.recipe_edits import with_title
from sfumato.tables.inspection.inspection import inspect_columns
path, out = Path(sys.argv[1]), Path(sys.argv[2])
warm_up()
start = time.perf_counter()
loaded = read_with_findings(str(path), {}, propose=True)
found = inspect_columns(loaded.table)
recipe = sf.propose_recipe(found, loaded.table, reading=loaded.reading)
opened = time.perf_counter()
release = sf.run_recipe(with_title(recipe, path.name), loaded.table)
searched = time.perf_counter()
release.write(out)
print(opened - start, searched - opened, time.perf_counter() - searched)
"""


def main() -> None:
    """Print every figure of the specification."""
    parser = argparse.ArgumentParser(description="Measure the workbench.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--projects", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "patients.csv"
        sf.write(sf.datasets.generate_hospital(asked.rows, seed=1), table)
        print(f"{asked.rows:,} rows, {table.stat().st_size / 1e6:.0f} MB of CSV")
        alone = library_alone(table, folder / "alone")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=os.environ.get("SFUMATO_CHROMIUM") or shutil.which("chromium"), args=["--no-sandbox"]
            )
            measure_start(folder, browser)
            measure_work(folder, browser, table, alone, asked)
            measure_many_columns(folder, browser)
            browser.close()
        measure_projects(folder, table, asked.projects)
        measure_idle(folder)


def library_alone(table: Path, out: Path) -> list[float]:
    """Time opening, searching and writing without a page, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", ALONE, table, out], check=True, capture_output=True, text=True)  # noqa: S603 - ours
    return [float(part) for part in done.stdout.split()]


class Served:
    """A workbench in a process of its own, and a client that has its cookie."""

    def __init__(self, folder: Path, *arguments: object) -> None:
        self.start = time.perf_counter()
        environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "sfumato", "workbench", "--no-browser", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: S603 - ours
        assert self.process.stdout is not None
        self.url = next(line.strip() for line in self.process.stdout if line.startswith("http"))
        self.base, _, token = self.url.partition("/#")
        self.token = token
        headers = {"origin": self.base.rpartition("/")[0], "x-sfumato": "1"}
        self.http = httpx.Client(base_url=self.base, timeout=600, headers=headers)

    def enter(self) -> Served:
        """Take the cookie."""
        assert self.http.post("/enter", json={"token": self.token}).status_code == 204
        return self

    def opened(self) -> float:
        """Wait until the table is open, and return how long its job took from its first sight."""
        start = time.perf_counter()
        while self.http.get("/recipe").status_code != 200:
            time.sleep(0.02)
        return time.perf_counter() - start

    def job(self, verb: str, **request: object) -> float:
        """Run a job to its end, and return how long it took."""
        start = time.perf_counter()
        number = self.http.post("/jobs", json={"verb": verb, **request}).json()["job"]
        with self.http.stream("GET", f"/jobs/{number}/events") as events:
            last = [line for line in events.iter_lines() if line.startswith("data:")][-1]
        assert '"done"' in last, last
        return time.perf_counter() - start

    def stop(self) -> None:
        """End it."""
        self.http.close()
        self.process.terminate()
        self.process.wait()


def measure_start(folder: Path, browser: Browser) -> None:
    """Time from the command to a page that can be used, twice, and weigh the pages."""
    for said in ("first", "again"):
        served = Served(folder)
        page = browser.new_page()
        page.goto(served.url)
        page.wait_for_selector("#file")
        print(f"start to a page that can be used, {said}: {time.perf_counter() - served.start:.2f} s (3)")
        page.close()
        served.stop()


def measure_work(folder: Path, browser: Browser, table: Path, alone: list[float], asked: argparse.Namespace) -> None:
    """Open, search, cancel and write a large table, and page through it."""
    served = Served(folder, table, "--project", folder / "study").enter()
    opened = served.opened()
    report("open", opened, alone[0], 10)
    print(f"heaviest page without its rows: {heaviest(served) / 1e3:.1f} kB gz (60)")
    time.sleep(5)  # loops are loaded meanwhile
    page = browser.new_context().new_page()
    page.goto(f"{served.base}/#{again(folder)}")
    page.wait_for_url("**/data")
    page.goto(f"{served.base}/search")
    start = time.perf_counter()
    page.click("#start")
    page.wait_for_url("**/release", timeout=600_000)
    page.wait_for_selector("#published tbody tr", timeout=600_000)
    report("search, button to the result page", time.perf_counter() - start, alone[1], 12)
    page.goto(f"{served.base}/search")
    page.click("#start")
    page.wait_for_selector("#progress-note", state="attached")
    time.sleep(0.5)
    start = time.perf_counter()
    page.click("#cancel")
    page.wait_for_selector("#start:not([disabled])", timeout=60_000)
    print(f"cancel to ready: {time.perf_counter() - start:.2f} s (1)")
    clicks = []
    for _ in range(3):
        for step in STEPS:
            start = time.perf_counter()
            assert served.http.get(f"/{step}").status_code == 200
            clicks.append(time.perf_counter() - start)
    print(f"a page, p95: {1e3 * p95(clicks):.0f} ms (100)")
    rows = [one_page(served.http, asked.rows) for _ in range(200)]
    print(f"a jump to any row, p95: {1e3 * p95(rows):.1f} ms (100)")
    for number in paging(served, asked.rows, asked.clients):
        served.http.get(f"/jobs/{number}/events")
    newest = served.http.get("/candidates").json()["candidates"][0]["number"]
    report("write with the report", served.job("write", candidate=newest, format="csv"), alone[2], 60)
    tell_memory(served, table)
    page.context.close()
    served.stop()


def report(what: str, took: float, alone: float, bound: float) -> None:
    """Print a time beside that of the library alone."""
    share = took / alone - 1
    print(f"{what}: {took:.2f} s ({bound:g}); the library alone {alone:.2f} s, the page's share {share:+.0%}")


def heaviest(served: Served) -> int:
    """Return the size of the heaviest page with its scripts and style, packed."""

    def packed(path: str) -> int:
        return len(gzip.compress(served.http.get(path).content))

    found = []
    for step in STEPS:
        text = served.http.get(f"/{step}").text
        parts = {*re.findall(r'(?:src|href)="(/static/[^"]+)"', text)}
        found.append(len(gzip.compress(text.encode())) + sum(packed(each) for each in parts))
    return max(found)


def again(folder: Path) -> str:
    """Return another token of the server that runs."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    command = [sys.executable, "-m", "sfumato", "workbench", "--again"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603 - ours
    return done.stdout.strip().partition("#")[2]


def one_page(client: httpx.Client, rows: int) -> float:
    """Time one page of rows, anywhere."""
    start = time.perf_counter()
    assert client.get(f"/rows/original?from={random.randrange(rows)}&count=100").status_code == 200
    return time.perf_counter() - start


def paging(served: Served, rows: int, clients: int) -> list[int]:
    """Let many clients page at random for some seconds while searches run, and return the numbers of these jobs."""
    jobs = [served.http.post("/jobs", json={"verb": "anonymize", "turn": turn}).json()["job"] for turn in range(2)]
    cookies = served.http.cookies
    stop = time.perf_counter() + 15

    def one(_: int) -> list[float]:
        taken = []
        with httpx.Client(base_url=served.base, timeout=60, cookies=cookies) as client:
            while time.perf_counter() < stop:
                taken.append(one_page(client, rows))
                time.sleep(0.2)
        return taken

    with ThreadPoolExecutor(clients) as pool:
        taken = [each for found in pool.map(one, range(clients)) for each in found]
    print(
        f"{clients} clients paging while searches run: {len(taken):,} pages, p95 {1e3 * p95(taken):.0f} ms (200), "
        f"slowest {1e3 * max(taken):.0f} ms (1000)"
    )
    return jobs


def measure_many_columns(folder: Path, browser: Browser) -> None:
    """Time the page of roles with 200 columns."""
    wide = folder / "wide.csv"
    lines = [",".join(f"column{n}" for n in range(200))]
    lines += [",".join(str((row * (n + 3)) % 50) for n in range(200)) for row in range(2000)]
    wide.write_text("\n".join(lines) + "\n", encoding="utf-8")
    served = Served(folder, wide).enter()
    served.opened()
    served.job("risk")
    page = browser.new_context().new_page()
    page.goto(f"{served.base}/#{again(folder)}")
    page.wait_for_url("**/data")
    start = time.perf_counter()
    page.goto(f"{served.base}/roles")
    page.wait_for_selector("#role-199")
    print(f"200 columns in Roles: {time.perf_counter() - start:.2f} s (1)")
    page.context.close()
    served.stop()


def measure_projects(folder: Path, table: Path, count: int) -> None:
    """Open many projects of 20,000 rows, search in two, and time pages of the others."""
    small = folder / "small.csv"
    with table.open(encoding="utf-8") as file:
        small.write_text("".join(line for _, line in zip(range(20_001), file, strict=False)), encoding="utf-8")
    servers = [Served(folder, small, "--project", folder / f"project-{n}").enter() for n in range(count)]
    for each in servers:
        each.opened()
    numbers = [each.http.post("/jobs", json={"verb": "anonymize"}).json()["job"] for each in servers[:2]]
    taken = []
    stop = time.perf_counter() + 10
    while time.perf_counter() < stop:
        start = time.perf_counter()
        assert random.choice(servers).http.get(f"/{random.choice(STEPS)}").status_code == 200
        taken.append(time.perf_counter() - start)
    used = sum(memory_of(pid) for each in servers for pid in processes(each))
    print(
        f"{count} projects, searches {numbers} running: {len(taken)} pages, slowest {max(taken):.2f} s (1); "
        f"memory of each {used / count / 1e6:.0f} MB (150 and its table)"
    )
    for each in servers:
        each.stop()


IDLE = """
import sys
from pathlib import Path
from sfumato.workbench import serving
serving.BETWEEN = 0.0005
serving.serve(Path(sys.argv[1]), serving.Serving(), lambda url: print(url, flush=True))
"""


def measure_idle(folder: Path) -> None:
    """Let a server look 2,000 times a second, instead of once, whether to stop: a day in less than a minute."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    command = [sys.executable, "-c", IDLE, str(folder / "idle")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)  # noqa: S603 - ours
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(5)
    before = memory_of(process.pid)
    time.sleep(60)
    print(f"memory of a server after a day of idle: {(memory_of(process.pid) - before) / 1e6:+.2f} MB")
    process.terminate()
    process.wait()


def processes(served: Served) -> list[int]:
    """Return the server and its worker."""
    children = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text(encoding="ascii")
    return [served.process.pid, *map(int, children.split())]


def memory_of(pid: int) -> int:
    """Return the bytes that a process uses for itself, without mapped files."""
    told = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    found = re.search(r"^Anonymous:\s+(\d+) kB", told, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def tell_memory(served: Served, table: Path) -> None:
    """Print the memory of the server and of its worker."""
    server, *workers = processes(served)
    print(f"memory of the server {memory_of(server) / 1e6:.0f} MB (80)")
    for pid in workers:
        used = memory_of(pid)
        print(f"memory of the worker {used / 1e6:.0f} MB, {used / table.stat().st_size:.1f} times the CSV (6)")


def p95(taken: list[float]) -> float:
    """Return what 95 of 100 stay below."""
    return statistics.quantiles(taken, n=20)[-1]


if __name__ == "__main__":
    main()
