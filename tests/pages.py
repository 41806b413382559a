"""The fenced blocks of the documentation, and packages that pages show."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    language: str
    options: dict[str, str]
    body: str

    @property
    def place(self) -> str:
        """Where the block stands, for messages."""
        return f"{named(self.page)}, line {self.line}"

    def write_file(self, folder: Path) -> None:
        """Write the block to the file that its fence names, if it names one."""
        if "file" in self.options:
            path = folder / self.options["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.body, "utf-8")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str, page: Path) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        language, *options = found["info"].split() or [""]
        line = text.count("\n", 0, found.start("body")) + 1
        body = re.sub(f"^{found[1]}", "", found["body"], flags=re.MULTILINE)
        yield Block(page, line, language, dict(option.split("=", 1) for option in options), body)


def install(project: Path, target: Path) -> None:
    """Install a package into a folder, offline and without what it depends on, which is here already."""
    quiet = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
    command = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(target), str(project.absolute())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own interpreter
    assert done.returncode == 0, done.stderr
    importlib.invalidate_caches()


def with_path(*folders: Path) -> str:
    """Return a PYTHONPATH that begins with these folders."""
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
