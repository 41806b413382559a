"""Every law of networks fails on a subject that breaks it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from sfumato import graphs as net
from sfumato.core.model import Verdict
from sfumato.errors import GuaranteeViolatedError, RecipeError
from sfumato.testing import graphs as laws


@dataclass(frozen=True, kw_only=True, repr=False)
class Nameless(net.KDegreeAnonymity):
    """Has a name that no recipe knows, and no source."""

    name = "No Name"
    reference = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Forgetful(net.KDegreeAnonymity):
    """Does not tell its parameters."""

    def parameters(self):
        """Return nothing."""
        return {}


@dataclass(frozen=True, kw_only=True, repr=False)
class Lenient(net.KDegreeAnonymity):
    """Is kept more easily the more it asks for."""

    def evaluate(self, published):  # noqa: ARG002 - that is wrong with it
        """Look at nothing."""
        return Verdict(self, self.k if self.k > 2 else 0)


@dataclass(frozen=True, kw_only=True, repr=False)
class Numbered(net.KDegreeAnonymity):
    """Looks at the numbers of persons."""

    def evaluate(self, published):
        """Weigh degrees by numbers."""
        return Verdict(self, int(published.degrees @ np.arange(len(published))))


@dataclass(frozen=True, kw_only=True, repr=False)
class Idle(net.DegreeSequence):
    """Changes nothing."""

    name = "Idle"

    def search(self, request):
        """Return what was given."""
        return request.data


@dataclass(frozen=True, kw_only=True, repr=False)
class Greedy(net.DegreeSequence):
    """Serves everything, and removes all edges whatever is asked for."""

    supports: ClassVar = (object,)

    def search(self, request):
        """Remove everything."""
        return request.data.with_edges(np.zeros((0, 2)))


@pytest.mark.parametrize(
    ("law", "promise"),
    [
        (laws.check_model_metadata, Nameless(k=2)),
        (laws.check_graph_model_round_trip, Forgetful(k=2)),
        (laws.check_stricter_parameters_accept_less, Lenient(k=2)),
        (laws.check_node_numbering_is_ignored, Numbered(k=2)),
    ],
)
def test_a_promise_that_breaks_the_law_is_found(law, promise):
    for check in (law, laws.check_graph_model):
        with pytest.raises((AssertionError, RecipeError)):
            check(promise)
    law(net.KDegreeAnonymity(k=2))


def test_a_search_that_breaks_a_law_is_found(monkeypatch):
    asked = [net.KDegreeAnonymity(k=3)]
    with pytest.raises(AssertionError):
        laws.check_algorithm_metadata(Idle(), asked)
    with pytest.raises(GuaranteeViolatedError):
        laws.check_published_data_satisfies_models(Idle(), asked)
    with pytest.raises(AssertionError, match="was not refused"):
        laws.check_infeasible_requests_are_rejected(Greedy(), asked)
    with pytest.raises(AssertionError):
        laws.check_recipe_round_trip(Greedy(), asked)  # without edges no secret shows
    honest = laws.anonymize

    def boasting(*given, **options):
        release = honest(*given, **options)
        return replace(release, metrics={**release.metrics, "edges-added": 0})

    monkeypatch.setattr(laws, "anonymize", boasting)
    with pytest.raises(AssertionError):
        laws.check_reported_changes(net.DegreeSequence(edges="add"), asked)


@pytest.mark.parametrize("keep", ["some", "clusters"])
@pytest.mark.parametrize("figure", ["relations-kept", "relations-removed"])
def test_relations_that_are_told_wrongly_are_found(monkeypatch, keep, figure):
    search, asked = net.RemoveEdgeType(sensitive="love", keep=keep), [net.LinkInference(limit=0.5, leaks={"home": 0.5})]
    laws.check_reported_changes(search, asked)
    honest = laws.anonymize

    def boasting(*given, **options):
        release = honest(*given, **options)
        return replace(release, metrics={**release.metrics, figure: release.metrics[figure] + 1})

    monkeypatch.setattr(laws, "anonymize", boasting)
    with pytest.raises(AssertionError):
        laws.check_reported_changes(search, asked)
