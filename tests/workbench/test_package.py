"""The package of the workbench: no computation in it, everything it needs in the wheel, and nothing loaded early."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

import sfumato.workbench
from sfumato.workbench._rendering import PLACES, load_templates
from sfumato.workbench._session import STEPS

PACKAGE = Path(sfumato.workbench.__file__).parent
NAMES = {"Sfumato", "public", "internal", "recipe", "toml", "release"}
FORBIDDEN = ("numpy", "pyarrow.compute", "scipy", "numba", "pandas", "polars")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_is_computed_here(path):
    assert [name for name in imported(path) if name.startswith(FORBIDDEN)] == []


@pytest.mark.parametrize("step", PLACES)
def test_every_step_has_a_page_a_template_and_words(step):
    assert (PACKAGE / "_pages" / f"{step}.py").exists()
    assert (PACKAGE / "templates" / f"{step}.html.j2").exists()
    words = PACKAGE.parent / "_locale"
    assert (words / "en" / f"workbench_{step}.toml").exists()
    assert (words / "zh" / f"workbench_{step}.toml").exists()


def test_the_steps_are_nine():
    assert len(STEPS) == 9


@pytest.mark.parametrize("path", sorted((PACKAGE / "templates").glob("*.j2")), ids=lambda path: path.name)
def test_templates_hold_no_words_of_their_own(path):
    """What a reader reads comes from the words; signs, names of files and of the project itself are no words."""
    parsed = Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
    written = "".join(str(data.data) for data in parsed.find_all(nodes.TemplateData))
    written = re.sub(r"<(code|pre|kbd)[^>]*>[^<]*</\1>", "", written)
    shown = re.sub(r"<[^>]*>", " ", written)
    assert set(re.findall(r"[A-Za-z]{3,}", shown)) <= NAMES


@pytest.mark.parametrize(
    "path", [*(PACKAGE / "templates").iterdir(), *(PACKAGE / "static").iterdir()], ids=lambda path: path.name
)
def test_every_address_is_relative(path):
    """What begins with a slash would lead out of the secret path, where nothing is answered."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(
        r"""=["']/|(fetch|send|assign|replace|EventSource)\((["']\w+["'], )?["'`]/|from ["']/|url\(/""", text
    )


@pytest.mark.slow
def test_the_wheel_has_everything(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, check=True, cwd=PACKAGE.parents[2], capture_output=True)  # noqa: S603 - our own build
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = set(wheel.namelist())
    here = [path for path in (*PACKAGE.rglob("*"), *(PACKAGE.parent / "_locale").rglob("*")) if path.is_file()]
    needed = {path.relative_to(PACKAGE.parents[1]).as_posix() for path in here if "__pycache__" not in path.parts}
    assert needed <= packed


@pytest.mark.slow
def test_importing_sfumato_loads_no_server():
    said = "import sfumato, sfumato.cli._application, sys; print('starlette' in sys.modules, 'uvicorn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], check=True, capture_output=True, text=True)  # noqa: S603 - ours
    assert done.stdout.strip() == "False False"


def test_all_templates_can_be_read():
    assert load_templates().list_templates()
