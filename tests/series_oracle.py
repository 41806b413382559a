"""All worlds of a tiny series, by backtracking over persons: slow and obvious."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from sfumato.tables.series.history import GroupedRelease, History

GOLDEN = {
    "intersection": ["abc:xyz def:uvw", "ade:xuv bcf:yzw"],
    "difference in": ["abc:xyz", "abcd:xxyz"],
    "difference out": ["abc:xyz", "ab:xy"],
    "nested": ["abc:wwz", "bc:wz"],
    "equivalence": ["ab:xy cd:xy", "ac:xy bd:xy"],
    "gap": ["acd:wwx bef:wwx", "def:wwx abc:wwx", "bdf:wwx ace:wwx"],
    "product": ["be:wx acd:wxx", "abc:wxx de:wx", "ad:wx"],
    "far": ["dgh:wwx acef:wxxx", "bcg:wxx adefh:wwxxx"],
    "twice": ["abc:xxy", "abc:xxy"],
    "overlap, groups known": ["bc:xz ef:xz ad:xy", "bf:xz ce:xz ad:xy"],
    "absence": ["ab:xy", "a:xy"],
}


def written(*releases: str) -> History:
    """Read a series as `ab:xy` for the group {a, b} that shows {x, y}; values beyond the members are counterfeits."""
    told = [[group.split(":") for group in release.split()] for release in releases]
    persons = sorted({person for release in told for members, _ in release for person in members})
    values = sorted({value for release in told for _, shown in release for value in shown})
    made = []
    for release in told:
        members = np.full(len(persons), -1)
        for number, (inside, _) in enumerate(release):
            members[[persons.index(person) for person in inside]] = number
        rows = [(number, values.index(value)) for number, (_, shown) in enumerate(release) for value in shown]
        group, codes = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        made.append(GroupedRelease.from_rows(members, group, codes, groups=len(release), width=len(values)))
    return History("s", len(persons), tuple(made))


def all_worlds(history: History) -> list[tuple[tuple[int, ...], int]]:
    """List all worlds: the value of every person (-1 if she was never in a group), and the ways of the counterfeits."""
    groups = [
        [Counter(dict(zip(codes, counts, strict=True))) for codes, counts in _shown(release)]
        for release in history.releases
    ]
    found: list[tuple[tuple[int, ...], int]] = []

    def place(person: int, values: tuple[int, ...]) -> None:
        if person == history.persons:
            found.append((values, _ways(groups)))
            return
        mine = [
            groups[number][release.members[person]]
            for number, release in enumerate(history.releases)
            if release.members[person] >= 0
        ]
        for value in range(history.width) if mine else [-1]:
            if all(left[value] > 0 for left in mine):
                for left in mine:
                    left[value] -= 1
                place(person + 1, (*values, value))
                for left in mine:
                    left[value] += 1

    place(0, ())
    return found


def _shown(release: GroupedRelease) -> list[tuple[list[int], list[int]]]:
    h = release.histogram
    return [
        (h.codes[begin:end].tolist(), h.counts[begin:end].tolist())
        for begin, end in zip(h.offsets[:-1], h.offsets[1:], strict=True)
    ]


def _ways(groups: list[list[Counter[int]]]) -> int:
    """Count the orders in which what is left of every group belongs to its counterfeits."""
    ways = 1
    for left in (left for release in groups for left in release):
        placed = 0
        for many in left.values():
            for already in range(1, many + 1):
                placed += 1
                ways = ways * placed // already
    return ways


def chances(history: History) -> list[dict[int, Fraction]]:
    """Return everybody's values with the share of the worlds that give it; nothing for who was in no group."""
    worlds = all_worlds(history)
    total = sum(ways for _, ways in worlds)
    found: list[dict[int, Fraction]] = [{} for _ in range(history.persons)]
    for values, ways in worlds:
        for person, value in enumerate(values):
            if value >= 0:
                found[person][value] = found[person].get(value, Fraction(0)) + Fraction(ways, total)
    return found


def equal_pairs(history: History) -> set[tuple[int, int]]:
    """Return the pairs of persons who have the same value in every world, without those whose value is known."""
    worlds = [values for values, _ in all_worlds(history)]
    told = [i for i, each in enumerate(chances(history)) if len(each) > 1]
    return {(i, j) for i in told for j in told if i < j and all(world[i] == world[j] for world in worlds)}


def drawn_history(seed: int, persons: int = 8, releases: int = 3, values: int = 3) -> History:
    """Draw a tiny series: true values, comings and goings, random groups, now and then a counterfeit."""
    rng = np.random.default_rng(seed)
    persons, releases = int(rng.integers(1, persons + 1)), int(rng.integers(1, releases + 1))
    truth = rng.integers(0, values, persons)
    made = []
    for _ in range(releases):
        members = rng.integers(-1, max(1, persons // 2), persons)
        names, members = np.unique(np.append(-1, members), return_inverse=True)
        members = members[1:] - 1
        inside = np.flatnonzero(members >= 0)
        fakes = rng.integers(0, len(names) - 1, rng.integers(0, 3)) if len(names) > 1 else np.zeros(0, dtype=np.int64)
        group = np.concatenate([members[inside], fakes])
        codes = np.concatenate([truth[inside], rng.integers(0, values, len(fakes))])
        made.append(GroupedRelease.from_rows(members, group, codes, groups=len(names) - 1, width=values))
    return History("s", persons, tuple(made), truth=np.tile(truth, (releases, 1)))
