"""The pages: one for the owner of the data, one for the receivers of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sfumato.reporting import numbers, telling
from sfumato.reporting.analysts import present_findings
from sfumato.reporting.attacked import TARGETS
from sfumato.reporting.exposures import MAX_ROWS
from sfumato.reporting.pictures import class_size_text, draw_class_sizes, draw_legend, draw_risk_bars
from sfumato.reporting.series_picture import COLUMNS, SeriesDisclosure
from sfumato.reporting.telling import embed_svg
from sfumato.reporting.words import ENGLISH, EXAMPLES, FORMS
from sfumato.table.persons import RowsPerIndividual
from sfumato.words import Messages

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MAX_RECIPE_LINES = 400
MAX_EXPOSURES = 6  # are shown at once, the others are folded
SYNTHETIC_FORMAT = "sfumato-synthetic-report-2"
MOMENTS = ("mean_shift", "covariance_error", "largest_correlation_difference", "mean_correlation_difference")


def render_report(facts: Mapping[str, Any], words: Messages = ENGLISH) -> str:
    """Render the internal report as one page that loads nothing from outside.

    Parameters
    ----------
    facts : the result of `sfumato.reporting.facts.gather_facts`, possibly read back from JSON.
    words : the language of the page.
    """
    lines = facts["recipe"].splitlines()
    context = {
        "facts": facts,
        **_guarantee_context(facts, facts["masking"] or {}, words),
        **_comparison_with_original(facts, words),
        "series": None if facts["series"] is None else SeriesDisclosure.from_facts(facts["series"]),
        "series_columns": COLUMNS,
        "rows_counted": telling.rows_counted_told(facts["audit"], words),
        "merged": telling.merged_told(facts["audit"], words),
        "words": words,
        "drawn": embed_svg,
        "known": facts["rows"]["original"] is not None,
        "risk_rows": telling.present_risks(facts["risk"], words),
        "most_exposures": MAX_EXPOSURES,
        "made": [each for each in (facts["made"]["file"], facts["made"]["date"], facts["made"]["algorithm"]) if each],
        "most_rows": MAX_ROWS,
        "targets": TARGETS,
        "buckets": facts["buckets"],
        "sizes": [
            (class_size_text(size, words), size["groups"]["after"], size["records"]["after"])
            for size in facts["group_sizes"]
        ],
        "search": facts["searched"] and words.render(facts["searched"]),
        "engine": words.render(facts["engine"]["told"]) if "engine" in facts else None,
        "measures": telling.present_metrics(facts["measures"], words),
        "columns": telling.present_columns(facts, words),
        "step_words": words.subset("masking.measures"),
        "recipe_text": "\n".join(lines[:MAX_RECIPE_LINES]),
        "recipe_cut": max(0, len(lines) - MAX_RECIPE_LINES),
    }
    return template_environment(words).get_template("report.html.j2").render(context) + "\n"


def _comparison_with_original(facts: Mapping[str, Any], words: Messages) -> dict[str, Any]:
    """Prepare what compares with the original, where that is known."""
    known = facts["rows"]["original"] is not None
    attacks, masking = facts["attacks"], facts["masking"] or {}
    return {
        "legend": embed_svg(draw_legend(words)),
        "risk_picture": embed_svg(draw_risk_bars(facts["risk"], words)) if known else None,
        "exposures": None if facts["exposure"] is None else telling.present_exposures(facts["exposure"], words),
        "findings": None if facts["utility"] is None else present_findings(facts["utility"], words),
        "attacks": None if attacks is None else [telling.present_attack(each, words) for each in attacks],
        "record_attacks": telling.present_record_attacks(masking.get("attacks", ()), words),
        "sizes_picture": (
            embed_svg(draw_class_sizes(facts["group_sizes"], facts["risk"]["smallest_promised"], words))
            if known
            else None
        ),
        "families": telling.group_attributes(facts["attributes"], facts["rows"], words),
    }


def render_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]], words: Messages = ENGLISH) -> str:
    """Render the page for receivers, from published information only.

    Parameters
    ----------
    promise : the result of `sfumato.reporting.public.make_guarantee`.
    dictionary : the result of `sfumato.reporting.public.make_data_dictionary`.
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
        **_guarantee_context(promise, promise, words),
        "merged": telling.merged_told(promise, words),
        "columns": [telling.present_column(column, words) for column in dictionary],
        "forms": forms,
        "has_missing": any(column["missing"] for column in dictionary),
        "file": [words(f"kinds.file.{name}", mark=each) for name, each in promise["file"].items()],
        "roles": {column["role"] for column in dictionary},
    }
    return template_environment(words).get_template("about.html.j2").render(context) + "\n"


