"""Party files: what they may say, how mistakes are told, and the commands that make and read them."""

from __future__ import annotations

import json
import os
import stat
import tomllib

import pytest
from typer.testing import CliRunner

from party_folders import NAMES, Folders, contents
from sfumato.cli._application import app
from sfumato.errors import ReadError, SchemaError, SfumatoError
from sfumato.fusion._connections import Address, Timeouts
from sfumato.fusion.certificates import certificate_fingerprint, read_certificate
from sfumato.fusion.party_file import PartyFile
from sfumato.fusion.protocol import fuse
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path)


@pytest.fixture
def run():
    def run_here(*arguments: object):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run_here


def test_a_file_says_what_a_party_brings_and_where_the_others_are(folders):
    content = folders.contents["agency"]
    content["factors"] = {"provider": 0.25, "attributes": {"job": 0.5}, "values": {"job": {"nurse": 0.2}}}
    content["orders"] = {"job": ["nurse", "doctor", "baker", "mason"]}
    content["waiting"] = {"others": 7, "silence": 8, "step": 9}
    folders.write()
    file = PartyFile.read(folders.file("agency"))
    assert file.party.name == "agency"
    assert file.party.attributes == ("job",)
    assert file.party.factor == 0.25
    assert file.party.attribute_factors == {"job": 0.5}
    assert file.party.value_factors == {"job": {"nurse": 0.2}}
    assert file.party.orders == {"job": ["nurse", "doctor", "baker", "mason"]}
    assert isinstance(file.party.hierarchies["job"], Taxonomy)
    assert file.agreement.parties == NAMES
    assert [(each.quasi, each.k) for each in file.agreement.requirements] == [
        (("age", "job", "sex"), 4),
        (("cost", "plan"), 5),
    ]
    assert file.out == folders.out("agency")
    assert file.connections.waiting == Timeouts(others=7, silence=8, step=9)
    assert file.connections.listen == Address.parse(content["party"]["listen"], "listen")
    assert [peer.name for peer in file.connections.peers] == ["hospital", "insurer"]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("intervals:5,10", Intervals(5, 10)),
        ("intervals: 2.5, 5", Intervals(2.5, 5)),
        ("prefixes", Prefixes()),
        ("prefixes:3,1", Prefixes(3, 1)),
        ({"kind": "intervals", "cuts": [[30, 60]]}, Intervals(cuts=[[30, 60]])),
    ],
)
def test_hierarchies_are_named_as_on_the_command_line(folders, how, expected):
    folders.contents["hospital"]["hierarchies"]["age"] = how
    folders.write()
    found = PartyFile.read(folders.file("hospital")).party.hierarchies["age"]
    assert found.to_dict() == expected.to_dict()


