"""What is written where: nothing in public/ knows the original, and nothing half-written remains."""

from __future__ import annotations

import dataclasses
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core import writing
from sfumato.core.writing import read_facts
from sfumato.errors import InvalidParameterError, ReadError, WriteError
from sfumato.report.page import render_report
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import audit_context

FORMATS = ["csv", "parquet", "xlsx"]


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def readable(folder: Path) -> str:
    """Give everything in a folder as text, also what lies packed in workbooks and Parquet files."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as book:
                found += [book.read(name).decode() for name in book.namelist()]
        elif path.suffix == ".parquet":
            file = pq.ParquetFile(path)
            found += [str(file.read().to_pylist()), str(file.schema_arrow), str(file.metadata.metadata)]
            found += [str(file.metadata.row_group(0).column(i)) for i in range(file.metadata.num_columns)]
        else:
            found.append(path.read_text(encoding="utf-8"))
    return "\n".join(found)


@pytest.mark.parametrize("table_format", FORMATS)
def test_both_folders_hold_what_they_should(release, tmp_path, table_format):
    release.write(tmp_path / "out", table_format=table_format)
    assert set(contents(tmp_path / "out")) == {
        f"public/table.{table_format}",
        "public/dictionary.json",
        "public/promise.json",
        "public/about.html",
        "internal/recipe.toml",
        "internal/report.json",
        "internal/report.html",
        "internal/correspondence.parquet",
    }
    table = sf.read(tmp_path / "out" / "public" / f"table.{table_format}")
    assert table.column_names == release.frame.column_names
    assert table.num_rows == release.published.num_rows


@pytest.mark.parametrize("table_format", FORMATS)
def test_public_files_tell_nothing_of_the_original(suppressing, tmp_path, table_format):
    suppressing.write(tmp_path / "out", table_format=table_format)
    told = readable(tmp_path / "out" / "public")
    recipe = suppressing.recipe
    secrets = [str(recipe.seed), recipe.input_sha256, "Xanthippe", "full_name", "height_cm", "kuru", "99998"]
    secrets += ["mermaid", "unicorn", "mondrian", "max_suppressed", "rows_in", "suppressed-share", "truth"]
    secrets += [repr(value) for name, value in suppressing.metrics.items() if name in {"loss", "ncp"}]
    assert [secret for secret in secrets if secret.lower() in told.lower()] == []
    pages = "".join((tmp_path / "out" / "public" / name).read_text("utf-8") for name in ("promise.json", "about.html"))
    pages += (tmp_path / "out" / "public" / "dictionary.json").read_text("utf-8")
    numbers = set(re.findall(r"(?<![\d.#-])\d+(?![\d.]|rem|px|pt|mm|fr|%|em)", pages))
    assert "576" in numbers
    assert numbers.isdisjoint({"613", "37", "97"})


@pytest.mark.parametrize("table_format", FORMATS)
def test_public_files_are_the_same_whatever_was_suppressed(suppressing, tmp_path, table_format):
    original = suppressing.original
    kept = original.slice(0, 576)
    fewer = dataclasses.replace(
        suppressing,
        evidence=dataclasses.replace(suppressing.evidence, original=kept),
        audit=dataclasses.replace(suppressing.audit, truth=None),
        recipe=dataclasses.replace(
            suppressing.recipe, seed=1, input_rows=576, input_sha256="0" * 64, max_suppressed=0.5
        ),
        measures={"loss": 0.5},
        left_out=(),
    )
    suppressing.write(tmp_path / "one", table_format=table_format)
    fewer.write(tmp_path / "other", table_format=table_format)
    assert contents(tmp_path / "one" / "public") == contents(tmp_path / "other" / "public")
    assert contents(tmp_path / "one" / "internal") != contents(tmp_path / "other" / "internal")


@pytest.mark.parametrize("table_format", FORMATS)
def test_categories_and_metadata_that_a_table_carries_along_are_not_written(release, tmp_path, table_format):
    disease = pa.DictionaryArray.from_arrays(
        pa.array([0] * release.published.num_rows, pa.int32()), pa.array(["flu", "kuru"])
    )
    field = pa.field("disease", disease.type, metadata={"note": "kuru"})
    at = release.published.column_names.index("disease")
    published = release.published.set_column(at, field, disease).replace_schema_metadata({"note": "kuru"})
    plain = dataclasses.replace(release.evidence, published=published).undecorated().published
    sf.write(plain, tmp_path / f"table.{table_format}")
    assert "kuru" not in readable(tmp_path)
    assert b"kuru" not in b"".join(contents(tmp_path).values())


@pytest.mark.parametrize("table_format", FORMATS)
def test_the_same_release_is_written_with_the_same_bytes(release, schema, tmp_path, table_format):
    again = sf.anonymize(release.original.to_pandas(), schema, release.recipe.models, seed=release.recipe.seed)
    release.write(tmp_path / "one", table_format=table_format)
    again.write(tmp_path / "two", table_format=table_format)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_the_promise_is_what_the_audit_finds(release, tmp_path):
    release.write(tmp_path / "out")
    promise = json.loads((tmp_path / "out" / "public" / "promise.json").read_text("utf-8"))
    assert list(promise) == ["sfumato", "promise", "audit", "unpromised", "words", "missing", "counted"]
    assert [entry["model"] for entry in promise["promise"]] == ["k-anonymity", "distinct-l-diversity"]
    assert promise["promise"][0]["parameters"] == {"k": 5}
    assert promise["audit"]["holds"] is True
    assert promise["audit"]["records"] == 613
    assert promise["audit"]["models"][0]["level"] == release.audit.level("k-anonymity")
    assert promise["unpromised"] == []
    assert promise["missing"] == "own-value"
    assert "a missing quasi-identifier counts as a value of its own" in promise["counted"]


def test_the_promise_tells_parts_and_of_named_values_only_those_that_are_shown(suppressing, tmp_path):
    levels = dict.fromkeys(["flu", "cold", "ulcer", "asthma", "kuru", "scrapie"], "low")
    models = (
        sf.models.HPKAnonymity(h=1, p=1, k=5, sensitive="disease", sensitivity_levels=levels),
        sf.models.AlphaKAnonymity(alpha=1.0, k=5, sensitive="disease", values=["kuru", "flu"]),
        sf.models.ConfidenceBounding(bounds={"kuru": 0.5, "flu": 1.0, "cold": 1.0}, sensitive="disease"),
    )
    audit = audit_context(AuditContext(suppressing.published, suppressing.recipe.schema), models)
    recipe = dataclasses.replace(suppressing.recipe, models=models)
    dataclasses.replace(suppressing, recipe=recipe, audit=audit).write(tmp_path / "out")
    public = readable(tmp_path / "out" / "public")
    assert "kuru" not in public
    assert "scrapie" not in public
    promise = json.loads((tmp_path / "out" / "public" / "promise.json").read_text("utf-8"))
    parameters = [entry["parameters"] for entry in promise["promise"]]
    assert sorted(parameters[0]["levels"]) == ["asthma", "cold", "flu", "ulcer"]
    assert parameters[1]["values"] == ["flu"]
    assert parameters[2]["bounds"] == {"flu": 1, "cold": 1}
    assert "as given for 2 values" in promise["promise"][2]["words"]
    assert [part["model"] for part in promise["audit"]["models"][0]["parts"]] == [
        "k-anonymity",
        "distinct-l-diversity",
        "distinct-categories",
    ]
    assert promise["audit"]["models"][0]["parts"][0] == {
        "model": "k-anonymity",
        "sensitive": "",
        "level": audit.level("k-anonymity"),
        "limit": 5,
        "holds": True,
    }
    assert "kuru" in (tmp_path / "out" / "internal" / "recipe.toml").read_text("utf-8")


def test_the_dictionary_describes_the_published_columns(release, tmp_path):
    release.write(tmp_path / "out")
    columns = json.loads((tmp_path / "out" / "public" / "dictionary.json").read_text("utf-8"))
    by_name = {column["name"]: column for column in columns}
    assert list(by_name) == ["age", "postcode", "job", "admitted", "disease", "cost"]
    assert by_name["age"]["forms"] == ["exact values", "intervals"]
    assert by_name["cost"] == {
        "name": "cost",
        "role": "insensitive",
        "type": "number",
        "forms": ["exact values"],
        "distinct": len(set(release.original["cost"].to_pylist())),
        "missing": 0,
    }
    assert by_name["job"]["missing"] == release.published["job"].null_count


def test_json_files_are_for_people_too(release, tmp_path):
    release.write(tmp_path / "out")
    for name in ("public/promise.json", "public/dictionary.json", "internal/report.json"):
        text = (tmp_path / "out" / name).read_text("utf-8")
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
    assert "“disease”" in (tmp_path / "out" / "public" / "promise.json").read_text("utf-8")


def test_the_correspondence_leads_back_to_the_original(release, tmp_path):
    release.write(tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "internal" / "correspondence.parquet")
    assert table.schema == pa.schema([("original_row", pa.int64())])
    rows = table["original_row"].to_numpy()
    assert np.array_equal(rows, release.correspondence)
    assert release.original["cost"].take(pa.array(rows)).to_pylist() == release.published["cost"].to_pylist()


def test_the_recipe_and_the_report_can_be_read_again(release, tmp_path):
    release.write(tmp_path / "out")
    written = tmp_path / "out" / "internal"
    assert sf.Recipe.read(written / "recipe.toml").models == release.recipe.models
    assert render_report(read_facts(tmp_path / "out")) == (written / "report.html").read_text("utf-8")


def test_cells_that_a_spreadsheet_would_execute_are_disarmed_when_asked(tmp_path):
    table = pa.table({"age": [1, 1], "note": ["=1+1", "plain"]})
    release = sf.anonymize(
        table, sf.Schema(quasi_identifiers=["age"], insensitive=["note"]), [sf.models.KAnonymity(k=2)], seed=1
    )
    release.write(tmp_path / "safe", excel_safe=True)
    release.write(tmp_path / "plain")
    assert "'=1+1" in (tmp_path / "safe" / "public" / "table.csv").read_text("utf-8")
    assert "'=1+1" not in (tmp_path / "plain" / "public" / "table.csv").read_text("utf-8")


def test_an_unknown_format_is_refused_before_anything_is_written(release, tmp_path):
    with pytest.raises(
        InvalidParameterError, match=r"^write\.table_format must be one of csv, parquet, xlsx; got 'ods'\.$"
    ):
        release.write(tmp_path / "out", table_format="ods")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_use_is_refused_and_an_older_release_replaced_only_when_asked(release, tmp_path):
    release.write(tmp_path / "out")
    with pytest.raises(WriteError, match="already contains files"):
        release.write(tmp_path / "out")
    release.write(tmp_path / "out", table_format="parquet", replace=True)
    assert (tmp_path / "out" / "public" / "table.parquet").exists()
    assert not (tmp_path / "out" / "public" / "table.csv").exists()


def test_replacing_never_removes_what_is_not_a_release(release, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(WriteError, match="1 files or folders of something else"):
        release.write(tmp_path, replace=True)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "no space")])
def test_nothing_half_written_remains(release, tmp_path, monkeypatch, failure):
    release.write(tmp_path / "old")
    before = contents(tmp_path)

    def fail(*_):
        raise failure

    monkeypatch.setattr(writing, "render", fail)
    expected = WriteError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        release.write(tmp_path / "new")
    with pytest.raises(expected):
        release.write(tmp_path / "old", replace=True)
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("content", ["", "[]", '{"format": "other"}'])
def test_facts_of_something_else_are_refused(tmp_path, content):
    (tmp_path / "internal").mkdir()
    (tmp_path / "internal" / "report.json").write_text(content)
    with pytest.raises(ReadError, match="write the release again"):
        read_facts(tmp_path)


def test_a_folder_without_a_release_is_refused(tmp_path):
    with pytest.raises(ReadError, match="give the folder of a release"):
        read_facts(tmp_path)


def test_facts_that_were_edited_are_refused(release, tmp_path):
    release.write(tmp_path / "out")
    path = tmp_path / "out" / "internal" / "report.json"
    facts = json.loads(path.read_text("utf-8"))
    facts["rows"]["published"] += 1
    path.write_text(json.dumps(facts))
    with pytest.raises(ReadError, match="was changed after it was written"):
        read_facts(tmp_path / "out")


def test_receivers_are_told_how_a_text_file_is_written(tmp_path):
    table = pa.table({"age": [1, 1, 2, 2], "dose": [0.5, 1.5, 0.5, 2.5]})
    schema = sf.Schema(quasi_identifiers=["age"], insensitive=["dose"])
    reading = {"separator": ";", "decimal": ","}
    release = sf.anonymize(table, schema, models=[sf.models.KAnonymity(k=2)], reading=reading)
    for form, told in (("csv", reading), ("parquet", None)):
        release.write(tmp_path / form, table_format=form)
        public = tmp_path / form / "public"
        promise = json.loads((public / "promise.json").read_text("utf-8"))
        assert promise.get("file") == told
        assert ("“,” as the decimal mark" in (public / "about.html").read_text("utf-8")) == (told is not None)
    assert sf.read(tmp_path / "csv" / "public" / "table.csv", **reading)["dose"].to_pylist() == [0.5, 1.5, 0.5, 2.5]
