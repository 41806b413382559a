"""The pages: one for the owner of the data, one for the receivers of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.reporting import numbers
from sfumato.reporting.analysts import findings_of
from sfumato.reporting.attacked import TARGETS
from sfumato.reporting.exposures import MOST_ROWS
from sfumato.reporting.pictures import attribute_picture, exposure_columns, group_sizes, legend, risk_bars, size_text
from sfumato.reporting.words import ENGLISH, EXAMPLES, FORMS, measure_words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST_RECIPE_LINES = 400
MOST_EXPOSURES = 6  # are shown at once, the others are folded
Words = Mapping[str, Mapping[str, str]]
SYNTHETIC_FORMAT = "sfumato-synthetic-report-2"
MOMENT_WORDS = {
    "mean_shift": "Largest shift of a mean, in standard deviations",
    "covariance_error": "Relative error of covariances",
    "largest_correlation_difference": "Largest difference of correlations",
    "mean_correlation_difference": "Mean difference of correlations",
}


def render_report(facts: Mapping[str, Any]) -> str:
    """Render the internal report as one page that loads nothing from outside.

    Parameters
    ----------
    facts : the result of `sfumato.reporting.facts.gather`, possibly read back from JSON.
    """
    rows = facts["rows"]
    known = rows["original"] is not None
    lines = facts["recipe"].splitlines()
    context = {
        "facts": facts,
        "promises": promises_told(facts["promise"], facts["audit"]["models"], facts["words"]),
        "other_levels": _other_levels(facts["audit"]["levels"], facts["words"]),
        "open_points": _open_points([entry["model"] for entry in facts["promise"]], facts["words"]),
        "missing_words": ENGLISH.known(f"kinds.missing.{facts['missing']}", facts["missing"]),
        "legend": drawn(legend()),
        "known": known,
        "risk_picture": drawn(risk_bars(facts["risk"])) if known else None,
        "risk_rows": _risk_rows(facts["risk"]),
        "exposures": None if facts["exposure"] is None else _worst_first(facts["exposure"]),
        "most_exposures": MOST_EXPOSURES,
        "made": [each for each in (facts["made"]["file"], facts["made"]["date"], facts["made"]["algorithm"]) if each],
        "findings": None if facts["utility"] is None else findings_of(facts["utility"]),
        "most_rows": MOST_ROWS,
        "attacks": None if facts["attacks"] is None else [_attacked(each) for each in facts["attacks"]],
        "targets": TARGETS,
        "buckets": facts["buckets"],
        "sizes_picture": (
            drawn(group_sizes(facts["group_sizes"], facts["risk"]["smallest_promised"])) if known else None
        ),
        "sizes": [
            (size_text(size), size["groups"]["after"], size["records"]["after"]) for size in facts["group_sizes"]
        ],
        "families": _families(facts["attributes"], rows),
        "measures": _measures(facts["measures"]),
        "columns": _columns(facts),
        "step_words": ENGLISH.under("masking.measures"),
        "recipe_text": "\n".join(lines[:MOST_RECIPE_LINES]),
        "recipe_cut": max(0, len(lines) - MOST_RECIPE_LINES),
    }
    return environment().get_template("report.html.j2").render(context) + "\n"


def render_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]]) -> str:
    """Render the page for receivers, from published information only.

    Parameters
    ----------
    promise : the result of `sfumato.reporting.public.promise_of`.
    dictionary : the result of `sfumato.reporting.public.dictionary_of`.
    """
    promise = {"masking": [], "perturbed": [], "no_model": None, "file": {}, **promise}
    used = {form for column in dictionary for form in column["forms"]}
    context = {
        "promise": promise,
        "promises": promises_told(promise["promise"], promise["audit"]["models"], promise["words"]),
        "other_levels": _other_levels(promise["audit"]["levels"], promise["words"]),
        "open_points": _open_points([entry["model"] for entry in promise["promise"]], promise["words"]),
        "missing_words": ENGLISH.known(f"kinds.missing.{promise['missing']}", promise["missing"]),
        "columns": [_described(column) for column in dictionary],
        "forms": [(form, EXAMPLES.get(form, ""), ENGLISH(f"kinds.meanings.{form}")) for form in FORMS if form in used],
        "has_missing": any(column["missing"] for column in dictionary),
        "file": [ENGLISH(f"kinds.file.{name}", mark=each) for name, each in promise["file"].items()],
        "roles": {column["role"] for column in dictionary},
    }
    return environment().get_template("about.html.j2").render(context) + "\n"


def render_synthetic_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]]) -> str:
    """Write the page for those who receive synthetic records."""
    context = {"promise": promise, "columns": [_described(column) for column in dictionary]}
    return environment().get_template("synthetic_about.html.j2").render(context) + "\n"


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
    return environment().get_template("synthetic_report.html.j2").render(context) + "\n"


def _described(column: Mapping[str, Any]) -> dict[str, Any]:
    return {**column, "role_words": ENGLISH.known(f"kinds.roles.{column['role']}", column["role"])}


def environment() -> Environment:
    """Return where pages are rendered: every text is escaped."""
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
    return environment


def drawn(picture: str) -> Markup:
    """Embed a picture in a page unescaped: `drawing` has escaped every text in it."""
    from markupsafe import Markup

    return Markup(picture)  # noqa: S704 - see above


def promises_told(
    promised: Sequence[Mapping[str, Any]], judged: Sequence[Mapping[str, Any]], words: Words
) -> list[dict[str, Any]]:
    """Prepare every promise for reading: its words, the level that is reached, and the limit."""
    return [
        {
            **_part(verdict, words),
            "words": promise["words"].removesuffix("."),
            "before": _level(promise["before"], verdict, words) if "before" in promise else None,
            "violating": verdict.get("violating_records", 0),
            "parts": [_part(part, words) for part in verdict.get("parts", [])],
        }
        for promise, verdict in zip(promised, judged, strict=True)
    ]


def _part(verdict: Mapping[str, Any], words: Words) -> dict[str, Any]:
    own = words[verdict["model"]]
    return {
        "title": own["title"],
        "level_words": own["level"],
        "compared": own["compared"],
        "holds": verdict["holds"],
        "level": _level(verdict["level"], verdict, words),
        "limit": _level(verdict["limit"], verdict, words),
    }


def _level(number: float | str, judged: Mapping[str, Any], words: Words) -> str:
    return numbers.level(number, words[judged["model"]]["compared"])


def _other_levels(levels: Sequence[Mapping[str, Any]], words: Words) -> list[dict[str, str]]:
    return [
        {
            "title": words[entry["model"]]["title"],
            "sensitive": entry["sensitive"],
            "level": _level(entry["level"], entry, words),
            "level_words": words[entry["model"]]["level"],
        }
        for entry in levels
    ]


def _open_points(models: Sequence[str], words: Words) -> list[tuple[str, str]]:
    own = [(words[name]["title"], words[name]["open"]) for name in dict.fromkeys(models)]
    return [*own, *(("", str(sentence)) for sentence in ENGLISH.under("promises.open").values())]


def _risk_rows(measured: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the numbers behind the picture of risks, original and published."""
    before, after, smallest = measured["before"], measured["after"], measured["smallest_promised"]
    rows = [
        ("Records", numbers.count, "records"),
        ("Groups of equal quasi-identifiers", numbers.count, "groups"),
        ("Records in the smallest group", numbers.count, "smallest_group"),
        ("Unique records", numbers.count, "unique_records"),
        (f"Records in groups smaller than {smallest}", numbers.count, "records_below"),
        ("Highest risk", numbers.percent, "highest_risk"),
        ("Average risk", numbers.percent, "average_risk"),
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
        "before": numbers.percent(before["rate"]),
        "after": "{} ({} to {})".format(*(numbers.percent(after[key]) for key in ("rate", "low", "high"))),
        "guessing": numbers.percent(after["guessing"]),
        "control": "" if control is None else numbers.percent(control),
        "succeeds": "yes" if after["succeeds"] else "no",
    }


