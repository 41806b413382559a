"""Open a table: read it, keep its rows, inspect it and propose a recipe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import ReadError

if TYPE_CHECKING:
    from sfumato._progress import Progress
    from sfumato.tables.inspection.inspection import Inspection
    from sfumato.workbench.worker import WorkerState

PERSONS = 5_000  # in the made-up table


def run_open(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Open what the request names: `place`, a path or a URL, and `name` for people; a made-up table is made first.

    Everything is written beside the table that is open, which the server exchanges for it at the end.
    """
    from sfumato._threads import map_in_threads
    from sfumato.io._encoding_detection import prefer_language
    from sfumato.io._reading import read_with_findings
    from sfumato.report.sections.distributions import column_summary
    from sfumato.tables._pipeline.presets import non_default_options, propose_recipe
    from sfumato.tables.inspection.inspection import inspect_columns
    from sfumato.workbench._row_store import write_rows

    tell(0.05, "workbench.notes.reading")
    place = str(request["place"])
    if request.get("made_up"):
        _write_synthetic_table(Path(place))
    try:
        with prefer_language(request.get("language")):
            loaded = read_with_findings(place, request.get("reading") or {}, propose=True)
    except ReadError as error:
        raise ReadError(str(error).replace(place, request["name"])) from None
    tell(0.4, "workbench.notes.inspecting")
    found = inspect_columns(loaded.table, labels=loaded.labels)
    tell(0.6, "workbench.notes.proposing")
    recipe = propose_recipe(found, loaded.table, reading=loaded.reading)
    tell(0.8, "workbench.notes.keeping")
    folder = bench.folder / "tables" / str(request["number"])
    folder.mkdir(mode=0o700, exist_ok=True)
    write_rows(loaded.table, folder / "original.arrow")
    details = list(map_in_threads(column_summary, loaded.table.columns, loaded.table.num_rows))
    bench.write(folder / "columns.json", json.dumps(details, default=str))
    bench.write(folder / "inspection.json", json.dumps(_inspection_facts(found), default=str))
    bench.write(folder / "recipe.json", json.dumps(replace(recipe, input_file=request["name"]).to_dict(), default=str))
    remarks = [each.replace(place, request["name"]) for each in loaded.remarks]
    return {
        "table": request["number"],
        "source": {
            "sha256": recipe.input_sha256,
            "reading": non_default_options(loaded.reading),
            "remarks": [*remarks, *found.remarks],
            "given": request.get("reading") or {},
            **_reading_choices(place),
        },
    }


def _reading_choices(place: str) -> dict[str, Any]:
    """Return which options of reading there are for such a file, and the sheets of a workbook."""
    from sfumato.io._excel import sheet_names
    from sfumato.io.formats import resolve_format

    form = resolve_format(place, ReadError)
    return {
        "options": sorted(form.read_options),
        "sheets": sheet_names(Path(place)) if form.name == "xlsx" else [],
    }


def _inspection_facts(found: Inspection) -> dict[str, Any]:
    """Return what was found as plain values, with the keys of reasons, so that they can be said in other words."""
    facts = found.to_dict()
    for entry, proposal in zip(facts["attributes"], found.proposals, strict=True):
        entry["reasons"] = [reason.to_dict for reason in proposal.reasons]
    return facts


def _write_synthetic_table(path: Path) -> None:
    from sfumato.datasets.hospital import generate_hospital
    from sfumato.io._writing import write

    path.unlink(missing_ok=True)
    write(generate_hospital(PERSONS, seed=0), path)
