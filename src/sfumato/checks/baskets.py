# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every promise about sets, every search for them and every published form of them obeys.

`check_basket_promise(MyPromise())` and `check_basket_search(MySearch(), [MyPromise()])` run them all. Each check works
on small made-up baskets and raises `AssertionError` if its law is broken.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.baskets.anonymizing import carry_out
from sfumato.baskets.attacking import CHOICES, known_items
from sfumato.baskets.baskets import Baskets
from sfumato.baskets.item_tree import ItemTree
from sfumato.baskets.measuring import measures_of
from sfumato.baskets.published import PublishedSets
from sfumato.checks.kinds import check_promise_is_made_again_from_its_parameters, check_promise_states_its_facts
from sfumato.exceptions import InfeasibleError, UnsupportedModelError
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.kinds.promise import KindPromise, KindVerdict
from sfumato.kinds.recipe import KindRecipe
from sfumato.kinds.search import KindRequest, KindSearch
from sfumato.randomness import Stream, generator, repeatable_secret
from sfumato.validation import is_whole

Promise = KindPromise[Any]
Search = KindSearch[Any]
SEEDS = range(3)
SHOP = {
    "drinks": {"hot": ["tea", "mocha"], "cold": ["cola", "beer"]},
    "food": {"sweet": ["cake", "jam"], "fat": ["ham"]},
}
SECRETS = ("flu", "pox")
TREE = Taxonomy({**SHOP, "ills": list(SECRETS)})
LEAVES = ("tea", "mocha", "cola", "beer", "cake", "jam", "ham")
BASKETS = 40
NEVER = 10**6  # more baskets than there are
LEAST, MOST = 0.0, 1.0


@lru_cache(maxsize=8)
def sample(seed: int) -> Baskets:
    """Make up baskets of a few items, popular ones and rare ones, some with a sensitive item."""
    rng = generator(seed)
    chances = np.array([0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05])
    lists = []
    for _ in range(BASKETS):
        held = [LEAVES[at] for at in np.flatnonzero(rng.random(len(LEAVES)) < chances)] or ["tea"]
        lists.append([*held, SECRETS[int(rng.integers(2))]] if rng.random() < 0.5 else held)  # noqa: PLR2004 - half
    return Baskets(lists, sensitive=SECRETS)


def check_basket_promise(promise: Promise) -> None:
    """Run every check on one promise."""
    for check in PROMISE_CHECKS:
        check(promise)


def check_basket_search(search: Search, models: Sequence[Promise]) -> None:
    """Run every check on one search, which must keep these promises."""
    for check in SEARCH_CHECKS:
        check(search, models)


def check_stricter_promises_keep_fewer_files(promise: Promise) -> None:
    """What keeps a stricter promise keeps the promise; the level and the broken sets agree with the verdict."""
    for data in _judged_data():
        verdict = promise.judge(data)
        assert verdict.holds == (promise.kept_at(verdict.level) and verdict.broken == 0)
        assert verdict.broken >= 0
        for stricter in _stricter(promise):
            assert verdict.holds or not stricter.judge(data).holds


def check_order_of_baskets_tells_nothing(promise: Promise) -> None:
    """The same baskets in another order, or with other names of items, are judged alike."""
    for data in _judged_data():
        verdict = _figures(promise.judge(data))
        turned = data.take(np.arange(len(data))[::-1])
        assert _figures(promise.judge(turned)) == verdict
        names = [f"{len(data.items) - at:04}" for at in range(len(data.items))]
        renamed = Baskets.of_codes(data.codes, data.offsets, names, within=data.within, is_sensitive=data.is_sensitive)
        assert _figures(promise.judge(renamed)) == verdict


def check_only_what_is_published_is_judged(promise: Promise) -> None:
    """What a search remembers of its making changes no verdict."""
    for data in _judged_data():
        remembered = data.take(np.arange(len(data))).known(origin=np.zeros(len(data), dtype=np.int64))
        assert _figures(promise.judge(remembered)) == _figures(promise.judge(data))


def check_search_states_its_facts(search: Search, models: Sequence[Promise]) -> None:
    """A search states its name and its source, serves its promises, and shows no item."""
    assert search.name == search.name.lower().replace(" ", "-")
    assert search.reference
    assert all(isinstance(model, search.serves) for model in models)
    assert not any(leaf in repr(search) for leaf in LEAVES)


def check_search_keeps_its_promise(search: Search, models: Sequence[Promise]) -> None:
    """What a search finds keeps every promise, as published and as read back from its files."""
    for seed in SEEDS:
        found = _found(search, models, seed).ordered()
        assert all(model.judge(found).holds for model in models)
        with tempfile.TemporaryDirectory() as folder:
            found.write_files(Path(folder), "csv")
            assert {path.name for path in Path(folder).iterdir()} <= set(found.files)
            read = type(found).read_files(Path(folder))
            assert read == found
            assert read is not None
            assert all(model.judge(read).holds for model in models)


def check_search_repeats_itself(search: Search, models: Sequence[Promise]) -> None:
    """The same baskets and the same secret give the same release; without random draws, any secret does."""
    for seed in SEEDS:
        first, again = (_found(search, models, seed) for _ in range(2))
        assert first == again
        if not search.draws:
            assert _found(search, models, seed, secret=2).ordered() == first.ordered()