def _worst_first(kinds: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Prepare the cards of all kinds of exposure: identities, then what is exposed most to the strongest adversary."""
    identity, *others = kinds
    others.sort(key=lambda kind: (-kind["everybody"]["maximum"], -kind["everybody"]["mean"]))
    return [_exposed(kind) for kind in (identity, *others)]


def _exposed(kind: Mapping[str, Any]) -> dict[str, Any]:
    """Prepare the card of one kind of exposure: its picture, its figures, and the most exposed rows."""
    sides = [kind[side] for side in ("before", "after", "everybody")]
    rows = (
        ("Highest exposure", numbers.percent, "maximum"),
        ("Mean exposure", numbers.percent, "mean"),
        ("Records with the highest exposure", numbers.count, "at_maximum"),
    )
    return {
        "attribute": kind["attribute"],
        "picture": drawn(exposure_columns(kind)),
        "rows": [(title, *(write(side[key]) for side in sides)) for title, write, key in rows],
        "riskiest": ", ".join(str(row) for row in kind["riskiest"]),
    }


def _families(attributes: Sequence[Mapping[str, Any]], rows: Mapping[str, int]) -> list[dict[str, Any]]:
    """Group the cards of the attributes by role."""
    families = []
    for title, roles in (("Quasi-identifiers", ["quasi"]), ("Published unchanged", ["sensitive", "insensitive"])):
        cards = [
            {
                **attribute,
                "picture": drawn(attribute_picture(attribute, rows)),
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
            "role_words": ENGLISH.known(f"kinds.roles.{column['role']}", column["role"]),
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
