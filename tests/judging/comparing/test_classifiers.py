"""Classifiers trained on a release, on the original, and on nothing."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato._randomness import secret_from_seed
from sfumato.synthesis.condensation import Condensation
from sfumato.tables.metrics.classification import compare_classifiers, hold_out


def easy(rows: int = 1500) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, size=rows)
    return pd.DataFrame(
        {
            "height": kind * 3 + rng.normal(size=rows),
            "weight": (kind == 1) * 4 + rng.normal(size=rows),
            "color": np.where(rng.random(rows) < 0.8, np.array(["red", "blue", "blue"])[kind], "red"),
            "kind": np.array(["oak", "elm", "fir"])[kind],
        }
    )


KEPT, HELD = hold_out(easy(), share=0.3, seed=1)
SCHEMA = sf.Schema(quasi_identifiers=["height", "weight", "color"], sensitive=["kind"])


def test_a_condensed_table_trains_nearly_as_well():
    synthetic = Condensation(k=15, by="kind", secret=secret_from_seed(1)).fit(KEPT, SCHEMA).sample()
    found = compare_classifiers(KEPT, synthetic, HELD, target="kind")
    assert found.original > 0.85
    assert found.published > 0.85
    assert found.majority < 0.45
    assert found.held_out == 450


def test_a_shuffled_class_trains_no_better_than_the_majority():
    noise = KEPT.assign(kind=KEPT["kind"].sample(frac=1, random_state=1).to_numpy())
    found = compare_classifiers(KEPT, noise, HELD, target="kind")
    assert found.published < 0.5
    assert found.original > 0.85


def test_the_same_table_trains_the_same():
    found = compare_classifiers(KEPT, KEPT, HELD, target="kind")
    assert found.original == found.published


def test_intervals_train_by_their_midpoints():
    low = np.floor(KEPT["height"] / 2) * 2
    release = KEPT.assign(height=[f"[{a:g}, {a + 2:g})" for a in low])
    found = compare_classifiers(KEPT, release, HELD, target="kind", columns=["height"])
    assert found.published > 0.7
    stars = KEPT.assign(height="*")
    assert compare_classifiers(KEPT, stars, HELD, target="kind", columns=["height"]).published < 0.45


def test_any_classifier_can_be_given():
    from sklearn.linear_model import LogisticRegression

    found = compare_classifiers(KEPT, KEPT, HELD, target="kind", classifier=LogisticRegression())
    assert found.original > 0.85


def test_empty_cells_and_unseen_categories_are_no_obstacle():
    held = HELD.copy()
    held.loc[held.index[:5], "height"] = np.nan
    held.loc[held.index[5:9], "color"] = "violet"
    held.loc[held.index[9:12], "kind"] = None
    assert compare_classifiers(KEPT, KEPT, held, target="kind").held_out == 447


def test_tables_are_parted_without_loss():
    data = easy(100)
    kept, held = hold_out(pl.from_pandas(data), share=0.2, seed=3)
    assert (len(kept), len(held)) == (80, 20)
    assert sorted([*kept["height"], *held["height"]]) == sorted(data["height"])
    assert hold_out(data, seed=4)[1].equals(hold_out(data, seed=4)[1])
    assert not hold_out(data, seed=4)[1].equals(hold_out(data, seed=5)[1])


def test_accuracies_are_shown():
    found = compare_classifiers(KEPT, KEPT, HELD, target="kind")
    assert repr(found).splitlines()[0] == "Accuracy on 450 held-out records, 'kind' from 3 columns"
    assert found.to_dict()["columns"] == ["height", "weight", "color"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"target": "kin"}, "A table has no column 'kin'; did you mean 'kind'"),
        ({"target": "kind", "columns": ["kind"]}, "at least one column"),
        ({"target": "kind", "columns": []}, "at least one column"),
    ],
)
def test_bad_requests_are_refused(settings, sentence):
    with pytest.raises(sf.errors.SchemaError, match=sentence):
        compare_classifiers(KEPT, KEPT, HELD, **settings)


@pytest.mark.parametrize("share", [0, 1, -0.5, "half"])
def test_bad_shares_are_refused(share):
    with pytest.raises(sf.errors.InvalidParameterError, match="share"):
        hold_out(easy(10), share=share)


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(sf.errors.SfumatoError, match=r"sfumato\[learn\]"):
        compare_classifiers(KEPT, KEPT, HELD, target="kind")
