"""The same work on several things by all threads."""

from __future__ import annotations

import threading

import pytest

from sfumato import _threads


def test_results_come_in_order_though_the_first_takes_longest():
    others = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert others.wait(10)
        else:
            others.set()
        return -item

    assert list(_threads.map_in_threads(work, range(2))) == [0, -1]


def test_no_more_is_made_ahead_than_there_are_processors(monkeypatch):
    monkeypatch.setattr(_threads, "count_workers", lambda: 2)
    begun: list[int] = []
    results = _threads.map_in_threads(begun.append, range(100))
    next(results)
    assert len(begun) <= 3
    assert len(list(results)) == 99


def test_an_error_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(_threads.map_in_threads(lambda item: 1 // item, [1, 0, 1]))


def test_a_few_rows_are_worked_on_where_they_are():
    here = threading.get_ident()
    assert set(_threads.map_in_threads(lambda _: threading.get_ident(), range(5), _threads.MANY_ROWS - 1)) == {here}
    assert here not in _threads.map_in_threads(lambda _: threading.get_ident(), range(5), _threads.MANY_ROWS)
