"""`sfumato audit`: what holds, what does not, what is reached, and whether it is true."""

from __future__ import annotations

import json

import pytest

import sfumato as sf

PUBLISHED = """age,zip,disease
[20. 30),537**,flu
[20. 30),537**,cold
[20. 30),537**,ulcer
30-40,*,flu
30-40,*,flu
30-40,*,cold
30-40,*,ulcer
""".replace(". ", ",").replace("[20,30)", '"[20, 30)"')
ORIGINAL = """name,age,zip,disease
a,21,53715,flu
b,29,53703,cold
c,20,53799,ulcer
d,30,53715,flu
e,35,90210,flu
f,40,53706,cold
g,33,53706,ulcer
h,50,11111,cold
"""
COLUMNS = ["--quasi", "age,zip", "--sensitive", "disease"]
TRUTH = ["--original", "original.csv", "--hierarchy", "zip=prefixes"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "published.csv").write_text(PUBLISHED, "utf-8")
    (tmp_path / "original.csv").write_text(ORIGINAL, "utf-8")
    return tmp_path


def test_without_models_it_tells_what_is_reached(run):
    result = run("audit", "published.csv", *COLUMNS)
    assert result.exit_code == 0
    assert "7 records in 2 groups" in result.stdout
    assert "The largest k that this table keeps is 3." in result.stdout
    assert "distinct-l-diversity" in result.stdout
    assert "holds" not in result.stdout


def test_a_promise_that_holds_gives_0(run):
    result = run("audit", "published.csv", *COLUMNS, "--k", 3, "--model", "distinct-l-diversity:l=3,sensitive=disease")
    assert result.exit_code == 0
    assert "Audit: holds" in result.stdout


def test_a_promise_that_does_not_hold_gives_1_and_counts_violators(run):
    result = run("audit", "published.csv", *COLUMNS, "--k", 4, "--json")
    assert result.exit_code == 1
    facts = json.loads(result.stdout)
    assert facts["holds"] is False
    assert facts["models"][0]["level"] == 3
    assert facts["models"][0]["violating_records"] == 3
    assert facts["models"][0]["violating_groups"] == 1
    assert result.stderr == ""


def test_one_broken_promise_among_several_gives_1(run):
    result = run("audit", "published.csv", *COLUMNS, "--k", 3, "--model", "frequency-l-diversity:l=3,sensitive=disease")
    assert result.exit_code == 1
    assert "DOES NOT HOLD" in result.stdout


def test_a_true_table_is_compared_with_its_original(run):
    result = run("audit", "published.csv", *COLUMNS, *TRUTH)
    assert result.exit_code == 0, result.stderr
    assert "Every published cell covers its original (by a possible row correspondence)." in result.stdout
    assert "8 rows in = 7 rows out + 1 suppressed." in result.stdout


def test_an_untrue_table_gives_1_even_without_models(run, folder):
    (folder / "published.csv").write_text(PUBLISHED.replace("537**,flu", "902**,flu", 1), "utf-8")
    result = run("audit", "published.csv", *COLUMNS, *TRUTH)
    assert result.exit_code == 1
    assert "NOT TRUE" in result.stdout


@pytest.mark.parametrize(("rows", "code"), [([0, 1, 2, 3, 4, 5, 6], 0), ([1, 0, 2, 3, 4, 5, 6], 1)])
def test_the_correspondence_says_which_row_was_which(run, folder, rows, code):
    (folder / "rows.csv").write_text("original_row\n" + "".join(f"{row}\n" for row in rows), "utf-8")
    result = run("audit", "published.csv", *COLUMNS, *TRUTH, "--correspondence", "rows.csv")
    assert result.exit_code == code
    assert "by the known row correspondence" in result.stdout


