"""The report's section for analysts: what they find in the release, next to what the original shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.reporting import numbers

MOST_ROWS = 6


@dataclass(frozen=True)
class FindingTable:
    """One table of the section: its rows are shown, those that matter less folded."""

    title: str
    says: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: tuple[tuple[str, ...], ...] = ()


def findings_of(utility: Mapping[str, Any]) -> list[FindingTable]:
    """Prepare what analysts find for reading; see `sfumato.judging.comparing.utility.Utility`."""
    found = []
    if utility["moments"] is not None:
        found.append(_moments(utility["moments"]["moments"]))
        if utility["moments"]["correlations"]:
            found.append(_correlations(utility["moments"]["correlations"]))
    if utility["tabulations"] is not None:
        found.append(_tabulations(utility["tabulations"]["pairs"]))
    if utility["regression"] is not None:
        found.append(_regression(utility["regression"]))
    return found


def _moments(entries: Sequence[Mapping[str, Any]]) -> FindingTable:
    kinds = ("original_mean", "published_mean", "original_deviation", "published_deviation")
    rows = tuple((each["column"], *(numbers.measure(each[kind], share=False) for kind in kinds)) for each in entries)
    head = ("column", "mean, original", "published", "deviation, original", "published")
    says = "Means and standard deviations; a generalized number counts as its midpoint, a date in days since 1970."
    return FindingTable("Means and deviations", says, head, rows[:MOST_ROWS], rows[MOST_ROWS:])


def _correlations(entries: Sequence[Mapping[str, Any]]) -> FindingTable:
    worst = sorted(entries, key=lambda each: -abs(each["published"] - each["original"]))
    rows = tuple((_pair(each), f"{each['original']:.3f}", f"{each['published']:.3f}") for each in worst)
    head = ("columns", "original", "published")
    return FindingTable("Correlations", "Those that changed most come first.", head, rows[:MOST_ROWS], rows[MOST_ROWS:])


def _tabulations(entries: Sequence[Mapping[str, Any]]) -> FindingTable:
    worst = sorted(entries, key=lambda each: -each["distance"])
    rows = tuple(
        (
            _pair(each),
            numbers.percent(min(max(each["distance"], 0.0), 1.0)),
            f"{each['original_association']:.3f}",
            f"{each['published_association']:.3f}",
        )
        for each in worst
    )
    says = (
        "How many records would have to move to another cell, and how strongly the columns are associated (Cramér's V, "
        "from 0 to 1). A generalized cell counts evenly for all values it covers."
    )
    head = ("columns", "records in another cell", "association, original", "published")
    return FindingTable("Cross-tabulations", says, head, rows[:MOST_ROWS], rows[MOST_ROWS:])


def _regression(found: Mapping[str, Any]) -> FindingTable:
    rows = tuple(
        (
            each["column"],
            _with_interval(each["original"], each["original_interval"]),
            _with_interval(each["published"], each["published_interval"]),
            numbers.percent(min(each["overlap"], 1.0)),
        )
        for each in found["coefficients"]
    )
    says = (
        "Coefficients of least squares with their 95% confidence intervals, in standard deviations of the original. "
        "The more the intervals overlap, the more an analyst of the release agrees with one of the original."
    )
    head = ("explained by", "original", "published", "overlap")
    return FindingTable(f"Regression of {found['target']}", says, head, rows[:MOST_ROWS], rows[MOST_ROWS:])


def _pair(each: Mapping[str, Any]) -> str:
    return " and ".join(each["columns"])


def _with_interval(value: float | None, interval: Sequence[float] | None) -> str:
    if value is None or interval is None:
        return "not determined"
    return f"{value:.3f} ({interval[0]:.3f} to {interval[1]:.3f})"
