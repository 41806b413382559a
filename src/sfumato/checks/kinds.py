# ruff: noqa: D401 - the first line of a check is its law
"""Laws that promises and searches of every kind of data other than tables obey."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.kinds.promise import AnyPromise, KindVerdict
from sfumato.kinds.search import AnySearch
from sfumato.models.words import ModelWords
from sfumato.recipe import choice_of

MEASURED = {"seconds"}  # parameters that say how exactly something is known; more and less both can demand more


def check_promise_states_its_facts(promise: AnyPromise) -> None:
    """A promise states its name, its source, its words, and which way its numbers are stricter."""
    assert promise.name == promise.name.lower().replace(" ", "-")
    assert promise.reference
    assert promise.counted
    assert promise.bound in {"min", "max"}
    assert promise.words.stops != ModelWords(title="").stops
    assert promise.words.open != ModelWords(title="").open
    given = promise.parameters().items()
    numbers = {name for name, value in given if not isinstance(value, str | list | tuple | Mapping)}
    assert numbers - MEASURED <= set(promise.stricter)


def check_promise_is_made_again_from_its_parameters(promise: AnyPromise) -> None:
    """A recipe holds all that a promise needs."""
    entry = {"name": promise.name, **promise.parameters()}
    assert choice_of({promise.name: type(promise)}, entry, "model") == promise


def check_search_is_made_again_from_its_parameters(search: AnySearch) -> None:
    """A recipe holds all that a search needs."""
    entry = {"name": search.name, **search.parameters()}
    assert search.reference
    assert choice_of({search.name: type(search)}, entry, "algorithm") == search


def figures(verdict: KindVerdict) -> tuple[float, int, bool]:
    """Return what two verdicts are compared by."""
    return verdict.level, verdict.broken, verdict.holds
