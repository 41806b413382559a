"""The door itself: help, version, exit codes, light start, plain output."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest
from typer.main import get_command

import sfumato
from sfumato.cli._application import app


def commands(group, above=()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        yield (*above, name)
        if hasattr(command, "commands"):
            yield from commands(command, (*above, name))


COMMANDS = list(commands(get_command(app)))
GROUPS = [(), *(command for command in COMMANDS if any(other[:-1] == command for other in COMMANDS))]
HEAVY = ["jinja2", "narwhals", "numba", "numpy", "pandas", "polars", "pyarrow", "rich", "scipy", "sklearn"]


@pytest.mark.parametrize("command", [(), *COMMANDS], ids=" ".join)
def test_help_ends_in_examples_that_name_the_command(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    _, _, examples = result.stdout.partition("Examples:\n")
    assert " ".join(["sfumato", *command]) in examples


def test_examples_use_only_options_that_exist(run):
    for command in COMMANDS:
        text, _, examples = run(*command, "--help").stdout.partition("Examples:\n")
        used = {word for word in examples.split() if word.startswith("--")}
        below = [run(*other, "--help").stdout for other in COMMANDS if other[:-1] == command]
        assert [option for option in used if option not in "".join([text, *below])] == []


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_a_group_without_a_command_shows_its_help(run, group):
    assert run(*group).stdout == run(*group, "--help").stdout
    assert run(*group).exit_code == 0


def test_version(run):
    assert run("--version").stdout == f"sfumato {sfumato.__version__}\n"


def test_help_loads_nothing_heavy(shell):
    program = f"""
import json, sys
from sfumato.cli import main
loaded = {{}}
for command in {[(), *COMMANDS]!r}:
    sys.argv = ["sfumato", *command, "--help"]
    try:
        main()
    except SystemExit as done:
        assert not done.code
    loaded[" ".join(command)] = [name for name in {HEAVY!r} if name in sys.modules]
print("\\n" + json.dumps(loaded))
"""
    done = shell(program=program)
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert len(loaded) > len(COMMANDS)
    assert {command: names for command, names in loaded.items() if names} == {}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--nothing"], "No such option: --nothing. Try '"),
        (["audt"], "No such command 'audt'. Did you mean 'audit'? Try '"),
        (["anonymize", "x.csv"], "Missing option '--out'. Try '"),
        (["anonymize", "x.csv", "--out", "o", "--k", "five"], "Invalid value for '--k'"),
        (
            ["anonymize", "x.csv", "--out", "o", "--format", "doc"],
            "--format must be one of csv, parquet, xlsx",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(shell, arguments, sentence):
    done = shell(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"sfumato: {sentence}")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_reader_that_goes_away_causes_no_traceback(tmp_path):
    command = f"'{sys.executable}' -m sfumato models --json | head -c 1"
    done = subprocess.run(  # noqa: S602 - a pipe needs a shell
        command, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout == "["
    assert done.stderr == ""


def on_terminal(tmp_path, *arguments, **environment) -> str:
    """Run a command whose output and errors are a terminal."""
    plain = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    leader, follower = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-m", "sfumato", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        cwd=tmp_path,
        env={**plain, "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        process.wait()
    os.close(leader)
    return shown.decode()


@pytest.mark.slow
def test_a_terminal_gets_colors_and_progress(tmp_path, patients_file):
    shown = on_terminal(tmp_path, "audit", patients_file, "--quasi", "sex", "--k", "2")
    assert "\x1b[32m\x1b[1mholds" in shown
    assert "Reading" in shown


@pytest.mark.slow
def test_a_terminal_without_color_gets_none(tmp_path, patients_file):
    shown = on_terminal(tmp_path, "audit", patients_file, "--quasi", "sex", "--k", "2", NO_COLOR="1")
    assert "holds" in shown
    assert "\x1b[32m" not in shown
    assert "\x1b[31m" not in shown


def test_a_pipe_gets_neither_colors_nor_progress(shell, patients_file):
    done = shell("audit", patients_file, "--quasi", "sex", "--k", "2")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
