"""Compile the loops over networks ahead of time, on a path of four persons."""

from __future__ import annotations

import numpy as np

from sfumato.core._kernels.compilation import Array, Arrays
from sfumato.graphs._kernels import (
    attacks,
    degree_sequence,
    dp,
    edge_removal,
    edge_set,
    isomorphism,
    k_match,
    maximum_likelihood_partition,
    metrics,
    neighborhood_annealing,
    neighborhood_growth,
    random_graphs,
    sangreea,
    triangle_free_edges,
    vertex_refinement,
)


def warm_up_graphs() -> None:
    """Run every loop over networks once."""
    edges = np.array([[0, 1], [1, 2], [2, 3]], dtype=np.int32)
    graph = np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2], dtype=np.int32)
    _warm_up_refinement(*graph)
    _warm_up_degree_sequence(edges, *graph)
    _warm_up_clustering(edges, graph)
    _warm_up_triangle_free_edges(edges, graph)
    _warm_up_attacks(graph)
    _warm_up_edge_removal(edges, graph)


def _warm_up_refinement(offsets: Array, neighbors: Array) -> None:
    """Refine classes, compare neighborhoods and measure distances."""
    rows, labels, four = np.empty(6, dtype=np.int64), np.zeros(4, dtype=np.int64), np.arange(4)
    vertex_refinement.gather_neighbor_colors(offsets, neighbors, labels, rows)
    hashes = vertex_refinement.hash_rows(offsets, rows, np.uint64(1))
    vertex_refinement.label_equal_rows(offsets, rows, hashes, np.argsort(hashes, kind="stable"), labels)
    vertex_refinement.bfs_distances(offsets, neighbors, 0, labels)
    vertex_refinement.match_subgraph_patterns(offsets, neighbors, np.zeros((4, 8), dtype=np.bool_))
    isomorphism.neighborhood_degrees(offsets, neighbors, four, 4, rows)
    graph = isomorphism.neighborhood_graph(offsets, neighbors, 1, np.full(4, -1, dtype=np.int32))
    isomorphism.are_isomorphic(graph, graph, four[:2], four[:2], 9)
    metrics.sum_path_lengths(offsets, neighbors, four, four.copy(), four.copy())
    metrics.louvain_pass(offsets, neighbors.astype(np.int64), rows, four, four.copy())


def _warm_up_degree_sequence(edges: Array, offsets: Array, neighbors: Array) -> None:
    """Find degrees, and add, remove and move edges."""
    degrees, rank, words = np.array([2, 2, 1, 1]), np.arange(4), np.zeros(4, dtype=np.uint64)
    degree_sequence.raise_degrees(degrees, 2)
    degree_sequence.level_degrees(degrees, 2)
    degree_sequence.degree_deficit(degrees)
    degree_sequence.nearest_anonymous_graph(np.array([[0, 1]]), np.zeros(1, dtype=np.bool_), 2, 1, True)  # noqa: FBT003 - the same
    table, changed = edge_set.build_edge_set(edges, 4, 4), np.empty((4, 2), dtype=np.int64)
    degree_sequence.join_by_need(np.array([1, 0, 1, 0]), rank, table, changed, True)  # noqa: FBT003 - loops take flags by position
    none, one = np.zeros(4, dtype=np.int64), np.array([1, 0, 0, 1])
    for listed in (changed, edge_set.list_edges(table, 4)):
        degree_sequence.reroute_edges(none.copy(), table, listed, words)
    degree_sequence.rotate_edges(offsets, neighbors, one.copy(), one.copy(), rank, table, words)
    degree_sequence.shortcut_edges(offsets, neighbors, none, table)