def changed(content: dict, path: str, value: object) -> None:
    """Change an entry deep inside, or remove it."""
    *way, last = path.split("/")
    for step in way:
        content = content[int(step)] if step.isdigit() else content.setdefault(step, {})
    if value is None:
        del content[last]
    else:
        content[last] = value


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        ("partys", {}, r"unknown entry 'partys'; did you mean 'party'\?"),
        ("party/attributs", ["age"], r"\[party\] has an unknown entry 'attributs'; did you mean 'attributes'\?"),
        ("party/name", None, r"\[party\] needs name, a string"),
        ("party/attributes", "age", r"\[party\] needs attributes, a list of strings"),
        ("party/attributes", ["age", "age"], "Party.attributes must be a list of different columns"),
        ("party/listen", "nowhere", r"listen in \[party\] must be host:port"),
        ("party/certificate", None, r"\[party\] needs certificate, a string"),
        ("peers", 5, r"\[\[peers\]\] must be a list"),
        ("peers/0/addressx", "a:1", "unknown entry 'addressx'; did you mean 'address'"),
        ("peers/0/certificate", None, r"\[\[peers\]\] needs certificate"),
        ("agreement/target", None, r"\[agreement\] needs target"),
        ("agreement/parties", ["a", "a"], "SessionParameters.parties must be different names"),
        ("agreement/scoring", "other", "SessionParameters.scoring must be 'sensitive', 'sensitive-sum' or 'plain'"),
        ("agreement/scoring", ["plain"], "SessionParameters.scoring must be 'sensitive'"),
        ("agreement/requirements", [], "There is no requirement"),
        ("agreement/requirements", [5], "must be a list of tables"),
        ("agreement/requirements/0/k", 0, "KAnonymityRequirement.k must be a whole number of at least 1"),
        ("agreement/requirements/0/k", True, "needs k, a whole number"),
        ("agreement/requirements/0/q", ["age"], "unknown entry 'q'"),
        ("hierarchies", 5, r"\[hierarchies\] must be a table"),
        ("hierarchies/age", 5, "The hierarchy of 'age' must be a string or a table"),
        ("hierarchies/age", "intervals:0", "The hierarchy of 'age' cannot be used"),
        ("hierarchies/age", "nothing.csv", "The hierarchy of 'age' cannot be used: .*nothing.csv"),
        ("hierarchies/age", {"kind": "other"}, "The hierarchy of 'age' cannot be used"),
        ("orders/sexx", ["f", "m"], "'sexx', which is not one of the party's attributes; did you mean 'sex'"),
        ("orders/sex", "f", r"\[orders\] needs sex, a list of strings"),
        ("factors/provider", 0, "Party.factor must be a positive number"),
        ("factors/other", 1, r"\[factors\] has an unknown entry 'other'"),
        ("factors/attributes", {"age": 0.5}, "must give a factor for each of its attributes"),
        ("factors/values", {"sex": {"f": -1}}, r"Party.value_factors\['sex'\] must be positive numbers"),
        ("waiting/silence", 0.5, "Timeouts.silence must be at least 2 seconds"),
        ("waiting/silent", 5, r"\[waiting\] has an unknown entry 'silent'; did you mean 'silence'"),
        ("party/table", "nothing.csv", "nothing.csv"),
        ("party/query", "select 1", "left out unless the source is a database"),
    ],
)
def test_mistakes_are_told_in_one_sentence(folders, path, value, match):
    changed(folders.contents["hospital"], path, value)
    folders.write()
    with pytest.raises(SfumatoError, match=match) as caught:
        PartyFile.read(folders.file("hospital"))
    assert "\n" not in str(caught.value)
    assert "person-" not in str(caught.value)


def test_a_table_in_a_database_is_asked_for(folders):
    import sqlite3

    base = folders.root / "hospital" / "patients.db"
    with sqlite3.connect(base) as connection:
        connection.execute("create table patients (person text, class text, age integer, sex text)")
        connection.execute("insert into patients values ('one', 'ill', 30, 'f')")
    connection.close()
    party = folders.contents["hospital"]["party"]
    party.update(table=f"sqlite:///{base}", query="select * from patients")
    folders.write()
    assert PartyFile.read(folders.file("hospital")).party.table("class").num_rows == 1


# The commands.


def test_init_makes_a_key_a_certificate_and_a_file(run, tmp_path):
    done = run("party", "init", tmp_path / "here", "--name", "hospital")
    assert done.exit_code == 0, done.output
    folder = tmp_path / "here"
    assert sorted(path.name for path in folder.iterdir()) == ["hospital.crt", "hospital.key", "party.toml"]
    if os.name == "posix":
        assert stat.S_IMODE((folder / "hospital.key").stat().st_mode) == 0o600
    assert certificate_fingerprint(read_certificate(folder / "hospital.crt", "hospital")) in done.output
    assert tomllib.loads((folder / "party.toml").read_text())["party"]["name"] == "hospital"
    assert "PRIVATE" not in done.output


def test_the_template_needs_nothing_but_a_table(run, tmp_path):
    run("party", "init", tmp_path / "hospital", "--name", "hospital")
    (tmp_path / "hospital" / "table.csv").write_text("person,class,age,sex\n1,ill,30,f\n")
    file = PartyFile.read(tmp_path / "hospital" / "party.toml")
    assert file.agreement.parties == ("hospital", "agency")
    assert file.connections.me == "hospital"
    with pytest.raises(ReadError, match=r"The certificate .*agency.crt cannot be read"):
        read_certificate(file.connections.peers[0].certificate, "agency")


