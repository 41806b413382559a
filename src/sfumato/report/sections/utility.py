"""The report's section for analysts: what they find in the release, next to what the original shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato import _number_format
from sfumato._locale.messages import Messages
from sfumato.report.texts import ENGLISH

MAX_ROWS = 6


@dataclass(frozen=True)
class FindingTable:
    """One table of the section: its rows are shown, those that matter less folded."""

    title: str
    says: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: tuple[tuple[str, ...], ...] = ()


def present_findings(utility: Mapping[str, Any], say: Messages = ENGLISH) -> list[FindingTable]:
    """Prepare what analysts find for reading; see `sfumato.tables.metrics.utility.UtilityComparison`."""
    found = []
    if utility["moments"] is not None:
        found.append(_moments(utility["moments"]["moments"], say))
        if utility["moments"]["correlations"]:
            found.append(_correlations(utility["moments"]["correlations"], say))
    if utility["tabulations"] is not None:
        found.append(_tabulations(utility["tabulations"]["pairs"], say))
    if utility["regression"] is not None:
        found.append(_regression(utility["regression"], say))
    return found


def _finding_table(
    kind: str, say: Messages, head: Sequence[str], rows: Sequence[tuple[str, ...]], **named: str
) -> FindingTable:
    title, says = say(f"report.analysts.{kind}.title", **named), say(f"report.analysts.{kind}.says", **named)
    return FindingTable(title, says, tuple(map(say, head)), tuple(rows[:MAX_ROWS]), tuple(rows[MAX_ROWS:]))


def _moments(entries: Sequence[Mapping[str, Any]], say: Messages) -> FindingTable:
    kinds = ("original_mean", "published_mean", "original_deviation", "published_deviation")
    rows = [
        (
            each["column"],
            *(_number_format.format_count(each[f"{side}_n"]) for side in ("original", "published")),
            *(_measured(each[kind], say) for kind in kinds),
        )
        for each in entries
    ]
    pairs = [(f"report.analysts.moments.{first}", "page.published") for first in ("n", "mean", "deviation")]
    return _finding_table("moments", say, ("page.column", *(name for pair in pairs for name in pair)), rows)


def _measured(value: float | None, say: Messages) -> str:
    return say("report.analysts.not_published") if value is None else _number_format.format_metric(value, share=False)


def _correlations(entries: Sequence[Mapping[str, Any]], say: Messages) -> FindingTable:
    worst = sorted(entries, key=lambda each: -abs(each["published"] - each["original"]))
    rows = [(_before_after(each, say), f"{each['original']:.3f}", f"{each['published']:.3f}") for each in worst]
    return _finding_table("correlations", say, ("report.analysts.columns", "page.original", "page.published"), rows)


def _tabulations(entries: Sequence[Mapping[str, Any]], say: Messages) -> FindingTable:
    worst = sorted(entries, key=lambda each: -each["distance"])
    rows = [
        (
            _before_after(each, say),
            _number_format.format_percent(min(max(each["distance"], 0.0), 1.0)),
            f"{each['original_association']:.3f}",
            f"{each['published_association']:.3f}",
        )
        for each in worst
    ]
    compared = ("report.analysts.association", "page.published")
    head = ("report.analysts.columns", "report.analysts.tabulations.moved", *compared)
    return _finding_table("tabulations", say, head, rows)


def _regression(found: Mapping[str, Any], say: Messages) -> FindingTable:
    rows = [
        (
            each["column"],
            _with_interval(each["original"], each["original_interval"], say),
            _with_interval(each["published"], each["published_interval"], say),
            _number_format.format_percent(min(each["overlap"], 1.0)),
        )
        for each in found["coefficients"]
    ]
    overlap = "report.analysts.regression.overlap"
    head = ("report.analysts.regression.by", "page.original", "page.published", overlap)
    records = {side: _number_format.format_count(found[f"{side}_records"]) for side in ("original", "published")}
    return _finding_table("regression", say, head, rows, target=found["target"], **records)


def _before_after(each: Mapping[str, Any], say: Messages) -> str:
    first, second = each["columns"]
    return say("report.analysts.pair", first=first, second=second)


def _with_interval(value: float | None, interval: Sequence[float] | None, say: Messages) -> str:
    if value is None or interval is None:
        return say("report.analysts.not_determined")
    return say("report.analysts.interval", value=value, low=interval[0], high=interval[1])
