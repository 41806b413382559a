"""Attack a candidate with a table from outside: people that somebody knows, or an older release of the same people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from sfumato.errors import InvalidParameterError, ReadError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato._progress import Progress
    from sfumato.workbench.worker import WorkerState


# Assess a candidate: the risk before and after, and what WP216, EMA and HIPAA say of what is published.

SUBSETS = 1  # the page shows nothing of larger ones, and a table of 150 columns has half a million of three
RULES = ("wp216", "ema", "hipaa")


def run_assess(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the risk, and the judgment by every rule; `population` is how many people the records come from."""
    from sfumato.tables.risk.assessment import assess_risk

    release = bench.release(int(request["candidate"]))
    found: dict[str, Any] = {"risk": release.measurements.risk(), "assessed": None, "rules": {}}
    tell(0.3)
    if release.recipe.schema.quasi_identifiers:
        people = request.get("population")
        assessed = assess_risk(release.frame, release.recipe.schema, population=people, max_subset=SUBSETS)
        tell(0.7)
        found["assessed"] = assessed.to_dict()
        found["rules"] = {name: assessed.check_compliance(name).to_dict() for name in RULES}
    return found


# Attack a candidate and its original as somebody would who knows everybody's quasi-identifiers.


def run_attack(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return what the attacks get right; None if there is nothing that attacks can read."""
    return {"attacks": bench.release(int(request["candidate"])).measurements.attacks(progress=tell)}


# Measure how exposed everybody is by a candidate.


def run_disclosure_risk(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the exposure of identities and of sensitive values; None for too large a table."""
    return {"exposure": bench.release(int(request["candidate"])).measurements.disclosure_risk(progress=tell)}


SEED = 0  # the same table gives the same figures


def run_external_attack(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return what the attacks get right; `key` is the number of the column that tells who is who in both tables."""
    from sfumato.tables.attacks._attack_table import attack

    release = bench.release(int(request["candidate"]))
    tell(0.2, "workbench.notes.reading")
    given, schema, key = _read_external_table(bench, request), release.recipe.schema, request.get("key")
    tell(0.4, "workbench.notes.attacking")
    models = release.recipe.models
    options: dict[str, Any] = {"seed": SEED, "correspondence": release.correspondence, "models": models}
    if request["kind"] == "other":
        found = attack(release.frame, schema, ["composition"], known=release.original, other=given, **options)
    elif key is None:
        found = attack(release.frame, schema, known=given, seed=SEED, models=models)
    else:
        name = bench.table.column_names[int(key)]
        found = attack(release.frame, schema, known=given, original=bench.table, key=name, **options)
    return {"rows": given.num_rows, **found.to_dict()}


def _read_external_table(bench: WorkerState, request: Mapping[str, Any]) -> pa.Table:
    from sfumato.io._reading import read_with_findings

    number = int(request["file"])
    path = next((bench.folder / "input").glob(f"outside-{number}.*"), None)
    if path is None:
        raise ReadError("The table from outside is gone; choose it again.")
    try:
        return read_with_findings(str(path), {}, propose=True).table
    except ReadError as error:
        raise ReadError(str(error).replace(str(path), "The table from outside")) from None


# Say why a record is exposed by a candidate.


def run_reasons(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return how many records agree with a row of the table, and how exposed it is; no value of it."""
    judged = bench.release(int(request["candidate"])).measurements
    judged.disclosure_risk(progress=tell)
    return judged.reasons(request["row"])


# Measure the risk of the table, given the quasi-identifiers that the recipe names.


def run_risk(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the risk, with the records in groups smaller than the promise asks for."""
    from sfumato.io._individuals import RowsPerIndividual
    from sfumato.tables.inspection._raw_risk import LIMITS, measure_raw_risk

    recipe = bench.recipe(request)
    tell(0.1)
    k = smallest_required_class(recipe.models)
    found = measure_raw_risk(bench.table, recipe.schema.quasi_identifiers, limits=sorted({*LIMITS, k}))
    rows = RowsPerIndividual.from_table(bench.table, recipe.schema.identifiers)
    counted = None if rows is None else rows.sentence.to_dict
    return {**asdict(found), "k": k, "below": found.records_below[k], "rows_counted": counted}


def smallest_required_class(models: Any, usual: int = 5) -> int:
    """Return the smallest group that some models allow; the usual one if they allow any."""
    found = max((model.min_group_size for model in models), default=1)
    return found if found > 1 else usual


# Train a classifier on the original and on a release of a part of it, and test both on the rest.


def run_classify(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return the accuracies; `column` is the number of the column to predict."""
    from sfumato.tables._pipeline.comparison import evaluate_classification

    target = bench.table.column_names[int(request["column"])]
    recipe = bench.release(int(request["candidate"])).recipe
    return evaluate_classification(recipe, bench.table, target=target, progress=tell).to_dict()


# Ask random questions of a candidate and of the original, and compare the answers.

MOST = 100_000  # questions at once


def run_queries(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return how far off the answers are, on average; `queries` is how many questions to ask."""
    from sfumato.queries.workload import Workload, relative_errors

    if isinstance(request["queries"], int) and request["queries"] > MOST:
        raise InvalidParameterError(f"At most {MOST:,} questions can be asked at once.")
    release = bench.release(int(request["candidate"]))
    schema = release.recipe.schema
    asked = min(Workload.attributes, max(len(schema.quasi_identifiers), 1))
    tell(0.1)
    workload = Workload(queries=request["queries"], attributes=asked, kind="count")
    found = relative_errors(release.frame, release.evidence.source, schema, workload).summary()
    return {"attributes": asked, **{name: value if isfinite(value) else None for name, value in found.items()}}


# Compare a candidate with the original as analysts would: columns, means, correlations, tables, a regression.


def run_utility(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Return every column before and after, and what analysts find in both tables."""
    from sfumato._progress import scale_progress

    release = bench.release(int(request["candidate"]))
    return {
        "distributions": release.measurements.distributions(progress=scale_progress(tell, 0.0, 0.5)),
        "utility": release.measurements.utility(progress=scale_progress(tell, 0.5, 1.0)),
        "rows": {"original": release.original.num_rows, "published": release.published.num_rows},
    }


# Put candidates side by side: exposure, attacks, losses and what analysts still find.


def run_compare(bench: WorkerState, request: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Compare the candidates of the request, by their numbers."""
    from sfumato.report.comparison import ReleaseComparison, candidate_from_facts

    numbers = [int(number) for number in request["candidates"]]
    found = []
    for at, number in enumerate(numbers):
        tell(at / len(numbers))
        found.append(candidate_from_facts(str(number), bench.release(number).figures()))
    return ReleaseComparison(candidates=tuple(found)).to_dict()
