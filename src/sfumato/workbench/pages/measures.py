"""Measures of loss and of use, with their words."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.reporting import numbers
from sfumato.reporting.words import metric_texts
from sfumato.words import Messages


def metric_title(say: Messages, name: str) -> str:
    """Return what a measure is called."""
    return say.get(f"workbench_explore.by.{name}", metric_texts(name, say).title)


def metric_text(name: str, value: float | str | None) -> str:
    """Write the value of a measure; nothing if there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else numbers.format_metric(value, share=metric_texts(name).share)


def metric_rows(say: Messages, measures: Mapping[str, float]) -> list[dict[str, str]]:
    """Prepare measures for reading: their title, value, meaning and scale."""
    found = []
    for name, value in measures.items():
        words = metric_texts(name, say)
        found.append(
            {
                "title": words.title,
                "value": metric_text(name, value),
                "meaning": words.meaning,
                "scale": words.scale,
            }
        )
    return found
