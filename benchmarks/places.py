"""Places and ways: recognition, cloaking, noise and publication of made-up movers.

Run `python benchmarks/places.py` (1,000 movers over a week, 10,000 persons with 500 points for unicity, 10 million
places for noise) or give another number of movers. Each figure is processor time, as a ratio to something of the same
run: unicity to sorting the points, noise to drawing two normal numbers for each place (target: at most 6 times),
releases to reading their points from a file. Targets in seconds of processor time: unicity for 1 to 6 points 10 s,
Never Walk Alone 10 s, every other search 60 s; the optimal mechanism 2 s for 25 places and 30 s for 100. The last
table shows what every release loses, and how often an attack by four known points finds its target; places without
times are attacked by four known places in order. Single places are attacked by somebody who knows where everybody is
and how places are hidden: she claims one of those who share a region, or the person next to a noisy place.

With `--peer PYTHON`, the Python of an environment in which scikit-mobility works, only the worst case of an example is
computed, by both, and compared (target: equal for everybody, 1,000 times as fast). It needs an environment of its own:
`pip install scikit-mobility==1.3.1 "numpy<2" "scipy<1.14" "shapely<2"`, under Python 3.11 and with a C compiler.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.trajectories._publishing import place_sequences
from sfumato.trajectories.locations.optimal_mechanism import PARTS, solve_mechanism
from sfumato.trajectories.trajectories import Points, Trajectories

Result = TypeVar("Result")
PERSONS, LENGTH, NOISY = 10_000, 500, 10_000_000
PEER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import pandas as pd, skmob
from skmob.privacy import attacks
read = pd.read_csv(sys.argv[1])
points = skmob.TrajDataFrame(read, latitude="lat", longitude="lon", datetime="time", user_id="person")
found = {}
for name in sys.argv[2:]:
    options = {"time_precision": "Day"} if name == "LocationTimeAttack" else {}
    begin = time.process_time()
    risk = getattr(attacks, name)(knowledge_length=2, **options).assess_risk(points)
    found[name] = [time.process_time() - begin, risk.sort_values("uid")["risk"].tolist()]
print(json.dumps(found))
"""
ALIKE = {
    "LocationAttack": "places",
    "LocationSequenceAttack": "sequence",
    "UniqueLocationAttack": "unique-places",
    "LocationTimeAttack": "times",
    "LocationFrequencyAttack": "frequencies",
    "LocationProbabilityAttack": "probabilities",
    "LocationProportionAttack": "proportions",
}


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Do work and return the processor time that it took."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def crowd() -> Trajectories:
    """Make up many persons with many points, around homes and work."""
    rng = np.random.default_rng(1)
    homes, works = rng.normal(0, 8000, (PERSONS, 1, 2)), rng.normal(0, 4000, (PERSONS, 1, 2))
    seconds = np.sort(rng.integers(0, 28 * 86_400, (PERSONS, LENGTH)), axis=1)
    office = (seconds // 3600 % 24 > 8) & (seconds // 3600 % 24 < 18)
    at = np.where(office[..., None], works, homes) + rng.normal(0, 300, (PERSONS, LENGTH, 2))
    return Trajectories.from_points(
        Points(
            individual_of=np.arange(PERSONS),
            offsets=np.arange(PERSONS + 1) * LENGTH,
            times=(seconds * 1_000_000).ravel(),
            longitudes=(13 + at[..., 0] / 67_000).ravel(),
            latitudes=(52.5 + at[..., 1] / 111_195).ravel(),
        )
    )


def recognition() -> None:
    """Measure unicity beside sorting the points."""
    ways = crowd()
    sf.trajectories.unicity(Trajectories.from_points(ways.points.take(np.arange(50))), points=2)
    sorting, _ = timed(lambda: np.argsort(ways.points.times, kind="stable"))
    for meters, seconds in ((1000.0, 3600.0), (4000.0, 86_400.0)):
        spent, found = timed(
            lambda m=meters, s=seconds: [  # type: ignore[misc]  # bound now
                sf.trajectories.unicity(ways, points=known, meters=m, seconds=s, seed=1).share for known in range(1, 7)
            ]
        )
        shares = ", ".join(f"{share:.3f}" for share in found)
        print(
            f"unicity {meters:g} m, {seconds:g} s: {shares}; {spent:.1f} s, {spent / sorting:.0f} sorts of the points"
        )


def noise_on_places() -> None:
    """Measure noise on places beside drawing normal numbers."""
    places = np.tile([13.4, 52.5], (NOISY, 1))
    area = sf.trajectories.Area(west=13, south=52.3, east=13.8, north=52.7)
    np.random.default_rng(1).standard_normal((NOISY, 2))  # the first arrays so large are slower
    clock_drawing = time.perf_counter()
    drawing, _ = timed(lambda: np.random.default_rng(1).standard_normal((NOISY, 2)))
    clock_drawing = time.perf_counter() - clock_drawing
    for name in ("planar", "exact"):
        noise = sf.trajectories.PlanarLaplace(epsilon=0.00693, mechanism=name, area=area)  # type: ignore[arg-type]  # both are
        noise.perturb(places)  # compiles the loop
        clock = time.perf_counter()
        spent, _ = timed(lambda n=noise: n.perturb(places))  # type: ignore[misc]  # bound now
        clock = time.perf_counter() - clock
        print(
            f"{name} noise of {NOISY:,} places: {spent:.2f} s, {spent / drawing:.1f} times two normal numbers (target "
            f"for planar: 6); {clock:.2f} s on the clock, {clock / clock_drawing:.1f} times"
        )
    for side in (5, 10):
        at = np.array([(x, y) for x in range(side) for y in range(side)], dtype=float)
        apart = np.hypot(*(at[:, None] - at[None, :]).transpose(2, 0, 1))
        spent, parts = timed(
            lambda a=apart: solve_mechanism(a, np.full(len(a), 1 / len(a)), float(np.log(2)))  # type: ignore[misc]  # bound now
        )
        error = float((parts / PARTS * apart).sum() / len(apart))
        print(f"optimal mechanism of {len(apart)} places: {spent:.1f} s, mean error {error:.6f} steps")


@contextmanager
def points_of(movers: int) -> Iterator[tuple[Path, Trajectories, float]]:
    """Write the points of made-up movers, and measure how long reading them takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.csv"
        sf.write(sf.datasets.generate_trajectories(movers, 7, seed=1), path)
        spent, ways = timed(lambda: Trajectories(sf.read(path)))
        yield path, ways, spent


def releases(movers: int) -> None:
    """Publish made-up movers by every search, and attack each release."""
    with points_of(movers) as (path, ways, reading):
        before = sf.trajectories.attack(ways, ways, seed=1).results[0]
        print(f"{movers:,} movers, {len(ways.points):,} points, read in {reading:.2f} s; found {before.rate:.3f}")
        named = Trajectories(sf.read(path), squares=2000)
        order = Trajectories.from_points(place_sequences(named.points))
        placed = sf.trajectories.attack(order, named, origin=np.arange(len(named)), seed=1).results[0]
        print(f"squares of 2 km in order, without times: found {placed.rate:.3f}")
        owners = _owners(named)
        together = sf.trajectories.KDeltaAnonymity(k=5, delta=300)
        for label, data, model, search in (
            ("KDeltaAnonymity(5, 300)", ways, together, sf.trajectories.NeverWalkAlone()),
            ("KDeltaAnonymity(5, 300) by WaitForMe", ways, together, sf.trajectories.WaitForMe()),
            ("KWays(5)", ways, sf.trajectories.TrajectoryKAnonymity(k=5), sf.trajectories.SequenceAlignment()),
            (
                "TrajectoryKmAnonymity(5, 2)",
                named,
                sf.trajectories.TrajectoryKmAnonymity(k=5, m=2),
                sf.trajectories.SeqAnon(repeats="collapse"),
            ),
            (
                "TrajectoryKmAnonymity(5, 2) left out",
                named,
                sf.trajectories.TrajectoryKmAnonymity(k=5, m=2),
                sf.trajectories.SeqAnon(rare="suppress"),
            ),
            (
                "LKC(2, 5)",
                named,
                sf.trajectories.TrajectoryLKCPrivacy(l=2, k=5, seconds=43_200),
                sf.trajectories.LKCSuppression(),
            ),
            ("PlaceOwners(0.5)", named, owners, sf.trajectories.ProjectionSuppression()),
        ):
            spent, release, found = _published(data, model, search)
            lost = ", ".join(f"{name} {value:.3g}" for name, value in release.metrics.items())
            print(f"{label}: {spent:.1f} s, {spent / reading:.0f} times reading; found {found:.3f}; {lost}")
        _, bins, _ = _published(
            named, sf.trajectories.TrajectoryLKCPrivacy(l=1, k=1, seconds=43_200), sf.trajectories.LKCSuppression()
        )
        print(f"LKC: bins alone keep {bins.metrics['points-kept']:.3g} of the points, one for each place")
        print(f"PartialKnowledge: largest share {owners.evaluate(order).level:.2f} before, {owners.share:.2f} after")


def _published(data: Trajectories, model: Any, search: Any) -> tuple[float, Any, float]:
    spent, release = timed(lambda: sf.trajectories.anonymize(data, models=[model], algorithm=search))
    return spent, release, sf.trajectories.attack(release.trajectories, data, seed=1).results[0].rate


def _owners(named: Trajectories) -> sf.trajectories.PartialKnowledge:
    """Give the four most visited places to two owners."""
    points = named.points
    first = np.argsort(-np.bincount(points.places), kind="stable")[:4]  # type: ignore[arg-type]  # squares have names
    names = [points.names[each] for each in first]
    return sf.trajectories.PartialKnowledge(owners=[names[:2], names[2:]], share=0.5)


def single_places(movers: int) -> None:
    """Hide where everybody is at one moment, and attack as somebody who knows the method and where everybody was."""
    area = sf.trajectories.Area(west=13.2, south=52.4, east=13.6, north=52.6)
    points = Trajectories(sf.datasets.generate_trajectories(movers, 7, seed=1)).points
    first = points.offsets[:-1]
    here = np.column_stack([points.longitudes[first], points.latitudes[first]])
    for method in ("hilbert", "halving", "quadrants", "casper"):
        regions = sf.trajectories.cloak(here[:, 0], here[:, 1], k=5, area=area, method=method)
        label, persons = regions.identical_groups
        print(
            f"cloaked by {method}: found {np.mean(1 / persons[label]):.3f}, {np.mean(persons[label] < 5):.3f} share a "
            f"region with fewer than 4 others, {regions.square_meters.mean() / 1e6:.2f} square kilometers"
        )
    for name in ("exact", "planar"):
        noise = sf.trajectories.PlanarLaplace(epsilon=0.00693, mechanism=name, area=area)
        east, north = (np.subtract.outer(side, at) for side, at in zip(noise.perturb(here).T, here.T, strict=True))
        nearest = np.hypot(east * np.cos(np.radians(52.5)), north).argmin(axis=1)
        print(
            f"moved by {name} noise: found {np.mean(nearest == np.arange(len(here))):.3f}, {noise.mean_error:.0f} m on "
            f"average"
        )


def visits(persons: Any, places: int, days: int) -> pa.Table:
    """Make up visits of persons to a few places, no two at one minute: their order is certain."""
    rng = np.random.default_rng(1)
    minutes, at = rng.permutation(days * 24 * 60)[: len(persons)], rng.integers(0, places, len(persons))
    return pa.table(
        {
            "person": persons,
            "time": [str(np.datetime64("2026-01-05T00:00") + int(minute)) for minute in minutes],
            "lat": 52.5 + at / 100,
            "lon": 13.4 + at % 2 / 100,
        }
    )


def beside_peer(python: str) -> None:
    """Compute the worst case of 20 persons with 144 points, and with 5 points each, by scikit-mobility and by us."""
    some = np.concatenate([np.arange(20), np.random.default_rng(2).integers(0, 20, 124)])
    for table in (visits(some, 12, 3), visits(np.repeat(np.arange(20), 5), 3, 2)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "points.csv"
            sf.write(table, path)
            asked = [python, "-c", PEER, str(path), *ALIKE]
            done = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - named by the caller
        print(f"20 persons, {table.num_rows} points, 2 known ones:")
        _compare(Trajectories(table, zone="UTC"), json.loads(done.stdout.splitlines()[-1]))


def _compare(ways: Trajectories, found: dict[str, tuple[float, list[float]]]) -> None:
    for name, (spent, risks) in found.items():

        def compute(knowledge: str = ALIKE[name]) -> Any:
            return sf.trajectories.worst_case_risk(ways, points=2, knowledge=knowledge, meters=100)  # type: ignore[arg-type]  # one of them

        compute()  # compiles its loops
        own, ours = timed(compute)
        same = bool(np.array_equal(ours, risks))
        told = f"mean risk {np.mean(risks):.6f} beside {ours.mean():.6f}, equal for everybody: {same}"
        print(f"{name}: {told}; {spent:.2f} s beside {1000 * own:.2f} ms, {spent / own:,.0f} times (target 1,000)")


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("movers", nargs="?", type=int, default=1000)
    parser.add_argument("--peer", metavar="PYTHON")
    asked = parser.parse_args()
    if asked.peer:
        beside_peer(asked.peer)
        return
    recognition()
    noise_on_places()
    releases(asked.movers)
    single_places(asked.movers)


if __name__ == "__main__":
    main()
