"""Sizes of memory as people write them."""

from __future__ import annotations

import pytest

from sfumato.errors import InvalidParameterError
from sfumato.tables.engines import options
from sfumato.tables.engines.options import measure_free_memory, parse_memory_budget


@pytest.mark.parametrize(("given", "expected"), {"2GB": 2 * 10**9, "512 mb": 512 * 10**6, "1.5GiB": 3 * 2**29}.items())
def test_sizes_are_read(given, expected):
    assert parse_memory_budget(given) == expected


@pytest.mark.parametrize("given", ["", "2", "GB", "-1GB", "10MB", "2 parsecs", "1e9GB"])
def test_other_sizes_are_refused(given):
    with pytest.raises(InvalidParameterError, match="at least 50MB"):
        parse_memory_budget(given)


def test_a_limit_of_the_control_group_counts(monkeypatch, tmp_path):
    assert measure_free_memory() > options.MIN_BUDGET
    (tmp_path / "memory.max").write_text("400000000\n")
    (tmp_path / "memory.current").write_text("100000000\n")
    monkeypatch.setattr(options, "GROUPS", tmp_path)
    assert measure_free_memory() == 3 * 10**8
    assert parse_memory_budget(None) == 15 * 10**7
    (tmp_path / "memory.max").write_text("max\n")
    assert measure_free_memory() > 3 * 10**8
