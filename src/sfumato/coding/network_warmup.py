"""Compile the loops over networks ahead of time, on a path of four persons."""

from __future__ import annotations

import numpy as np

from sfumato.coding.kernels import (
    aligning,
    alike_neighborhoods,
    block_moving,
    bounding,
    community_moving,
    degree_groups,
    distinct_drawing,
    edge_sets,
    every_graph,
    free_edges,
    growing_neighborhoods,
    known_subgraphs,
    neighborhoods,
    opacity,
    path_summing,
    planted_search,
    realizing,
    refining,
    relations,
    seed_matching,
    shared_neighbors,
    star_partners,
    subgraph_matching,
    super_nodes,
    switching,
    wiring,
)
from sfumato.coding.kernels.compiling import Array, Arrays


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
    refining.gather_neighbor_colors(offsets, neighbors, labels, rows)
    hashes = refining.hash_rows(offsets, rows, np.uint64(1))
    refining.label_equal_rows(offsets, rows, hashes, np.argsort(hashes, kind="stable"), labels)
    refining.bfs_distances(offsets, neighbors, 0, labels)
    known_subgraphs.match_subgraph_patterns(offsets, neighbors, np.zeros((4, 8), dtype=np.bool_))
    neighborhoods.neighborhood_degrees(offsets, neighbors, four, 4, rows)
    graph = neighborhoods.neighborhood_graph(offsets, neighbors, 1, np.full(4, -1, dtype=np.int32))
    neighborhoods.are_isomorphic(graph, graph, four[:2], four[:2], 9)
    path_summing.sum_path_lengths(offsets, neighbors, four, four.copy(), four.copy())
    community_moving.louvain_pass(offsets, neighbors.astype(np.int64), rows, four, four.copy())


def _warm_up_degree_sequence(edges: Array, offsets: Array, neighbors: Array) -> None:
    """Find degrees, and add, remove and move edges."""
    degrees, rank, words = np.array([2, 2, 1, 1]), np.arange(4), np.zeros(4, dtype=np.uint64)
    degree_groups.raise_degrees(degrees, 2)
    degree_groups.level_degrees(degrees, 2)
    degree_groups.degree_deficit(degrees)
    every_graph.nearest_anonymous_graph(np.array([[0, 1]]), np.zeros(1, dtype=np.bool_), 2, 1, True)  # noqa: FBT003 - the same
    table, changed = edge_sets.build_edge_set(edges, 4, 4), np.empty((4, 2), dtype=np.int64)
    realizing.join_by_need(np.array([1, 0, 1, 0]), rank, table, changed, True)  # noqa: FBT003 - loops take flags by position
    none, one = np.zeros(4, dtype=np.int64), np.array([1, 0, 0, 1])
    for listed in (changed, edge_sets.list_edges(table, 4)):
        realizing.reroute_edges(none.copy(), table, listed, words)
    realizing.rotate_edges(offsets, neighbors, one.copy(), one.copy(), rank, table, words)
    realizing.shortcut_edges(offsets, neighbors, none, table)


