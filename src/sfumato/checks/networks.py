# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every promise about networks and every search for them obeys.

`check_network_promise(MyPromise())` and `check_network_search(MySearch(), [MyPromise()])` run them all. Each check
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

from sfumato.checks.kinds import check_promise_states_its_facts
from sfumato.exceptions import InfeasibleError, UnsupportedModelError
from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.models.base import PrivacyModel
from sfumato.networks.anonymizing import anonymize, carry_out, renumbered
from sfumato.networks.auditing import promises
from sfumato.networks.catalogue import MODELS, read_recipe
from sfumato.networks.clustered import ClusteredNetwork
from sfumato.networks.files import read_published, same
from sfumato.networks.network import Network
from sfumato.networks.promise import GraphPromise, Published
from sfumato.networks.promises.l_opacity import LOpacity
from sfumato.networks.promises.persons_keep import PersonsKeep
from sfumato.networks.relations import clustered_relations
from sfumato.networks.search import NetworkSearch
from sfumato.randomness import Stream, generator, repeatable_secret
from sfumato.recipe import choice_of
from sfumato.validation import is_whole

Promise = KindPromise[Any]
Model = Promise | PrivacyModel
SEEDS = range(3)
PERSONS, NEVER = 30, 10**6
KINDS = ("home", "love", "work")


@lru_cache(maxsize=8)
def sample(seed: int) -> Network:
    """Make up a network of two groups, some of whose persons know nobody, with one or two of three kinds of edges."""
    rng = generator(seed)
    side = np.arange(PERSONS) % 2
    low, high = np.triu_indices(PERSONS - 2, 1)
    chosen = rng.random(len(low)) < np.where(side[low] == side[high], 0.2, 0.05)
    bare = Network(keys=pa.array(np.arange(PERSONS)), edges=np.zeros((0, 2), dtype=np.int32))
    made = bare.with_edges(np.stack([low, high], axis=1)[chosen])
    kinds = pa.array([sorted({*rng.choice(KINDS, 2).tolist()}) for _ in range(made.size)], pa.list_(pa.string()))
    return replace(made, kinds=kinds)


def check_network_promise(promise: Promise) -> None:
    """Run every check on one promise."""
    for check in PROMISE_CHECKS:
        check(promise)


def check_network_search(search: NetworkSearch, models: Sequence[Model]) -> None:
    """Run every check on one search, which must keep these promises."""
    for check in SEARCH_CHECKS:
        check(search, models)


def check_promise_is_made_again_from_its_parameters(promise: Promise) -> None:
    """A recipe holds all that a promise needs."""
    entry = {"name": promise.name, **promise.parameters()}
    (again,) = promises([choice_of(MODELS, entry, "model")])
    assert again == promise


def check_stricter_promises_keep_fewer_networks(promise: Promise) -> None:
    """What keeps a stricter promise keeps the promise, and the level and what is broken agree with the verdict."""
    for data in _judged_data(promise):
        verdict = promise.judge(data)
        assert verdict.holds == (promise.kept_at(verdict.level) and verdict.broken == 0)
        assert verdict.broken >= 0
        for stricter in _stricter(promise):
            assert verdict.holds or not stricter.judge(data).holds


def check_numbers_of_persons_tell_nothing(promise: Promise) -> None:
    """The same network with other numbers of its persons is judged alike."""
    for seed, data in enumerate(_judged_data(promise)):
        turned, _ = renumbered(data, Stream(repeatable_secret(seed)))
        assert _figures(promise.judge(turned)) == _figures(promise.judge(data))


def check_search_states_its_facts(search: NetworkSearch, models: Sequence[Model]) -> None:
    """A search states its name and its source, and serves its promises."""
    assert search.name == search.name.lower().replace(" ", "-")
    assert search.reference
    assert all(isinstance(model, search.serves) for model in promises(models))


def check_search_keeps_its_promise(search: NetworkSearch, models: Sequence[Model]) -> None:
    """What is published keeps every promise, as it stands and as it is read back from its files."""
    for seed in SEEDS:
        release = anonymize(sample(seed), models=models, algorithm=search)
        with tempfile.TemporaryDirectory() as folder:
            release.write(Path(folder) / "out", report=False)
            read = read_published(Path(folder) / "out" / "public")
        assert same(read, release.network)
        if isinstance(read, Network) and isinstance(release.network, Network):
            read = replace(read, alignment=release.network.alignment)
        for found in (release.network, read):
            assert all(model.judge(found).holds for model in promises(models))


