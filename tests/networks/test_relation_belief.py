"""Sensitive relations: never shown, and believed no more than promised by what else is shown."""

from __future__ import annotations

from itertools import combinations
from math import prod

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import network_of
from sfumato.errors import InfeasibleError, InvalidParameterError, ReadError, SchemaError
from sfumato.graphs._edge_types import count_typed_edges, typed_edges
from sfumato.graphs.io import equal_published, read_published

S = sf.graphs
LEAKS = {"home": 0.3, "work": 0.5}
PERSONS = 6


def kinds_network(rows, persons=PERSONS):
    """Make a network of rows of two persons and a kind."""
    one, other, kind = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(
        {"a": pa.array(one, pa.int64()), "b": pa.array(other, pa.int64()), "k": pa.array(kind, pa.string())}
    )
    return S.Graph.from_edges(table, persons=pa.table({"key": range(persons)}), kind="k")


def published(network, models, **options):
    models = models if isinstance(models, list) else [models]
    return S.anonymize(network, models=models, algorithm=S.RemoveEdgeType(sensitive="love", **options))


def drawn_rows():
    pairs = list(combinations(range(PERSONS), 2))
    triple = st.tuples(st.sampled_from(pairs), st.sampled_from(["home", "work", "love", None]))
    return st.sets(triple, min_size=1).map(lambda found: [(*pair, kind) for pair, kind in sorted(found, key=repr)])


@pytest.mark.parametrize(("base", "both"), [(0.0, 0.65), (0.1, 0.685)])
def test_both_kinds_shown_give_the_golden_belief(base, both):
    promise = S.LinkInference(limit=0.5, leaks=LEAKS, base=base)
    verdict = promise.evaluate(kinds_network([(0, 1, "home"), (0, 1, "work"), (1, 2, "home")]))
    assert (verdict.level, verdict.violations) == (pytest.approx(both), 1)
    assert promise.evaluate(kinds_network([(0, 1, "home"), (1, 2, "work")])).level == pytest.approx(0.5 + base / 2)
    assert promise.evaluate(kinds_network([])).level == base


def test_densities_of_super_nodes_give_the_golden_belief():
    rows = [(0, 2, "home"), (0, 2, "work"), (1, 3, "work")]  # one of four pairs, and two of them
    two = count_typed_edges(kinds_network(rows, 4), np.array([0, 0, 1, 1]))
    assert S.LinkInference(limit=0.5, leaks=LEAKS).evaluate(two).level == pytest.approx(0.30625)


@examples(30)
@given(drawn_rows(), st.integers(1, 3))
def test_beliefs_are_those_of_the_definition(rows, nodes):
    network, label = kinds_network(rows), np.arange(PERSONS) % nodes
    promise = S.LinkInference(limit=0.9, leaks=LEAKS, base=0.05)
    leak = {**LEAKS, "love": 1.0, None: 1.0}
    shown = {(a, b, kind) for a, b, kind in rows}
    oracle = max(
        1 - 0.95 * prod(1 - leak[kind] for kind in leak if (*pair, kind) in shown)
        for pair in combinations(range(PERSONS), 2)
    )
    assert promise.evaluate(network).level == pytest.approx(oracle)
    known = [row for row in rows if row[2]]
    found = 0.05
    for one, other in combinations(range(PERSONS), 2):
        group = {tuple(sorted((label[one], label[other])))}
        pairs = [pair for pair in combinations(range(PERSONS), 2) if {tuple(sorted(label[list(pair)]))} == group]
        share = {kind: sum((*pair, kind) in shown for pair in pairs) / len(pairs) for kind in leak if kind}
        found = max(found, 1 - 0.95 * prod(1 - share[kind] * leak[kind] for kind in share))
    assert promise.evaluate(count_typed_edges(kinds_network(known), label)).level == pytest.approx(found)


def test_what_is_not_known_betrays_everything():
    promise = S.LinkInference(limit=0.5, leaks=LEAKS)
    assert promise.evaluate(kinds_network([(0, 1, "golf")])).level == 1
    assert promise.evaluate(kinds_network([(0, 1, None)])).level == 1
    bare = network_of(nx.path_graph(4))
    assert promise.evaluate(bare).level == 1
    assert promise.evaluate(S.ClusteredGraph.from_clusters(bare, np.array([0, 0, 1, 1]))).level == 1


