"""Documentation that cannot drift: every block of every page runs, and every public name has a page.

Blocks of one page run in order, in one namespace and one temporary folder. A fence says what its block is:

- `python` runs; `pycon` runs and its output is compared, as in doctests;
- `console` (or `bash`) whose lines start with `$ sfumato` runs the command; output lines, where given, are
  compared, and `...` stands for anything; `exit=1` after the language expects that exit code instead of 0;
  `$ pip install ./FOLDER` installs a package of the page for the rest of the page;
- `toml` and `json` must parse; `file=NAME` after the language writes the block to that file first;
- `text`, `csv` and `bash` without `$ sfumato` are only shown.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sfumato
from pages import ROOT, Block, blocks, install, named, with_path
from sfumato.cli._application import app

README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial" / "first-release.md"
PLUGINS = ROOT / "docs" / "howto" / "extend-sfumato.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = {"text", "csv", "bash", "html"}
COMPARED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
LONGEST_README = 80
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
SHELL_WORDS = {"|", "||", "&", "&&", ";", "<", ">", ">>"}
STUBS = [stub.relative_to(ROOT / "src" / "sfumato").with_suffix("") for stub in (ROOT / "src").rglob("*.pyi")]
NAMESPACES = sorted({".".join(part for part in stub.parts if part != "__init__") for stub in STUBS} - {""})
TOP_PAGES = [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
WRITTEN = [*PAGES, *TOP_PAGES, *sorted((ROOT / "src").rglob("*.py"))]
FLAT_NAME = re.compile(r"(?<![\w.])sf\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
MODULE_PATH = re.compile(r"(?<![\w./@-])sfumato(?:\.[A-Za-z_]\w*)+")
FILE_PATH = re.compile(r"(?<![\w./-])(?:src/sfumato|tests|scripts|benchmarks|docs)/[\w./-]+")
ENTRY_POINTS = {
    "sfumato.models",
    "sfumato.algorithms",
    "sfumato.formats",
    "sfumato.steps",
}  # groups of entry points, no modules
IMAGINED = {"simpson_l_diversity", "test_simpson_l_diversity", "test_laws"}  # the model that a page adds
INSTALLED = Path("packages-of-the-page")


def run_block(block: Block, module: types.ModuleType) -> None:
    block.write_file(Path())
    if block.language == "python":
        code = compile("\n" * (block.line - 1) + block.body, named(block.page), "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, vars(module))  # noqa: S102 - the pages are ours
    elif block.language == "pycon":
        run_session(block, module)
    elif block.language in {"console", "bash"} and block.body.startswith("$ "):
        run_commands(block)
    elif block.language == "toml":
        tomllib.loads(block.body)
    elif block.language == "json":
        json.loads(block.body)
    else:
        assert block.language in SHOWN, f"{block.place}: nothing runs a block of kind {block.language!r}."


def run_session(block: Block, module: types.ModuleType) -> None:
    session = doctest.DocTestParser().get_doctest(
        block.body, vars(module), named(block.page), str(block.page), block.line - 1
    )
    assert session.examples, f"{block.place}: a session without any >>> line."
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=COMPARED)
    failed = runner.run(session, out=report.write, clear_globs=False).failed
    vars(module).update(session.globs)
    assert failed == 0, report.getvalue()


def run_commands(block: Block) -> None:
    run = run_in_a_shell if block.page in {TUTORIAL, PLUGINS} else run_here
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        command, _, expected = re.sub(r"\\\n\s*", "", part).partition("\n")
        if command.startswith("pip install ./"):
            install(Path(command.removeprefix("pip install ")), INSTALLED)
            continue
        assert command.startswith("sfumato "), f"{block.place}: only sfumato is run here, not {command!r}."
        exit_code, written = run(command)
        assert exit_code == int(block.options.get("exit", "0")), f"{block.place}: {command}\n{written}"
        same = doctest.OutputChecker().check_output(expected, written, COMPARED)
        assert same or not expected.strip(), f"{block.place}: {command}\n{written}"


def run_in_a_shell(command: str) -> tuple[int, str]:
    """Run the installed command as readers do: slow, so only where that is the point or something is installed."""
    installed = Path(sys.executable).parent
    shell = {**os.environ, **PLAIN, "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(  # noqa: S602 - the pages are ours
        command, shell=True, capture_output=True, text=True, check=False, env=shell
    )
    return done.returncode, done.stdout + done.stderr


def run_here(command: str) -> tuple[int, str]:
    """Run a command in this process, where everything is loaded already."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    program, *arguments = words
    assert not SHELL_WORDS & set(arguments), f"{command!r} needs a shell."
    done = CliRunner().invoke(app, arguments, prog_name=program, env=PLAIN)
    return done.exit_code, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=named)
