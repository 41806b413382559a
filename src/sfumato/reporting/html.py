"""The pages: one for the owner of the data, one for the receivers of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sfumato.reporting import numbers, telling
from sfumato.reporting.analysts import findings_of
from sfumato.reporting.attacked import TARGETS
from sfumato.reporting.exposures import MOST_ROWS
from sfumato.reporting.pictures import group_sizes, legend, risk_bars, size_text
from sfumato.reporting.series_picture import COLUMNS, SeriesTold
from sfumato.reporting.telling import drawn
from sfumato.reporting.words import ENGLISH, EXAMPLES, FORMS
from sfumato.table.persons import RowsPerIndividual
from sfumato.words import Words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST_RECIPE_LINES = 400
MOST_EXPOSURES = 6  # are shown at once, the others are folded
SYNTHETIC_FORMAT = "sfumato-synthetic-report-2"
MOMENTS = ("mean_shift", "covariance_error", "largest_correlation_difference", "mean_correlation_difference")


def render_report(facts: Mapping[str, Any], words: Words = ENGLISH) -> str:
    """Render the internal report as one page that loads nothing from outside.

    Parameters
    ----------
    facts : the result of `sfumato.reporting.facts.gather`, possibly read back from JSON.
    words : the language of the page.
    """
    lines = facts["recipe"].splitlines()
    context = {
        "facts": facts,
        **_promised(facts, facts["masking"] or {}, words),
        **_compared(facts, words),
        "series": None if facts["series"] is None else SeriesTold.of(facts["series"]),
        "series_columns": COLUMNS,
        "rows_counted": telling.rows_counted_told(facts["audit"], words),
        "merged": telling.merged_told(facts["audit"], words),
        "words": words,
        "drawn": drawn,
        "known": facts["rows"]["original"] is not None,
        "risk_rows": telling.risk_rows(facts["risk"], words),
        "most_exposures": MOST_EXPOSURES,
        "made": [each for each in (facts["made"]["file"], facts["made"]["date"], facts["made"]["algorithm"]) if each],
        "most_rows": MOST_ROWS,
        "targets": TARGETS,
        "buckets": facts["buckets"],
        "sizes": [
            (size_text(size, words), size["groups"]["after"], size["records"]["after"]) for size in facts["group_sizes"]
        ],
        "search": facts["searched"] and words.again(facts["searched"]),
        "engine": words.again(facts["engine"]["told"]) if "engine" in facts else None,
        "measures": telling.measures_told(facts["measures"], words),
        "columns": telling.columns_told(facts, words),
        "step_words": words.under("masking.measures"),
        "recipe_text": "\n".join(lines[:MOST_RECIPE_LINES]),
        "recipe_cut": max(0, len(lines) - MOST_RECIPE_LINES),
    }
    return environment(words).get_template("report.html.j2").render(context) + "\n"


def _compared(facts: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """Prepare what compares with the original, where that is known."""
    known = facts["rows"]["original"] is not None
    attacks, masking = facts["attacks"], facts["masking"] or {}
    return {
        "legend": drawn(legend(words)),
        "risk_picture": drawn(risk_bars(facts["risk"], words)) if known else None,
        "exposures": None if facts["exposure"] is None else telling.worst_first(facts["exposure"], words),
        "findings": None if facts["utility"] is None else findings_of(facts["utility"], words),
        "attacks": None if attacks is None else [telling.attacked(each, words) for each in attacks],
        "record_attacks": telling.records_attacked(masking.get("attacks", ()), words),
        "sizes_picture": (
            drawn(group_sizes(facts["group_sizes"], facts["risk"]["smallest_promised"], words)) if known else None
        ),
        "families": telling.families(facts["attributes"], facts["rows"], words),
    }


def render_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]], words: Words = ENGLISH) -> str:
    """Render the page for receivers, from published information only.

    Parameters
    ----------
    promise : the result of `sfumato.reporting.public.promise_of`.
    dictionary : the result of `sfumato.reporting.public.dictionary_of`.
    words : the language of the page.
    """
    promise = {"masking": [], "perturbed": [], "no_model": None, "file": {}, **promise}
    used = {form for column in dictionary for form in column["forms"]}
    forms = [
        (words(f"kinds.forms.{form}"), EXAMPLES.get(form, ""), words(f"kinds.meanings.{form}"))
        for form in FORMS
        if form in used
    ]
    context = {
        "promise": promise,
        **_promised(promise, promise, words),
        "merged": telling.merged_told(promise, words),
        "columns": [telling.described(column, words) for column in dictionary],
        "forms": forms,
        "has_missing": any(column["missing"] for column in dictionary),
        "file": [words(f"kinds.file.{name}", mark=each) for name, each in promise["file"].items()],
        "roles": {column["role"] for column in dictionary},
    }
    return environment(words).get_template("about.html.j2").render(context) + "\n"


def _promised(told: Mapping[str, Any], masked: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """Prepare what both pages say of promises, masking and missing values."""
    promised, models, steps = told["promise"], told["words"], masked.get("masking", ())
    return {
        "promises": telling.promises_told(promised, told["audit"]["models"], models, words),
        "unpromised": telling.unpromised_told(told["unpromised"], words),
        "no_model": words("promises.no_model") if masked.get("no_model") else None,
        "other_levels": telling.other_levels(told["audit"]["levels"], models, words),
        "open_points": telling.open_points([entry["model"] for entry in promised], models, words),
        "missing_words": words.known(f"kinds.missing.{told['missing']}", told["missing"]),
        "perturbed": masked.get("perturbed", ()),
        "steps": telling.masking_told(steps, words),
        "speaks_english": telling.speaks_english(list(models), list(told.get("measures", ())), steps, words),
    }


def render_synthetic_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]]) -> str:
    """Write the page for those who receive synthetic records."""
    context = {"promise": promise, "columns": [telling.described(column, ENGLISH) for column in dictionary]}
    return environment().get_template("synthetic_about.html.j2").render(context) + "\n"


def render_synthetic_report(facts: Mapping[str, Any], words: Words = ENGLISH) -> str:
    """Write the internal report on synthetic records."""
    nearest = facts["nearest"]
    moments = {name: facts["moments"][name] for name in MOMENTS}
    counted = facts["audit"].get("rows_counted")
    context = {
        "facts": facts,
        "rows_counted": counted and RowsPerIndividual(**counted).sentence.in_words(words),
        "moments": [
            (words(f"synthetic.moments.{name}"), f"{value:.3g}") for name, value in moments.items() if value is not None
        ],
        "nearest": [
            (numbers.percent(float(share)), f"{near:.3g}", f"{nearest['baseline'][share]:.3g}")
            for share, near in nearest["distances"].items()
        ],
        "columns": [telling.described(column, words) for column in facts["columns"]],
    }
    return environment(words).get_template("synthetic_report.html.j2").render(context) + "\n"


@cache
def environment(words: Words = ENGLISH) -> Environment:
    """Return where pages are rendered, in a language: every text is escaped, and `say` says the sentence of a key."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def say(key: str, **fields: object) -> Markup:
        return _trusted(words.form(key, fields)).format_map(words.filled(key, fields))

    def together(*sentences: str) -> Markup:
        return _trusted(words.together(("", ""))).join(sentences)

    def labeled(labels: Sequence[Mapping[str, Any]]) -> Markup:
        told = (say("report.distributions.label", text=each["text"], n=each["records"]) for each in labels)
        return _trusted(words.listed(("", ""))).join(told)

    environment = Environment(
        loader=PackageLoader("sfumato.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"say": say, "together": together, "labeled": labeled, "language": words.language}
    environment.filters["count"] = numbers.count
    environment.filters["percent"] = numbers.percent
    return environment


def _trusted(sentence: str) -> Markup:
    """Return our own words as HTML; whatever is put into them later is escaped."""
    from markupsafe import Markup

    return Markup(sentence)  # noqa: S704 - see above
