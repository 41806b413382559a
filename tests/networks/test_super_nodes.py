"""Super-nodes: golden values, attributes, models of tables, and samples of the graphs that are possible."""

from __future__ import annotations

from math import comb, log

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, grown_slowly, network_of
from sfumato.errors import InfeasibleError, InvalidParameterError, ReadError
from sfumato.graphs._kernels.maximum_likelihood_partition import anneal_partition, linked_lists, log_factorials
from sfumato.graphs._kernels.random_graphs import make_distinct
from sfumato.graphs._kernels.sangreea import attribute_loss, grow_super_nodes, join_attributes
from sfumato.graphs.algorithms.sangreea import encode_attributes, generalize_attributes

S = sf.graphs
SECRET = "5f" * 32
KARATE = network_of(nx.karate_club_graph())


@pytest.mark.parametrize(
    ("k", "nodes", "loss", "share"),
    [
        (2, 17, 44.5, 0.158645),
        (3, 11, 69.5, 0.247772),
        (4, 8, 85.925, 0.306328),
        (5, 6, 98.946667, 0.352751),
        (10, 3, 119.521587, 0.426102),
        (34, 1, 134.31016, None),
    ],
)
def test_sangreea_on_the_karate_club(k, nodes, loss, share):
    found = S.ClusteredGraph.from_clusters(KARATE, S.SaNGreeA(attributes=0).grow_clusters(KARATE, k))
    assert len(found.inner) == nodes
    assert found.structural_loss() * 34 * 33 / 4 == pytest.approx(loss, abs=1e-5)
    assert share is None or found.structural_loss() == pytest.approx(share, abs=1e-6)


def test_sangreea_groups_of_five():
    label = S.SaNGreeA(attributes=0).grow_clusters(KARATE, 5)
    expected = [
        {33, 32, 29, 14, 15},
        {0, 1, 3, 7, 13},
        {2, 12, 11, 17, 21, 5, 4, 6, 10},
        {31, 18, 20, 22, 9},
        {8, 30, 19, 26, 28},
        {23, 24, 25, 27, 16},
    ]
    assert [set(np.flatnonzero(label == node).tolist()) for node in range(6)] == expected


@pytest.mark.parametrize(("k", "start"), [(2, 40.8436), (5, 139.6649), (10, 181.9614)])
def test_a_likely_partition_leaves_fewer_graphs_than_sangreea(k, start):
    grown = S.ClusteredGraph.from_clusters(KARATE, S.SaNGreeA(attributes=0).grow_clusters(KARATE, k))
    assert grown.log_possible_graphs() == pytest.approx(start, abs=1e-4)
    models, search = [sf.models.KAnonymity(k=k)], S.MaximumLikelihoodPartition(turns=100)
    found = S.anonymize(KARATE, models=models, algorithm=search, secret=SECRET)
    assert found.metrics["log-graphs"] < start - 1
    assert found.graph.log_possible_graphs() == pytest.approx(found.metrics["log-graphs"])
    assert found.graph.sizes.min() >= k
    again = S.anonymize(KARATE, models=models, algorithm=search, secret=SECRET)
    assert again.graph.cluster.tolist() == found.graph.cluster.tolist()
    still = S.anonymize(KARATE, models=models, algorithm=S.MaximumLikelihoodPartition(turns=0), secret=SECRET)
    assert still.metrics["log-graphs"] == pytest.approx(start, abs=1e-4)


def annealed(network, label, least, heat, *, turns=200, seed=1):
    """Anneal some super-nodes; return all that is kept of them, what is won, and what was possible before."""
    count = len(network) // least
    matrix = np.zeros((count, count), dtype=np.int64)
    before = S.ClusteredGraph.from_clusters(network, label)
    matrix[before.between[:, 0], before.between[:, 1]] = before.between[:, 2]
    matrix += matrix.T
    np.fill_diagonal(matrix[: len(before.inner), : len(before.inner)], before.inner)
    sizes = np.bincount(label, minlength=count)
    state = label.copy(), matrix, sizes, *linked_lists(label, count)
    words = np.random.default_rng(seed).integers(2**64, size=4 * turns, dtype=np.uint64)
    won = anneal_partition((network.offsets, network.neighbors), state, log_factorials(50), least, words, (heat, 0.0))
    return state, won, before.log_possible_graphs()


