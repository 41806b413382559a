"""Ways of regions: golden alignments, containment of what is covered, and k persons with each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.coding.kernels.sequence_aligning import align
from sfumato.exceptions import InfeasibleError, SchemaError
from sfumato.places import AlignWays, KWays, RegionWays, Trajectories


def aligned(first, second, left_out=8.0):
    first, second = np.array(first, dtype=float), np.array(second, dtype=float)
    costs = np.abs(first[:, None] - second[None, :]).sum(axis=2)
    pairs = align(costs, left_out)
    unmatched = len(first) + len(second) - 2 * len(pairs)
    return costs[pairs[:, 0], pairs[:, 1]].sum() + left_out * unmatched, pairs.tolist()


def test_golden_alignments_keep_the_order():
    assert aligned([(0, 0), (10, 0), (20, 0)], [(0, 1), (20, 2)]) == (11, [[0, 0], [2, 1]])
    assert aligned([(0, 0), (10, 0)], [(10, 0), (0, 0)])[0] == 16


def cheapest(costs, left_out):
    """Try everything."""
    if not len(costs) or not len(costs[0]):
        return left_out * (len(costs) + (len(costs[0]) if len(costs) else 0))
    rest = [row[1:] for row in costs]
    options = [
        costs[0][0] + cheapest(rest[1:] or [], left_out) + (left_out * (len(costs[0]) - 1) if len(costs) == 1 else 0)
    ]
    options.append(left_out + (cheapest(costs[1:], left_out) if len(costs) > 1 else left_out * len(costs[0])))
    options.append(left_out + (cheapest(rest, left_out) if len(costs[0]) > 1 else left_out * len(costs)))
    return min(options)


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4), st.integers(1, 6))
@examples(30)
def test_alignments_are_the_cheapest(costs, left_out):
    pairs = align(np.array(costs, dtype=float), float(left_out))
    total = sum(costs[i][j] for i, j in pairs) + left_out * (len(costs) + 3 - 2 * len(pairs))
    assert total == cheapest(costs, left_out)


@pytest.fixture(scope="module")
def original():
    return Trajectories(sf.samples.generate_ways(20, 1, seed=5))


@pytest.mark.parametrize("k", [2, 5])
def test_every_way_is_that_of_k_persons_and_covers_their_points(original, k, tmp_path):
    release = sf.places.anonymize(original, models=[KWays(k=k)], algorithm=AlignWays())
    assert release.audit.level("k-ways") >= k
    release.write(tmp_path / "out")
    assert sf.places.audit(sf.places.WayRelease.read(tmp_path / "out" / "public"), models=[KWays(k=k)]).holds
    found, points = release.ways, original.points
    for way, origin in enumerate(found.origin):
        steps, own = slice(*found.offsets[way : way + 2]), slice(*points.offsets[origin : origin + 2])
        west, south, east, north = (found.boxes[steps, side][:, None] for side in range(4))
        inside = (west <= points.longitudes[own]) & (points.longitudes[own] <= east)
        inside &= (south <= points.latitudes[own]) & (points.latitudes[own] <= north)
        begin, end = (found.intervals[steps, side][:, None] for side in range(2))
        inside &= (begin <= points.times[own]) & (points.times[own] <= end)
        at = -1
        for step in inside:  # in order, each step covers a point after that of the step before it
            later = np.flatnonzero(step[at + 1 :])
            assert len(later)
            at += 1 + later[0]


def test_one_changed_step_is_seen(original):
    release = sf.places.anonymize(original, models=[KWays(k=3)], algorithm=AlignWays())
    table = release.ways.to_frame()
    changed = table["east"].to_numpy().copy()
    changed[0] += 0.001
    broken = RegionWays.read(table.set_column(table.column_names.index("east"), "east", pa.array(changed)))
    assert KWays(k=3).judge(broken).level == 1


def test_trips_of_one_person_are_several_ways_that_count_once():
    table = sf.samples.generate_ways(4, 2, seed=5)
    days = pa.array([moment.day for moment in table["time"].to_pylist()])
    ways = Trajectories(table.append_column("trip", days), trip="trip")
    found = sf.places.anonymize(ways, models=[KWays(k=3)], algorithm=AlignWays()).ways
    assert RegionWays.read(found.to_frame()).equals(found)
    assert found.groups[1].min() >= 3


def test_what_cannot_be_done_is_refused(original):
    with pytest.raises(InfeasibleError, match="fewer than k = 21"):
        sf.places.anonymize(original, models=[KWays(k=21)], algorithm=AlignWays())
    regions = sf.places.anonymize(original, models=[KWays(k=2)], algorithm=AlignWays()).ways
    for model in (
        sf.places.KDelta(k=2, delta=1),
        sf.places.KMPlaces(k=2, m=1),
        sf.places.LKC(l=1, k=2),
        sf.places.PlaceOwners(owners=[["a"]], share=0.5),
    ):
        with pytest.raises(SchemaError, match="these are ways of regions"):
            sf.places.audit(regions, models=[model])
    with pytest.raises(SchemaError, match="judged on ways of regions"):
        sf.places.audit(original, models=[KWays(k=2)])
    with pytest.raises(SchemaError, match="no column 'order'"):
        RegionWays.read(pa.table({"person": [1]}))
