"""Models that look at some quasi-identifiers only, and models that compare with a population."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.models._conjunction import drop_implied
from sfumato.tables.published import _containment

SCHEMA = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["person"])
TABLE = pa.table({
    "age": ["[1, 2]", "[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"],
    "sex": ["f", "f", "m", "m", "m"],
    "person": ["a", "a", "b", "c", "d"],
})  # fmt: skip


def test_each_set_of_quasi_identifiers_has_its_own_k():
    models = [
        sf.models.KAnonymity(k=2, quasi=["age"]),
        sf.models.KAnonymity(k=3, quasi=["sex"]),
        sf.models.KAnonymity(k=2),
    ]
    verdicts = sf.audit(TABLE, SCHEMA, models).verdicts
    assert [(verdict.level, verdict.holds, verdict.records) for verdict in verdicts] == [
        (2, True, 0),
        (2, False, 2),
        (1, False, 1),
    ]


def test_a_set_that_is_not_quasi_identifying_is_refused():
    with pytest.raises(sf.errors.SchemaError, match="the unknown column 'agee'; did you mean 'age'"):
        sf.audit(TABLE, SCHEMA, [sf.models.KAnonymity(k=2, quasi=["agee"])])


def test_implied_requirements_are_recognized():
    both = sf.models.KAnonymity(k=5, quasi=["age", "sex"])
    weaker, other = sf.models.KAnonymity(k=3, quasi=["age"]), sf.models.KAnonymity(k=7, quasi=["sex"])
    assert drop_implied([weaker, both, other]) == (both, other)
    assert drop_implied([both, sf.models.KAnonymity(k=5)]) == (sf.models.KAnonymity(k=5),)
    assert drop_implied([both, both]) == (both,)


def test_search_serves_several_sets():
    table = sf.datasets.generate_hospital(400, seed=1)
    models = [sf.models.KAnonymity(k=4, quasi=["age", "sex"]), sf.models.KAnonymity(k=9, quasi=["zip"])]
    assert sf.anonymize(table, sf.Schema(quasi_identifiers=["age", "sex", "zip"]), models).audit.holds


def test_persons_are_counted_and_not_records():
    assert sf.audit(TABLE, SCHEMA, [sf.models.XYAnonymity(k=2, y="person", x=["age"])]).holds
    assert not sf.audit(TABLE, SCHEMA, [sf.models.XYAnonymity(k=2, y="person")]).holds
    assert not sf.audit(TABLE, SCHEMA, [sf.models.XYAnonymity(k=2, y="person", x=["age"], h=0.5)]).holds


POPULATION = pa.table({"age": [1, 1, 2, 2, 3, 3, 3, 4, 4], "sex": ["f", "f", "f", "m", "m", "m", "m", "m", "m"]})


def test_persons_of_the_population_are_counted_by_containment():
    audit = sf.audit(TABLE, SCHEMA, [sf.models.KMap(k=1), sf.models.KMap(k=2)], population=POPULATION)
    groups = audit.groups
    assert sorted(zip(groups.sizes.tolist(), groups.population.tolist(), strict=True)) == [(1, 1), (2, 3), (2, 5)]
    assert [verdict.holds for verdict in audit.verdicts] == [True, False]


def test_presence_is_bounded_on_both_sides():
    presence = {
        "highest": sf.models.DeltaPresence(delta_min=0, delta_max=0.9),
        "both": sf.models.DeltaPresence(delta_min=0.4, delta_max=1),
    }
    verdicts = sf.audit(TABLE, SCHEMA, list(presence.values()), population=POPULATION).verdicts
    assert [verdict.holds for verdict in verdicts] == [False, True]
    assert [verdict.records for verdict in verdicts] == [1, 0]


def test_certain_absence_breaks_a_positive_least_presence():
    larger = pa.concat_tables([POPULATION, pa.table({"age": [9], "sex": ["f"]})])
    assert not sf.audit(TABLE, SCHEMA, [sf.models.DeltaPresence(delta_min=0.4, delta_max=1)], population=larger).holds
    assert sf.audit(TABLE, SCHEMA, [sf.models.DeltaPresence(delta_min=0, delta_max=1)], population=larger).holds


@pytest.mark.parametrize(
    ("model", "population", "sentence"),
    [
        (sf.models.KMap(k=2), None, "KMap needs a population"),
        (sf.models.DeltaPresence(delta_min=0, delta_max=1), None, "DeltaPresence needs a population"),
        (sf.models.KMap(k=2), POPULATION.slice(0, 3), "The population has 3 rows but the published table 5"),
        (
            sf.models.KMap(k=2),
            POPULATION.drop_columns(["age"]),
            "Schema names 'age', which is not in the table; the table has .",
        ),
    ],
)
def test_a_wrong_population_is_refused_in_one_sentence(model, population, sentence):
    with pytest.raises(sf.errors.SchemaError, match=sentence):
        sf.audit(TABLE, SCHEMA, [model], population=population)


def test_a_population_that_lacks_persons_of_the_table_is_refused():
    lacking = POPULATION.set_column(0, "age", pa.array([1, 1, 2, 3, 3, 3, 3, 4, 4]))
    with pytest.raises(
        sf.errors.SchemaError, match=r"fewer people than the published table has records in 1 of 3 groups"
    ):
        sf.audit(TABLE, SCHEMA, [sf.models.KMap(k=1)], population=lacking)


def test_without_quasi_identifiers_everybody_is_covered():
    audit = sf.audit(
        TABLE.select(["person"]), sf.Schema(sensitive=["person"]), [sf.models.KMap(k=9)], population=POPULATION
    )
    assert audit.verdicts[0].level == 9


def test_missing_cells_of_persons_and_groups_match_everything_and_nobody_counts_twice():
    shown = pa.table({"age": ["[1, 2]", "[2, 3]", None], "sex": ["f", "f", "f"]})
    persons = pa.table({"age": [1, 2, 3, None, 2, 9], "sex": ["f", "f", "f", "f", "m", None]})
    schema = sf.Schema(quasi_identifiers=["age", "sex"], missing="matches-all")
    groups = sf.audit(shown, schema, population=persons).groups
    covered = {
        "[1, 2]": {0, 1, 3},
        "[2, 3]": {1, 2, 3},
        None: {0, 1, 2, 3, 5},
    }
    assert groups.population.tolist() == [len(covered[age]) for age in shown["age"].to_pylist()]
    assert groups.uncovered == 1
    own = sf.audit(shown, sf.Schema(quasi_identifiers=["age", "sex"]), population=persons).groups
    assert own.population.tolist() == [2, 2, 1]
    assert own.uncovered == 2


def test_a_search_without_a_population_is_refused():
    with pytest.raises(sf.errors.UnsupportedModelError, match="population"):
        sf.anonymize(sf.datasets.generate_hospital(50), sf.Schema(quasi_identifiers=["age"]), [sf.models.KMap(k=2)])


def test_estimate_from_a_fraction_serves_a_search():
    release = sf.anonymize(
        sf.datasets.generate_hospital(300),
        sf.Schema(quasi_identifiers=["age", "sex"]),
        [sf.models.KMap(k=20, fraction=0.1)],
    )
    assert release.audit.holds


@pytest.mark.parametrize("pairs", [10**9, 0], ids=["plain", "tree"])
def test_presence_adds_up_where_groups_overlap(pairs, monkeypatch):
    monkeypatch.setattr(_containment, "NUMPY_PAIRS", pairs)
    schema = sf.Schema(quasi_identifiers=["age"], scales={"age": "numeric"})
    published, persons = pa.table({"age": ["[20, 30]", "20-30"]}), pa.table({"age": [21, 22]})
    audit = sf.audit(published, schema, [sf.models.DeltaPresence(delta_min=0, delta_max=0.5)], population=persons)
    assert audit.groups.presence.tolist() == [1.0, 1.0]
    assert not audit.holds
    apart = sf.audit(
        published.slice(0, 1), schema, [sf.models.DeltaPresence(delta_min=0, delta_max=0.5)], population=persons
    )
    assert apart.holds


def test_a_search_refuses_names_of_values_that_nobody_has():
    table, schema = sf.datasets.generate_hospital(200), sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
    for model in (
        sf.models.AlphaKAnonymity(alpha=0.5, k=2, sensitive="disease", values=["astma"]),
        sf.models.ConfidenceBounding(bounds={"astma": 0.5}, sensitive="disease"),
    ):
        with pytest.raises(sf.errors.SchemaError, match="names 1 values that are not in column 'disease'"):
            sf.anonymize(table, schema, [model])
    kept = [sf.models.AlphaKAnonymity(alpha=0.5, k=2, sensitive="disease", values=["asthma"])]
    assert sf.anonymize(table, schema, kept).audit.holds


def test_every_group_has_its_level_margin_and_rows():
    audit = sf.audit(TABLE, SCHEMA)
    listed = audit.per_group(sf.models.KAnonymity(k=2)).to_pydict()
    assert listed == {"size": [1, 2, 2], "level": [1, 2, 2], "margin": [-1, 0, 0], "holds": [False, True, True]}
    assert audit.violating_rows(sf.models.KAnonymity(k=2)).tolist() == [2]
    assert audit.violating_rows(sf.models.KAnonymity(k=3, quasi=["age"])).tolist() == [3, 4]
    closeness = sf.models.TCloseness(t=0.5, sensitive="person")
    assert audit.per_group(closeness)["margin"].to_pylist() == sorted(audit.per_group(closeness)["margin"].to_pylist())
    with pytest.raises(sf.errors.SchemaError):
        audit.per_group(sf.models.TCloseness(t=0.5, sensitive="age"))
