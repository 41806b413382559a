"""Who was together with whom, and whose cell may be shown: compared with all worlds of tiny series."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from series_oracle import chances, written
from sfumato.tables.series._ledger import version
from sfumato.tables.series._ledger.version import EarlierDisclosure, release_of_cells
from sfumato.tables.series._prior_disclosure import CoMembers, Signatures
from sfumato.tables.series.history import GroupedRelease, History


def with_shown(history: History) -> History:
    """Take every group of one member and one value for a cell that is shown."""
    releases = tuple(replace(each, shown=each.histogram.sizes == 1) for each in history.releases)
    return replace(history, releases=releases)


@pytest.mark.parametrize(
    ("releases", "companies"),
    [
        (["abc:xyz"], [0, 0, 0]),
        (["abc:xyz", "abc:xyz"], [0, 0, 0]),
        (["abc:xyz", "ab:xyz"], [0, 0, 0]),  # who was away is still of their company
        (["abc:xyz", "abd:xyz"], [1, 1, 0, 1]),  # d joined, so a and b have another one than c
        (["ab:xy cd:xy", "ac:xy bd:xy"], [0, 1, 0, 1]),
        (["abc:xyz", "ab:xy"], [0, 1, 2]),  # other values than before: everybody is alone
        (["abcd:xxyy"], [0, 1, 2, 3]),  # a value twice
        (["abc:xyz d:x"], [0, 0, 0, -1]),  # a cell that is shown has no company
    ],
)
def test_companies_are_those_who_were_in_one_group_that_showed_their_values(releases, companies):
    found = EarlierDisclosure(with_shown(written(*releases))).co_members
    assert (found == -1).tolist() == [each == -1 for each in companies]
    same = found[:, None] == found[None, :]
    assert np.array_equal(same, np.equal.outer(companies, companies))


def test_who_was_in_groups_that_lead_to_a_shown_cell_is_closed():
    told = EarlierDisclosure(with_shown(written("abc:xyz def:xyz ghi:xyz", "abd:xyz c:z")))
    assert told.closed(np.zeros(0, dtype=np.int64)).tolist() == [True] * 6 + [False] * 3
    assert told.closed(np.array([6])).all()


def drawn(seed: int) -> tuple[History, np.ndarray]:
    """Draw a series in which everybody keeps the values x, y, z and w, now and then with a counterfeit."""
    rng = np.random.default_rng(seed)
    truth, made = np.arange(8) % 4, []
    for _ in range(int(rng.integers(1, 4))):
        order = np.concatenate([rng.permutation(np.flatnonzero(truth == value)) for value in range(4)]).reshape(4, 2)
        members = np.empty(8, dtype=np.int64)
        members[order[:, 0]], members[order[:, 1]] = 0, 1
        members[rng.random(8) < 0.2] = -1
        group, codes = np.repeat([0, 1], 4), np.tile(np.arange(4), 2)
        made.append(GroupedRelease.from_rows(members, group, codes, groups=2, width=4))
    return History("s", 8, tuple(made)), truth


@pytest.mark.parametrize("seed", range(40))
def test_cells_may_be_shown_just_if_all_worlds_leave_everybody_within_the_limit(seed):
    rng = np.random.default_rng(seed)
    history, truth = drawn(seed)
    there = np.flatnonzero(np.any([each.members >= 0 for each in history.releases], axis=0))
    person = rng.choice(there, 1)
    limit = float(rng.choice([1 / 4, 1 / 3, 0.4, 1 / 2]))
    (may,) = EarlierDisclosure(history).may_show(person, truth[person], limit).tolist()
    after = replace(history, releases=(*history.releases, release_of_cells(history, person, truth[person])))
    hidden = [max(each.values()) for at, each in enumerate(chances(after)) if each and at != person[0]]
    assert may is (max(hidden, default=0) <= limit + 1e-12)


def test_of_several_cells_those_are_shown_that_keep_the_limit_together():
    history = written("abcd:wxyz efgh:wxyz")
    everybody, truth = np.arange(8), np.tile(np.arange(4), 2)
    assert EarlierDisclosure(history).may_show(everybody, truth, 1 / 4).all()  # nobody is left whom it would expose
    assert EarlierDisclosure(history).may_show(everybody[:7], truth[:7], 1 / 3).tolist() == [True] * 5 + [False] * 2
    assert EarlierDisclosure(history).may_show(everybody[:3], truth[:3], 1 / 3).tolist() == [True, False, False]
    assert EarlierDisclosure(history).may_show(everybody[:0], truth[:0], 1 / 3).tolist() == []


def test_what_is_not_known_exactly_is_not_shown(monkeypatch):
    told, person = EarlierDisclosure(written("abcd:wxyz", "abef:wxyz")), np.array([2])
    assert told.may_show(person, np.array([2]), 1 / 2).all()
    monkeypatch.setattr(version, "refine_bounds", partial(version.refine_bounds, exact_up_to=0))
    assert not told.may_show(person, np.array([2]), 1 / 2).any()


def test_what_contradicts_earlier_releases_is_not_shown():
    told = EarlierDisclosure(written("ab:xy cd:xy"))
    assert told.may_show(np.array([0, 1, 2]), np.array([0, 0, 0]), 1.0).tolist() == [True, False, True]


def test_what_is_known_of_some_cases_is_that_of_these_cases():
    nobody, told = np.zeros(3, dtype=np.bool_), CoMembers(np.arange(3), np.arange(3) > 0, np.arange(3) > 1)
    known = Signatures((), np.full(3, -1, dtype=np.int32), (), nobody, nobody, companies=told).take(np.array([2, 0]))
    assert known.companies.of_case.tolist() == [2, 0]
    assert known.companies.closed.tolist() == known.companies.may_show.tolist() == [True, False]