def test_a_release_passes_with_its_own_recipe_and_correspondence(run, patients_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["--identifier", "name", "--quasi", "age,zip,sex", "--sensitive", "disease", "--k", 5]
    assert run("anonymize", patients_file, *arguments, "--out", "o").exit_code == 0
    given = ["--recipe", "o/internal/recipe.toml", "--original", patients_file]
    done = run("audit", "o/public/table.csv", *given, "--correspondence", "o/internal/correspondence.parquet")
    assert done.exit_code == 0, done.stderr
    assert "Every published cell covers its original (by the known row correspondence)." in done.stdout
    assert run("audit", "o/public/table.csv", *given, "--k", 300).exit_code == 1


def test_suppressed_rows_that_break_a_promise_are_hinted_at(run, folder):
    (folder / "published.csv").write_text(PUBLISHED + "*,*,flu\n", "utf-8")
    result = run("audit", "published.csv", *COLUMNS, "--k", 3)
    assert result.exit_code == 1
    assert "The rows that are * in every quasi-identifier (1) break" in result.stderr
    assert "--ignore-suppressed" in result.stderr
    apart = run("audit", "published.csv", *COLUMNS, "--k", 3, "--ignore-suppressed")
    assert apart.exit_code == 0
    assert "1 suppressed records set aside" in apart.stdout


def test_no_hint_where_suppressed_rows_are_not_to_blame(run, folder):
    (folder / "published.csv").write_text(PUBLISHED + "*,*,flu\n", "utf-8")
    assert run("audit", "published.csv", *COLUMNS, "--k", 5).stderr == ""


def test_no_hint_where_everything_is_suppressed(run, folder):
    (folder / "published.csv").write_text("age,zip,disease\n" + "*,*,flu\n" * 2, "utf-8")
    result = run("audit", "published.csv", *COLUMNS, "--k", 5)
    assert (result.exit_code, result.stderr) == (1, "")


def test_original_and_published_may_stand_in_one_database(run):
    sf.write(sf.read("published.csv"), "sqlite:///clinic.db", table_name="public")
    sf.write(sf.read("original.csv"), "sqlite:///clinic.db", table_name="raw")
    given = ["--original", "sqlite:///clinic.db", "--original-table", "raw", "--hierarchy", "zip=prefixes"]
    result = run("audit", "sqlite:///clinic.db", "--table", "public", *COLUMNS, *given, "--k", 3)
    assert result.exit_code == 0, result.stderr


LEVELS = "disease,level\nflu,low\ncold,low\nulcer,high\n"
HPK = "hpk-anonymity:h=2,p=3,k=3,sensitive=disease,levels=levels.csv"


def test_parts_of_a_promise_stand_indented_under_it(run, folder):
    (folder / "levels.csv").write_text(LEVELS, "utf-8")
    result = run("audit", "published.csv", *COLUMNS, "--model", HPK.replace("k=3", "k=4"), "--k", 3)
    assert result.exit_code == 1
    lines = [line.split("  ") for line in result.stdout.splitlines()]
    indents = [line.index(next(cell for cell in line if cell)) for line in lines]
    names = [next(cell for cell in line if cell).partition("(")[0].strip() for line in lines]
    shown = dict(zip(names, indents, strict=True))
    assert names[2:7] == ["KAnonymity", "HPKAnonymity", "KAnonymity", "DistinctLDiversity", "DistinctCategories"]
    assert shown["HPKAnonymity"] == 1
    assert shown["DistinctLDiversity"] == shown["DistinctCategories"] == 2
    assert "flu" not in result.stdout


def test_a_mapping_is_read_from_a_file(run, folder):
    (folder / "levels.csv").write_text(LEVELS, "utf-8")
    result = run("audit", "published.csv", *COLUMNS, "--model", HPK, "--json")
    assert result.exit_code == 0, result.stderr
    (judged,) = json.loads(result.stdout)["models"]
    assert judged["parameters"]["levels"] == {"flu": "low", "cold": "low", "ulcer": "high"}
    assert [part["level"] for part in judged["parts"]] == [3, 3, 2]
    (folder / "bounds.csv").write_text("disease;bound\nflu;0.5\nulcer;0.25\n", "utf-8")
    given = ["--model", "confidence-bounding:bounds=bounds.csv,sensitive=disease"]
    given += ["--model", "p-plus-sensitive-k-anonymity:p=2,k=2,sensitive=disease,categories=levels.csv"]
    facts = json.loads(run("audit", "published.csv", *COLUMNS, *given, "--json").stdout)
    assert facts["models"][0]["parameters"]["bounds"] == {"flu": 0.5, "ulcer": 0.25}
    assert facts["models"][1]["parameters"]["categories"] == {"flu": "low", "cold": "low", "ulcer": "high"}


def test_one_bound_for_all_values_needs_no_file(run):
    given = ["--model", "confidence-bounding:bounds=0.5,sensitive=disease"]
    facts = json.loads(run("audit", "published.csv", *COLUMNS, *given, "--json").stdout)
    assert facts["models"][0]["parameters"] == {"bounds": 0.5, "sensitive": "disease"}


def test_values_of_a_mapping_are_written_as_the_table_writes_them(run, folder):
    (folder / "numbers.csv").write_text("age,grade\n1,0.5\n1,1.0\n2,0.5\n2,1.0\n", "utf-8")
    (folder / "levels.csv").write_text("grade,level\n0.50,low\n1.00,high\n", "utf-8")
    model = "hpk-anonymity:h=2,p=2,k=2,sensitive=grade,levels=levels.csv"
    result = run("audit", "numbers.csv", "--quasi", "age", "--sensitive", "grade", "--model", model)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("disease,level,more\nflu,low,x\n", "levels.csv must have a header, two columns and at least one row"),
        ("disease,level\n", "levels.csv must have a header, two columns and at least one row"),
        ("disease,level\nflu,\ncold,low\n", "levels.csv has empty cells in its 2 rows"),
        ("disease,level\nflu,low\nflu,high\ncold,low\n", "levels.csv must have one row per value; rows too many: 1."),
        ("disease,level\nflu,low\n", "has 2 distinct values to which the model assigns no category or level"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused_without_telling_cells(run, folder, content, sentence):
    (folder / "levels.csv").write_text(content, "utf-8")
    result = run("audit", "published.csv", *COLUMNS, "--model", HPK)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "flu" not in result.stderr


def test_bounds_that_are_no_numbers_are_refused(run, folder):
    (folder / "bounds.csv").write_text(LEVELS, "utf-8")
    result = run(
        "audit", "published.csv", *COLUMNS, "--model", "confidence-bounding:bounds=bounds.csv,sensitive=disease"
    )
    assert result.exit_code == 2
    assert result.stderr == "sfumato: bounds.csv must have numbers in its second column.\n"


def test_a_mapping_file_that_is_not_there_is_refused(run):
    result = run("audit", "published.csv", *COLUMNS, "--model", HPK)
    assert result.exit_code == 2
    assert "levels.csv" in result.stderr


def test_a_mapping_of_a_recipe_is_an_inline_table(run, folder):
    (folder / "recipe.toml").write_text(
        """
        [attributes]
        age = { role = "quasi" }
        zip = { role = "quasi" }
        disease = { role = "sensitive" }

        [[models]]
        name = "hpk-anonymity"
        h = 2
        p = 3
        k = 3
        sensitive = "disease"
        levels = { flu = "low", cold = "low", ulcer = "high" }
        """,
        "utf-8",
    )
    assert run("audit", "published.csv", "--recipe", "recipe.toml").exit_code == 0


POPULATION = ORIGINAL + "".join(f"p{i},{20 + i},537{i:02},cold\n" for i in range(20))


def test_a_population_is_counted(run, folder):
    (folder / "population.csv").write_text(POPULATION, "utf-8")
    given = [*COLUMNS, "--hierarchy", "zip=prefixes", "--population", "population.csv"]
    held = run("audit", "published.csv", *given, "--model", "k-map:k=13", "--json")
    assert held.exit_code == 0, held.stderr
    assert json.loads(held.stdout)["models"][0]["level"] == 13
    assert run("audit", "published.csv", *given, "--model", "k-map:k=14").exit_code == 1
    presence = run("audit", "published.csv", *given, "--model", "delta-presence:delta_min=0,delta_max=0.3", "--json")
    parts = json.loads(presence.stdout)["models"][0]["parts"]
    assert [part["model"] for part in parts] == ["least-presence", "highest-presence"]


def test_a_population_may_stand_in_a_database(run, folder):
    (folder / "population.csv").write_text(POPULATION, "utf-8")
    sf.write(sf.read("population.csv"), "sqlite:///clinic.db", table_name="everybody")
    given = [*COLUMNS, "--hierarchy", "zip=prefixes", "--population", "sqlite:///clinic.db"]
    result = run("audit", "published.csv", *given, "--population-table", "everybody", "--model", "k-map:k=13")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--model", "k-map:k=2"], "k-map needs a population"),
        (["--model", "t-closeness:t=0.5,sensitive=disease,compared_with=original"], "compares with the original table"),
        (["--population", "nobody.csv", "--model", "k-map:k=2"], "nobody.csv"),
        (["--population-table", "everybody"], "--population-table also needs --population."),
        (["--population", "small.csv"], "The population has 1 rows but the published table 7"),
    ],
)
def test_a_wrong_population_is_refused_in_one_sentence(run, folder, given, sentence):
    (folder / "small.csv").write_text("age,zip\n21,53715\n", "utf-8")
    result = run("audit", "published.csv", *COLUMNS, *given)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_suppressed_rows_are_hinted_at_where_a_population_is_given_too(run, folder):
    (folder / "published.csv").write_text(PUBLISHED + "*,*,flu\n", "utf-8")
    (folder / "population.csv").write_text(POPULATION, "utf-8")
    given = [*COLUMNS, "--hierarchy", "zip=prefixes", "--population", "population.csv"]
    result = run("audit", "published.csv", *given, "--model", "k-map:k=3", "--k", 3)
    assert result.exit_code == 1
    assert "--ignore-suppressed" in result.stderr


