"""What hides people depends on a secret of 256 bits, never on a number that can be tried."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._randomness import seeded_generator

SECRET, OTHER = "5f" * 32, "6e" * 32
PERSONS = 500
SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
MODELS = [sf.models.FrequencyLDiversity(l=4, sensitive="disease")]


def people(rows: int = PERSONS) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table({"age": np.arange(rows), "disease": [f"d{code}" for code in rng.integers(0, 8, rows)]})


def published(**given) -> pa.Table:
    table = given.pop("table", people())
    return sf.anonymize(table, SCHEMA, MODELS, given.pop("algorithm", sf.algorithms.Anatomy()), **given).frame


def relinked(shown: pa.Table, order: np.ndarray) -> np.ndarray:
    """Undo a shuffle that was drawn by an order of all persons: return the value of every person."""
    bucket, values = shown["_bucket_disease"].to_numpy(), np.asarray(shown["disease"].to_pylist())
    places, drawn = np.argsort(bucket, kind="stable"), order[np.argsort(bucket[order], kind="stable")]
    found = np.empty_like(values)
    found[drawn] = values[places]
    return found


def test_trying_seeds_links_nobody_beyond_chance():
    table = people()
    truth = np.asarray(table["disease"].to_pylist())
    shown = published(seed=42).sort_by("age")
    best = 0
    for seed in range(10_000):
        order = seeded_generator(seed).spawn(1)[0].permutation(PERSONS)
        best = max(best, int(np.count_nonzero(relinked(shown, order) == truth)))
    assert (
        best < PERSONS / 2
    )  # a quarter of all guesses is right by chance, and the luckiest of 10,000 tries a bit more


def test_who_is_in_which_bucket_is_no_matter_of_the_seed():
    first, second = (published(seed=1).sort_by("age") for _ in range(2))
    assert first["_bucket_disease"] != second["_bucket_disease"]
    together = [
        {tuple(np.flatnonzero(numbers == number)) for number in np.unique(numbers)}
        for numbers in (shown["_bucket_disease"].to_numpy() for shown in (first, second))
    ]
    assert len(together[0] & together[1]) < 10


@pytest.mark.parametrize(
    "algorithm",
    [sf.algorithms.Anatomy(), sf.algorithms.CrossBucketGeneralization(), sf.algorithms.Slicing(slices=2)],
    ids=lambda each: each.name,
)
def test_the_secret_repeats_a_release_and_another_one_does_not(algorithm):
    once, again, other = (published(algorithm=algorithm, secret=each, seed=1) for each in (SECRET, SECRET, OTHER))
    assert once.equals(again)
    assert not once.equals(other)


def test_the_secret_of_a_recipe_repeats_its_release_from_rows_in_any_order():
    table = people()
    first = sf.anonymize(table, SCHEMA, MODELS, sf.algorithms.Anatomy())
    assert len(first.recipe.secret) == 64
    recipe = sf.Recipe.from_toml(first.recipe.to_toml())
    assert recipe == first.recipe
    turned = table.take(pa.array(np.random.default_rng(2).permutation(table.num_rows)))
    assert sf.run_recipe(recipe, turned).published.equals(first.published)


def test_one_secret_hides_anew_in_every_other_release():
    table = people()
    changed = pa.table({"age": table["age"], "disease": [*table["disease"].to_pylist()[:-1], "d9"]})
    first, second = (published(table=each, secret=SECRET).sort_by("age") for each in (table, changed))
    alike = np.count_nonzero(
        first["disease"].to_numpy(zero_copy_only=False) == second["disease"].to_numpy(zero_copy_only=False)
    )
    assert alike < PERSONS / 2
    looser = sf.anonymize(table, SCHEMA, MODELS, sf.algorithms.Anatomy(), secret=SECRET, max_suppressed=0.5)
    assert not looser.frame.equals(published(table=table, secret=SECRET))


def test_releases_without_buckets_keep_no_secret():
    release = sf.anonymize(people(), SCHEMA, [sf.models.KAnonymity(k=5)], seed=1)
    assert release.recipe.secret is None
    assert "secret" not in release.recipe.to_toml()


def test_the_secret_stays_in_the_recipe_file_alone(tmp_path):
    release = sf.anonymize(people(), SCHEMA, MODELS, sf.algorithms.Anatomy(), secret=SECRET)
    release.write(tmp_path / "out")
    holding = [
        path.name for path in (tmp_path / "out").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert holding == ["recipe.toml"]
    assert SECRET not in repr(release.recipe)
    assert SECRET not in repr(release)


@pytest.mark.parametrize("secret", ["", "42", 42, "5f" * 31, "5f" * 33, "zz" * 32, b"5f" * 32])
def test_a_short_secret_is_refused_without_showing_it(secret):
    with pytest.raises(sf.errors.InvalidParameterError, match="secret must be 64 hexadecimal digits") as caught:
        sf.Recipe(schema=SCHEMA, models=MODELS, algorithm=sf.algorithms.Anatomy(), secret=secret)
    assert "5f5f" not in str(caught.value)
