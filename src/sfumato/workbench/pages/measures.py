"""Measures of loss and of use, with their words."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.reporting import numbers
from sfumato.reporting.words import measure_words
from sfumato.words import Words


def measure_title(say: Words, name: str) -> str:
    """Return what a measure is called."""
    for key in (f"measures.{name}.title", f"measures.utility.{name}", f"workbench_explore.by.{name}"):
        if key in say:
            return say(key)
    return measure_words(name).title


def measure_text(say: Words, name: str, value: float | str | None) -> str:  # noqa: ARG001 - as all words are asked for
    """Write the value of a measure; nothing if there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else numbers.measure(value, share=measure_words(name).share)


def told_measures(say: Words, measures: Mapping[str, float]) -> list[dict[str, str]]:
    """Prepare measures for reading: their title, value, meaning and scale."""
    found = []
    for name, value in measures.items():
        words = measure_words(name)
        found.append(
            {
                "title": measure_title(say, name),
                "value": measure_text(say, name, value),
                "meaning": _part(say, name, "meaning", words.meaning),
                "scale": _part(say, name, "scale", words.scale),
            }
        )
    return found


def _part(say: Words, name: str, part: str, otherwise: str) -> str:
    key = f"measures.{name}.{part}"
    return say(key) if key in say else otherwise
