# ruff: noqa: D401 - the first line of a check is its law
"""Laws that promises and searches of every kind of data other than tables obey."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.core._descriptions import ModelDescription
from sfumato.core.algorithm import AnyAlgorithm
from sfumato.core.model import AnyModel, Verdict
from sfumato.core.recipe import instantiate_choice

MEASURED = {"seconds"}  # parameters that say how exactly something is known; more and less both can demand more


def check_model_metadata(promise: AnyModel) -> None:
    """A promise states its name, its source, its words, and which way its numbers are stricter."""
    assert promise.name == promise.name.lower().replace(" ", "-")
    assert promise.reference
    assert promise.unit
    assert promise.bound in {"min", "max"}
    assert promise.words.stops != ModelDescription(title="").stops
    assert promise.words.open != ModelDescription(title="").open
    given = promise.parameters().items()
    numbers = {name for name, value in given if not isinstance(value, str | list | tuple | Mapping)}
    assert numbers - MEASURED <= set(promise.stricter)


def check_model_round_trip(promise: AnyModel) -> None:
    """A recipe holds all that a promise needs."""
    entry = {"name": promise.name, **promise.parameters()}
    assert instantiate_choice({promise.name: type(promise)}, entry, "model") == promise


def check_algorithm_round_trip(search: AnyAlgorithm) -> None:
    """A recipe holds all that a search needs."""
    entry = {"name": search.name, **search.parameters()}
    assert search.reference
    assert instantiate_choice({search.name: type(search)}, entry, "algorithm") == search


def verdict_figures(verdict: Verdict) -> tuple[float, int, bool]:
    """Return what two verdicts are compared by."""
    return verdict.level, verdict.violations, verdict.holds