def test_exposure_to_one_who_knows_everybody(run):
    result = run("audit", "published.csv", *COLUMNS, "--exposure")
    assert result.exit_code == 0
    assert "Exposure of 7 records to adversary 2, who knows the quasi-identifiers of everybody" in result.stdout
    assert "Most exposed rows of this table, counted from 0" in result.stdout
    facts = json.loads(run("audit", "published.csv", *COLUMNS, "--exposure", "--json").stdout)["exposure"]
    assert facts["adversary"] == 2
    assert facts["identity"]["maximum"] == pytest.approx(1 / 3)
    assert facts["values"]["disease"]["maximum"] == pytest.approx(1 / 2)
    assert facts["values"]["disease"]["riskiest"][:2] == [3, 4]
    assert sum(facts["identity"]["histogram"].values()) == 7


def test_exposure_to_one_who_knows_a_person(run):
    result = run("audit", "published.csv", *COLUMNS, *TRUTH, "--exposure")
    assert "Exposure of 8 records to adversary 1, who knows the quasi-identifiers of one person" in result.stdout
    assert "Most exposed rows of the original, counted from 0" in result.stdout
    facts = json.loads(run("audit", "published.csv", *COLUMNS, *TRUTH, "--exposure", "--json").stdout)
    assert facts["truth"]["holds"]
    assert facts["exposure"]["adversary"] == 1
    assert facts["exposure"]["identity"]["histogram"]["below 1/20"] == 1  # nobody covers the suppressed person


