"""Sentences leave the command line in its own words: no Python in a shell."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sfumato
from sfumato._entry_point_terms import translate
from sfumato.cli._application import app
from sfumato.cli._terms import ShellTerms, slugs

SOURCE = Path(sfumato.__file__).parent
OPTIONS = {
    **{name: f"--{name.replace('_', '-')}" for name in ("skip_rows", "encoding", "memory", "engine", "item", "sheet")},
    "column_type": "--column-type",
    "replace": "--replace",
    "max_suppressed": "--max-suppressed",
}
SAID = {
    "read.encoding must be the name of one; got ''.": "--encoding must be the name of one; got ''.",
    "KAnonymity.k must be at least 1; got ().": "k of k-anonymity must be at least 1; got nothing.",
    "KAnonymity.quasi must be names; got ['a', 'b'].": "quasi of k-anonymity must be names; got a,b.",
    "Recipe.models must be a list; got None.": "models of the recipe must be a list; got nothing.",
    "Recipe.max_suppressed must be a share; got 1.5.": "--max-suppressed must be a share; got 1.5.",
    "Schema.hierarchies['zip'] must be a hierarchy, such as sf.hierarchies.Intervals(5, 10).": (
        "hierarchies of the recipe of 'zip' must be a hierarchy, such as intervals:5,10."
    ),
    "Drop Schema.flags.": "Drop flags of the recipe.",
    "LKCPrivacy.L must be 1.": "L of lkc-privacy must be 1.",
    "Give it a hierarchy (such as sf.hierarchies.Prefixes()), or drop "
    "it.": "Give it a hierarchy (such as prefixes), or drop it.",
    "Say item= and give more with memory=.": "Say --item and give more with --memory.",
    "Confirm it with skip_rows=2, or name sheet='a b'.": "Confirm it with --skip-rows 2, or name --sheet 'a b'.",
    "Read it with column_types={'my zip': 'text'}.": "Read it with --column-type 'my zip=text'.",
    "Replace it with replace=True; use refine=False.": "Replace it with --replace; use refine=false.",
    'Use engine="memory" or kind="kept".': "Use --engine memory or kind=kept.",
    "DistinctLDiversity compares; take Mondrian.": "distinct-l-diversity compares; take Mondrian.",
    "Promise such as sf.graphs.KDegreeAnonymity(k=5).": "Promise such as k-degree:k=5.",
    "--hierarchy must be COLUMN=HOW, as in job=job.csv; got 'age'.": (
        "--hierarchy must be COLUMN=HOW, as in job=job.csv; got 'age'."
    ),
    "Write --bounds once per column, as in age=0,120.": "Write --bounds once per column, as in age=0,120.",
    "levels.csv must have a header.": "levels.csv must have a header.",
    "/a/b.toml must be a recipe; got ().": "/a/b.toml must be a recipe; got nothing.",
    "There is no file data/KAnonymity.csv.": "There is no file data/KAnonymity.csv.",
}
PYTHON = re.compile(
    r"""\bsf\.\w|(?<!['"\w])[A-Za-z_]+\.[a-z_]+ must |\bgot [\[({]|(?<![\w'"])(?:True|False|None)\b"""
    r"""|(?<![\w:,+'"-])[a-z_]+=(?:['"{\[(]|[ ;.]|$)|\(\)|[\[{(]'"""
)


@pytest.mark.parametrize(("python", "shell"), SAID.items())
def test_a_sentence_is_said_in_the_words_of_the_command_line(python, shell):
    assert translate(python, ShellTerms(OPTIONS)) == shell
    assert translate(shell, ShellTerms(OPTIONS)) == shell, "what is translated stays as it is"


def test_every_sentence_of_the_library_has_no_python_in_it_in_a_shell():
    words = ShellTerms(every_option(app))
    left = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if not {"testing", "workbench"} & set(path.parts):
            for line, said in sentences(ast.parse(path.read_text("utf-8"))):
                found = PYTHON.search(translate(said, words))
                if found:
                    left[f"{path.relative_to(SOURCE)}:{line}"] = (found[0], translate(said, words))
    assert left == {}


def every_option(group):
    import typer

    found = {}

    def visit(command):
        found.update({each.name: max(each.opts, key=len) for each in command.params})
        for inner in getattr(command, "commands", {}).values():
            visit(inner)

    visit(typer.main.get_command(group))
    return found


def sentences(tree):
    """Yield what is raised, with something for every part that is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            said = filled(node.exc.args[0])
            if said:
                yield node.lineno, said
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require" and len(node.args) > 3:
            owner, name, expected = (filled(each) or "read" for each in node.args[1:4])
            yield node.lineno, f"{owner}.{name} must be {expected}; got ()."


def filled(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "'x'" if part.conversion == ord("r") else "5"
            for part in node.values
        )
    if isinstance(node, ast.Name) and node.id == "self":
        return "KAnonymity"
    return None


def test_every_model_and_algorithm_has_a_name_in_the_shell():
    assert {"KAnonymity", "Mondrian", "Intervals", "KDegreeAnonymity"} <= set(slugs())
    assert {"KmAnonymity", "KDeltaAnonymity", "TopCode"} <= set(slugs())


SERVING = {"workbench", "warmup", "demo"}  # which refuse nothing, or work for long
TABLE = "age,zip,job,disease\n" + "".join(
    f"{20 + i % 9},5370{i % 4},cook,{'flu' if i % 3 else 'cold'}\n" for i in range(30)
)


def leaves(command, path=()):
    inner = getattr(command, "commands", {})
    for name, each in inner.items():
        if name not in SERVING:
            yield from leaves(each, (*path, name))
    if not inner:
        yield path, command


def asked(path, command, option=None):
    """Return the arguments of a command: for a table that is not there, or with nonsense for one option."""
    words = [*path]
    for each in command.params:
        if each.param_type_name == "argument":
            words.append("absent.csv" if option is None else "t.csv")
        elif each.required or each.name == option:
            words += [
                max(each.opts, key=len),
                "nonsense" if each.name == option else "out" if each.name == "out" else "2",
            ]
    return words


def every_refusal():
    import typer

    reading = (
        "separator",
        "encoding",
        "sheet",
        "names",
        "decimal",
        "thousands",
        "date_format",
        "column_type",
        "recipe",
    )
    for path, command in leaves(typer.main.get_command(app)):
        yield asked(path, command)
        if path[0] in {"estimate", "buckets", "audit"}:
            known = {each.name for each in command.params}
            yield from (asked(path, command, option) for option in (*reading, "missing", "model") if option in known)


@pytest.mark.parametrize("words", list(every_refusal()), ids=" ".join)
def test_no_command_refuses_in_python(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE, "utf-8")
    found = CliRunner().invoke(app, words)
    assert found.exit_code in {0, 1, 2}, found.stderr
    if found.exit_code == 2:
        assert found.stderr.splitlines()[-1].startswith("sfumato: ")
        assert not PYTHON.search(found.stderr), found.stderr
