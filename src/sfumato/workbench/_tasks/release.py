"""Search for a release, and keep it as a candidate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato._progress import Progress
    from sfumato.tables._pipeline.release import Release
    from sfumato.workbench.worker import WorkerState


def run_anonymize(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Carry out the recipe; the candidate gets the number of the request."""
    from sfumato.tables._pipeline.anonymize import run_recipe
    from sfumato.tables._pipeline.recipe_edits import with_title
    from sfumato.workbench._row_store import write_rows

    number = int(request["number"])
    recipe = with_title(bench.recipe(request), request["recipe"].get("input", {}).get("file", ""))
    release = run_recipe(recipe, bench.table, progress=tell)
    bench.cache_release(number, release)
    folder = bench.folder / "candidates" / str(number)
    folder.mkdir(mode=0o700, exist_ok=True)
    write_rows(release.aligned_rows(), folder / "rows.arrow")
    bench.write(folder / "recipe.toml", release.recipe.to_toml())
    facts = candidate_facts(release, request["recipe"])
    bench.write(folder / "facts.json", json.dumps(facts, default=str))  # the last one: it makes the candidate complete
    return {"candidate": number}


def candidate_facts(release: Release, made: Mapping[str, Any]) -> dict[str, Any]:
    """Return what pages tell of a candidate; `made` is the recipe that was asked for."""
    from sfumato.tables.audit.audit import unprotected_attributes
    from sfumato.workbench._tasks.evaluation import smallest_required_class

    return {
        "made": {name: value for name, value in made.items() if name not in {"input", "sfumato"}},
        "input": made.get("input", {}).get("sha256"),
        "algorithm": release.recipe.algorithm.name,
        "records": release.original.num_rows,
        "published": release.published.num_rows,
        "suppressed": release.suppressed,
        "left_out": list(release.left_out),
        "audit": release.audit.to_dict(),
        "unpromised": [each.sentence.to_dict for each in unprotected_attributes(release.audit)],
        "remarks": [each.to_dict for each in release.audit.remarks],
        "measures": dict(release.metrics),
        "masking": [record.to_dict() for record in release.masking],
        "search": None if release.proof is None else {**asdict(release.proof), "optimal": release.proof.optimal},
        "told": None if release.proof is None else release.proof.describe.to_dict,
        "publishes": release.recipe.algorithm.publishes,
        "columns": release.published.column_names,
        "alone": release.audit.records_below(2),
        "below": release.audit.records_below(smallest_required_class(release.recipe.models)),
    }


# Publish the table on fixed levels, one for every quasi-identifier, and keep it as a candidate.


def run_fixed_levels(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Carry out the recipe with `levels` instead of a search."""
    recipe = {**request["recipe"], "algorithm": {"name": "fixed-levels", "levels": request["levels"]}}
    return run_anonymize(bench, {**request, "recipe": recipe}, tell)


# Tell what a search would refuse, without searching.


def run_check(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the refusals, each with the place of its model."""
    from sfumato.tables._pipeline.request import check

    tell(0.1)
    return {"refusals": [each.to_dict() for each in check(bench.recipe(request), bench.table)]}


# Write a candidate as a release: the two folders, exactly as the command line writes them.


def run_write(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Write the candidate of the request into the release of its number."""
    number = int(request["number"])
    release = bench.release(int(request["candidate"])).with_language(request.get("language") or "en")
    release.write(
        bench.folder / "releases" / str(number),
        table_format=request.get("format", "csv"),
        excel_safe=bool(request.get("excel_safe", False)),
        report=bool(request.get("report", True)),
        progress=tell,
    )
    if request["differs"]:
        _keep_reason(bench, request)
    return {"release": number}


def _keep_reason(bench: WorkerState, request: Mapping[str, Any]) -> None:
    """Keep, inside, why a release was written that differs from the recipe of its time, and in what."""
    kept = {
        "reason": request["reason"],
        "reviewer": request.get("reviewer"),
        "differs": [
            {"place": list(place), "released": released, "recipe": asked}
            for place, released, asked in request["differs"]
        ],
    }
    path = bench.folder / "releases" / str(request["number"]) / "internal" / "outdated.json"
    bench.write(path, json.dumps(kept, ensure_ascii=False, indent=2, default=str) + "\n")


# Examine all full-domain recodings of the table: which keep the promise, and what they lose.

MAX_LISTED = 2000  # solutions that a page gets
MAX_DRAWN = 60  # nodes that a lattice is drawn with


def run_explore(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return what was found; `loss` names what the solutions are compared by."""
    from sfumato._locale.messages import LANGUAGES
    from sfumato.errors import InvalidParameterError
    from sfumato.tables._pipeline.exploration import explore
    from sfumato.tables.algorithms.full_domain.optimal import Optimal

    recipe = bench.recipe(request)
    if recipe.masking:
        raise InvalidParameterError("Masking changes the table before it is generalized; take it away to explore.")
    solutions = explore(
        bench.table,
        recipe.schema,
        recipe.models,
        Optimal(loss=request["loss"]),
        max_suppressed=recipe.max_suppressed,
        progress=tell,
    )
    ranked = solutions.ranked()
    few = len(solutions) <= MAX_DRAWN
    return {
        **solutions.to_dict(),
        "minimal": len(solutions.minimal),
        "rows": solutions.rows,
        "heights": dict(zip(solutions.explored.names, solutions.explored.heights, strict=True)),
        "judged": len(ranked),
        "ranked": [asdict(node) for node in ranked[:MAX_LISTED]],
        "lattice": {name: solutions.draw(language=name) for name in LANGUAGES} if few else None,
    }
