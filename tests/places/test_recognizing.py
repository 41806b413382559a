"""Stays, homes, work and habits recognize people: golden examples, and made-up movers whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.datasets.mobility import CITY, generate_mobility
from sfumato.errors import InvalidParameterError
from sfumato.trajectories.attacks.mobility_markov_chains import (
    chain_distance,
    chain_distances,
    fit_chain,
    fit_chains,
    predict_next,
)
from sfumato.trajectories.attacks.source_linkage import link_sources
from sfumato.trajectories.geometry import Area
from sfumato.trajectories.stay_points import find_home_and_work, find_stay_points
from sfumato.trajectories.trajectories import Points, Trajectories

HERE = Area(west=13, south=52.4, east=13.4, north=52.6)
MINUTE = 60_000_000


def test_golden_stays():
    minutes, meters = np.array([(0, 0), (10, 50), (20, 80), (30, 500), (40, 520), (70, 530)]).T
    longitudes, latitudes = HERE.to_degrees(meters.astype(float), np.full(6, 1000.0))
    ways = Trajectories.from_points(
        Points(
            individual_of=np.array([0]),
            offsets=np.array([0, 6]),
            times=minutes * MINUTE,
            longitudes=longitudes,
            latitudes=latitudes,
        ),
        area=HERE,
    )
    found = find_stay_points(ways, meters=200, minutes=20)
    assert (found.begin // MINUTE).tolist() == [0, 30]
    assert (found.end // MINUTE).tolist() == [20, 70]
    assert found.x == pytest.approx([43.333, 516.667], abs=0.001)


@pytest.fixture(scope="module")
def movers():
    return generate_mobility(40, 14, seed=4)


@pytest.fixture(scope="module")
def sources(movers):
    return [
        Trajectories(movers.observe(rate=rate, error=error, seed=seed))
        for rate, error, seed in ((0.4, 60, 1), (0.25, 100, 2))
    ]


def test_homes_and_work_are_found_where_they_are(movers, sources):
    ways = sources[0]
    stays = find_stay_points(ways, meters=300, minutes=20)
    found = find_home_and_work(ways, stays, meters=500)
    assert (found.home >= 0).mean() > 0.9
    for anchors, truth in ((found.home, movers.homes), (found.work, movers.works)):
        cells = {}
        for person in range(40):
            x, y = ways.area.to_plane(*(side for side in CITY.to_degrees(truth[person, :1], truth[person, 1:])))
            cells[person] = (int(x[0] // 500), int(y[0] // 500))
        same = [
            (cells[a] == cells[b]) == (anchors[a] == anchors[b])
            for a in range(40)
            for b in range(a)
            if min(anchors[a], anchors[b]) >= 0
        ]
        assert np.mean(same) > 0.95
    alone = found.unique_shares()
    assert alone["home-work"] >= alone["home"] > 0.3


def test_nights_are_those_of_the_clock_on_the_wall(movers):
    moved = movers.observe(rate=0.5, seed=1)
    east = Trajectories(moved, zone="Pacific/Auckland")
    west = Trajectories(moved)
    stays = find_stay_points(west, meters=300)
    assert (find_home_and_work(east, stays).home != find_home_and_work(west, stays).home).any()


@pytest.mark.parametrize(("method", "least"), [("signal", 0.7), ("markov", 0.4)])
def test_persons_are_linked_across_sources(sources, method, least):
    found = link_sources(*sources, truth=np.arange(40), method=method, meters=300)
    assert found.details["best is right"] >= least
    assert found.gains
    assert found.precision > 0.7


def test_links_of_people_who_are_not_there_are_the_control(sources):
    truth = np.where(np.arange(40) < 20, np.arange(40), -1)
    some = Trajectories.from_points(sources[1].points.take(np.arange(20)))
    found = link_sources(sources[0], some, truth=truth, meters=300)
    assert found.targets == 20
    assert found.control_targets == 20
    assert found.control < found.rate


def test_links_that_say_nothing_are_the_control_where_all_are_there(sources):
    found = link_sources(*sources, truth=np.arange(40), meters=300)
    assert found.control_targets == 40
    assert found.control < 0.2
    wrong = link_sources(*sources, truth=np.roll(np.arange(40), 1), meters=300)
    assert not wrong.gains


def test_distances_of_all_chains_are_those_of_every_pair(sources):
    stays = find_stay_points(sources[0], meters=300)
    chains = [*fit_chains(stays, 8), fit_chain(stays.of_individual(-1))]
    found = chain_distances(chains[:5], chains)
    assert found == pytest.approx(np.array([[chain_distance(one, other) for other in chains] for one in chains[:5]]))


def test_habits_predict_better_than_favorite_places(sources):
    found = predict_next(find_stay_points(sources[0], meters=300), 40)
    assert found.successes > 0
    assert found.rate > found.baseline


def test_bad_requests_are_refused(sources):
    with pytest.raises(InvalidParameterError, match="40 numbers"):
        link_sources(*sources, truth=np.arange(3))
    with pytest.raises(InvalidParameterError, match="method"):
        link_sources(*sources, truth=np.arange(40), method="magic")
