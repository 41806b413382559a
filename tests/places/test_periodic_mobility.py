"""The periodic mobility model finds two places and their hours again."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.datasets.mobility import generate_mobility
from sfumato.errors import InvalidParameterError
from sfumato.trajectories.attacks.periodic_mobility import fit_periodic_mobility, predict_periodic
from sfumato.trajectories.trajectories import Trajectories


def test_two_places_and_their_hours_are_found():
    rng = np.random.default_rng(1)
    clock = rng.uniform(0, 24, 400)
    office = (clock > 9) & (clock < 17)
    places = np.where(office[:, None], (5000.0, 0.0), (0.0, 3000.0)) + rng.normal(0, 80, (400, 2))
    places[::25] = rng.uniform(-20_000, 20_000, (16, 2))  # errands
    model = fit_periodic_mobility(places, clock)
    work = int(model.middle[:, 0].argmax())
    assert model.middle[work] == pytest.approx((5000, 0), abs=150)
    assert model.middle[1 - work] == pytest.approx((0, 3000), abs=150)
    assert model.hour[work] == pytest.approx(13, abs=1)
    assert model.predict(np.array([13.0, 2.0])) == pytest.approx(model.middle[[work, 1 - work]])


def test_habits_tell_later_places():
    ways = Trajectories(generate_mobility(12, 10, seed=1).observe(rate=0.5, seed=1))
    found = predict_periodic(ways)
    assert found.rate > found.baseline


def test_too_few_points_are_refused():
    with pytest.raises(InvalidParameterError, match="at least 8 points"):
        fit_periodic_mobility(np.zeros((2, 2)), np.zeros(2))
