"""The shape of the project, held by tests: sizes, names, layers, what loads when, what stands in no file."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import sfumato

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "sfumato"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]
LONGEST_FILE = 700
LONGEST_FUNCTION = 60

# Places where anything can go, so that in time everything does.
BANNED_HOMES = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "handler", "processor"}
BANNED_HOMES |= {"factory", "service"}
# Abbreviations that only the field reads, and leftovers of an earlier attempt.
BANNED_EVERYWHERE = {"qi", "qis", "sa", "ec", "ecs", "data2", "v2", "new", "legacy"}

HEAVY = ["jinja2", "narwhals", "numba", "numpy", "pyarrow", "rich", "scipy", "typer"]
MODULES = {"scikit-learn": "sklearn", "pynacl": "nacl"}  # named otherwise than the package that brings them
EXTRAS = ["pandas", "polars"] + [
    MODULES.get(name := re.split(r"[<>=\[ ]", requirement)[0], name.replace("-", "_"))
    for extra, requirements in PROJECT["project"]["optional-dependencies"].items()
    if extra != "all"
    for requirement in requirements
]

LEFT_OUT = {
    "site",
    "dist",
    "build",
    "long-run-logs",
    "__pycache__",
    "sfumato-demo",
    "sfumato-thesis",
    "sfumato-maa-slie",
    "sfumato-fusion",
}
HIDDEN_BUT_OURS = {".ci", ".github", ".gitignore", ".pre-commit-config.yaml"}
MACHINE_PATH = re.compile(r"(?<![\w.:/*-])/(?:home|root|Users|tmp|work|opt|mnt|workspace)/\w")
REGISTRY_HOST = re.compile(
    r"\b(?:pypi\.org|pythonhosted\.org|anaconda\.org|conda\.io|npmjs\.(?:com|org)|crates\.io"
    r"|deb\.debian\.org|security\.debian\.org|archive\.ubuntu\.com|ghcr\.io|docker\.io)\b"
)


@functools.cache
def sources() -> dict[Path, ast.Module]:
    """Parse every file of the package, once a test asks for it."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def modules() -> list[str]:
    found = pkgutil.walk_packages(sfumato.__path__, "sfumato.")
    return ["sfumato", *(module.name for module in found if not module.name.endswith("__main__"))]


def nodes(tree: ast.Module, *kinds: type[ast.AST]) -> list:
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])", name)}


def written_files() -> Iterator[Path]:
    pending = [ROOT]
    while pending:
        for path in sorted(pending.pop().iterdir()):
            hidden = path.name.startswith(".") and path.name not in HIDDEN_BUT_OURS
            if hidden or path.name in LEFT_OUT or path.is_symlink():
                continue
            if path.is_dir():
                pending.append(path)
            else:
                yield path