@examples(20)
@given(drawn_rows(), st.sampled_from(["some", "clusters", "capped-clusters", "none"]))
def test_sensitive_relations_are_never_shown_and_the_limit_is_kept(rows, keep):
    network = kinds_network([*(row for row in rows if row[2] != "love" or row[:2] != (0, 1)), (0, 1, "love")])
    promise = S.LinkInference(limit=0.3, leaks=LEAKS)
    try:
        release = published(network, promise, keep=keep)
    except InfeasibleError:
        all_shown = kinds_network([row for row in rows if row[2] in LEAKS])
        assert "clusters" in keep
        assert not promise.evaluate(count_typed_edges(all_shown, np.zeros(PERSONS, dtype=np.int64))).holds
        return
    found = release.graph
    names = set(found.edge_types if isinstance(found, S.ClusteredGraph) else typed_edges(found)[2])
    assert names <= {"home", "work"}
    assert release.audit.holds
    if keep == "some":  # relations of the kind that alone keeps the limit all stay, unless another one came first
        others = {(a, b) for a, b, kind in rows if kind == "home"} - {(a, b) for a, b, kind in rows if kind == "work"}
        assert found.n_edges >= len(others)


def test_a_limit_that_a_kind_just_reaches_is_kept():
    rows = [(0, 1, "love"), (0, 1, "home"), (1, 2, "home")]
    promise = S.LinkInference(limit=0.3, leaks={"home": 0.3})  # 1 - (1 - 0.3) is above 0.3 as computers count
    release = published(kinds_network(rows), promise, keep="all")
    assert (release.graph.n_edges, release.audit.level("relation-belief")) == (2, 0.3)


def test_kinds_stay_with_their_persons_and_unknown_ones_go():
    rows = [(a, b, f"{a}{b}") for a, b in combinations(range(PERSONS), 2)]
    network = kinds_network([*rows[:-1], (0, 1, "love"), (4, 5, None)])
    release = published(network, S.LinkInference(limit=1), keep="all")
    who = dict(line.split(",") for line in release.internal["correspondence.csv"].splitlines()[1:])
    back = {int(new): int(old) for old, new in who.items()}
    shown = zip(release.graph.edges.tolist(), release.graph.edge_types.to_pylist(), strict=True)
    found = {"".join(str(each) for each in sorted((back[a], back[b]))): kinds for (a, b), kinds in shown}
    assert found == {kind: [kind] for _, _, kind in rows[:-1]}


def test_random_choices_keep_either_relation():
    rows = [(0, 1, "love"), *((a, a + 1, kind) for a in range(39) for kind in ("home", "work"))]
    promise = S.LinkInference(limit=0.5, leaks=LEAKS)
    kept = typed_edges(published(kinds_network(rows, 40), promise, keep="some").graph)
    assert set(kept[2]) == {"home", "work"}
    assert len(kept[0]) == 39


def test_files_hold_the_kinds_and_are_judged_alone(tmp_path):
    rng = np.random.default_rng(1)
    pairs = [pair for pair in combinations(range(30), 2) if rng.random() < 0.2]
    rows = [(*pair, kind) for pair in pairs for kind in ("home", "work", "love") if rng.random() < 0.5]
    network = kinds_network(rows, 30)
    for place, keep in enumerate(("some", "clusters", "capped-clusters", "none")):
        models = [S.LinkInference(limit=0.4, leaks=LEAKS)]
        release = published(network, models, keep=keep)
        release.write(tmp_path / keep, table_format=["csv", "parquet"][place % 2])
        read = read_published(tmp_path / keep / "public")
        assert equal_published(read, release.graph)
        assert S.audit(read, models=models).level("relation-belief") == release.audit.level("relation-belief")
        assert not any(b"love" in path.read_bytes() for path in (tmp_path / keep / "public").glob("*.csv"))
    counts = tmp_path / "clusters" / "public" / "kinds.parquet"
    assert pa.parquet.read_table(counts).column_names == ["one", "other", "edges", "kind"]


def test_counts_of_kinds_that_do_not_fit_are_refused(tmp_path):
    rows = [(0, 1, "love"), (0, 2, "home"), (1, 3, "work"), (2, 3, "home"), (4, 5, "work")]
    models = [sf.models.KAnonymity(k=3), S.LinkInference(limit=0.5, leaks=LEAKS)]
    published(kinds_network(rows), models, keep="clusters").write(tmp_path / "out")
    file = tmp_path / "out" / "public" / "kinds.csv"
    text = file.read_text()
    file.write_text(text.replace("home", "work"))
    with pytest.raises(ReadError, match="do not fit"):
        read_published(tmp_path / "out" / "public")
    file.write_text(text.replace("home", ""))
    with pytest.raises(ReadError, match="without a kind"):
        read_published(tmp_path / "out" / "public")


