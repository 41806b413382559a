"""Promises about series: m-invariance, exposure over a series, and m-distinct."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from series_oracle import GOLDEN, chances, drawn_history, written
from sfumato.tables.series.history import GroupedRelease, History
from sfumato.tables.series.models._base import SeriesModel

TWO = sf.models.MInvariance(m=2, sensitive="s")
HALF = sf.models.BoundedSeriesDisclosure(limit=0.5, sensitive="s")
COLDS = {"x": ["y"], "y": ["x"]}


def texts(history: History, *values: str) -> History:
    return replace(history, values=values)


@pytest.mark.parametrize(
    ("series", "answer", "level", "persons"),
    [
        (["ab:xy cd:xy", "ac:xy bd:xy"], "holds", 2, 0),
        (["ab:xy", "a:xy"], "holds", 2, 0),
        (["abcd:xxyy", "ab:xy"], "holds", 2, 0),
        (["ab:xy cd:xz", "ac:xy bd:xz"], "broken", 0, 2),
        (["ab:xy", "cd:xy", "ab:xz cd:xy"], "broken", 0, 2),
        (["abc:xxy", "abc:xxy"], "broken", 0, 3),
        (["ab:xx"], "broken", 1, 2),
    ],
)
def test_m_invariance_wants_the_same_values_each_equally_often(series, answer, level, persons):
    found = TWO.evaluate_series(written(*series))
    assert (found.answer, found.level, found.individuals) == (answer, level, persons)


def test_rows_that_can_be_recognized_break_m_invariance_and_leave_exposure_open():
    history = written(*GOLDEN["equivalence"])
    assert TWO.evaluate_series(history, linked=1).answer == "broken"
    assert HALF.evaluate_series(history, linked=1).answer == "not shown"


@examples(60)
@given(seed=st.integers(0, 10**9), fakes=st.booleans())
def test_everybody_in_an_m_invariant_series_has_one_over_m(seed, fakes):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 4))
    persons = m * int(rng.integers(1, 3))
    truth = np.arange(persons) % m
    releases = []
    for _ in range(3):
        members = np.full(persons, -1)
        for value in range(m):
            mine = rng.permutation(np.flatnonzero(truth == value))
            members[mine] = np.arange(len(mine))
        gone = rng.random(persons) < 0.3 if fakes else np.zeros(persons, dtype=np.bool_)
        names, group = np.unique(members, return_inverse=True)
        shown = GroupedRelease.from_rows(np.where(gone, -1, members), group, truth, groups=len(names), width=m)
        releases.append(shown)
    history = History("s", persons, tuple(releases))
    assert sf.models.MInvariance(m=m, sensitive="s").evaluate_series(history).answer == "holds"
    found = sf.models.BoundedSeriesDisclosure(limit=1 / m, sensitive="s").evaluate_series(history)
    assert (found.answer, found.level) == ("holds", pytest.approx(1 / m)) or found.level == 0.0
    for share in chances(history):
        assert set(share.values()) <= {Fraction(1, m)}


def test_exposure_has_three_verdicts():
    assert HALF.evaluate_series(written(*GOLDEN["equivalence"])).answer == "holds"
    broken = HALF.evaluate_series(written(*GOLDEN["intersection"]))
    assert (broken.answer, broken.level, broken.individuals) == ("broken", 1.0, 2)


def test_an_outer_result_convicts_and_never_acquits(monkeypatch):
    monkeypatch.setattr("sfumato.tables.series._worlds.bound_refinement._Refinement.solve", lambda *_: None)
    assert HALF.evaluate_series(written(*GOLDEN["far"])).answer == "not shown"
    assert HALF.evaluate_series(written(*GOLDEN["intersection"], "g:x")).answer == "broken"


def test_a_transient_attribute_is_exposed_by_each_release_alone():
    history = written(*GOLDEN["intersection"])
    found = sf.models.BoundedSeriesDisclosure(limit=1 / 3, sensitive="s").evaluate_series(
        replace(history, transient=True)
    )
    assert (found.answer, found.level) == ("holds", pytest.approx(1 / 3))


@examples(40)
@given(seed=st.integers(0, 10**9))
def test_exposure_says_what_all_worlds_say(seed):
    history = drawn_history(seed)
    most = max((max(share.values()) for share in chances(history) if share), default=0)
    assert HALF.evaluate_series(history).answer == ("holds" if most <= 0.5 else "broken")


@pytest.mark.parametrize(
    ("series", "stays", "answer"),
    [
        (["ac:xz", "ac:yz"], COLDS, "holds"),
        (["ac:xz", "ac:yz"], {}, "broken"),
        (["ac:xy"], COLDS, "broken"),
        (["ac:xz", "ac:yz"], {"x": ["y"]}, "holds"),
        (["ac:xz", "ac:xz"], {"x": ["hidden"], "hidden": ["y"]}, "holds"),
        (["ab:yz cd:xz", "ac:xz bd:yz"], {"x": ["y"]}, "broken"),
    ],
)
def test_m_distinct_looks_at_classes_of_values(series, stays, answer):
    history = written(*series)
    names = tuple(sorted({value for release in series for group in release.split() for value in group.split(":")[1]}))
    model = sf.models.MDistinct(m=2, sensitive="s", stays=stays)
    assert model.evaluate_series(texts(history, *names)).answer == answer


def test_m_distinct_needs_the_texts_of_values():
    with pytest.raises(sf.errors.InvalidParameterError, match="needs the texts"):
        sf.models.MDistinct(m=2, sensitive="s", stays=COLDS).evaluate_series(written("abc:xyz"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sf.models.MInvariance(m=0, sensitive="s"), "MInvariance.m must be a whole number of at least 1"),
        (lambda: sf.models.MInvariance(m=2, sensitive=1), "MInvariance.sensitive must be the name of an attribute"),
        (
            lambda: sf.models.BoundedSeriesDisclosure(limit=0, sensitive="s"),
            "BoundedSeriesDisclosure.limit must be a number above 0",
        ),
        (
            lambda: sf.models.BoundedSeriesDisclosure(limit=0.5, sensitive=1),
            "BoundedSeriesDisclosure.sensitive must be",
        ),
        (lambda: sf.models.MDistinct(m=0, sensitive="s", stays={}), "MDistinct.m must be"),
        (lambda: sf.models.MDistinct(m=1, sensitive=1, stays={}), "MDistinct.sensitive must be"),
        (lambda: sf.models.MDistinct(m=1, sensitive="s", stays={"x": "y"}), "MDistinct.stays must be a mapping"),
        (lambda: sf.models.MDistinct(m=1, sensitive="s", stays=[]), "MDistinct.stays must be a mapping"),
    ],
)
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(sf.errors.InvalidParameterError, match=message):
        make()


def test_a_limit_has_to_be_given():
    with pytest.raises(TypeError, match="limit"):
        sf.models.BoundedSeriesDisclosure(sensitive="s")


def test_promises_of_series_are_a_kind_of_their_own():
    assert all(
        issubclass(each, SeriesModel)
        for each in (sf.models.MInvariance, sf.models.BoundedSeriesDisclosure, sf.models.MDistinct)
    )


def opened(*releases: str) -> History:
    """Read a series in which groups of one member and one value are cells that nobody flagged."""
    history = written(*releases)
    return replace(history, releases=tuple(replace(each, shown=each.histogram.sizes == 1) for each in history.releases))


@pytest.mark.parametrize(
    ("series", "m", "answer", "level"),
    [
        (["ab:xy c:z"], 2, "holds", 2),  # c never hid anything
        (["abcd:wxyz", "bcd:wxyz a:w"], 3, "holds", 3),  # who was with a has one of three values left
        (["abcd:wxyz", "bcd:wxyz a:w"], 4, "broken", 3),
        (["abc:xyz", "bc:xyz a:x"], 3, "broken", 2),
        (["abc:xyz", "bcd:xyz a:x"], 2, "broken", 1),  # d has x
        (["abc:xyz", "a:x b:y c:z"], 3, "holds", 3),  # nobody is left whom it would expose
        (["ab:xx c:z"], 2, "broken", 1),
    ],
)
def test_cells_that_nobody_flagged_are_no_groups_and_those_who_were_with_them_are_judged_by_exposure(
    series, m, answer, level
):
    history = opened(*series)
    found = sf.models.MInvariance(m=m, sensitive="s").evaluate_series(history)
    assert (found.answer, found.level) == (answer, level)
    exposed = sf.models.BoundedSeriesDisclosure(limit=1 / m, sensitive="s").evaluate_series(history)
    assert exposed.answer == answer
    tops = [
        max(each.values()) for each, free in zip(chances(history), history.unflagged, strict=True) if each and not free
    ]
    assert exposed.level == pytest.approx(float(max(tops, default=0)))


def test_a_transient_cell_that_is_shown_says_nothing_about_other_releases():
    history = replace(opened("ab:xy", "a:x b:y"), transient=True)
    assert HALF.evaluate_series(history).answer == TWO.evaluate_series(history).answer == "holds"
    classes = sf.models.MDistinct(m=2, sensitive="s", stays={})
    assert classes.evaluate_series(texts(history, "x", "y")).answer == "not shown"


@pytest.mark.parametrize("limit", [1.0, 0.5, 0.34, 1 / 3, 1 / 7, 0.3])
def test_a_group_within_a_limit_has_as_many_records_as_the_model_says(limit):
    model = sf.models.BoundedSeriesDisclosure(limit=limit, sensitive="s")
    assert 1 / model.min_group_size <= limit < 1 / max(model.min_group_size - 1, 0.5)
