"""Findings: what a rule requires, whether it is met, and the figures that show it; never a single score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from sfumato._locale.messages import LocalizedText
from sfumato.core._formatting import html_table, text_table

Figure: TypeAlias = int | float | str | None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One question of a rule, answered.

    Parameters
    ----------
    name : the question, in a few words.
    passed : whether the table passes; None if the table alone cannot show it.
    sentence : what was found.
    figures : the evidence, by name; counts, shares and risks, never a cell value.
    columns : the columns concerned.
    """

    name: LocalizedText
    passed: bool | None
    sentence: LocalizedText
    figures: Mapping[str, Figure] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    @property
    def outcome(self) -> LocalizedText:
        """Passed, not passed or open, in a word."""
        key = {True: "risk.verdict.passed", False: "risk.verdict.not_passed", None: "risk.verdict.open"}
        return LocalizedText(key[self.passed])

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values; `told` says its name and its sentence by their keys, for any language."""
        return {
            **asdict(self),
            "figures": dict(self.figures),
            "columns": list(self.columns),
            "told": {"name": self.name.to_dict, "sentence": self.sentence.to_dict},
        }


@dataclass(frozen=True, kw_only=True)
class ComplianceReport:
    """All findings under one rule.

    Parameters
    ----------
    preset : the short name of the rule.
    findings : one per question.
    """

    preset: str
    findings: tuple[Finding, ...]

    @property
    def title(self) -> LocalizedText:
        """The name of the rule."""
        return LocalizedText(f"risk.title.{self.preset}")

    @property
    def limits(self) -> LocalizedText:
        """What the rule requires that no program can judge."""
        return LocalizedText(f"risk.limits.{self.preset}")

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that the table does not pass."""
        return tuple(finding for finding in self.findings if finding.passed is False)

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that a person has to decide who knows more than the table shows."""
        return tuple(finding for finding in self.findings if finding.passed is None)

    def to_dict(self) -> dict[str, Any]:
        """Return the judgment as plain values."""
        return {
            "preset": self.preset,
            "title": self.title,
            "failed": len(self.failed),
            "open": len(self.open),
            "findings": [finding.to_dict() for finding in self.findings],
            "limits": self.limits,
            "told": {"title": self.title.to_dict, "limits": self.limits.to_dict},
        }

    def __repr__(self) -> str:
        return f"{self._caption}\n{text_table(self._rows)}\n{self.limits}"

    def _repr_html_(self) -> str:
        return html_table(self._caption, self._rows, note=self.limits)

    @property
    def _caption(self) -> str:
        return f"{self.title}: {len(self.failed)} of {len(self.findings)} not passed, {len(self.open)} open"

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        rows = [(finding.name, finding.outcome, finding.sentence) for finding in self.findings]
        return [("question", "verdict", "because"), *rows]
