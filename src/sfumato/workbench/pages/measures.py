"""Measures of loss and of use, with their words."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.reporting import numbers
from sfumato.reporting.words import measure_words
from sfumato.words import Words


def measure_title(say: Words, name: str) -> str:
    """Return what a measure is called."""
    return say.known(f"workbench_explore.by.{name}", measure_words(name, say).title)


def measure_text(name: str, value: float | str | None) -> str:
    """Write the value of a measure; nothing if there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else numbers.measure(value, share=measure_words(name).share)


def told_measures(say: Words, measures: Mapping[str, float]) -> list[dict[str, str]]:
    """Prepare measures for reading: their title, value, meaning and scale."""
    found = []
    for name, value in measures.items():
        words = measure_words(name, say)
        found.append(
            {
                "title": words.title,
                "value": measure_text(name, value),
                "meaning": words.meaning,
                "scale": words.scale,
            }
        )
    return found
