"""The pages of releases of other kinds of data than tables: one for their owner, one for receivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.attacks.results import HEAD, AttackResult
from sfumato.reporting.attack_pictures import draw_attack_rates
from sfumato.reporting.html import template_environment
from sfumato.reporting.numbers import format_level, format_metric
from sfumato.reporting.telling import embed_svg
from sfumato.reporting.words import ENGLISH
from sfumato.words import Messages

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
    pictures : pictures made of `sfumato.reporting.drawing`, which escapes every text in them.
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
