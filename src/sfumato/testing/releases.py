# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every kind of release keeps.

`check_release(release, folder)` runs them all on a release of your own kind. Each check writes into a folder of its own
inside the one that is given, and raises `AssertionError` where its law is broken.
"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Callable
from itertools import pairwise
from math import isfinite
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.core.bundle import PublishedRelease
from sfumato.core.writing import INTERNAL, PUBLIC, read_facts, render
from sfumato.errors import WriteError
from sfumato.io._dataframes import to_arrow
from sfumato.io._reading import read
from sfumato.io._values import format_values
from sfumato.io.formats import FORMATS
from sfumato.report.comparison import compare
from sfumato.report.guarantee import make_guarantee
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit, audit_context

PUBLIC_DOCUMENTS = {"promise.json", "dictionary.json", "about.html"}
DIGITS = 1e-12
REPORT = {"report.json", "report.html"}
Check = Callable[[PublishedRelease, Path], None]


def check_release(release: PublishedRelease, folder: Path) -> None:
    """Run every check on one release."""
    for check in RELEASE_CHECKS:
        check(release, folder / check.__name__)


def check_release_interface(release: PublishedRelease, folder: Path) -> None:  # noqa: ARG001 - nothing is written
    """A release has a table, an audit that holds, measures that are numbers, and a recipe in TOML."""
    assert isinstance(release, PublishedRelease)
    assert to_arrow(release.frame)[0].num_rows
    assert release.audit.holds
    assert json.loads(json.dumps(release.audit.to_dict()))["holds"] is True
    assert release.metrics
    assert all(isfinite(value) for value in release.metrics.values())
    assert tomllib.loads(release.recipe.to_toml())


def check_folder_contents(release: PublishedRelease, folder: Path) -> None:
    """`public/` holds the table and what is told about it and nothing else, `internal/` at least recipe and report."""
    release.write(_make_folder(folder) / "release")
    files = _files(folder / "release")
    assert files[PUBLIC] == {"table.csv", *PUBLIC_DOCUMENTS}
    assert files[INTERNAL] >= {"recipe.toml", *REPORT}
    assert set(files) == {PUBLIC, INTERNAL}
    if os.name == "posix":
        assert stat.S_IMODE((folder / "release" / INTERNAL).stat().st_mode) == stat.S_IRWXU


def check_recipe_is_recorded(release: PublishedRelease, folder: Path) -> None:
    """The recipe that is kept inside is the release's, and no text of `internal/` stands in `public/`."""
    release.write(_make_folder(folder) / "release")
    inside, outside = ((folder / "release" / name) for name in (INTERNAL, PUBLIC))
    assert (inside / "recipe.toml").read_text("utf-8") == release.recipe.to_toml()
    shown = "".join((outside / name).read_text("utf-8") for name in PUBLIC_DOCUMENTS)
    for kept in (path for path in inside.iterdir() if path.suffix in {".toml", ".json", ".html"}):
        assert kept.read_text("utf-8") not in shown


def check_every_format_holds_the_table(release: PublishedRelease, folder: Path) -> None:
    """The table in `public/` has the rows and cells of the frame, in every format."""
    expected, _ = to_arrow(release.frame)
    _make_folder(folder)
    for form in (each for each in FORMATS.built_in.values() if each.suffixes and each.write is not None):
        release.write(folder / form.name, table_format=form.name)
        shown = read(folder / form.name / PUBLIC / f"table{form.suffixes[0]}")
        assert shown.column_names == expected.column_names
        for name in expected.column_names:
            assert shown[name].null_count == expected[name].null_count
            assert _same(shown[name].drop_null(), expected[name].drop_null())


def check_guarantee_matches_file(release: PublishedRelease, folder: Path) -> None:
    """What receivers are told is what an audit of the very file finds, and what the dictionary says is in it."""
    release.write(_make_folder(folder) / "release", report=False)
    public = folder / "release" / PUBLIC
    shown, told = read(public / "table.csv"), json.loads((public / "promise.json").read_text("utf-8"))
    assert told["promise"] or told["no_model"]
    assert told["audit"]["holds"] is True
    assert told["audit"]["records"] == shown.num_rows
    evidence = getattr(release, "evidence", None)
    if isinstance(evidence, AuditContext) and isinstance(release.audit, Audit):
        models = [verdict.model for verdict in release.audit.verdicts]
        written = AuditContext(shown, evidence.schema, centers=evidence.centers)
        audit = audit_context(written.with_reference(models, evidence), models, compare=False)
        expected = make_guarantee(models, audit, evidence.masking.public(), counts_rows=release.audit.counts_rows)
        assert told == json.loads(json.dumps(expected))
    dictionary = json.loads((public / "dictionary.json").read_text("utf-8"))
    assert [column["name"] for column in dictionary] == shown.column_names
    assert [column["missing"] for column in dictionary] == [column.null_count for column in shown.columns]