@examples(25)
@given(graphs(9), st.integers(1, 3), st.sampled_from([0.1, 5.0, 100.0]), st.integers(0, 99))
def test_annealing_keeps_count_of_all_that_it_changes(graph, least, heat, seed):
    network = network_of(graph)
    if least > len(network):
        return
    (label, matrix, sizes, first, after, _), won, before = annealed(
        network, S.SaNGreeA(attributes=0).grow_clusters(network, least), least, heat, seed=seed
    )
    used, label = np.unique(label, return_inverse=True)
    found = S.ClusteredGraph.from_clusters(network, label)
    assert found.log_possible_graphs() == pytest.approx(before - won, abs=1e-9)
    assert (found.sizes.tolist(), int(sizes.sum())) == (sizes[used].tolist(), len(network))
    assert found.sizes.min() >= least
    inside = matrix[np.ix_(used, used)]
    assert inside.diagonal().tolist() == found.inner.tolist()
    assert np.triu(inside, 1)[found.between[:, 0], found.between[:, 1]].tolist() == found.between[:, 2].tolist()
    assert np.array_equal(matrix, matrix.T)
    assert int(matrix.sum() + matrix.trace()) == 2 * network.n_edges
    for place, node in enumerate(used.tolist()):
        members, person = set(), first[node]
        while person >= 0:
            members.add(int(person))
            person = after[person]
        assert members == set(np.flatnonzero(label == place).tolist())


def test_annealing_splits_and_merges():
    one = np.zeros(34, dtype=np.int64)
    split, won, before = annealed(KARATE, one, 5, 0.0, turns=2_000)
    assert len(np.unique(split[0])) == 6
    assert won > 0.3 * before
    hot = [len(np.unique(annealed(KARATE, split[0], 5, 1e9, turns=50, seed=seed)[0][0])) for seed in range(5)]
    assert min(hot) < 6


@examples(30)
@given(graphs(7), st.data())
def test_counts_loss_and_possible_graphs_are_those_of_the_definitions(graph, data):
    label = data.draw(st.lists(st.integers(0, 2), min_size=len(graph), max_size=len(graph)))
    _, numbered = np.unique(label, return_inverse=True)
    found = S.ClusteredGraph.from_clusters(network_of(graph), numbered)
    blocks: dict[tuple[int, int], list[int]] = {}
    for one in graph:
        for other in range(one):
            key = tuple(sorted((int(numbered[one]), int(numbered[other]))))
            pair = blocks.setdefault(key, [0, 0])
            pair[0] += 1
            pair[1] += graph.has_edge(one, other)
    assert found.log_possible_graphs() == pytest.approx(
        sum(log(comb(pairs, edges)) for pairs, edges in blocks.values())
    )
    lost = sum(2 * edges * (1 - edges / pairs) for pairs, edges in blocks.values())
    assert found.structural_loss() * len(graph) * (len(graph) - 1) / 4 == pytest.approx(lost)
    drawn = S.ClusteredGraph.from_clusters(found.sample(seed=1), numbered)
    assert np.array_equal(drawn.inner, found.inner)
    assert np.array_equal(drawn.between, found.between)


def test_samples_are_all_as_likely():
    square = S.ClusteredGraph.from_clusters(S.Graph.from_edges([(0, 1), (2, 3)]), np.array([0, 0, 0, 0]))
    seen: dict[bytes, int] = {}
    for seed in range(600):
        key = square.sample(seed=seed).edges.tobytes()
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == comb(6, 2)
    assert max(seen.values()) < 75  # 40 expected, and 75 is more than 5 deviations above


