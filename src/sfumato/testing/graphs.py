# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every promise about networks and every search for them obeys.

`check_graph_model(MyPromise())` and `check_graph_algorithm(MySearch(), [MyPromise()])` run them all. Each check
works on small made-up networks and raises `AssertionError` if its law is broken.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato._randomness import KeyedRandom, secret_from_seed, seeded_generator
from sfumato._validation import is_integer
from sfumato.core.model import Model, Verdict
from sfumato.core.recipe import instantiate_choice
from sfumato.errors import InfeasibleError, UnsupportedModelError
from sfumato.graphs._catalogue import MODELS, read_recipe
from sfumato.graphs._edge_types import count_typed_edges
from sfumato.graphs._pipeline import anonymize, relabel_vertices, run_recipe
from sfumato.graphs._release import as_models
from sfumato.graphs.algorithms._base import GraphAlgorithm
from sfumato.graphs.clustered_graph import ClusteredGraph
from sfumato.graphs.graph import Graph
from sfumato.graphs.io import equal_published, read_published
from sfumato.graphs.models._base import GraphAnonymityModel, PublishedGraph
from sfumato.graphs.models.l_opacity import LOpacity
from sfumato.graphs.models.on_clusters import OnClusters
from sfumato.tables.models.base import GroupModel
from sfumato.testing._data_types import check_model_metadata

AnyGraphModel = Model[Any]
AnyModelOrTableModel = AnyGraphModel | GroupModel
SEEDS = range(3)
NODES, NEVER = 30, 10**6
EDGE_TYPES = ("home", "love", "work")


@lru_cache(maxsize=8)
def draw_graph(seed: int) -> Graph:
    """Make up a network of two groups, some of whose persons know nobody, with one or two of three kinds of edges."""
    rng = seeded_generator(seed)
    side = np.arange(NODES) % 2
    low, high = np.triu_indices(NODES - 2, 1)
    chosen = rng.random(len(low)) < np.where(side[low] == side[high], 0.2, 0.05)
    bare = Graph(keys=pa.array(np.arange(NODES)), edges=np.zeros((0, 2), dtype=np.int32))
    made = bare.with_edges(np.stack([low, high], axis=1)[chosen])
    kinds = pa.array(
        [sorted({*rng.choice(EDGE_TYPES, 2).tolist()}) for _ in range(made.n_edges)], pa.list_(pa.string())
    )
    return replace(made, edge_types=kinds)


def check_graph_model(promise: AnyGraphModel) -> None:
    """Run every check on one promise."""
    for check in MODEL_CHECKS:
        check(promise)


def check_graph_algorithm(search: GraphAlgorithm, models: Sequence[AnyModelOrTableModel]) -> None:
    """Run every check on one search, which must keep these promises."""
    for check in ALGORITHM_CHECKS:
        check(search, models)


def check_graph_model_round_trip(promise: AnyGraphModel) -> None:
    """A recipe holds all that a promise needs."""
    entry = {"name": promise.name, **promise.parameters()}
    (again,) = as_models([instantiate_choice(MODELS, entry, "model")])
    assert again == promise


def check_stricter_parameters_accept_less(promise: AnyGraphModel) -> None:
    """What keeps a stricter promise keeps the promise, and the level and what is broken agree with the verdict."""
    for data in _protected_and_raw(promise):
        verdict = promise.evaluate(data)
        assert verdict.holds == (promise.satisfies(verdict.level) and verdict.violations == 0)
        assert verdict.violations >= 0
        for stricter in _stricter_model(promise):
            assert verdict.holds or not stricter.evaluate(data).holds


def check_node_numbering_is_ignored(promise: AnyGraphModel) -> None:
    """The same network with other numbers of its persons is judged alike."""
    for seed, data in enumerate(_protected_and_raw(promise)):
        turned, _ = relabel_vertices(data, KeyedRandom(secret_from_seed(seed)))
        assert _verdict_figures(promise.evaluate(turned)) == _verdict_figures(promise.evaluate(data))


def check_algorithm_metadata(search: GraphAlgorithm, models: Sequence[AnyModelOrTableModel]) -> None:
    """A search states its name and its source, and serves its promises."""
    assert search.name == search.name.lower().replace(" ", "-")
    assert search.reference
    assert all(isinstance(model, search.supports) for model in as_models(models))


def check_published_data_satisfies_models(search: GraphAlgorithm, models: Sequence[AnyModelOrTableModel]) -> None:
    """What is published keeps every promise, as it stands and as it is read back from its files."""
    for seed in SEEDS:
        release = anonymize(draw_graph(seed), models=models, algorithm=search)
        with tempfile.TemporaryDirectory() as folder:
            release.write(Path(folder) / "out", report=False)
            read = read_published(Path(folder) / "out" / "public")
        assert equal_published(read, release.graph)
        if isinstance(read, Graph) and isinstance(release.graph, Graph):
            read = replace(read, alignment=release.graph.alignment)
        for found in (release.graph, read):
            assert all(model.evaluate(found).holds for model in as_models(models))


