"""`sfumato anonymize --algorithm`: searches over levels, and levels by name, as from Python and from a recipe."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.cli._recipe_options import _parse_value
from sfumato.errors import InvalidParameterError
from sfumato.tables._catalogue import ALGORITHMS

OPTIONS = [
    *("--quasi", "age,zip,sex", "--sensitive", "disease", "--k", "5", "--seed", 7, "--max-suppressed", "0.1"),
    *("--hierarchy", "age=intervals:10,20", "--hierarchy", "zip=prefixes:3,1"),
]
SCHEMA = sf.Schema(
    quasi_identifiers=["age", "zip", "sex"],
    sensitive=["disease"],
    hierarchies={"age": sf.hierarchies.Intervals(10, 20), "zip": sf.hierarchies.Prefixes(3, 1)},
)
CHOSEN = {
    "fixed-levels:levels=age=2+zip=3+sex=0": sf.algorithms.FixedLevels(levels={"age": 2, "zip": 3, "sex": 0}),
    "fixed-levels:levels=zip=2": sf.algorithms.FixedLevels(levels={"zip": 2}),
    "fixed-levels": sf.algorithms.FixedLevels(),
    "datafly": sf.algorithms.Datafly(),
    "incognito:loss=discernibility": sf.algorithms.Incognito(loss="discernibility"),
    "samarati:loss=classification,target=disease": sf.algorithms.Samarati(loss="classification", target="disease"),
    "mingen:weights=age=2+zip=0.5,suppression_factor=0.25": sf.algorithms.MinGen(
        weights={"age": 2, "zip": 0.5}, suppression_factor=0.25
    ),
    "optimal:loss=entropy,refine=true": sf.algorithms.Optimal(loss="entropy", refine=True),
}


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("option", "algorithm"), CHOSEN.items(), ids=CHOSEN)
def test_python_recipe_and_option_give_the_same_bytes(run, patients_file, tmp_path, option, algorithm):
    asked = sf.Recipe(
        schema=SCHEMA,
        models=[sf.models.KAnonymity(k=5)],
        algorithm=algorithm,
        max_suppressed=0.1,
        seed=7,
        input_file=patients_file.name,
        input_date="2026-01-31",
    )
    sf.run_recipe(asked, sf.read(patients_file)).write(tmp_path / "python")
    options = [*OPTIONS, "--date", "2026-01-31", "--algorithm", option]
    by_option = run("anonymize", patients_file, *options, "--out", tmp_path / "option")
    assert by_option.exit_code == 0, by_option.stderr
    recipe = tmp_path / "python" / "internal" / "recipe.toml"
    by_recipe = run("anonymize", patients_file, "--recipe", recipe, "--out", tmp_path / "recipe")
    assert by_recipe.exit_code == 0, by_recipe.stderr
    assert files(tmp_path / "python") == files(tmp_path / "option") == files(tmp_path / "recipe")


def test_every_search_over_levels_is_chosen_here():
    named = {option.partition(":")[0] for option in CHOSEN}
    assert {"optimal", "mingen", "samarati", "incognito", "datafly", "fixed-levels"} == named <= set(ALGORITHMS)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("levels=aeg=1", "did you mean 'age'?"),
        ("levels=age=4", "which has levels from 0 to 3."),
        ("levels=age=low", "a mapping from names to whole numbers"),
        ("levels=age=1+age=2", "'age' has two values"),
        ("levels=nowhere.csv", "nowhere.csv"),
        ("levels=2", "a mapping from names to whole numbers"),
    ],
)
def test_levels_that_there_are_not_are_refused_in_a_sentence(run, patients_file, tmp_path, setting, sentence):
    result = run(
        "anonymize", patients_file, *OPTIONS, "--algorithm", f"fixed-levels:{setting}", "--out", tmp_path / "o"
    )
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert not (tmp_path / "o").exists()


def test_pairs_are_texts_or_numbers_as_declared():
    assert _parse_value("age=1+zip=2", "Mapping[str, int] | None") == {"age": 1, "zip": 2}
    assert _parse_value("age=0.5", "Mapping[str, float] | None") == {"age": 0.5}
    assert _parse_value("flu=1+cold=2", "Mapping[str, str | int]") == {"flu": "1", "cold": "2"}
    assert _parse_value("a=b=1", "Mapping[str, int] | None") == {"a=b": 1}
    assert _parse_value("0.5", "float | Mapping[str, float]") == 0.5


def test_a_file_whose_name_has_a_sign_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k=v.csv").write_text("value,level\nflu,1\ncold,2\n", "utf-8")
    assert _parse_value("k=v.csv", "Mapping[str, str | int]") == {"flu": "1", "cold": "2"}


def test_a_name_with_two_values_is_refused():
    with pytest.raises(InvalidParameterError, match="'age' has two values"):
        _parse_value("age=1+age=1", "Mapping[str, int] | None")
