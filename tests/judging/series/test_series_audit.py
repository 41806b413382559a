"""Releases judged together: from releases, from pairs of tables, and from histories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from series_oracle import GOLDEN, written
from sfumato.tables.series._versions import Versions
from sfumato.tables.series.audit import audit_histories

SCHEMA = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=["disease"])
PROMISES = [
    sf.models.MInvariance(m=2, sensitive="disease"),
    sf.models.BoundedSeriesDisclosure(limit=0.5, sensitive="disease"),
]
PERSONS = {person: {"id": number + 1, "age": 20 + number} for number, person in enumerate("abcdefgh")}


def version(values: dict[str, str]) -> pd.DataFrame:
    rows = [{**PERSONS[person], "disease": value} for person, value in values.items()]
    return pd.DataFrame(rows)


def bucketed(original: pd.DataFrame, groups: str, **more: list[object]) -> pd.DataFrame:
    """Publish a version with exact ages in buckets, given as `ab cd`; values are turned around in every bucket."""
    shown = original.drop(columns="id").assign(**more)
    ages = {PERSONS[person]["age"]: number for number, members in enumerate(groups.split()) for person in members}
    shown["_bucket_disease"] = shown["age"].map(ages)
    shown["disease"] = shown.groupby("_bucket_disease")["disease"].transform(lambda cells: cells.to_numpy()[::-1])
    return shown


FIRST = version({"a": "x", "b": "y", "c": "y", "d": "x"})
SAFE = [(bucketed(FIRST, "ab cd"), FIRST), (bucketed(FIRST, "ac bd"), FIRST)]
THREE = version({"a": "x", "b": "y", "c": "z", "d": "u", "e": "v", "f": "w"})
BROKEN = [(bucketed(THREE, "abc def"), THREE), (bucketed(THREE, "ade bcf"), THREE)]


def test_a_series_that_keeps_everybodys_values_holds_and_reports_equal_pairs():
    series = sf.audit_series(SAFE, SCHEMA, models=PROMISES)
    assert series.holds
    assert series.level("m-invariance") == 2
    assert series.level("series-exposure") == 0.5
    exposed = series.disclosure_risk("disease")
    assert (exposed.max(), exposed.mean(), exposed.decided, exposed.equal_pairs) == (0.5, 0.5, 0, 2)
    assert exposed.true.tolist() == [0.5] * 4
    assert "Pairs of persons proved to have the same 'disease', at least: 2" in repr(series)


def test_intersecting_releases_break_both_promises():
    series = sf.audit_series(BROKEN, SCHEMA, models=[*PROMISES, sf.models.KAnonymity(k=1)])
    assert not series.holds
    assert [verdict.answer for verdict in series.verdicts] == ["broken", "broken", "holds"]
    exposed = series.disclosure_risk()
    assert exposed.probability.tolist() == [1.0, 0.5, 0.5, 0.5, 0.5, 1.0]
    assert exposed.candidates.tolist() == [1, 2, 2, 2, 2, 1]
    assert set(exposed.how.tolist()) == {"exact"}
    assert exposed.of_version(1).tolist() == exposed.probability.tolist()
    assert exposed.above(0.5) == 2
    assert series.to_dict()["models"][1]["violating_persons"] == 2


def test_no_value_stands_in_what_is_printed():
    series = sf.audit_series(BROKEN, SCHEMA, models=PROMISES)
    assert not {"x", "y", "z", "u", "v", "w"} & set(repr(series).replace("'", " ").split())
    assert "<pre>" in series._repr_html_()


def test_one_release_is_the_series_of_length_one():
    for published, original in (SAFE[0], BROKEN[0]):
        alone = sf.series_disclosure_risk([(published, original)], SCHEMA)
        assert alone.max() == sf.attribute_disclosure_risk(published, SCHEMA).to_dict()["values"]["disease"]["maximum"]


def test_releases_are_taken_as_they_are():
    data = sf.datasets.generate_hospital(120, seed=3).to_pandas().drop_duplicates("name")
    schema = sf.Schema(identifiers=["name"], quasi_identifiers=["age", "zip"], sensitive=["disease"])
    made = [
        sf.anonymize(
            part,
            schema,
            models=[sf.models.FrequencyLDiversity(l=2, sensitive="disease")],
            algorithm=sf.algorithms.Anatomy(),
            seed=seed,
        )
        for seed, part in enumerate((data.iloc[:80], data.iloc[20:100]))
    ]
    series = sf.audit_series(made)
    assert [verdict.model.name for verdict in series.verdicts] == ["frequency-l-diversity"]
    assert series.holds
    assert series.individuals == 100
    assert series.disclosure_risk().max() >= sf.audit_series(made[:1]).disclosure_risk().max()
    assert series.disclosure_risk().probability == pytest.approx(
        sf.series_disclosure_risk(made).probability, nan_ok=True
    )
    assert sf.series_disclosure_risk(made, schema).releases == 2


def test_a_counterfeit_belongs_to_nobody():
    left = FIRST.iloc[:1]
    published = pd.DataFrame({"age": ["20", "*"], "disease": ["y", "x"], "_bucket_disease": [0, 0]})
    series = sf.audit_series([(bucketed(FIRST, "ab cd"), FIRST), (published, left)], SCHEMA, models=PROMISES)
    assert series.holds
    assert series.disclosure_risk().counterfeits == 1
    assert "Counterfeit values of 'disease': 1" in repr(series)
    rows = np.array([0, -1])
    assert sf.audit_series([(published, left, rows)], SCHEMA, models=PROMISES).holds


def test_suppressed_persons_are_in_no_group():
    published = bucketed(FIRST, "ab cd").iloc[:2]
    exposed = sf.series_disclosure_risk([(published, FIRST)], SCHEMA)
    assert exposed.how.tolist() == ["exact", "exact", "", ""]
    assert exposed.individuals == 2
    assert exposed.possible(0) == [0, 1]
    assert exposed.possible(2) == []


def test_a_suppressed_value_is_in_no_group():
    shown = FIRST.drop(columns="id").assign(age="[20, 23]", disease=["*", "y", "y", "x"])
    exposed = sf.series_disclosure_risk([(shown, FIRST, [0, 1, 2, 3]), SAFE[0]], SCHEMA)
    assert exposed.candidates.tolist() == [1, 1, 2, 2]


def test_persons_who_fit_several_groups_are_placed_in_none_and_nothing_is_shown():
    twins = FIRST.assign(age=20)
    published = pd.DataFrame({"age": [20] * 4, "disease": ["x", "y", "x", "y"], "_bucket_disease": [0, 0, 1, 1]})
    series = sf.audit_series([(published, twins)], SCHEMA, models=PROMISES)
    assert series.unplaced == 4
    assert [verdict.answer for verdict in series.verdicts] == ["not shown", "not shown"]
    assert "Rows that fit several groups, so that nothing is shown: 4" in repr(series)
    exposed = sf.series_disclosure_risk([(published, twins)], SCHEMA)
    assert exposed.counterfeits == 0
    assert sf.audit_series([(published, twins, [0, 1, 3, 2])], SCHEMA, models=PROMISES).holds


def test_a_full_group_settles_who_else_is_where():
    original = version({"a": "x", "b": "y", "c": "x", "d": "y"}).assign(age=[20, 21, 22, 22])
    published = pd.DataFrame({"age": ["[20, 22]", "[20, 22]", "22", "22"], "disease": ["x", "y", "x", "y"]})
    series = Versions.of([(published, original)], SCHEMA)
    assert series.unplaced == 0
    assert series.versions[0].placed.rows.tolist() == [0, 1, 2, 3]


def test_groups_that_look_alike_are_groups_where_there_are_no_buckets():
    published = FIRST.drop(columns="id").assign(age=["[20, 21]"] * 2 + ["[22, 23]"] * 2)
    assert sf.audit_series([(published, FIRST)], SCHEMA, models=PROMISES).holds


def test_a_ward_beside_the_value_recognizes_rows():
    schema = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=["disease"], insensitive=["ward"])
    original = FIRST.assign(ward=[7, 1, 2, 3])
    shown = original.drop(columns="id").assign(age=["[20, 21]"] * 2 + ["[22, 23]"] * 2)
    parted = shown.assign(age=["[20, 22]", "[21, 23]"] * 2)
    rows = np.arange(4)
    series = sf.audit_series([(shown, original, rows), (parted, original, rows)], schema, models=PROMISES)
    assert [verdict.answer for verdict in series.verdicts] == ["broken", "not shown"]
    assert series.linked == {"disease": 4}
    assert "Groups whose rows show something else beside 'disease': 4" in repr(series)
    together = sf.audit_series([(shown, original, rows)] * 2, schema, models=PROMISES)
    assert [verdict.answer for verdict in together.verdicts] == ["broken", "holds"]
    apart = bucketed(original, "ab cd")
    assert sf.audit_series([(apart, original)], schema, models=PROMISES).holds
    assert sf.audit_series([(shown.assign(ward=1), original)], schema, models=PROMISES).holds


def test_a_permanent_value_that_changes_is_refused_and_a_transient_one_is_not():
    later = version({"a": "y", "b": "x", "c": "y", "d": "x"})
    pairs = [SAFE[0], (bucketed(later, "ab cd"), later)]
    with pytest.raises(sf.errors.SchemaError, match="2 persons, in 2 groups, have another value of 'disease'"):
        sf.audit_series(pairs, SCHEMA)
    schema = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=["disease"], transient=["disease"])
    exposed = sf.series_disclosure_risk(pairs, schema)
    assert (exposed.max(), exposed.exact, exposed.equal_pairs) == (0.5, True, 0)
    assert exposed.true.tolist() == [0.5] * 4
    assert exposed.product().tolist() == [0.5] * 4
    assert exposed.possible(0) == []


def test_flagged_cells_are_hidden_in_their_buckets_and_shown_elsewhere():
    schema = sf.Schema(identifiers=["id"], quasi_identifiers=["age", "job"], flags={"job": "hide"})
    original = FIRST.drop(columns="disease").assign(job=list("pqrs"), hide=[True, True, False, False])
    shown = pd.DataFrame({"age": [20, 21, 22, 23], "job": list("qprs"), "_bucket_job": [0, 0, None, None]})
    exposed = sf.series_disclosure_risk([(shown, original, [0, 1, 2, 3])], schema)
    assert exposed.candidates.tolist() == [2, 2, 1, 1]
    assert exposed.open.tolist() == [False, False, True, True]
    assert (exposed.individuals, exposed.visible, exposed.decided, exposed.max()) == (2, 2, 0, 0.5)
    assert "2 more show theirs" in repr(exposed)
    plain = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=["job"])
    unflagged = sf.series_disclosure_risk([(shown, original, [0, 1, 2, 3])], plain)
    assert unflagged.candidates.tolist() == [2, 2, 1, 1]


def test_a_history_is_all_that_is_needed():
    histories = {"s": written(*GOLDEN["intersection"])}
    series = sf.audit_series(histories, models=[sf.models.BoundedSeriesDisclosure(limit=0.5, sensitive="s")])
    assert not series.holds
    assert sf.series_disclosure_risk(histories["s"]).decided == 2
    assert sf.series_disclosure_risk(histories["s"], exact_up_to=0).to_dict()["persons"] == 6
    assert sf.series_disclosure_risk(histories["s"]).product().tolist()[0] == 1.0
    assert audit_histories(histories).to_dict()["levels"][0]["level"] == 0
    assert "reaches" in repr(audit_histories(histories))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: sf.audit_series([], SCHEMA), "A series is a list of releases"),
        (lambda: sf.audit_series([FIRST], SCHEMA), "Element 1 of the series must be a release"),
        (lambda: sf.audit_series(SAFE), "Pairs of tables need a schema"),
        (lambda: sf.series_disclosure_risk(SAFE, SCHEMA, exact_up_to=-1), "exact_up_to must be a whole number"),
        (lambda: sf.series_disclosure_risk(SAFE, SCHEMA, sensitive="diseas"), "did you mean 'disease'"),
        (lambda: sf.audit_series([(*SAFE[0], [0, 0, 1, 2])], SCHEMA), "The correspondence of version 1 must name"),
        (
            lambda: sf.audit_series([(SAFE[0][0], FIRST.drop(columns="disease"))], SCHEMA),
            "'disease'",
        ),
        (
            lambda: sf.series_disclosure_risk(SAFE, sf.Schema(identifiers=["id"], quasi_identifiers=["age"])),
            "The series has 0 sensitive attributes",
        ),
        (
            lambda: sf.audit_series(
                SAFE,
                sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=["disease"], missing="matches-all"),
            ),
            'missing="own-value" only',
        ),
        (lambda: sf.audit_series({}), "there are none"),
        (
            lambda: sf.audit_series({"s": written("ab:xy")}, models=[sf.models.KAnonymity(k=2)]),
            "'k-anonymity' is judged in single tables",
        ),
        (
            lambda: sf.audit_series({"s": written("ab:xy")}, models=PROMISES),
            "an attribute that the series does not have",
        ),
        (lambda: sf.audit_series(SAFE, SCHEMA).level("m-invarianc"), "did you mean 'm-invariance'"),
        (lambda: sf.audit_series(SAFE, SCHEMA).disclosure_risk("diseas"), "did you mean 'disease'"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(ask, message):
    with pytest.raises(sf.errors.SfumatoError, match=message) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_several_attributes_are_judged_each_for_itself():
    schema = sf.Schema(identifiers=["id"], quasi_identifiers=["age"], sensitive=["disease", "drug"])
    original = FIRST.assign(drug=list("pqqp"))
    shown = bucketed(original, "ab cd")
    shown["_bucket_drug"], shown["drug"] = shown["_bucket_disease"], list("qppq")
    series = sf.audit_series([(shown, original)], schema)
    assert series.level("m-invariance", "drug") == 2
    with pytest.raises(sf.errors.InvalidParameterError, match="Several attributes were judged by"):
        series.level("m-invariance")
    with pytest.raises(sf.errors.InvalidParameterError, match="Several attributes were judged; choose one"):
        series.disclosure_risk()


def test_releases_of_different_tables_are_refused():
    data = sf.datasets.generate_hospital(60, seed=3).to_pandas().drop_duplicates("name")
    made = [
        sf.anonymize(
            data,
            sf.Schema(identifiers=["name"], quasi_identifiers=["age"], sensitive=[name]),
            models=[sf.models.KAnonymity(k=3)],
            algorithm=sf.algorithms.Mondrian(),
        )
        for name in ("disease", "zip")
    ]
    with pytest.raises(sf.errors.SchemaError, match="different identifiers or sensitive attributes"):
        sf.audit_series(made)
