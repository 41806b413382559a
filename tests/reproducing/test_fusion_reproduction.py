"""The experiments on fusion, on small tables: figures, findings, and what classifiers are tested on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from papers.fusion.accuracy import majority_accuracy, recode_held_out, tree_accuracy
from papers.fusion.experiment import (
    CHANGED,
    NOTHING,
    OURS,
    PLAIN,
    RAW,
    FusionPoint,
    TreeAccuracies,
    make_figures,
    measure_baselines,
    reproduce_fusion,
)
from papers.fusion.setting import ADULT_FACTORS, FusionGrid, adult_subject, synthetic_subject

import sfumato as sf
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.fusion.protocol import fuse

KS = (20, 50, 75, 100)
FIGURES = ["3a", "3b", "3b-quasi", "4a", "4b", "4b-quasi"]


def test_every_figure_and_finding_is_there():
    grid = FusionGrid(group_sizes=(5, 40, 100_000), repetitions=2)
    found = reproduce_fusion(grid, subject=synthetic_subject(rows=450, seed=3))
    assert [figure.name for figure in found.figures] == FIGURES
    assert [line.label for line in found.figures[4].lines] == [OURS, CHANGED, RAW, NOTHING]
    accuracy = found.figures[1].line(OURS)
    assert list(accuracy.measured()) == [5, 40], "no table can keep groups of 100,000"
    assert all(0.4 < y <= 1 for y in accuracy.measured().values())
    assert accuracy.spread[0] >= 0
    assert all(y > 0 for y in found.figures[0].line(PLAIN).measured().values())
    assert Counter(each.figure for each in found.findings) == dict(zip(FIGURES, (3, 4, 4, 3, 4, 4), strict=True))


def test_equal_repetitions_are_measured_alike_and_others_differ():
    subject, grid = synthetic_subject(rows=450, seed=3), FusionGrid(group_sizes=(5,), repetitions=1)
    one, again, other = (reproduce_fusion(replace(grid, seed=seed), subject=subject) for seed in (1, 1, 2))
    assert one == again
    assert one.figures[1] != other.figures[1]


@pytest.mark.parametrize("setting", [0, 1])
@pytest.mark.parametrize("scoring", ["sensitive", "sensitive-sum", "plain"])
def test_one_owner_of_all_attributes_fuses_what_the_two_owners_fuse(setting, scoring):
    subject = synthetic_subject(rows=200, seed=4)
    asked = {"target": "class", "requirements": [subject.requirement(8)], "scoring": scoring}
    alone, together = fuse([subject.joined(setting)], **asked), fuse(subject.parties(setting), **asked)
    assert alone.rounds == together.rounds > 5
    assert together.published.equals(alone.published.select(together.published.column_names))


def test_ue_knows_nothing_of_the_quasi_identifiers():
    """The class is what the age says, and nothing else says anything."""
    subject = synthetic_subject(rows=300, seed=2)
    age = subject.table["age"].to_numpy()
    classes = pa.array(np.where(age > np.median(age), "old", "young"))
    others = [name for name in subject.columns if name not in subject.quasi]
    held = subject.columns_of(
        pa.table(
            {name: subject.table[name] if name == "age" else pa.array(["same"] * 300) for name in subject.columns}
            | {"class": classes}
        )
    )
    found = measure_baselines(held, FusionGrid(), 0)
    assert found[RAW].every > 0.95
    assert found[RAW].quasi > 0.95
    assert found[NOTHING].every == found[NOTHING].quasi < 0.65
    assert "age" not in others


def points(rounds, accuracies, labels="a"):
    """Give one repetition whose accuracy on quasi-identifiers is lower by 0.1 than that on all attributes."""
    known = frozenset({("job", labels)})
    return [
        FusionPoint(TreeAccuracies(accuracy, accuracy - 0.1), float(each), known)
        for each, accuracy in zip(rounds, accuracies, strict=True)
    ]


def findings(lines, *, raw=0.9, nothing=0.5, noise=(0.0, 0.001, -0.001)):
    """Judge three repetitions that differ by noise which all points share."""
    bounds = [
        {RAW: TreeAccuracies(raw + d, raw + d), NOTHING: TreeAccuracies(nothing + d, nothing - 0.1 + d)} for d in noise
    ]
    repeated = [
        {
            k: {
                label: replace(
                    each[at], accuracy=TreeAccuracies(each[at].accuracy.every + d, each[at].accuracy.quasi + d)
                )
                for label, each in lines.items()
            }
            for at, k in enumerate(KS)
        }
        for d in noise
    ]
    return {(each.figure, each.claim): each for each in make_figures(repeated, bounds, ["job"]).findings}


def test_a_text_that_is_right_in_everything_is_seen_in_everything():
    found = findings(
        {
            OURS: points([99, 97, 96, 60], [0.80, 0.72, 0.75, 0.70]),
            PLAIN: points([100, 98, 92, 61], [0.85, 0.84, 0.83, 0.82]),
            CHANGED: points([98, 96, 90, 50], [0.75, 0.70, 0.65, 0.55]),
        }
    )
    assert len(found) == 22
    assert [key for key, each in found.items() if not each.seen] == []
    assert "0.7200 at k=50 to 0.7500 at k=75" in found["3b", "At k=75 accuracy rises a little"].why


def test_a_text_that_is_wrong_in_everything_is_seen_in_nothing():
    found = findings(
        {
            OURS: points([9, 9, 9.5, 10], [0.3, 0.31, 0.31, 0.32]),
            PLAIN: points([1, 1, 1, 1], [0.2, 0.2, 0.2, 0.2]),
            CHANGED: points([21, 22, 23, 24], [0.4, 0.41, 0.42, 0.45]),
        },
    )
    assert not any(each.seen for each in found.values())
    said = found["3b-quasi", "Factors cost accuracy: it is below ASHP's"].why
    assert f"The tables show the same labels as those of {PLAIN} in 12 of 12 runs." in said
    assert said.endswith("that show more than one: at k=20 nothing; at k=100 nothing.")
    said = found["3b", "Factors cost accuracy: it is below ASHP's"].why
    assert said.endswith("Accuracy is 0.9000 with raw quasi-identifiers and 0.5000 without them.")


def test_what_is_left_of_quasi_identifiers_is_told():
    fine = [
        replace(each, labels=frozenset({("job", "a"), ("job", "b"), ("sex", "*")}))
        for each in points([9] * 4, [0.3] * 4)
    ]
    coarse = points([9] * 4, [0.3] * 4)
    found = findings({OURS: [fine[0], *coarse[1:]], PLAIN: coarse, CHANGED: coarse})
    assert found["4b-quasi", "The fused table stays useful: accuracy is above UE"].why.endswith(
        "at k=20 job 2; at k=100 nothing."
    )


def test_what_was_not_measured_is_not_judged():
    nothing = [FusionPoint()] * len(KS)
    found = findings(dict.fromkeys((OURS, PLAIN, CHANGED), nothing))
    assert all(each.why.startswith("Not measured") for each in found.values())


@pytest.fixture(scope="module")
def fused():
    subject = synthetic_subject(rows=300, seed=1)
    return subject, fuse(subject.parties(0), target="class", requirements=[subject.requirement(10)]).published


def test_fused_records_are_recoded_to_what_is_published(fused):
    subject, published = fused
    again = recode_held_out(subject.table, published, subject)
    assert again.column_names == [*subject.columns, "class"]
    by = [(name, "ascending") for name in again.column_names]
    assert again.sort_by(by).to_pylist() == published.select(again.column_names).sort_by(by).to_pylist()
    assert any(len(again[name].unique()) > 1 for name in subject.columns)


def test_values_that_were_not_fused_go_to_the_range_or_group_around_them():
    subject = synthetic_subject(rows=120, seed=1)
    held = subject.table.slice(0, 4)
    held = held.set_column(0, "age", pa.array([-5, 40, 41, 500]))
    held = held.set_column(3, "disease", pa.array(["influenza", "pneumonia", "migraine", "COPD"]))
    shown = {name: ["*"] * 3 for name in subject.columns}
    shown |= {"age": ["[10, 39]", "[42, 80]", "40"], "disease": ["influenza", "lungs", "lungs"]}
    again = recode_held_out(held, pa.table(shown), subject)
    assert again["age"].to_pylist() == ["[10, 39]", "40", "40", "[42, 80]"]
    assert again["disease"].to_pylist() == ["influenza", "lungs", "*", "lungs"]
    assert again["zip"].to_pylist() == ["*"] * 4


def test_a_tree_learns_what_can_be_learned():
    rng = np.random.default_rng(2)
    numbers, texts = rng.integers(0, 100, 900), rng.choice(["a", "b", "c"], 900)
    classes = np.where((numbers > 50) & (texts != "b"), "yes", "no")
    table = pa.table({"number": numbers, "text": texts, "class": classes})
    kept, held = table.slice(0, 600), table.slice(600)
    given = {"target": "class", "seed": 0}
    assert tree_accuracy(kept, held, columns=["number", "text"], **given) > 0.98
    usual = majority_accuracy(kept, held, target="class")
    assert usual == pytest.approx(np.mean(classes[600:] == "no"))
    assert usual < tree_accuracy(kept, held, columns=["text"], **given) + 0.05 < 0.9


def test_a_tree_learns_as_much_from_sorted_records():
    """Published tables are sorted, so folds must not be ranges of them."""
    rng = np.random.default_rng(5)
    places = np.sort(rng.integers(0, 40, 1200))
    says = rng.random(40) < 0.5
    classes = says[places] ^ (rng.random(1200) < 0.05)
    hints = classes ^ (rng.random(1200) < 0.3)
    columns = {"place": [f"place {each:02d}" for each in places], "hint": np.where(hints, "up", "down")}
    table = pa.table({**columns, "class": np.where(classes, "yes", "no")})
    assert tree_accuracy(table, table, target="class", columns=["place", "hint"], seed=0) > 0.9


def adult(rows: int = 200) -> pa.Table:
    rng = np.random.default_rng(0)
    texts = {
        "workclass": ["Private", "State-gov", None],
        "education": ["10th", "Masters"],
        "marital-status": ["Divorced", "Widowed"],
        "occupation": ["Sales", "Craft-repair"],
        "relationship": ["Wife", "Unmarried"],
        "race": ["White", "Black"],
        "sex": ["Male", "Female"],
        "native-country": ["United-States", "Mexico", "India"],
        "class": ["<=50K", ">50K"],
    }
    names = [*(name for mine in ADULT_FACTORS for name in mine), "class"]
    columns = {name: rng.choice(texts[name], rows) if name in texts else rng.integers(0, 90, rows) for name in names}
    return pa.table({name: pa.array(column.tolist()) for name, column in columns.items()})


def test_adult_is_parted_among_two_owners_with_the_factors_of_the_text():
    subject = adult_subject(adult())
    assert 100 < subject.table.num_rows < 200, "records with missing values are left out"
    first, second = subject.parties(0)
    assert len(first.attributes) == len(second.attributes) == 7
    assert sum(first.attribute_factors.values()) == pytest.approx(1)
    assert sum(second.attribute_factors.values()) == pytest.approx(1)
    assert first.factor == second.factor == 0.5
    assert (first.value_factors["education"], first.value_factors["age"]) == (3.0, 4.0)
    changed = subject.parties(1)[1]
    assert (changed.value_factors["race"], changed.value_factors["sex"]) == (1.0, 5.0)
    assert fuse(subject.parties(0), target="class", requirements=[subject.requirement(5)]).audit.holds
    assert adult_subject(adult(), rows=110).table.num_rows == 110


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(SchemaError, match="The table has no columns race, sex, which Adult has"):
        adult_subject(adult().drop_columns(["race", "sex"]))
    with pytest.raises(SchemaError, match="too few to learn from"):
        adult_subject(adult(60))
    with pytest.raises(SchemaError, match="too few to learn from"):
        synthetic_subject(rows=20)
    with pytest.raises(InvalidParameterError):
        adult_subject(adult(), rows=50)
    for wrong in (
        {"seed": -1},
        {"group_sizes": ()},
        {"group_sizes": (0,)},
        {"repetitions": 0},
        {"repetitions": True},
        {"scoring": "plain"},
    ):
        with pytest.raises(InvalidParameterError):
            replace(FusionGrid(), **wrong)


@pytest.mark.shared_data
def test_the_taxonomies_cover_adult(shared_data):
    subject = adult_subject(sf.read(shared_data / "adult_full" / "adult_full.csv"))
    assert subject.table.num_rows == 45_222
    for name, builder in subject.hierarchies.items():
        builder.build(subject.table[name].unique())
