"""Every law about ways is broken by something that is wrong on purpose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from sfumato import places
from sfumato.checks import ways as laws
from sfumato.exceptions import BrokenPromiseError
from sfumato.kinds.promise import KindVerdict
from sfumato.places.trajectories import Trajectories

K = places.KDelta(k=3, delta=200)
SEARCH = places.NeverWalkAlone(span=3600, every=3600)


@dataclass(frozen=True, kw_only=True, repr=False)
class ByNumber(places.KDelta):
    """Judges by the number of a person, which means nothing."""

    def judge(self, published):
        """Look at the wrong thing."""
        return KindVerdict(self, 3.0 + float(published.points.owner[0]))


@dataclass(frozen=True, kw_only=True, repr=False)
class ByMemory(places.KDelta):
    """Judges by what the search remembers."""

    def judge(self, published):
        """Look at the wrong thing."""
        return KindVerdict(self, 3.0 if published.points.origin is None else 4.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class Lenient(places.KDelta):
    """Holds whatever is published."""

    def judge(self, published):  # noqa: ARG002 - that is what is wrong with it
        """Look at nothing."""
        return KindVerdict(self, float(self.k))


@dataclass(frozen=True, kw_only=True, repr=False)
class Unstated(places.KDelta):
    """Has a number that it does not state."""

    stricter: ClassVar = {"k": "larger"}


@pytest.mark.parametrize(
    ("law", "promise"),
    [
        (laws.check_promise_is_stated_and_made_again, Unstated(k=3, delta=200)),
        (laws.check_numbers_of_persons_tell_nothing, ByNumber(k=3, delta=200)),
        (laws.check_only_what_is_published_is_judged, ByMemory(k=3, delta=200)),
        (laws.check_stricter_promises_keep_fewer_ways, Lenient(k=3, delta=200)),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_wrong_promise_breaks_the_law(law, promise):
    law(K, SEARCH)
    with pytest.raises(AssertionError):
        law(promise, SEARCH)


@dataclass(frozen=True, kw_only=True, repr=False)
class Drawing(places.NeverWalkAlone):
    """Draws by itself and not from the secret."""

    def find(self, request):
        """Shuffle what was found."""
        found = super().find(request)
        return Trajectories.of(found.points.take(np.random.default_rng().permutation(found.points.ways)))


@dataclass(frozen=True, kw_only=True, repr=False)
class Apart(places.NeverWalkAlone):
    """Leaves ways where they are."""

    def find(self, request):
        """Keep a weaker promise."""
        return super().find(replace(request, models=[places.KDelta(k=3, delta=1e9)]))


@dataclass(frozen=True, kw_only=True, repr=False)
class Sourceless(places.NeverWalkAlone):
    """Does not say where it comes from."""

    reference = ""


@pytest.mark.parametrize(
    ("law", "search"),
    [
        (laws.check_search_is_stated_and_made_again, Sourceless(span=3600, every=3600)),
        (laws.check_search_keeps_its_promise, Apart(span=3600, every=3600)),
        (laws.check_the_secret_repeats_and_hides, Drawing(span=3600, every=3600)),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_wrong_search_breaks_the_law(law, search):
    law(SEARCH, [K])
    with pytest.raises((AssertionError, BrokenPromiseError)):
        law(search, [K])


@pytest.mark.parametrize(
    "law", [laws.check_nobody_is_named, laws.check_values_need_a_promise, laws.check_measures_are_numbers]
)
def test_a_wrong_release_breaks_the_law(law, monkeypatch):
    release = laws._released(SEARCH, (K,), 1)
    shown = release.published.to_arrow()
    named = shown.set_column(0, "person", [["person 1"] * shown.num_rows])
    valued = shown.append_column("sensitive", [["flu"] * shown.num_rows])
    wrong = {
        laws.check_values_need_a_promise: replace(
            release, published=type("Valued", (), {"to_arrow": lambda _: valued})()
        ),
        laws.check_nobody_is_named: replace(release, published=type("Named", (), {"to_arrow": lambda _: named})()),
        laws.check_measures_are_numbers: replace(release, measures={**release.measures, "ways-kept": float("nan")}),
    }[law]
    monkeypatch.setattr(laws, "_released", lambda *_: wrong)
    with pytest.raises(AssertionError):
        law(SEARCH, [K])


def test_every_law_of_the_suite_runs():
    laws.check_way_promise(K, SEARCH)
    laws.check_way_search(SEARCH, [K])
