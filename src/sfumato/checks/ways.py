# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every promise about ways and every search for them obeys.

`check_way_promise(MyPromise())` and `check_way_search(MySearch(), [MyPromise()])` run them all. Each check works on
small made-up ways and raises `AssertionError` if its law is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from sfumato.checks.kinds import (
    check_promise_is_made_again_from_its_parameters,
    check_promise_states_its_facts,
    check_search_is_made_again_from_its_parameters,
    figures,
)
from sfumato.kinds.promise import AnyPromise
from sfumato.kinds.search import AnySearch
from sfumato.places.anonymizing import anonymize
from sfumato.places.region_ways import RegionWays
from sfumato.places.trajectories import Trajectories
from sfumato.places.way_release import WayRelease
from sfumato.randomness import generator, repeatable_secret

PERSONS, MOMENTS = 12, 8
SHOPS = ("mall", "park", "school")
SECRET = repeatable_secret(1)


@lru_cache(maxsize=4)
def sample(seed: int) -> Trajectories:
    """Make up ways of persons who walk between a few shops, with a sensitive value each."""
    rng = generator(seed)
    person = np.repeat(np.arange(PERSONS), MOMENTS)
    hour = np.tile(np.arange(MOMENTS), PERSONS)
    shop = rng.integers(0, len(SHOPS), len(person))
    seconds = 1_767_600_000 + 3600 * hour
    return Trajectories(
        pa.table(
            {
                "person": [f"person {each}" for each in person],
                "time": pa.array(seconds * 1_000_000, pa.timestamp("us", "UTC")),
                "longitude": 13.40 + shop / 100 + rng.normal(0, 1e-4, len(shop)),
                "latitude": 52.50 + rng.normal(0, 1e-4, len(shop)),
                "place": [SHOPS[each] for each in shop],
                "ill": [("flu", "pox")[each % 2] for each in person],
            }
        ),
        place="place",
        sensitive="ill",
    )


@lru_cache(maxsize=64)
def _released(search: AnySearch, models: tuple[AnyPromise, ...], seed: int) -> WayRelease:
    return anonymize(sample(seed), models=models, algorithm=search, secret=SECRET)


def check_way_promise(promise: AnyPromise, search: AnySearch) -> None:
    """Run every check on one promise, on what a search publishes that keeps it."""
    for check in PROMISE_CHECKS:
        check(promise, search)


def check_way_search(search: AnySearch, models: Sequence[AnyPromise]) -> None:
    """Run every check on one search, which must keep these promises."""
    for check in SEARCH_CHECKS:
        check(search, models)


def check_promise_is_stated_and_made_again(promise: AnyPromise, search: AnySearch) -> None:  # noqa: ARG001 - nothing is published
    """A promise states its facts, and a recipe holds all that it needs."""
    check_promise_states_its_facts(promise)
    check_promise_is_made_again_from_its_parameters(promise)


def check_numbers_of_persons_tell_nothing(promise: AnyPromise, search: AnySearch) -> None:
    """The same ways with other numbers of persons are judged alike."""
    found = _released(search, (promise,), 1).published
    verdict = figures(promise.judge(found))
    if isinstance(found, RegionWays):
        turned: Trajectories | RegionWays = replace(found, owner=(found.owner + 1) % (found.owner.max() + 1))
    else:
        points = found.points
        turned = Trajectories.of(replace(points, owner=(points.owner + 1) % (points.owner.max() + 1)))
    assert figures(promise.judge(turned)) == verdict


def check_only_what_is_published_is_judged(promise: AnyPromise, search: AnySearch) -> None:
    """What a search remembers of its making changes no verdict."""
    found = _released(search, (promise,), 1).published
    verdict = figures(promise.judge(found))
    if isinstance(found, RegionWays):
        blank: Trajectories | RegionWays = replace(found, origin=None)
    else:
        blank = Trajectories.of(replace(found.points, origin=None))
    assert figures(promise.judge(blank)) == verdict


def check_stricter_promises_keep_fewer_ways(promise: AnyPromise, search: AnySearch) -> None:
    """What keeps a stricter promise keeps the promise, and nothing keeps one of more persons, or of a share of none."""
    found = _released(search, (promise,), 1).published
    strictest = {"k": PERSONS + 1, "share": 0.0}
    named = promise.parameters() | {name: most for name, most in strictest.items() if name in promise.stricter}
    assert promise.judge(found).holds
    assert not type(promise)(**named).judge(found).holds


def check_search_is_stated_and_made_again(search: AnySearch, models: Sequence[AnyPromise]) -> None:
    """A search states its facts, serves its promises, and a recipe holds all that it needs."""
    check_search_is_made_again_from_its_parameters(search)
    assert all(isinstance(model, search.serves) for model in models)
    assert search.draws


def check_search_keeps_its_promise(search: AnySearch, models: Sequence[AnyPromise]) -> None:
    """What a search finds keeps every promise, as published and as read back from its files."""
    for seed in (1, 2):
        release = _released(search, tuple(models), seed)
        assert all(model.judge(release.published).holds for model in models)
        with TemporaryDirectory() as folder:
            release.write(Path(folder) / "out", report=False)
            read = WayRelease.read(Path(folder) / "out" / "public")
        assert read.digest() == release.published.digest()
        assert all(model.judge(read).holds for model in models)


def check_the_secret_repeats_and_hides(search: AnySearch, models: Sequence[AnyPromise]) -> None:
    """The same secret gives the same ways, and the original is left as it was."""
    original = sample(1)
    before = original.digest()
    again = anonymize(original, models=models, algorithm=search, secret=SECRET)
    assert again.published.digest() == _released(search, tuple(models), 1).published.digest()
    assert original.digest() == before


def check_nobody_is_named(search: AnySearch, models: Sequence[AnyPromise]) -> None:
    """No key of a person is published, and no point stands in what is shown of a release."""
    release = _released(search, tuple(models), 1)
    shown = release.published.to_arrow()
    assert not any("person " in str(cell) for name in shown.column_names for cell in shown[name].to_pylist())
    assert "13.4" not in repr(release)


def check_values_need_a_promise(search: AnySearch, models: Sequence[AnyPromise]) -> None:
    """A sensitive value is published only if a promise is about shares of it."""
    shown = _released(search, tuple(models), 1).published.to_arrow()
    assert "sensitive" not in shown.column_names or any("c" in model.stricter for model in models)


def check_measures_are_numbers(search: AnySearch, models: Sequence[AnyPromise]) -> None:
    """Every measure is a finite number, and shares are from 0 to 1."""
    found = _released(search, tuple(models), 1).measures
    assert all(np.isfinite(value) for value in found.values())
    shares = ("ways-kept", "persons-kept", "unicity-before", "unicity-after")
    assert all(0 <= found[name] <= 1 for name in shares)


PROMISE_CHECKS: tuple[Callable[[AnyPromise, AnySearch], None], ...] = (
    check_promise_is_stated_and_made_again,
    check_numbers_of_persons_tell_nothing,
    check_only_what_is_published_is_judged,
    check_stricter_promises_keep_fewer_ways,
)
SEARCH_CHECKS: tuple[Callable[[AnySearch, Sequence[AnyPromise]], None], ...] = (
    check_search_is_stated_and_made_again,
    check_search_keeps_its_promise,
    check_the_secret_repeats_and_hides,
    check_nobody_is_named,
    check_values_need_a_promise,
    check_measures_are_numbers,
)
