"""Attack a published network as somebody who knows the original, or parts of it, would."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from sfumato._randomness import draw_seed, seeded_generator
from sfumato._validation import is_finite_number, is_integer, require
from sfumato.core.attack import AttackResult, AttackResults
from sfumato.errors import InvalidParameterError, SfumatoError
from sfumato.graphs._pipeline import run_recipe
from sfumato.graphs._release import GraphRelease
from sfumato.graphs.attacks._active_attack import FEWEST, Publish, find_planted_groups
from sfumato.graphs.attacks._attribute_inference import attribute_inference_attack
from sfumato.graphs.attacks._link_prediction import link_prediction_attack
from sfumato.graphs.attacks._seed_propagation import seed_propagation_attack
from sfumato.graphs.attacks._setting import GraphAttackSetting, Integers, as_graph, true_matching
from sfumato.graphs.attacks._structural_reidentification import KNOWLEDGE_PATTERN, match_structure
from sfumato.graphs.graph import Graph

KNOWLEDGE = ("H1", "H2", "H3", "neighborhood", "hubs-5", "subgraph-10")
KNOWLEDGE_NAMES = "H1 to H5, stable, neighborhood, hubs-1 to hubs-99, and subgraph-1 to subgraph-60"
MIN_RUNS = 10


def attack(
    published: GraphRelease | Graph,
    original: Graph,
    *,
    knowledge: Sequence[str] = KNOWLEDGE,
    targets: int = 200,
    seeds: int = 20,
    overlap: float = 0.9,
    runs: int = MIN_RUNS,
    plantings: int = 20,
    seed: int | None = None,
) -> AttackResults:
    """Attack a release, or the original itself to compare.

    The adversary finds persons by the structure around them in the original (*structure*); by groups of persons whom
    she planted before the network was published, which the release is made again for (*planted persons*); and from
    seeds whom she knows, by a copy of the original that lacks some edges (*seed and propagate*). Once persons are
    recognized, she guesses relations that are not shown (*relations*), and sensitive attributes of persons from those
    of the others (*attribute*). Of super-nodes, one of the graphs that have their counts is attacked. Guessing names
    anybody, tosses a coin for relations, or says the most frequent value. Controls judge the same claims by others.

    Parameters
    ----------
    published : a release, which knows who is who, or the original.
    original : the network that it was made of.
    knowledge : what she knows of the structure around a person in the original, as for
        `sf.graphs.candidate_set_sizes`; but
        `"subgraph-10"` are ten edges that hang together around her, drawn at random, at most 60.
    targets : how many persons or pairs are attacked, except by *seed and propagate*, which attacks everybody.
    seeds : how many persons she knows in both networks.
    overlap : the share of relations that she knows of.
    runs : how many times she starts from other seeds, at least 10; intervals count runs, since persons of one run are
        found together or not at all.
    plantings : how many groups of persons she plants, each of 12 persons.
    seed : repeats the draws, which protect nobody.
    """
    _check_arguments(knowledge, targets, overlap, runs, plantings)
    require(is_integer(seeds) and 1 <= seeds < len(original), "attack", "seeds", "from 1 to fewer than persons", seeds)
    seed = draw_seed() if seed is None else seed
    rng = seeded_generator(seed)
    shown, who = _adversary_view(published, original, seed)
    setting = GraphAttackSetting(published=shown, original=original, who=who, targets=targets, rng=rng)
    found = [
        AttackResults(results=tuple(match_structure(setting, each) for each in knowledge)),
        _active_attack(original, _make_publisher(published, seed), plantings, rng),
        AttackResults(results=(seed_propagation_attack(setting, seeds=seeds, overlap=overlap, runs=runs),)),
        _inference_attacks(setting),
    ]
    skipped = {name: why for each in found for name, why in each.skipped.items()}
    return AttackResults(results=tuple(result for each in found for result in each), skipped=skipped)


def _active_attack(original: Graph, publish: Publish, plantings: int, rng: np.random.Generator) -> AttackResults:
    name = "planted persons"
    if len(original) < 2 * FEWEST:
        return AttackResults(results=(), skipped={name: f"they need at least {2 * FEWEST} other persons to know."})
    try:
        return AttackResults(results=(find_planted_groups(original, publish, plantings=plantings, rng=rng),))
    except SfumatoError as refusal:
        return AttackResults(
            results=(), skipped={name: f"the release cannot be made with the planted persons. {refusal}"}
        )


def _inference_attacks(setting: GraphAttackSetting) -> AttackResults:
    """Guess relations and sensitive attributes of persons who are recognized."""
    original, skipped = setting.original, {}
    results: list[AttackResult] = []
    if 0 < original.n_edges < len(original) * (len(original) - 1) // 2:
        results += link_prediction_attack(setting)
    else:
        skipped["relations"] = "either nobody is related or everybody."
    for name in () if original.vertices is None else original.schema.sensitive:
        found = attribute_inference_attack(setting, name)
        if isinstance(found, str):
            skipped[f"attribute {name!r}"] = found
        else:
            results += found
    return AttackResults(results=tuple(results), skipped=skipped)


def _adversary_view(published: GraphRelease | Graph, original: Graph, seed: int) -> tuple[Graph, Integers]:
    """Return the graph that the adversary sees, and who is who in it."""
    if published is original:
        return original, np.arange(len(original))
    if not isinstance(published, GraphRelease):
        raise InvalidParameterError(
            "attack: published must be a release, which knows who is who, or the original itself; make the release "
            "again by sf.graphs.run_recipe."
        )
    if published.recipe.input["sha256"] != original.digest():
        raise InvalidParameterError("attack: original is not what the release was made of; give that network.")
    return as_graph(published.published, seed), true_matching(published)


def _check_arguments(knowledge: Sequence[str], targets: int, overlap: float, runs: int, plantings: int) -> None:
    for each in knowledge:
        require(
            bool(re.fullmatch(KNOWLEDGE_PATTERN, str(each))),
            "attack",
            "knowledge",
            f"each one of {KNOWLEDGE_NAMES}",
            each,
        )
    for name, value in (("targets", targets), ("plantings", plantings)):
        require(is_integer(value) and value >= 1, "attack", name, "a whole number of at least 1", value)
    require(is_integer(runs) and runs >= MIN_RUNS, "attack", "runs", f"at least {MIN_RUNS}", runs)
    require(is_finite_number(overlap) and 0 < overlap <= 1, "attack", "overlap", "above 0 and at most 1", overlap)


def _make_publisher(published: GraphRelease | Graph, seed: int) -> Publish:
    """Return how a network with planted persons is published: as the release was, or as it is."""

    def publish(planted: Graph) -> tuple[Graph, Integers]:
        if not isinstance(published, GraphRelease):
            return planted, np.arange(len(planted))
        release = run_recipe(published.recipe, planted)
        return as_graph(release.published, seed), true_matching(release)

    return publish
