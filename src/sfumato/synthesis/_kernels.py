"""Compiled condensation of a stream: every record joins the nearest group and is added to its sums."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, compiled

MIN_SPREAD = 1e-200  # a column that varies less counts as constant


@compiled
def update_statistics(record: Array, whole: tuple[Array, Array, Array], weights: Array) -> None:
    """Add a record to the statistics of all records; return one over the variance of every column, 0 for constants."""
    seen, means, spread = whole
    seen[0] += 1
    for j in range(len(record)):
        gap = record[j] - means[j]
        means[j] += gap / seen[0]
        spread[j] += gap * (record[j] - means[j])
        weights[j] = seen[0] / spread[j] if spread[j] > MIN_SPREAD else 0.0


@compiled
def find_nearest_group(record: Array, weights: Array, means: Array, distances: Array) -> int:
    """Find the group with the nearest mean, the first among equals; there are as many groups as `distances`."""
    distances[:] = 0.0
    for j in range(len(record)):
        if weights[j] > 0.0:
            value, weight, places = record[j], weights[j], means[j]
            for g in range(len(distances)):
                gap = value - places[g]
                distances[g] += weight * gap * gap
    found = 0
    least = distances[0]
    for g in range(1, len(distances)):
        if distances[g] < least:
            found, least = g, distances[g]
    return found


@compiled
def add_to_group(record: Array, group: int, state: tuple[Array, Array, Array], gaps: Array) -> None:
    """Add a record to the statistics of its group."""
    sizes, means, scatter = state
    sizes[group] += 1
    size = sizes[group]
    for j in range(len(record)):
        gaps[j] = record[j] - means[j, group]
        means[j, group] += gaps[j] / size
    share = (size - 1) / size
    for i in range(len(record)):
        weighted = gaps[i] * share
        for j in range(len(record)):
            scatter[group, i, j] += weighted * gaps[j]


@compiled
def condense_stream(
    records: Array,
    start: int,
    groups: int,
    full: int,
    whole: tuple[Array, Array, Array],
    state: tuple[Array, Array, Array],
    labels: Array,
) -> int:
    """Let records join groups until one of these has `full` records, and record which groups they joined.

    `whole` has number, means and squared deviations of all records; `state` has the sizes, means and scatter of the
    groups. Returns how many records were absorbed. A record is weighted by the variances up to itself, so that it does
    not matter how a stream is cut into batches.
    """
    width = records.shape[1]
    weights, gaps, distances = np.empty(width), np.empty(width), np.empty(groups)
    for i in range(start, len(records)):
        record = records[i]
        update_statistics(record, whole, weights)
        group = find_nearest_group(record, weights, state[1], distances)
        add_to_group(record, group, state, gaps)
        labels[i] = group
        if state[0][group] == full:
            return i + 1
    return len(records)
