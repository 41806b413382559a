"""Tiny series in a short notation, and all their worlds: slow, obvious code that attacks are compared with."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np

from sfumato.tables.published.groups import Histogram
from sfumato.tables.series.attacks._base import AttributeSeries, SeriesSetting
from sfumato.tables.series.history import GroupedRelease, History

LETTERS = "uvwxyz"


def released(text: str, persons: str) -> GroupedRelease:
    """Read a release, for instance `abc:xyz de*:uvw` with a counterfeit."""
    groups = [part.split(":") for part in text.split()]
    members = np.full(len(persons), -1, dtype=np.int64)
    for number, (who, _) in enumerate(groups):
        for person in who.replace("*", ""):
            members[persons.index(person)] = number
    rows = [number for number, (_, values) in enumerate(groups) for _ in values]
    codes = [LETTERS.index(value) for _, values in groups for value in values]
    once = np.ones(len(rows), dtype=np.int64)
    histogram = Histogram.from_entries(np.array(rows), np.array(codes), once, groups=len(groups), width=len(LETTERS))
    return GroupedRelease(members, histogram, np.array([who.count("*") for who, _ in groups], dtype=np.int64))


def series_of(*releases: str, truth: str = "") -> AttributeSeries:
    """Read a series of persons a, b, ...; their true values stand in their order."""
    persons = "".join(
        sorted({letter for text in releases for part in text.split() for letter in part.split(":")[0]} - {"*"})
    )
    values = np.array([LETTERS.index(value) for value in truth or LETTERS[0] * len(persons)], dtype=np.int64)
    history = History("ill", len(persons), tuple(released(text, persons) for text in releases))
    return AttributeSeries(history, values)


def setting_of(one: AttributeSeries) -> SeriesSetting:
    """Attack everybody."""
    return SeriesSetting({"ill": one}, targets=one.history.persons, seed=0)


def worlds(one: AttributeSeries) -> Iterator[tuple[int, ...]]:
    """Yield all ways to give every person a value that fit all groups."""
    groups = []
    for each in one.releases:
        histogram = each.histogram
        for number in range(len(histogram.offsets) - 1):
            part = slice(histogram.offsets[number], histogram.offsets[number + 1])
            counts = dict(zip(histogram.codes[part].tolist(), histogram.counts[part].tolist(), strict=True))
            groups.append((np.flatnonzero(each.members == number).tolist(), counts))
    shown = sorted({value for _, counts in groups for value in counts})
    for world in itertools.product(shown, repeat=one.history.persons):
        given = [Counter(world[person] for person in who) for who, _ in groups]
        if all(
            all(count <= counts.get(value, 0) for value, count in found.items())
            for found, (_, counts) in zip(given, groups, strict=True)
        ):
            yield world


def random_series(rng: np.random.Generator, persons: int, releases: int, values: int) -> AttributeSeries:
    """Group a few persons anew in every release; some are away."""
    truth = rng.integers(0, values, persons)
    found = []
    for _ in range(releases):
        here = rng.permutation(persons)[: rng.integers(2, persons + 1)]
        number = np.sort(rng.integers(0, max(len(here) // 2, 1), len(here)))
        number = np.unique(number, return_inverse=True)[1].ravel()
        members = np.full(persons, -1, dtype=np.int64)
        members[here] = number
        groups, once = int(number.max()) + 1, np.ones(len(here), dtype=np.int64)
        histogram = Histogram.from_entries(number, truth[here], once, groups=groups, width=len(LETTERS))
        found.append(GroupedRelease(members, histogram, np.zeros(groups, dtype=np.int64)))
    return AttributeSeries(History("ill", persons, tuple(found)), truth)
