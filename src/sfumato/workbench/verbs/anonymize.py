"""Search for a release, and keep it as a candidate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.progress import Progress
    from sfumato.release.release import Release
    from sfumato.workbench.worker import WorkerState

ANONYMIZE_NEEDS = ("attributes", "models", "algorithm", "masking", "release", "sfumato")
ANONYMIZE_ASKS = ()


def run_anonymize(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Carry out the recipe; the candidate gets the number of the request."""
    from sfumato.release.anonymizing import run_recipe
    from sfumato.release.changing import with_title
    from sfumato.table.kept_rows import write_rows

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
    from sfumato.judging.audit.unpromised import unprotected_attributes
    from sfumato.workbench.verbs.risk import smallest_required_class

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
