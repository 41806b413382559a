"""Without an original, the domain of an attribute is what the published texts speak of."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import Scale
from sfumato.schema.schema import Schema
from sfumato.tables.published.published_table import PublishedColumn, infer_domain_from_labels

JOBS = Taxonomy({"office": ["clerk", "lawyer"], "outdoors": ["farmer"]})


def described(texts, **settings):
    return infer_domain_from_labels("x", texts, Schema(quasi_identifiers=["x"], **settings))


@pytest.mark.parametrize(
    ("texts", "scale", "leaves"),
    [
        (["[20, 30)", "35", "*"], Scale.NUMERIC, [20, 30, 35]),
        (["20-30", ">=90", None], Scale.NUMERIC, [20, 30, 90]),
        (["[20, 30)", "0.5"], Scale.NUMERIC, [0.5, 20.0, 30.0]),
        (["[2020-01-01, 2020-02-01)"], Scale.NUMERIC, [date(2020, 1, 1), date(2020, 2, 1)]),
        (["F", "M", "*"], Scale.NOMINAL, ["F", "M"]),
        (["{flu, cold}", "ulcer"], Scale.NOMINAL, ["cold", "flu", "ulcer"]),
        (["20-30", "unknown"], Scale.NOMINAL, ["20-30", "unknown"]),
        (["537**", "90210"], Scale.NOMINAL, ["90210"]),
        (["true", "false"], Scale.NOMINAL, ["false", "true"]),
        (["*"], Scale.NOMINAL, []),
        ([None], Scale.NOMINAL, []),
    ],
)
def test_scale_and_leaves_are_told_from_the_texts(texts, scale, leaves):
    domain = described(texts)
    assert domain.scale is scale
    assert domain.values.to_pylist() == leaves


def test_numbers_that_no_integer_holds_are_reals():
    domain = described(["1-99999999999999999999"])
    assert domain.values.to_pylist() == [1.0, 1e20]


def test_dates_and_moments_share_an_axis():
    domain = described(["[2020-01-01, 2020-01-02T12:00:00]"])
    assert domain.values.type == pa.timestamp("us")
    assert domain.texts == ("2020-01-01T00:00:00", "2020-01-02T12:00:00")


@pytest.mark.parametrize(
    ("settings", "texts", "scale", "leaves"),
    [
        ({"hierarchies": {"x": JOBS}}, ["office", "clerk"], Scale.CATEGORICAL, ["clerk", "lawyer", "farmer"]),
        ({"hierarchies": {"x": OrderedGroups(["low", "high"])}}, ["[low, high]"], Scale.ORDINAL, ["low", "high"]),
        ({"hierarchies": {"x": Intervals(5)}}, ["[20, 25)"], Scale.NUMERIC, [20, 25]),
        ({"hierarchies": {"x": Prefixes()}}, ["5371*", "53703"], Scale.CATEGORICAL, ["53703"]),
        ({"orders": {"x": ["low", "high"]}}, ["high"], Scale.ORDINAL, ["low", "high"]),
        ({"scales": {"x": "nominal"}}, ["20-30"], Scale.NOMINAL, ["20-30"]),
        ({"scales": {"x": "numeric"}}, ["20-30", "unknown", "{35, 40, odd}"], Scale.NUMERIC, [20, 30, 35, 40]),
        ({"scales": {"x": "ordinal"}}, ["[5, 20]", "100"], Scale.ORDINAL, ["5", "20", "100"]),
    ],
)
def test_the_schema_comes_before_the_texts(settings, texts, scale, leaves):
    domain = described(texts, **settings)
    assert domain.scale is scale
    assert domain.values.to_pylist() == leaves


def column(texts, **settings):
    return PublishedColumn(
        "x", tuple(texts), np.arange(len(texts), dtype=np.int32), Schema(quasi_identifiers=["x"], **settings), None
    )


def test_labels_are_read_in_the_domain_that_they_make():
    assert column(["[20, 30)", "20-30", "25", "*", None]).coverage.leaf_counts().tolist() == [2, 3, 1, 3, 0]
    assert column(["{a, b}", "a", "c", "*"]).coverage.leaf_counts().tolist() == [2, 1, 1, 3]
    assert column(["[5, 20]", "100"], scales={"x": "ordinal"}).coverage.leaf_counts().tolist() == [2, 1]
    assert column(["office", "farmer", "*"], hierarchies={"x": JOBS}).coverage.leaf_counts().tolist() == [2, 1, 3]
