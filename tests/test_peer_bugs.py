"""Bugs seen in other packages, each as a test that we do not repeat it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published._labels import parse_label
from sfumato.tables.published.solution import NOT_PUBLISHED, RecodedAttribute, Suppressed, TableSolution

SCHEMA = sf.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive=["disease"])
TWO = [KAnonymity(k=2)]


def people(rows: int = 40, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice(["53715", "53703", "90210"], rows),
            "disease": rng.choice(["flu", "cold", "ulcer", "angina"], rows),
        }
    )


def odd_indexes(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """Give the same rows with indexes that tripped others."""
    rows = len(frame)
    larger = pd.concat([frame, frame.assign(age=99)])
    return [
        larger[larger["age"] < 99],
        frame.set_axis(np.random.default_rng(0).permutation(rows), axis=0),
        frame.set_axis([7] * rows, axis=0),
        frame.set_axis([f"row {number}" for number in range(rows)], axis=0),
        frame.set_axis(pd.MultiIndex.from_product([["a"], range(rows)]), axis=0),
    ]


def test_filtered_permuted_and_duplicated_indexes_give_the_same_levels():
    frame = people()
    expected = sf.audit(frame, SCHEMA).to_dict()
    release = sf.anonymize(frame, SCHEMA, TWO)
    for odd in odd_indexes(frame):
        assert sf.audit(odd, SCHEMA).to_dict() == expected
        again = sf.anonymize(odd, SCHEMA, TWO)
        pd.testing.assert_frame_equal(again.frame, release.frame)
        aligned = again.aligned()
        assert aligned.index.equals(odd.index)
        assert aligned["disease"].tolist() == odd["disease"].tolist()


def test_rows_with_a_missing_quasi_identifier_are_counted():
    frame = pd.DataFrame({"age": [30.0, 30.0, np.nan], "sex": ["F", "F", None], "zip": ["1"] * 3, "disease": ["a"] * 3})
    audit = sf.audit(frame, SCHEMA)
    assert audit.records == 3
    assert audit.level("k-anonymity") == 1
    release = sf.anonymize(pd.concat([frame] * 2), SCHEMA, TWO)
    assert len(release.frame) == 6
    assert release.audit.level("k-anonymity") == 2


def test_unused_categories_are_nobody():
    frame = people().astype({"sex": "category", "zip": "category"})
    frame["sex"] = frame["sex"].cat.add_categories(["X"])
    frame["zip"] = frame["zip"].cat.add_categories(["00000"])
    release = sf.anonymize(frame, SCHEMA, TWO)
    assert release.audit.level("k-anonymity") >= 2
    assert sf.audit(frame, SCHEMA).level("k-anonymity") == 1
    for name in ("sex", "zip"):
        shown = release.frame[name]
        assert shown.dtype != "category" or set(shown.cat.categories) == set(shown.dropna())


def test_three_equally_frequent_values_have_an_entropy_of_three():
    frame = pd.DataFrame({"age": [30] * 3, "sex": ["F"] * 3, "zip": ["1"] * 3, "disease": ["a", "b", "c"]})
    assert sf.audit(frame, SCHEMA).level("entropy-l-diversity") == 3
    assert sf.audit(frame, SCHEMA, [EntropyLDiversity(l=3, sensitive="disease")]).holds
    for values in range(2, 30):
        even = pd.DataFrame({"age": 1, "sex": "F", "zip": "1", "disease": [f"d{i}" for i in range(values)]})
        assert sf.audit(even, SCHEMA).level("entropy-l-diversity") == values
    nine = pd.concat([frame] * 3)
    assert sf.audit(nine, SCHEMA, [EntropyLDiversity(l=3, sensitive="disease")]).holds


def test_no_published_column_tells_the_original_row():
    frame = people(60).assign(name=[f"person {number}" for number in range(60)])
    schema = sf.Schema(identifiers=["name"], quasi_identifiers=SCHEMA.quasi_identifiers, sensitive=SCHEMA.sensitive)
    release = sf.anonymize(frame.set_axis(range(1000, 1060), axis=0), schema, TWO)
    assert list(release.frame.columns) == ["age", "sex", "zip", "disease"]
    assert release.frame.index.tolist() == list(range(60))
    shuffled = sf.anonymize(frame.sample(frac=1, random_state=1), schema, TWO)
    pd.testing.assert_frame_equal(shuffled.frame, release.frame)


def test_intervals_hold_their_values_and_open_ends_do_not():
    ages = sf.hierarchies.Intervals(5, 10).build(pa.array([20, 24, 25, 29]))
    assert [ages.labels[1][node] for node in ages.levels[1]] == ["[20, 25)", "[20, 25)", "[25, 30)", "[25, 30)"]
    table = pa.table({"age": [20, 24, 25, 29]})
    schema = sf.Schema(quasi_identifiers=["age"])
    wrong = pa.table({"age": ["[20, 25)", "[20, 25)", "[20, 25)", "[25, 30)"]})
    assert sf.audit(wrong, schema, original=table, correspondence=range(4)).truth.false_cells == 1
    assert sf.audit(wrong, schema, original=table).truth.unmatched == 1
    release = sf.anonymize(people(), SCHEMA, [KAnonymity(k=3)])
    for text, age in zip(release.aligned()["age"], people()["age"], strict=True):
        label = parse_label(
            str(text), sf.Schema(quasi_identifiers=["age"], scales={"age": "numeric"}).scales["age"], {}
        )
        low, high = (label.low, label.high) if hasattr(label, "low") else (label.value, label.value)
        assert low <= age <= high


@pytest.mark.parametrize(
    ("model", "possible"),
    [
        (KAnonymity(k=41), "reaches 40, 41 is needed"),
        (sf.models.DistinctLDiversity(l=5, sensitive="disease"), "reaches 4, 5 is needed"),
    ],
)
def test_more_than_is_possible_is_an_error_that_names_what_is(model, possible):
    with pytest.raises(sf.errors.InfeasibleError, match=possible):
        sf.anonymize(people(), SCHEMA, [model])
    with pytest.raises(sf.errors.InfeasibleError, match=possible):
        sf.anonymize(people(), SCHEMA, [model], max_suppressed=1.0)


def test_a_smaller_t_gives_fewer_groups():
    frame = people(300)
    groups = []
    for t in (1.0, 0.5, 0.35, 0.2, 0.1, 0.0):
        release = sf.anonymize(frame, SCHEMA, [TCloseness(t=t, sensitive="disease")])
        assert release.audit.level("t-closeness") <= t
        groups.append(len(release.audit.sizes))
    assert all(more >= fewer for more, fewer in pairwise(groups))
    assert len(set(groups)) >= 4
    assert groups[-1] < groups[0]


@pytest.mark.parametrize("odd", ["marital-status", "hours per week", "naïve ∂", "a.b", "`tick`", "SELECT", "0"])
def test_column_names_may_be_anything(odd):
    frame = people().rename(columns={"age": odd, "disease": f"{odd} of {odd}"})
    schema = sf.Schema(quasi_identifiers=[odd, "sex", "zip"], sensitive=[f"{odd} of {odd}"])
    models = [KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive=f"{odd} of {odd}")]
    release = sf.anonymize(frame, schema, models)
    assert release.audit.holds
    assert list(release.frame.columns) == list(frame.columns)


def test_the_callers_frame_stays_as_it_is():
    frame = people().astype({"sex": "category"})
    frame.loc[3, "zip"] = None
    before = frame.copy(deep=True)
    release = sf.anonymize(frame, SCHEMA, TWO)
    release.frame["age"] = "changed"
    pd.testing.assert_frame_equal(frame, before)
    sf.audit(frame, SCHEMA, original=frame)
    pd.testing.assert_frame_equal(frame, before)


class LeavesOut(Mondrian):
    """Leave out the first four records."""

    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish, without the first four records."""
        everything = np.zeros(task.table.rows, dtype=np.int32)
        everything[:4] = NOT_PUBLISHED
        stars = RecodedAttribute((Suppressed(),), np.zeros(1, dtype=np.int32))
        found = {**super().search(task).recoded, "age": stars, "sex": stars, "zip": stars}
        return TableSolution(everything, found)


def test_suppressed_rows_are_not_a_class():
    release = sf.anonymize(people(), SCHEMA, [KAnonymity(k=36)], LeavesOut(), max_suppressed=0.1)
    assert release.suppressed == 4
    assert len(release.frame) == 36
    assert release.audit.sizes.tolist() == [36]
    assert release.audit.level("k-anonymity") == 36
    assert release.metrics["suppressed-share"] == pytest.approx(0.1)
    with pytest.raises(sf.errors.GuaranteeViolatedError):
        sf.anonymize(people(), SCHEMA, [KAnonymity(k=37)], LeavesOut(), max_suppressed=0.1)