def _warm_up_clustering(edges: Array, graph: Arrays) -> None:
    """Grow and improve super-nodes, and rows of persons who can take each other's place."""
    four, label = np.arange(4), np.array([0, 0, 1, 1])
    words = np.frombuffer(bytes(96), dtype=np.uint64)  # as a stream gives them: read only
    attributes = np.zeros((0, 4)), np.zeros(0), np.zeros((0, 4), dtype=np.int32), np.zeros(1, dtype=np.int64)
    offsets, neighbors = graph
    sangreea.grow_super_nodes(offsets, neighbors, four, 2, 0.0, attributes, 9)
    sangreea.assign_remaining(offsets, neighbors, four[:1], 0.0, attributes, label.copy(), 2)
    sangreea.add_shared_neighbors(offsets, neighbors, 0, four.copy())
    random_graphs.make_distinct(four[:2], four[:1] + 1, np.zeros(1, dtype=np.int64))
    state = (
        label.copy(),
        np.array([[1, 1], [1, 1]]),
        np.array([2, 2]),
        *maximum_likelihood_partition.linked_lists(label, 2),
    )
    maximum_likelihood_partition.anneal_partition(
        graph, state, maximum_likelihood_partition.log_factorials(9), 2, words, (1.0, 0.0)
    )
    path = np.eye(4, k=1, dtype=np.bool_) | np.eye(4, k=-1, dtype=np.bool_)
    kept = neighborhood_annealing.initial_state(path, 3)
    neighborhood_annealing.anneal_neighborhoods((path.copy(), path, path.copy()), 3, kept, words, (1.0, 0.0))
    neighborhood_growth.grow_neighborhoods(path, np.full(4, -1), 2, four, 9)
    counts, rule = np.zeros(8, dtype=np.int16), (2, False, True)
    k_match.count_classes(edges, four // 2, four % 2, counts, rule)
    k_match.anneal_alignment(graph, four // 2, four % 2, counts, words, (1.0, 0.0), rule)
    k_match.class_sizes(k_match.number_classes(edges, four // 2, four % 2, 2), 2, 2)


def _warm_up_triangle_free_edges(edges: Array, graph: Arrays) -> None:
    """Change edges that are in no triangle."""
    offsets, neighbors = graph
    four, words = np.arange(4), np.frombuffer(bytes(32), dtype=np.uint64)
    triangle_free_edges.anneal_max_cut(offsets, neighbors, four % 2, words, 1.0)
    free = 3 * np.arange(5), np.zeros(12, dtype=np.int32), np.zeros(4, dtype=np.int64), np.full(32, -1)
    nobody = np.zeros(5, dtype=np.int64), neighbors[:0]
    triangle_free_edges.restore_edges(nobody, free, edges)
    level = np.zeros(4, dtype=np.int64), np.full(4, 4), np.array([0, 2, 2, 0]), free[2].copy()
    triangle_free_edges.level_free_degrees(nobody, free, graph, level, 2, four[None, :])
    triangle_free_edges.undo_changes(nobody, free, level, 2, edges[:0], edges)
    one = np.ones(6)
    triangle_free_edges.choose_aligned_rows(offsets, neighbors.astype(np.int64), (one, one, one), one[:4], words, 1.0)


def _warm_up_attacks(graph: Arrays) -> None:
    """Count shared neighbors, make edges up, and match persons of two networks."""
    offsets, neighbors = graph
    four, edges = np.arange(4), np.empty((4, 2), dtype=np.int64)
    dp.triangle_statistics(offsets, neighbors, four)
    dp.highest_degree_partners(offsets, neighbors, four, np.empty((4, 2), dtype=np.int64))
    dp.project_degrees(np.array([[0, 1], [1, 2]], dtype=np.int32), four[:2], 1, four.copy())
    made = edges[: random_graphs.havel_hakimi(np.array([2, 2, 1, 1]), edges)]
    random_graphs.switch_edges(made, 4, np.zeros(2, dtype=np.uint64))
    attacks.row_distances(four, offsets, np.zeros(6, dtype=np.int64))
    to = np.array([0, -1, -1, -1])
    attacks.propagate_seeds(graph, graph, to, to.copy(), 0.5, four[None, :])
    inner = np.array([[False, True], [True, False]])
    attacks.find_planted(offsets, neighbors, np.array([1, 2]), inner, 9, np.zeros(2, dtype=np.int64))
    attacks.draw_subgraph(graph, 0, np.zeros(1), inner)
    attacks.find_subgraph(graph, inner, 2, 9, np.zeros(4, dtype=np.bool_))


def _warm_up_edge_removal(edges: Array, graph: Arrays) -> None:
    """Choose relations, switch edges, and remove those that bring pairs near each other."""
    four, words = np.arange(4), np.zeros(4, dtype=np.uint64)
    edge_removal.select_within_limit(four, four, np.ones(4), np.ones(4), 0.5)
    random_graphs.switch_to_other_pairs(edges.copy(), four[:2], 4, words)
    label, pairs = np.array([0, 1, 1, 0]), np.array([1, 4, 0, 1])
    wide = edges.astype(np.int64)
    within = edge_removal.count_within(graph[0], graph[1], label, 2, 2)
    near = edge_removal.steps_between(wide, 4)
    for change in (edge_removal.remove_until_opaque, edge_removal.insert_while_opaque):
        change(wide, near, label, (pairs, pairs // 2, within), 1)