def check_search_is_made_again_from_its_recipe(search: Search, models: Sequence[Promise]) -> None:
    """A recipe that was written and read again makes the same release."""
    secret = repeatable_secret(1) if search.draws else None
    recipe = KindRecipe(kind="baskets", models=tuple(models), algorithm=search, secret=secret)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recipe.toml"
        path.write_text(recipe.to_toml(), encoding="utf-8")
        known = {model.name: type(model) for model in models}
        read = KindRecipe.read(path, "baskets", known, {search.name: type(search)})
    assert read == recipe
    assert carry_out(read, sample(0)).published == carry_out(recipe, sample(0)).published


def check_search_tells_the_truth(search: Search, models: Sequence[Promise]) -> None:
    """Every published item stands for an item of its basket, and measures are shares or errors."""
    for seed in SEEDS:
        found, original = _found(search, models, seed), sample(seed)
        for name, value in measures_of(found, original).items():
            assert LEAST <= value <= (2 * MOST if name.startswith("re") else MOST), name
        if isinstance(found, Baskets):
            tree = found.tree or ItemTree.of(TREE)
            above = dict(zip(tree.names, tree.parents.tolist(), strict=True))
            assert found.origin is not None
            originals = original.to_lists()
            for row, items in zip(found.origin.tolist(), found.to_lists(), strict=True):
                covered = {name for leaf in originals[row] for name in _path(leaf, tree.names, above)}
                assert set(items) <= covered


def check_search_refuses_what_nobody_can_keep(search: Search, models: Sequence[Promise]) -> None:
    """More baskets than there are cannot match, and a promise that a search does not serve is refused."""
    for parameter in ("k", "K"):
        wanted = [_changed(model, parameter, NEVER) for model in models if parameter in model.parameters()]
        if wanted:
            try:
                _ = search.find(KindRequest(data=sample(0), models=wanted))
            except InfeasibleError:
                continue
            raise AssertionError(f"{parameter} of {NEVER:,} was not refused")
    try:
        search.check([_Unknown()])
    except UnsupportedModelError:
        return
    raise AssertionError("a promise that the search does not serve was not refused")


def check_known_items_find_no_fewer(search: Search, models: Sequence[Promise]) -> None:
    """Nobody is easier to find by her items after the release than before."""
    for seed in SEEDS:
        found, original = _found(search, models, seed).ordered(), sample(seed)
        rows = np.arange(len(original))
        for choice in CHOICES:
            known = known_items(original, rows, choice, 2, seed)
            after = found.matches(known)
            assert (after[original.matches(known) == 1] >= 1).all()
            for model in models:
                if model.name == "km-anonymity":
                    assert (after >= model.limit).all()


PROMISE_CHECKS: tuple[Callable[[Promise], None], ...] = (
    check_promise_states_its_facts,
    check_promise_is_made_again_from_its_parameters,
    check_stricter_promises_keep_fewer_files,
    check_order_of_baskets_tells_nothing,
    check_only_what_is_published_is_judged,
)
SEARCH_CHECKS: tuple[Callable[[Search, Sequence[Promise]], None], ...] = (
    check_search_states_its_facts,
    check_search_keeps_its_promise,
    check_search_repeats_itself,
    check_search_is_made_again_from_its_recipe,
    check_search_tells_the_truth,
    check_search_refuses_what_nobody_can_keep,
    check_known_items_find_no_fewer,
)


class _Unknown(KindPromise[Any]):
    """A promise that no search knows."""

    name = "unknown"

    @property
    def limit(self) -> float:
        return 0.0

    def judge(self, published: Any) -> KindVerdict:
        return KindVerdict(self, float(published is not None))


def _found(search: Search, models: Sequence[Promise], seed: int, secret: int = 1) -> PublishedSets:
    stream = Stream(repeatable_secret(secret), "baskets")
    found: PublishedSets = search.find(KindRequest(data=sample(seed), models=models, stream=stream))
    return found


def _judged_data() -> Iterator[Baskets]:
    """Yield baskets from hardly protected to equal ones."""
    for seed in SEEDS:
        data = sample(seed)
        secret = int(data.rows[data.is_sensitive[data.codes]][0])
        yield data
        yield data.take(np.repeat(np.arange(secret, secret + 4), 5))
        yield data.take(np.full(6, secret))


def _stricter(promise: Promise) -> Iterator[Promise]:
    """Change every number a little to the stricter side."""
    for name, way in promise.stricter.items():
        value = promise.parameters().get(name)
        if value is None:
            continue
        if is_whole(value):
            yield _changed(promise, name, value + 1 if way == "larger" else max(value - 1, 1))
        else:
            yield _changed(promise, name, (value + 1) / 2 if way == "larger" else value / 2)


def _changed(promise: Promise, name: str, value: float) -> Promise:
    settings: Any = promise
    changed: Promise = replace(settings, **{name: value})
    return changed


def _figures(verdict: KindVerdict) -> tuple[float, int]:
    return float(verdict.level), verdict.broken


def _path(leaf: str, names: Sequence[str], above: dict[str, int]) -> Iterator[str]:
    """Yield an item and everything above it."""
    name = leaf
    while True:
        yield name
        if above.get(name, -1) < 0:
            return
        name = names[above[name]]
