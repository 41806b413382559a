"""Noise on places keeps its law, its bound and its area."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, pi, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.trajectories.geometry import EARTH_RADIUS, Area, haversine
from sfumato.trajectories.locations._tangent_plane import TangentPlane
from sfumato.trajectories.locations.planar_laplace import PlanarLaplace

EPSILON = log(4) / 200
BERLIN = Area(west=13, south=52.3, east=13.8, north=52.7)


def test_golden_distances_of_planar_noise():
    noise = PlanarLaplace(epsilon=EPSILON, mechanism="planar")
    assert noise.mean_error == pytest.approx(288.539, abs=0.001)
    found = [noise.quantile(share) for share in (0.5, 0.9, 0.95, 0.99)]
    assert found == pytest.approx([242.134, 561.168, 684.395, 957.712], abs=0.001)


def test_golden_distances_of_exact_noise():
    noise = PlanarLaplace(epsilon=EPSILON, step=5, area=Area(west=0, south=-8, east=16, north=8))  # hardly clamped
    assert noise.mean_error * EPSILON == pytest.approx(2.295, abs=0.02)
    assert noise.quantile(0.5) * EPSILON == pytest.approx(1.911, abs=0.03)
    assert noise.quantile(0.95) * EPSILON == pytest.approx(5.496, abs=0.06)


def test_one_point_without_an_area_is_moved_by_the_planar_law():
    """The law of Andrés et al.: clamping to a box around the one point gave a median of 110 m."""
    noise = PlanarLaplace(epsilon=EPSILON)
    moved = noise.perturb(np.tile([13.4, 52.5], (20_000, 1)))
    far = haversine(np.array([13.4]), np.array([52.5]), moved[:, 0], moved[:, 1])
    for share, meters in ((0.25, 138.69), (0.5, 242.13), (0.9, 561.17), (0.99, 957.71)):
        assert np.quantile(far, share) == pytest.approx(meters, rel=0.06)
        assert noise.quantile(share) == pytest.approx(meters, rel=1e-4)


@pytest.mark.parametrize("place", [(13.4, 52.5), (180.0, 0.0), (-70.0, 89.999), (0.0, 0.001)])
def test_noise_without_an_area_has_the_same_law_all_over_the_earth(place):
    moved = PlanarLaplace(epsilon=EPSILON).perturb(np.tile(place, (8000, 1)))
    far = haversine(np.array([place[0]]), np.array([place[1]]), moved[:, 0], moved[:, 1])
    assert far.mean() == pytest.approx(288.5, rel=0.05)
    assert np.median(far) == pytest.approx(242.1, rel=0.05)


def test_noise_as_large_as_the_earth_keeps_its_law():
    noise = PlanarLaplace(epsilon=2e-7)
    moved = noise.perturb(np.tile([13.4, 52.5], (20_000, 1)))
    far = haversine(np.array([13.4]), np.array([52.5]), moved[:, 0], moved[:, 1])
    assert far.mean() == pytest.approx(noise.mean_error, rel=0.03)
    assert np.quantile(far, 0.9) == pytest.approx(noise.quantile(0.9), rel=0.03)


@given(
    st.tuples(st.floats(-180, 180), st.floats(-90, 90)),
    st.tuples(st.floats(-180, 180), st.floats(-90, 90)),
    st.sampled_from(
        [BERLIN, Area(west=170, south=-8, east=180, north=8), Area(west=20, south=70, east=21, north=70.3)]
    ),
)
@examples(200)
def test_no_two_places_of_the_earth_are_farther_apart_in_the_plane(first, second, area):
    longitudes, latitudes = np.array([first, second]).T
    x, y = TangentPlane.of(area).to_plane(longitudes, latitudes)
    far = haversine(longitudes[:1], latitudes[:1], longitudes[1:], latitudes[1:])[0]
    assert np.hypot(x[0] - x[1], y[0] - y[1]) <= far + 1e-6


def test_the_plane_is_inverted_in_the_area():
    longitudes, latitudes = np.random.default_rng(1).uniform((13, 52.3), (13.8, 52.7), (500, 2)).T
    plane = TangentPlane.of(BERLIN)
    back = plane.to_degrees(*plane.to_plane(longitudes, latitudes))
    assert np.allclose(back, [longitudes, latitudes], atol=1e-9)


@pytest.mark.parametrize("mechanism", ["exact", "planar"])
def test_places_are_moved_as_far_as_is_said(mechanism):
    noise = PlanarLaplace(epsilon=EPSILON, mechanism=mechanism, area=BERLIN)
    at = np.random.default_rng(1).uniform((13, 52.3), (13.8, 52.7), (8000, 2))
    moved = noise.perturb(at)
    far = haversine(*at.T, *moved.T)
    assert far.mean() == pytest.approx(noise.mean_error, rel=0.06)
    assert (far <= noise.quantile(0.9)).mean() == pytest.approx(0.9, abs=0.03)
    assert (moved == np.round(moved, 5)).all()


@pytest.mark.parametrize("mechanism", ["exact", "planar"])
def test_the_distance_that_is_said_is_the_one_after_clamping(mechanism):
    noise = PlanarLaplace(epsilon=1e-4, mechanism=mechanism, area=BERLIN)
    at = np.random.default_rng(1).uniform((13, 52.3), (13.8, 52.7), (8000, 2))
    far = haversine(*at.T, *noise.perturb(at).T)
    assert far.mean() == pytest.approx(noise.mean_error, rel=0.03)
    assert noise.mean_error < 17_000 < 2 / 1e-4
    assert any("large beside the area" in sentence for sentence in noise.remarks)


def test_exact_results_are_points_of_the_grid():
    noise = PlanarLaplace(epsilon=EPSILON, area=BERLIN)
    moved = noise.perturb(np.tile([13.4, 52.5], (4000, 1)))
    x, y = TangentPlane.of(BERLIN).to_plane(*moved.T)
    for side in (x, y):
        assert np.abs(side / noise.step - np.rint(side / noise.step)).max() <= 1 / 8


@pytest.mark.parametrize("mechanism", ["exact", "planar"])
def test_places_outside_the_area_are_reported_inside_as_others(mechanism):
    noise = PlanarLaplace(epsilon=EPSILON, mechanism=mechanism, area=BERLIN)
    outside = [(20.0, 52.5), (13.4, -60.0), (-179.9, 80.0), (52.5, 13.4), (193.4 - 360, -52.5)]
    moved = noise.perturb(outside)
    assert BERLIN.contains(*moved.T).all()
    assert moved[0, 0] == BERLIN.east


def test_the_bound_holds_between_all_points_of_a_grid():
    """Discrete Laplace along both axes: the ratio is e to (|dx| + |dy|) times the rate of an axis."""
    noise = PlanarLaplace(epsilon=EPSILON, area=BERLIN)
    rate = Fraction(noise._axis_epsilon)
    for dx in range(8):
        for dy in range(8):
            far = noise.step * sqrt(dx * dx + dy * dy)
            assert float(rate) * (dx + dy) <= EPSILON * far


def test_rounded_planar_noise_uses_a_little_less_epsilon():
    noise = PlanarLaplace(epsilon=EPSILON, mechanism="planar")
    used = noise._sphere.epsilon_used
    assert 1 - 1e-6 < used / EPSILON < 1
    fine = noise.step / (pi * EARTH_RADIUS * 2 * pi * 2.0**-52)
    grown = 2 * exp(used * noise.step)
    assert used + log((fine + grown) / (fine - grown)) / noise.step <= EPSILON
    with pytest.raises(InvalidParameterError, match="too small for planar noise"):
        PlanarLaplace(epsilon=1e-4, mechanism="planar", step=0.001)


def test_results_stay_in_the_area_and_tables_keep_their_kind():
    noise = PlanarLaplace(epsilon=1e-4, area=BERLIN)
    table = pd.DataFrame({"lat": [52.5] * 50, "who": range(50), "lon": [13.4] * 50})
    moved = noise.perturb(table)
    assert list(moved.columns) == ["lat", "who", "lon"]
    assert BERLIN.contains(moved["lon"].to_numpy(), moved["lat"].to_numpy()).all()
    assert moved["lat"].nunique() > 10
    assert set(table["lat"]) == {52.5}


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([(52.5, 113.4)], "look swapped"),
        ([(float("nan"), 52.5)], "no longitude or latitude"),
        ([13.4, 52.5], "rows of two numbers"),
        (pd.DataFrame({"lon": [], "lat": []}), "no rows"),
        (pd.DataFrame({"lon": [13.4, None], "lat": [52.5, 52.5]}), "1 missing cells"),
        (pd.DataFrame({"x": [1.0]}), "rename its columns"),
        (pd.DataFrame({"lon": [1.0], "lat": ["n"]}), "a number of degrees"),
    ],
)
def test_what_cannot_be_places_is_refused(places, said):
    with pytest.raises(SchemaError, match=said):
        PlanarLaplace(epsilon=EPSILON, area=BERLIN).perturb(places)


def test_remapping_moves_to_the_best_guess_and_helps():
    noise = PlanarLaplace(epsilon=EPSILON, area=BERLIN)
    shops = np.array([(13.40, 52.5), (13.42, 52.5), (13.5, 52.6)])
    moved = noise.perturb(np.tile(shops[0], (500, 1)))
    guessed = noise.remap(moved, shops, prior=[5, 1, 1])
    assert {tuple(row) for row in guessed} <= {tuple(row) for row in shops}
    assert (guessed == shops[0]).all(axis=1).mean() > 0.9
    assert noise.remap([(13.421, 52.5)], shops).tolist() == [[13.42, 52.5]]
    with pytest.raises(InvalidParameterError, match="at least one place"):
        noise.remap([(13.421, 52.5)], [])


def test_no_places_give_no_places():
    assert PlanarLaplace(epsilon=EPSILON).perturb([]).shape == (0, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": 5.0},
        {"epsilon": 1e-14},
        {"mechanism": "gauss"},
        {"step": -1},
        {"area": "Berlin"},
        {"epsilon": 5e-8},
    ],
)
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match="PlanarLaplace"):
        PlanarLaplace(**{"epsilon": EPSILON, **wrong})


def test_exact_noise_needs_a_public_area():
    with pytest.raises(InvalidParameterError, match="declare one, or use planar noise"):
        PlanarLaplace(epsilon=EPSILON, mechanism="exact")
