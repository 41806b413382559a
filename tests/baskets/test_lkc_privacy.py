"""LKC-privacy of rows with many columns, against its definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.transactions.models.lkc_privacy import LKCPrivacy, transactions_from_rows

CELL = st.sampled_from([0, 1, None])
ROWS = st.lists(st.tuples(CELL, CELL, CELL, st.sampled_from(["flu", "cold", None])), min_size=1, max_size=9)


def table_of(rows: list[tuple[object, ...]]) -> pa.Table:
    types = [pa.int64()] * 3 + [pa.string()]
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)], list("abcs")
    )


def oracle(rows, most_known: int, k: int, share: float) -> tuple[float, int]:
    known = [{(at, value) for at, value in enumerate(row[:3]) if value is not None} for row in rows]
    occurring = {
        frozenset(some) for each in known for size in range(1, most_known + 1) for some in combinations(each, size)
    }
    broken, shares = 0, [Fraction(0)]
    for each in occurring:
        held = [row for row, has in zip(rows, known, strict=True) if each <= has]
        worst = max(sum(row[3] == secret for row in held) for secret in ("flu", "cold"))
        shares.append(Fraction(worst, len(held)))
        broken += len(held) < k or Fraction(worst, len(held)) > Fraction(str(share))
    return float(max(shares)), broken


@examples(60)
@given(ROWS, st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_the_audit_counts_as_the_definition_says(rows, most_known, k, share):
    rows = [*rows, (0, 0, 0, "flu")]  # one secret at least
    verdict = LKCPrivacy(L=most_known, K=k, C=share, sensitive="s").evaluate(transactions_from_rows(table_of(rows)))
    kept = [row for row in rows if any(cell is not None for cell in row)]  # an empty row matches nobody
    assert (verdict.level, verdict.violations) == oracle(kept, most_known, k, share)


def test_suppressed_cells_are_not_known():
    table = pa.table({"zip": ["1", "*"], "job": ["a", "a"], "s": ["x", "y"]})
    assert transactions_from_rows(table).to_lists() == [["job=a", "s=x", "zip=1"], ["job=a", "s=y"]]
    assert transactions_from_rows(table, sensitive=["s"]).is_sensitive.tolist() == [False, True, True, False]


def test_a_table_is_audited_by_the_same_door():
    table = pa.table({"a": [1, 1, 2, 2], "b": [1, 1, 1, 1], "s": ["x", "y", "x", "y"]})
    audit = sf.transactions.audit(transactions_from_rows(table), models=[LKCPrivacy(L=2, K=2, C=0.5, sensitive="s")])
    assert audit.holds
    assert audit.level("lkc-privacy") == 0.5
    assert not sf.transactions.audit(
        transactions_from_rows(table), models=[LKCPrivacy(L=2, K=2, C=0.4, sensitive="s")]
    ).holds


@examples(20)
@given(ROWS, st.integers(1, 2), st.integers(1, 2))
def test_suppressing_values_keeps_the_promise(rows, most_known, k):
    rows = [*rows, (0, 0, 0, "flu"), (0, 0, 0, "cold")]
    baskets = transactions_from_rows(table_of(rows), sensitive=["s"])
    promise = LKCPrivacy(L=most_known, K=k, C=0.7, sensitive="s")
    try:
        release = sf.transactions.anonymize(baskets, models=[promise], algorithm=sf.transactions.GreedySuppression())
    except InfeasibleError:
        return
    assert release.audit.holds
    assert set(release.transactions.items) <= set(baskets.items)


def test_the_sensitive_column_must_be_marked():
    baskets = transactions_from_rows(pa.table({"a": [1, 1], "s": ["x", "y"]}), sensitive=["a"])
    promise = LKCPrivacy(L=1, K=1, C=0.5, sensitive="s")
    with pytest.raises(SchemaError, match="Mark the values of 's' alone"):
        sf.transactions.anonymize(baskets, models=[promise], algorithm=sf.transactions.GreedySuppression())


@pytest.mark.parametrize("wrong", [{"L": 0}, {"K": 0}, {"C": 1.5}, {"C": -0.1}, {"sensitive": ""}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match=f"LKCPrivacy.{next(iter(wrong))} must be"):
        LKCPrivacy(**{"L": 2, "K": 2, "C": 0.5, "sensitive": "s", **wrong})


def test_columns_that_do_not_exist_are_refused():
    table = pa.table({"a": [1], "s": ["x"]})
    with pytest.raises(SchemaError, match="no column 'z'"):
        transactions_from_rows(table, sensitive=["z"])
    with pytest.raises(SchemaError, match="No row has a value of 'z'"):
        LKCPrivacy(L=1, K=1, C=1.0, sensitive="z").evaluate(transactions_from_rows(table))