def _warm_up_clustering(edges: Array, graph: Arrays) -> None:
    """Grow and improve super-nodes, and rows of persons who can take each other's place."""
    four, label = np.arange(4), np.array([0, 0, 1, 1])
    words = np.frombuffer(bytes(96), dtype=np.uint64)  # as a stream gives them: read only
    attributes = np.zeros((0, 4)), np.zeros(0), np.zeros((0, 4), dtype=np.int32), np.zeros(1, dtype=np.int64)
    offsets, neighbors = graph
    super_nodes.grow_super_nodes(offsets, neighbors, four, 2, 0.0, attributes, 9)
    super_nodes.assign_remaining(offsets, neighbors, four[:1], 0.0, attributes, label.copy(), 2)
    super_nodes.add_shared_neighbors(offsets, neighbors, 0, four.copy())
    distinct_drawing.make_distinct(four[:2], four[:1] + 1, np.zeros(1, dtype=np.int64))
    state = label.copy(), np.array([[1, 1], [1, 1]]), np.array([2, 2]), *block_moving.linked_lists(label, 2)
    block_moving.anneal_partition(graph, state, block_moving.log_factorials(9), 2, words, (1.0, 0.0))
    path = np.eye(4, k=1, dtype=np.bool_) | np.eye(4, k=-1, dtype=np.bool_)
    kept = alike_neighborhoods.initial_state(path, 3)
    alike_neighborhoods.anneal_neighborhoods((path.copy(), path, path.copy()), 3, kept, words, (1.0, 0.0))
    growing_neighborhoods.grow_neighborhoods(path, np.full(4, -1), 2, four, 9)
    counts, rule = np.zeros(8, dtype=np.int16), (2, False, True)
    aligning.count_classes(edges, four // 2, four % 2, counts, rule)
    aligning.anneal_alignment(graph, four // 2, four % 2, counts, words, (1.0, 0.0), rule)
    aligning.class_sizes(aligning.number_classes(edges, four // 2, four % 2, 2), 2, 2)


def _warm_up_triangle_free_edges(edges: Array, graph: Arrays) -> None:
    """Change edges that are in no triangle."""
    offsets, neighbors = graph
    four, words = np.arange(4), np.frombuffer(bytes(32), dtype=np.uint64)
    free_edges.anneal_max_cut(offsets, neighbors, four % 2, words, 1.0)
    free = 3 * np.arange(5), np.zeros(12, dtype=np.int32), np.zeros(4, dtype=np.int64), np.full(32, -1)
    nobody = np.zeros(5, dtype=np.int64), neighbors[:0]
    free_edges.restore_edges(nobody, free, edges)
    level = np.zeros(4, dtype=np.int64), np.full(4, 4), np.array([0, 2, 2, 0]), free[2].copy()
    free_edges.level_free_degrees(nobody, free, graph, level, 2, four[None, :])
    free_edges.undo_changes(nobody, free, level, 2, edges[:0], edges)
    one = np.ones(6)
    free_edges.choose_aligned_rows(offsets, neighbors.astype(np.int64), (one, one, one), one[:4], words, 1.0)


def _warm_up_attacks(graph: Arrays) -> None:
    """Count shared neighbors, make edges up, and match persons of two networks."""
    offsets, neighbors = graph
    four, edges = np.arange(4), np.empty((4, 2), dtype=np.int64)
    shared_neighbors.triangle_statistics(offsets, neighbors, four)
    star_partners.highest_degree_partners(offsets, neighbors, four, np.empty((4, 2), dtype=np.int64))
    bounding.project_degrees(np.array([[0, 1], [1, 2]], dtype=np.int32), four[:2], 1, four.copy())
    made = edges[: wiring.havel_hakimi(np.array([2, 2, 1, 1]), edges)]
    wiring.switch_edges(made, 4, np.zeros(2, dtype=np.uint64))
    seed_matching.row_distances(four, offsets, np.zeros(6, dtype=np.int64))
    to = np.array([0, -1, -1, -1])
    seed_matching.propagate_seeds(graph, graph, to, to.copy(), 0.5, four[None, :])
    inner = np.array([[False, True], [True, False]])
    planted_search.find_planted(offsets, neighbors, np.array([1, 2]), inner, 9, np.zeros(2, dtype=np.int64))
    subgraph_matching.draw_subgraph(graph, 0, np.zeros(1), inner)
    subgraph_matching.find_subgraph(graph, inner, 2, 9, np.zeros(4, dtype=np.bool_))


def _warm_up_edge_removal(edges: Array, graph: Arrays) -> None:
    """Choose relations, switch edges, and remove those that bring pairs near each other."""
    four, words = np.arange(4), np.zeros(4, dtype=np.uint64)
    relations.select_within_limit(four, four, np.ones(4), np.ones(4), 0.5)
    switching.switch_to_new_pairs(edges.copy(), four[:2], 4, words)
    label, pairs = np.array([0, 1, 1, 0]), np.array([1, 4, 0, 1])
    wide = edges.astype(np.int64)
    within = opacity.count_within(graph[0], graph[1], label, 2, 2)
    near = opacity.steps_between(wide, 4)
    for change in (opacity.remove_until_opaque, opacity.insert_while_opaque):
        change(wide, near, label, (pairs, pairs // 2, within), 1)
