"""Noise on places keeps its law, its bound and its area."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pandas as pd
import pytest

from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.places import Area, PlanarLaplace

EPSILON = log(4) / 200
BERLIN = Area(west=13, south=52.3, east=13.8, north=52.7)


def test_golden_distances_of_planar_noise():
    noise = PlanarLaplace(epsilon=EPSILON, mechanism="planar")
    assert noise.mean_error == pytest.approx(288.539, abs=0.001)
    found = [noise.quantile(share) for share in (0.5, 0.9, 0.95, 0.99)]
    assert found == pytest.approx([242.134, 561.168, 684.395, 957.712], abs=0.001)


def test_golden_distances_of_exact_noise():
    noise = PlanarLaplace(epsilon=EPSILON, step=5)
    assert noise.mean_error * EPSILON == pytest.approx(2.295, abs=0.01)
    assert noise.quantile(0.5) * EPSILON == pytest.approx(1.911, abs=0.03)
    assert noise.quantile(0.95) * EPSILON == pytest.approx(5.496, abs=0.03)


@pytest.mark.parametrize("mechanism", ["exact", "planar"])
def test_places_are_moved_as_far_as_is_said(mechanism):
    noise = PlanarLaplace(epsilon=EPSILON, mechanism=mechanism, area=BERLIN)
    moved = noise.perturb(np.tile([13.4, 52.5], (4000, 1)))
    x, y = BERLIN.to_plane(moved[:, 0], moved[:, 1])
    at = BERLIN.to_plane(np.array([13.4]), np.array([52.5]))
    far = np.hypot(x - at[0], y - at[1])
    assert far.mean() == pytest.approx(noise.mean_error, rel=0.06)
    assert (far <= noise.quantile(0.9)).mean() == pytest.approx(0.9, abs=0.03)
    assert np.abs(x / noise.step - np.rint(x / noise.step)).max() <= 1 / 8
    assert (moved == np.round(moved, 5)).all()


def test_the_bound_holds_between_all_points_of_a_grid():
    """Discrete Laplace along both axes: the ratio is e to (|dx| + |dy|) times the rate of an axis."""
    noise = PlanarLaplace(epsilon=EPSILON)
    rate = Fraction(noise._axis_epsilon)
    for dx in range(8):
        for dy in range(8):
            far = noise.step * sqrt(dx * dx + dy * dy)
            assert float(rate) * (dx + dy) <= EPSILON * far


def test_rounded_planar_noise_uses_a_little_less_epsilon():
    noise = PlanarLaplace(epsilon=EPSILON, mechanism="planar")
    assert 1 - 1e-8 < noise._planar_epsilon / EPSILON < 1
    fine = noise.step / (50_000 * 2 * np.pi * 2.0**-52)
    grown = 2 * exp(noise._planar_epsilon * noise.step)
    assert noise._planar_epsilon + log((fine + grown) / (fine - grown)) / noise.step <= EPSILON
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
        ([(20.0, 52.5)], "outside the area"),
        ([(float("nan"), 52.5)], "no longitude or latitude"),
        ([(0.0, 0.0)], "unknown place"),
        ([13.4, 52.5], "rows of two numbers"),
        ([(52.5, 13.4)], "look swapped"),
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
    [{"epsilon": 0}, {"epsilon": 5.0}, {"epsilon": 1e-14}, {"mechanism": "gauss"}, {"step": -1}, {"area": "Berlin"}],
)
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match="PlanarLaplace"):
        PlanarLaplace(**{"epsilon": EPSILON, **wrong})
