"""The audit of published data of another kind than a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato._validation import suggest_closest
from sfumato.core._formatting import json_number
from sfumato.core.model import Model, Verdict
from sfumato.errors import InvalidParameterError

HEAD = ("promise", "level", "limit", "holds", "broken by")


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit:
    """What published data keep: a verdict for every promise, and what was counted.

    `facts` are counts that receivers may know, such as the number of published baskets.
    """

    verdicts: tuple[Verdict, ...]
    summary: Mapping[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every promise is kept."""
        return all(verdict.holds for verdict in self.verdicts)

    def level(self, model: str) -> float | int:
        """Return the level that the data reach for a promise, by its name."""
        found = [verdict for verdict in self.verdicts if verdict.model.name == model]
        names = sorted({verdict.model.name for verdict in self.verdicts})
        if not found:
            hint = suggest_closest(model, names) or f"; it judged {', '.join(names) or 'nothing'}."
            raise InvalidParameterError(f"The audit did not judge {model!r}{hint}")
        if len({verdict.level for verdict in found}) > 1:
            raise InvalidParameterError(f"Several promises of {model!r} reach different levels; read .verdicts.")
        number = json_number(found[0].level)
        return float(number) if isinstance(number, str) else number

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {
            "holds": self.holds,
            **{name: json_number(value) for name, value in self.summary.items()},
            "models": [verdict.to_dict() for verdict in self.verdicts],
        }

    def __repr__(self) -> str:
        rows = [HEAD, *(_table_row(verdict) for verdict in self.verdicts)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        counted = ", ".join(f"{name} {value:,}" for name, value in self.summary.items())
        return "\n".join([*lines, *([counted] if counted else [])])


def evaluate_models(models: Sequence[Model[Any]], published: Any, facts: Mapping[str, float]) -> Audit:
    """Judge published data by every promise."""
    return Audit(verdicts=tuple(model.evaluate(published) for model in models), summary=facts)


def _table_row(verdict: Verdict) -> tuple[str, ...]:
    sign = "at least" if verdict.model.bound == "min" else "at most"
    return (
        verdict.model.name,
        f"{json_number(verdict.level)}",
        f"{sign} {json_number(verdict.model.limit)}",
        "yes" if verdict.holds else "NO",
        "" if verdict.holds else f"{verdict.violations:,} {verdict.model.unit}",
    )
