"""The ledger: what a release of a series records, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from series_of_patients import MODELS, SCHEMA, changed, names, quarter, refused, released
from sfumato.core.recipe import Recipe
from sfumato.errors import InvalidParameterError, SchemaError, WriteError


def test_nothing_is_recorded_before_a_release_is_written(ledger):
    release = released(ledger, quarter(0, 12))
    assert ledger.releases() == ()
    release.write("q1", report=False)
    (first,) = ledger.releases()
    assert (first.number, first.persons, first.newcomers, first.waiting) == (1, 12, 12, 0)
    assert first.folder.name == "q1"
    assert repr(sf.Series("hospital.ledger")) == "Ledger('hospital.ledger', 1 releases)"


def test_a_history_tells_who_was_in_which_group(two_quarters):
    history, values = two_quarters.history("disease"), two_quarters.values("disease")
    assert values == ("angina", "flu", "gout", "measles", None)
    assert (history.attribute, history.persons, len(history.releases)) == ("disease", 15, 2)
    for each, folder, numbers in zip(history.releases, ("q1", "q2"), (range(12), range(3, 15)), strict=True):
        published = sf.read(f"{folder}/public/table.csv")
        groups = published.group_by("age").aggregate([("disease", "list")]).to_pydict()
        shown = sorted(sorted(cells) for cells in groups["disease_list"])
        rows = [
            each.histogram.codes[start:end]
            for start, end in np.lib.stride_tricks.sliding_window_view(each.histogram.offsets, 2)
        ]
        counts = np.split(each.histogram.counts, each.histogram.offsets[1:-1])
        assert (
            sorted(
                sorted(values[v] for v, n in zip(r, c, strict=True) for _ in range(n))
                for r, c in zip(rows, counts, strict=True)
            )
            == shown
        )
        assert (each.members >= 0).sum() == len(numbers)
        assert np.bincount(each.members[each.members >= 0]).tolist() == each.histogram.sizes.tolist()
        assert each.counterfeits.sum() == 0


@pytest.mark.parametrize(
    ("table", "schema", "sentence"),
    [
        (changed(quarter(0, 4), "id", [1, None, 2, 3]), SCHEMA, r"1 rows have no 'id', which identifies persons"),
        (changed(quarter(0, 4), "id", ["a", "", "b", "c"]), SCHEMA, "1 rows have no 'id'"),
        (changed(quarter(0, 4), "id", [1, 1, 2, 3]), SCHEMA, "1 rows have the identifiers of another row"),
        (quarter(0, 4), replace(SCHEMA, identifiers=[]), "knows persons by their identifiers"),
        (quarter(0, 4), replace(SCHEMA, sensitive=[]), "follows sensitive attributes, and the schema has none"),
        (quarter(0, 4), replace(SCHEMA, missing="matches-all"), "cannot follow missing values that match all"),
    ],
)
def test_a_table_that_cannot_be_followed_is_refused_in_one_sentence(ledger, table, schema, sentence):
    refused(SchemaError, sentence, sf.anonymize, table, schema, MODELS, ledger=ledger)
    assert ledger.releases() == ()


def test_a_table_with_other_columns_and_the_ledger_of_another_table_are_refused(two_quarters):
    other = replace(SCHEMA, quasi_identifiers=[], insensitive=["age"])
    refused(SchemaError, "quasi columns are 'age', and this one has none", two_quarters.draft, quarter(0, 12), other)
    fleeting = replace(SCHEMA, transient=["disease"])
    refused(SchemaError, "permanent columns are 'disease'", two_quarters.draft, quarter(0, 12), fleeting)
    strangers = quarter(100, 112)
    refused(
        SchemaError, r"knows none of the 12 persons .* or 'id' are written otherwise", released, two_quarters, strangers
    )
    assert len(two_quarters.releases()) == 2


def test_a_permanent_value_that_changed_is_refused_and_a_transient_one_is_not(ledger, tmp_path):
    table = quarter(0, 12)
    ill = changed(table, "disease", ["flu", "angina", *table["disease"].to_pylist()[2:]])
    released(ledger, table).write("q1", report=False)
    refused(SchemaError, "^2 persons changed a permanent value, of 'disease'", released, ledger, ill)
    assert len(ledger.releases()) == 1
    fleeting, other = replace(SCHEMA, transient=["disease"]), sf.Series.create(tmp_path / "other.ledger")
    released(other, table, fleeting).write("r1", report=False)
    released(other, ill, fleeting).write("r2", report=False)
    assert len(other.releases()) == 2


def test_a_masked_sensitive_attribute_is_refused(ledger):
    step = sf.masking.PRAM(columns=["disease"], keep=0.1)
    release = sf.anonymize(quarter(0, 40), SCHEMA, MODELS, masking=[step], ledger=ledger)
    refused(SchemaError, "Cells of 'disease' are published masked or suppressed", release.write, "q1", report=False)
    assert not Path("q1").exists()


def test_a_release_is_refused_if_the_ledger_has_moved_on(ledger):
    first, second = released(ledger, quarter(0, 12)), released(ledger, quarter(0, 12))
    first.write("q1", report=False)
    refused(WriteError, "has new entries since this release was made", second.write, "q2", report=False)
    refused(WriteError, "make it again", first.write, "q3", report=False)
    assert names(".") == ["hospital.ledger", "hospital.ledger.head", "hospital.ledger.key", "q1"]


def test_a_recipe_of_a_series_is_not_run_without_its_ledger(two_quarters, tmp_path):
    recipe = Recipe.read("q2/internal/recipe.toml")
    head = json.loads(Path("q1/internal/ledger.json").read_text())["head"]
    assert (recipe.ledger, recipe.ledger_head) == (two_quarters.name, head)
    refused(InvalidParameterError, "give it by ledger=", sf.run_recipe, recipe, quarter(3, 15))
    other = sf.Series.create(tmp_path / "other.ledger")
    refused(InvalidParameterError, "another series", sf.run_recipe, recipe, quarter(3, 15), ledger=other)
    refused(InvalidParameterError, r"ledger must be an sf\.Ledger", sf.run_recipe, recipe, quarter(3, 15), ledger="x")
    sf.run_recipe(recipe, quarter(3, 15), ledger=two_quarters).write("q3", report=False)
    assert len(two_quarters.releases()) == 3
    sf.write(quarter(3, 15), "t.parquet")
    refused(
        InvalidParameterError,
        "made in memory",
        sf.run_recipe,
        recipe,
        "t.parquet",
        ledger=two_quarters,
        engine="duckdb",
        out="x",
    )


def test_the_same_secret_hides_people_anew_in_every_release_of_a_series(ledger):
    model = sf.models.DistinctLDiversity(l=2, sensitive="disease")
    found = []
    for folder in ("q1", "q2"):
        release = sf.anonymize(
            quarter(0, 40), SCHEMA, [model], sf.algorithms.Anatomy(), seed=1, secret="ab" * 32, ledger=ledger
        )
        release.write(folder, report=False)
        found.append(release.aligned()["_bucket_disease"].to_pylist())
    assert found[0] != found[1]


def test_later_rows_are_a_release_of_the_series(ledger):
    release = sf.anonymize(
        quarter(0, 12), SCHEMA, MODELS, sf.algorithms.FixedLevels(levels={"age": 0}), ledger=ledger, max_suppressed=1.0
    )
    release.write("q1", report=False)
    refused(
        InvalidParameterError, "safe together only by their ledger", sf.transform, quarter(14, 28), release.recoding
    )
    later = sf.transform(quarter(14, 28), release.recoding, ledger=ledger)
    later.write("q2", report=False)
    assert [each.newcomers for each in ledger.releases()] == [release.published.num_rows, later.published.num_rows]
    assert later.recipe.ledger == ledger.name


def test_an_attribute_that_is_not_followed_is_refused(two_quarters, tmp_path):
    refused(InvalidParameterError, "does not follow 'diseas'; did you mean 'disease'", two_quarters.history, "diseas")
    empty = sf.Series.create(tmp_path / "empty.ledger")
    refused(InvalidParameterError, "does not follow 'disease'; write a release first", empty.history, "disease")


def test_an_older_release_may_be_replaced_and_stays_in_the_ledger(two_quarters):
    released(two_quarters, quarter(3, 15)).write("q2", report=False, replace=True)
    assert [each.folder.name for each in two_quarters.releases()] == ["q1", "q2", "q2"]
    assert two_quarters.verify() == ("Release 2 is not in q2 any more, so its files could not be checked.",)
