"""Random change of edges: the belief that is left, and what does not count as noise."""

from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from network_oracle import network_of
from sfumato._progress import ignore_progress
from sfumato._randomness import KeyedRandom
from sfumato.core.algorithm import Request
from sfumato.errors import GuaranteeViolatedError, SchemaError
from sfumato.graphs.clustered_graph import pairs_from_numbers
from sfumato.graphs.io import equal_published, read_published
from sfumato.graphs.metrics import compute_metrics

S = sf.graphs
NETWORK = network_of(nx.gnm_random_graph(120, 500, seed=1))


def published(limit, network=NETWORK, secret=None, **options):
    models = [S.EdgeDisclosure(limit=limit)]
    return S.anonymize(network, models=models, algorithm=S.RandomPerturbation(**options), secret=secret)


def test_ten_percent_of_noise_leave_ninety_percent_of_certainty(tmp_path):
    release = published(0.9)
    assert release.audit.level("edge-confidence") == pytest.approx(0.9)
    release.write(tmp_path / "out")
    read = read_published(tmp_path / "out" / "public")
    assert S.audit(read, models=[S.EdgeDisclosure(limit=0.9)]).holds
    assert not S.audit(replace(read, noise=None), models=[S.EdgeDisclosure(limit=0.9)]).holds


def test_the_share_of_original_edges_is_the_belief():
    kept = shown = 0
    for number in range(40):
        measures = published(0.7, secret=f"{number:064x}").metrics
        kept += measures["edges-kept"]
        shown += measures["edges-kept"] + measures["edges-added"]
    assert kept / shown == pytest.approx(0.7, abs=0.02)  # 6 deviations of 20,000 edges
    assert shown / 40 == pytest.approx(500, rel=0.03)


@pytest.mark.parametrize("limit", np.linspace(0.05, 0.95, 19).round(2).tolist())
def test_rounding_breaks_no_promise(limit):
    for persons in (30, 31, 34, 40):
        ring = network_of(nx.cycle_graph(persons))
        assert published(limit, ring).audit.level("edge-confidence") <= limit


@pytest.mark.parametrize("wrong", [(0.5, 0.9), (0.0, 0.1), (0.3, 1e-6), (1.0, 0.5)])
def test_noise_that_does_not_fit_counts_as_none(wrong):
    spoiled = replace(published(0.7).graph, noise=S.EdgeNoise(removed=wrong[0], added=wrong[1]))
    assert S.EdgeDisclosure(limit=0.7).evaluate(spoiled).level == 1.0


def test_every_pair_has_its_number():
    low, high = pairs_from_numbers(np.arange(45))
    assert sorted(zip(low.tolist(), high.tolist(), strict=True)) == [
        (a, b) for a in range(10) for b in range(a + 1, 10)
    ]


def test_pairs_of_large_networks_have_theirs_too():
    last = np.array([10, 94_906_267, 2_000_000_000], dtype=np.int64)  # roots of these are rounded
    first = last * (last - 1) // 2
    for step in (-1, 0, 1):
        low, high = pairs_from_numbers(first + step)
        assert np.array_equal(high * (high - 1) // 2 + low, first + step)
        assert ((low >= 0) & (low < high)).all()


def test_chances_that_were_changed_in_their_file_are_seen(tmp_path):
    release = published(0.7)
    noise = S.EdgeNoise(removed=release.graph.noise.removed, added=release.graph.noise.added * 1.0001)
    spoiled = replace(release.graph, noise=noise)
    assert S.EdgeDisclosure(limit=0.7).evaluate(spoiled).level != 1.0
    object.__setattr__(release, "_read_files", lambda _: spoiled)
    with pytest.raises(GuaranteeViolatedError):
        release.write(tmp_path / "out")
    assert equal_published(release.graph, replace(release.graph))
    assert not equal_published(release.graph, spoiled)


def test_sensitive_edges_are_never_shown():
    edges = {
        "a": [0, 0, 1, 2, 3, 4],
        "b": [1, 2, 2, 3, 4, 5],
        "kind": ["likes", "loves", "likes", "loves", None, "likes"],
    }
    network = S.Graph.from_edges(pd.DataFrame(edges), kind="kind")
    release = published(1.0, network, sensitive="loves")
    assert (release.graph.n_edges, release.metrics["edges-removed"]) == (3, 3)  # a missing kind may be sensitive
    with pytest.raises(SchemaError, match="have no kinds"):
        published(0.9, sensitive="loves")
    with pytest.raises(SchemaError, match="No edge is of the sensitive kind"):
        published(0.9, network, sensitive="hates")


def counted_beliefs(original, published):
    """Count original edges among those shown between hubs, and among those with most common neighbors."""
    before, graph = nx.Graph(original.edges.tolist()), nx.Graph(published.edges.tolist())
    degrees = sorted((degree for _, degree in graph.degree), reverse=True)
    least = degrees[math.ceil(len(published) / 20) - 1]
    hubs = [edge for edge in graph.edges if min(graph.degree[edge[0]], graph.degree[edge[1]]) >= least]
    common = {edge: len(set(graph[edge[0]]) & set(graph[edge[1]])) for edge in graph.edges}
    closest = sorted(common.values(), reverse=True)[math.ceil(len(common) / 10) - 1]
    near = [edge for edge in graph.edges if common[edge] >= closest]
    return [sum(before.has_edge(*edge) for edge in edges) / len(edges) for edges in (hubs, near)]


@pytest.mark.parametrize("algorithm", [S.RandomPerturbation(), S.EdgeSwitching(runs=10)], ids=lambda each: each.name)
def test_what_is_believed_of_hubs_and_of_common_friends_is_told(algorithm):
    friends = network_of(nx.powerlaw_cluster_graph(400, 12, 0.8, seed=1))
    limit = S.EdgeDisclosure(limit=0.6)
    asked = Request(data=friends, models=(limit,), stream=KeyedRandom("1" * 64, "network"), progress=ignore_progress)
    found = algorithm.search(asked)
    measures = compute_metrics(friends, found)
    hubs, near = counted_beliefs(friends, found)
    assert measures["belief-between-hubs"] == pytest.approx(hubs)
    assert measures["belief-with-common-neighbors"] == pytest.approx(near)
    assert measures["larger-belief"] == max(hubs, near) > 0.6
    assert hubs > 0.8 or algorithm.name == "edge-switching"
    release = S.anonymize(friends, models=[limit], algorithm=algorithm)
    assert release.metrics["larger-belief"] > 0.6
    assert limit.words.promise.startswith("On average")


def test_nothing_is_told_of_beliefs_where_no_edges_are_noise():
    measures = S.anonymize(NETWORK, models=[S.KDegreeAnonymity(k=2)], algorithm=S.DegreeSequence()).metrics
    assert "larger-belief" not in measures


def test_a_network_without_free_pairs_hides_nothing():
    with pytest.raises(SchemaError, match="too few pairs"):
        published(0.5, network_of(nx.complete_graph(6)))
