"""The six-record examples tell the truth: the attack succeeds before, hardly after, and the models say so."""

from __future__ import annotations

import re
from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato._locale.messages import LANGUAGES, load_messages
from sfumato.datasets._attack_examples import EXACT, attack_example_for, attack_examples
from sfumato.datasets.hospital import DISEASES
from sfumato.tables._catalogue import MODELS
from sfumato.tables.series.models._base import SeriesModel

EXAMPLES = {each.name: each for each in attack_examples()}

# The attack by hand: (Ann's candidates, those that give her away) before and after; found by looking at the rows.
BY_HAND = {
    "linkage": ((1, 1), (3, 1)),
    "homogeneity": ((3, 3), (3, 2)),
    "inference": ((3, 2), (6, 3)),
    "background": ((2, 2), (5, 3)),
    "skewness": ((2, 1), (3, 1)),
    "gain": ((3, 1), (6, 1)),
    "similarity": ((2, 2), (3, 1)),
    "proximity": ((3, 3), (6, 3)),
    "membership": ((3, 3), (5, 3)),
    "several-records": ((3, 3), (6, 3)),
}


def holds(example, published, model):
    options = {} if example.population is None else {"population": pa.table(dict(example.population))}
    return sf.audit(pa.table(dict(published)), example.schema, [model], **options).holds


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=list(EXAMPLES))
def test_the_attack_succeeds_before_and_less_often_after(example):
    chances = [Fraction(right, of) for of, right in BY_HAND[example.name]]
    assert [example.inference_probability(example.before), example.inference_probability(example.after)] == chances
    assert chances[0] > chances[1]


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=list(EXAMPLES))
def test_every_model_breaks_before_and_holds_after(example):
    assert [holds(example, example.before, model) for model in example.models] == [False] * len(example.models)
    assert [holds(example, example.after, model) for model in example.models] == [True] * len(example.models)
    assert [holds(example, example.before, model) for model in example.kept] == [True] * len(example.kept)


def test_every_model_of_one_release_has_an_example():
    without = {name for name in MODELS.built_in if attack_example_for(name) is None}
    assert without == {name for name in MODELS.built_in if issubclass(MODELS[name], SeriesModel)}
    assert attack_example_for("of-another-package") is None


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=list(EXAMPLES))
def test_what_is_published_covers_the_six_patients_of_the_made_up_hospital(example):
    diseases = {each for kinds in DISEASES.values() for names in kinds.values() for each in names}
    for published in (example.before, example.after):
        assert {len(column) for column in published.values()} == {6}
        assert set(published.get("disease", ())) <= diseases
        for row in range(6):
            age, sex = (EXACT[name][row] for name in ("age", "sex"))
            numbers = [int(number) for number in re.findall(r"\d+", str(published["age"][row]))]
            assert min(numbers) <= age <= max(numbers)
            assert published["sex"][row] in {"*", sex}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_example_is_told_and_every_cell_that_is_a_word_is_translated(language):
    say = load_messages(language)
    words = {"age", "sex"}
    for name, example in EXAMPLES.items():
        assert all(f"attack_examples.{name}.{part}" in say for part in ("title", "knows", "before", "after"))
        cells = {str(cell) for column in example.before.values() for cell in column}
        words |= {cell for cell in cells if cell.replace(" ", "").isalpha()} | set(example.before)
    assert {each for each in words if f"attack_examples.cells.{each}" not in say} == set()