def check_recipe_round_trip(search: GraphAlgorithm, models: Sequence[AnyModelOrTableModel]) -> None:
    """A recipe that was written and read again makes the same release; another secret makes another."""
    first = anonymize(draw_graph(0), models=models, algorithm=search)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "recipe.toml").write_text(first.recipe.to_toml(), encoding="utf-8")
        again = run_recipe(read_recipe(Path(folder) / "recipe.toml"), draw_graph(0))
    assert equal_published(again.graph, first.graph)
    assert not equal_published(anonymize(draw_graph(0), models=models, algorithm=search).graph, first.graph)


def check_reported_changes(search: GraphAlgorithm, models: Sequence[AnyModelOrTableModel]) -> None:
    """The edges that were kept, added, removed or generalized are those of the networks."""
    for seed in SEEDS:
        original = draw_graph(seed)
        release = anonymize(original, models=models, algorithm=search)
        told = release.metrics
        if release.graph.edge_types is not None:
            assert told["relations-kept"] == _edges_by_type(release.graph)
            assert told["relations-kept"] + told["relations-removed"] == _edges_by_type(original)
        if isinstance(release.graph, ClusteredGraph):
            assert told["edges-generalized"] == release.graph.n_edges
            assert release.graph.edge_types is not None or release.graph.n_edges == original.n_edges
        else:
            assert told["edges-kept"] + told["edges-removed"] == original.n_edges
            assert told["edges-kept"] + told["edges-added"] == release.graph.n_edges


def check_infeasible_requests_are_rejected(search: GraphAlgorithm, models: Sequence[AnyModelOrTableModel]) -> None:
    """More persons than there are cannot look alike, and a promise that a search does not serve is refused."""
    for model in models:
        if "k" in model.parameters():
            try:
                anonymize(draw_graph(0), models=[_with_parameter(model, "k", NEVER)], algorithm=search)
            except InfeasibleError:
                continue
            raise AssertionError(f"k of {NEVER:,} was not refused")
    try:
        search.check([_UnknownModel()])
    except UnsupportedModelError:
        return
    raise AssertionError("a promise that the search does not serve was not refused")


MODEL_CHECKS: tuple[Callable[[AnyGraphModel], None], ...] = (
    check_model_metadata,
    check_graph_model_round_trip,
    check_stricter_parameters_accept_less,
    check_node_numbering_is_ignored,
)
ALGORITHM_CHECKS: tuple[Callable[[GraphAlgorithm, Sequence[AnyModelOrTableModel]], None], ...] = (
    check_algorithm_metadata,
    check_published_data_satisfies_models,
    check_recipe_round_trip,
    check_reported_changes,
    check_infeasible_requests_are_rejected,
)


class _UnknownModel(Model[Any]):
    """A promise that no search knows."""

    name = "unknown"

    @property
    def limit(self) -> float:
        return 0.0

    def evaluate(self, published: Any) -> Verdict:
        return Verdict(self, float(published is not None))


def _protected_and_raw(promise: AnyGraphModel) -> Iterator[PublishedGraph]:
    """Yield networks from hardly protected ones to one without any edge, or super-nodes of them."""
    for seed in SEEDS:
        network = draw_graph(seed)
        if not isinstance(promise, OnClusters):
            yield network
            yield replace(network, original_degrees=network.degrees)
            yield network.with_edges(np.array([[2 * at, 2 * at + 1] for at in range(NODES // 2)]))
            yield network.with_edges(np.zeros((0, 2), dtype=np.int32))
        if not isinstance(promise, GraphAnonymityModel | LOpacity):
            for nodes in (1, 4, 10):
                yield ClusteredGraph.from_clusters(network, np.arange(NODES) % nodes)
                yield count_typed_edges(network, np.arange(NODES) % nodes)


def _stricter_model(promise: AnyGraphModel) -> Iterator[AnyGraphModel]:
    """Change every number a little to the stricter side."""
    settings: Any = promise.model if isinstance(promise, OnClusters) else promise
    for name, way in promise.stricter.items():
        value: Any = promise.parameters().get(name)
        if is_integer(value):
            (changed,) = as_models(
                [_with_parameter(settings, name, value + 1 if way == "larger" else max(value - 1, 1))]
            )
            yield changed
        elif value is not None:
            (changed,) = as_models([_with_parameter(settings, name, (value + 1) / 2 if way == "larger" else value / 2)])
            yield changed


def _with_parameter(model: AnyModelOrTableModel, name: str, value: float) -> Any:
    settings: Any = model
    return replace(settings, **{name: value})


def _edges_by_type(published: PublishedGraph) -> int:
    """Count relations, one for each kind of an edge."""
    if isinstance(published, ClusteredGraph):
        return sum(int(rows[:, 2].sum()) for rows in (published.edge_types or {}).values())
    return len(pc.list_flatten(published.edge_types))


def _verdict_figures(verdict: Verdict) -> tuple[float, int]:
    return float(verdict.level), verdict.violations
