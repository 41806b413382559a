"""Transactions in three forms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.errors import SchemaError
from sfumato.mining.transaction_matrix import TransactionMatrix

LISTS = [["milk", "bread"], ["bread"], ["butter", "milk", "milk"]]
FLAGS = {"bread": [True, True, False], "butter": [False, False, True], "milk": [True, False, True]}
PAIRS = {"basket": [7, 7, 8, 9, 9], "what": ["milk", "bread", "bread", "butter", "milk"]}


@pytest.mark.parametrize(
    "data", [LISTS, pd.DataFrame(FLAGS), pl.DataFrame(FLAGS), pd.DataFrame(PAIRS), pa.table(PAIRS)], ids=type
)
def test_all_forms_give_the_same_transactions(data):
    made = TransactionMatrix.from_data(data)
    assert made.items == ("bread", "butter", "milk")
    assert made.to_lists() == [["bread", "milk"], ["bread"], ["butter", "milk"]]
    assert made.support({"bread"}) == 2
    assert made.support({"bread", "milk"}) == 1


def test_each_form_comes_back():
    made = TransactionMatrix.from_data(LISTS)
    for form in (made.to_lists(), made.to_frame(), made.to_pairs()):
        assert np.array_equal(TransactionMatrix.from_data(form).matrix, made.matrix)


def test_names_of_transactions_come_back():
    assert TransactionMatrix.from_data(pa.table(PAIRS)).to_pairs()["transaction"].to_pylist() == [
        "7",
        "7",
        "8",
        "9",
        "9",
    ]


def test_missing_flags_are_unknown_cells():
    made = TransactionMatrix.from_data(pa.table({"a": [True, None, False], "b": [True, True, True]}))
    assert made.support({"a", "b"}) == 1
    assert made.support({"a", "b"}, perhaps=True) == 2
    assert made.to_frame()["a"].to_pylist() == [True, None, False]


@pytest.mark.parametrize(
    "data",
    [[], [[], []], ["milk"], pa.table({"a": [1], "b": [2], "c": [3]}), pa.table({"t": [1, None], "i": ["a", "b"]}), 3],
)
def test_what_is_no_transactions_is_refused_in_a_sentence(data):
    with pytest.raises(SchemaError) as refused:
        TransactionMatrix.from_data(data)
    assert str(refused.value).endswith(".")


def test_unknown_items_are_refused_without_naming_them():
    with pytest.raises(SchemaError, match=r"1 of 2 items of a pattern") as refused:
        TransactionMatrix.from_data(LISTS).support({"bread", "caviar"})
    assert "caviar" not in str(refused.value)


def test_nothing_of_the_data_is_printed():
    assert repr(TransactionMatrix.from_data(LISTS)) == "<Transactions: 3 transactions, 3 items>"
