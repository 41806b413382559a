"""A PostgreSQL server for the tests, started from the programs on this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "s3cret-pw"  # noqa: S105 - of a server that lives as long as the tests


@dataclass(frozen=True, kw_only=True)
class Server:
    """Where the server listens, and what opens it."""

    port: int
    password: str = PASSWORD

    @property
    def url(self) -> str:
        """Give the address with the password."""
        return f"postgresql://sfumato:{self.password}@127.0.0.1:{self.port}/postgres"

    def execute(self, *statements: str) -> None:
        """Run statements in one transaction."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.url) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()


def server_programs() -> Path:
    """Find the folder of initdb and pg_ctl."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").is_file() and (folder / "pg_ctl").is_file():
            return folder
    pytest.fail(
        "The PostgreSQL server programs initdb and pg_ctl are neither in PATH nor in /usr/lib/postgresql;"
        " install PostgreSQL to run these tests."
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def other_user() -> str | None:
    """Name the user to run the server as: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """Start a cluster in a temporary folder, and stop it at the end."""
    programs, user = server_programs(), other_user()
    folder = Path(tempfile.mkdtemp(prefix="sfumato-pg-"))
    data, passwords = folder / "data", folder / "password"
    passwords.write_text(PASSWORD)
    if user:
        shutil.chown(folder, user)
        shutil.chown(passwords, user)
    prefix = ["runuser", "-u", user, "--"] if user else []

    def run(program: str, *arguments: str) -> None:
        command = [*prefix, str(programs / program), "-D", str(data), *arguments]
        done = subprocess.run(  # noqa: S603 - our own arguments
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            pytest.fail(f"PostgreSQL's {program} failed: {done.stderr}")

    server = Server(port=free_port())
    try:
        run("initdb", "-U", "sfumato", "-A", "scram-sha-256", f"--pwfile={passwords}", "--no-locale", "-E", "UTF8")
        options = f"-p {server.port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield server
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
