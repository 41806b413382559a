"""Made-up movers live as they are told to."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.datasets.mobility import generate_mobility, generate_trajectories
from sfumato.errors import InvalidParameterError


def test_persons_sleep_at_home_work_on_weekdays_and_meet_friends():
    movers = generate_mobility(50, 14, seed=1)
    hour = np.arange(movers.x.shape[1])
    clock, weekday = hour % 24, hour // 24 % 7
    home = np.hypot(movers.x - movers.homes[:, :1], movers.y - movers.homes[:, 1:]) == 0
    work = np.hypot(movers.x - movers.works[:, :1], movers.y - movers.works[:, 1:]) == 0
    assert home[:, clock < 6].all()
    assert work[:, (weekday < 5) & (clock >= 9) & (clock < 17)].all()
    assert not home[:, (clock >= 17) & (clock < 22)].all()
    first, second = movers.friends.T
    met = (movers.x[first] == movers.x[second]) & (movers.y[first] == movers.y[second])
    assert met.any(axis=1).mean() > 0.8


def test_sources_see_the_same_persons_differently():
    movers = generate_mobility(20, 3, seed=2)
    often, seldom = movers.observe(rate=0.5, seed=1), movers.observe(rate=0.1, error=200, seed=2)
    assert often.num_rows > 3 * seldom.num_rows
    assert generate_trajectories(20, 3, seed=2).equals(generate_trajectories(20, 3, seed=2))


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameterError, match="persons"):
        generate_mobility(1)
    with pytest.raises(InvalidParameterError, match="rate"):
        generate_mobility(2, 1).observe(rate=0)