def town(persons: int = 60) -> S.Graph:
    rng = np.random.default_rng(7)
    graph = nx.connected_watts_strogatz_graph(persons, 4, 0.1, seed=3)
    about = pa.table(
        {
            "age": rng.integers(20, 80, persons),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], persons),
            "disease": rng.choice(["flu", "cold", "ulcer"], persons, p=[0.7, 0.2, 0.1]),
            "name": [f"person {number}" for number in range(persons)],
        }
    )
    pairs = np.array(graph.edges)
    table = pa.table({"a": pairs[:, 0], "b": pairs[:, 1]})
    return S.Graph.from_edges(
        table,
        persons=pa.table({"key": np.arange(persons)})
        .append_column("age", about["age"])
        .append_column("city", about["city"])
        .append_column("disease", about["disease"])
        .append_column("name", about["name"]),
        schema=sf.Schema(quasi_identifiers=["age", "city"], sensitive=["disease"]),
    )


def test_super_nodes_show_attributes_generalized_and_keep_models_of_tables():
    models = [sf.models.PSensitiveKAnonymity(p=2, k=4, sensitive="disease"), S.EdgeDisclosure(limit=0.7)]
    network = town()
    release = S.anonymize(network, models=models, algorithm=S.SaNGreeA(), secret=SECRET)
    found = release.graph
    assert release.audit.holds
    assert found.vertices.column_names == ["age", "city", "disease"]
    original = dict(line.split(",") for line in release.internal["correspondence.csv"].splitlines()[1:])
    for key, number in original.items():
        age, shown = network.vertices["age"][int(key)].as_py(), found.vertices["age"][int(number)].as_py()
        low, high = (float(each) for each in shown.strip("[]").split(", ")) if "[" in shown else (float(shown),) * 2
        assert low <= age <= high
        city = found.vertices["city"][int(number)].as_py()
        assert city in {"*", network.vertices["city"][int(key)].as_py()}
        assert found.vertices["disease"][int(number)] == network.vertices["disease"][int(key)]


def test_the_weight_of_attributes_matters():
    ranges = []
    for weight in (0.0, 1.0):
        network = town()
        label = S.SaNGreeA(attributes=weight).grow_clusters(network, 5)
        ages = network.vertices["age"].to_numpy()
        ranges.append(np.mean([np.ptp(ages[label == node]) for node in range(label.max() + 1)]))
    assert ranges[1] < 0.5 * ranges[0]


def test_missing_attributes_are_shown_as_suppressed_or_missing():
    edges = [(0, 1), (2, 3)]
    about = pa.table({"key": [0, 1, 2, 3], "age": [None, 30, None, None]})
    network = S.Graph.from_edges(edges, persons=about, schema=sf.Schema(quasi_identifiers=["age"]))
    found = S.anonymize(
        network, models=[sf.models.KAnonymity(k=2)], algorithm=S.SaNGreeA(attributes=0.1), secret=SECRET
    )
    shown = found.graph.vertices["age"].to_pylist()
    assert sorted(map(str, shown)) == ["*", "*", "None", "None"]


def test_taxonomies_are_climbed_to_the_lowest_common_node():
    edges = [(0, 1), (1, 2), (3, 4), (4, 5)]
    about = pa.table({"key": range(6), "city": ["Ulm", "Aalen", "Ulm", "Bonn", "Ulm", "Bonn"]})
    tree = sf.hierarchies.Taxonomy({"south": ["Ulm", "Aalen"], "west": ["Bonn", "Trier"]})
    schema = sf.Schema(quasi_identifiers=["city"], hierarchies={"city": tree})
    network = S.Graph.from_edges(edges, persons=about, schema=schema)
    numbers, widths, nodes, starts = encode_attributes(network)
    assert (numbers.shape, widths.shape, starts.tolist()) == ((0, 6), (0,), [0, 3])
    assert len(set(nodes[1, :3].tolist())) == 1
    assert set(nodes[2].tolist()) == {0}
    label = np.array([0, 0, 0, 1, 1, 1])
    assert (
        generalize_attributes(network, S.ClusteredGraph.from_clusters(network, label)).vertices["city"].to_pylist()
        == ["south"] * 3 + ["*"] * 3
    )
    state = np.zeros(0), np.zeros(0), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    arrays = numbers, widths, nodes, starts
    join_attributes(arrays, state, 0, True)  # noqa: FBT003 - loops take flags by position
    assert [attribute_loss(arrays, state, person) for person in (0, 1, 3)] == [0.0, 0.5, 1.0]
    grown = S.SaNGreeA(attributes=1).grow_clusters(network, 2)
    assert sorted(np.bincount(grown).tolist()) == [2, 2, 2]
    assert len({grown[3], grown[5]}) == 1


