# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every promise about sets, every search for them and every published form of them obeys.

`check_transaction_model(MyPromise())` and `check_transaction_algorithm(MySearch(), [MyPromise()])` run them all. Each
check works on small made-up baskets and raises `AssertionError` if its law is broken.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sfumato._randomness import KeyedRandom, secret_from_seed, seeded_generator
from sfumato._validation import is_integer
from sfumato.core.algorithm import Algorithm, Request
from sfumato.core.model import Model, Verdict
from sfumato.core.recipe import TypedRecipe
from sfumato.errors import InfeasibleError, UnsupportedModelError
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.testing._data_types import check_model_metadata, check_model_round_trip
from sfumato.transactions._pipeline import run_recipe
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.attacks import CHOICES, choose_known_items
from sfumato.transactions.metrics import compute_metrics
from sfumato.transactions.taxonomy import ItemTaxonomy
from sfumato.transactions.transactions import Transactions

AnyModel = Model[Any]
AnyAlgorithm = Algorithm[Any]
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
def draw_transactions(seed: int) -> Transactions:
    """Make up baskets of a few items, popular ones and rare ones, some with a sensitive item."""
    rng = seeded_generator(seed)
    chances = np.array([0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05])
    lists = []
    for _ in range(BASKETS):
        held = [LEAVES[at] for at in np.flatnonzero(rng.random(len(LEAVES)) < chances)] or ["tea"]
        lists.append([*held, SECRETS[int(rng.integers(2))]] if rng.random() < 0.5 else held)  # noqa: PLR2004 - half
    return Transactions(lists, sensitive=SECRETS)


def check_transaction_model(promise: AnyModel) -> None:
    """Run every check on one promise."""
    for check in MODEL_CHECKS:
        check(promise)