def test_capped_counts_were_true_counts_that_keep_the_promise():
    rows = [(0, 1, "love"), *((a, b, "work") for a, b in combinations(range(6), 2))]
    promise = S.LinkInference(limit=0.4, leaks=LEAKS)
    with pytest.raises(InfeasibleError, match="Even one super-node"):  # all pairs are related, whatever is counted
        published(kinds_network(rows), promise, keep="capped-clusters")
    loose = S.LinkInference(limit=0.5, leaks=LEAKS)
    capped = published(kinds_network(rows), [loose, sf.models.KAnonymity(k=3)], keep="capped-clusters").graph
    assert {count for each in capped.edge_types.values() for count in each[:, 2].tolist()} == {1}


def test_leaks_are_fitted_with_hindsight_and_rounded_up():
    rows = [(0, 1, "love"), (0, 1, "home"), (1, 2, "home"), (2, 3, "home"), (3, 4, "work"), (4, 5, "love")]
    promise = S.LinkInference.fit(kinds_network(rows), sensitive="love", limit=0.5)
    assert promise.leaks == {"home": 0.34, "work": 0.0}
    assert promise.base == 0.1  # one of eleven pairs that show nothing
    with pytest.raises(SchemaError, match="No edge is of the sensitive kind"):
        S.LinkInference.fit(kinds_network(rows), sensitive="hate", limit=0.5)


def test_a_fitted_leak_is_never_below_the_true_one():
    """A hundred pairs for each set of kinds, of which leaks that act one by one make so many love each other."""
    rows, first = [], 0
    for kinds, loved in (({"home"}, 30), ({"work"}, 50), ({"home", "work"}, 65)):
        for place in range(100):
            rows += [(first, first + 1, kind) for kind in (*kinds, *(("love",) if place < loved else ()))]
            first += 2
    promise = S.LinkInference.fit(kinds_network(rows, first), sensitive="love", limit=0.5)
    assert promise.leaks == {"home": 0.48, "work": 0.58}  # 95 and 115 of 200, rounded up
    assert promise.base == 0


def test_what_cannot_be_kept_is_refused():
    network = kinds_network([(0, 1, "love"), (0, 1, "work")])
    strict = S.LinkInference(limit=0.4, leaks=LEAKS)
    with pytest.raises(InfeasibleError, match="keep some, clusters or none"):
        published(network, strict, keep="all")
    with pytest.raises(InfeasibleError, match="base alone"):
        published(network, S.LinkInference(limit=0.4, base=0.5), keep="none")
    with pytest.raises(SchemaError, match="have no kinds"):
        published(network_of(nx.path_graph(4)), strict)
    with pytest.raises(SchemaError, match="name a kind that occurs"):
        S.anonymize(network, models=[strict], algorithm=S.RemoveEdgeType(sensitive="hate"))
    for wrong in ({"limit": 0}, {"leaks": {"home": 2}}, {"leaks": [0.5]}, {"base": -1}):
        with pytest.raises(InvalidParameterError):
            S.LinkInference(**wrong)
    with pytest.raises(InvalidParameterError, match="keep"):
        S.RemoveEdgeType(sensitive="love", keep="most")


def test_kinds_of_one_pair_are_one_edge():
    rows = [(0, 1, "work"), (0, 1, "home"), (1, 0, "work"), (2, 1, None)]
    network = S.Graph.from_edges(
        pa.table(dict(zip("abk", zip(*rows, strict=True), strict=True))), kind="k", simplify=True
    )
    assert (network.n_edges, network.edge_types.to_pylist()) == (2, [["home", "work"], [None]])
    assert dict(network.dropped) == {"double edges": 1}
    ways = S.Graph.from_edges(
        pa.table({"a": [0, 1, 0], "b": [1, 0, 1], "k": ["home", "home", "work"], "w": [1.0, 2.0, 4.0]}),
        kind="k",
        weight="w",
        directed=True,
        as_undirected="both",
    )
    assert (ways.edge_types.to_pylist(), ways.weights.tolist()) == ([["home"]], [2.0])
    many = nx.MultiGraph([(0, 1, {"kind": "work"}), (0, 1, {"kind": "home"})])
    found = S.Graph.from_networkx(many, kind="kind")
    assert (found.n_edges, found.to_networkx()[0][1]) == (1, {"kind": "home+work"})
    assert found.digest() != S.Graph.from_networkx(nx.Graph([(0, 1, {"kind": "home"})]), kind="kind").digest()


def test_searches_that_do_not_say_so_publish_no_kinds():
    class Idle(S.DegreeSequence):
        def search(self, request):
            return request.data

    network = kinds_network([(0, 1, "love"), (2, 3, "home"), (4, 5, "work")])
    assert S.anonymize(network, models=[S.KDegreeAnonymity(k=2)], algorithm=Idle()).graph.edge_types is None