def run_python(program: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_files_are_short_enough_to_read():
    lines = {named(path): len(path.read_text("utf-8").splitlines()) for path in sources()}
    assert {path: count for path, count in lines.items() if count > LONGEST_FILE} == {}


def test_functions_are_short_enough_to_read():
    lengths = {
        f"{named(path)}:{function.name}": function.end_lineno - function.lineno + 1
        for path, tree in sources().items()
        for function in nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FUNCTION} == {}


def test_no_home_is_named_for_nothing_in_particular():
    homes = [part for path in sources() for part in path.relative_to(PACKAGE).with_suffix("").parts]
    homes += [node.name for tree in sources().values() for node in nodes(tree, ast.ClassDef)]
    assert [name for name in homes if words(name) & BANNED_HOMES] == []


def test_names_are_spelled_out_and_have_no_history():
    found = [part for path in sources() for part in path.relative_to(PACKAGE).with_suffix("").parts]
    for tree in sources().values():
        found += [node.name for node in nodes(tree, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)]
        found += [node.arg for node in nodes(tree, ast.arg)]
    ours = [name for name in found if not name.startswith("__") and name != "SaNGreeA"]  # Python's; a paper's
    assert [name for name in ours if words(name) & BANNED_EVERYWHERE] == []


def test_no_two_public_classes_of_one_package_share_a_name():
    homes: dict[tuple[str, str], list[str]] = {}
    for path, tree in sources().items():
        package = path.relative_to(PACKAGE).parts[0]
        for each in nodes(tree, ast.ClassDef):
            if not each.name.startswith("_"):
                homes.setdefault((package, each.name), []).append(named(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_only_the_command_line_prints():
    prints = [
        f"{named(path)}:{call.lineno}"
        for path, tree in sources().items()
        if path.relative_to(PACKAGE).parts[0] != "cli"
        for call in nodes(tree, ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id == "print"
    ]
    assert prints == []


@pytest.mark.parametrize("module", modules())
def test_every_name_a_module_exports_exists(module):
    loaded = importlib.import_module(module)
    exported = getattr(loaded, "__all__", [])
    assert [name for name in exported if not hasattr(loaded, name)] == []
    assert len(set(exported)) == len(exported)


@pytest.mark.slow
def test_importing_the_package_and_its_namespaces_loads_nothing_heavy():
    namespaces = [f"sfumato.{stub.parent.name}" for stub in PACKAGE.glob("*/__init__.pyi")]
    namespaces += [f"sfumato.{stub.stem}" for stub in PACKAGE.glob("[!_]*.pyi")]
    program = f"""
import importlib, json, sys
loaded = {{}}
for name in {["sfumato", *namespaces]!r}:
    dir(importlib.import_module(name))
    loaded[name] = [each for each in {HEAVY + EXTRAS!r} if each in sys.modules]
print(json.dumps(loaded))
"""
    loaded = json.loads(run_python(program))
    assert len(loaded) > 10
    assert {name: heavy for name, heavy in loaded.items() if heavy} == {}


@pytest.mark.slow
def test_the_core_works_without_the_extras():
    program = f"""
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
import pyarrow as pa
import sfumato as sf

table = pa.table({{"age": [30, 31, 50, 51], "disease": ["flu", "cold", "flu", "cold"]}})
schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
release = sf.anonymize(table, schema, models=[sf.models.KAnonymity(k=2)], algorithm=sf.algorithms.Mondrian())
assert release.audit.holds
assert isinstance(release.frame, pa.Table)
assert release.frame.num_rows == 4
loaded = [name for name in {EXTRAS!r} if name in sys.modules]
assert not loaded, loaded
"""
    run_python(program)


def test_the_extras_that_are_blocked_are_installed():
    assert [name for name in EXTRAS if importlib.util.find_spec(name) is None] == []


def test_the_import_contracts_have_no_exceptions():
    assert [contract["type"] for contract in CONTRACTS] == ["layers", "independence", "layers"]
    assert not any(key.startswith(("ignore", "allow")) for contract in CONTRACTS for key in contract)
    assert CONTRACTS[1]["modules"] == ["sfumato.tables.algorithms", "sfumato.tables.audit"]


def test_every_module_has_its_place_in_the_layers():
    layers = {
        name.strip() for layer in CONTRACTS[0]["layers"] for name in re.split(r"[|:]", layer)
    }  # a module is placed if it or a package around it is
    loose = []
    for module in modules():
        parts = module.split(".")
        around = {".".join(parts[:length]) for length in range(2, len(parts) + 1)}
        if module != "sfumato" and not around & layers and not is_facade(module):
            loose.append(module)
    assert loose == []


def is_facade(module: str) -> bool:
    """Whether a module defines nothing: a namespace with a stub, or a package with a docstring alone."""
    path = Path(importlib.util.find_spec(module).origin)
    return path.with_suffix(".pyi").exists() or not nodes(
        ast.parse(path.read_text("utf-8")), ast.FunctionDef, ast.ClassDef
    )


def test_types_are_strict_everywhere():
    mypy = PROJECT["tool"]["mypy"]
    assert mypy["strict"] is True
    assert "exclude" not in mypy
    assert all(set(override) == {"module", "ignore_missing_imports"} for override in mypy["overrides"])
    assert not any("sfumato" in name for override in mypy["overrides"] for name in override["module"])


def test_a_thorough_run_draws_more_examples_for_every_property():
    own = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if re.search(r"max_examples=\d", path.read_text("utf-8"))
    ]
    assert own == [], "Say @examples(number) of tests/drawn_examples.py instead."


def test_no_file_names_a_path_of_somebodys_machine_or_a_registry():
    found = []
    for path in written_files():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        for pattern in (MACHINE_PATH, REGISTRY_HOST):
            found += [f"{named(path)}: {match.group()}" for match in pattern.finditer(text)]
    assert found == []


def test_ci_runs_the_test_command_of_the_readme_and_nothing_else():
    top = (ROOT / "README.md").read_text("utf-8").partition("\n## ")[0]
    commands = re.findall(r"^```bash\n(.*?)\n```$", top, flags=re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    assert not any("\n" in command for command in commands)
    demo, tests = commands
    assert demo.endswith("sfumato demo")
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines == ["#!/usr/bin/env bash", "set -euo pipefail", 'cd "$(dirname "$0")/.."', tests]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "extra"),
    [
        (
            "import sfumato.mining.association_rules as rules; rules.mine_frequent_itemsets([['a'], ['a']], support=1)",
            "rules",
        ),
        ("from sfumato.fusion.certificates import create_credentials; create_credentials('a', None)", "parties"),
    ],
    ids=["rules", "parties"],
)
def test_what_needs_an_extra_says_which(program, extra):
    blocked = f"""
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from sfumato.errors import SfumatoError
try:
    {program}
except SfumatoError as error:
    print(error)
"""
    assert f'pip install "sfumato[{extra}]"' in run_python(blocked)
