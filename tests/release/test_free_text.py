"""Free text is published only on purpose, by every entrance."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf

REFUSED = r"Column 'note' holds free text, which may name individuals.*publish_text=\['note'\] if nobody is named in it"


@pytest.fixture
def visits():
    notes = [f"Ms. Maier number {row} called on monday and asked about the results of last week" for row in range(40)]
    return pa.table({"age": [30 + row % 9 for row in range(40)], "disease": ["flu", "cold"] * 20, "note": notes})


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_free_text_is_published_only_if_the_recipe_says_so(visits, role):
    roles = {"quasi_identifiers": ["age"], "sensitive": ["disease"]}
    schema = sf.Schema(**{**roles, role: [*roles.get(role, []), "note"]})
    models = [sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive="disease")]
    with pytest.raises(sf.errors.SchemaError, match=REFUSED):
        sf.anonymize(visits, schema, models)
    release = sf.anonymize(visits, schema, models, publish_text=["note"])
    assert sf.Recipe.from_toml(release.recipe.to_toml()).publish_text == ("note",)
    (refused,) = sf.check(sf.Recipe(schema=schema, models=models, algorithm=sf.algorithms.Mondrian()), visits)
    assert "free text" in str(refused.error)


def test_free_text_is_refused_beyond_memory_too(visits, tmp_path):
    pq.write_table(visits, tmp_path / "visits.parquet")
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"], insensitive=["note"])
    where = {"engine": "duckdb", "out": tmp_path / "o"}
    with pytest.raises(sf.errors.SchemaError, match=REFUSED):
        sf.anonymize(tmp_path / "visits.parquet", schema, [sf.models.KAnonymity(k=2)], **where)


def test_a_release_names_the_sensitive_columns_that_no_model_protects(visits):
    release = sf.anonymize(
        visits, sf.Schema(quasi_identifiers=["age"], sensitive=["disease"]), [sf.models.KAnonymity(k=2)]
    )
    assert "Nothing is promised about the sensitive column 'disease'" in repr(release)
    assert "Nothing is promised about the sensitive column" in release._repr_html_()
    protected = [sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive="disease")]
    assert "Nothing is promised" not in repr(sf.anonymize(visits, release.recipe.schema, protected))


def test_words_and_short_codes_are_no_free_text(visits):
    schema = sf.Schema(quasi_identifiers=["age"], insensitive=["disease"])
    assert sf.anonymize(visits, schema, [sf.models.KAnonymity(k=2)]).audit.holds