def test_rows_that_are_left_out_expose_nobody(run, folder):
    (folder / "published.csv").write_text(PUBLISHED + "*,*,flu\n", "utf-8")
    given = ["published.csv", *COLUMNS, "--exposure", "--json"]
    with_stars = json.loads(run("audit", *given).stdout)["exposure"]
    without = json.loads(run("audit", *given, "--ignore-suppressed").stdout)["exposure"]
    assert with_stars["identity"]["maximum"] == 1
    assert without["identity"]["maximum"] == pytest.approx(1 / 3)


def test_exposure_is_told_only_when_asked_for(run):
    assert "xposure" not in run("audit", "published.csv", *COLUMNS).stdout
    assert "exposure" not in json.loads(run("audit", "published.csv", *COLUMNS, "--json").stdout)


def test_files_larger_than_memory_are_judged_in_their_engine(run, folder):
    (folder / "parts").mkdir()
    table = sf.read(folder / "published.csv")
    for at in range(2):
        sf.write(table.slice(at * 3, 3 if at == 0 else None), folder / "parts" / f"{at}.parquet")
    asked = [*COLUMNS, "--k", 4, "--json"]
    expected = run("audit", "published.csv", *asked)
    for file in ("parts", "parts/*.parquet", "published.csv"):
        options = ["--engine", "duckdb", "--memory", "100MB", "--temporary", str(folder)]
        found = run("audit", file, *asked, *options)
        assert found.exit_code == 1
        assert json.loads(found.stdout) == json.loads(expected.stdout)
    assert sorted(each.name for each in folder.iterdir()) == ["original.csv", "parts", "published.csv"]


@pytest.mark.parametrize("given", [["--original", "original.csv"], ["--exposure"], ["--centers"]])
def test_single_rows_are_not_compared_beyond_memory(run, given):
    result = run("audit", "published.csv", *COLUMNS, *given, "--engine", "duckdb")
    assert result.exit_code == 2
    assert given[0] in result.stderr
