"""Values that change only in some ways: releases told together tell more than each alone."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import sfumato as sf
from series_oracle import written
from sfumato.errors import InvalidParameterError

SCHEMA = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=["disease"], transient=["disease"])
CHANGES = {"flu": ["cold"], "cold": ["flu"]}
FIRST = pd.DataFrame({"id": [1, 2], "age": [20, 21], "disease": ["flu", "HIV"]})
SECOND = pd.DataFrame({"id": [1, 3], "age": [20, 23], "disease": ["cold", "flu"]})


def bucketed(original: pd.DataFrame) -> pd.DataFrame:
    """Publish all persons in one bucket."""
    return original.drop(columns="id").assign(disease=original["disease"].to_numpy()[::-1], _bucket_disease=0)


SERIES = [(bucketed(FIRST), FIRST), (bucketed(SECOND), SECOND)]


def test_what_a_value_cannot_become_decides_earlier_releases():
    alone = sf.series_disclosure_risk(SERIES, SCHEMA)
    assert (alone.max(), alone.decided) == (0.5, 0)
    told = sf.series_disclosure_risk(SERIES, SCHEMA, stays=CHANGES)
    assert told.probability.tolist() == [1.0, 1.0, 0.5]
    assert told.candidates.tolist() == [1, 1, 2]
    assert told.exact
    assert told.product().tolist() == pytest.approx([1.0, 0.5, 0.5])  # the estimate misses what follows for the second


def test_if_everything_can_become_everything_each_release_stands_alone():
    free = {value: ["flu", "cold", "HIV"] for value in ("flu", "cold", "HIV")}
    assert sf.series_disclosure_risk(SERIES, SCHEMA, stays=free).probability.tolist() == [0.5, 0.5, 0.5]


def test_values_that_are_not_named_stay_as_permanent_ones_do():
    history = replace(written("abc:xyz def:uvw", "ade:xuv bcf:yzw"), values=tuple("uvwxyz"))
    permanent = sf.series_disclosure_risk(history)
    told = sf.series_disclosure_risk(replace(history, transient=True), stays={})
    assert told.probability == pytest.approx(permanent.probability)
    assert told.candidates.tolist() == permanent.candidates.tolist()


def test_what_is_too_large_is_known_from_below_only():
    told = sf.series_disclosure_risk(SERIES, SCHEMA, stays=CHANGES, exact_up_to=0)
    assert not told.exact
    assert told.probability.tolist() == [1.0, 0.5, 0.5]
    assert told.how.tolist() == ["outer"] * 3


def test_an_audit_tells_the_estimate_as_one():
    audit = sf.audit_series(SERIES, SCHEMA, models=[], stays={"disease": CHANGES})
    assert "Estimate by the product form, never a verdict: maximum 1, mean 0.6667" in repr(audit)
    assert audit.to_dict()["exposure"]["disease"]["product_estimate"]["maximum"] == 1.0
    assert "product_estimate" not in sf.audit_series(SERIES, SCHEMA, models=[]).to_dict()["exposure"]["disease"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"schema": replace(SCHEMA, transient=[])}, "Values of 'disease' are permanent"),
        ({"stays": ["flu"]}, r"exposure_series\.stays must be a mapping"),
        ({"stays": {"flu": "cold"}}, r"exposure_series\.stays must be a mapping"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, sentence):
    asked = {"schema": SCHEMA, "stays": CHANGES} | given
    tables = SERIES[:1] if asked["schema"] is not SCHEMA else SERIES
    with pytest.raises(InvalidParameterError, match=sentence):
        sf.series_disclosure_risk(tables, **asked)
    with pytest.raises(InvalidParameterError, match="does not have the attribute 'diseas' of stays; did you mean"):
        sf.audit_series(SERIES, SCHEMA, models=[], stays={"diseas": CHANGES})
