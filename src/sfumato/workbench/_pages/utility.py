"""Utility: what the published table is still good for, next to the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from sfumato import _number_format
from sfumato._locale.messages import Messages
from sfumato.report._presentation import embed_svg
from sfumato.report.charts.bars import draw_attribute, draw_legend
from sfumato.report.sections.utility import present_findings
from sfumato.workbench._pages._context import chosen_candidate, metric_rows, parse_integer
from sfumato.workbench._session import Session

QUERIES = 300
MAX_CLASSES = 50
PREDICTED_FIRST = ("sensitive", "insensitive", "quasi")


def page_context(desk: Session, say: Messages, query: Mapping[str, str]) -> dict[str, Any]:
    """Arrange the distribution of the chosen column, findings, measures, queries and the classifier."""
    about = chosen_candidate(desk)
    asked, found = about["asked"], about["found"]
    compared = desk.result("utility", **asked) if asked else None
    queried = {**asked, "queries": QUERIES}
    targets = [] if found is None else _targets(desk, found)
    target = _number(query.get("predict"), [each["number"] for each in targets])
    learning = {**asked, "column": target}
    return {
        **about,
        "compared": compared,
        **({} if compared is None else _column(desk, compared, say, query)),
        "tables": [] if compared is None or compared["utility"] is None else present_findings(compared["utility"], say),
        "measures": [] if found is None else metric_rows(say, found["measures"]),
        "query_asked": queried,
        "errors": _query_errors(desk.result("query", **queried)) if asked else None,
        "targets": targets,
        "target": target,
        "learn_asked": learning,
        "learned": _classifier_rows(desk.result("classify", **learning), say) if asked and target is not None else None,
        "can_learn": find_spec("sklearn") is not None,
        "failed": desk.job if desk.job is not None and desk.job.state == "failed" else None,
    }


def _column(desk: Session, compared: Mapping[str, Any], say: Messages, query: Mapping[str, str]) -> dict[str, Any]:
    """Arrange the column that is looked at: its picture, and the numbers of the picture."""
    described = {desk.columns.index(each["name"]): each for each in compared["distributions"]}
    number = _number(query.get("column"), list(described))
    if number is None:
        return {"columns": [], "column": None}
    each, rows = described[number], compared["rows"]
    lines = [*each["bars"]]
    if each["other"]["values"]:
        lines.append({**each["other"], "text": say("workbench_utility.other", n=each["other"]["values"])})
    if each["missing"]["before"] or each["missing"]["after"]:
        lines.append({**each["missing"], "text": say("workbench_utility.missing")})
    if each["suppressed_cells"]:
        text = say("workbench_utility.unpublished")
        lines.append({"before": 0, "after": each["suppressed_cells"], "text": text})
    return {
        "columns": [(at, one["name"]) for at, one in described.items()],
        "column": number,
        "name": each["name"],
        "picture": embed_svg(draw_attribute(each, rows, say)),
        "legend": embed_svg(draw_legend(say)),
        "lines": [(line["text"], *_shares(line, rows)) for line in lines],
        "labels": each["labels"],
        "about_column": _column_summary(each, rows, say),
    }


def _column_summary(each: Mapping[str, Any], rows: Mapping[str, int], say: Messages) -> str:
    """Say how many values are left, and what is hidden."""
    sentences = [say("workbench_utility.distinct", **each["distinct"])]
    if each["suppressed_cells"]:
        sentences.append(say("workbench_utility.starred", n=each["suppressed_cells"]))
    if rows["original"] > rows["published"]:
        sentences.append(say("workbench_utility.left_out", n=rows["original"] - rows["published"]))
    return say.join_sentences(sentences)


def _shares(line: Mapping[str, Any], rows: Mapping[str, int]) -> tuple[str, ...]:
    sides = (("before", rows["original"]), ("after", rows["published"]))
    told = []
    for side, whole in sides:
        told += [_number_format.format_count(line[side]), _number_format.format_percent(line[side] / max(whole, 1))]
    return tuple(told)


def _number(given: str | None, choices: Sequence[int]) -> int | None:
    """Read the number of a column; the first one if none is given."""
    found = parse_integer(given, 0, max(choices, default=0))
    return found if found in choices else next(iter(choices), None)


def _query_errors(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    shares = ("mean_expected_error", "median_expected_error", "mean_bound_error", "median_bound_error", "within_bounds")
    return {**found, **{name: "" if found[name] is None else _percent(found[name]) for name in shares}}


def _percent(share: float) -> str:
    """Write a share that may exceed 1."""
    return _number_format.format_percent(share) if share <= 1 else f"{_number_format.format_count(100 * share)}%"


def _targets(desk: Session, found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the published columns that a classifier can predict, sensitive ones first."""
    schema, inspected = desk.recipe.schema, desk.inspection["attributes"] if desk.inspection else []
    roles = {name: schema.role(name).value for name in schema.attributes}
    usable = [
        {"number": number, "name": each["name"], "role": roles.get(each["name"], "")}
        for number, each in enumerate(inspected)
        if each["name"] in found["columns"] and 1 < each["distinct"] <= MAX_CLASSES
    ]
    return sorted(
        (each for each in usable if each["role"] in PREDICTED_FIRST),
        key=lambda each: PREDICTED_FIRST.index(each["role"]),
    )


def _classifier_rows(found: Mapping[str, Any] | None, say: Messages) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        **found,
        "bars": [
            (say(f"workbench_utility.learn.{name}"), found[name]) for name in ("original", "published", "majority")
        ],
    }
