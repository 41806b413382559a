"""Generalized cells as features: by definition, and so that a release that keeps something is not punished."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato.datasets import hospital
from sfumato.tables.metrics import classification
from sfumato.tables.metrics.classification import build_features, compare_classifiers, hold_out

JOBS = sf.hierarchies.Taxonomy({"desk": ["clerk", "judge"], "field": ["farmer", "miner"]})
SCHEMA = sf.Schema(quasi_identifiers=["job"], hierarchies={"job": JOBS})
COVERED = {job: {job} for job in ("clerk", "judge", "farmer", "miner")}
COVERED |= {"desk": {"clerk", "judge"}, "field": {"farmer", "miner"}, "{clerk, miner}": {"clerk", "miner"}}
COVERED["*"] = {"clerk", "judge", "farmer", "miner"}
VALUES = st.lists(st.sampled_from(["clerk", "judge", "farmer", "miner"]), min_size=1, max_size=8)
EVERYBODY = ["clerk", "judge", "farmer", "miner"]


def table(**columns) -> pa.Table:
    return pa.table(columns)


@examples(40)
@given(st.lists(st.sampled_from(list(COVERED)), min_size=1, max_size=12), VALUES)
def test_a_label_is_a_feature_by_the_share_it_covers(shown, held):
    found = build_features(table(job=shown), table(job=EVERYBODY), table(job=held), ["job"], SCHEMA)
    labels = sorted(set(shown))
    trained = {tuple(row) for row in np.sort(found.training, axis=1).round(9).tolist()}
    by_hand = [[len(COVERED[cell] & COVERED[label]) / len(COVERED[cell]) for label in labels] for cell in shown]
    assert trained == {tuple(sorted(np.round(row, 9))) for row in by_hand}
    tested = [[float(value in COVERED[label]) for label in labels] for value in held]
    assert found.held_out.sum(axis=1).tolist() == [sum(row) for row in tested]
    assert found.training.shape == (len(shown), len(labels))


def test_a_held_out_number_is_shown_as_the_only_cell_that_covers_it():
    original = table(age=[20, 30, 40, 50])
    apart = table(age=["[20, 30]", "[40, 60)", "*"])
    overlapping = table(age=["[20, 40]", "[30, 60)"])
    held = table(age=[22, 45, 70, None])
    found = build_features(apart, original, held, ["age"], None).held_out.ravel()
    scale = np.std([20, 30, 40, 50])
    assert found * scale + 35 == pytest.approx([25, 49.5, 70, 35])
    found = build_features(overlapping, original, table(age=[22, 35, 55]), ["age"], None).held_out.ravel()
    assert found * scale + 35 == pytest.approx([30, 35, 44.5])


def people() -> tuple[pa.Table, pa.Table, sf.Schema]:
    quasi = ["age", "sex", "job", "education", "nationality"]
    hierarchies = {
        "age": sf.hierarchies.Intervals(5, 10, 20),
        "job": sf.hierarchies.Taxonomy(hospital.JOBS),
        "nationality": sf.hierarchies.Taxonomy(hospital.COUNTRIES),
    }
    schema = sf.Schema(
        quasi_identifiers=quasi,
        sensitive=["marital_status"],
        hierarchies=hierarchies,
        orders={"education": hospital.EDUCATION_ORDER},
    )
    return *hold_out(sf.datasets.generate_hospital(2000, seed=1), share=0.3, seed=1), schema


@pytest.mark.parametrize(
    "algorithm",
    [sf.algorithms.Optimal(), sf.algorithms.Datafly(), sf.algorithms.Mondrian(), sf.algorithms.TopDownNCP()],
    ids=lambda a: a.name,
)
def test_no_release_that_keeps_something_is_below_the_majority_class(algorithm):
    kept, held, schema = people()
    release = sf.anonymize(kept, schema, [sf.models.KAnonymity(k=5)], algorithm, max_suppressed=0.05, seed=1)
    found = compare_classifiers(
        kept, release.frame, held, target="marital_status", columns=schema.quasi_identifiers, schema=schema
    )
    assert found.published > found.majority
    assert found.original > found.majority + 0.1


def test_a_full_domain_release_is_judged_as_if_held_out_records_were_recoded():
    rng = np.random.default_rng(3)
    jobs, ages = rng.choice(EVERYBODY, 900), rng.integers(20, 80, 900)
    kind = np.where(np.isin(jobs, ["clerk", "judge"]) ^ (ages < 40), "a", "b")
    data = pd.DataFrame({"job": jobs, "age": ages, "kind": np.where(rng.random(900) < 0.1, "a", kind)})
    kept, held = hold_out(data, seed=1)
    offices = {job: "desk" if job in {"clerk", "judge"} else "field" for job in EVERYBODY}

    def recoded(frame: pd.DataFrame, *, exact: bool) -> pd.DataFrame:
        low = frame["age"] // 20 * 20
        age = low + 10 if exact else [f"[{each}, {each + 20})" for each in low]
        return frame.assign(job=frame["job"].map(offices), age=age)

    found = compare_classifiers(kept, recoded(kept, exact=False), held, target="kind", schema=SCHEMA)
    oracle = compare_classifiers(
        recoded(kept, exact=True), recoded(kept, exact=True), recoded(held, exact=True), target="kind"
    )
    assert found.published == oracle.original
    assert found.published > 0.85


def test_many_labels_become_few_features_and_large_matrices_sparse(monkeypatch):
    monkeypatch.setattr(classification, "MOST_LABELS", 2)
    names = table(job=["clerk", "clerk", "judge", "judge", "miner"])
    found = build_features(names, names, names, ["job"], None)
    assert found.training.shape == (5, 2)
    assert found.training.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]]
    monkeypatch.setattr(classification, "DENSE", 1)
    assert build_features(names, names, names, ["job"], None).training.nnz == 4


def test_missing_cells_have_a_feature_of_their_own():
    shown = table(job=["clerk", None, "*"])
    found = build_features(shown, table(job=EVERYBODY), table(job=["clerk", None]), ["job"], None)
    assert found.training[1].tolist() != found.training[2].tolist()
    assert found.held_out[0].tolist() != found.held_out[1].tolist()
    assert found.training[1].max() == found.held_out[1].max() == 1
