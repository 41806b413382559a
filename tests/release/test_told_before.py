"""A release of a series tells in its report what the releases up to it told together."""

from __future__ import annotations

import json

import pytest

import sfumato as sf
from series_of_patients import SCHEMA, quarter
from sfumato.tables.series._context import cumulative_disclosure

INVARIANT = [sf.models.MInvariance(m=2, sensitive="disease")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("series")
    ledger = sf.Series.create(place / "h.ledger")
    for number, (first, last) in enumerate([(0, 40), (4, 44), (7, 50)], start=1):
        release = sf.anonymize(
            quarter(first, last), SCHEMA, INVARIANT, sf.algorithms.MInvariantBuckets(), ledger=ledger
        )
        release.write(place / f"q{number}")
    return place


def test_the_report_tells_the_exposure_after_every_release_as_the_ledger_does(folder):
    told = json.loads((folder / "q3" / "internal" / "report.json").read_text("utf-8"))["series"]
    ledger = sf.Series(folder / "h.ledger")
    history, recorded = ledger.history("disease"), ledger.releases()
    assert (told["number"], told["published_before"], told["published_first"]) == (3, 37, 6)
    (attribute,) = told["attributes"]
    assert (attribute["attribute"], attribute["limit"]) == ("disease", 0.5)
    for number, (each, release) in enumerate(zip(attribute["releases"], recorded, strict=True), start=1):
        exposed = sf.series_disclosure_risk(history.truncate(number))
        assert each["release"] == number
        assert (each["maximum"], each["mean"], each["exact"]) == (exposed.max(), exposed.mean(), True)
        assert (each["persons"], each["equal_pairs"]) == (exposed.individuals, exposed.equal_pairs)
        assert each["counterfeits"] == release.counterfeits["disease"]
    assert told["counterfeits"] == recorded[-1].counterfeits["disease"]


def test_a_report_made_later_does_not_tell_of_releases_that_came_after(folder):
    ledger = sf.Series(folder / "h.ledger")
    early = sf.anonymize(quarter(9, 52), SCHEMA, INVARIANT, sf.algorithms.MInvariantBuckets(), ledger=ledger)
    for later in ("q4", "q5"):
        late = sf.anonymize(quarter(9, 52), SCHEMA, INVARIANT, sf.algorithms.MInvariantBuckets(), ledger=ledger)
        late.write(folder / later, report=False)
    assert len(early.measurements.section("series")["attributes"][0]["releases"]) == 4


def test_the_strictest_promise_about_a_series_is_the_limit(folder):
    models = [*INVARIANT, sf.models.BoundedSeriesDisclosure(limit=0.9, sensitive="disease")]
    ledger = sf.Series(folder / "h.ledger")
    release = sf.anonymize(quarter(9, 52), SCHEMA, INVARIANT, sf.algorithms.MInvariantBuckets(), ledger=ledger)
    who = {"evidence": release.evidence, "rows": release.correspondence, "at": release.correspondence}
    assert cumulative_disclosure(release.draft, models, **who)["attributes"][0]["limit"] == 0.5
    assert cumulative_disclosure(release.draft, [sf.models.KAnonymity(k=2)], **who)["attributes"][0]["limit"] is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_has_the_section_with_picture_and_table(folder, language):
    from sfumato._locale.messages import load_messages
    from sfumato.core.writing import read_facts, render

    page, say = render(read_facts(folder / "q3"), language), load_messages(language)
    section = page[page.index('<section id="series">') : page.index('<section id="risk"')]
    for key in ("series.heading", "series.picture.title", "series.columns.pairs"):
        assert say(key) in section
    assert section.count("<tr>") == 4
    assert say("series.before", attribute="disease", before="0.5", after="0.5") in section
    assert 'href="#series"' in page


def test_a_release_of_no_series_has_no_such_section():
    release = sf.anonymize(quarter(0, 40), SCHEMA, [sf.models.KAnonymity(k=2)])
    assert release.measurements.section("series") is None
    assert "series" not in release.report().html.split("<main>")[0].split("<nav")[1]