def test_impossible_requests_are_refused():
    with pytest.raises(InfeasibleError, match="needs 7 persons"):
        S.anonymize(network_of(nx.path_graph(6)), models=[sf.models.KAnonymity(k=7)], algorithm=S.SaNGreeA())
    full = network_of(nx.complete_graph(6))
    with pytest.raises(InfeasibleError, match="one super-node of all persons"):
        S.anonymize(full, models=[S.EdgeDisclosure(limit=0.5)], algorithm=S.SaNGreeA())
    with pytest.raises(InvalidParameterError):
        S.SaNGreeA(attributes=2)
    with pytest.raises(ReadError, match="do not fit"):
        S.ClusteredGraph(
            keys=pa.array([0, 1]), cluster=np.array([0, 0]), inner=np.array([2]), between=np.zeros((0, 3), dtype=int)
        )


@examples(25)
@given(st.integers(2, 7), st.sampled_from([0.05, 0.1, 0.3]), st.integers(0, 99), st.booleans())
def test_large_networks_look_at_near_persons_only(groups, share, seed, near):
    graph = nx.gnp_random_graph(3 * groups, share, seed=seed)
    network = network_of(graph)
    order, none = np.argsort(-network.degrees, kind="stable"), encode_attributes(network)
    label, joined = grow_super_nodes(network.offsets, network.neighbors, order, 3, 0.0, none, 0 if near else 99)
    assert label.tolist() == grown_slowly(graph, 3, near=near)
    assert label[joined].tolist() == sorted(label.tolist())


@pytest.mark.shared_data
@pytest.mark.parametrize(("k", "nodes", "cliques", "loss"), [(5, 807, 199, None), (10, 403, 22, 0.022637)])
def test_sangreea_on_the_real_network(shared_data, k, nodes, cliques, loss):
    network = S.read(shared_data / "networks" / "facebook.txt")
    found = S.ClusteredGraph.from_clusters(network, S.SaNGreeA(attributes=0).grow_clusters(network, k))
    assert (len(found.inner), int((found.edge_probabilities()[0] == 1).sum())) == (nodes, cliques)
    assert loss is None or found.structural_loss() == pytest.approx(loss, abs=1e-6)


@pytest.mark.shared_data
@pytest.mark.parametrize(("k", "log_graphs"), [(5, 92_000), (10, 119_000)])  # Sangreea leaves 107,762 and 152,453
def test_a_likely_partition_of_the_real_network(shared_data, k, log_graphs):
    network = S.read(shared_data / "networks" / "facebook.txt")
    likely = S.anonymize(
        network, models=[sf.models.KAnonymity(k=k)], algorithm=S.MaximumLikelihoodPartition(), secret=SECRET
    )
    assert likely.metrics["log-graphs"] < log_graphs


@examples(25)
@given(st.lists(st.integers(1, 30).flatmap(lambda most: st.tuples(st.just(most), st.integers(0, most))), min_size=1))
def test_numbers_drawn_below_limits_are_different(asked):
    limits, counts = np.array(asked).T
    starts = np.append(0, np.cumsum(counts))
    step = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
    high = np.repeat(limits - counts, counts) + step
    for drawn in (np.minimum(high, 3), np.maximum(high - 1, 0)):  # many are drawn twice, or what took another's place
        make_distinct(starts, limits, drawn)
        for limit, begin, end in zip(limits.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            assert len(set(drawn[begin:end].tolist())) == end - begin
            assert all(0 <= number < limit for number in drawn[begin:end].tolist())