def check_transaction_algorithm(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """Run every check on one search, which must keep these promises."""
    for check in ALGORITHM_CHECKS:
        check(search, models)


def check_stricter_parameters_accept_less(promise: AnyModel) -> None:
    """What keeps a stricter promise keeps the promise; the level and the broken sets agree with the verdict."""
    for data in _protected_and_raw():
        verdict = promise.evaluate(data)
        assert verdict.holds == (promise.satisfies(verdict.level) and verdict.violations == 0)
        assert verdict.violations >= 0
        for stricter in _stricter_model(promise):
            assert verdict.holds or not stricter.evaluate(data).holds


def check_order_and_item_names_are_ignored(promise: AnyModel) -> None:
    """The same baskets in another order, or with other names of items, are judged alike."""
    for data in _protected_and_raw():
        verdict = _verdict_figures(promise.evaluate(data))
        turned = data.take(np.arange(len(data))[::-1])
        assert _verdict_figures(promise.evaluate(turned)) == verdict
        names = [f"{len(data.items) - at:04}" for at in range(len(data.items))]
        renamed = Transactions.from_codes(
            data.codes, data.offsets, names, within=data.within, is_sensitive=data.is_sensitive
        )
        assert _verdict_figures(promise.evaluate(renamed)) == verdict


def check_verdict_depends_on_published_data_only(promise: AnyModel) -> None:
    """What a search remembers of its making changes no verdict."""
    for data in _protected_and_raw():
        remembered = data.take(np.arange(len(data))).with_provenance(origin=np.zeros(len(data), dtype=np.int64))
        assert _verdict_figures(promise.evaluate(remembered)) == _verdict_figures(promise.evaluate(data))


def check_algorithm_metadata(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """A search states its name and its source, serves its promises, and shows no item."""
    assert search.name == search.name.lower().replace(" ", "-")
    assert search.reference
    assert all(isinstance(model, search.supports) for model in models)
    assert not any(leaf in repr(search) for leaf in LEAVES)


def check_published_data_satisfies_models(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """What a search finds keeps every promise, as published and as read back from its files."""
    for seed in SEEDS:
        found = _search_result(search, models, seed).ordered()
        assert all(model.evaluate(found).holds for model in models)
        with tempfile.TemporaryDirectory() as folder:
            found.write_files(Path(folder), "csv")
            assert {path.name for path in Path(folder).iterdir()} <= set(found.files)
            read = type(found).read_files(Path(folder))
            assert read == found
            assert read is not None
            assert all(model.evaluate(read).holds for model in models)


def check_same_secret_gives_same_release(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """The same baskets and the same secret give the same release; without random draws, any secret does."""
    for seed in SEEDS:
        first, again = (_search_result(search, models, seed) for _ in range(2))
        assert first == again
        if not search.uses_secret:
            assert _search_result(search, models, seed, secret=2).ordered() == first.ordered()


def check_recipe_round_trip(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """A recipe that was written and read again makes the same release."""
    secret = secret_from_seed(1) if search.uses_secret else None
    recipe = TypedRecipe(data_type="baskets", models=tuple(models), algorithm=search, secret=secret)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recipe.toml"
        path.write_text(recipe.to_toml(), encoding="utf-8")
        known = {model.name: type(model) for model in models}
        read = TypedRecipe.load(path, "baskets", known, {search.name: type(search)})
    assert read == recipe
    assert run_recipe(read, draw_transactions(0)).published == run_recipe(recipe, draw_transactions(0)).published


def check_items_cover_originals(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """Every published item stands for an item of its basket, and measures are shares or errors."""
    for seed in SEEDS:
        found, original = _search_result(search, models, seed), draw_transactions(seed)
        for name, value in compute_metrics(found, original).items():
            assert LEAST <= value <= (2 * MOST if name.startswith("re") else MOST), name
        if isinstance(found, Transactions):
            tree = found.tree or ItemTaxonomy.from_taxonomy(TREE)
            above = dict(zip(tree.names, tree.parents.tolist(), strict=True))
            assert found.origin is not None
            originals = original.to_lists()
            for row, items in zip(found.origin.tolist(), found.to_lists(), strict=True):
                covered = {name for leaf in originals[row] for name in _path(leaf, tree.names, above)}
                assert set(items) <= covered


def check_infeasible_requests_are_rejected(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """More baskets than there are cannot match, and a promise that a search does not serve is refused."""
    for parameter in ("k", "K"):
        wanted = [_with_parameter(model, parameter, NEVER) for model in models if parameter in model.parameters()]
        if wanted:
            try:
                _ = search.search(Request(data=draw_transactions(0), models=wanted))
            except InfeasibleError:
                continue
            raise AssertionError(f"{parameter} of {NEVER:,} was not refused")
    try:
        search.check([_UnknownModel()])
    except UnsupportedModelError:
        return
    raise AssertionError("a promise that the search does not serve was not refused")


def check_linkage_is_not_easier(search: AnyAlgorithm, models: Sequence[AnyModel]) -> None:
    """Nobody is easier to find by her items after the release than before."""
    for seed in SEEDS:
        found, original = _search_result(search, models, seed).ordered(), draw_transactions(seed)
        rows = np.arange(len(original))
        for choice in CHOICES:
            known = choose_known_items(original, rows, choice, 2, seed)
            after = found.match_counts(known)
            assert (after[original.match_counts(known) == 1] >= 1).all()
            for model in models:
                if model.name == "km-anonymity":
                    assert (after >= model.limit).all()


MODEL_CHECKS: tuple[Callable[[AnyModel], None], ...] = (
    check_model_metadata,
    check_model_round_trip,
    check_stricter_parameters_accept_less,
    check_order_and_item_names_are_ignored,
    check_verdict_depends_on_published_data_only,
)
ALGORITHM_CHECKS: tuple[Callable[[AnyAlgorithm, Sequence[AnyModel]], None], ...] = (
    check_algorithm_metadata,
    check_published_data_satisfies_models,
    check_same_secret_gives_same_release,
    check_recipe_round_trip,
    check_items_cover_originals,
    check_infeasible_requests_are_rejected,
    check_linkage_is_not_easier,
)


class _UnknownModel(Model[Any]):
    """A promise that no search knows."""

    name = "unknown"

    @property
    def limit(self) -> float:
        return 0.0

    def evaluate(self, published: Any) -> Verdict:
        return Verdict(self, float(published is not None))


def _search_result(
    search: AnyAlgorithm, models: Sequence[AnyModel], seed: int, secret: int = 1
) -> PublishedTransactions:
    stream = KeyedRandom(secret_from_seed(secret), "baskets")
    found: PublishedTransactions = search.search(Request(data=draw_transactions(seed), models=models, stream=stream))
    return found


def _protected_and_raw() -> Iterator[Transactions]:
    """Yield baskets from hardly protected to equal ones."""
    for seed in SEEDS:
        data = draw_transactions(seed)
        secret = int(data.rows[data.is_sensitive[data.codes]][0])
        yield data
        yield data.take(np.repeat(np.arange(secret, secret + 4), 5))
        yield data.take(np.full(6, secret))


def _stricter_model(promise: AnyModel) -> Iterator[AnyModel]:
    """Change every number a little to the stricter side."""
    for name, way in promise.stricter.items():
        value = promise.parameters().get(name)
        if value is None:
            continue
        if is_integer(value):
            yield _with_parameter(promise, name, value + 1 if way == "larger" else max(value - 1, 1))
        else:
            yield _with_parameter(promise, name, (value + 1) / 2 if way == "larger" else value / 2)


def _with_parameter(promise: AnyModel, name: str, value: float) -> AnyModel:
    settings: Any = promise
    changed: AnyModel = replace(settings, **{name: value})
    return changed


def _verdict_figures(verdict: Verdict) -> tuple[float, int]:
    return float(verdict.level), verdict.violations


def _path(leaf: str, names: Sequence[str], above: dict[str, int]) -> Iterator[str]:
    """Yield an item and everything above it."""
    name = leaf
    while True:
        yield name
        if above.get(name, -1) < 0:
            return
        name = names[above[name]]
