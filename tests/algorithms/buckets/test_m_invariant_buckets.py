"""m-invariant buckets: everybody's values stay the same from release to release, and few rows belong to nobody."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from series_of_versions import SCHEMA, D, Series, groups_of, is_m_invariant, members_of, stated_by, version
from sfumato.schema.roles import MissingPolicy
from sfumato.testing import algorithms as laws
from sfumato.testing._requests import requests
from sfumato.testing._trials import AlgorithmTrial

FORMS = ("buckets", "boxes")


def changed(rng: random.Random, persons: dict[str, str], gone: dict[str, str], number: int) -> int:
    """Let some persons leave, some come back, and some come for the first time."""
    for name in [each for each in persons if rng.random() < 0.25]:
        gone[name] = persons.pop(name)
    for name in [each for each in gone if rng.random() < 0.3]:
        persons[name] = gone.pop(name)
    for _ in range(rng.randint(0, 12)):
        persons[f"p{number}"] = rng.choice("vwxyzzz")
        number += 1
    return number


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("newcomers", ["wait", "counterfeits"])
@pytest.mark.parametrize("balance", ["counterfeits", "suppress"])
def test_signatures_stay_and_buckets_are_even_in_every_version(form, newcomers, balance, monkeypatch):
    rng = random.Random(f"{form} {newcomers} {balance}")
    series = Series(2, form=form, newcomers=newcomers, balance=balance)
    persons, gone, number = {f"p{at}": rng.choice("vwxyz") for at in range(30)}, {}, 30
    for turn in range(5):
        allowed = 1.0 if balance == "suppress" or not turn else 0.0
        before = dict(series.signatures)
        release = series.release(version(persons), monkeypatch, max_suppressed=allowed)  # asserts signatures
        assert is_m_invariant(release, 2)
        assert all(members_of(release).values())
        assert release.counterfeits == fewest(before, persons, newcomers, balance, release)
        number = changed(rng, persons, gone, number)


def fewest(signatures, persons, newcomers, balance, release) -> int:
    """Count by the definition what buckets lack and newcomers do not fill, and what these lack themselves."""
    lacks, came = Counter(), Counter(value for name, value in persons.items() if name not in signatures)
    known = {name: value for name, value in persons.items() if name in signatures}
    for each in {signatures[name] for name in known}:
        counts = Counter(dict.fromkeys(each, 0))
        counts.update(value for name, value in known.items() if signatures[name] == each)
        lacks.update({value: max(counts.values()) - many for value, many in counts.items()})
    first = sum(max(0, lacks[value] - came[value]) for value in lacks)
    rest = Counter({value: max(0, many - lacks[value]) for value, many in came.items()})
    second = max(0, 2 * max(rest.values(), default=0) - rest.total()) if signatures else 0
    if balance == "suppress":
        return release.counterfeits if newcomers == "counterfeits" else 0
    return first + (second if newcomers == "counterfeits" else 0)


@pytest.mark.parametrize("form", FORMS)
def test_golden_absence(form, monkeypatch):
    series = Series(2, form=form)
    first = series.release(version({"a": "x", "b": "y"}), monkeypatch)
    assert (first.counterfeits, first.waiting, first.suppressed) == (0, 0, 0)
    second = series.release(version({"a": "x"}), monkeypatch)
    assert list(groups_of(second).values()) in ([["x", "y"]], [["y", "x"]])
    assert (second.counterfeits, second.suppressed) == (1, 0)
    assert sorted(second.correspondence.tolist()) == [-1, 0]
    nobody = {f"_bucket_{D}": {"0": 1}}
    stated = sf.attribute_disclosure_risk(second.frame, SCHEMA, original=second.original, counterfeits=nobody)
    assert stated.values[D].maximum == 0.5
    assert stated.identity.maximum == 1.0
    assert sorted(second.published["age"].to_pylist(), key=str) == (["*", "0"] if form == "buckets" else [0, 0])


def test_counterfeits_are_told_and_counted_nowhere_else(monkeypatch, tmp_path):
    series = Series(2)
    series.release(version({"a": "x", "b": "y", "c": "x", "d": "z"}), monkeypatch)
    release = series.release(version({"a": "x", "c": "x", "e": "x"}), monkeypatch)
    assert (release.counterfeits, release.waiting, release.suppressed) == (2, 1, 1)
    assert release.metrics["suppressed-share"] == pytest.approx(1 / 3)
    assert release.metrics["average-class-size"] == 1
    assert release.audit.truth.counterfeits == 2
    assert release.audit.truth.to_dict()["counterfeits"] == 2
    assert "2 rows belong to nobody" in repr(release)
    assert "1 records wait" in repr(release)
    aligned = release.aligned()
    assert aligned.num_rows == 3
    assert [number is None for number in aligned[f"_bucket_{D}"].to_pylist()] == [False, False, True]
    release.write(tmp_path / "out")
    promise = json.loads((tmp_path / "out/public/promise.json").read_text())
    assert promise["counterfeits"]["rows"] == 2
    assert sum(promise["counterfeits"]["buckets"][f"_bucket_{D}"].values()) == 2
    assert "2 rows belong to nobody" in (tmp_path / "out/public/about.html").read_text()
    report = json.loads((tmp_path / "out/internal/report.json").read_text())
    assert report["rows"] == {"original": 3, "published": 2, "suppressed": 1, "counterfeits": 2, "waiting": 1}
    assert "wait for a later release" in (tmp_path / "out/internal/report.html").read_text()


@pytest.mark.parametrize("form", FORMS)
def test_an_audit_allows_as_many_rows_without_an_original_as_are_stated(form, monkeypatch):
    series = Series(2, form=form)
    series.release(version({"a": "x", "b": "y", "c": "x", "d": "z"}), monkeypatch)
    release = series.release(version({"a": "x", "c": "x"}), monkeypatch)
    models, table = release.recipe.models, release.frame
    known = {"original": release.original}
    assert sf.audit(table, SCHEMA, models).holds
    stated = stated_by(release)
    assert sf.audit(table, SCHEMA, models, **known, correspondence=release.correspondence, counterfeits=2).holds
    assert sf.audit(table, SCHEMA, models, **known, counterfeits=stated).holds
    if form == "buckets":
        assert sf.audit(table, SCHEMA, models, **known, counterfeits=2).holds
        with pytest.raises(sf.errors.SchemaError, match="nobody can tell which"):
            sf.audit(table, SCHEMA, models, **known, counterfeits=1)
    with pytest.raises(sf.errors.InvalidParameterError, match="counterfeits must be a whole number"):
        sf.audit(table, SCHEMA, models, counterfeits=-1)
    false = release.correspondence.copy()
    false[false >= 0] = false[false >= 0][::-1]
    swapped = table.set_column(table.column_names.index(D), D, pa.array(["q"] * table.num_rows))
    assert not sf.audit(swapped, SCHEMA, (), **known, correspondence=release.correspondence, counterfeits=2).holds
    assert not sf.audit(swapped, SCHEMA, (), **known, counterfeits=stated).holds
    if form == "buckets":
        assert not sf.audit(table, SCHEMA, models, **known, correspondence=false, counterfeits=2).truth.holds


def test_split_tables_join_again_with_counterfeits(monkeypatch):
    series = Series(2)
    series.release(version({"a": "x", "b": "y", "c": "x", "d": "z"}), monkeypatch)
    release = series.release(version({"a": "x", "c": "x"}), monkeypatch)
    records, values = sf.tables.split_bucketized(release)
    assert records.num_rows == 4
    joined = sf.tables.join_bucketized(records, values)
    assert Counter(joined[D].to_pylist()) == Counter(release.published[D].to_pylist())
    with pytest.raises(sf.errors.SchemaError, match="more or fewer values"):
        sf.tables.join_bucketized(records.slice(1), values)


def test_insensitive_cells_of_counterfeits_are_missing_and_others_stay_with_their_record(monkeypatch):
    schema = replace(SCHEMA, insensitive=["ward"])
    series = Series(2, schema)
    table = version({"a": "x", "b": "y"}).append_column("ward", pa.array([7, 1]))
    series.release(table, monkeypatch)
    release = series.release(table.slice(0, 1), monkeypatch)
    assert sorted(release.published["ward"].to_pylist(), key=str) == [7, None]


def test_first_tables_with_too_frequent_values_are_refused_or_cut_as_by_anatomy(monkeypatch):
    table = version(dict(zip("abcdef", "xxxxyz", strict=True)))
    with pytest.raises(
        sf.errors.InfeasibleError, match=r"'disease' cannot keep m = 2: .*66\.67%.*at most 1 unless 2 records"
    ):
        Series(2).release(table, monkeypatch)
    release = Series(2).release(table, monkeypatch, max_suppressed=0.34)
    assert (release.suppressed, release.waiting, release.counterfeits) == (2, 0, 0)
    with pytest.raises(sf.errors.InfeasibleError, match="3 different values in 6 rows, and buckets of m = 4"):
        Series(4).release(table, monkeypatch, max_suppressed=1.0)
    with pytest.raises(sf.errors.InfeasibleError, match="1 different values in 1 rows, and buckets of m = 2"):
        Series(2).release(table.slice(0, 1), monkeypatch)


def test_persons_who_changed_a_permanent_value_are_refused_or_left_out(monkeypatch):
    persons = dict(zip("abcd", "xyxz", strict=True))
    for how, series in ((how, Series(2, changed=how)) for how in ("refuse", "suppress")):
        series.release(version(persons), monkeypatch)
        now = version({**persons, "a": "q"})
        if how == "refuse":
            with pytest.raises(sf.errors.InfeasibleError, match="1 persons changed a permanent value of 'disease'"):
                series.release(now, monkeypatch)
        else:
            with pytest.raises(sf.errors.InfeasibleError, match="would suppress 1 records"):
                series.release(now, monkeypatch)
            assert series.release(now, monkeypatch, max_suppressed=0.25).suppressed == 1


def test_no_more_can_be_promised_than_was_shown_before(monkeypatch):
    series = Series(2)
    series.release(version(dict(zip("abcd", "xyzw", strict=True))), monkeypatch)
    series.m = 3
    with pytest.raises(
        sf.errors.InfeasibleError, match=r"4 persons were published among fewer than m = 3.*m = 2 at most"
    ):
        series.release(version(dict(zip("abcd", "xyzw", strict=True))), monkeypatch)


def test_newcomers_who_cannot_be_assigned_wait_or_bring_counterfeits(monkeypatch):
    for newcomers, waiting, fakes in (("wait", 4, 0), ("counterfeits", 0, 4)):
        series = Series(2, newcomers=newcomers)
        series.release(version({"a": "x", "b": "y"}), monkeypatch)
        persons = {"a": "x", "b": "y", **dict.fromkeys("cdef", "x")}
        release = series.release(version(persons), monkeypatch)
        assert (release.waiting, release.counterfeits, release.suppressed) == (waiting, fakes, waiting)
    lonely = Series(2)
    lonely.release(version({"a": "x", "b": "y"}), monkeypatch)
    with pytest.raises(sf.errors.InfeasibleError, match="all 2 newcomers wait"):
        lonely.release(version({"c": "x", "d": "x"}), monkeypatch)
    few = Series(2, newcomers="counterfeits")
    few.release(version({"a": "x", "b": "y"}), monkeypatch)
    with pytest.raises(sf.errors.InfeasibleError, match="1 different values, fewer than m = 2"):
        few.release(version({"c": "x", "d": "x"}), monkeypatch)


def test_missing_values_are_refused_and_numbers_stay_numbers(monkeypatch):
    with pytest.raises(sf.errors.UnsupportedModelError, match="1 missing cells of column 'disease'"):
        Series(2).release(version({"a": None, "b": "y"}), monkeypatch)
    numbers = sf.Schema(identifiers=["name"], quasi_identifiers=["age"], sensitive=[D])
    table = pa.table({"name": ["a", "b"], "age": [1, 2], D: [1.5, 2.0]})
    release = sf.anonymize(table, numbers, [sf.models.MInvariance(m=2, sensitive=D)], sf.algorithms.MInvariantBuckets())
    assert release.published[D].type == pa.float64()


REFUSED = {
    "promise MInvariance": ([sf.models.FrequencyLDiversity(l=2, sensitive=D)], {}),
    "hides values, not identities": ([sf.models.MInvariance(m=2, sensitive=D), sf.models.KAnonymity(k=2)], {}),
    "missing cells may be any value": (
        [sf.models.MInvariance(m=2, sensitive=D)],
        {"missing": MissingPolicy.MATCHES_ALL},
    ),
    "one sensitive attribute, and 'job'": ([sf.models.MInvariance(m=2, sensitive=D)], {"sensitive": [D, "job"]}),
    "supports one sensitive attribute|one sensitive attribute": (
        [sf.models.MInvariance(m=2, sensitive=D), sf.models.MInvariance(m=2, sensitive="job")],
        {"sensitive": [D, "job"]},
    ),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_would_break_a_series_is_refused_in_a_sentence(said):
    models, changes = REFUSED[said]
    table = version(dict(zip("abcd", "xyzw", strict=True))).append_column("job", pa.array(list("mnop")))
    with pytest.raises(sf.errors.UnsupportedModelError, match=said) as caught:
        sf.anonymize(table, replace(SCHEMA, **changes), models, sf.algorithms.MInvariantBuckets())
    assert str(caught.value).count(". ") == 0


def test_other_promises_about_values_are_kept_or_refused():
    table = version(dict(zip("abcdef", "xyzxyz", strict=True)))
    invariant = sf.models.MInvariance(m=2, sensitive=D)
    kept = sf.anonymize(
        table, SCHEMA, [invariant, sf.models.FrequencyLDiversity(l=3, sensitive=D)], sf.algorithms.MInvariantBuckets()
    )
    assert kept.audit.level("frequency-l-diversity") == 3
    with pytest.raises(sf.errors.InfeasibleError, match="do not keep TCloseness"):
        sf.anonymize(
            table, SCHEMA, [invariant, sf.models.TCloseness(t=0.1, sensitive=D)], sf.algorithms.MInvariantBuckets()
        )


@pytest.mark.parametrize(
    ("option", "value"), [("form", "cells"), ("newcomers", "go"), ("balance", "no"), ("changed", "keep")]
)
def test_unknown_choices_are_refused(option, value):
    with pytest.raises(sf.errors.InvalidParameterError, match=f"MInvariantBuckets.{option} must be"):
        sf.algorithms.MInvariantBuckets(**{option: value})


def test_buckets_are_judged_one_by_one_and_other_groups_where_there_are_none():
    invariant = sf.models.MInvariance(m=2, sensitive=D)
    table = pa.table({"age": [1, 1, 1, 1], D: list("xyxz"), f"_bucket_{D}": [0, 0, 1, 1]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=[D])
    assert sf.audit(table, schema, [invariant]).holds
    assert not sf.audit(table.drop_columns([f"_bucket_{D}"]), schema, [invariant]).holds
    loose = table.set_column(2, f"_bucket_{D}", pa.array([0, 0, 1, None]))
    found = sf.audit(loose, schema, [invariant])
    assert found.violating_rows(invariant).tolist() == [2, 3]


@pytest.mark.parametrize("form", FORMS)
def test_boxes_cover_their_persons_and_buckets_show_values_as_they_are(form):
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": pa.array(rng.integers(20, 60, 200), mask=rng.random(200) < 0.1),
            "job": rng.choice(["clerk", "farmer", "diver"], 200),
            D: rng.choice(list("vwxyz"), 200),
        }
    )
    schema = sf.Schema(
        quasi_identifiers=["age", "job"], sensitive=[D], hierarchies={"age": sf.hierarchies.Intervals(5, 10)}
    )
    release = sf.anonymize(
        table, schema, [sf.models.MInvariance(m=3, sensitive=D)], sf.algorithms.MInvariantBuckets(form=form)
    )
    assert release.audit.holds
    assert (release.metrics["loss"] == 0) is (form == "buckets")
    assert release.metrics["loss"] < 0.5


class Promised(AlgorithmTrial):
    """A trial of requests that all promise m-invariance."""

    def _supported_outcome(self, asked):
        for request in asked:
            if request not in self._outcomes:
                self._outcomes[request] = self._outcome(request)
            assert self._outcomes[request] is not None
            yield self._outcomes[request]


ASKED_APART = {laws.check_declared_capabilities, laws.check_blockwise_search}


@pytest.fixture(scope="module", params=FORMS)
def trial(request):
    served = [
        each for each in requests() if each.schema.missing is MissingPolicy.OWN_VALUE and each.schema.sensitive == (D,)
    ]
    invariant = [sf.models.MInvariance(m=2, sensitive=D)]
    promised = tuple(replace(each, models=invariant, max_suppressed=0.2) for each in served[:3])
    assert len(promised) == 3
    return Promised(sf.algorithms.MInvariantBuckets(form=request.param), promised, ())


@pytest.mark.parametrize("law", laws.ALGORITHM_CHECKS, ids=lambda law: law.__name__)
def test_laws_of_all_algorithms_are_kept(trial, law):
    if law not in ASKED_APART:
        law(trial)


def test_blocks_are_refused():
    table = version(dict(zip("abcd", "xyzw", strict=True)))
    with pytest.raises(sf.errors.UnsupportedModelError, match="not searched in blocks"):
        sf.anonymize(
            table, SCHEMA, [sf.models.MInvariance(m=2, sensitive=D)], sf.algorithms.MInvariantBuckets(), block_rows=2
        )
