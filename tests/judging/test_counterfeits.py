"""Rows that belong to nobody protect nobody by their number, and are allowed only as far as they are stated."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from series_of_versions import SCHEMA, D, Series, stated_by, version
from sfumato.tables.audit._context import AuditContext

FORMS = ("buckets", "boxes")
COLUMN = f"_bucket_{D}"


def with_counterfeits(form, monkeypatch):
    """Return a release in which one person shares a bucket with two counterfeits, and three persons share another."""
    series = Series(3, form=form)
    series.release(version(dict(zip("abcdef", "xyzuvw", strict=True))), monkeypatch)
    signature = series.signatures["a"]
    alone = {"a": "x"} | {name: value for name, value in zip("bcdef", "yzuvw", strict=True) if value not in signature}
    release = series.release(version(alone), monkeypatch)
    assert release.counterfeits == 2
    return release


@pytest.mark.parametrize("form", FORMS)
def test_counterfeits_do_not_make_groups_larger(form, monkeypatch):
    release = with_counterfeits(form, monkeypatch)
    stated = stated_by(release)
    audits = [
        release.audit,
        sf.audit(release.frame, SCHEMA, counterfeits=stated),
        sf.audit(
            release.frame,
            SCHEMA,
            original=release.original,
            correspondence=release.correspondence,
            counterfeits=stated,
        ),
    ]
    for audit in audits:
        assert audit.level("k-anonymity") == 1
        assert audit.records == release.audit.sizes.sum() == 4
        assert audit.level("distinct-l-diversity") >= 3
        assert len(audit.violating_rows(sf.models.KAnonymity(k=2))) == (4 if form == "buckets" else 1)


@pytest.mark.parametrize("form", FORMS)
def test_counterfeits_hide_nobodys_identity_and_have_no_exposure(form, monkeypatch):
    release = with_counterfeits(form, monkeypatch)
    exposed = sf.attribute_disclosure_risk(release.frame, SCHEMA, counterfeits=stated_by(release))
    assert np.isnan(exposed.identity.by_record).sum() == 2
    assert exposed.identity.maximum == 1.0
    assert np.isnan(exposed.values[D].by_record).sum() == 2
    assert exposed.values[D].maximum == pytest.approx(1 / 3)


@pytest.mark.parametrize("form", FORMS)
def test_a_correspondence_may_have_only_stated_rows_of_nobody(form, monkeypatch):
    release = with_counterfeits(form, monkeypatch)
    known = {"original": release.original, "correspondence": release.correspondence}
    with pytest.raises(sf.errors.SchemaError, match=r"2 rows that belong to nobody \(-1\), but 0 are stated"):
        sf.audit(release.frame, SCHEMA, **known)
    with pytest.raises(sf.errors.SchemaError, match="but 1 are stated"):
        sf.audit(release.frame, SCHEMA, **known, counterfeits=1)
    assert sf.audit(release.frame, SCHEMA, **known, counterfeits=2).holds
    (bucket,) = stated_by(release)[COLUMN]
    other = next(str(each) for each in release.published[COLUMN].to_pylist() if str(each) != bucket)
    with pytest.raises(sf.errors.SchemaError, match="In 2 buckets the correspondence has another number"):
        sf.audit(release.frame, SCHEMA, **known, counterfeits={COLUMN: {other: 2}})


def test_counterfeits_in_boxes_are_stated_by_bucket(monkeypatch):
    release = with_counterfeits("boxes", monkeypatch)
    with pytest.raises(sf.errors.SchemaError, match="state how many every bucket has"):
        sf.audit(release.frame, SCHEMA, counterfeits=2)
    with pytest.raises(sf.errors.SchemaError, match="the table does not have"):
        sf.audit(release.frame, SCHEMA, counterfeits={COLUMN: {"17": 2}})
    with pytest.raises(sf.errors.SchemaError, match="the table does not have"):
        sf.audit(release.frame, SCHEMA, counterfeits={"_bucket_age": {"1": 2}})
    (bucket,) = stated_by(release)[COLUMN]
    with pytest.raises(sf.errors.SchemaError, match="Nobody can tell which rows"):
        sf.audit(release.frame, SCHEMA, counterfeits={COLUMN: {bucket: 4}})


@pytest.mark.parametrize("stated", [-1, 1.5, True, {COLUMN: 2}, {COLUMN: {"1": -1}}, "2"])
def test_counterfeits_are_stated_as_whole_numbers(stated, monkeypatch):
    release = with_counterfeits("buckets", monkeypatch)
    with pytest.raises(sf.errors.InvalidParameterError, match="counterfeits must be a whole number"):
        sf.audit(release.frame, SCHEMA, counterfeits=stated)
    with pytest.raises(sf.errors.InvalidParameterError, match="counterfeits must be a whole number"):
        sf.attribute_disclosure_risk(release.frame, SCHEMA, counterfeits=stated)


def test_rows_in_buckets_are_not_ignored_as_suppressed(monkeypatch):
    release = with_counterfeits("buckets", monkeypatch)
    promised = [sf.models.MInvariance(m=3, sensitive=D)]
    for stated in (0, 2, stated_by(release)):
        audit = sf.audit(release.frame, SCHEMA, promised, ignore_suppressed=True, counterfeits=stated)
        assert audit.holds
        assert audit.set_aside == 0


def test_a_series_is_not_acquitted_by_a_false_correspondence(monkeypatch):
    release = Series(2).release(version(dict(zip("abcd", "xyzu", strict=True))), monkeypatch)
    rows = release.correspondence
    assert sf.audit_series([(release.frame, release.original, rows)], SCHEMA).individuals == 4
    numbers = release.published[COLUMN].to_pylist()
    first, other = 0, next(at for at, number in enumerate(numbers) if number != numbers[0])
    false = rows.copy()
    false[[first, other]] = rows[[other, first]]
    with pytest.raises(sf.errors.SchemaError, match="In version 1 2 groups do not show the values of 'disease'"):
        sf.audit_series([(release.frame, release.original, false)], SCHEMA)
    with pytest.raises(sf.errors.SchemaError, match="must name another original row"):
        sf.audit_series([(release.frame, release.original, np.where(rows == 0, -2, rows))], SCHEMA)


@pytest.mark.parametrize(
    ("ages", "buckets", "persons"),
    [
        (["*", "*", "20"], [None, None, None], [1, 2]),  # the first two look alike
        ([30, 40, 20], [0, None, None], None),  # nobody can tell
        ([30, "*", 20], [None, None, None], [0, 2]),
        ([30, "*", "*"], [0, None, 0], [0, 2]),  # a row of nobody is in no other bucket
    ],
)
def test_of_rows_with_nothing_but_stars_those_are_nobodys_that_are_in_no_other_bucket(ages, buckets, persons):
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=[D], flags={D: "hide", "age": "hide_age"})
    shown = pa.table(
        {
            "age": pa.array([str(age) for age in ages]),
            "_bucket_age": pa.array(buckets, pa.int64()),
            D: ["x", "y", "z"],
            COLUMN: [0, 0, 0],
        }
    )
    evidence = AuditContext(shown, schema, stated={COLUMN: {"0": 1}})
    if persons is None:
        with pytest.raises(sf.errors.SchemaError, match="Nobody can tell which rows"):
            assert evidence.individual_rows
    else:
        assert evidence.individual_rows.tolist() == persons
