"""Ledgers of a small hospital."""

from __future__ import annotations

import pytest

import sfumato as sf
from series_of_patients import quarter, released


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return sf.Series.create("hospital.ledger")


@pytest.fixture
def two_quarters(ledger):
    released(ledger, quarter(0, 12)).write("q1", report=False)
    released(ledger, quarter(3, 15)).write("q2", report=False)
    return ledger
