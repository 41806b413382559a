"""The ledger: what it remembers, and what it refuses."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from series_of_patients import MODELS, SCHEMA, quarter, released
from sfumato.coding.codes import code
from sfumato.exceptions import InvalidParameterError, ReadError, SchemaError, WriteError
from sfumato.recipe import Recipe


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return sf.Ledger.create("hospital.ledger")


@pytest.fixture
def two_quarters(ledger):
    released(ledger, quarter(0, 12)).write("q1", report=False)
    released(ledger, quarter(3, 15)).write("q2", report=False)
    return ledger


def refused(kind, match, call, *given, **named):
    with pytest.raises(kind, match=match):
        call(*given, **named)


def names(folder):
    return sorted(each.name for each in Path(folder).iterdir())


def changed(table, name, cells):
    return table.set_column(table.column_names.index(name), name, pa.array(cells))


def test_only_its_owner_may_read_the_files(ledger):
    for name in ("hospital.ledger", "hospital.ledger.key", "hospital.ledger.head"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    Path("hospital.ledger.key").chmod(0o644)
    refused(ReadError, r"Others may read the key file .*; take that away by chmod 600\.", sf.Ledger, ledger.path)
    Path("hospital.ledger.key").chmod(0o600)
    Path("hospital.ledger").chmod(0o640)
    refused(ReadError, "Others may read the ledger file", sf.Ledger, ledger.path)


def test_nothing_is_recorded_before_a_release_is_written(ledger):
    release = released(ledger, quarter(0, 12))
    assert ledger.releases() == ()
    release.write("q1", report=False)
    (first,) = ledger.releases()
    assert (first.number, first.persons, first.newcomers, first.waiting) == (1, 12, 12, 0)
    assert first.folder.name == "q1"
    assert repr(sf.Ledger("hospital.ledger")) == "Ledger('hospital.ledger', 1 releases)"


def test_a_history_tells_who_was_in_which_group(two_quarters):
    history, values = two_quarters.history("disease"), two_quarters.values("disease")
    assert values == ("angina", "flu", "gout", "measles", None)
    assert (history.attribute, history.persons, len(history.releases)) == ("disease", 15, 2)
    for each, folder, numbers in zip(history.releases, ("q1", "q2"), (range(12), range(3, 15)), strict=True):
        published = sf.read(f"{folder}/public/table.csv")
        groups = published.group_by("age").aggregate([("disease", "list")]).to_pydict()
        shown = sorted(sorted(cells) for cells in groups["disease_list"])
        rows = [
            each.histogram.codes[start:end]
            for start, end in np.lib.stride_tricks.sliding_window_view(each.histogram.offsets, 2)
        ]
        counts = np.split(each.histogram.counts, each.histogram.offsets[1:-1])
        assert (
            sorted(
                sorted(values[v] for v, n in zip(r, c, strict=True) for _ in range(n))
                for r, c in zip(rows, counts, strict=True)
            )
            == shown
        )
        assert (each.members >= 0).sum() == len(numbers)
        assert np.bincount(each.members[each.members >= 0]).tolist() == each.histogram.sizes.tolist()
        assert each.counterfeits.sum() == 0


def test_a_search_is_told_who_was_published_and_with_which_values(two_quarters):
    table = changed(quarter(10, 20), "disease", ["plague", *quarter(11, 20)["disease"].to_pylist()])
    coded = code(table, SCHEMA)
    version = two_quarters.draft(table, SCHEMA).version
    known = version.known(coded)
    assert known.published.tolist() == [True] * 5 + [False] * 5
    assert known.waited.tolist() == [0] * 10
    signed = known.signatures["disease"]
    assert (signed.of_case >= 0).tolist() == known.published.tolist()
    assert signed.changed.tolist() == [True] + [False] * 9
    assert not signed.shown.any()
    assert signed.texts[:5] == (*coded.sensitive[0].domain.texts, None)[:5]
    first, history, values = version.numbers[0], two_quarters.history("disease"), two_quarters.values("disease")
    group = history.releases[0].members[first]
    start, end = history.releases[0].histogram.offsets[group : group + 2]
    shown = {values[code] for code in history.releases[0].histogram.codes[start:end]}
    assert {signed.texts[code] for code in signed.sets[signed.of_case[0]]} == shown
    taken = known.take(np.array([9, 0]))
    assert taken.published.tolist() == [False, True]
    assert taken.signatures["disease"].of_case.tolist() == [-1, signed.of_case[0]]


def test_a_value_that_nobody_has_any_more_has_a_code_after_the_missing_one(two_quarters):
    table = quarter(0, 12).filter(pa.array([number % 4 != 0 for number in range(12)]))
    signed = two_quarters.draft(table, SCHEMA).version.known(code(table, SCHEMA)).signatures["disease"]
    assert signed.texts == ("flu", "gout", "measles", None, "angina")
    assert signed.width == 5
    assert any(4 in values for values in signed.sets)


def test_persons_are_known_however_their_identifiers_are_written(ledger):
    released(ledger, quarter(0, 12)).write("q1", report=False)
    for cells in ([float(number) for number in range(12)], [str(number) for number in range(12)]):
        assert (ledger.draft(changed(quarter(0, 12), "id", cells), SCHEMA).version.numbers >= 0).all()


def test_names_are_compared_in_one_normal_form_and_told_apart_by_their_lengths(ledger):
    schema = replace(SCHEMA, identifier=["given", "family"])
    table = quarter(0, 4).append_column("given", pa.array(["Zoe\u0301", "ab", "a", "x"]))
    table = table.append_column("family", pa.array(["K", "c", "bc", "y"]))
    sf.anonymize(table, schema, MODELS, ledger=ledger).write("q1", report=False)
    composed = changed(table, "given", ["Zo\u00e9", "ab", "a", "x"])
    assert (ledger.draft(composed, replace(schema, identifier=["family", "given"])).version.numbers >= 0).all()
    swapped = changed(composed, "family", ["K:", "c", "bc", "y"])
    assert (ledger.draft(swapped, schema).version.numbers >= 0).tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    ("table", "schema", "sentence"),
    [
        (changed(quarter(0, 4), "id", [1, None, 2, 3]), SCHEMA, r"1 rows have no 'id', which identifies persons"),
        (changed(quarter(0, 4), "id", ["a", "", "b", "c"]), SCHEMA, "1 rows have no 'id'"),
        (changed(quarter(0, 4), "id", [1, 1, 2, 3]), SCHEMA, "1 rows have the identifiers of another row"),
        (quarter(0, 4), replace(SCHEMA, identifier=[]), "knows persons by their identifiers"),
        (quarter(0, 4), replace(SCHEMA, sensitive=[]), "follows sensitive attributes, and the schema has none"),
        (quarter(0, 4), replace(SCHEMA, missing="matches-all"), "cannot follow missing values that match all"),
    ],
)
def test_a_table_that_cannot_be_followed_is_refused_in_one_sentence(ledger, table, schema, sentence):
    refused(SchemaError, sentence, sf.anonymize, table, schema, MODELS, ledger=ledger)
    assert ledger.releases() == ()


def test_a_table_with_other_columns_and_the_ledger_of_another_table_are_refused(two_quarters):
    other = replace(SCHEMA, quasi=[], insensitive=["age"])
    refused(SchemaError, "quasi columns are 'age', and this one has none", two_quarters.draft, quarter(0, 12), other)
    fleeting = replace(SCHEMA, transient=["disease"])
    refused(SchemaError, "permanent columns are 'disease'", two_quarters.draft, quarter(0, 12), fleeting)
    strangers = quarter(100, 112)
    refused(
        SchemaError, r"knows none of the 12 persons .* or 'id' are written otherwise", released, two_quarters, strangers
    )
    assert len(two_quarters.releases()) == 2


def test_a_permanent_value_that_changed_is_refused_and_a_transient_one_is_not(ledger, tmp_path):
    table = quarter(0, 12)
    ill = changed(table, "disease", ["flu", "angina", *table["disease"].to_pylist()[2:]])
    released(ledger, table).write("q1", report=False)
    refused(SchemaError, "^2 persons changed a permanent value, of 'disease'", released, ledger, ill)
    assert len(ledger.releases()) == 1
    fleeting, other = replace(SCHEMA, transient=["disease"]), sf.Ledger.create(tmp_path / "other.ledger")
    released(other, table, fleeting).write("r1", report=False)
    released(other, ill, fleeting).write("r2", report=False)
    assert len(other.releases()) == 2


def test_who_is_left_out_and_was_never_published_waits(ledger):
    table = changed(quarter(0, 12), "age", [20] * 11 + [90])
    schema = replace(SCHEMA, hierarchies={"age": sf.Intervals(5, 10)})
    fixed = sf.FixedLevels(levels={"age": 0})
    for folder in ("q1", "q2"):
        sf.anonymize(table, schema, MODELS, fixed, max_suppressed=0.1, ledger=ledger).write(folder, report=False)
        assert ledger.releases()[-1].waiting == 1
    known = ledger.draft(table, schema).version.known(code(table, schema))
    assert known.waited.tolist() == [0] * 11 + [2]
    assert known.published.tolist() == [True] * 11 + [False]


def test_buckets_are_groups_and_their_values_are_the_signatures(ledger):
    release = sf.anonymize(
        quarter(0, 12), SCHEMA, [sf.DistinctLDiversity(l=3, sensitive="disease")], sf.Anatomy(), ledger=ledger
    )
    release.write("q1", report=False)
    buckets = release.aligned()["_bucket_disease"].to_pylist()
    members = ledger.history("disease").releases[0].members
    assert {tuple(np.flatnonzero(members == group)) for group in range(4)} == {
        tuple(at for at, each in enumerate(buckets) if each == bucket) for bucket in set(buckets)
    }


def test_cells_that_are_not_in_buckets_are_shown_and_sign_nobody(ledger):
    table = quarter(0, 12).append_column("hide", pa.array([True] * 8 + [False] * 4))
    schema = replace(SCHEMA, flags={"disease": "hide"})
    model = sf.DistinctLDiversity(l=2, sensitive="disease")
    sf.anonymize(table, schema, [model], sf.LocalAnatomy(), ledger=ledger).write("q1", report=False)
    signed = ledger.draft(table, schema).version.known(code(table, schema)).signatures["disease"]
    assert signed.shown.tolist() == [False] * 8 + [True] * 4
    assert (signed.of_case >= 0).tolist() == [True] * 8 + [False] * 4
    sizes = ledger.history("disease").releases[0].histogram.sizes
    assert (sizes == 1).sum() == 4


def test_flagged_quasi_identifiers_are_followed_where_they_are_hidden_or_shown_as_they_are(ledger):
    table = quarter(0, 12).append_column("hide", pa.array([True] * 8 + [False] * 4))
    schema = replace(SCHEMA, sensitive=[], insensitive=["disease"], flags={"age": "hide"})
    model = sf.DistinctLDiversity(l=2, sensitive="age")
    sf.anonymize(table, schema, [model], sf.LocalAnatomy(), ledger=ledger).write("q1", report=False)
    signed = ledger.draft(table, schema).version.known(code(table, schema)).signatures["age"]
    assert (signed.of_case >= 0).tolist() == [True] * 8 + [False] * 4
    assert signed.shown.tolist() == [False] * 8 + [True] * 4


def test_missing_values_are_values(ledger):
    table = changed(quarter(0, 8), "disease", [None, "flu"] * 4)
    released(ledger, table).write("q1", report=False)
    assert ledger.values("disease") == ("flu", None)
    assert ledger.history("disease").releases[0].histogram.counts.sum() == 8
    signed = ledger.draft(table, SCHEMA).version.known(code(table, SCHEMA)).signatures["disease"]
    assert not signed.changed.any()


def test_a_masked_sensitive_attribute_is_refused(ledger):
    step = sf.masking.Pram(columns=["disease"], keep=0.1)
    release = sf.anonymize(quarter(0, 40), SCHEMA, MODELS, masking=[step], ledger=ledger)
    refused(SchemaError, "Cells of 'disease' are published masked or suppressed", release.write, "q1", report=False)
    assert not Path("q1").exists()


def test_a_release_is_refused_if_the_ledger_has_moved_on(ledger):
    first, second = released(ledger, quarter(0, 12)), released(ledger, quarter(0, 12))
    first.write("q1", report=False)
    refused(WriteError, "has new entries since this release was made", second.write, "q2", report=False)
    refused(WriteError, "make it again", first.write, "q3", report=False)
    assert names(".") == ["hospital.ledger", "hospital.ledger.head", "hospital.ledger.key", "q1"]


def test_a_recipe_of_a_series_is_not_run_without_its_ledger(two_quarters, tmp_path):
    recipe = Recipe.read("q2/internal/recipe.toml")
    head = json.loads(Path("q1/internal/ledger.json").read_text())["head"]
    assert (recipe.ledger, recipe.ledger_head) == (two_quarters.name, head)
    refused(InvalidParameterError, "give it by ledger=", sf.carry_out, recipe, quarter(3, 15))
    other = sf.Ledger.create(tmp_path / "other.ledger")
    refused(InvalidParameterError, "another series", sf.carry_out, recipe, quarter(3, 15), ledger=other)
    refused(InvalidParameterError, r"ledger must be an sf\.Ledger", sf.carry_out, recipe, quarter(3, 15), ledger="x")
    sf.carry_out(recipe, quarter(3, 15), ledger=two_quarters).write("q3", report=False)
    assert len(two_quarters.releases()) == 3
    sf.write(quarter(3, 15), "t.parquet")
    refused(
        InvalidParameterError,
        "made in memory",
        sf.carry_out,
        recipe,
        "t.parquet",
        ledger=two_quarters,
        engine="duckdb",
        out="x",
    )


def test_the_same_secret_hides_people_anew_in_every_release_of_a_series(ledger):
    model = sf.DistinctLDiversity(l=2, sensitive="disease")
    found = []
    for folder in ("q1", "q2"):
        release = sf.anonymize(quarter(0, 40), SCHEMA, [model], sf.Anatomy(), seed=1, secret="ab" * 32, ledger=ledger)
        release.write(folder, report=False)
        found.append(release.aligned()["_bucket_disease"].to_pylist())
    assert found[0] != found[1]


def test_later_rows_are_a_release_of_the_series(ledger):
    release = sf.anonymize(
        quarter(0, 12), SCHEMA, MODELS, sf.FixedLevels(levels={"age": 0}), ledger=ledger, max_suppressed=1.0
    )
    release.write("q1", report=False)
    refused(InvalidParameterError, "safe together only by their ledger", sf.recode, quarter(14, 28), release.recoding)
    later = sf.recode(quarter(14, 28), release.recoding, ledger=ledger)
    later.write("q2", report=False)
    assert [each.newcomers for each in ledger.releases()] == [release.published.num_rows, later.published.num_rows]
    assert later.recipe.ledger == ledger.name


def test_an_attribute_that_is_not_followed_is_refused(two_quarters, tmp_path):
    refused(InvalidParameterError, "does not follow 'diseas'; did you mean 'disease'", two_quarters.history, "diseas")
    empty = sf.Ledger.create(tmp_path / "empty.ledger")
    refused(InvalidParameterError, "does not follow 'disease'; write a release first", empty.history, "disease")


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize("path", ["public/a.ledger", "q1/Public/x/a.ledger"])
def test_nothing_confidential_is_put_into_public_folders(path):
    refused(WriteError, "is in a folder named public", sf.Ledger.create, path)
    refused(WriteError, "key of a series is confidential", sf.Ledger.create, "a.ledger", key=path)


@pytest.mark.usefixtures("ledger")
def test_files_that_are_there_or_cannot_be_made_are_refused():
    refused(WriteError, "hospital.ledger already exists", sf.Ledger.create, "hospital.ledger")
    refused(WriteError, "There is no folder", sf.Ledger.create, "nowhere/a.ledger")
    Path("lone.key").touch()
    refused(
        WriteError,
        r"key already exists; name another file for the key",
        sf.Ledger.create,
        "b.ledger",
        key="lone.key",
    )
    refused(InvalidParameterError, "must have names of their own", sf.Ledger.create, "a.head", key="a.key")
    refused(
        ReadError,
        "There is no ledger a.ledger; make one by sfumato ledger init",
        sf.Ledger,
        "a.ledger",
        key="hospital.ledger.key",
    )


@pytest.mark.usefixtures("ledger")
def test_a_key_can_be_kept_elsewhere():
    Path("keys").mkdir()
    other = sf.Ledger.create("other.ledger", key="keys/other.key")
    released(other, quarter(0, 12)).write("r1", report=False)
    assert names("keys") == ["other.head", "other.key"]
    assert len(sf.Ledger("other.ledger", key="keys/other.key").releases()) == 1
    refused(ReadError, "is not the key of the ledger", sf.Ledger, "other.ledger", key="hospital.ledger.key")
    refused(ReadError, "There is no key file", sf.Ledger, "other.ledger")


@pytest.mark.parametrize("content", ["", "sfumato ledger key 1\nxyz\n", "sfumato ledger key 2\n" + "ab" * 32 + "\n"])
def test_a_file_that_is_no_key_is_refused(ledger, content):
    (ledger.path.parent / "hospital.ledger.key").write_text(content)
    refused(ReadError, "is not the key file of a ledger", sf.Ledger, "hospital.ledger")


def test_an_old_copy_of_the_ledger_is_refused(ledger):
    released(ledger, quarter(0, 12)).write("q1", report=False)
    for name in names("."):
        if name.startswith("hospital"):
            shutil.copy2(name, f"old-{name}")
    released(ledger, quarter(3, 15)).write("q2", report=False)
    shutil.copy2("old-hospital.ledger", "hospital.ledger")
    refused(
        ReadError,
        r"is older than the head file .* it has 1 entries, and entry 2 was written",
        sf.Ledger,
        "hospital.ledger",
    )
    refused(ReadError, "is older than", released, ledger, quarter(3, 15))
    shutil.copy2("old-hospital.ledger.head", "hospital.ledger.head")
    refused(ReadError, r"is older than the release in q2 says", sf.Ledger, "hospital.ledger")
    Path("elsewhere").mkdir()
    shutil.move("q2", "elsewhere/q2")
    restored = sf.Ledger("hospital.ledger")
    refused(ReadError, "is older than the release in elsewhere/q2", restored.verify, ["elsewhere/q2"])
    refused(ReadError, "is not a release of a series", restored.verify, ["elsewhere"])
    released(restored, quarter(4, 16)).write("q2", report=False)
    refused(ReadError, "has another entry 2 than the release in elsewhere/q2", restored.verify, ["elsewhere/q2"])


def test_a_lost_head_is_told_and_written_anew_by_repair_alone(two_quarters):
    Path("hospital.ledger.head").unlink()
    refused(ReadError, "There is no head file hospital.ledger.head", sf.Ledger, "hospital.ledger")
    assert "was written anew" in sf.Ledger.repair("hospital.ledger")
    assert len(sf.Ledger("hospital.ledger").releases()) == 2
    (two_quarters.path.parent / "hospital.ledger.head").write_text("{}")
    refused(ReadError, "does not tell the head of a ledger", sf.Ledger, "hospital.ledger")


TAMPERINGS = [
    "DELETE FROM memberships WHERE release = 1",
    "DELETE FROM persons WHERE release = 2",
    "DELETE FROM seen",
    "UPDATE signatures SET places = zeroblob(length(places))",
    "UPDATE groups SET counts = zeroblob(length(counts)) WHERE release = 2",
    "UPDATE releases SET folder = 'q3' WHERE number = 1",
    "UPDATE entries SET said = replace(said, 'q1', 'q3')",
    "UPDATE entries SET head = 'x' WHERE entry = 2",
    "DELETE FROM entries WHERE entry = 1",
    "INSERT INTO seen VALUES (1, 9, x'', x'')",
]


@pytest.mark.usefixtures("two_quarters")
@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_what_was_changed_or_taken_out_is_told(tampering):
    store = sqlite3.connect("hospital.ledger")
    with store:
        store.execute(tampering)
    store.close()

    def used():
        ledger = sf.Ledger("hospital.ledger")
        ledger.history("disease")
        ledger.verify()

    refused(ReadError, "The ledger hospital.ledger is not what was recorded: .*; restore the newest copy", used)


@pytest.mark.parametrize("tampering", TAMPERINGS[1:4])
def test_a_search_does_not_start_from_what_was_changed(two_quarters, tampering):
    store = sqlite3.connect("hospital.ledger")
    with store:
        store.execute(tampering)
    store.close()
    refused(ReadError, "is not what was recorded", released, two_quarters, quarter(3, 15))


def test_files_that_are_no_ledger_are_refused(two_quarters):
    store = sqlite3.connect("hospital.ledger")
    with store:
        store.execute("UPDATE facts SET value = 'sfumato ledger 0' WHERE name = 'format'")
    store.close()
    refused(ReadError, "is not a valid ledger file", sf.Ledger, "hospital.ledger")
    two_quarters.path.write_bytes(b"nothing")
    refused(ReadError, "is not a valid ledger file", sf.Ledger, "hospital.ledger")


def test_rows_that_refer_to_no_release_cannot_be_added(two_quarters):
    from sfumato.ledger.store import RowPlace, insert, open_store

    with pytest.raises(ReadError), open_store(two_quarters.path) as store:
        insert(store, {RowPlace("persons", 99): (b"",)})


def test_verifying_tells_of_folders_that_moved_and_refuses_those_that_were_changed(two_quarters):
    assert two_quarters.verify(["q1"]) == ()
    Path("q1").rename("archive")
    assert two_quarters.verify(["archive"]) == ("Release 1 is not in q1 any more, so its files could not be checked.",)
    with Path("q2/public/table.csv").open("a") as file:
        file.write("x")
    refused(ReadError, "public/ of release 2 in q2 was changed after it was written", two_quarters.verify)


@pytest.mark.usefixtures("two_quarters")
def test_ledger_and_releases_can_be_moved_together(tmp_path, monkeypatch):
    Path("new").mkdir()
    for name in ("hospital.ledger", "hospital.ledger.key", "hospital.ledger.head", "q1", "q2"):
        shutil.move(name, "new")
    monkeypatch.chdir(tmp_path / "new")
    assert sf.Ledger("hospital.ledger").verify() == ()


def test_an_older_release_may_be_replaced_and_stays_in_the_ledger(two_quarters):
    released(two_quarters, quarter(3, 15)).write("q2", report=False, replace=True)
    assert [each.folder.name for each in two_quarters.releases()] == ["q1", "q2", "q2"]
    assert two_quarters.verify() == ("Release 2 is not in q2 any more, so its files could not be checked.",)


def test_a_forgotten_person_is_new_when_she_comes_back_and_groups_keep_their_sizes(two_quarters):
    before, head = two_quarters.history("disease"), two_quarters.head
    token = two_quarters.draft(quarter(4, 5), SCHEMA).version.people.tokens[0].as_py()
    assert token in two_quarters.path.read_bytes()
    assert two_quarters.forget("4")
    assert token not in two_quarters.path.read_bytes()
    assert two_quarters.head != head
    after = two_quarters.history("disease")
    for one, other in zip(before.releases, after.releases, strict=True):
        assert np.array_equal(one.members, other.members)
        assert np.array_equal(one.histogram.counts, other.histogram.counts)
    numbers = two_quarters.draft(quarter(3, 6), SCHEMA).version.numbers
    assert (numbers >= 0).tolist() == [True, False, True]
    assert two_quarters.verify() == ()
    assert not two_quarters.forget(4)
    refused(InvalidParameterError, "knows persons by 'id'; give a value for each", two_quarters.forget, "4", "x")


def test_a_person_who_waits_can_be_forgotten_too(ledger):
    table = changed(quarter(0, 12), "age", [20] * 11 + [90])
    schema = replace(SCHEMA, hierarchies={"age": sf.Intervals(5, 10)})
    fixed = sf.FixedLevels(levels={"age": 0})
    sf.anonymize(table, schema, MODELS, fixed, max_suppressed=0.1, ledger=ledger).write("q1", report=False)
    assert ledger.forget(11)
    assert ledger.draft(table, schema).version.known(code(table, schema)).waited.tolist() == [0] * 12


def test_many_permanent_attributes_hide_their_values_apart(ledger):
    names = [f"a{number}" for number in range(7)]
    table = quarter(0, 12)
    for name in names:
        table = table.append_column(name, table["disease"])
    schema = sf.Schema(identifier=["id"], quasi=["age"], sensitive=names)
    released(ledger, table, schema).write("q1", report=False)
    hidden = ledger.draft(table, schema).version.hidden
    assert len({hashes.tobytes() for hashes in hidden.values()}) == 7
    assert len({value for hashes in hidden.values() for value in hashes.tolist()}) == 7 * 12
    other = table.set_column(table.column_names.index("a6"), "a6", pa.array(["flu"] * 12))
    refused(SchemaError, "9 persons changed a permanent value, of 'a6'", released, ledger, other, schema)
