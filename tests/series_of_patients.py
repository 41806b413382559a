"""Quarters of a small hospital, to be released one after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf

SCHEMA = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=["disease"])
MODELS = [sf.models.KAnonymity(k=2)]
DISEASES = ["angina", "flu", "gout", "measles"]


def quarter(first: int, last: int) -> pa.Table:
    """Return the patients with these numbers; each always has the same age and disease."""
    numbers = np.arange(first, last)
    return pa.table(
        {"id": numbers, "age": 20 + numbers % 7, "disease": [DISEASES[number % 4] for number in numbers.tolist()]}
    )


def released(ledger: sf.Series, table: pa.Table, schema: sf.Schema = SCHEMA) -> sf.Release:
    """Make a release of a series by an algorithm that makes every release as if it were the first."""
    return sf.anonymize(table, schema, MODELS, sf.algorithms.MDAV(), ledger=ledger)


def released_by_atoms(ledger: sf.Series, table: pa.Table) -> sf.Release:
    """Make a release of a series in which everybody stays with those she came with."""
    return sf.anonymize(table, SCHEMA, MODELS, sf.algorithms.Mondrian(), ledger=ledger)


def refused(kind, match, call, *given, **named):
    """Check that a call is refused in a sentence."""
    with pytest.raises(kind, match=match):
        call(*given, **named)


def names(folder):
    """List the names in a folder."""
    return sorted(each.name for each in Path(folder).iterdir())


def changed(table, name, cells):
    """Give a column of a table other cells."""
    return table.set_column(table.column_names.index(name), name, pa.array(cells))
