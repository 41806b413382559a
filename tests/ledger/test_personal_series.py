"""Personalized series: flags come and go, and all releases together expose nobody who hides her value."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from personal_versions import SCHEMA, D, Personal, buckets, promised, version
from sfumato.core import _atomic_writes
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError, UnsupportedModelError

FOUR = "ax+ by+ cz+ dw+"


def holds(series: Personal, models: list[sf.models.GroupModel] | None = None) -> bool:
    """Judge a series by its files and by its ledger, which agree."""
    over = [model for model in models or series.models if model.applies_to_buckets]
    told = sf.audit_series(series.releases, models=models)
    remembered = sf.audit_series(series.ledger, models=over)
    assert told.disclosure_risk(D).max() == remembered.disclosure_risk(D).max()
    assert told.disclosure_risk(D).visible == remembered.disclosure_risk(D).visible
    assert told.disclosure_risk(D).counterfeits == remembered.disclosure_risk(D).counterfeits
    return told.holds and remembered.holds


def test_in_a_fresh_bucket_of_four_values_a_shown_cell_leaves_one_of_three_to_the_others(tmp_path):
    series = Personal(tmp_path, promised(4, 1 / 3))
    assert buckets(series.release(FOUR)) == {("abcd", "wxyz", 0)}
    assert series.highest() == 1 / 4
    second = series.release("ax- by+ cz+ dw+")
    assert buckets(second) == {("bcd", "wxyz", 1)}
    assert series.changes() == (1, 0, 0)
    assert second.aligned()[D].to_pylist()[0] == "x"
    assert series.highest() == 1 / 3
    assert holds(series)


def test_a_cell_stays_in_its_bucket_if_showing_it_would_expose_others(tmp_path):
    series = Personal(tmp_path, promised(4, 1 / 3))
    series.release(FOUR)
    series.release("ax- by+ cz+ dw+")
    third = series.release("ax- by- cz+ dw+")
    assert buckets(third) == {("bcd", "wxyz", 1)}
    assert series.changes() == (0, 1, 0)
    assert series.highest() == 1 / 3
    assert holds(series)


def test_of_several_cells_as_many_are_shown_as_the_limit_allows(tmp_path):
    series = Personal(tmp_path, promised(4, 1 / 3))
    series.release(f"{FOUR} ev+ fu+ gt+ hs+")
    series.release("ax- by- cz- dw+ ev- fu+ gt+ hs+")
    shown, hidden, _ = series.changes()
    assert (shown, hidden) in {(1, 3), (2, 2)}  # one of each bucket, and a, b, c and e may be in one or in two
    assert series.highest() == 1 / 3
    assert holds(series)


def test_nobody_joins_those_who_were_with_somebody_whose_cell_is_shown(tmp_path):
    series = Personal(tmp_path, promised(4, 1 / 3))
    series.release(FOUR)
    series.release("ax- by+ cz+ dw+")
    third = series.release("ax- by+ cz+ ex+ dw+")  # e would be known to have x
    assert buckets(third) == {("bcd", "wxyz", 1)}
    assert third.waiting == 1
    fourth = series.release("by+ ex+ fy+ gz+ hw+")
    assert buckets(fourth) == {("b", "wxyz", 3), ("efgh", "wxyz", 0)}
    assert series.highest() == 1 / 3


def test_without_a_promise_over_the_series_that_of_every_release_is_the_limit(tmp_path):
    series = Personal(tmp_path, [sf.models.FrequencyLDiversity(l=3, sensitive=D)])
    series.release("ax+ by+ cz+")
    series.release("ax- by+ cz+")
    assert series.changes() == (0, 1, 0)
    assert series.highest() == 1 / 3


def test_without_room_between_bucket_and_limit_no_cell_is_shown(tmp_path):
    series = Personal(tmp_path, [sf.models.MInvariance(m=2, sensitive=D)])
    series.release("ax+ by+ cx-")
    second = series.release("ax- by+ cx-")
    assert buckets(second) == {("ab", "xy", 0)}
    assert series.changes() == (0, 1, 0)
    assert holds(series)


def test_a_cell_that_was_shown_is_flagged_too_late_and_told(tmp_path):
    series = Personal(tmp_path, [sf.models.MInvariance(m=2, sensitive=D)])
    series.release("ax+ by+ cx-")
    with pytest.raises(
        InfeasibleError, match=r"^1 cells of 'disease' are flagged that earlier releases showed, .*back; "
    ):
        series.release("ax+ by+ cx+")
    assert len(series.ledger.releases()) == 1
    series.algorithm = sf.algorithms.LocalAnatomy(allow_shown=True)
    second = series.release("ax+ by+ cx+")
    assert buckets(second) == {("ab", "xy", 0), ("c", "xy", 1)}  # c hides nobody, for everybody knows that she has x
    assert series.changes() == (0, 0, 1)
    assert series.highest() == 1 / 2
    third = series.release("ax+ cx+ dy+")
    assert buckets(third) == {("ad", "xy", 0), ("c", "xy", 1)}
    assert holds(series)


def test_a_person_who_shows_and_hides_again_does_not_expose_those_who_were_with_her(tmp_path):
    series = Personal(tmp_path, promised(3, 1 / 2), allow_shown=True)
    series.release("ax+ by+ cz+")
    for written in ("ax- by+ cz+", "ax+ by+ cz+ dx+ ey+ fz+", "ax+ by+ cz+ dx+ ey+ fz-"):
        series.release(written)
        assert series.highest() == 1 / 2
    assert holds(series)


@pytest.mark.parametrize("seed", range(8))
def test_by_all_worlds_nobody_is_exposed_above_the_limit(seed, tmp_path):
    rng = random.Random(seed)
    series = Personal(tmp_path, promised(3, 1 / 2), allow_shown=True)
    value = {name: rng.choice("xyzw") for name in "abcdefghijkl"}
    hide, here = {name: rng.random() < 0.8 for name in value}, set("abcdefgh")
    for turn in range(4):
        written = " ".join(f"{name}{value[name]}{'-+'[hide[name]]}" for name in sorted(here))
        try:
            series.release(written, max_suppressed=1.0 if not turn else 0.0)
        except InfeasibleError:
            assert not turn  # in a first release nobody waits
            return
        assert series.highest() <= 1 / 2 + 1e-12
        here ^= set(rng.sample("abcdefghijkl", 3))
        here |= {"a", "b"}
        for name in rng.sample("abcdefghijkl", 3):
            hide[name] = not hide[name]
    assert holds(series)


def population(quarters: int, persons: int, flips: float, seed: int = 1):
    """Make up quarters in which patients flag and un-flag their conditions and countries."""
    rng, flags = np.random.default_rng(seed), {}
    for table in sf.datasets.generate_hospital_series(persons, quarters, seed=seed, values=12, largest=0.2):
        for name in table["patient"].to_pylist():
            drawn = rng.random(3)
            old = flags.get(name)
            flags[name] = drawn[:2] < 0.4 if old is None else old ^ (drawn[1:] < flips)
        mine = np.array([flags[name] for name in table["patient"].to_pylist()])
        shown = table.select(["patient", "age", "sex", "nationality", "condition", "illness"])
        yield shown.append_column("hc", pa.array(mine[:, 0])).append_column("hn", pa.array(mine[:, 1]))


POPULATION = sf.Schema(
    identifiers=["patient"],
    quasi_identifiers=["age", "sex", "nationality"],
    sensitive=["condition", "illness"],
    flags={"condition": "hc", "nationality": "hn"},
    transient=["illness"],
)
PROMISED = [
    sf.models.FrequencyLDiversity(l=4, sensitive="condition"),
    sf.models.BoundedSeriesDisclosure(limit=0.34, sensitive="condition"),
    sf.models.MInvariance(m=2, sensitive="nationality"),
    sf.models.FrequencyLDiversity(l=3, sensitive="illness"),
]


@pytest.mark.parametrize(
    "algorithm",
    [sf.algorithms.LocalAnatomy(allow_shown=True), sf.algorithms.LocalAnatomyGeneralization(allow_shown=True)],
)
def test_several_attributes_are_safe_over_a_series_each_by_itself(algorithm, tmp_path):
    general = isinstance(algorithm, sf.algorithms.LocalAnatomyGeneralization)
    models = [*PROMISED, *([sf.models.KAnonymity(k=4)] if general else [])]
    ledger, releases = sf.Series.create(tmp_path / "ledger"), []
    for table in population(4, 240, 0.1):
        releases.append(sf.anonymize(table, POPULATION, models, algorithm, ledger=ledger, max_suppressed=0.02))
        releases[-1].write(tmp_path / f"r{len(releases)}", report=False)
    series = sf.audit_series(releases, models=models)
    assert series.holds
    assert series.disclosure_risk("condition").max() == pytest.approx(1 / 3)
    assert series.disclosure_risk("nationality").max() == 0.5
    remembered = sf.audit_series(ledger)
    for name in POPULATION.sensitive:
        assert series.disclosure_risk(name).counterfeits == remembered.disclosure_risk(name).counterfeits
    last = releases[-1]
    both = {name: last.draft.version.memory.attributes[name] for name in ("condition", "nationality")}
    assert all(each.shown.any() and (each.place >= 0).any() for each in both.values())
    assert sum(ledger.releases()[-1].counterfeits.values()) == last.counterfeits > 0
    stated = sf.audit(last.frame, POPULATION, models, counterfeits=_stated(last))
    assert stated.holds
    assert ledger.verify() == ()


def test_rows_of_nobody_for_one_attribute_show_nothing_of_another(tmp_path):
    schema = replace(SCHEMA, sensitive=[D, "ward"], flags={})
    models = [sf.models.MInvariance(m=2, sensitive=D), sf.models.MInvariance(m=3, sensitive="ward")]
    series = Personal(tmp_path, models)
    first = version("ax+ by+ cx+ dy+ ex+ fy+").append_column("ward", pa.array(list("123123")))
    series.release(first, schema)
    last = series.release(first.slice(1), schema)  # somebody else with x and in ward 1 is lacking, each in its bucket
    assert last.counterfeits == 2
    assert sf.audit_series(series.releases).holds
    known = {"original": last.original, "correspondence": last.correspondence}
    for told in ({}, known):
        stated = sf.audit(last.frame, schema, models, **told, counterfeits=_stated(last))
        assert stated.holds
        assert stated.records == 5


def _stated(release: sf.Release) -> dict[str, dict[str, int]]:
    from sfumato.report.guarantee import counterfeit_statement

    return counterfeit_statement(release.evidence)["buckets"]


def test_if_flags_stay_nothing_is_shown_later_and_few_rows_are_nobodys(tmp_path):
    ledger, found = sf.Series.create(tmp_path / "ledger"), []
    models = [sf.models.MInvariance(m=2, sensitive="condition")]
    schema = replace(POPULATION, sensitive=["condition"], flags={"condition": "hc"}, transient=[])
    for number, table in enumerate(population(4, 2000, 0.0)):
        release = sf.anonymize(table, schema, models, sf.algorithms.LocalAnatomy(), ledger=ledger)
        release.write(tmp_path / f"r{number}", report=False)
        found.append(release)
    cells = sum(each.published["_bucket_condition"].drop_null().length() for each in found)
    assert sum(each.counterfeits for each in found) <= 0.01 * cells
    series = sf.audit_series(found)
    assert series.holds
    assert series.level("m-invariance", "condition") == 2
    assert series.disclosure_risk("condition").decided == 0


def test_a_quarter_in_which_nobody_flags_anything_goes_on(tmp_path):
    series = Personal(tmp_path, promised(2, 1 / 2))
    series.release("ax+ by+ cx-")
    second = series.release("ax- by- cx-")  # nobody is left whom that would expose
    assert buckets(second) == set()
    assert second.published["_bucket_disease"].null_count == 3
    assert series.changes() == (2, 0, 0)
    third = series.release("cx- dx+ ey+ fz+")
    assert sum(nobody for *_, nobody in buckets(third)) == 0
    assert third.waiting in {0, 1}
    assert holds(series)


def test_models_beside_a_series_are_not_refused_because_counterfeits_are_needed(tmp_path):
    promise = [sf.models.MInvariance(m=2, sensitive=D), sf.models.FrequencyLDiversity(l=2, sensitive=D)]
    bound = sf.models.ConfidenceBounding(bounds={"y": 0.5}, sensitive=D)
    plain = replace(SCHEMA, flags={})
    for algorithm in (sf.algorithms.MInvariantBuckets(), sf.algorithms.LocalAnatomy()):
        folder = tmp_path / algorithm.name
        folder.mkdir()
        series = Personal(folder, [*promise, bound])
        series.algorithm = algorithm
        series.release("ax+ by+ cx+ dy+", plain)
        second = series.release("ax+ cx+", plain)  # all of them have x, and nobody has y
        assert second.counterfeits == 2
        assert sf.audit_series(series.releases).holds


def test_a_transient_value_outside_its_signature_is_not_called_permanent(tmp_path):
    series = Personal(tmp_path, [sf.models.MInvariance(m=2, sensitive=D)])
    fleeting = replace(SCHEMA, transient=[D])
    series.release("ax+ by+", fleeting)
    with pytest.raises(
        InfeasibleError, match="1 persons have a value of 'disease', which is transient, that is not among"
    ):
        series.release("az+ by+", fleeting)
    series.release("ay+ bx+ cz-", fleeting)
    assert series.releases[-1].counterfeits == 0


def test_what_changes_and_is_promised_nothing_over_a_series_stands_alone_in_every_release(tmp_path):
    series = Personal(tmp_path, [sf.models.FrequencyLDiversity(l=2, sensitive=D)])
    fleeting = replace(SCHEMA, transient=[D])
    series.release("ax+ by+ cz-", fleeting)
    second = series.release("az- bx+ cy+", fleeting)  # c may flag what she showed, for it was another value
    assert buckets(second) == {("bc", "xy", 0)}
    exposed = sf.audit_series(series.releases).disclosure_risk(D)
    assert (exposed.max(), exposed.visible) == (0.5, 0)


def test_a_permanent_value_that_changed_is_refused_and_nothing_is_recorded(tmp_path):
    series = Personal(tmp_path, promised(2, 1 / 2))
    series.release("ax+ by+ cx-")
    with pytest.raises(InfeasibleError, match="1 persons changed a permanent value of 'disease'"):
        series.release("az+ by+ cx-")
    with pytest.raises(SchemaError, match="1 persons changed a permanent value, of 'disease'"):
        series.release("ax+ by+ cz-")
    assert len(series.ledger.releases()) == 1


@pytest.mark.parametrize("second", ["ax- by+ cz+ dw+", "ax+ by+ cz+ dw+"])
def test_who_stays_with_her_companions_cannot_change_her_value_or_be_promised_more(second, tmp_path):
    series = Personal(tmp_path, promised(4, 1 / 3))
    series.release(FOUR)
    series.release(second)
    for other in ("v", "z"):  # outside of her signature, and inside
        with pytest.raises((InfeasibleError, SchemaError), match="1 persons changed a permanent value"):
            series.release(f"ax- b{other}+ cz+ dw+")
    series.models = promised(5, 1 / 3)
    with pytest.raises(InfeasibleError, match="published among fewer than m = 5 values of 'disease'"):
        series.release("ax- by+ cz+ dw+")


def test_who_changed_her_value_within_her_signature_can_be_left_out(tmp_path):
    series = Personal(tmp_path, [sf.models.MInvariance(m=2, sensitive=D)])
    series.algorithm = sf.algorithms.MInvariantBuckets(changed="suppress")
    plain = replace(SCHEMA, flags={})
    series.release("ax+ by+", plain)
    second = series.release("ay+ by+", plain, max_suppressed=0.5)
    assert buckets(second) == {("b", "xy", 1)}


def test_promises_that_equal_buckets_cannot_keep_are_refused(tmp_path):
    close, classes = sf.models.TCloseness(t=0.2, sensitive=D), sf.models.MDistinct(m=2, sensitive=D, stays={})
    for model, sentence in ((close, "in a series, because"), (classes, "which is about classes of values")):
        series = Personal(tmp_path, [model])
        with pytest.raises(UnsupportedModelError, match=sentence):
            series.release(FOUR)
        (tmp_path / "ledger").unlink()
        (tmp_path / "ledger.key").unlink()
        (tmp_path / "ledger.head").unlink()


def test_a_quarter_in_which_everybody_waits_is_refused(tmp_path):
    series = Personal(tmp_path, [sf.models.MInvariance(m=2, sensitive=D)])
    series.release("ax+ by+")
    assert series.release("ax+ by+ cz+").waiting == 1
    with pytest.raises(InfeasibleError, match="LocalAnatomy can publish nobody: all 1 newcomers wait"):
        series.release("cz+")


def test_a_series_is_not_searched_in_blocks(tmp_path):
    series = Personal(tmp_path, [sf.models.FrequencyLDiversity(l=2, sensitive=D)])
    with pytest.raises(InvalidParameterError, match="looks at all persons of a series together"):
        series.release(FOUR, replace(SCHEMA, flags={}), block_rows=2)


def test_buckets_of_persons_are_refused_where_cells_were_shown(tmp_path):
    series = Personal(tmp_path, [sf.models.MInvariance(m=2, sensitive=D)])
    series.release("ax+ by+ cx-")
    series.algorithm = sf.algorithms.MInvariantBuckets()
    with pytest.raises(UnsupportedModelError, match="cells that earlier releases showed; use LocalAnatomy"):
        series.release("ax+ by+ cx+", replace(SCHEMA, flags={}))


def test_m_invariance_needs_no_ledger_for_a_release_alone():
    release = sf.anonymize(
        version(FOUR), SCHEMA, [sf.models.MInvariance(m=2, sensitive=D)], sf.algorithms.LocalAnatomy()
    )
    assert release.audit.level("m-invariance", D) == 2
    with pytest.raises(InfeasibleError, match="cannot keep m = 2"):
        sf.anonymize(
            version("ax+ bx+ cy+"), SCHEMA, [sf.models.MInvariance(m=2, sensitive=D)], sf.algorithms.LocalAnatomy()
        )


def test_a_release_that_was_not_put_into_place_leaves_no_trace(tmp_path, monkeypatch):
    series = Personal(tmp_path, promised(4, 1 / 3))
    series.release(FOUR)

    def fails(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(_atomic_writes, "_move_folder", fails)
        with pytest.raises(Exception, match="No space left"):
            series.release("ax- by+ cz+ dw+")
    assert len(series.ledger.releases()) == 1
    assert not series.ledger.history(D).unflagged.any()
    series.release("ax+ by- cz+ dw+")  # the cell of a was never shown, so b's may be
    assert series.changes() == (1, 0, 0)
    assert holds(series)


def test_the_report_and_the_ledger_tell_of_cells_that_are_shown(tmp_path):
    import json

    series = Personal(tmp_path, promised(4, 1 / 3), allow_shown=True)
    series.release(f"{FOUR} ex-")
    release = sf.anonymize(
        version("ax- by- cz+ dw+ ex+"), SCHEMA, series.models, series.algorithm, ledger=series.ledger
    )
    release.write(tmp_path / "second")
    told = json.loads((tmp_path / "second/internal/report.json").read_text("utf-8"))["series"]["attributes"][0]
    assert [told[name] for name in ("shown_now", "kept_hidden", "flagged_late")] == [1, 1, 1]
    assert [each["shown"] for each in told["releases"]] == [1, 2]
    assert [each["maximum"] for each in told["releases"]] == [0.25, pytest.approx(1 / 3)]
    page = (tmp_path / "second/internal/report.html").read_text("utf-8")
    for sentence in (
        "The values of 2 people are shown, because they did not flag them",
        "1 cell that earlier releases hid is no longer flagged, and is shown from now on",
        "1 cell is no longer flagged and stays hidden in this release all the same",
        "1 cell is flagged that an earlier release showed, which cannot be taken back",
    ):
        assert sentence in page
    assert [each.groups[D] for each in series.ledger.releases()] == [1, 2]


def test_the_public_table_alone_tells_which_rows_are_nobodys_though_others_show_nothing_but_stars(tmp_path):
    schema = replace(SCHEMA, flags={D: "hide", "age": "hide_age"})
    models = [*promised(3, 1 / 2), sf.models.FrequencyLDiversity(l=2, sensitive="age")]
    series = Personal(tmp_path, models)

    def hiding(written: str, ages: str) -> pa.Table:
        return version(written).append_column("hide_age", pa.array([cell[0] in ages for cell in written.split()]))

    series.release(hiding("ax+ by+ dw+ ex- fy-", "aef"), schema)
    last = series.release(hiding("ax+ dw+ ex- fy-", "aef"), schema)
    assert last.counterfeits
    audit = sf.audit(last.frame, schema, models, counterfeits=_stated(last))
    assert audit.holds
    assert audit.records == 4
