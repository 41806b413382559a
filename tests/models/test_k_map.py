"""k-map: its own facts."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.k_map import KMap
from sfumato.tables.published.groups import Groups
from sfumato.tables.risk._estimators import min_sample_group_size


def model(**changed: object) -> KMap:
    return KMap(**{"k": 5, **changed})


def test_persons_of_the_population_are_counted_and_not_records():
    groups = Groups(np.array([1, 4]), population=np.array([7, 4]))
    assert model().levels(groups).tolist() == [7, 4]
    assert model().satisfied_by(groups).tolist() == [True, False]


def test_a_population_is_preferred_to_an_estimate():
    groups = Groups(np.array([1, 4]), population=np.array([7, 4]))
    assert model(fraction=0.01).levels(groups).tolist() == [7, 4]


@pytest.mark.parametrize("k", [1, 2, 5, 11, 30])
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.33, 1.0])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_estimate_agrees_with_the_least_size_of_the_poisson_test(k, fraction, alpha):
    sizes = np.arange(1, 40)
    kept = model(k=k, fraction=fraction, alpha=alpha).satisfied_by(Groups(sizes))
    assert kept.tolist() == (sizes >= min_sample_group_size(k, fraction, alpha=alpha)).tolist()


def test_whoever_is_k_anonymous_stands_for_k_persons():
    groups = Groups(np.array([4, 5, 6]))
    assert model(fraction=1).satisfied_by(groups).tolist() == KAnonymity(k=5).satisfied_by(groups).tolist()


def test_a_larger_fraction_or_a_smaller_error_asks_for_more():
    groups = Groups(np.arange(3, 9))
    usual, larger = model(fraction=0.1).levels(groups), model(fraction=0.2).levels(groups)
    surer = model(fraction=0.1, alpha=0.01).levels(groups)
    assert (larger < usual).all()
    assert (surer < usual).all()


def test_without_population_and_fraction_there_is_nothing_to_judge_by():
    assert model().needs_population
    assert not model(fraction=0.1).needs_population
    with pytest.raises(SchemaError, match="KMap needs a population; give the audit a population table, or the model a"):
        model().levels(Groups(np.array([3])))


def test_what_is_left_open_is_no_parameter():
    assert model().parameters() == {"k": 5}
    assert model(fraction=0.1).parameters() == {"k": 5, "fraction": 0.1, "alpha": 0.05}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1; got 0"),
        ({"k": 2.5}, "k must be a whole number of at least 1; got 2.5"),
        ({"fraction": 0}, "fraction must be a share in (0, 1]; got 0"),
        ({"fraction": 1.01}, "fraction must be a share in (0, 1]; got 1.01"),
        ({"fraction": True}, "fraction must be a share in (0, 1]; got True"),
        ({"alpha": 0}, "alpha must be a probability in (0, 1); got 0"),
        ({"alpha": 1}, "alpha must be a probability in (0, 1); got 1"),
        ({"alpha": "5%"}, "alpha must be a probability in (0, 1); got '5%'"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    with pytest.raises(InvalidParameterError) as refusal:
        model(**changed)
    assert str(refusal.value) == f"KMap.{message}."
