"""Requirements, and what all parties have to agree on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fusion_oracle as oracle
from sfumato.errors import InvalidParameterError
from sfumato.fusion.session import KAnonymityRequirement, SessionParameters, differing_fields, drop_implied

REQUIREMENTS = st.lists(
    st.builds(
        KAnonymityRequirement,
        quasi=st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True),
        k=st.integers(1, 5),
    ),
    min_size=1,
    max_size=6,
)


@given(REQUIREMENTS)
def test_exactly_the_implied_requirements_are_dropped(requirements):
    kept = drop_implied(requirements)
    wanted = oracle.without_implied([(each.quasi, each.k) for each in requirements])
    assert {(frozenset(each.quasi), each.k) for each in kept} == {(frozenset(quasi), k) for quasi, k in wanted}
    assert len(kept) == len(wanted)


@given(REQUIREMENTS, st.randoms())
def test_the_order_of_requirements_does_not_matter(requirements, random):
    shuffled = random.sample(requirements, len(requirements))
    assert drop_implied(shuffled) == drop_implied(requirements)


def test_a_subset_with_a_greater_k_stays():
    both = [KAnonymityRequirement(quasi=["sex", "job"], k=4), KAnonymityRequirement(quasi=["sex"], k=5)]
    assert set(drop_implied(both)) == set(both)


@pytest.mark.parametrize("wrong", [{"quasi": "sex"}, {"quasi": []}, {"quasi": [1]}, {"k": 0}, {"k": 2.5}, {"k": True}])
def test_a_requirement_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InvalidParameterError):
        KAnonymityRequirement(**{"quasi": ["sex"], "k": 2, **wrong})


AGREED = SessionParameters(
    parties=("a", "b"), target="class", requirements=(KAnonymityRequirement(quasi=["sex", "job"], k=4),)
)


@pytest.mark.parametrize(
    ("point", "other"),
    [
        ("parties", ("b", "a")),
        ("target", "salary"),
        ("requirements", (KAnonymityRequirement(quasi=["sex", "job"], k=5),)),
        ("requirements", (KAnonymityRequirement(quasi=["sex"], k=4),)),
        ("scoring", "plain"),
    ],
)
def test_every_point_of_an_agreement_is_compared(point, other):
    another = replace(AGREED, **{point: other})
    assert differing_fields(AGREED.settings(), another.settings()) == [point]
    assert differing_fields(AGREED.settings(), replace(AGREED).settings()) == []


def test_implied_requirements_are_no_difference():
    more = (*AGREED.requirements, KAnonymityRequirement(quasi=["job"], k=2))
    assert differing_fields(AGREED.settings(), replace(AGREED, requirements=more).settings()) == []


@pytest.mark.parametrize(
    "wrong", [{"parties": ()}, {"parties": ("a", "a")}, {"requirements": ()}, {"scoring": "fair"}, {"target": 3}]
)
def test_an_agreement_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InvalidParameterError):
        replace(AGREED, **wrong)
