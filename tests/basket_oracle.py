"""Slow, obvious answers about baskets, taken from the definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations

from hypothesis import strategies as st

ABOVE = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "*", "B": "*"}
LEAVES = ("a1", "a2", "b1", "b2")


def sets_of(basket: Iterable[str], most: int) -> Iterable[frozenset[str]]:
    held = sorted(set(basket))
    return map(frozenset, chain.from_iterable(combinations(held, size) for size in range(1, most + 1)))


def stands_for(item: str, above: Mapping[str, str]) -> set[str]:
    """Return an item, and everything that stands for it."""
    return {item} | (stands_for(above[item], above) if item in above else set())


def matches(published: Sequence[Iterable[str]], known: Iterable[str], above: Mapping[str, str]) -> int:
    """Count how many baskets cover all known items; what was removed everywhere is covered by all."""
    shown = set(chain.from_iterable(published))
    asked = [stands_for(item, above) for item in known if stands_for(item, above) & shown]
    return sum(all(cover & set(basket) for cover in asked) for basket in published)


def rare_sets(published: Sequence[Iterable[str]], k: int, m: int, above: Mapping[str, str]) -> tuple[int, int]:
    """Return the audit's level and number of rare sets, from all sets of at most m published items that occur."""
    occurring = set(chain.from_iterable(sets_of(basket, m) for basket in published))
    counts = [sum(all(stands_for(n, above) & set(b) for n in each) for b in published) for each in occurring]
    return min(counts), sum(count < k for count in counts)


def true_level(
    original: Sequence[Iterable[str]], published: Sequence[Iterable[str]], m: int, above: Mapping[str, str]
) -> int:
    """Return the fewest baskets that match what an adversary may truly know: the definition itself, over leaves."""
    known = set(chain.from_iterable(sets_of(basket, m) for basket in original))
    return min(matches(published, each, above) for each in known)


def baskets_of(items: Sequence[str] = LEAVES, most: int = 12) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(st.sampled_from(items), min_size=1, max_size=4, unique=True), min_size=1, max_size=most)
