"""Condensation of a table: moments that survive, groups, kinds of tables, and refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato._randomness import secret_from_seed as fixed
from sfumato.synthesis.condensation import Condensation

NAMES = ["a", "b", "c"]
NUMBERS = sf.Schema(quasi_identifiers=NAMES)
FALSE_ALARM = 6.5  # standard deviations: below 1e-10 for each of at most nine figures


def correlated(rows: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    values = rng.normal(size=(rows, 3)) @ [[2.0, 1.0, 0.0], [0.0, 0.5, -0.4], [0.0, 0.0, 0.2]] + [40, 1e9, -3]
    values[rng.random(rows) < 0.3] += [5, 4, 1]
    return pd.DataFrame(values, columns=NAMES)


def mixed(rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    old = rng.random(rows) < 0.5
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": np.where(old, 70, 25) + rng.integers(0, 9, size=rows),
            "born": pd.Timestamp("1980-01-01") + pd.to_timedelta(rng.integers(0, 9000, size=rows), unit="D"),
            "sex": rng.choice(["f", "m"], size=rows),
            "smokes": rng.random(rows) < 0.2,
            "zip": rng.choice([4711, 4712], size=rows),
            "illness": np.where(old, "gout", "flu"),
        }
    )


MIXED = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "born", "sex", "zip"],
    sensitive=["illness"],
    insensitive=["smokes"],
    hierarchies={"zip": sf.hierarchies.Prefixes()},
)


def test_means_and_covariances_survive_within_sampling_error():
    data = correlated()
    condensed = Condensation(k=15, secret=fixed(1)).fit(data, NUMBERS)
    drawn = condensed.sample().to_numpy()
    before = data.to_numpy()
    center = before.mean(axis=0)
    before, after = before - center, drawn - center
    statistics = condensed.mixture.statistics
    variances = (statistics.sizes[:, None] * np.diagonal(statistics.covariances, axis1=1, axis2=2)).sum(axis=0)
    assert (np.abs(after.mean(axis=0)) < FALSE_ALARM * np.sqrt(variances) / len(after)).all()
    products = after[:, :, None] * after[:, None, :]
    errors = np.abs(products.mean(axis=0) - before.T @ before / len(before))
    assert (errors < FALSE_ALARM * products.std(axis=0) / np.sqrt(len(after))).all()


def test_twice_as_many_records_have_the_same_moments():
    data = correlated(600)
    drawn = Condensation(k=10, secret=fixed(2)).fit(data, NUMBERS).sample(1200)
    assert len(drawn) == 1200
    deviation = data.std().to_numpy()
    assert (np.abs(drawn.mean() - data.mean()).to_numpy() < FALSE_ALARM * deviation / np.sqrt(1200)).all()


def test_every_group_has_at_least_k_records():
    for k in (2, 7, 300):
        condensed = Condensation(k=k).fit(correlated(601), NUMBERS)
        assert condensed.sizes.min() >= k
        assert condensed.sizes.max() <= 2 * k - 1 or condensed.groups == 1
        assert condensed.sizes.sum() == 601


def test_no_original_record_appears_where_groups_have_a_spread():
    data = correlated(500)
    condensed = Condensation(k=8, secret=fixed(3)).fit(data, NUMBERS)
    variances, _ = condensed.mixture.statistics.axes(condensed.mixture.scales)
    assert variances.min() > 0
    originals = set(map(tuple, data.to_numpy()))
    assert not originals & set(map(tuple, condensed.sample(5000).to_numpy()))


def test_mixed_tables_keep_their_columns_types_and_values():
    drawn = Condensation(k=10, secret=fixed(4)).fit(mixed(), MIXED).sample()
    assert list(drawn.columns) == ["age", "born", "sex", "smokes", "zip", "illness"]
    original = mixed().drop(columns="name")
    assert drawn.dtypes.to_dict() == original.dtypes.to_dict()
    for name in ("sex", "smokes", "zip", "illness"):
        assert set(drawn[name]) <= set(original[name])
    assert (drawn["born"] == drawn["born"].dt.normalize()).all()
    assert drawn["age"].nunique() > 10


def test_numbers_and_moments_without_distances_are_drawn_as_they_are():
    moments = pd.to_datetime(["2020-01-01 10:30", "2021-06-01 00:00"])
    data = pd.DataFrame(
        {
            "a": np.arange(40.0) / 3,
            "share": [0.5, 1e-07] * 20,
            "when": list(moments) * 20,
            "day": [pd.Timestamp("2000-02-29")] * 40,
        }
    )
    nominal = dict.fromkeys(["share", "when", "day"], "nominal")
    drawn = (
        Condensation(k=5, secret=fixed(1))
        .fit(data, sf.Schema(quasi_identifiers=list(data.columns), scales=nominal))
        .sample()
    )
    for name in nominal:
        assert set(drawn[name]) == set(data[name])
        assert drawn[name].dtype == data[name].dtype


def test_groups_keep_numbers_and_values_together():
    drawn = Condensation(k=10, secret=fixed(5)).fit(mixed(), MIXED).sample(2000)
    agrees = (drawn["illness"] == "gout") == (drawn["age"] > 50)
    assert agrees.mean() > 0.9


def test_classes_are_never_mixed():
    data = mixed().assign(age=40, born=pd.Timestamp("1980-01-01"))
    data["age"] += np.where(data["illness"] == "gout", 1, -1)
    condensed = Condensation(k=10, by="illness", secret=fixed(6)).fit(data, MIXED)
    drawn = condensed.sample(3000)
    assert drawn.loc[drawn["illness"] == "gout", "age"].eq(41).all()
    assert drawn.loc[drawn["illness"] == "flu", "age"].eq(39).all()
    assert abs((drawn["illness"] == "gout").mean() - (data["illness"] == "gout").mean()) < 0.01


def test_a_class_of_numbers_is_a_class():
    data = correlated(300).assign(grade=np.repeat([1, 2], 150))
    drawn = Condensation(k=10, by="grade").fit(data, sf.Schema(quasi_identifiers=NAMES, sensitive=["grade"])).sample()
    assert drawn["grade"].value_counts().to_dict() == {1: 150, 2: 150}


def test_constant_columns_stay_constant():
    data = correlated(100).assign(b=0.1, c=3)
    drawn = Condensation(k=5).fit(data, NUMBERS).sample()
    assert drawn["b"].eq(0.1).all()
    assert drawn["c"].eq(3).all()


def test_equal_records_are_drawn_as_they_are():
    drawn = Condensation(k=3).fit(pd.DataFrame({"a": [1] * 10}), sf.Schema(quasi_identifiers=["a"])).sample()
    assert drawn["a"].tolist() == [1] * 10


def test_the_order_of_the_records_tells_nothing_of_their_groups():
    data = pd.DataFrame({"a": np.repeat([0.0, 1000.0], 200) + np.arange(400) % 7})
    drawn = Condensation(k=200, secret=fixed(7)).fit(data, sf.Schema(quasi_identifiers=["a"])).sample()["a"] > 500
    assert 60 < drawn[:200].sum() < 140  # a fair shuffle: 100, eight standard deviations of 5 each way


def test_all_kinds_of_tables_give_the_same_and_their_own_kind():
    data = mixed()
    draws = {
        kind: Condensation(k=10, secret=fixed(8)).fit(table, MIXED).sample(50)
        for kind, table in {"pandas": data, "polars": pl.from_pandas(data), "arrow": pa.table(data)}.items()
    }
    assert isinstance(draws["pandas"], pd.DataFrame)
    assert isinstance(draws["polars"], pl.DataFrame)
    assert isinstance(draws["arrow"], pa.Table)
    ages = draws["pandas"]["age"].tolist()
    assert ages == draws["polars"]["age"].to_list() == draws["arrow"]["age"].to_pylist()


def test_a_secret_repeats_draws_and_every_draw_is_another():
    first, second = (Condensation(k=10, secret=fixed(9)).fit(correlated(100), NUMBERS) for _ in range(2))
    one, other = first.sample(), second.sample()
    pd.testing.assert_frame_equal(one, other)
    assert not one.equals(first.sample())
    unseeded = Condensation(k=10).fit(correlated(100), NUMBERS)
    assert not unseeded.sample().equals(Condensation(k=10).fit(correlated(100), NUMBERS).sample())


def test_the_data_is_left_alone_and_not_shown():
    data = mixed()
    copy = data.copy(deep=True)
    condensed = Condensation(k=10).fit(data, MIXED)
    pd.testing.assert_frame_equal(data, copy)
    assert repr(condensed) == "Condensed(200 records in 20 groups of 10 to 10, 2 numeric and 4 other columns)"


def test_nobody_is_named_in_what_is_kept():
    data = mixed().set_index("name", drop=False).astype({"name": "category"})
    kept = pickle.dumps(Condensation(k=10).fit(data, MIXED))
    assert b"gout" in kept
    assert b"person 1" not in kept


def empty_cell(name: str) -> pd.DataFrame:
    data = mixed()
    data[name] = data[name].astype(object)
    data.loc[3, name] = None
    return data


REFUSED = [
    (10, None, empty_cell("age"), "Column 'age' has no value in 1 of 200 rows"),
    (10, None, empty_cell("sex"), "Column 'sex' has no value in 1 of 200 rows"),
    (201, None, mixed(), "200 rows cannot form a group of 201"),
    (2, None, mixed().head(0), "0 rows cannot form a group of 2"),
    (110, "zip", mixed(), "of the 2 classes of 'zip' have fewer than 110 records"),
    (10, "name", mixed(), "by names 'name', which is not a column to publish"),
    (10, "illnes", mixed(), "did you mean 'illness'"),
    (10, None, mixed().assign(age=1e300), "numbers beyond 1e"),
    (10, None, mixed().drop(columns="age"), "'age', which is not in the table; the table has"),
]


@pytest.mark.parametrize(("k", "by", "data", "sentence"), REFUSED)
def test_what_cannot_be_condensed_is_refused_in_a_sentence(k, by, data, sentence):
    with pytest.raises(sf.errors.SfumatoError, match=sentence) as refused:
        Condensation(k=k, by=by).fit(data, MIXED)
    assert not any(cell in str(refused.value) for cell in ("4711", "4712", "gout", "person"))


def test_a_table_without_numbers_is_refused():
    with pytest.raises(sf.errors.SchemaError, match="needs a column of numbers"):
        Condensation(k=2).fit(mixed(), sf.Schema(quasi_identifiers=["sex"]))


@pytest.mark.parametrize("settings", [{"k": 1}, {"k": 2.5}, {"secret": "5f"}, {"secret": 1}, {"by": 3}])
def test_bad_settings_are_refused(settings):
    with pytest.raises(sf.errors.InvalidParameterError, match="Condensation"):
        Condensation(**{"k": 2, **settings})


@pytest.mark.parametrize("rows", [0, -1, 2.5, True])
def test_bad_numbers_of_records_are_refused(rows):
    with pytest.raises(sf.errors.InvalidParameterError, match=r"sample\.n must be a whole number"):
        Condensation(k=5).fit(correlated(50), NUMBERS).sample(rows)


@pytest.mark.parametrize("seed", range(10))
def test_a_value_that_few_have_is_never_repeated(seed):
    """Of 200 records one has a unique job, and three share another one."""
    jobs = ["clerk"] * 120 + ["cook"] * 76 + ["astronaut"] + ["pilot"] * 3
    frame = pd.DataFrame({"age": np.arange(200) % 70, "job": jobs})
    made = Condensation(k=5, secret=fixed(seed)).fit(frame, sf.Schema(quasi_identifiers=["age"], insensitive=["job"]))
    drawn = made.sample(2000)
    assert set(drawn["job"].dropna()) == {"clerk", "cook"}
    assert 0 < drawn["job"].isna().sum() < 200
    assert made.rare == {"job": 4}
    assert "4 rare values left out" in repr(made)
    kept = Condensation(k=3, secret=fixed(seed)).fit(frame, sf.Schema(quasi_identifiers=["age"], insensitive=["job"]))
    assert kept.rare == {"job": 1}


@given(st.lists(st.sampled_from("abcdef"), min_size=4, max_size=40), st.integers(2, 4))
@examples(40)
def test_every_value_that_is_drawn_has_k_holders(values, k):
    frame = pd.DataFrame({"n": range(len(values)), "value": values})
    drawn = (
        Condensation(k=k, secret=fixed(1))
        .fit(frame, sf.Schema(quasi_identifiers=["n"], insensitive=["value"]))
        .sample(300)
    )
    assert all(values.count(value) >= k for value in set(drawn["value"].dropna()))
