"""Ways of regions: golden alignments, containment of what is covered, and k persons with each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.errors import InfeasibleError, SchemaError
from sfumato.trajectories import _kernels as trajectories_kernels
from sfumato.trajectories.algorithms import sequence_alignment
from sfumato.trajectories.algorithms.sequence_alignment import SequenceAlignment, aligned
from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
from sfumato.trajectories.models.trajectory_k_anonymity import TrajectoryKAnonymity
from sfumato.trajectories.trajectories import Trajectories


def box(x, y=0.0, time=0.0, side=0.0):
    return [x, x + side, y, y + side, time, time + side]


def costs_of(first, second):
    """Return the logarithms by which the sides of the first boxes grow."""
    low, high = (
        np.minimum(first[:, None, ::2], second[None, :, ::2]),
        np.maximum(first[:, None, 1::2], second[None, :, 1::2]),
    )
    return np.log1p(high - low).sum(axis=2) - np.log1p(first[:, 1::2] - first[:, ::2]).sum(axis=1)[:, None]


def total(pairs, costs, left_out):
    return sum(costs[i, j] for i, j in pairs) + left_out * (sum(costs.shape) - 2 * len(pairs))


def test_golden_alignments_keep_the_order():
    first, second = np.array([box(0), box(10), box(20)]), np.array([box(0, 1), box(20, 2)])
    assert aligned(first, second, 2.0).tolist() == [[0, 0], [2, 1]]
    assert len(aligned(np.array([box(0), box(100)]), np.array([box(100), box(0)]), 2.0)) == 1


def cheapest(costs, left_out):
    """Try everything."""
    rows, columns = costs.shape
    if not rows or not columns:
        return left_out * (rows + columns)
    matched = costs[0, 0] + cheapest(costs[1:, 1:], left_out)
    return min(matched, left_out + cheapest(costs[1:], left_out), left_out + cheapest(costs[:, 1:], left_out))


boxes = st.lists(
    st.builds(box, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=4
).map(lambda each: np.array(each, dtype=float))


@given(boxes, boxes, st.integers(1, 6))
@examples(40)
def test_alignments_are_the_cheapest(first, second, left_out):
    costs = costs_of(first, second)
    pairs = aligned(first, second, float(left_out))
    assert (np.diff(pairs, axis=0) > 0).all()
    assert total(pairs, costs, left_out) == pytest.approx(cheapest(costs, left_out))


@pytest.mark.parametrize(("rows", "columns"), [(400, 400), (401, 399), (300, 555), (1, 2000), (2000, 1)])
def test_long_ways_are_aligned_near_a_coarse_alignment(monkeypatch, rows, columns):
    rng = np.random.default_rng(1)
    first, second = (
        np.array(
            [box(x, y, 10.0 * step) for step, (x, y) in enumerate(np.cumsum(rng.normal(0, 30, (many, 2)), axis=0))]
        )
        for many in (rows, columns)
    )
    whole = aligned(first, second, 12.0)
    monkeypatch.setattr(sequence_alignment, "MOST_CELLS", 1000)
    near = aligned(first, second, 12.0)
    assert (np.diff(near, axis=0) > 0).all()
    costs = costs_of(first, second)
    assert total(near, costs, 12.0) <= 1.05 * total(whole, costs, 12.0)


def test_ways_of_thousands_of_points_are_published_in_a_small_part_of_all_pairs(monkeypatch):
    looked = []
    real = trajectories_kernels.align_sequences
    monkeypatch.setattr(
        trajectories_kernels,
        "align_sequences",
        lambda *given: (looked.append(int((given[4] - given[3] + 1).sum())), real(*given))[1],
    )
    rng, many = np.random.default_rng(2), 6000
    rows = [
        pa.table(
            {
                "person": [person] * many,
                "time": pa.array(1_767_600_000_000_000 + 5_000_000 * np.arange(many), pa.timestamp("us", "UTC")),
                "longitude": 116.4 + np.cumsum(rng.normal(0, 3e-5, many)),
                "latitude": 39.9 + np.cumsum(rng.normal(0, 3e-5, many)),
            }
        )
        for person in range(4)
    ]
    release = sf.trajectories.anonymize(Trajectories(pa.concat_tables(rows)), models=[TrajectoryKAnonymity(k=2)])
    assert release.audit.holds
    assert sum(looked) < 0.4 * 2 * many**2


@pytest.fixture(scope="module")
def original():
    return Trajectories(sf.datasets.generate_trajectories(20, 1, seed=5))


@pytest.mark.parametrize("k", [2, 5])
def test_every_way_is_that_of_k_persons_and_covers_their_points(original, k, tmp_path):
    release = sf.trajectories.anonymize(original, models=[TrajectoryKAnonymity(k=k)], algorithm=SequenceAlignment())
    assert release.audit.level("k-ways") >= k
    release.write(tmp_path / "out")
    assert sf.trajectories.audit(
        sf.trajectories.TrajectoriesRelease.read(tmp_path / "out" / "public"), models=[TrajectoryKAnonymity(k=k)]
    ).holds
    found, points = release.trajectories, original.points
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
    release = sf.trajectories.anonymize(original, models=[TrajectoryKAnonymity(k=3)], algorithm=SequenceAlignment())
    table = release.trajectories.to_frame()
    changed = table["east"].to_numpy().copy()
    changed[0] += 0.001
    broken = CloakedTrajectories.from_table(
        table.set_column(table.column_names.index("east"), "east", pa.array(changed))
    )
    assert TrajectoryKAnonymity(k=3).evaluate(broken).level == 1


def test_trips_of_one_person_are_several_ways_that_count_once():
    table = sf.datasets.generate_trajectories(4, 2, seed=5)
    days = pa.array([moment.day for moment in table["time"].to_pylist()])
    ways = Trajectories(table.append_column("trip", days), trip="trip")
    found = sf.trajectories.anonymize(
        ways, models=[TrajectoryKAnonymity(k=3)], algorithm=SequenceAlignment()
    ).trajectories
    assert CloakedTrajectories.from_table(found.to_frame()).equals(found)
    assert found.identical_groups[1].min() >= 3


def test_what_cannot_be_done_is_refused(original):
    with pytest.raises(InfeasibleError, match="fewer than k = 21"):
        sf.trajectories.anonymize(original, models=[TrajectoryKAnonymity(k=21)], algorithm=SequenceAlignment())
    regions = sf.trajectories.anonymize(
        original, models=[TrajectoryKAnonymity(k=2)], algorithm=SequenceAlignment()
    ).trajectories
    for model in (
        sf.trajectories.KDeltaAnonymity(k=2, delta=1),
        sf.trajectories.TrajectoryKmAnonymity(k=2, m=1),
        sf.trajectories.TrajectoryLKCPrivacy(l=1, k=2),
        sf.trajectories.PartialKnowledge(owners=[["a"]], share=0.5),
    ):
        with pytest.raises(SchemaError, match="these are ways of regions"):
            sf.trajectories.audit(regions, models=[model])
    with pytest.raises(SchemaError, match="judged on ways of regions"):
        sf.trajectories.audit(original, models=[TrajectoryKAnonymity(k=2)])
    with pytest.raises(SchemaError, match="no column 'order'"):
        CloakedTrajectories.from_table(pa.table({"person": [1]}))
