"""The pages: one for the owner of the data, one for those who receive the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.reporting import numbers
from sfumato.reporting.attacked import TARGETS
from sfumato.reporting.exposures import MOST_ROWS
from sfumato.reporting.pictures import attribute_picture, exposure_columns, group_sizes, legend, risk_bars, size_text
from sfumato.reporting.words import (
    ALWAYS_OPEN,
    FORM_WORDS,
    MISSING_WORDS,
    ROLE_WORDS,
    level_words,
    measure_words,
    model_words,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST_RECIPE_LINES = 400
SYNTHETIC_FORMAT = "sfumato-synthetic-report-1"
MOMENT_WORDS = {
    "mean_shift": "Largest shift of a mean, in standard deviations",
    "covariance_error": "Relative error of covariances",
    "largest_correlation_difference": "Largest difference of correlations",
    "mean_correlation_difference": "Mean difference of correlations",
}


def render_report(facts: Mapping[str, Any]) -> str:
    """Write the internal report as one page that loads nothing from outside.

    Parameters
    ----------
    facts : what `sfumato.reporting.facts.gather` gave, also after a way through JSON.
    """
    rows = facts["rows"]
    known = rows["original"] is not None
    lines = facts["recipe"].splitlines()
    context = {
        "facts": facts,
        "promises": _promises(facts["promise"], facts["audit"]["models"]),
        "other_levels": _other_levels(facts["audit"]["levels"]),
        "open_points": _open_points([entry["model"] for entry in facts["promise"]]),
        "missing_words": MISSING_WORDS.get(facts["missing"], facts["missing"]),
        "legend": _drawn(legend()),
        "known": known,
        "risk_picture": _drawn(risk_bars(facts["risk"])) if known else None,
        "risk_rows": _risk_rows(facts["risk"]),
        "exposures": None if facts["exposure"] is None else [_exposed(kind) for kind in facts["exposure"]],
        "most_rows": MOST_ROWS,
        "attacks": None if facts["attacks"] is None else [_attacked(each) for each in facts["attacks"]],
        "targets": TARGETS,
        "buckets": facts["buckets"],
        "sizes_picture": (
            _drawn(group_sizes(facts["group_sizes"], facts["risk"]["smallest_promised"])) if known else None
        ),
        "sizes": [
            (size_text(size), size["groups"]["after"], size["records"]["after"]) for size in facts["group_sizes"]
        ],
        "families": _families(facts["attributes"], rows),
        "measures": _measures(facts["measures"]),
        "columns": _columns(facts),
        "recipe_text": "\n".join(lines[:MOST_RECIPE_LINES]),
        "recipe_cut": max(0, len(lines) - MOST_RECIPE_LINES),
    }
    return _environment().get_template("report.html.j2").render(context) + "\n"


def render_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]]) -> str:
    """Write the page for receivers, from nothing but what is published.

    Parameters
    ----------
    promise : what `sfumato.reporting.public.promise_of` gave.
    dictionary : what `sfumato.reporting.public.dictionary_of` gave.
    """
    used = {form for column in dictionary for form in column["forms"]}
    context = {
        "promise": promise,
        "promises": _promises(promise["promise"], promise["audit"]["models"]),
        "other_levels": _other_levels(promise["audit"]["levels"]),
        "open_points": _open_points([entry["model"] for entry in promise["promise"]]),
        "missing_words": MISSING_WORDS.get(promise["missing"], promise["missing"]),
        "columns": [_described(column) for column in dictionary],
        "forms": [(form, *words) for form, words in FORM_WORDS.items() if form in used],
        "has_missing": any(column["missing"] for column in dictionary),
        "roles": {column["role"] for column in dictionary},
    }
    return _environment().get_template("about.html.j2").render(context) + "\n"


def render_synthetic_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]]) -> str:
    """Write the page for those who receive synthetic records."""
    context = {"promise": promise, "columns": [_described(column) for column in dictionary]}
    return _environment().get_template("synthetic_about.html.j2").render(context) + "\n"


def render_synthetic_report(facts: Mapping[str, Any]) -> str:
    """Write the internal report on synthetic records."""
    moments, nearest = facts["moments"], facts["nearest"]
    compared = [(title, moments[name]) for name, title in MOMENT_WORDS.items()]
    context = {
        "facts": facts,
        "moments": [(title, f"{value:.3g}") for title, value in compared if value is not None],
        "nearest": [
            (numbers.percent(float(share)), f"{near:.3g}", f"{nearest['baseline'][share]:.3g}")
            for share, near in nearest["distances"].items()
        ],
        "columns": [_described(column) for column in facts["columns"]],
    }
    return _environment().get_template("synthetic_report.html.j2").render(context) + "\n"


def _described(column: Mapping[str, Any]) -> dict[str, Any]:
    return {**column, "role_words": ROLE_WORDS.get(column["role"], column["role"])}


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("sfumato.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = numbers.count
    environment.filters["percent"] = numbers.percent
    environment.filters["risk"] = numbers.risk
    return environment


def _drawn(picture: str) -> Markup:
    """Let a picture into a page as it is: `drawing` has escaped every word in it."""
    from markupsafe import Markup

    return Markup(picture)  # noqa: S704 - see above


def _promises(promised: Sequence[Mapping[str, Any]], judged: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for promise, verdict in zip(promised, judged, strict=True):
        words = model_words(promise["model"])
        found.append(
            {
                "title": words.title,
                "words": promise["words"].removesuffix("."),
                "level_words": words.level,
                "compared": words.compared,
                "holds": verdict["holds"],
                "level": numbers.level(verdict["level"], words.compared),
                "limit": numbers.level(verdict["limit"], words.compared),
                "before": numbers.level(promise["before"], words.compared) if "before" in promise else None,
                "violating": verdict.get("violating_records", 0),
                "parts": [_part(part) for part in verdict.get("parts", [])],
            }
        )
    return found


def _part(verdict: Mapping[str, Any]) -> dict[str, Any]:
    words = level_words(verdict["model"])
    return {
        "title": words.title,
        "level_words": words.level,
        "compared": words.compared,
        "holds": verdict["holds"],
        "level": numbers.level(verdict["level"], words.compared),
        "limit": numbers.level(verdict["limit"], words.compared),
    }


def _other_levels(levels: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    found = []
    for entry in levels:
        words = model_words(entry["model"])
        reached = numbers.level(entry["level"], words.compared)
        found.append(
            {"title": words.title, "sensitive": entry["sensitive"], "level": reached, "level_words": words.level}
        )
    return found


def _open_points(models: Sequence[str]) -> list[tuple[str, str]]:
    own = [(words.title, words.open) for words in (model_words(name) for name in dict.fromkeys(models))]
    return [*own, *(("", sentence) for sentence in ALWAYS_OPEN)]


def _risk_rows(measured: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """List the numbers behind the picture of risks, original and published."""
    before, after, smallest = measured["before"], measured["after"], measured["smallest_promised"]
    rows = [
        ("Records", numbers.count, "records"),
        ("Groups of equal quasi-identifiers", numbers.count, "groups"),
        ("Records in the smallest group", numbers.count, "smallest_group"),
        ("Records that stand alone", numbers.count, "unique_records"),
        (f"Records in groups smaller than {smallest}", numbers.count, "records_below"),
        ("Highest risk", numbers.risk, "highest_risk"),
        ("Average risk", numbers.risk, "average_risk"),
    ]
    return [
        (title, "" if before is None else write(before[key]), write(after[key]))
        for title, write, key in rows
        if key != "records_below" or smallest > 1
    ]


def _attacked(each: Mapping[str, Any]) -> dict[str, str]:
    """Prepare the row of one attack."""
    after, before = each["after"], each["before"]
    control = after["control"]
    return {
        "title": f"{each['attack']} of {each['sensitive']}" if each["sensitive"] else each["attack"],
        "question": each["question"],
        "before": numbers.risk(before["rate"]),
        "after": f"{numbers.risk(after['rate'])} ({numbers.risk(after['low'])} to {numbers.risk(after['high'])})",
        "guessing": numbers.risk(after["guessing"]),
        "control": "" if control is None else numbers.risk(control),
        "succeeds": "yes" if after["succeeds"] else "no",
    }


def _exposed(kind: Mapping[str, Any]) -> dict[str, Any]:
    """Prepare the card of one kind of exposure: its picture, its figures, and the rows that are exposed most."""
    sides = [kind[side] for side in ("before", "after", "everybody")]
    rows = (
        ("Highest exposure", numbers.risk, "maximum"),
        ("Mean exposure", numbers.risk, "mean"),
        ("Records exposed most", numbers.count, "at_maximum"),
    )
    return {
        "attribute": kind["attribute"],
        "picture": _drawn(exposure_columns(kind)),
        "rows": [(title, *(write(side[key]) for side in sides)) for title, write, key in rows],
        "riskiest": ", ".join(str(row) for row in kind["riskiest"]),
    }


def _families(attributes: Sequence[Mapping[str, Any]], rows: Mapping[str, int]) -> list[dict[str, Any]]:
    """Gather the attributes' cards by role."""
    families = []
    for title, roles in (("Quasi-identifiers", ["quasi"]), ("Published as they are", ["sensitive", "insensitive"])):
        cards = [
            {
                **attribute,
                "picture": _drawn(attribute_picture(attribute, rows)),
                "starred": numbers.percent(attribute["suppressed_cells"] / max(1, rows["published"])),
            }
            for attribute in attributes
            if attribute["role"] in roles
        ]
        families += [{"title": title, "cards": cards}] if cards else []
    return families


def _measures(measures: Mapping[str, Any]) -> list[dict[str, str]]:
    found = []
    for name, value in measures.items():
        words = measure_words(name)
        text = value if isinstance(value, str) else numbers.measure(value, share=words.share)
        found.append({"title": words.title, "value": text, "meaning": words.meaning, "scale": words.scale})
    return found


def _columns(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    before = {attribute["name"]: attribute["distinct"]["before"] for attribute in facts["attributes"]}
    published = [
        {
            "name": column["name"],
            "role_words": ROLE_WORDS.get(column["role"], column["role"]),
            "form": ", ".join(column["forms"]) or "missing",
            "before": numbers.count(before[column["name"]]) if column["name"] in before else "",
            "after": numbers.count(column["distinct"]),
            "missing": numbers.count(column["missing"]),
        }
        for column in facts["columns"]
    ]
    dropped = [("identifier", name) for name in facts["identifiers"]]
    dropped += [("flags sensitive cells", name) for name in facts["flags"]]
    dropped += [("no role", name) for name in facts["left_out"]]
    unpublished = {"form": "not published", "before": "", "after": "", "missing": ""}
    return [*published, *({"name": name, "role_words": role, **unpublished} for role, name in dropped)]
