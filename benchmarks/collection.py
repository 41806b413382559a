"""Collection: reconstruction of many observations, and local differential privacy of many users.

Run `python benchmarks/collection.py` (10 million observations, 1 million users) or give two other numbers. Every time
is also told as a ratio to one NumPy `bincount` of the same data. Targets: 10 million observations in seconds, and
simulated clients plus server for 1 million users in at most 3 s each.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from measuring import best_of, peak_above
from sfumato.local_dp.mechanisms.base import Estimate, LocalMechanism, simulate_reports
from sfumato.local_dp.mechanisms.duchi_mean import DuchiMean
from sfumato.local_dp.mechanisms.generalized_randomized_response import GeneralizedRandomizedResponse
from sfumato.local_dp.mechanisms.optimized_local_hashing import OptimizedLocalHashing
from sfumato.local_dp.mechanisms.optimized_unary_encoding import OptimizedUnaryEncoding
from sfumato.local_dp.mechanisms.piecewise_mean import PiecewiseMean
from sfumato.local_dp.mechanisms.rappor import RAPPOR
from sfumato.local_dp.mechanisms.succinct_histogram import SuccinctHistogram
from sfumato.local_dp.randomization.noise import GaussianNoise, LaplaceNoise, Noise, UniformNoise
from sfumato.local_dp.reconstruction.distribution import reconstruct
from sfumato.local_dp.server import LocalServer

VALUES = 100
CELLS = 20
NOISES: list[Noise] = [UniformNoise(low=-20, high=20), GaussianNoise(scale=5), LaplaceNoise(scale=5)]


def main(observations: int, users: int) -> None:
    """Print all figures."""
    reconstruction(observations)
    local_privacy(users)


def reconstruction(count: int) -> None:
    """Time the reconstruction of a mixture of two normal distributions on 20 cells."""
    rng = np.random.default_rng(1)
    truth = np.where(rng.random(count) < 0.4, rng.normal(30, 5, count), rng.normal(65, 8, count)).clip(0, 99.99)
    edges = np.linspace(0, 100, CELLS + 1)
    shares = np.histogram(truth, edges)[0] / count
    places = (truth / 5).astype(np.int64)
    unit, _ = best_of(3, partial(np.bincount, places))
    print(f"{count:,} observations; one bincount: {unit:.3f} s")
    for noise in NOISES:
        adding, observed = best_of(2, partial(noise.perturb, truth, seed=1))
        print(f"  {noise.name}: noise added in {adding:.2f} s = {adding / unit:.0f}")
        for method in ("bayes", "em"):
            work = partial(reconstruct, observed, noise, edges=edges, method=method)
            seconds, found = best_of(3, work)
            peak, _ = peak_above(work)
            off = np.abs(found.shares - shares).sum()
            print(
                f"    {method:<6} {seconds:.2f} s = {seconds / unit:.1f}, {found.rounds:,} rounds, "
                f"shares off by {off:.3f} in all, peak {peak:.2f} GB"
            )
    banding, _ = best_of(1, partial(found.bands, seed=1))
    print(f"    bands of 200 replicates: {banding:.2f} s")


def local_privacy(users: int) -> None:
    """Time simulated clients and the server of every mechanism, epsilon 1 and 100 values."""
    rng = np.random.default_rng(2)
    weights = 1 / np.arange(1, VALUES + 1)
    values = rng.choice(VALUES, users, p=weights / weights.sum())
    domain = list(range(VALUES))
    unit, _ = best_of(3, partial(np.bincount, values))
    print(f"{users:,} users, {VALUES} values; one bincount: {unit:.4f} s; bits of the operating system")
    frequency: list[LocalMechanism] = [
        GeneralizedRandomizedResponse(epsilon=1, values=domain),
        OptimizedUnaryEncoding(epsilon=1, values=domain),
        OptimizedLocalHashing(epsilon=1, values=domain),
        SuccinctHistogram(epsilon=1, values=domain),
        RAPPOR(values=domain),
    ]
    for mechanism in frequency:
        timed(mechanism, values, unit)
    numbers = rng.beta(2, 5, users) * 100
    for mechanism in (DuchiMean(epsilon=1, low=0, high=100), PiecewiseMean(epsilon=1, low=0, high=100)):
        timed(mechanism, numbers, unit)


def timed(mechanism: LocalMechanism, values: np.ndarray, unit: float) -> None:
    """Time one mechanism, its loops compiled before."""
    clients, reports = best_of(2, partial(simulate_reports, mechanism, values))

    def serve() -> Estimate:
        server = LocalServer(mechanism)
        server.add(reports)
        return server.estimate()

    server, _ = best_of(2, serve)
    whole = clients + server
    print(f"  {mechanism.name:<20} clients {clients:.2f} s, server {server:.2f} s, both {whole / unit:.0f}")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*(given or [10_000_000, 1_000_000]))
