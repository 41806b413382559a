"""Every law of networks fails on a subject that breaks it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from sfumato import networks as net
from sfumato.checks import networks as laws
from sfumato.exceptions import BrokenPromiseError, RecipeError
from sfumato.kinds.promise import KindVerdict


@dataclass(frozen=True, kw_only=True, repr=False)
class Nameless(net.KDegree):
    """Has a name that no recipe knows, and no source."""

    name = "No Name"
    reference = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Forgetful(net.KDegree):
    """Does not tell its parameters."""

    def parameters(self):
        """Return nothing."""
        return {}


@dataclass(frozen=True, kw_only=True, repr=False)
class Lenient(net.KDegree):
    """Is kept more easily the more it asks for."""

    def judge(self, published):  # noqa: ARG002 - that is wrong with it
        """Look at nothing."""
        return KindVerdict(self, self.k if self.k > 2 else 0)


@dataclass(frozen=True, kw_only=True, repr=False)
class Numbered(net.KDegree):
    """Looks at the numbers of persons."""

    def judge(self, published):
        """Weigh degrees by numbers."""
        return KindVerdict(self, int(published.degrees @ np.arange(len(published))))


@dataclass(frozen=True, kw_only=True, repr=False)
class Idle(net.DegreeSequence):
    """Changes nothing."""

    name = "Idle"

    def find(self, request):
        """Return what was given."""
        return request.data


@dataclass(frozen=True, kw_only=True, repr=False)
class Greedy(net.DegreeSequence):
    """Serves everything, and removes all edges whatever is asked for."""

    serves: ClassVar = (object,)

    def find(self, request):
        """Remove everything."""
        return request.data.with_edges(np.zeros((0, 2)))


@pytest.mark.parametrize(
    ("law", "promise"),
    [
        (laws.check_promise_states_its_facts, Nameless(k=2)),
        (laws.check_promise_is_made_again_from_its_parameters, Forgetful(k=2)),
        (laws.check_stricter_promises_keep_fewer_networks, Lenient(k=2)),
        (laws.check_numbers_of_persons_tell_nothing, Numbered(k=2)),
    ],
)
def test_a_promise_that_breaks_the_law_is_found(law, promise):
    for check in (law, laws.check_network_promise):
        with pytest.raises((AssertionError, RecipeError)):
            check(promise)
    law(net.KDegree(k=2))


def test_a_search_that_breaks_a_law_is_found(monkeypatch):
    asked = [net.KDegree(k=3)]
    with pytest.raises(AssertionError):
        laws.check_search_states_its_facts(Idle(), asked)
    with pytest.raises(BrokenPromiseError):
        laws.check_search_keeps_its_promise(Idle(), asked)
    with pytest.raises(AssertionError, match="was not refused"):
        laws.check_search_refuses_what_nobody_can_keep(Greedy(), asked)
    with pytest.raises(AssertionError):
        laws.check_search_is_made_again_from_its_recipe(Greedy(), asked)  # without edges no secret shows
    honest = laws.anonymize

    def boasting(*given, **options):
        release = honest(*given, **options)
        return replace(release, measures={**release.measures, "edges-added": 0})

    monkeypatch.setattr(laws, "anonymize", boasting)
    with pytest.raises(AssertionError):
        laws.check_search_says_what_it_changed(net.DegreeSequence(edges="add"), asked)


@pytest.mark.parametrize("keep", ["some", "clusters"])
@pytest.mark.parametrize("figure", ["relations-kept", "relations-removed"])
def test_relations_that_are_told_wrongly_are_found(monkeypatch, keep, figure):
    search, asked = net.KindRemoval(sensitive="love", keep=keep), [net.RelationBelief(limit=0.5, leaks={"home": 0.5})]
    laws.check_search_says_what_it_changed(search, asked)
    honest = laws.anonymize

    def boasting(*given, **options):
        release = honest(*given, **options)
        return replace(release, measures={**release.measures, figure: release.measures[figure] + 1})

    monkeypatch.setattr(laws, "anonymize", boasting)
    with pytest.raises(AssertionError):
        laws.check_search_says_what_it_changed(search, asked)
