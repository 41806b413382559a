"""Edges between groups of persons with some attributes: how well a published network tells their number."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import encode_column
from sfumato.networks.clustered import ClusteredGraph
from sfumato.networks.network import Edges, Graph
from sfumato.queries.estimates.columns import read_column

Shares = npt.NDArray[np.float64]
QUARTERS = 4  # groups of an attribute with an order
MAX_VALUES = 8  # groups of one without: its most frequent values


class GroupMembership(NamedTuple):
    """How far every person is in each group of one attribute: by the original, and by what is published."""

    before: Shares
    after: Shares


def group_memberships(original: Graph, published: ClusteredGraph) -> list[GroupMembership]:
    """Return who is in which group, for every published attribute that has at least two groups.

    Groups are the quarters of an attribute with an order, and the eight most frequent values of any other; a missing
    value is in none. A published cell is read as by `sf.queries.estimate`: all values that it covers are as likely.
    """
    found: list[GroupMembership] = []
    if original.vertices is None or published.vertices is None:
        return found
    for name in published.vertices.column_names:
        column = encode_column(name, original.vertices[name], original.schema)
        domain, codes = column.domain, column.codes.astype(np.int64)
        groups = _value_groups(codes[codes != domain.missing], len(domain), ordered=domain.scale.ordered)
        known = domain, bool((codes == domain.missing).any())
        shown = read_column(published.vertices, name, published.schema, (), known)
        shares = [shown.pieces.evaluate(group).share[shown.cells] for group in groups]
        if len(groups) > 1:
            before = np.concatenate([groups, np.zeros((len(groups), 1), dtype=np.bool_)], axis=1)[:, codes]
            found.append(GroupMembership(before.T.astype(np.float64), np.stack(shares, axis=1)))
    return found


def _value_groups(codes: npt.NDArray[np.int64], values: int, *, ordered: bool) -> npt.NDArray[np.bool_]:
    """Return which values are in each group."""
    counts = np.bincount(codes, minlength=values)
    if not ordered:
        often = np.argsort(-counts, kind="stable")[:MAX_VALUES]
        return np.asarray(np.eye(values, dtype=np.bool_)[often[counts[often] > 0]])
    before = np.cumsum(counts) - counts
    quarter = before * QUARTERS // max(int(counts.sum()), 1)
    return np.stack([quarter == each for each in np.unique(quarter)])


def count_edges_between(edges: Edges, shares: Shares) -> Shares:
    """Count the edges between every two groups, which have no person in common, and inside each on the diagonal."""
    ends = shares[edges[:, 0]].T @ shares[edges[:, 1]]
    both = ends + ends.T
    both[np.diag_indices_from(both)] /= 2
    return np.asarray(both)


def group_count_error(original: Graph, drawn: Graph, groups: list[GroupMembership]) -> float:
    """Return the mean relative error of the counts between two groups of one attribute, where there is any edge."""
    errors = []
    for before, after in groups:
        upper = np.triu_indices(before.shape[1])
        truth, told = count_edges_between(original.edges, before)[upper], count_edges_between(drawn.edges, after)[upper]
        errors.append(np.abs(told - truth)[truth > 0] / truth[truth > 0])
    asked = np.concatenate(errors)
    return float(asked.mean()) if len(asked) else 0.0
