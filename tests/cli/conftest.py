"""What tests of the command line share: a small table, and ways to run commands in this process and in others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import sfumato as sf
from sfumato.cli._application import app

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Run a command in this process."""

    def run_here(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run_here


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command in a process of its own, in a folder of its own."""

    def run_there(*arguments: object, program: str | None = None) -> subprocess.CompletedProcess[str]:
        start = ["-m", "sfumato"] if program is None else ["-c", program]
        plain = {**os.environ, "COLUMNS": "100"}
        plain.pop("NO_COLOR", None)
        return subprocess.run(  # noqa: S603 - our own interpreter and program
            [sys.executable, *start, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=plain,
        )

    return run_there


@pytest.fixture(scope="session")
def patients_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 300 made-up patients to a file."""
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    sf.write(sf.datasets.generate_hospital(300, seed=11), path)
    return path
