"""What Sfumato offers and says: public names with their signatures, answers as JSON and refusals; help has its page."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from typer.testing import CliRunner

import sfumato as sf
from cli.test_refusals import BAD, BAD_AUDITS, write_tables
from frozen.tables import HOSPITAL
from sfumato.cli import app
from sfumato.cli.printing import printable
from test_bad_input import REQUESTS
from test_public_names import EXPORTS

ROLES = "--identifier name --quasi age,sex --sensitive disease"
ADDED = "--model distinct-l-diversity:l=2,sensitive=disease"
COMMANDS = (
    "models --json",
    "algorithms --json",
    "steps --json",
    "formats --json",
    "inspect t.csv --json",
    f"anonymize t.csv {ROLES} --k 4 {ADDED} --seed 1 --date 2026-01-01 --out out --json",
    f"anonymize t.csv {ROLES} --k 4 --seed 1 --date 2026-01-01 --out other",
    "audit out/public/table.csv --recipe out/internal/recipe.toml --json",
    "audit out/public/table.csv --recipe out/internal/recipe.toml --exposure --json",
    "audit t.csv --quasi age,sex --sensitive disease --k 4",
    f"risk t.csv {ROLES} --population-size 5000 --json",
    "utility out/public/table.csv --recipe out/internal/recipe.toml --original t.csv --json",
    "attack out/public/table.csv --recipe out/internal/recipe.toml --with t.csv --original t.csv --seed 1 --json",
    "compare out other --json",
    f"try t.csv {ROLES} --k 4 --seed 1 --algorithms mondrian,mdav --json",
    f"explore t.csv {ROLES} --k 4 --json",
    f"estimate out/public/table.csv {ROLES} --sum age --where sex=male --json",
    "estimate out/public/table.csv --recipe out/internal/recipe.toml --json",
    "script out/internal/recipe.toml",
    "baskets anonymize absent.dat --out out2",
    "network audit absent.csv",
    "ways audit absent.csv",
)


def names() -> Iterator[str]:
    """Yield `name(signature)` of every public object, and of the public methods of every class."""
    for each in EXPORTS:
        thing, name = each.thing, f"{each.package}.{each.name}"
        if inspect.ismodule(thing) or not callable(thing):
            yield name
            continue
        yield f"{name}{_signature(thing)}"
        for member, found in sorted(vars(thing).items()) if inspect.isclass(thing) else ():
            if not member.startswith("_"):
                shown = getattr(found, "__func__", found)
                yield f"{name}.{member}{_signature(shown) if inspect.isfunction(shown) else ''}"


def _signature(thing: object) -> str:
    try:
        return re.sub(" at 0x[0-9a-f]+", "", str(inspect.signature(thing)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""


def answers() -> Iterator[str]:
    """Yield what commands print about a small table."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        sf.write(HOSPITAL, "t.csv")
        for command in COMMANDS:
            yield from _said(command.split())


def messages() -> Iterator[str]:
    """Yield how bad requests are refused, in Python and on the command line."""
    for name, (act, *_) in REQUESTS.items():
        try:
            act()
        except sf.SfumatoError as refusal:
            yield f"{name}: {type(refusal).__name__}: {refusal}"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_tables(Path(folder))
        for arguments, *_ in BAD.values():
            yield from _said(["anonymize", *arguments, "--out", "out"])
        for arguments in BAD_AUDITS.values():
            yield from _said(["audit", *arguments])


def _said(arguments: list[str]) -> Iterator[str]:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(app, arguments)
    yield f"$ sfumato {' '.join(map(printable, arguments))}  # exit code {result.exit_code}"
    yield from (result.stdout + result.stderr).replace(str(Path.cwd()), "FOLDER").splitlines()


SNAPSHOTS = {"names": names, "answers": answers, "messages": messages}
