"""The server as a command: where it listens, how it is opened again, and when it stops."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli._application import app
from sfumato.cli.workbench import _project_and_source
from sfumato.errors import InvalidParameterError, ReadError, WriteError
from sfumato.workbench import server as serving
from sfumato.workbench._project import FILE, Project
from sfumato.workbench.server import ServerOptions, _bind_socket, reopen_address, serve


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "sfumato" / "workbench"


class Running:
    """A server in a thread of this process."""

    def __init__(self, folder, asked, opened=None):
        self.known = threading.Event()
        self.thread = threading.Thread(target=serve, args=(folder, asked, self.ready, opened))
        self.thread.start()
        assert self.known.wait(120)
        self.base = self.url.partition("/#")[0]
        self.origin = self.base.rpartition("/")[0]
        self.client = httpx.Client(base_url=self.base, timeout=120, headers={"origin": self.origin, "x-sfumato": "1"})

    def ready(self, url):
        """Take the address."""
        self.url = url
        self.known.set()

    def enter(self, url=None):
        """Change the token for the cookie."""
        return self.client.post("/enter", json={"token": (url or self.url).partition("#")[2]}).status_code

    def quit(self):
        """Stop it as the page does."""
        assert self.client.post("/quit").status_code == 204
        self.thread.join(120)
        self.client.close()
        assert not self.thread.is_alive()


@pytest.mark.slow
def test_a_server_opens_once_again_and_quits(tmp_path, state, persons_csv):
    running = Running(tmp_path / "project", ServerOptions(), {"place": str(persons_csv), "name": "persons.csv"})
    assert running.enter() == 204
    assert running.enter() == 403
    assert [path.stat().st_mode & 0o777 for path in state.iterdir()] == [0o600]
    other = reopen_address()
    assert other.partition("#")[0] == running.url.partition("#")[0]
    assert other != running.url
    assert running.enter(other) == 204
    running.quit()
    assert list(state.iterdir()) == []
    assert Project(tmp_path / "project").content["name"] == "project"


def test_without_a_server_there_is_no_other_address(state):
    state.mkdir(parents=True)
    (state / "1.json").write_text('{"host": "127.0.0.1", "port": 1, "key": "x", "proxy": null}', encoding="utf-8")
    with pytest.raises(ReadError, match="No workbench of yours is running"):
        reopen_address()
    assert list(state.iterdir()) == []


@pytest.mark.slow
def test_a_server_without_requests_stops(tmp_path, state, monkeypatch):
    monkeypatch.setattr(serving, "BETWEEN", 0.05)
    running = Running(tmp_path / "project", ServerOptions(idle=0.0001))
    running.thread.join(120)
    running.client.close()
    assert not running.thread.is_alive()
    assert list(state.iterdir()) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::"])  # noqa: S104 - to be refused
def test_other_addresses_need_a_proxy(host):
    with pytest.raises(InvalidParameterError, match="--behind-proxy"):
        ServerOptions(host=host)
    assert ServerOptions(host=host, proxy="bench.example").proxy == "bench.example"


def test_behind_a_proxy_one_name_is_answered_over_https_only(tmp_path, state):
    asked = ServerOptions(proxy="bench.example")
    known, address = threading.Event(), []
    thread = threading.Thread(
        target=serve, args=(tmp_path / "project", asked, lambda url: (address.append(url), known.set()))
    )
    thread.start()
    assert known.wait(120)
    (port,) = (path.stem for path in state.iterdir())
    named = {"host": "bench.example", "origin": "https://bench.example", "x-sfumato": "1"}
    base, _, token = address[0].partition("/#")
    assert re.fullmatch("https://bench.example/[0-9a-f]{32}", base)
    below = base.removeprefix("https://bench.example")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}{below}", timeout=120, headers=named) as client:
        token = {"token": token}
        assert client.post("/enter", json=token).status_code == 403  # not by HTTPS
        client.headers["x-forwarded-proto"] = "https"
        assert client.get("/", headers={"host": f"127.0.0.1:{port}"}).status_code == 421
        assert client.post("/enter", json=token, headers={"origin": "http://bench.example"}).status_code == 403
        entered = client.post("/enter", json={"token": reopen_address().partition("#")[2]})
        assert entered.status_code == 204
        cookie = entered.headers["set-cookie"]
        assert "Secure" in cookie
        client.post("/quit", headers={"cookie": cookie.partition(";")[0]})
    thread.join(120)
    assert not thread.is_alive()


@pytest.mark.slow
def test_the_address_is_where_the_server_listens(tmp_path, state):
    running = Running(tmp_path / "project", ServerOptions(host="::1"))
    assert re.fullmatch(r"http://\[::1\]:\d+/[0-9a-f]{32}", running.base)
    assert running.enter(reopen_address()) == 204
    running.quit()
    assert list(state.iterdir()) == []


def test_by_default_only_this_machine_is_listened_to():
    with _bind_socket(ServerOptions()) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


@contextlib.contextmanager
def opened_by(server):
    """Enter a server that opens a table, and wait until it is open."""
    with httpx.Client(base_url=server.base, timeout=120, headers={"origin": server.origin, "x-sfumato": "1"}) as client:
        assert client.post("/enter", json={"token": server.url.partition("#")[2]}).status_code == 204
        while client.get("/recipe").status_code != 200:
            time.sleep(0.05)
        yield client


@pytest.fixture
def _heard():
    """Let servers hear that a terminal hangs up, even if the tests were started by nohup, which they would inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_heard")
