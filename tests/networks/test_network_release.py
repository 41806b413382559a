"""Releases of networks: what is written, read back and judged, and what never leaves."""

from __future__ import annotations

import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from network_oracle import network_of
from sfumato.core.writing import read_facts, render
from sfumato.errors import GuaranteeViolatedError, InvalidParameterError, ReadError, SchemaError
from sfumato.graphs.io import read_published

S = sf.graphs
SECRET = "5f" * 32
KARATE = network_of(nx.karate_club_graph())
CASES = [
    ([S.KDegreeAnonymity(k=3)], S.DegreeSequence()),
    ([S.KAutomorphism(k=3)], S.KMatch(turns=5)),
    ([sf.models.KAnonymity(k=4)], S.SaNGreeA()),
    ([sf.models.KAnonymity(k=4)], S.MaximumLikelihoodPartition(turns=5)),
]


@pytest.mark.parametrize(("models", "algorithm"), CASES)
def test_a_recipe_makes_the_same_files_again(tmp_path, models, algorithm):
    release = S.anonymize(KARATE, models=models, algorithm=algorithm)
    release.write(tmp_path / "one")
    recipe = S.read_recipe(tmp_path / "one" / "internal" / "recipe.toml")
    S.run_recipe(recipe, KARATE).write(tmp_path / "two")
    for path in (tmp_path / "one").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()
    found = read_published(tmp_path / "one" / "public")
    if isinstance(found, S.Graph):
        found = replace(found, alignment=release.graph.alignment)
    assert S.audit(found, models=models).holds
    facts = read_facts(tmp_path / "one")
    assert render(facts).count("<svg") >= 2
    assert "Report on a network" in release.report().html


def test_parquet_is_read_back_as_well(tmp_path):
    release = S.anonymize(KARATE, models=[S.KDegreeAnonymity(k=3)], algorithm=S.DegreeSequence())
    release.write(tmp_path / "out", table_format="parquet")
    assert (tmp_path / "out" / "public" / "edges.parquet").exists()
    assert read_published(tmp_path / "out" / "public").n_edges == release.graph.n_edges


def test_persons_get_new_numbers_and_nothing_of_the_old_order_is_left():
    graph = nx.path_graph(300)
    network = network_of(graph)
    numbers = []
    for _ in range(2):
        release = S.anonymize(network, models=[S.KDegreeAnonymity(k=2)], algorithm=S.DegreeSequence())
        rows = [line.split(",") for line in release.internal["correspondence.csv"].splitlines()[1:]]
        numbers.append(np.array([int(new) for _, new in rows]))
        assert sorted(numbers[-1].tolist()) == list(range(300))
        assert release.graph.edges.tolist() == sorted(release.graph.edges.tolist())
    for one, other in ((np.arange(300), numbers[0]), (np.arange(300), numbers[1]), (numbers[0], numbers[1])):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.35  # 6 deviations


def test_public_files_say_nothing_of_kinds_weights_persons_and_secrets(tmp_path):
    graph = nx.Graph()
    graph.add_edges_from(
        [(f"Zaphod{a}", f"Zaphod{b}", {"weight": 77.5, "kind": "Vogon"}) for a, b in nx.cycle_graph(8).edges]
    )
    nx.set_node_attributes(graph, dict.fromkeys(graph, "Trillian"), "city")
    network = S.Graph.from_networkx(graph, kind="kind", weight="weight", schema=sf.Schema(quasi_identifiers=["city"]))
    release = S.anonymize(network, models=[S.KDegreeAnonymity(k=2)], algorithm=S.DegreeSequence())
    release.write(tmp_path / "out")
    for path in (tmp_path / "out" / "public").iterdir():
        text = path.read_text()
        assert not any(word in text for word in ("Zaphod", "77.5", "Vogon", "Trillian", release.recipe.secret))
    assert json.loads((tmp_path / "out" / "public" / "promise.json").read_text())["audit"]["holds"] is True
    assert "Zaphod" not in repr(network) + repr(release)


