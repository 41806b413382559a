"""The made-up network has communities, hubs, and friends who are alike."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.datasets.friendship_graph import generate_friendship_graph
from sfumato.errors import InvalidParameterError


def test_friends_are_alike_and_some_have_very_many():
    network = generate_friendship_graph(2000, mean_friends=8, communities=20)
    assert network.n_edges == pytest.approx(8000, rel=0.01)
    assert network.degrees.max() > 10 * network.degrees.mean()
    ages, cities = network.vertices["age"].to_numpy(), network.vertices["city"].to_numpy()
    one, other = network.edges.T
    rng = np.random.default_rng(1)
    strangers = rng.integers(2000, size=(2, 8000))
    assert np.abs(ages[one] - ages[other]).mean() < 0.7 * np.abs(ages[strangers[0]] - ages[strangers[1]]).mean()
    assert (cities[one] == cities[other]).mean() > 1.5 * (cities[strangers[0]] == cities[strangers[1]]).mean()


def test_the_same_seed_makes_the_same_network():
    one, two, three = (generate_friendship_graph(50, communities=3, seed=seed).digest() for seed in (1, 1, 2))
    assert one == two != three


@pytest.mark.parametrize("wrong", [{"persons": 5}, {"mean_friends": 0}, {"communities": 0}])
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError):
        generate_friendship_graph(**wrong)