@pytest.mark.parametrize("how", ["quit", "terminate", "interrupt", "hang up"])
def test_work_without_a_project_is_deleted_at_the_end(start_server, tmp_path, monkeypatch, persons_csv, how):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server = start_server(persons_csv)
    (folder,) = tmp_path.glob("sfumato-workbench-*")
    with opened_by(server) as client:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / "project" / "tables" / "1" / "original.arrow").exists()
        if how == "quit":
            client.post("/quit")
    if how != "quit":
        server.process.send_signal(
            {"terminate": signal.SIGTERM, "interrupt": signal.SIGINT, "hang up": signal.SIGHUP}[how]
        )
    server.process.wait(120)
    assert list(tmp_path.glob("sfumato-workbench-*")) == []


def running(process):
    """Return whether a process is there and not merely unburied."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", process], capture_output=True, text=True, check=False)  # noqa: S603, S607 - of the system
    return told.stdout.strip()[:1] not in {"", "Z"}


@pytest.mark.slow
def test_the_worker_ends_with_the_server_even_if_that_is_killed(start_server, persons_csv):
    server = start_server(persons_csv)
    with opened_by(server):
        asked = ["ps", "-o", "pid=", "--ppid", str(server.process.pid)]
        (worker,) = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()  # noqa: S603 - of the system
    assert running(worker)
    server.process.kill()
    server.process.wait(120)
    deadline = time.monotonic() + 120
    while running(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(worker)


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(tmp_path, state):
    running = Running(tmp_path / "one", ServerOptions())
    port = int(running.origin.rsplit(":", 1)[1])
    with pytest.raises(InvalidParameterError, match=f"Port {port} "):
        serve(tmp_path / "two", ServerOptions(port=port), print)
    running.enter()
    running.quit()
    assert state.exists()


@pytest.mark.slow
def test_a_project_is_open_in_one_workbench_at_a_time(tmp_path, state):
    running = Running(tmp_path / "one", ServerOptions())
    with pytest.raises(WriteError, match="open in another workbench"):
        serve(tmp_path / "one", ServerOptions(), print)
    running.enter()
    running.quit()
    with Project(tmp_path / "one").locked():
        assert state.exists()


def test_folders_that_are_no_projects_are_refused(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ReadError, match="no project and not empty"):
        Project(tmp_path / "other")
    with pytest.raises(WriteError, match="cannot be made"):
        Project(tmp_path / "nowhere" / "deeper")
    (tmp_path / "old").mkdir()
    for content, said in (("format = 99", "another version"), ("=", "cannot be read")):
        (tmp_path / "old" / FILE).write_text(content, encoding="utf-8")
        with pytest.raises(ReadError, match=said):
            Project(tmp_path / "old")


def test_the_command_refuses_in_one_sentence(state):
    done = CliRunner().invoke(app, ["workbench", "--host", "0.0.0.0"])  # noqa: S104 - to be refused
    assert done.exit_code == 2
    assert "--behind-proxy" in done.stderr
    done = CliRunner().invoke(app, ["workbench", "--again"])
    assert done.exit_code == 2
    assert not state.exists()


@pytest.mark.slow
def test_without_the_extra_the_command_says_how_to_install_it(tmp_path):
    hidden = "import sys; sys.modules['uvicorn'] = None; from sfumato.cli import main; main()"
    command = [sys.executable, "-c", hidden, "workbench"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S603 - ours
    assert done.returncode == 2
    assert 'pip install "sfumato[workbench]"' in done.stderr


def test_a_server_that_was_killed_begins_where_it_was(start_server, persons_csv):
    server = start_server(persons_csv, "--project", "study")
    with httpx.Client(base_url=server.base, timeout=120, headers={"origin": server.origin, "x-sfumato": "1"}) as client:
        client.post("/enter", json={"token": server.url.partition("#")[2]})
        while client.get("/recipe").status_code != 200:
            pass
        version = client.get("/recipe").json()["version"]
        change = {"version": version, "step": "search", "set": [[["release", "max_suppressed"], 0.25]]}
        assert client.request("PATCH", "/recipe", json=change).status_code == 200
    server.process.kill()
    server.process.wait(120)
    again_ = start_server(server.folder / "study")
    with httpx.Client(base_url=again_.base, timeout=120, headers={"origin": again_.origin, "x-sfumato": "1"}) as client:
        client.post("/enter", json={"token": again_.url.partition("#")[2]})
        assert client.get("/recipe").json()["recipe"]["release"]["max_suppressed"] == 0.25
        assert client.post("/undo").status_code == 200
        assert client.get("/recipe").json()["recipe"]["release"]["max_suppressed"] == 0.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_terminal_stops_it_without_a_word(start_server, number):
    server = start_server()
    pid = server.process.pid
    workers = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    server.process.send_signal(number)
    assert server.process.wait(120) == 0
    assert "Traceback" not in server.said()
    assert len(workers) == 1
    assert not Path(f"/proc/{workers[0]}").exists()


def test_a_password_of_a_database_stays_in_memory(bench_client):
    _, place, name = _project_and_source("postgresql://ann:s3same@127.0.0.1:1/clinic", None)
    assert "s3same" not in name
    request = {"place": place, "name": name, "reading": {"table": "patients"}}

    async def start():
        return bench_client.desk.start("open", request)

    job = bench_client.follow(bench_client.run(start()).number)
    assert job.state == "failed"
    assert "s3same" not in job.error
    folder = bench_client.desk.project.folder
    assert not [path for path in folder.rglob("*") if path.is_file() and b"s3same" in path.read_bytes()]
    assert "s3same" not in bench_client.get("/data").text


def test_a_table_of_a_database_is_opened_from_the_command_line(bench_client, tmp_path):
    sf.write(sf.datasets.generate_hospital(60, seed=1), f"sqlite:///{tmp_path}/clinic.db", table_name="patients")
    _, place, name = _project_and_source(f"sqlite:///{tmp_path}/clinic.db", None)

    async def start():
        return bench_client.desk.start("open", {"place": place, "name": name, "reading": {"table": "patients"}})

    job = bench_client.follow(bench_client.run(start()).number)
    assert job.state == "done", job.error
    assert bench_client.desk.rows == 60
    assert "comes from a database" in bench_client.get("/data").text
    assert bench_client.post("/reading", {"table": "patients"}).status_code == 422