def test_a_network_that_breaks_its_promise_is_not_written(tmp_path):
    release = S.anonymize(KARATE, models=[S.KDegreeAnonymity(k=3)], algorithm=S.DegreeSequence())
    spoiled = replace(release, published=release.graph.with_edges(np.array([[0, 1]])))
    with pytest.raises(GuaranteeViolatedError, match="break the promise"):
        spoiled.write(tmp_path / "out")
    moved = replace(release, published=release.graph.with_edges(release.graph.edges))
    object.__setattr__(moved, "_read_files", lambda _: KARATE.with_edges(np.zeros((0, 2))))
    with pytest.raises(GuaranteeViolatedError, match="otherwise"):
        moved.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_measures_are_those_of_the_networks():
    release = S.anonymize(KARATE, models=[S.KDegreeAnonymity(k=3)], algorithm=S.DegreeSequence(), secret=SECRET)
    before, after = nx.karate_club_graph(), release.graph.to_networkx()
    measures = release.metrics
    for graph, when in ((before, "before"), (after, "after")):
        assert measures[f"clustering-{when}"] == pytest.approx(nx.average_clustering(graph))
        assert measures[f"largest-eigenvalue-{when}"] == pytest.approx(
            max(nx.adjacency_spectrum(graph, weight=None).real)
        )
        lengths = [far for _, each in nx.all_pairs_shortest_path_length(graph) for far in each.values() if far]
        assert measures[f"path-length-{when}"] == pytest.approx(np.mean(lengths))
    degrees = [sorted(dict(graph.degree).values()) for graph in (before, after)]
    assert measures["degree-distance"] == pytest.approx(np.abs(np.subtract(*degrees)).mean())


def test_files_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(ReadError, match="has no file persons"):
        read_published(tmp_path)
    release = S.anonymize(KARATE, models=[sf.models.KAnonymity(k=4)], algorithm=S.SaNGreeA())
    release.write(tmp_path / "out")
    nodes = tmp_path / "out" / "public" / "super_nodes.csv"
    nodes.write_text(nodes.read_text().replace("inner", "outer"))
    with pytest.raises(ReadError, match="no whole numbers in a column 'inner'"):
        read_published(tmp_path / "out" / "public")


def test_what_is_no_network_is_refused():
    with pytest.raises(InvalidParameterError, match="from_edges"):
        S.anonymize(nx.karate_club_graph(), models=[S.KDegreeAnonymity(k=2)], algorithm=S.DegreeSequence())


@pytest.mark.parametrize("algorithm", ["sangreea", S.SaNGreeA, sf.algorithms.Mondrian()])
def test_what_is_no_search_of_networks_is_refused(algorithm):
    with pytest.raises(InvalidParameterError, match="a search of networks"):
        S.anonymize(KARATE, models=[sf.models.KAnonymity(k=4)], algorithm=algorithm)


@pytest.mark.parametrize("name", ["person", "super_node"])
def test_columns_of_the_published_files_are_not_taken(name):
    persons = pa.table({"key": [0, 1], name: ["a", "b"]})
    network = S.Graph.from_edges([(0, 1)], persons=persons, schema=sf.Schema(sensitive=[name]))
    with pytest.raises(SchemaError, match=f"a column '{name}' of its own"):
        S.anonymize(network, models=[sf.models.KAnonymity(k=2)], algorithm=S.SaNGreeA())


@pytest.mark.parametrize("algorithm", [S.SaNGreeA(), S.MaximumLikelihoodPartition()])
def test_somebody_alone_is_a_super_node_if_k_allows_it(algorithm):
    alone = S.Graph.from_edges([], persons=pa.table({"key": [7]}))
    release = S.anonymize(alone, models=[sf.models.KAnonymity(k=1)], algorithm=algorithm)
    assert (release.graph.inner.tolist(), release.metrics["structural-loss"]) == ([0], 0)
