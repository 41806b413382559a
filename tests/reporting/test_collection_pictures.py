"""Pictures of collections: well-formed SVG that shows what it says."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from sfumato._randomness import secret_from_seed
from sfumato.errors import SchemaError
from sfumato.local_dp.mechanisms.base import simulate_reports
from sfumato.local_dp.mechanisms.optimized_unary_encoding import OptimizedUnaryEncoding
from sfumato.local_dp.randomization.noise import UniformNoise
from sfumato.local_dp.randomization.randomized_response import RandomizedResponse
from sfumato.local_dp.reconstruction.distribution import reconstruct
from sfumato.local_dp.server import LocalServer
from sfumato.report.charts.estimates import draw_frequencies, draw_reconstruction

SVG = "{http://www.w3.org/2000/svg}"


def words_of(picture: str) -> str:
    return " ".join(ET.fromstring(picture).itertext())  # noqa: S314 - our own text


def test_a_reconstruction_is_drawn_over_what_was_observed():
    noise = UniformNoise(low=-20, high=20)
    truth = np.random.default_rng(1).uniform(20, 60, 5000)
    observed = noise.perturb(truth, secret=secret_from_seed(1))
    found = reconstruct(observed, noise, edges=np.linspace(0, 100, 11))
    picture = draw_reconstruction(found, observed=observed, truth=truth, bands=found.bands(seed=1, replicates=20))
    root = ET.fromstring(picture)  # noqa: S314 - our own text
    assert picture.startswith("<svg")
    assert len(root.findall(f"{SVG}polyline")) == 2
    assert len(root.findall(f"{SVG}rect")) == 60
    assert all(word in words_of(picture) for word in ("observed", "reconstructed", "true", "5,000 observations"))
    alone = draw_reconstruction(found)
    assert len(ET.fromstring(alone).findall(f"{SVG}polyline")) == 1  # noqa: S314 - our own text
    assert "observed" not in words_of(alone).replace("observations", "")


def test_frequencies_are_drawn_with_intervals_and_escaped_names():
    mechanism = OptimizedUnaryEncoding(epsilon=1, values=["<b>", "c"])
    server = LocalServer(mechanism)
    server.add(simulate_reports(mechanism, ["c"] * 500, secret=secret_from_seed(1)))
    picture = draw_frequencies(server.estimate(), truth=[0, 500])
    assert "<b>" not in picture
    assert "<b>" in words_of(picture)
    assert "500 reports" in words_of(picture)


def test_what_is_no_density_is_not_drawn():
    found = reconstruct(["a", "b", "b"], RandomizedResponse(values=["a", "b"], truth=0.9), method="inversion")
    with pytest.raises(SchemaError, match="single numeric attribute can be"):
        draw_reconstruction(found)
