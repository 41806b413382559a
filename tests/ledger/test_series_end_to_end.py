"""Series of releases made with a ledger: what an enemy of them tries, and what stays promised."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import sfumato as sf
from series_of_versions import SCHEMA, D, version

FORMS = ("buckets", "boxes")


def released(ledger: sf.Series, table, folder, m: int = 2, **options) -> sf.Release:
    """Publish a version, and record it."""
    allowed = {name: options.pop(name) for name in ("max_suppressed",) if name in options}
    promised = [sf.models.MInvariance(m=m, sensitive=D)]
    release = sf.anonymize(
        table, SCHEMA, promised, sf.algorithms.MInvariantBuckets(**options), ledger=ledger, **allowed
    )
    release.write(folder, report=options.get("form") == "boxes")
    return release


def assert_safe(ledger: sf.Series, releases: list[sf.Release], m: int) -> None:
    """Judge a series by its releases, and by what the ledger remembers: both keep m-invariance exactly."""
    promised = [sf.models.MInvariance(m=m, sensitive=D), sf.models.BoundedSeriesDisclosure(limit=1 / m, sensitive=D)]
    told = sf.audit_series(releases, models=promised)
    remembered = sf.audit_series({D: ledger.history(D)}, models=promised)
    for audit in (told, remembered):
        assert audit.holds
        assert audit.disclosure_risk(D).exact
        assert audit.disclosure_risk(D).max() <= 1 / m
    assert told.disclosure_risk(D).counterfeits == remembered.disclosure_risk(D).counterfeits
    ledger.verify()


@pytest.mark.parametrize("form", FORMS)
def test_persons_who_come_leave_and_return_are_safe_over_the_series(form, tmp_path):
    rng = random.Random(form)
    ledger = sf.Series.create(tmp_path / "ledger")
    persons = {f"p{at}": "xyz"[at % 3] for at in range(9)}
    gone, releases = {}, []
    for turn in range(4):
        releases.append(released(ledger, version(persons), tmp_path / f"r{turn}", form=form))
        for name in rng.sample(sorted(persons), len(persons) // 2):
            gone[name] = persons.pop(name)
        for name in rng.sample(sorted(gone), 2):
            persons[name] = gone.pop(name)
        persons |= {f"new {turn} {at}": rng.choice(["x", "u", "v", f"only {turn}"]) for at in range(4)}
    assert sum(release.counterfeits for release in releases)
    assert_safe(ledger, releases, 2)


def test_a_release_in_which_most_wait_is_written_with_its_report(tmp_path):
    ledger = sf.Series.create(tmp_path / "ledger")
    first = released(ledger, version({"a": "x", "b": "y"}), tmp_path / "r1", form="boxes")
    many = {"a": "x"} | {f"n{at}": "x" for at in range(9)}
    second = released(ledger, version(many), tmp_path / "r2", form="boxes")
    assert second.waiting == 9
    assert_safe(ledger, [first, second], 2)


def test_a_space_in_an_identifier_makes_nobody_a_newcomer(tmp_path):
    ledger = sf.Series.create(tmp_path / "ledger")
    released(ledger, version({"a": "x", "b": "y", "c": "z", "d": "x"}), tmp_path / "r1")
    later = sf.anonymize(
        version({"a ": "x", " b": "y", "c": "z", "d": "x"}),
        SCHEMA,
        [sf.models.MInvariance(m=2, sensitive=D)],
        sf.algorithms.MInvariantBuckets(),
        ledger=ledger,
    )
    assert later.draft.figures(later.correspondence)["published_before"] == 4
    with pytest.raises(sf.errors.SchemaError, match="1 rows have the identifiers of another row"):
        ledger.draft(version({"a": "x", "a ": "y"}), SCHEMA)


def test_a_version_without_rows_is_called_so(tmp_path):
    ledger = sf.Series.create(tmp_path / "ledger")
    released(ledger, version({"a": "x", "b": "y"}), tmp_path / "r1")
    with pytest.raises(sf.errors.SchemaError, match="no rows"):
        released(ledger, version({}), tmp_path / "r2")


def test_a_type_that_cannot_hold_earlier_values_is_refused_without_naming_them(tmp_path):
    ledger = sf.Series.create(tmp_path / "ledger")
    released(ledger, _numbers({"a": 1.0, "b": 2.75}), tmp_path / "r1")
    with pytest.raises(sf.errors.SchemaError, match="another type than in earlier releases") as refused:
        released(ledger, _numbers({"a": 1}), tmp_path / "r2")
    assert "2.75" not in str(refused.value)
    assert refused.value.__cause__ is None


def _numbers(persons: dict[str, float]) -> pa.Table:
    return pa.table({"name": list(persons), "age": list(range(len(persons))), D: list(persons.values())})
