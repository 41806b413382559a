"""Open a table: read it, keep its rows, inspect it and propose a recipe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.exceptions import ReadError

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.inspection.detect import Inspection
    from sfumato.workbench.worker import Bench

NEEDS = ()
ASKS = ("place", "name")
PERSONS = 5_000  # in the made-up table


def run(bench: Bench, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Open what the request names: `place`, a path or a URL, and `name` for people; a made-up table is made first.

    Everything is written beside the table that is open, which the server exchanges for it at the end.
    """
    from sfumato.inspection.detect import inspect_columns
    from sfumato.release.proposing import propose_recipe, to_remember
    from sfumato.reporting.column_details import column_details
    from sfumato.table.formats.guessing import in_language
    from sfumato.table.kept_rows import keep_rows
    from sfumato.table.read import load
    from sfumato.threads import in_threads

    tell(0.05, "workbench.notes.reading")
    place = str(request["place"])
    if request.get("made_up"):
        _make_up(Path(place))
    try:
        with in_language(request.get("language")):
            loaded = load(place, request.get("reading") or {}, propose=True)
    except ReadError as error:
        raise ReadError(str(error).replace(place, request["name"])) from None
    tell(0.4, "workbench.notes.inspecting")
    found = inspect_columns(loaded.table, labels=loaded.labels)
    tell(0.6, "workbench.notes.proposing")
    recipe = propose_recipe(found, loaded.table, reading=loaded.reading)
    tell(0.8, "workbench.notes.keeping")
    folder = bench.folder / "tables" / str(request["number"])
    folder.mkdir(mode=0o700, exist_ok=True)
    keep_rows(loaded.table, folder / "original.arrow")
    details = list(in_threads(column_details, loaded.table.columns, loaded.table.num_rows))
    bench.write(folder / "columns.json", json.dumps(details, default=str))
    bench.write(folder / "inspection.json", json.dumps(_facts(found), default=str))
    bench.write(folder / "recipe.json", json.dumps(replace(recipe, input_file=request["name"]).to_dict(), default=str))
    remarks = [each.replace(place, request["name"]) for each in loaded.remarks]
    return {
        "table": request["number"],
        "source": {
            "sha256": recipe.input_sha256,
            "reading": to_remember(loaded.reading),
            "remarks": [*remarks, *found.remarks],
            "given": request.get("reading") or {},
            **_choices(place),
        },
    }


def _choices(place: str) -> dict[str, Any]:
    """Return which options of reading there are for such a file, and the sheets of a workbook."""
    from sfumato.table.formats.excel import sheet_names
    from sfumato.table.formats.known import format_of

    form = format_of(place, ReadError)
    return {
        "options": sorted(form.read_options),
        "sheets": sheet_names(Path(place)) if form.name == "xlsx" else [],
    }


def _facts(found: Inspection) -> dict[str, Any]:
    """Return what was found as plain values, with the keys of reasons, so that they can be said in other words."""
    facts = found.to_dict()
    for entry, proposal in zip(facts["attributes"], found.proposals, strict=True):
        entry["reasons"] = [reason.told for reason in proposal.reasons]
    return facts


def _make_up(path: Path) -> None:
    from sfumato.samples.population import generate
    from sfumato.table.write import write

    path.unlink(missing_ok=True)
    write(generate(PERSONS, seed=0), path)
