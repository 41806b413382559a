"""Attacks on published ways find the original, find nobody in ways that say nothing, and say if they do not apply."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sfumato as sf
from sfumato._randomness import KeyedRandom
from sfumato.errors import InvalidParameterError
from sfumato.trajectories._publishing import assign_keys
from sfumato.trajectories.attacks._attack import ATTACKS


@pytest.fixture(scope="module")
def movers():
    return sf.datasets.generate_mobility(40, 14, seed=4)


@pytest.fixture(scope="module")
def original(movers):
    return sf.trajectories.Trajectories(movers.observe(rate=0.5, error=30, seed=1))


@pytest.fixture(scope="module")
def known(movers):
    source = sf.trajectories.Trajectories(movers.observe(rate=0.3, error=80, seed=2))
    return {"source": source, "friends": [(str(a + 1), str(b + 1)) for a, b in movers.friends], "seed": 1}


def shuffled(original, origin):
    """Publish the original with new numbers; `origin` says whose way each is."""
    return assign_keys(replace(original.points, origin=origin), KeyedRandom("5f" * 32))


def test_every_attack_finds_the_original(original, known):
    found = sf.trajectories.attack(original, original, **known)
    assert [each.attack for each in found] == list(ATTACKS)
    assert not found.skipped
    assert {each.attack for each in found.gaining} >= set(ATTACKS) - {"who-knows-whom"}
    assert found.result("tracking").runs == 10


def test_new_numbers_alone_protect_nobody(original, known):
    plain = shuffled(original, np.arange(len(original)))
    found = sf.trajectories.attack(plain, original, **known)
    assert {*ATTACKS} - {"tracking", "who-knows-whom"} <= {each.attack for each in found.gaining}
    assert "have their keys" in found.skipped["tracking"]


def test_ways_of_other_persons_tell_nothing(original, known):
    """If every way is somebody else's, claims are about the wrong persons, and none of them is better than guessing."""
    others = shuffled(original, np.roll(np.arange(len(original)), 1))
    found = sf.trajectories.attack(others, original, **known)
    assert not found.gaining
    assert found.result("home-work").successes == 0
    assert found.result("home-work").control > 0.5


def test_home_and_work_are_found_as_plain_loops_find_them(original):
    from sfumato.trajectories.stay_points import home_and_work_positions

    stays = sf.trajectories.find_stay_points(original)
    home, work = home_and_work_positions(stays, 40, "UTC")
    alone = 0
    for one in range(40):
        far = [max(np.hypot(*(home[one] - home[two])), np.hypot(*(work[one] - work[two]))) for two in range(40)]
        near = [each <= 500 for each in far]
        alone += near == [two == one for two in range(40)]
    found = sf.trajectories.attack(original, original, attacks=["home-work"], seed=1).results[0]
    assert not np.isnan(work).any()
    assert found.successes == alone


def test_forms_that_an_attack_does_not_apply_to_are_told(original):
    regions = sf.trajectories.anonymize(
        original, models=[sf.trajectories.TrajectoryKAnonymity(k=4)], algorithm=sf.trajectories.SequenceAlignment()
    ).trajectories
    found = sf.trajectories.attack(regions, original, seed=1)
    assert [each.attack for each in found] == ["known-points"]
    assert set(found.skipped) == {*ATTACKS} - {"known-points"}
    assert "are regions" in found.skipped["next-place"]
    read = sf.trajectories.attack(sf.trajectories.Trajectories(original.to_frame()), original)
    assert not read.results
    with pytest.raises(InvalidParameterError, match="among known-points, home-work"):
        sf.trajectories.attack(original, original, attacks=["telepathy"])


def test_a_second_source_of_strangers_is_told(original):
    table = sf.datasets.generate_trajectories(3, 1)
    keys = [f"stranger {each}" for each in table["person"].to_pylist()]
    strangers = sf.trajectories.Trajectories(table.set_column(0, "person", [keys]))
    found = sf.trajectories.attack(original, original, attacks=["signal-linking"], source=strangers)
    assert "same keys" in found.skipped["signal-linking"]
