"""Problems without a proper answer are reported, never fitted in silence; sound ones are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato._randomness import secret_from_seed as fixed
from sfumato.errors import SchemaError
from sfumato.local_dp.randomization.noise import GaussianNoise, UniformNoise
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse
from sfumato.local_dp.reconstruction.distribution import reconstruct

UNIT = UniformNoise(low=0, high=1)


@pytest.mark.parametrize("count", [50, 1_000, 100_000])
@pytest.mark.parametrize("cells", [1, 5, 20])
def test_uniform_observations_under_uniform_noise_have_no_density_behind_them(count, cells):
    # Exercise 2 of the chapter: the only solution is a single point, which no histogram can show.
    observed = np.random.default_rng(count).random(count)
    with pytest.warns(UserWarning, match="spread no more than the noise alone"):
        found = reconstruct(observed, UNIT, edges=np.linspace(0, 1, cells + 1))
    assert any("no density" in reason for reason in found.ill_posed)
    assert "ill-posed" in repr(found)


def test_false_alarms_of_well_posed_problems_are_rare():
    # The spread of x is 5 standard errors above nothing here: two standard errors are missed in 1 of 1,000 tables.
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        observed = rng.random(3_000) + rng.random(3_000)
        alarms += bool(reconstruct(observed, UNIT, edges=np.linspace(0, 1, 6)).ill_posed)
    assert alarms == 0


def test_observations_that_noise_cannot_make_are_counted_and_reported():
    observed = np.concatenate([np.random.default_rng(1).uniform(0, 2, 500), [9.0, -3.0]])
    with pytest.warns(UserWarning, match="2 observations cannot come from any value"):
        found = reconstruct(observed, UNIT, edges=[0.0, 0.5, 1.0])
    assert found.observations == 502


def test_nothing_possible_is_an_error():
    with pytest.raises(SchemaError, match="nothing to reconstruct"):
        reconstruct([5.0, 6.0], UNIT, edges=[0.0, 1.0])


def test_cells_much_finer_than_smooth_noise_are_reported():
    noise = GaussianNoise(scale=20)
    observed = noise.perturb(np.random.default_rng(1).uniform(0, 100, 5_000), secret=fixed(1))
    with pytest.warns(UserWarning, match="nearly indistinguishable"):
        found = reconstruct(observed, noise, edges=np.linspace(0, 100, 41), most_rounds=50)
    assert found.condition > 1e6


def test_answers_that_say_nothing_are_reported():
    with pytest.warns(UserWarning, match="nearly indistinguishable"):
        found = reconstruct(["a", "b"], RandomizedResponse(values=["a", "b"], truth=0.5), method="inversion")
    assert found.condition > 1e6


def test_observations_of_another_noise_are_a_misfit():
    rng = np.random.default_rng(1)
    observed = rng.uniform(0, 100, 20_000) + rng.choice([-30.0, 30.0], 20_000)
    with pytest.warns(UserWarning, match="No distribution over the cells explains"):
        reconstruct(observed, GaussianNoise(scale=5), edges=np.linspace(-40, 140, 4))


def test_noise_narrower_than_a_cell_is_exact_and_noted():
    noise = UniformNoise(low=-0.5, high=0.5)
    rng = np.random.default_rng(2)
    shares = np.array([0.1, 0.6, 0.3])
    truth = np.array([0.0, 10, 20])[rng.choice(3, 50_000, p=shares)] + rng.uniform(0, 10, 50_000)
    found = reconstruct(noise.perturb(truth, secret=fixed(1)), noise, edges=[0.0, 10, 20, 30])
    assert found.ill_posed == ()
    assert "narrower than a cell" in found.notes[0]
    assert found.shares == pytest.approx(shares, abs=0.01)
