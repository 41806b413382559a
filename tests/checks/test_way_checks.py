"""Every law about ways is broken by something that is wrong on purpose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from sfumato import trajectories
from sfumato.core.model import Verdict
from sfumato.errors import GuaranteeViolatedError
from sfumato.testing import trajectories as laws
from sfumato.trajectories.trajectories import Trajectories

K = trajectories.KDeltaAnonymity(k=3, delta=200)
SEARCH = trajectories.NeverWalkAlone(span=3600, every=3600)


@dataclass(frozen=True, kw_only=True, repr=False)
class ByNumber(trajectories.KDeltaAnonymity):
    """Judges by the number of a person, which means nothing."""

    def evaluate(self, published):
        """Look at the wrong thing."""
        return Verdict(self, 3.0 + float(published.points.owner[0]))


@dataclass(frozen=True, kw_only=True, repr=False)
class ByMemory(trajectories.KDeltaAnonymity):
    """Judges by what the search remembers."""

    def evaluate(self, published):
        """Look at the wrong thing."""
        return Verdict(self, 3.0 if published.points.origin is None else 4.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class Lenient(trajectories.KDeltaAnonymity):
    """Holds whatever is published."""

    def evaluate(self, published):  # noqa: ARG002 - that is what is wrong with it
        """Look at nothing."""
        return Verdict(self, float(self.k))


@dataclass(frozen=True, kw_only=True, repr=False)
class Unstated(trajectories.KDeltaAnonymity):
    """Has a number that it does not state."""

    stricter: ClassVar = {"k": "larger"}


@pytest.mark.parametrize(
    ("law", "promise"),
    [
        (laws.check_model_metadata_and_round_trip, Unstated(k=3, delta=200)),
        (laws.check_individual_numbering_is_ignored, ByNumber(k=3, delta=200)),
        (laws.check_verdict_depends_on_published_data_only, ByMemory(k=3, delta=200)),
        (laws.check_stricter_parameters_accept_less, Lenient(k=3, delta=200)),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_wrong_promise_breaks_the_law(law, promise):
    law(K, SEARCH)
    with pytest.raises(AssertionError):
        law(promise, SEARCH)


@dataclass(frozen=True, kw_only=True, repr=False)
class Drawing(trajectories.NeverWalkAlone):
    """Draws by itself and not from the secret."""

    def search(self, request):
        """Shuffle what was found."""
        found = super().search(request)
        return Trajectories.from_points(
            found.points.take(np.random.default_rng().permutation(found.points.n_trajectories))
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Apart(trajectories.NeverWalkAlone):
    """Leaves ways where they are."""

    def search(self, request):
        """Keep a weaker promise."""
        return super().search(replace(request, models=[trajectories.KDeltaAnonymity(k=3, delta=1e9)]))


@dataclass(frozen=True, kw_only=True, repr=False)
class Sourceless(trajectories.NeverWalkAlone):
    """Does not say where it comes from."""

    reference = ""


@pytest.mark.parametrize(
    ("law", "search"),
    [
        (laws.check_algorithm_metadata_and_round_trip, Sourceless(span=3600, every=3600)),
        (laws.check_published_data_satisfies_models, Apart(span=3600, every=3600)),
        (laws.check_same_secret_gives_same_release, Drawing(span=3600, every=3600)),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_wrong_search_breaks_the_law(law, search):
    law(SEARCH, [K])
    with pytest.raises((AssertionError, GuaranteeViolatedError)):
        law(search, [K])


@pytest.mark.parametrize(
    "law",
    [laws.check_no_identifier_is_published, laws.check_sensitive_values_need_a_model, laws.check_metrics_are_numbers],
)
def test_a_wrong_release_breaks_the_law(law, monkeypatch):
    release = laws._release(SEARCH, (K,), 1)
    shown = release.published.to_arrow()
    named = shown.set_column(0, "person", [["person 1"] * shown.num_rows])
    valued = shown.append_column("sensitive", [["flu"] * shown.num_rows])
    wrong = {
        laws.check_sensitive_values_need_a_model: replace(
            release, published=type("Valued", (), {"to_arrow": lambda _: valued})()
        ),
        laws.check_no_identifier_is_published: replace(
            release, published=type("Named", (), {"to_arrow": lambda _: named})()
        ),
        laws.check_metrics_are_numbers: replace(release, metrics={**release.metrics, "ways-kept": float("nan")}),
    }[law]
    monkeypatch.setattr(laws, "_release", lambda *_: wrong)
    with pytest.raises(AssertionError):
        law(SEARCH, [K])


def test_every_law_of_the_suite_runs():
    laws.check_trajectory_model(K, SEARCH)
    laws.check_trajectory_algorithm(SEARCH, [K])