def check_occupied_folders_are_rejected(release: PublishedRelease, folder: Path) -> None:
    """A folder that holds something is refused; an older release is replaced on demand, strangers never."""
    target = _make_folder(folder) / "release"
    release.write(target, report=False)
    before = _contents(target)
    _is_rejected(release, target, replace=False)
    assert _contents(target) == before
    release.write(target, replace=True)
    assert _files(target)[INTERNAL] >= REPORT
    (target / "notes.txt").write_text("mine", encoding="utf-8")
    _is_rejected(release, target, replace=True)
    assert (target / "notes.txt").read_text("utf-8") == "mine"


def check_interrupted_write_leaves_nothing(release: PublishedRelease, folder: Path) -> None:
    """Where writing is interrupted, at whatever point, nothing new is left, and an older release stays."""
    target = _make_folder(folder) / "release"
    stages: list[float] = []
    release.write(target, progress=lambda done, *_: stages.append(done))
    before = _contents(folder)
    assert stages[-1:] == [1.0]
    assert all(first <= second for first, second in pairwise(stages))
    for stage in stages:
        for name, replace in (("release", True), ("other", False)):

            def stop(done: float, note: str = "", stage: float = stage) -> None:  # noqa: ARG001 - as Progress
                if done >= stage:
                    raise KeyboardInterrupt

            try:
                release.write(folder / name, replace=replace, progress=stop)
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError("nothing was interrupted")
            assert _contents(folder) == before


def check_report_can_be_left_out(release: PublishedRelease, folder: Path) -> None:
    """Without the report everything else is written, and the same."""
    release.write(_make_folder(folder) / "with")
    release.write(folder / "without", report=False)
    whole, part = _contents(folder / "with"), _contents(folder / "without")
    assert whole.keys() - part.keys() == {f"{INTERNAL}/{name}" for name in REPORT}
    assert part == {name: whole[name] for name in part}


def check_report_can_be_rendered_again(release: PublishedRelease, folder: Path) -> None:
    """The page of the report can be made again from its figures, and without writing; it loads nothing from outside."""
    release.write(_make_folder(folder) / "release")
    page = (folder / "release" / INTERNAL / "report.html").read_text("utf-8")
    assert render(read_facts(folder / "release")) == page
    assert release.report().html == page
    for text in (page, (folder / "release" / PUBLIC / "about.html").read_text("utf-8")):
        assert "<script" not in text
        assert "src=" not in text


def check_metrics_match_report(release: PublishedRelease, folder: Path) -> None:
    """What a release is compared by in memory is what its folder says, read back."""
    release.write(_make_folder(folder) / "release")
    in_memory, written = (compare({"it": each}).to_dict() for each in (release, folder / "release"))
    assert json.loads(json.dumps(in_memory)) == json.loads(json.dumps(written))


def check_same_release_gives_same_bytes(release: PublishedRelease, folder: Path) -> None:
    """The same release is written alike, byte for byte."""
    for name in ("one", "two"):
        release.write(_make_folder(folder) / name)
    assert _contents(folder / "one") == _contents(folder / "two")


RELEASE_CHECKS: tuple[Check, ...] = (
    check_release_interface,
    check_folder_contents,
    check_recipe_is_recorded,
    check_every_format_holds_the_table,
    check_guarantee_matches_file,
    check_occupied_folders_are_rejected,
    check_interrupted_write_leaves_nothing,
    check_report_can_be_left_out,
    check_report_can_be_rendered_again,
    check_metrics_match_report,
    check_same_release_gives_same_bytes,
)


def _same(shown: pa.ChunkedArray, expected: pa.ChunkedArray) -> bool:
    """Return whether cells have the same texts; spreadsheets do not keep the last digits of numbers."""
    if pa.types.is_floating(expected.type):
        return bool(np.allclose(shown.to_numpy(), expected.to_numpy(), rtol=DIGITS))
    return bool(format_values(shown).equals(format_values(expected)))


def _make_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _files(folder: Path) -> dict[str, set[str]]:
    return {entry.name: {path.name for path in entry.iterdir()} for entry in folder.iterdir() if entry.is_dir()}


def _contents(folder: Path) -> dict[str, bytes | None]:
    """Read everything in a folder, by its path inside it; of folders there is nothing to read."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def _is_rejected(release: PublishedRelease, folder: Path, *, replace: bool) -> None:
    try:
        release.write(folder, replace=replace)
    except WriteError:
        return
    raise AssertionError("an occupied folder was not refused")
