"""A page: HTML that stands alone, to be shown in a notebook or saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato import _number_format
from sfumato._locale.messages import Messages
from sfumato._number_format import format_level, format_metric
from sfumato.core._atomic_writes import atomic_path
from sfumato.core.attack import HEAD, AttackResult
from sfumato.io._individuals import RowsPerIndividual
from sfumato.report import _presentation
from sfumato.report._presentation import embed_svg
from sfumato.report.charts.bars import class_size_text, draw_class_sizes, draw_legend, draw_risk_bars
from sfumato.report.charts.rates import draw_attack_rates
from sfumato.report.sections.attacks import TARGETS
from sfumato.report.sections.disclosure_risk import MAX_ROWS
from sfumato.report.sections.series import COLUMNS, SeriesDisclosure
from sfumato.report.sections.utility import present_findings
from sfumato.report.texts import ENGLISH, EXAMPLES, FORMS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


HEIGHT = "44rem"


@dataclass(frozen=True, repr=False)
class Page:
    """A page of HTML that loads nothing from outside; a notebook shows it, `save` writes it."""

    title: str
    html: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file; an older file is replaced."""
        with atomic_path(Path(path)) as temporary:
            temporary.write_text(self.html, encoding="utf-8", newline="\n")

    def __repr__(self) -> str:
        return f"{self.title}: a page of {len(self.html) // 1000:,} kB; save it with .save(path)"

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, so that its style and the notebook's do not mix."""
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" sandbox="" '
            f'style="width: 100%; height: {HEIGHT}; border: 1px solid #b8c1cb"></iframe>'
        )


# The pages: one for the owner of the data, one for the receivers of the table.

MAX_RECIPE_LINES = 400
MAX_EXPOSURES = 6  # are shown at once, the others are folded
SYNTHETIC_FORMAT = "sfumato-synthetic-report-2"
MOMENTS = ("mean_shift", "covariance_error", "largest_correlation_difference", "mean_correlation_difference")


def render_report(facts: Mapping[str, Any], words: Messages = ENGLISH) -> str:
    """Render the internal report as one page that loads nothing from outside.

    Parameters
    ----------
    facts : the result of `sfumato.report.facts.gather_facts`, possibly read back from JSON.
    words : the language of the page.
    """
    lines = facts["recipe"].splitlines()
    context = {
        "facts": facts,
        **_guarantee_context(facts, facts["masking"] or {}, words),
        **_comparison_with_original(facts, words),
        "series": None if facts["series"] is None else SeriesDisclosure.from_facts(facts["series"]),
        "series_columns": COLUMNS,
        "rows_counted": _presentation.rows_counted_told(facts["audit"], words),
        "merged": _presentation.merged_told(facts["audit"], words),
        "words": words,
        "drawn": embed_svg,
        "known": facts["rows"]["original"] is not None,
        "risk_rows": _presentation.present_risks(facts["risk"], words),
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
        "measures": _presentation.present_metrics(facts["measures"], words),
        "columns": _presentation.present_columns(facts, words),
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
        "exposures": None if facts["exposure"] is None else _presentation.present_exposures(facts["exposure"], words),
        "findings": None if facts["utility"] is None else present_findings(facts["utility"], words),
        "attacks": None if attacks is None else [_presentation.present_attack(each, words) for each in attacks],
        "record_attacks": _presentation.present_record_attacks(masking.get("attacks", ()), words),
        "sizes_picture": (
            embed_svg(draw_class_sizes(facts["group_sizes"], facts["risk"]["smallest_promised"], words))
            if known
            else None
        ),
        "families": _presentation.group_attributes(facts["attributes"], facts["rows"], words),
    }


