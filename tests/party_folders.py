"""Party files on disk: three owners of a small made-up table, each with a folder of its own."""

from __future__ import annotations

import copy
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from sfumato.fusion.certificates import create_credentials

NAMES = ("hospital", "agency", "insurer")
OWN = {"hospital": ["age", "sex"], "agency": ["job"], "insurer": ["plan", "cost"]}
JOBS = "nurse;care;*\ndoctor;care;*\nbaker;craft;*\nmason;craft;*\n"
SOURCE = Path(__file__).resolve().parent.parent / "src"
LONGEST = 120  # seconds after which a process that should have ended is a failure


def free_ports(many: int) -> list[int]:
    """Find ports of this machine that nobody uses."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(many)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def columns(rows: int, seed: int = 5) -> dict[str, list[Any]]:
    """Make a table up whose class depends on some of the columns."""
    random = np.random.default_rng(seed)
    age = random.integers(20, 80, rows)
    job = random.choice(["nurse", "doctor", "baker", "mason"], rows)
    cost = random.integers(0, 900, rows)
    ill = (age / 80 + (job == "mason") * 0.4 + cost / 1500 + random.normal(0, 0.2, rows)) > 0.9
    return {
        "person": [f"person-{number:04}" for number in range(rows)],
        "class": np.where(ill, "ill", "well").tolist(),
        "age": age.tolist(),
        "sex": random.choice(["f", "m"], rows).tolist(),
        "job": job.tolist(),
        "plan": random.choice(["basic", "full"], rows).tolist(),
        "cost": cost.tolist(),
    }


class Folders:
    """The folders of some parties, and the processes that run there.

    Every party has two persons that no other has. `contents` is what the files will say; `write` writes them.
    """

    def __init__(self, root: Path, names: Sequence[str] = NAMES, *, rows: int = 60, silence: float = 5) -> None:
        self.root = root
        self.names = tuple(names)
        self.processes: dict[str, subprocess.Popen[str]] = {}
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        table = columns(rows)
        for name in names:
            (root / name).mkdir()
            create_credentials(name, root / name)
            (root / name / "job.csv").write_text(JOBS)
        for name in names:
            self.write_table(name, table, rows)
            for other in names:
                if other != name:
                    shutil.copy(root / other / f"{other}.crt", root / name)
        self.contents = {name: self._content(name, ports, silence) for name in names}
        self.write()

    def write_table(self, name: str, table: Mapping[str, list[Any]], rows: int) -> None:
        """Write the own columns of a party, without two persons that all the others have."""
        own = ["person", "class", *OWN[name]]
        left_out = 2 * self.names.index(name)
        kept = [row for row in range(rows) if row not in {left_out, left_out + 1}]
        lines = [own, *([str(table[column][row]) for column in own] for row in kept)]
        (self.root / name / "table.csv").write_text("\n".join(map(",".join, lines)) + "\n")

    def _content(self, name: str, ports: Mapping[str, int], silence: float) -> dict[str, Any]:
        own = {
            "name": name,
            "table": "table.csv",
            "id": "person",
            "attributes": OWN[name],
            "key": f"{name}.key",
            "certificate": f"{name}.crt",
            "listen": f"127.0.0.1:{ports[name]}",
            "out": "fused",
        }
        peers = [
            {"name": other, "certificate": f"{other}.crt", "address": f"127.0.0.1:{ports[other]}"}
            for other in self.names
            if other != name
        ]
        quasi = [attribute for each in self.names for attribute in OWN[each]]
        return {
            "party": own,
            "peers": peers,
            "agreement": {
                "parties": list(self.names),
                "target": "class",
                "requirements": [{"quasi": quasi[:3], "k": 4}, {"quasi": quasi[-2:], "k": 5}],
            },
            "hierarchies": {"job": "job.csv"} if "agency" in self.names else {},
            "factors": {"provider": 1 / len(self.names)},
            "waiting": {"others": 60, "silence": silence, "step": 60},
        }

    def content(self, name: str) -> dict[str, Any]:
        """Give a copy of what a party's file says."""
        return copy.deepcopy(self.contents[name])

    def write(self) -> None:
        """Write the files of all parties."""
        for name, content in self.contents.items():
            self.file(name).write_text(tomli_w.dumps(content))

    def file(self, name: str) -> Path:
        """Give the file of a party."""
        return self.root / name / "party.toml"

    def out(self, name: str) -> Path:
        """Give the folder that a party writes."""
        return self.root / name / "fused"

    def start(
        self, name: str, *, how: str = "serve", program: str | None = None, errors: int = subprocess.PIPE
    ) -> subprocess.Popen[str]:
        """Start a party's process: the command line, or a program that gets the file as its argument."""
        what = ["-m", "sfumato", "party", how] if program is None else ["-c", program]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])}
        self.processes[name] = subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [sys.executable, *what, str(self.file(name))],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
        )
        return self.processes[name]

    def end(self, name: str) -> tuple[int, str, str]:
        """Wait for a party's process; give its exit code and what it said."""
        said, complained = self.processes[name].communicate(timeout=LONGEST)
        return self.processes[name].returncode, said, complained

    def stop_all(self) -> None:
        """Let no process outlive a test."""
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file of a folder, by its path inside it."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
