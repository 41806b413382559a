"""Keep the tests of one subject on one worker, so that what is found once is found by it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each_on_one_worker(subjects: Iterable[object]) -> list[Any]:
    """Give subjects to a fixture; the tests of each go to the same worker."""
    return [pytest.param(subject, marks=_group(subject), id=repr(subject)) for subject in subjects]


def cases_on_one_worker(cases: Iterable[tuple[object, Callable[..., None]]]) -> list[Any]:
    """Give pairs of a subject and a law; those of the same subject go to the same worker."""
    return [pytest.param(each, law, marks=_group(each), id=f"{each!r}-{law.__name__}") for each, law in cases]


def _group(subject: object) -> pytest.MarkDecorator:
    return pytest.mark.xdist_group(repr(subject))