def render_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]], words: Messages = ENGLISH) -> str:
    """Render the page for receivers, from published information only.

    Parameters
    ----------
    promise : the result of `sfumato.report.guarantee.make_guarantee`.
    dictionary : the result of `sfumato.report.guarantee.make_data_dictionary`.
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
        "merged": _presentation.merged_told(promise, words),
        "columns": [_presentation.present_column(column, words) for column in dictionary],
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
        "promises": _presentation.present_models(promised, told["audit"]["models"], models, words),
        "unpromised": _presentation.present_unprotected(told["unpromised"], words),
        "no_model": words("promises.no_model") if masked.get("no_model") else None,
        "other_levels": _presentation.present_other_levels(told["audit"]["levels"], models, words),
        "open_points": _presentation.residual_risks([entry["model"] for entry in promised], models, words),
        "missing_words": words.get(f"kinds.missing.{told['missing']}", told["missing"]),
        "perturbed": masked.get("perturbed", ()),
        "steps": _presentation.present_masking(steps, words),
        "speaks_english": _presentation.falls_back_to_english(
            list(models), list(told.get("measures", ())), steps, words
        ),
    }


def render_synthetic_about(promise: Mapping[str, Any], dictionary: Sequence[Mapping[str, Any]]) -> str:
    """Write the page for those who receive synthetic records."""
    context = {"promise": promise, "columns": [_presentation.present_column(column, ENGLISH) for column in dictionary]}
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
            (_number_format.format_percent(float(share)), f"{near:.3g}", f"{nearest['baseline'][share]:.3g}")
            for share, near in nearest["distances"].items()
        ],
        "columns": [_presentation.present_column(column, words) for column in facts["columns"]],
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
        loader=PackageLoader("sfumato.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"say": say, "together": together, "labeled": labeled, "language": words.language}
    environment.filters["count"] = _number_format.format_count
    environment.filters["percent"] = _number_format.format_percent
    return environment


def _trusted_html(sentence: str) -> Markup:
    """Return our own words as HTML; whatever is put into them later is escaped."""
    from markupsafe import Markup

    return Markup(sentence)  # noqa: S704 - see above


# The pages of releases of other kinds of data than tables: one for their owner, one for receivers.

KIND_FORMAT = "sfumato-kind-report-1"
BEFORE, AFTER, LOW, HIGH = "-before", "-after", "-low", "-high"  # ends of the names of measures


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A part of the internal report.

    Parameters
    ----------
    title : its heading.
    sentences : what it says, a paragraph each.
    head, rows : a table, as texts.
    pictures : pictures made of `sfumato.report.charts.svg`, which escapes every text in them.
    wide : whether pictures are as wide as the page.
    """

    title: str
    sentences: Sequence[str] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    pictures: Sequence[str] = ()
    wide: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the section as plain values."""
        return {name: value if isinstance(value, str | bool) else list(value) for name, value in asdict(self).items()}


def make_attack_section(before: Sequence[AttackResult], after: Sequence[AttackResult]) -> ReportSection:
    """Tell how often attacks are right, on the original and on what is published."""
    rows = [
        (*which.cells()[:2], side, *which.cells()[2:])
        for side, results in (("original", before), ("published", after))
        for which in results
    ]
    return ReportSection(
        title="Attacks",
        sentences=("How often an adversary is right about a person, beside guessing and a control.",),
        head=(*HEAD[:2], "data", *HEAD[2:]),
        rows=rows,
        pictures=(draw_attack_rates(after),),
    )


def render_typed_report(facts: Mapping[str, Any], words: Messages = ENGLISH) -> str:
    """Render the internal report from its facts, possibly read back from JSON."""
    sections = [
        {**each, "pictures": [embed_svg(picture) for picture in each["pictures"]]} for each in facts["sections"]
    ]
    context = {"facts": facts, "sections": sections, "promises": _model_rows(facts), "measures": _metric_rows(facts)}
    return template_environment(words).get_template("kind_report.html.j2").render(context) + "\n"


def render_typed_about(facts: Mapping[str, Any]) -> str:
    """Render the page for receivers, from published information only."""
    context = {"facts": facts, "promises": _model_rows(facts)}
    return template_environment().get_template("kind_about.html.j2").render(context) + "\n"


def _metric_rows(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Prepare every measure for reading: what the original has, what is published, and in which range each lies.

    >>> told = {"paths-before": 3, "paths-after": 2.5, "paths-after-low": 2.25, "paths-after-high": 2.75, "edges": 1200}
    >>> for row in _metric_rows({"measures": told}):
    ...     print(row["name"], row["before"], row["after"], row["after_range"])
    paths 3 2.5 ('2.25', '2.75')
    edges  1,200 ()
    """
    told = {
        name: value if isinstance(value, str) else format_metric(value, share=False)
        for name, value in facts["measures"].items()
    }
    ends = {f"{name}{end}" for name in told for end in (LOW, HIGH)}
    found: dict[str, dict[str, Any]] = {}
    for name, value in told.items():
        if name in ends:
            continue
        when, plain = "after", name.removesuffix(AFTER)
        if name.endswith(BEFORE) and name.removesuffix(BEFORE) + AFTER in told:
            when, plain = "before", name.removesuffix(BEFORE)
        elif plain + BEFORE not in told:
            plain = name
        row = found.setdefault(plain, {"name": plain, "before": "", "after": "", "before_range": (), "after_range": ()})
        row[when] = value
        if name + LOW in told and name + HIGH in told:
            row[f"{when}_range"] = told[name + LOW], told[name + HIGH]
    return list(found.values())


def _model_rows(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Prepare every promise for reading: its words, the level that is reached, and the limit."""
    return [
        {
            **told,
            "holds": found["holds"],
            "level": format_level(found["level"], ""),
            "limit": format_level(found["limit"], ""),
        }
        | {"what": told["level"]}
        for told, found in zip(facts["promise"], facts["audit"]["models"], strict=True)
    ]
