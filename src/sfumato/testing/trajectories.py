# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every promise about ways and every search for them obeys.

`check_trajectory_model(MyPromise())` and `check_trajectory_algorithm(MySearch(), [MyPromise()])` run them all. Each
check works on small made-up ways and raises `AssertionError` if its law is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from sfumato._randomness import secret_from_seed, seeded_generator
from sfumato.core.algorithm import AnyAlgorithm
from sfumato.core.model import AnyModel
from sfumato.testing._data_types import (
    check_algorithm_round_trip,
    check_model_metadata,
    check_model_round_trip,
    verdict_figures,
)
from sfumato.trajectories._pipeline import anonymize
from sfumato.trajectories._release import TrajectoriesRelease
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.trajectories import Trajectories

INDIVIDUALS, MOMENTS = 12, 8
SHOPS = ("mall", "park", "school")
SECRET = secret_from_seed(1)


@lru_cache(maxsize=4)
def draw_trajectories(seed: int) -> Trajectories:
    """Make up ways of persons who walk between a few shops, with a sensitive value each."""
    rng = seeded_generator(seed)
    person = np.repeat(np.arange(INDIVIDUALS), MOMENTS)
    hour = np.tile(np.arange(MOMENTS), INDIVIDUALS)
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
def _release(search: AnyAlgorithm, models: tuple[AnyModel, ...], seed: int) -> TrajectoriesRelease:
    return anonymize(draw_trajectories(seed), models=models, algorithm=search, secret=SECRET)


def check_trajectory_model(promise: AnyModel, search: AnyAlgorithm) -> None:
    """Run every check on one promise, on what a search publishes that keeps it."""
    for check in MODEL_CHECKS:
        check(promise, search)


def check_trajectory_algorithm(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """Run every check on one search, which must keep these promises."""
    for check in ALGORITHM_CHECKS:
        check(search, models)


def check_model_metadata_and_round_trip(promise: AnyModel, search: AnyAlgorithm) -> None:  # noqa: ARG001 - nothing is published
    """A promise states its facts, and a recipe holds all that it needs."""
    check_model_metadata(promise)
    check_model_round_trip(promise)


def check_individual_numbering_is_ignored(promise: AnyModel, search: AnyAlgorithm) -> None:
    """The same ways with other numbers of persons are judged alike."""
    found = _release(search, (promise,), 1).published
    verdict = verdict_figures(promise.evaluate(found))
    if isinstance(found, CloakedTrajectories):
        turned: Trajectories | CloakedTrajectories = replace(
            found, individual_of=(found.individual_of + 1) % (found.individual_of.max() + 1)
        )
    else:
        points = found.points
        turned = Trajectories.from_points(
            replace(points, individual_of=(points.individual_of + 1) % (points.individual_of.max() + 1))
        )
    assert verdict_figures(promise.evaluate(turned)) == verdict


def check_verdict_depends_on_published_data_only(promise: AnyModel, search: AnyAlgorithm) -> None:
    """What a search remembers of its making changes no verdict."""
    found = _release(search, (promise,), 1).published
    verdict = verdict_figures(promise.evaluate(found))
    if isinstance(found, CloakedTrajectories):
        blank: Trajectories | CloakedTrajectories = replace(found, origin=None)
    else:
        blank = Trajectories.from_points(replace(found.points, origin=None))
    assert verdict_figures(promise.evaluate(blank)) == verdict


def check_stricter_parameters_accept_less(promise: AnyModel, search: AnyAlgorithm) -> None:
    """What keeps a stricter promise keeps the promise, and nothing keeps one of more persons, or of a share of none."""
    found = _release(search, (promise,), 1).published
    strictest = {"k": INDIVIDUALS + 1, "share": 0.0}
    named = promise.parameters() | {name: most for name, most in strictest.items() if name in promise.stricter}
    assert promise.evaluate(found).holds
    assert not type(promise)(**named).evaluate(found).holds


def check_algorithm_metadata_and_round_trip(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """A search states its facts, serves its promises, and a recipe holds all that it needs."""
    check_algorithm_round_trip(search)
    assert all(isinstance(model, search.supports) for model in models)
    assert search.uses_secret


def check_published_data_satisfies_models(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """What a search finds keeps every promise, as published and as read back from its files."""
    for seed in (1, 2):
        release = _release(search, tuple(models), seed)
        assert all(model.evaluate(release.published).holds for model in models)
        with TemporaryDirectory() as folder:
            release.write(Path(folder) / "out", report=False)
            read = TrajectoriesRelease.read(Path(folder) / "out" / "public")
        assert read.digest() == release.published.digest()
        assert all(model.evaluate(read).holds for model in models)


def check_same_secret_gives_same_release(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """The same secret gives the same ways, and the original is left as it was."""
    original = draw_trajectories(1)
    before = original.digest()
    again = anonymize(original, models=models, algorithm=search, secret=SECRET)
    assert again.published.digest() == _release(search, tuple(models), 1).published.digest()
    assert original.digest() == before


def check_no_identifier_is_published(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """No key of a person is published, and no point stands in what is shown of a release."""
    release = _release(search, tuple(models), 1)
    shown = release.published.to_arrow()
    assert not any("person " in str(cell) for name in shown.column_names for cell in shown[name].to_pylist())
    assert "13.4" not in repr(release)


def check_sensitive_values_need_a_model(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """A sensitive value is published only if a promise is about shares of it."""
    shown = _release(search, tuple(models), 1).published.to_arrow()
    assert "sensitive" not in shown.column_names or any("c" in model.stricter for model in models)


def check_metrics_are_numbers(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """Every measure is a finite number, and shares are from 0 to 1."""
    found = _release(search, tuple(models), 1).metrics
    assert all(np.isfinite(value) for value in found.values())
    shares = ("ways-kept", "persons-kept", "unicity-before", "unicity-after")
    assert all(0 <= found[name] <= 1 for name in shares)


MODEL_CHECKS: tuple[Callable[[AnyModel, AnyAlgorithm], None], ...] = (
    check_model_metadata_and_round_trip,
    check_individual_numbering_is_ignored,
    check_verdict_depends_on_published_data_only,
    check_stricter_parameters_accept_less,
)
ALGORITHM_CHECKS: tuple[Callable[[AnyAlgorithm, Sequence[AnyModel]], None], ...] = (
    check_algorithm_metadata_and_round_trip,
    check_published_data_satisfies_models,
    check_same_secret_gives_same_release,
    check_no_identifier_is_published,
    check_sensitive_values_need_a_model,
    check_metrics_are_numbers,
)
