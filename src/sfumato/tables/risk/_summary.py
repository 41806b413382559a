"""An assessment as a table to read: as text, and as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from sfumato.core._formatting import format_share, html_table, text_table

if TYPE_CHECKING:
    from sfumato.tables.risk._population_uniques import PopulationUniques
    from sfumato.tables.risk.assessment import RiskAssessment

Rows: TypeAlias = list[tuple[str, ...]]
MOST_SUBSETS = 5


def text_summary(risk: RiskAssessment) -> str:
    """Format the assessment as plain text."""
    parts = [_caption(risk)]
    parts += [f"{title}\n{text_table(rows)}" for title, rows in _sections(risk)]
    return "\n".join([*parts, *(each.sentence for each in risk.rows_counted)])


def html_summary(risk: RiskAssessment) -> str:
    """Format the assessment as HTML tables."""
    remarks = "".join(f"<p>{escape(each.sentence)}</p>" for each in risk.rows_counted)
    return f"<p>{_caption(risk)}</p>" + "".join(html_table(title, rows) for title, rows in _sections(risk)) + remarks


def _caption(risk: RiskAssessment) -> str:
    aside = f", {risk.suppressed:,} suppressed" if risk.suppressed else ""
    quasi = "1 quasi-identifier" if len(risk.quasi) == 1 else f"{len(risk.quasi)} quasi-identifiers"
    return f"Risk of {risk.records:,} records by {quasi}{aside}"


def _sections(risk: RiskAssessment) -> Iterator[tuple[str, Rows]]:
    yield "Groups of equal records", _groups(risk)
    yield f"Adversaries, threshold {format_share(risk.threshold)} (groups of {risk.least_group})", _attackers(risk)
    if risk.population_uniques is not None:
        yield "Population", _population(risk, risk.population_uniques)
    if risk.population_uniques is not None or risk.individual.household_highest is not None:
        yield "Single records", _individual(risk)
    yield f"Special uniques of up to {risk.special_uniques.largest} quasi-identifiers", _special(risk)
    yield "Quasi-identifiers that separate records best", _separations(risk)
    if risk.riskiest:
        yield "Records at highest risk, by row number from 0", _highest_risk_rows(risk)


def _groups(risk: RiskAssessment) -> Rows:
    return [
        ("figure", "value"),
        ("groups", f"{len(risk.subject.groups.sizes):,}"),
        ("smallest group", f"{int(risk.subject.groups.candidates.min()):,}"),
        ("unique records", f"{risk.unique_records:,} ({format_share(risk.unique_records / risk.records)})"),
    ]


def _attackers(risk: RiskAssessment) -> Rows:
    estimated = risk.basis in {"weights", "size"}
    rows: Rows = [("adversary", "highest risk", "average risk", "records above")]
    for each in (risk.prosecutor, risk.journalist, risk.marketer):
        if each is not None:
            above = "" if each.records_above is None else f"{each.records_above:,} ({format_share(each.share_above)})"
            name = f"{each.attacker}, estimated" if estimated and each is not risk.prosecutor else each.attacker
            rows.append((name, format_share(each.highest), format_share(each.average), above))
    return rows


def _population(risk: RiskAssessment, found: PopulationUniques) -> Rows:
    how = f"estimated by {found.method}: {found.reason}" if found.estimated else found.reason
    how += ", capped at what is possible" if found.capped else ""
    rows: Rows = [
        ("figure", "value"),
        ("people", f"{found.population:,.0f}, of whom {format_share(found.fraction)} are in the table"),
        ("unique people", f"{found.uniques:,.1f} ({format_share(found.share)}), {how}"),
        ("unique records that are also unique in the population", format_share(found.true_uniques)),
    ]
    if risk.k_map is not None:
        said = f"{risk.k_map.records_below:,}, in groups of fewer than {risk.k_map.least_size}"
        rows.append((f"records not shown to have {risk.k_map.k} people each", said))
    return rows


def _individual(risk: RiskAssessment) -> Rows:
    found = risk.individual
    rows: Rows = [
        ("figure", "value"),
        ("records expected to be matched", f"{found.expected:,.1f}"),
        ("highest risk of a record", format_share(found.highest)),
        (
            "records above the threshold",
            f"{found.records_above:,} ({format_share(found.records_above / risk.records)})",
        ),
    ]
    if found.household_highest is not None:
        rows.append(("highest risk of a household", format_share(found.household_highest)))
        rows.append(("average risk of a household member", format_share(found.household_average)))
    return rows


def _special(risk: RiskAssessment) -> Rows:
    found = risk.special_uniques
    rows: Rows = [
        ("figure", "value"),
        ("records that have any", f"{found.records:,} ({format_share(found.records / risk.records)})"),
    ]
    rows += [(f"minimal sample uniques of size {size}", f"{count:,}") for size, count in found.by_size.items()]
    if found.dis is not None:
        rows.append(("chance that a unique match is right (DIS)", format_share(found.dis)))
        rows.append(("highest chance of a record (DIS-SUDA)", format_share(found.highest_dis)))
    return rows


def _separations(risk: RiskAssessment) -> Rows:
    rows: Rows = [("quasi-identifiers", "separation", "distinction", "unique records")]
    for each in risk.separations[:MOST_SUBSETS]:
        rows.append(
            (
                ", ".join(each.quasi),
                format_share(each.separation),
                format_share(each.distinction),
                f"{each.unique_records:,}",
            )
        )
    return rows


def _highest_risk_rows(risk: RiskAssessment) -> Rows:
    rows: Rows = [("row", "matching records", "SUDA score")]
    rows += [(f"{each.row}", f"{each.candidates:,}", f"{each.score:g}") for each in risk.riskiest]
    return rows
