"""Two releases of the same individuals: whoever writes the second is told of the first."""

import subprocess
import sys
import warnings

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ReleaseWarning
from sfumato.report._earlier_releases import warn_about_earlier_releases

PEOPLE = pa.table({"age": [20, 21, 40, 41] * 3, "disease": ["flu", "cold", "hiv"] * 4})
SCHEMA = sf.Schema(quasi_identifiers=["age"], sensitive=["disease"])
MODEL = sf.models.FrequencyLDiversity(l=2, sensitive="disease")


def released(data=PEOPLE):
    return sf.anonymize(data, SCHEMA, [MODEL], sf.algorithms.Anatomy())


def test_a_second_release_of_a_table_names_the_first(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        released().write(tmp_path / "one", report=False)
        released(PEOPLE.slice(1)).write(tmp_path / "other-table", report=False)
    with pytest.warns(ReleaseWarning, match=r"An earlier release .* in .*one; .* series with ledger="):
        released().write(tmp_path / "two", report=False)
    with pytest.warns(ReleaseWarning, match=r"one and 1 more|two and 1 more"):
        released().write(tmp_path / "two", replace=True, report=False)


def test_releases_of_one_series_and_folders_of_something_else_are_no_reason(tmp_path):
    (tmp_path / "one" / "internal").mkdir(parents=True)
    recipe = '[input]\nsha256 = "a"\n[series]\nledger = "hospital"\n'
    (tmp_path / "one" / "internal" / "recipe.toml").write_text(recipe, "utf-8")
    (tmp_path / "other" / "internal").mkdir(parents=True)
    (tmp_path / "other" / "internal" / "recipe.toml").write_text("no recipe", "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_about_earlier_releases(tmp_path / "two", recipe)
        warn_about_earlier_releases(tmp_path / "two", "[input]\nrows = 3\n")
    with pytest.warns(ReleaseWarning):
        warn_about_earlier_releases(tmp_path / "two", recipe.replace("hospital", "clinic"))


def test_an_engine_tells_it_too(tmp_path):
    pa.parquet.write_table(PEOPLE, tmp_path / "people.parquet")
    asked = {"engine": "duckdb", "seed": 1}
    model = [sf.models.KAnonymity(k=3)]
    sf.anonymize(str(tmp_path / "people.parquet"), SCHEMA, model, out=tmp_path / "one", **asked)
    with pytest.warns(ReleaseWarning, match="one; "):
        sf.anonymize(str(tmp_path / "people.parquet"), SCHEMA, model, out=tmp_path / "two", **asked)


@pytest.mark.slow
def test_the_command_line_says_it_in_its_words(tmp_path):
    (tmp_path / "people.csv").write_text("age,disease\n" + "20,flu\n21,cold\n" * 4, "utf-8")
    said = []
    for name in ("one", "two"):
        command = f"anonymize people.csv --quasi age --sensitive disease --k 4 --out {name} --no-report".split()
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "sfumato", *command], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        said.append("An earlier release" in done.stderr and "--ledger" in done.stderr)
    assert said == [False, True]
