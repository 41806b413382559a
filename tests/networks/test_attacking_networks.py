"""Attacks on networks: right where the structure gives persons away, and no better than guessing where it cannot."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from network_oracle import graphs, network_of
from sfumato.core.attack import AttackResult
from sfumato.datasets.friendship_graph import generate_friendship_graph
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.graphs._kernels.attacks import find_planted, row_distances
from sfumato.graphs.attacks import _attack
from sfumato.graphs.attacks._active_attack import GROUP_SIZE, VICTIMS, find_group, find_planted_groups, plant_groups
from sfumato.graphs.attacks._attribute_inference import attribute_inference_attack
from sfumato.graphs.attacks._link_prediction import SCORES, _matrix, _two_steps_apart, link_prediction_attack
from sfumato.graphs.attacks._setting import GraphAttackSetting, true_matching
from sfumato.graphs.attacks._structural_reidentification import match_structure

S = sf.graphs
KARATE = network_of(nx.karate_club_graph())
FRIENDS = generate_friendship_graph(300, seed=3)
RING = network_of(nx.cycle_graph(40))


def setting(original, published=None, who=None, targets=1000):
    who = np.arange(len(original)) if who is None else who
    rng = np.random.default_rng(1)
    return GraphAttackSetting(published=published or original, original=original, who=who, targets=targets, rng=rng)


def shuffled(network, seed=2):
    """Publish a network under new numbers; return it and who is who."""
    number = np.random.default_rng(seed).permutation(len(network))
    return network.with_edges(number[network.edges]), number


@pytest.mark.parametrize(("knowledge", "alone"), [("H1", 6), ("H2", 23), ("H3", 23), ("neighborhood", 16)])
def test_those_who_are_alone_by_their_structure_are_found(knowledge, alone):
    found = match_structure(setting(KARATE, *shuffled(KARATE)), knowledge)
    assert (found.successes, found.claims, found.targets) == (alone, alone, 34)
    assert found.details["in the crowd"] == 1
    own = S.candidate_set_sizes(KARATE, knowledge=knowledge)
    assert found.details["belief"] == pytest.approx((1 / own).mean())
    assert found.baseline == pytest.approx(1 / 34)


def test_nobody_of_a_ring_is_found():
    for knowledge in ("H1", "H2", "H3", "neighborhood"):
        assert match_structure(setting(RING), knowledge).claims == 0


def test_the_nearest_is_found_where_edges_changed():
    star = network_of(nx.star_graph(9))
    less = star.with_edges(star.edges[1:])
    for knowledge in ("H1", "H2"):
        found = match_structure(setting(star, less), knowledge)
        assert found.successes == 1
    assert match_structure(setting(star, less), "H3").claims == 0


def test_published_degrees_of_the_original_are_used():
    path = network_of(nx.path_graph(3))
    for kept, knowledge in ((0, "H1"), (2, "H2")):
        bare = path.with_edges(path.edges[:kept])
        assert match_structure(setting(path, replace(bare, original_degrees=path.degrees)), knowledge).successes == 1
    assert match_structure(setting(path, path.with_edges(path.edges[:0])), "H1").claims == 0
    ring = network_of(nx.cycle_graph(3))
    assert match_structure(setting(path, ring), "H2").claims == 0
    assert match_structure(setting(path, replace(ring, original_degrees=path.degrees)), "H2").claims == 1


@examples(25)
@given(graphs(), st.integers(1, 3))
def test_hubs_find_those_who_are_alone_by_their_distances(graph, hubs):
    network = network_of(graph)
    found = match_structure(setting(network, *shuffled(network)), f"hubs-{hubs}")
    own = S.candidate_set_sizes(network, knowledge=f"hubs-{hubs}")
    assert found.details["belief"] == pytest.approx((1 / own).mean())
    assert found.successes == found.claims == (own == 1).sum()


def test_the_nearest_distances_to_hubs_count_where_edges_changed():
    path = network_of(nx.Graph([(0, 1), (0, 2), (0, 3), (3, 4), (4, 5)]))  # the hub 0 has leaves and a tail
    longer = network_of(nx.Graph([(0, 1), (0, 2), (0, 3), (3, 4), (4, 5), (5, 6)]))
    found = match_structure(setting(path, longer), "hubs-1")
    assert (found.successes, found.claims) == (3, 3)  # the hub, and the two at the end of the tail
    parted = path.with_edges(path.edges[:-1])  # nobody is three steps away any more, but one person is nowhere
    assert match_structure(setting(path, parted), "hubs-1").details["in the crowd"] == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("one", "other", "distance"), [([2, 3], [2, 3], 0), ([1, 4], [4], 1), ([], [2, 2], 4), ([1, 5], [2, 2], 4)]
)
def test_distances_of_degrees_fill_up_with_zeros(one, other, distance):
    rows = np.array([7, *other], dtype=np.int64)
    found = row_distances(np.array(one, dtype=np.int64), np.array([0, 1, len(rows)]), rows)
    assert found[1] == distance


def result(runs, successes, targets):
    return AttackResult(
        attack="a",
        question="b",
        targets=targets,
        claims=targets,
        successes=successes,
        baseline=0,
        control_targets=0,
        control_successes=0,
        runs=runs,
    )


def test_intervals_of_runs_cover_the_rate_of_runs_that_succeed_or_fail_as_a_whole():
    rng, persons, runs = np.random.default_rng(1), 100, 10
    covered = naive = 0
    for _ in range(300):
        right = rng.binomial(persons, np.where(rng.random(runs) < 0.7, 0.8, 0.0)).sum()
        low, high = result(runs, int(right), runs * persons).interval
        covered += low <= 0.56 <= high
        low, high = result(None, int(right), runs * persons).interval
        naive += low <= 0.56 <= high
    assert covered / 300 >= 0.95
    assert naive / 300 < 0.6
    assert result(10, 5, 50).to_dict()["runs"] == 10
    assert "runs" not in result(None, 5, 50).to_dict()


@pytest.mark.parametrize("name", ["common neighbors", "Adamic-Adar", "Katz"])
@examples(15)
@given(graph=graphs())
def test_scores_of_pairs_are_those_of_the_definitions(name, graph):
    network, pairs = network_of(graph), np.argwhere(np.triu(np.ones((len(graph), len(graph))), 1))
    links = nx.to_numpy_array(graph)
    slow = {
        "common neighbors": links @ links,
        "Adamic-Adar": links @ np.diag([1 / np.log(d) if d > 1 else 0 for d in links.sum(axis=0)]) @ links,
        "Katz": 0.005 * links + 0.005**2 * links @ links + 0.005**3 * links @ links @ links,
    }[name]
    found = SCORES[name](_matrix(network, np.zeros((0, 2), dtype=np.int64)), pairs)
    assert found == pytest.approx(slow[pairs[:, 0], pairs[:, 1]])


def test_hidden_relations_are_found_by_communities_and_not_in_a_random_network():
    for found in link_prediction_attack(setting(FRIENDS, targets=150)):
        assert found.gains
        assert found.details["against two steps apart"] < found.rate
    noise = network_of(nx.gnm_random_graph(300, 1500, seed=1))
    assert not any(found.gains for found in link_prediction_attack(setting(noise)))


def test_pairs_two_steps_apart_are_all_as_likely():
    """The two on one side have 20 persons in common, the 190 pairs on the other side two each."""
    pairs = _two_steps_apart(setting(network_of(nx.complete_bipartite_graph(2, 20))), 1910)
    assert len(pairs) == 1910
    assert 1 <= (pairs == [0, 1]).all(axis=1).sum() <= 25
    assert len(np.unique(pairs, axis=0)) == 191
    assert not len(_two_steps_apart(setting(network_of(nx.path_graph(2))), 5))


def test_a_hidden_relation_is_not_seen():
    """Removing hidden edges removes what gives them away: here they are all that is known of a pair."""
    pairs = network_of(nx.from_edgelist([(2 * each, 2 * each + 1) for each in range(300)]))
    for found in link_prediction_attack(setting(pairs)):
        assert not found.gains


def with_values(network, values):
    persons = pa.table({"disease": values})
    return replace(network, vertices=persons, schema=sf.Schema(sensitive=["disease"]))


def test_what_neighbors_share_is_guessed():
    home = [0] * 40 + [1] * 60 + [None] * 5
    blocks = nx.stochastic_block_model([40, 60, 5], [[0.3, 0.02, 0], [0.02, 0.3, 0], [0, 0, 0.5]], seed=1)
    plain = nx.empty_graph(105)
    plain.add_edges_from(blocks.edges)
    alike = with_values(network_of(plain), home)
    for found in attribute_inference_attack(setting(alike), "disease"):
        assert found.rate > 0.9
        assert found.targets == 10  # of 100 with a value
    drawn = with_values(alike, np.random.default_rng(1).permutation(home[:100]).tolist() + [None] * 5)
    assert not any(found.gains for found in attribute_inference_attack(setting(drawn), "disease"))


def test_naive_bayes_sees_that_opposites_attract():
    couples = nx.complete_bipartite_graph(30, 30)
    persons = with_values(network_of(couples), ["a"] * 30 + ["b"] * 30)
    rates = {found.attack: found.rate for found in attribute_inference_attack(setting(persons), "disease")}
    assert rates["attribute by naive Bayes"] == 1
    assert rates["attribute by majority"] == 0


def test_too_many_values_are_not_guessed():
    network = with_values(network_of(nx.path_graph(150)), list(range(150)))
    assert "150 different values" in attribute_inference_attack(setting(network), "disease")


def test_planted_groups_are_found_where_nothing_changed():
    rng = np.random.default_rng(4)
    found = find_planted_groups(FRIENDS, shuffled, plantings=6, rng=rng)
    assert found.successes >= 5
    assert found.control_successes == 0
    planted, plans = plant_groups(FRIENDS, 1, rng)
    assert len(planted) == 300 + GROUP_SIZE
    assert np.array_equal(find_group(planted, plans[0])[GROUP_SIZE:], plans[0].victims)
    assert len(plans[0].victims) == VICTIMS
    assert planted.vertices.num_rows == len(planted)
    spoiled = planted.with_edges(planted.edges[planted.edges[:, 1] != 300])
    assert find_group(spoiled, plans[0]) is None


@examples(25)
@given(graphs(6))
def test_planted_paths_are_searched_as_by_definition(graph):
    """Paths of three persons against all ordered triples."""
    network, degrees = network_of(graph), dict(graph.degree)
    asked, inner = np.array([1, 2, 2]), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.bool_)
    copies = sum(
        len({a, b, c}) == 3
        and [degrees[a], degrees[b], degrees[c]] == asked.tolist()
        and (graph.has_edge(a, b), graph.has_edge(b, c), graph.has_edge(a, c)) == (True, True, False)
        for a in graph
        for b in graph
        for c in graph
    )
    found = np.zeros(3, dtype=np.int64)
    assert find_planted(network.offsets, network.neighbors, asked, inner, 10_000, found) == min(copies, 2)
    assert find_planted(network.offsets, network.neighbors, asked, inner, 1, found) == -1


@pytest.fixture(scope="module")
def release():
    return S.anonymize(FRIENDS, models=[sf.models.KAnonymity(k=5)], algorithm=S.SaNGreeA(), secret="5f" * 32)


def test_all_attacks_run_before_and_after(release):
    options = {"targets": 100, "plantings": 5, "knowledge": ("H1", "H2"), "seed": 1}
    before, after = (S.attack(each, FRIENDS, **options) for each in (FRIENDS, release))
    assert [each.attack for each in before] == [each.attack for each in after]
    for name in ("structure by H2", "seed and propagate"):
        assert before.result(name).gains
        assert not after.result(name).gains
    assert before.result("planted persons").rate > after.result("planted persons").rate == 0
    assert S.attack(release, FRIENDS, **options).to_dict() == after.to_dict()
    assert not after.skipped


def test_who_is_who_is_what_the_release_did():
    release = S.anonymize(KARATE, models=[S.KDegreeAnonymity(k=2)], algorithm=S.DegreeSequence(edges="add"))
    who = true_matching(release)
    kept = {tuple(sorted(pair)) for pair in who[KARATE.edges].tolist()}
    assert kept <= {tuple(pair) for pair in release.graph.edges.tolist()}
    recognized = setting(KARATE, release.graph, who).aligned_graph
    assert {tuple(pair) for pair in KARATE.edges.tolist()} <= {tuple(pair) for pair in recognized.edges.tolist()}


def test_persons_who_were_added_come_last():
    path = network_of(nx.path_graph(5))
    release = S.anonymize(path, models=[S.KAutomorphism(k=2)], algorithm=S.KMatch())
    recognized = setting(path, release.graph, true_matching(release)).aligned_graph
    assert len(recognized) == 6
    assert {tuple(pair) for pair in path.edges.tolist()} <= {tuple(pair) for pair in recognized.edges.tolist()}


def test_small_networks_leave_attacks_out():
    triangle = network_of(nx.complete_graph(4))
    found = S.attack(triangle, triangle, seeds=1, seed=1)
    assert set(found.skipped) == {"planted persons", "relations"}


def test_releases_that_cannot_be_made_with_planted_persons_leave_this_attack_out():
    def refuse(_):
        raise SchemaError("There are too few pairs.")

    found = _attack._active_attack(FRIENDS, refuse, 1, np.random.default_rng(1))
    assert found.skipped == {
        "planted persons": "the release cannot be made with the planted persons. There are too few pairs."
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"knowledge": ["H9"]}, "H1 to H5"),
        ({"knowledge": ["hubs-0"]}, "hubs-1 to hubs-99"),
        ({"knowledge": ["subgraph-61"]}, "subgraph-1 to subgraph-60"),
        ({"targets": 0}, "at least 1"),
        ({"runs": 9}, "at least 10"),
        ({"overlap": 0}, "above 0"),
        ({"seeds": 34}, "fewer than persons"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(InvalidParameterError, match=words):
        S.attack(KARATE, KARATE, **options)


def test_only_a_release_of_this_original_or_the_original_is_attacked(release):
    with pytest.raises(InvalidParameterError, match="who is who"):
        S.attack(RING, KARATE)
    with pytest.raises(InvalidParameterError, match="not what the release was made of"):
        S.attack(release, KARATE)


@pytest.mark.shared_data
@pytest.mark.parametrize(("group", "right"), [(5, 16), (7, 16), (9, 18), (12, 20), (15, 20)])
def test_planted_groups_of_the_real_network_are_found(shared_data, group, right):
    network, rng = S.read(shared_data / "networks" / "facebook.txt"), np.random.default_rng(0)
    found = find_planted_groups(network, shuffled, plantings=20, rng=rng, group=group)
    assert found.successes == pytest.approx(right, abs=3)
    assert found.claims == found.successes


@pytest.mark.shared_data
def test_hidden_relations_of_the_real_network(shared_data):
    network = S.read(shared_data / "networks" / "facebook.txt")
    for found in link_prediction_attack(setting(network, targets=5000)):
        assert found.rate == pytest.approx(0.993, abs=0.005)