def _guarantee_context(told: Mapping[str, Any], masked: Mapping[str, Any], words: Messages) -> dict[str, Any]:
    """Prepare what both pages say of promises, masking and missing values."""
    promised, models, steps = told["promise"], told["words"], masked.get("masking", ())
    return {
        "promises": telling.present_models(promised, told["audit"]["models"], models, words),
        "unpromised": telling.present_unprotected(told["unpromised"], words),
        "no_model": words("promises.no_model") if masked.get("no_model") else None,
        "other_levels": telling.present_other_levels(told["audit"]["levels"], models, words),
        "open_points": telling.residual_risks([entry["model"] for entry in promised], models, words),
        "missing_words": words.get(f"kinds.missing.{told['missing']}", told["missing"]),
        "perturbed": masked.get("perturbed", ()),
        "steps": telling.present_masking(steps, words),
        "speaks_english": telling.falls_back_to_english(list(models), list(told.get("measures", ())), steps, words),
    }


def render_synthetic_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]]) -> str:
    """Write the page for those who receive synthetic records."""
    context = {"promise": promise, "columns": [telling.present_column(column, ENGLISH) for column in dictionary]}
    return template_environment().get_template("synthetic_about.html.j2").render(context) + "\n"


def render_synthetic_report(facts: Mapping[str, Any], words: Messages = ENGLISH) -> str:
    """Write the internal report on synthetic records."""
    nearest = facts["nearest"]
    moments = {name: facts["moments"][name] for name in MOMENTS}
    counted = facts["audit"].get("rows_counted")
    context = {
        "facts": facts,
        "rows_counted": counted and RowsPerIndividual(**counted).sentence.render(words),
        "moments": [
            (words(f"synthetic.moments.{name}"), f"{value:.3g}") for name, value in moments.items() if value is not None
        ],
        "nearest": [
            (numbers.format_percent(float(share)), f"{near:.3g}", f"{nearest['baseline'][share]:.3g}")
            for share, near in nearest["distances"].items()
        ],
        "columns": [telling.present_column(column, words) for column in facts["columns"]],
    }
    return template_environment(words).get_template("synthetic_report.html.j2").render(context) + "\n"


@cache
def template_environment(words: Messages = ENGLISH) -> Environment:
    """Return where pages are rendered, in a language: every text is escaped, and `say` says the sentence of a key."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def say(key: str, **fields: object) -> Markup:
        return _trusted_html(words.template(key, fields)).format_map(words.format_fields(key, fields))

    def together(*sentences: str) -> Markup:
        return _trusted_html(words.join_sentences(("", ""))).join(sentences)

    def labeled(labels: Sequence[Mapping[str, Any]]) -> Markup:
        told = (say("report.distributions.label", text=each["text"], n=each["records"]) for each in labels)
        return _trusted_html(words.join_items(("", ""))).join(told)

    environment = Environment(
        loader=PackageLoader("sfumato.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"say": say, "together": together, "labeled": labeled, "language": words.language}
    environment.filters["count"] = numbers.format_count
    environment.filters["percent"] = numbers.format_percent
    return environment


def _trusted_html(sentence: str) -> Markup:
    """Return our own words as HTML; whatever is put into them later is escaped."""
    from markupsafe import Markup

    return Markup(sentence)  # noqa: S704 - see above
