"""Masking as steps of a recipe: carried out, audited, recorded, and told honestly."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from sfumato._locale.messages import load_messages
from sfumato.report.sections.masking import masking_facts
from sfumato.tables.audit.audit import audit_context
from sfumato.tables.masking.add_noise import AddNoise
from sfumato.tables.masking.pram import PRAM
from sfumato.tables.masking.rotate_numbers import RotateNumbers
from sfumato.tables.masking.round_numbers import RoundNumbers
from sfumato.tables.masking.suppress_cells import SuppressCells
from sfumato.tables.masking.swap_ranks import SwapRanks
from sfumato.tables.masking.swap_records import SwapRecords
from sfumato.tables.masking.top_bottom_coding import BottomCode, TopCode

SECRET = "5f" * 32
PEOPLE = sf.datasets.generate_hospital(200, seed=3)
QUASI = ("age", "sex", "height_cm")
SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=QUASI,
    sensitive=["disease"],
    insensitive=["cost"],
    hierarchies={"age": sf.hierarchies.Intervals(5, 10, 20), "height_cm": sf.hierarchies.Intervals(10, 50)},
)
NOISE = AddNoise(columns=["age", "cost"], share=0.1, low=0)
HIDE = SuppressCells(columns=QUASI, k=4)
K4 = sf.models.KAnonymity(k=4)


def masked(*steps, models=(K4,), algorithm=None, schema=SCHEMA, **parameters) -> sf.Release:
    parameters = {"seed": 1, "secret": SECRET, **parameters}
    return sf.anonymize(PEOPLE, schema, list(models), algorithm, masking=list(steps), **parameters)


def rows_of(table: pa.Table, names=QUASI) -> list[tuple]:
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def test_a_search_sees_what_masking_left_and_cells_cover_that():
    release = masked(TopCode(column="age", at=60))
    assert release.audit.holds
    assert release.audit.truth.perturbed == ("age",)
    assert "or in 'age' what masking made of it" in repr(release.audit)
    assert "80" not in {text.strip("[)") for cell in release.frame["age"].to_pylist() for text in cell.split(", ")}
    assert max(release.evidence.source["age"].to_pylist()) == 60
    assert max(release.original["age"].to_pylist()) > 60


def test_a_cell_that_does_not_cover_the_masked_value_is_seen():
    release = masked(NOISE)
    evidence = replace(release.evidence, original=release.original)
    found = audit_context(evidence, [K4])
    assert found.truth.false_cells
    assert not found.holds


STEPS = st.sampled_from(
    [
        NOISE,
        PRAM(columns=["sex"], keep=0.7),
        SwapRanks(columns=["age", "height_cm"], reach=0.1),
        SwapRecords(place=["disease"], risk=["age"], k=2, similar=["sex"]),
        TopCode(column="age", at=55),
        BottomCode(column="height_cm", quantile=0.2),
        RoundNumbers(columns=["age", "cost"], base=7, how="random"),
    ]
)


@examples(15)
@given(st.lists(STEPS, max_size=3), st.integers(0, 10**6), st.booleans())
def test_whatever_is_masked_the_promise_holds_on_the_published_table(steps, number, hide):
    algorithm = sf.algorithms.Identity() if hide else sf.algorithms.Mondrian()
    steps = [*steps, HIDE] if hide else steps
    release = masked(*steps, algorithm=algorithm, secret=f"{number:064x}")
    shown = Counter(rows_of(release.published))
    assert min(shown.values()) >= 4
    assert release.audit.truth.false_cells == 0
    names = {name for step in steps for name in step.attributes if not (step.covers and name in QUASI)}
    assert set(release.audit.truth.perturbed) == names


def test_measures_of_covers_are_left_out_where_quasi_identifiers_were_perturbed():
    assert "ncp" not in masked(NOISE).metrics
    assert "ncp" in masked(AddNoise(columns=["cost"], share=0.1)).metrics


def test_the_recipe_repeats_the_release_and_keeps_the_secret():
    release = masked(NOISE, PRAM(columns=["sex"], keep=0.8), secret=None)
    recipe = sf.Recipe.from_toml(release.recipe.to_toml())
    assert recipe == release.recipe
    assert recipe.secret is not None
    assert sf.run_recipe(recipe, PEOPLE).published.equals(release.published)
    other = sf.run_recipe(replace(recipe, secret="a0" * 32), PEOPLE)
    assert not other.published.equals(release.published)


@pytest.mark.parametrize(
    "step",
    [
        HIDE,
        SuppressCells(columns=QUASI, k=4, weights={"age": 2}),
        SuppressCells(columns=QUASI, k=4, importance=(2, 1, 3)),
        PRAM(columns=["sex"], matrix=[[0.9, 0.1], [0.2, 0.8]], labels=["female", "male"]),
        SwapRanks(columns=["cost"], reach=0.1),
        SwapRecords(place=["disease"], risk=["age"], k=2, similar=[["sex", "age"], ["sex"]], rate=0.1, unit="name"),
        RotateNumbers(columns=["height_cm", "cost"]),
        TopCode(column="age", at=70, publish="interval", limit=120),
        BottomCode(column="cost", quantile=0.1, publish="mean"),
        RoundNumbers(columns=["age"], base=5, how="random"),
        AddNoise(columns=["cost"], share=0.2, kind="exact"),
    ],
    ids=repr,
)
def test_every_step_is_read_back_from_the_recipe(step):
    recipe = sf.Recipe(schema=SCHEMA, models=(K4,), algorithm=sf.algorithms.Identity(), masking=(step,))
    assert sf.Recipe.from_toml(recipe.to_toml()) == recipe


def test_the_order_of_the_rows_has_no_effect():
    order = np.random.default_rng(1).permutation(PEOPLE.num_rows)
    recipe = masked(NOISE).recipe
    moved = sf.run_recipe(recipe, PEOPLE.take(pa.array(order)))
    assert moved.published.equals(sf.run_recipe(recipe, PEOPLE).published)
    assert moved.audit.holds


def test_a_step_that_draws_nothing_leaves_no_secret():
    assert masked(TopCode(column="age", at=60), secret=None).recipe.secret is None


def test_hidden_cells_keep_k_anonymity_as_the_audit_counts_it():
    release = masked(RoundNumbers(columns=["age", "height_cm"], base=10), HIDE, algorithm=sf.algorithms.Identity())
    assert release.audit.level("k-anonymity") >= 4
    assert min(Counter(rows_of(release.published)).values()) >= 4
    assert release.published.num_rows == PEOPLE.num_rows
    assert [record.step.name for record in release.masking] == ["round-numbers", "suppress-cells"]
    assert "suppress-cells of age, sex, height_cm: hidden-cells" in repr(release)
    assert "No privacy model is promised" not in repr(release)


def test_cells_are_hidden_after_levels_were_given():
    release = masked(HIDE, algorithm=sf.algorithms.FixedLevels(levels={"age": 2, "sex": 0, "height_cm": 1}))
    assert release.audit.level("k-anonymity") >= 4
    assert release.audit.truth.perturbed == ()
    shown = {cell for cell in release.published["age"].to_pylist() if cell != "*"}
    assert all(re.fullmatch(r"\[\d+, \d+\)", cell) for cell in shown)


@examples(15)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_the_place_of_a_row_does_not_betray_its_hidden_cells(seed, k):
    table = sf.datasets.generate_hospital(60, seed=seed)
    schema = sf.Schema(quasi_identifiers=["age", "sex"], insensitive=["cost"])
    step = SuppressCells(columns=["age", "sex"], k=k)
    shown = sf.anonymize(table, schema, [sf.models.KAnonymity(k=k)], sf.algorithms.Identity(), masking=[step]).published
    rows = [tuple(str(cell) if name != "cost" else cell for name, cell in row.items()) for row in shown.to_pylist()]
    assert rows == sorted(rows)


def test_rows_promise_no_model_and_the_audit_claims_none():
    release = masked(
        RoundNumbers(columns=["age", "height_cm"], base=10),
        SuppressCells(columns=QUASI, k=4, protect="rows"),
        models=(),
        algorithm=sf.algorithms.Identity(),
    )
    assert release.audit.level("k-anonymity") == 1
    assert "No privacy model is promised" in repr(release)
    assert release.masking[1].metrics["exposed-persons"] > 0


def test_intervals_still_cover_the_original():
    release = masked(
        TopCode(column="age", at=60, publish="interval", limit=120),
        BottomCode(column="cost", at=500, publish="interval"),
        models=(),
        algorithm=sf.algorithms.Identity(),
    )
    assert release.audit.truth.perturbed == ("cost",)
    assert "(60, 120]" in release.published["age"].to_pylist()
    assert release.audit.holds
    assert sf.audit(
        release.frame,
        SCHEMA,
        original=PEOPLE.drop_columns(["cost"]).append_column("cost", release.evidence.source["cost"]),
        correspondence=release.correspondence,
    ).holds


def test_a_promise_that_hidden_cells_do_not_keep_is_refused():
    with pytest.raises(sf.errors.InfeasibleError, match="all quasi-identifiers"):
        masked(SuppressCells(columns=["age", "sex"], k=4), algorithm=sf.algorithms.Identity())


@pytest.mark.parametrize(
    ("steps", "more", "error", "sentence"),
    [
        ([HIDE], {}, sf.errors.InvalidParameterError, "not a search such as Mondrian"),
        ([HIDE, NOISE], {"algorithm": sf.algorithms.Identity()}, sf.errors.InvalidParameterError, "put it last"),
        ([HIDE, HIDE], {"algorithm": sf.algorithms.Identity()}, sf.errors.InvalidParameterError, "carried out once"),
        (
            [SuppressCells(columns=QUASI, k=4, protect="rows")],
            {"algorithm": sf.algorithms.Identity()},
            sf.errors.InvalidParameterError,
            "drop the models",
        ),
        (
            [TopCode(column="age", at=60, publish="interval")],
            {},
            sf.errors.InvalidParameterError,
            "Mondrian cannot read",
        ),
        ([PRAM(columns=["name"], keep=0.5)], {}, sf.errors.SchemaError, "'name', which is not published"),
        ([SwapRanks(columns=["zip"], reach=0.5)], {}, sf.errors.SchemaError, "'zip', which is not published"),
        (
            [SuppressCells(columns=["disease"], k=4)],
            {"algorithm": sf.algorithms.Identity()},
            sf.errors.SchemaError,
            "'disease' is none",
        ),
        (
            [TopCode(column="age", at=20), BottomCode(column="age", at=20)],
            {},
            sf.errors.InvalidParameterError,
            "nothing between their bounds",
        ),
        ([NOISE], {"models": ()}, sf.errors.InvalidParameterError, "at least one model"),
        (
            [],
            {"models": (), "algorithm": sf.algorithms.Identity()},
            sf.errors.InvalidParameterError,
            "at least one model",
        ),
        (["add-noise"], {}, sf.errors.InvalidParameterError, "a list of masking steps"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(steps, more, error, sentence):
    with pytest.raises(error, match=re.escape(sentence)) as refused:
        masked(*steps, **more)
    assert str(refused.value).count(". ") == 0


def test_columns_with_flagged_cells_are_not_masked():
    schema = sf.Schema(quasi_identifiers=["age", "sex"], flags={"age": "sensitive_age"})
    with pytest.raises(sf.errors.SchemaError, match="flagged"):
        sf.anonymize(
            PEOPLE.append_column("sensitive_age", pa.array([False] * PEOPLE.num_rows)),
            schema,
            [K4],
            masking=[RoundNumbers(columns=["age"], base=5)],
        )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    release = masked(
        NOISE, PRAM(columns=["sex"], keep=0.8, invariant=True), models=(), algorithm=sf.algorithms.Identity()
    )
    folder = tmp_path_factory.mktemp("masked") / "release"
    release.write(folder)
    return folder


def test_receivers_are_told_what_was_masked_and_that_no_model_holds(written):
    told = json.loads((written / "public" / "promise.json").read_text("utf-8"))
    assert told["promise"] == []
    assert told["no_model"].startswith("No privacy model is promised")
    assert told["perturbed"] == ["age", "cost", "sex"]
    assert [step["step"] for step in told["masking"]] == ["add-noise", "pram"]
    assert told["masking"][1]["parameters"] == {"columns": ["sex"], "invariant": True}
    page = (written / "public" / "about.html").read_text("utf-8")
    assert "No privacy model is promised" in page
    assert "single cells of age, cost, sex may have been changed" in page
    dictionary = {
        each["name"]: each["forms"] for each in json.loads((written / "public" / "dictionary.json").read_text())
    }
    assert dictionary["age"] == ["masked values"]
    assert dictionary["height_cm"] == ["exact values"]


def test_nothing_that_only_the_owner_may_know_is_public(written):
    public = "".join(path.read_text("utf-8") for path in (written / "public").iterdir())
    for private in ("changed-cells", "scaled-change", "total-variation", SECRET, "seed"):
        assert private not in public


def test_the_report_attacks_from_real_values_and_claims_no_promise(written):
    facts = json.loads((written / "internal" / "report.json").read_text("utf-8"))["masking"]
    assert facts["nearest"]["columns"] == ["age", "height_cm", "cost"]
    assert 0 < facts["nearest"]["rate"] <= 1
    assert {each["attack"] for each in facts["attacks"]} >= {"link-halves"}
    page = (written / "internal" / "report.html").read_text("utf-8")
    assert "No privacy model is promised." in page
    assert "The promise holds" not in page
    assert "Attacks that start from real values" in page
    assert "what masking made of it" in page
    assert SECRET not in page


def test_without_numbers_or_perturbed_columns_no_nearest_record_is_looked_for():
    schema = sf.Schema(quasi_identifiers=["sex"], sensitive=["disease"])
    only_text = masked(PRAM(columns=["sex"], keep=0.8), models=(), algorithm=sf.algorithms.Identity(), schema=schema)
    assert masking_facts(only_text.evidence, ())["nearest"] is None
    hidden = masked(HIDE, algorithm=sf.algorithms.FixedLevels(levels={"age": 2, "sex": 0, "height_cm": 1}))
    facts = masking_facts(hidden.evidence, (K4,))
    assert (facts["nearest"], facts["attacks"]) == (None, [])


def test_promises_after_perturbation_say_so(tmp_path):
    masked(NOISE).write(tmp_path / "release")
    told = json.loads((tmp_path / "release" / "public" / "promise.json").read_text("utf-8"))
    assert told["promise"][0]["words"].endswith(", counted after masking of age.")
    assert "no_model" not in told


def test_a_release_without_masking_is_told_as_before(tmp_path):
    masked().write(tmp_path / "release")
    told = json.loads((tmp_path / "release" / "public" / "promise.json").read_text("utf-8"))
    assert not {"masking", "perturbed", "no_model"} & set(told)


def test_the_same_secret_draws_anew_for_another_recipe():
    one, two = (masked(replace(NOISE, share=share)).evidence.source["cost"] for share in (0.1, 0.4))
    cost = np.asarray(PEOPLE["cost"])
    gaps = [np.asarray(each) - cost for each in (one, two)]
    assert abs(np.corrcoef(*gaps)[0, 1]) < 0.75


def test_every_measure_of_a_step_is_explained():
    steps = [
        SwapRanks(columns=["height_cm"], reach=0.1),
        NOISE,
        PRAM(columns=["sex"], keep=0.7),
        TopCode(column="age", at=55),
        RoundNumbers(columns=["age"], base=5),
        SwapRecords(place=["disease"], risk=["age"], k=2, similar=["sex"]),
        RotateNumbers(columns=["height_cm", "cost"]),
        HIDE,
    ]
    records = masked(*steps, algorithm=sf.algorithms.Identity()).masking
    assert {name for record in records for name in record.metrics} == set(
        load_messages("en").subset("masking.measures")
    )