def test_init_overwrites_nothing(run, tmp_path):
    run("party", "init", tmp_path, "--name", "hospital")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert run("party", "init", tmp_path, "--name", "hospital").exit_code == 2
    (tmp_path / "party.toml").unlink()
    done = run("party", "init", tmp_path, "--name", "hospital")
    assert done.exit_code == 2
    assert "hospital.key cannot be written: File exists" in done.output
    del before["party.toml"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["", "../key", "a b", "x" * 65, "a\nb"])
def test_init_refuses_names_that_are_no_names_of_files(run, tmp_path, name):
    done = run("party", "init", tmp_path / "here", "--name", name)
    assert done.exit_code == 2
    assert "--name must be" in done.output
    assert not (tmp_path / "here").exists()


def test_fuse_runs_all_parties_in_one_process(run, folders):
    out = folders.root / "fused"
    done = run("fuse", *(folders.file(name) for name in reversed(NAMES)), "--out", out, "--json")
    assert done.exit_code == 0, done.output
    files = [PartyFile.read(folders.file(name)) for name in NAMES]
    together = fuse([file.party for file in files], target="class", requirements=files[0].agreement.requirements)
    together.write(folders.root / "together")
    assert contents(out) == contents(folders.root / "together")
    told = json.loads(done.stdout)
    assert told["persons"] == 54
    assert told["rounds"] == together.rounds
    assert told["brought"] == dict.fromkeys(NAMES, 58)


def test_fuse_needs_the_file_of_every_party_once(run, folders):
    done = run("fuse", folders.file("hospital"), folders.file("agency"), "--out", folders.root / "fused")
    assert done.exit_code == 2
    assert "give the file of every party once" in done.output


def test_fuse_tells_what_the_parties_do_not_agree_on(run, folders):
    folders.contents["insurer"]["agreement"]["scoring"] = "plain"
    folders.write()
    done = run("fuse", *map(folders.file, NAMES), "--out", folders.root / "fused")
    assert done.exit_code == 2
    assert "do not agree on: scoring" in done.output
    assert not (folders.root / "fused").exists()


def test_fuse_of_one_file_is_top_down_specialization(run, tmp_path):
    folders = Folders(tmp_path, ["hospital"])
    for content in folders.contents.values():
        content["agreement"]["requirements"] = [{"quasi": ["age", "sex"], "k": 4}]
    folders.write()
    done = run("fuse", folders.file("hospital"), "--out", tmp_path / "fused")
    assert done.exit_code == 0, done.output
    assert "58 people are in the tables" in done.output


@pytest.mark.parametrize(("entry", "match"), [("out", "names no out folder"), ("key", "names no key")])
def test_serve_needs_an_out_folder_and_a_key(run, folders, entry, match):
    del folders.contents["agency"]["party"][entry]
    folders.write()
    done = run("party", "serve", folders.file("agency"))
    assert done.exit_code == 2
    assert match in done.output


def test_join_where_nobody_listens_is_told_in_one_line(run, folders):
    done = run("party", "join", folders.file("agency"), "--out", folders.root / "elsewhere")
    assert done.exit_code == 2
    assert "Party 'hospital' does not answer" in done.output.splitlines()[-1]
    assert not (folders.root / "elsewhere").exists()


def test_commands_say_what_they_are_for(run):
    assert "init" in run("party").output
    assert "Examples:" in run("party", "serve", "--help").output


def test_a_peer_twice_is_refused(folders):
    content = folders.contents["hospital"]
    content["peers"].append(content["peers"][0])
    folders.write()
    file = PartyFile.read(folders.file("hospital"))
    with pytest.raises(SchemaError, match="list each of them once"):
        file.connections.for_session(file.agreement)
