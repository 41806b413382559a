"""The laws for whatever is to be checked, and a way to let pytest run each of them as a test."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeAlias, TypeVar

from sfumato.core.attack import Attack
from sfumato.errors import InvalidParameterError
from sfumato.io.formats import Format
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.masking.base import MaskingStep
from sfumato.tables.metrics.base import Metric
from sfumato.tables.models.base import GroupModel
from sfumato.tables.series.attacks._base import SeriesAttack
from sfumato.testing._trials import AlgorithmTrial
from sfumato.testing.algorithms import ALGORITHM_CHECKS
from sfumato.testing.attacks import ATTACK_CHECKS
from sfumato.testing.formats import FORMAT_CHECKS
from sfumato.testing.masking import MASKING_CHECKS
from sfumato.testing.metrics import METRIC_CHECKS
from sfumato.testing.models import MODEL_CHECKS
from sfumato.testing.series_attacks import SERIES_ATTACK_CHECKS

Check = Callable[[Any], None]


def _run_on_trial(check: Callable[[AlgorithmTrial], None]) -> Check:
    """Let a check take an algorithm; what that finds is kept for the other checks."""

    @wraps(check)
    def law(algorithm: TableAlgorithm) -> None:
        check(_trial(algorithm))

    return law


_trial = lru_cache(maxsize=4)(AlgorithmTrial)

CHECKS: dict[type, tuple[Check, ...]] = {
    GroupModel: MODEL_CHECKS,
    TableAlgorithm: tuple(_run_on_trial(check) for check in ALGORITHM_CHECKS),
    Metric: METRIC_CHECKS,
    Attack: ATTACK_CHECKS,
    SeriesAttack: SERIES_ATTACK_CHECKS,
    Format: FORMAT_CHECKS,
    MaskingStep: MASKING_CHECKS,
}
Subject: TypeAlias = GroupModel | TableAlgorithm | Metric | Attack | SeriesAttack | Format | MaskingStep
Test = TypeVar("Test", bound=Callable[..., None])


def checks_for(subject: Subject) -> tuple[Check, ...]:
    """Return the checks for a model, algorithm, measure, attack, format or masking step; each asserts one law of it.

    Examples
    --------
    >>> from sfumato.models import KAnonymity
    >>> checks_for(KAnonymity(k=2))[0].__name__
    'check_metadata'
    """
    for kind, laws in CHECKS.items():
        if isinstance(subject, kind):
            return laws
    known = ", ".join(kind.__name__ for kind in CHECKS)
    got = f"the class {subject.__name__} itself" if isinstance(subject, type) else type(subject).__name__
    raise InvalidParameterError(f"There are laws for objects of {known}; got {got}.")


def parametrize_with_checks(*subjects: Subject) -> Callable[[Test], Test]:
    """Let pytest run a test with every subject and every law for it, as arguments `subject` and `law`.

    The test is written in two lines below this decorator, `def test_law(subject, law):` and `law(subject)`.
    """
    import pytest

    cases = [
        pytest.param(subject, law, id=f"{subject.name if isinstance(subject, Format) else subject}-{law.__name__}")
        for subject in subjects
        for law in checks_for(subject)
    ]
    marked: Callable[[Test], Test] = pytest.mark.parametrize(("subject", "law"), cases)
    return marked