def check_search_is_made_again_from_its_recipe(search: NetworkSearch, models: Sequence[Model]) -> None:
    """A recipe that was written and read again makes the same release; another secret makes another."""
    first = anonymize(sample(0), models=models, algorithm=search)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "recipe.toml").write_text(first.recipe.to_toml(), encoding="utf-8")
        again = carry_out(read_recipe(Path(folder) / "recipe.toml"), sample(0))
    assert same(again.network, first.network)
    assert not same(anonymize(sample(0), models=models, algorithm=search).network, first.network)


def check_search_says_what_it_changed(search: NetworkSearch, models: Sequence[Model]) -> None:
    """The edges that were kept, added, removed or generalized are those of the networks."""
    for seed in SEEDS:
        original = sample(seed)
        release = anonymize(original, models=models, algorithm=search)
        told = release.measures
        if release.network.kinds is not None:
            assert told["relations-kept"] == _relations(release.network)
            assert told["relations-kept"] + told["relations-removed"] == _relations(original)
        if isinstance(release.network, ClusteredNetwork):
            assert told["edges-generalized"] == release.network.size
            assert release.network.kinds is not None or release.network.size == original.size
        else:
            assert told["edges-kept"] + told["edges-removed"] == original.size
            assert told["edges-kept"] + told["edges-added"] == release.network.size


def check_search_refuses_what_nobody_can_keep(search: NetworkSearch, models: Sequence[Model]) -> None:
    """More persons than there are cannot look alike, and a promise that a search does not serve is refused."""
    for model in models:
        if "k" in model.parameters():
            try:
                anonymize(sample(0), models=[_changed(model, "k", NEVER)], algorithm=search)
            except InfeasibleError:
                continue
            raise AssertionError(f"k of {NEVER:,} was not refused")
    try:
        search.check([_Unknown()])
    except UnsupportedModelError:
        return
    raise AssertionError("a promise that the search does not serve was not refused")


PROMISE_CHECKS: tuple[Callable[[Promise], None], ...] = (
    check_promise_states_its_facts,
    check_promise_is_made_again_from_its_parameters,
    check_stricter_promises_keep_fewer_networks,
    check_numbers_of_persons_tell_nothing,
)
SEARCH_CHECKS: tuple[Callable[[NetworkSearch, Sequence[Model]], None], ...] = (
    check_search_states_its_facts,
    check_search_keeps_its_promise,
    check_search_is_made_again_from_its_recipe,
    check_search_says_what_it_changed,
    check_search_refuses_what_nobody_can_keep,
)


class _Unknown(KindPromise[Any]):
    """A promise that no search knows."""

    name = "unknown"

    @property
    def limit(self) -> float:
        return 0.0

    def judge(self, published: Any) -> KindVerdict:
        return KindVerdict(self, float(published is not None))


def _judged_data(promise: Promise) -> Iterator[Published]:
    """Yield networks from hardly protected ones to one without any edge, or super-nodes of them."""
    for seed in SEEDS:
        network = sample(seed)
        if not isinstance(promise, PersonsKeep):
            yield network
            yield replace(network, original_degrees=network.degrees)
            yield network.with_edges(np.array([[2 * at, 2 * at + 1] for at in range(PERSONS // 2)]))
            yield network.with_edges(np.zeros((0, 2), dtype=np.int32))
        if not isinstance(promise, GraphPromise | LOpacity):
            for nodes in (1, 4, 10):
                yield ClusteredNetwork.of(network, np.arange(PERSONS) % nodes)
                yield clustered_relations(network, np.arange(PERSONS) % nodes)


def _stricter(promise: Promise) -> Iterator[Promise]:
    """Change every number a little to the stricter side."""
    settings: Any = promise.model if isinstance(promise, PersonsKeep) else promise
    for name, way in promise.stricter.items():
        value: Any = promise.parameters().get(name)
        if is_whole(value):
            (changed,) = promises([_changed(settings, name, value + 1 if way == "larger" else max(value - 1, 1))])
            yield changed
        elif value is not None:
            (changed,) = promises([_changed(settings, name, (value + 1) / 2 if way == "larger" else value / 2)])
            yield changed


def _changed(model: Model, name: str, value: float) -> Any:
    settings: Any = model
    return replace(settings, **{name: value})


def _relations(published: Published) -> int:
    """Count relations, one for each kind of an edge."""
    if isinstance(published, ClusteredNetwork):
        return sum(int(rows[:, 2].sum()) for rows in (published.kinds or {}).values())
    return len(pc.list_flatten(published.kinds))


def _figures(verdict: KindVerdict) -> tuple[float, int]:
    return float(verdict.level), verdict.broken
