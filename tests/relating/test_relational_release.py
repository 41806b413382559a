"""What is published of several tables, what is written of them, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from related_tables import VISITS, nameless, relations
from sfumato.errors import GuaranteeViolatedError, InvalidParameterError, SchemaError, UnsupportedModelError, WriteError
from sfumato.tables.relational import _joined_levels as search
from sfumato.tables.relational import release as writing
from sfumato.tables.relational.audit import audit_relations
from sfumato.tables.relational.relation import Relation
from sfumato.tables.relational.release import anonymize_relations

SECRET = "5f" * 32


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_of_the_kind_that_was_given_and_a_secret_repeats_them(frame):
    people = [(21, "n"), (22, "n"), (33, "y"), (34, "n")]
    visits = [(0, "heart", 1), (1, "lung", 1), (2, "heart", 2), (3, "heart", 2)]
    tables = relations(people, visits)
    given = {name: replace(each, data=frame(each.data.to_pydict())) for name, each in tables.items()}
    ask = {"models": [sf.models.KAnonymity(k=2)], "persons": "people", "secret": SECRET}
    first, again = (anonymize_relations(given, **ask) for _ in range(2))
    for name, each in first.frames.items():
        assert isinstance(each, frame)
        assert each.equals(again.frames[name])
    assert first.loss > 0
    assert "heart" not in repr(first) + repr(first.audit)
    assert repr(first).splitlines()[1] == "Audit of a join: holds, 4 persons, 2 groups, the smallest of 2"
    assert first.audit.to_dict()["models"][0]["holds"] is True


def released():
    people = [(21, "n"), (22, "n"), (33, "y"), (34, "n"), (70, "y")]
    visits = [(0, "heart", 1), (1, "lung", 1), (2, "heart", 2), (3, "heart", 2)]
    return anonymize_relations(
        relations(people, visits), [sf.models.KAnonymity(k=2)], persons="people", max_suppressed=0.2, secret=SECRET
    )


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_files_hold_what_was_judged_and_say_what_holds(tmp_path, table_format):
    release = released()
    release.write(tmp_path / "out", table_format=table_format)
    found = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    suffix = f".{table_format}"
    assert found == {f"public/people{suffix}", f"public/visits{suffix}", "public/promise.json", "internal/levels.json"}
    told = json.loads((tmp_path / "out" / "public" / "promise.json").read_text("utf-8"))
    assert (told["holds"], told["persons"], told["k"]) == (True, 4, 2)
    kept = json.loads((tmp_path / "out" / "internal" / "levels.json").read_text("utf-8"))
    assert (kept["levels"], kept["suppressed"]) == (dict(release.levels), 1)
    read = {
        name: replace(each, data=sf.read(tmp_path / "out" / "public" / f"{name}{suffix}"))
        for name, each in release.relations.items()
    }
    assert audit_relations(read, persons="people").sizes.tolist() == release.audit.sizes.tolist()
    with pytest.raises(WriteError):
        release.write(tmp_path / "out", table_format=table_format)


def test_nothing_is_left_of_tables_whose_files_break_the_promise(tmp_path, monkeypatch):
    release = released()
    first = release.relations["people"]
    broken = {
        **release.relations,
        "people": replace(first, data=first.data.set_column(1, "age", pa.array(list("abcd")))),
    }
    with pytest.raises(GuaranteeViolatedError, match="their files break the promise, so nothing was written"):
        replace(release, relations=broken).write(tmp_path / "out")
    lossy = writing.read_back
    monkeypatch.setattr(writing, "read_back", lambda *args, **rest: lossy(*args, **rest).slice(0, 0))
    with pytest.raises(GuaranteeViolatedError, match="could not be judged from their files, so nothing was written"):
        release.write(tmp_path / "out")

    def healed(path, **rest):
        table = lossy(path, **rest)
        place = table.column_names.index("disease") if "disease" in table.column_names else None
        return table if place is None else table.set_column(place, "disease", pa.array(["none"] * len(table)))

    monkeypatch.setattr(writing, "read_back", healed)
    with pytest.raises(GuaranteeViolatedError, match="table 'visits' reads otherwise in its file"):
        release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_tables_that_fail_their_audit_are_withheld(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(
            search.JoinedLevels, "published_individuals", lambda self, _: np.ones(self.persons, dtype=np.bool_)
        )
        patched.setattr(search.JoinedLevels, "_below_k_alone", lambda *_: 0)
        with pytest.raises(GuaranteeViolatedError, match="fail their audit, so they are withheld"):
            released()
    assert released().audit.holds


def test_a_table_whose_name_cannot_be_a_file_is_refused(tmp_path):
    release = released()
    named = {**release.relations, "../visits": release.relations["visits"]}
    with pytest.raises(WriteError, match="cannot be a file"):
        replace(release, relations=named).write(tmp_path / "out")


def test_categories_that_are_not_published_leave_no_trace():
    people = pd.DataFrame({"person": [1, 2, 3], "smokes": pd.Categorical(["n", "n", "secret"]), "age": [21, 21, 70]})
    schema = sf.Schema(quasi_identifiers=["age"], sensitive=["smokes"])
    release = anonymize_relations(
        {"people": Relation(data=people, schema=schema)},
        [sf.models.KAnonymity(k=2)],
        persons="people",
        max_suppressed=0.4,
    )
    assert release.suppressed == 1
    assert "secret" not in str(release.relations["people"].data.schema) + str(release.frames["people"]["smokes"].dtype)
    assert "secret" not in str(release.relations["people"].data.to_pydict())


def test_a_broken_promise_is_told_in_persons():
    tables = nameless(relations([(21, "n"), (21, "n"), (33, "y")], []))
    audit = audit_relations(tables, [sf.models.KAnonymity(k=2)], persons="people")
    assert repr(audit) == (
        "Audit of a join: DOES NOT HOLD, 3 persons, 2 groups, the smallest of 1\n"
        "KAnonymity(k=2): broken at 1, 1 persons violating"
    )


REFUSED = [
    ({"persons": "peple"}, "There is no table 'peple'; did you mean 'people'?"),
    ({"key": "perso"}, "Table 'visits' has no column 'perso'; did you mean 'person'?"),
    (
        {"visits": [(0, "heart", 1), (7, "heart", 1)]},
        "Table 'visits' has 1 rows about persons who are not in 'people'; drop them or add these persons.",
    ),
    (
        {"keys": [10, 10]},
        (
            "Table 'people' has 1 rows about a person who has another one; keep one row per person, and make the rest "
            "a table of facts."
        ),
    ),
    ({"keys": [10, None]}, "Column 'person' of table 'people' has 1 missing cells; say whose they are."),
    ({"empty": True}, "Table 'visits' has no rows; leave it out."),
    (
        {"schema": replace(VISITS, insensitive=["person"])},
        "Column 'person' of table 'visits' is the key; give it no role, or make it an identifier.",
    ),
    (
        {"schema": replace(VISITS, missing="matches-all")},
        "Missing cells of table 'visits' must be values of their own; use missing='own-value'.",
    ),
    (
        {"schema": replace(VISITS, flags={"ward": "flag"})},
        "Table 'visits' has sensitive cells, which cannot be protected in a join; drop Schema.flags.",
    ),
    (
        {"models": [sf.models.KAnonymity(k=2, quasi=["age"])]},
        "KAnonymity cannot judge a join on some quasi-identifiers or a population; drop that.",
    ),
    (
        {"models": [sf.models.DistinctLDiversity(l=2, sensitive="disease")]},
        (
            "DistinctLDiversity names 'disease', of which a person has several; models judge sensitive attributes of "
            "the table of persons only."
        ),
    ),
    (
        {"models": [sf.models.DistinctLDiversity(l=2, sensitive="smoke")]},
        "DistinctLDiversity names the unknown column 'smoke'; did you mean 'smokes'?",
    ),
    ({"models": []}, "No model is promised; give at least one, such as KAnonymity(k=5)."),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSED, ids=[sentence[:40] for _, sentence in REFUSED])
def test_what_cannot_be_joined_is_refused(change, sentence):
    tables = relations([(21, "n"), (22, "n")], change.get("visits", [(0, "heart", 1)]))
    people, visits = tables["people"], tables["visits"]
    if "key" in change or "schema" in change:
        tables["visits"] = replace(visits, key=change.get("key", "person"), schema=change.get("schema", VISITS))
    if "keys" in change:
        tables["people"] = replace(people, data=people.data.set_column(0, "person", pa.array(change["keys"])))
    if "empty" in change:
        tables["visits"] = replace(visits, data=visits.data.slice(0, 0))
    with pytest.raises(SchemaError) as refused:
        anonymize_relations(
            tables, change.get("models", [sf.models.KAnonymity(k=2)]), persons=change.get("persons", "people")
        )
    assert str(refused.value) == sentence


def test_other_refusals(monkeypatch):
    tables = relations([(21, "n"), (22, "n")], [(0, "heart", 1)])
    two = [sf.models.KAnonymity(k=2)]
    with pytest.raises(InvalidParameterError, match="max_suppressed must be a share from 0 to 1"):
        anonymize_relations(tables, two, persons="people", max_suppressed=2)
    with pytest.raises(InvalidParameterError, match="secret"):
        anonymize_relations(tables, two, persons="people", secret=SECRET[:5])
    with pytest.raises(InvalidParameterError, match=r"a mapping from names to sf\.tables\.relational\.Relation"):
        audit_relations([], persons="people")
    with pytest.raises(SchemaError, match="still has the identifier 'name'"):
        audit_relations(tables, persons="people")
    monkeypatch.setattr(search, "MOST_NODES", 17)
    with pytest.raises(UnsupportedModelError, match="at most 17 combinations of levels, but there are 18"):
        anonymize_relations(tables, two, persons="people")
