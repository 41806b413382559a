"""Values that change: each release alone, and paths of changes that can happen."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from series_oracle import written
from sfumato.tables.series._worlds.system import InconsistentSeriesError
from sfumato.tables.series._worlds.transitions import per_release_probabilities, refine_path_bounds
from sfumato.tables.series.history import History

STAY = np.eye(2, dtype=np.bool_)
FREE = np.ones((2, 2), dtype=np.bool_)
ONE_WAY = np.array([[True, True], [False, True]])


def exposures(history: History, relation: np.ndarray) -> list[float]:
    """Count all paths of all persons that fit all groups, and return everybody's largest share."""
    places = [
        [
            (number, int(each.members[person]))
            for number, each in enumerate(history.releases)
            if each.members[person] >= 0
        ]
        for person in range(history.persons)
    ]
    ways = [
        [
            path
            for path in product(range(history.width), repeat=len(mine))
            if all(
                np.linalg.matrix_power(relation.astype(int), after[0] - before[0])[a, b]
                for before, after, a, b in zip(mine, mine[1:], path, path[1:], strict=False)
            )
        ]
        for mine in places
    ]
    shown = {}
    for number, each in enumerate(history.releases):
        for group in range(each.groups):
            part = each.histogram.take(np.array([group]))
            shown[number, group] = sorted(np.repeat(part.codes, part.counts).tolist())
    worlds = [
        world
        for world in product(*ways)
        if all(
            sorted(path[mine.index(cell)] for path, mine in zip(world, places, strict=True) if cell in mine) == values
            for cell, values in shown.items()
        )
    ]
    return [
        max(
            sum(world[person][at] == value for world in worlds) / len(worlds)
            for at in range(len(places[person]))
            for value in range(history.width)
        )
        for person in range(history.persons)
    ]


def test_a_release_alone_gives_the_share_of_the_most_frequent_value():
    found = per_release_probabilities(written("abc:xxy", "ab:xy cd:xx"))
    assert found.top.tolist() == [pytest.approx(2 / 3), pytest.approx(2 / 3), 1.0, 1.0]
    assert found.candidates.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("relation", [STAY, FREE, ONE_WAY], ids=["stay", "free", "one way"])
@pytest.mark.parametrize(
    "series",
    [
        ["ab:xy cd:xy", "ac:xy bd:xy"],
        ["abc:xxy", "ab:yy c:x"],
        ["abc:xxy", "c:x", "ab:xy"],
        ["ab:xy", "cd:xy", "bc:xy"],
    ],
    ids=" | ".join,
)
def test_tiny_series_are_counted_exactly(series, relation):
    history = written(*series)
    try:
        expected = exposures(history, relation)
    except ZeroDivisionError:
        with pytest.raises(InconsistentSeriesError):
            refine_path_bounds(history, relation)
        return
    found = refine_path_bounds(history, relation)
    assert found.sure.all()
    assert found.top == pytest.approx(expected)


def test_what_is_too_large_is_an_outer_result():
    history = written("abc:xxy", "abe:xyy")
    found = refine_path_bounds(history, ONE_WAY, states=0)
    assert not found.sure.any()
    assert (found.top <= np.array(exposures(history, ONE_WAY)) + 1e-9).all()
    assert not refine_path_bounds(history, ONE_WAY, exact_up_to=1).sure.any()


def test_a_change_that_cannot_happen_is_refused():
    with pytest.raises(InconsistentSeriesError):
        refine_path_bounds(written("a:y", "a:x"), ONE_WAY)


def test_too_many_paths_are_not_counted():
    everything = np.ones((8, 8), dtype=np.bool_)
    found = refine_path_bounds(written(*["abcdefgh:qrstuvwx"] * 3), everything)
    assert not found.sure.any()
    assert (found.top == 1 / 8).all()
