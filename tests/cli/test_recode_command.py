"""`sfumato recode`: later rows by the rules of an earlier release, as in Python."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.encoding.coded_table import encode_table
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.recoding import Recoding

CANARY = "kanarien" + "vogel"
SCHEMA = sf.Schema(
    identifiers=["name"],
    quasi_identifiers=["age", "zip", "sex"],
    sensitive=["disease"],
    hierarchies={"age": sf.hierarchies.Intervals(20), "zip": sf.hierarchies.Prefixes(1)},
)


@pytest.fixture(scope="module")
def recoding(patients_file):
    table, models = sf.read(patients_file), (sf.models.KAnonymity(k=4),)
    algorithm = sf.algorithms.FixedLevels(levels={"age": 1, "zip": 2, "sex": 0})
    coded = encode_table(table, SCHEMA)
    rng = np.random.default_rng(0)
    task = TableRequest(table=coded, models=models, max_suppressed=300, missing=MissingPolicy.OWN_VALUE, rng=rng)
    recipe = sf.Recipe(schema=SCHEMA, models=models, algorithm=algorithm, max_suppressed=1)
    domains = [column.domain for column in coded.quasi]
    return Recoding.of(algorithm.search(task).by_value, domains, table, recipe)


@pytest.fixture
def rules(recoding, tmp_path):
    recoding.write(tmp_path / "recoding.toml")
    return tmp_path / "recoding.toml"


@pytest.fixture
def later_file(tmp_path):
    table = sf.datasets.generate_hospital(120, seed=5)
    sex = table["sex"].to_pylist()
    sex[:3] = [CANARY] * 3
    sf.write(table.set_column(table.column_names.index("sex"), "sex", pa.array(sex)), tmp_path / "later.csv")
    return tmp_path / "later.csv"


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_command_writes_what_python_writes(run, rules, recoding, later_file, tmp_path):
    result = run("recode", later_file, "--with", rules, "--out", tmp_path / "command")
    assert result.exit_code == 0, result.stderr
    found = sf.transform(sf.read(later_file), recoding)
    found.write(tmp_path / "python")
    assert files(tmp_path / "command") == files(tmp_path / "python")
    assert "Audit: holds" in result.stdout
    assert "  3 with a value that the recoding does not know" in result.stdout
    assert f"  {found.broken:,} in groups that would break a model" in result.stdout
    assert CANARY not in result.stdout + result.stderr


def test_json_counts_what_was_refused(run, rules, recoding, later_file, tmp_path):
    result = run("recode", later_file, "--with", rules, "--out", tmp_path / "o", "--format", "parquet", "--json")
    facts = json.loads(result.stdout)
    found = sf.transform(sf.read(later_file), recoding)
    assert facts["refused"] == {"unknown_value": 3, "broken_group": found.broken}
    assert facts["rows_in"] == 120
    assert facts["rows_out"] == 120 - 3 - found.broken
    assert facts["holds"] is True
    assert sf.read(tmp_path / "o" / "public" / "table.parquet").num_rows == facts["rows_out"]


def test_an_occupied_folder_is_refused_unless_it_may_be_replaced(run, rules, later_file, tmp_path):
    arguments = ["recode", later_file, "--with", rules, "--out", tmp_path / "o"]
    assert run(*arguments).exit_code == 0
    assert run(*arguments).exit_code == 2
    early = run("recode", tmp_path / "none.csv", "--with", rules, "--out", tmp_path / "o")
    assert "already contains files" in early.stderr
    assert run(*arguments, "--replace").exit_code == 0


def test_refusals_have_the_usual_exit_codes(run, rules, later_file, tmp_path):
    sf.write(sf.datasets.generate_hospital(3, seed=5), tmp_path / "few.csv")
    few = run("recode", tmp_path / "few.csv", "--with", rules, "--out", tmp_path / "o")
    assert few.exit_code == 2
    assert "collect more rows" in few.stderr
    no_rules = run("recode", later_file, "--with", tmp_path / "none.toml", "--out", tmp_path / "o")
    assert no_rules.exit_code == 2
    assert "cannot be read" in no_rules.stderr
    lying = rules.read_text("utf-8").replace("[20, 40)", "[920, 940)")
    rules.write_text(lying, "utf-8")
    withheld = run("recode", later_file, "--with", rules, "--out", tmp_path / "o")
    assert withheld.exit_code == 1
    assert "withheld" in withheld.stderr
    assert not (tmp_path / "o").exists()


def test_rows_larger_than_memory_are_recoded_in_their_engine(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = ["--quasi", "age,zip", "--sensitive", "disease", "--k", 3, "--algorithm", "optimal"]
    for name, seed in (("january", 1), ("february", 2)):
        sf.write(sf.datasets.generate_hospital(200, seed=seed), tmp_path / f"{name}.csv")
    run("anonymize", "january.csv", *columns, "--max-suppressed", 0.2, "--out", "january", "--no-report")
    rules = ["--with", "january/internal/recoding.toml", "--no-report", "--json"]
    expected = run("recode", "february.csv", *rules, "--out", "memory")
    found = run("recode", "february.csv", *rules, "--out", "engine", "--engine", "duckdb", "--memory", "100MB")
    assert found.exit_code == 0, found.stderr
    told, known = json.loads(found.stdout), json.loads(expected.stdout)
    for figure in ("rows_in", "rows_out", "refused", "left_out"):
        assert told[figure] == known[figure]
    assert told["audit"]["levels"] == known["audit"]["levels"]
    assert (tmp_path / "engine" / "public" / "table" / "part-00000.parquet").is_file()


def test_rows_of_individuals_with_several_are_counted_only_on_purpose(run, rules, later_file, tmp_path):
    header, *rows = later_file.read_text("utf-8").splitlines(keepends=True)
    later_file.write_text("".join([header, *rows, *rows]), "utf-8")
    asked = ("recode", later_file, "--with", rules, "--out", tmp_path / "later")
    refused = run(*asked)
    assert refused.exit_code == 2
    assert "give --count-rows to count rows" in refused.output
    assert run(*asked, "--count-rows").exit_code == 0