def test_blocks_of_the_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    INSTALLED.mkdir()
    monkeypatch.syspath_prepend(tmp_path / INSTALLED)
    monkeypatch.setenv("PYTHONPATH", with_path(tmp_path / INSTALLED))
    module = types.ModuleType("page_under_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks(page.read_text("utf-8"), page):
        run_block(block, module)


def unmentioned(names: Iterable[str], before: str = "") -> list[str]:
    """List the names that no page shows as code, or not with this right in front."""
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    return [name for name in names if not re.search(rf"{before}(?<![\w-]){re.escape(name)}(?![\w-])", code)]


def test_every_public_name_is_on_a_page():
    assert unmentioned(sfumato.__all__, before=r"(?:`|\bsf\.)") == []


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_name_of_a_namespace_is_on_a_page(namespace):
    names = importlib.import_module(f"sfumato.{namespace}").__all__
    assert unmentioned(set(names) - set(sfumato.__all__), before=rf"(?:`|\bsf\.{namespace}\.)") == []


def resolves(dotted: str) -> bool:
    """Whether a path such as sfumato.models.KAnonymity.levels leads to something."""
    thing, path = sfumato, "sfumato"
    for part in dotted.split(".")[1:]:
        path += f".{part}"
        if isinstance(thing, types.ModuleType) and not hasattr(thing, part):
            if importlib.util.find_spec(path) is None:
                return False
            importlib.import_module(path)
        elif part in getattr(thing, "__dataclass_fields__", {}):
            return True
        thing = getattr(thing, part, None)
        if thing is None:
            return False
    return True


def leading_nowhere(text: str) -> set[str]:
    """Find the names of Sfumato in a text that it does not have."""
    said = {f"sfumato.{found[1]}" for found in FLAT_NAME.finditer(text)} | {f[0] for f in MODULE_PATH.finditer(text)}
    return {dotted for dotted in said if not resolves(dotted)}


def test_every_name_that_is_written_leads_somewhere():
    found = {named(page): leading_nowhere(page.read_text("utf-8")) - ENTRY_POINTS for page in WRITTEN}
    assert {page: names for page, names in found.items() if names} == {}


def test_a_name_that_leads_nowhere_is_seen():
    good = (
        "sf.audit sf.queries.Query `sfumato.tables.models.k_anonymity.KAnonymity.levels`"
        " sfumato.tables.published.groups sf.Audit.verdicts"
    )
    assert leading_nowhere(good) == set()
    bad = "sf.PrivateTable sf.dp.PrivatTable sfumato.auditing.audit `sfumato.models.KAnonymity.level` sf.Audit.x"
    assert len(leading_nowhere(bad)) == 5


def test_every_file_that_is_named_is_there():
    paths = {path.rstrip(".") for page in WRITTEN for path in FILE_PATH.findall(page.read_text("utf-8"))}
    assert len(paths) > 10
    assert {path for path in paths if not (ROOT / path).exists() and Path(path).stem not in IMAGINED} == set()


@pytest.mark.parametrize("kind", ["MODELS", "ALGORITHMS", "METRICS"])
def test_everything_in_the_catalogue_is_on_a_page(kind):
    entries = getattr(importlib.import_module("sfumato.tables._catalogue"), kind)
    assert entries
    assert unmentioned(entries) == []


def test_every_exception_is_on_a_page():
    exceptions = inspect.getmembers(importlib.import_module("sfumato.errors"), inspect.isclass)
    ours = [name for name, kind in exceptions if issubclass(kind, Exception)]
    assert "SfumatoError" in ours
    assert unmentioned(ours) == []


def test_the_page_of_the_command_line_says_what_the_commands_say():
    made = runpy.run_path(str(ROOT / "scripts" / "command_line_page.py"))
    assert made["PAGE"].read_text("utf-8") == made["page"](), "Run: python scripts/command_line_page.py"


def test_every_decision_is_in_the_list_of_decisions():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text("utf-8")
    assert [page.name for page in folder.glob("[0-9]*.md") if f"]({page.name})" not in index] == []


def test_the_readme_is_short():
    assert len(README.read_text("utf-8").splitlines()) <= LONGEST_README


DRIFTED = [
    ("python", "1 / 0", ZeroDivisionError),
    ("pycon", ">>> 1 + 1\n3", AssertionError),
    ("pycon", "no session", AssertionError),
    ("toml", "k = = 3", tomllib.TOMLDecodeError),
    ("json", "{,}", json.JSONDecodeError),
    ("yaml", "k: 3", AssertionError),
    ("console", "$ rm file", AssertionError),
    ("console", "$ sfumato no-such-command", AssertionError),
    ("console", "$ sfumato models\nnothing of the kind", AssertionError),
    ("console exit=1", "$ sfumato models", AssertionError),
    ("console", "$ sfumato models | head", AssertionError),
]


@pytest.mark.parametrize(("info", "body", "error"), DRIFTED)
def test_a_page_that_drifts_is_seen(tmp_path, monkeypatch, info, body, error):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(f"```{info}\n{body}\n```\n", ROOT / "docs" / "imagined.md")
    with pytest.raises(error):
        run_block(block, types.ModuleType("imagined"))


def test_a_page_that_holds_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "```toml file=k.toml\nk = 3\n```\n- listed:\n    ```pycon\n    >>> 1 + 1\n    2\n    ```\n"
    kinds = []
    for block in blocks(text, ROOT / "docs" / "imagined.md"):
        run_block(block, types.ModuleType("imagined"))
        kinds.append(block.language)
    assert kinds == ["toml", "pycon"]
    assert Path("k.toml").read_text("utf-8") == "k = 3\n"
