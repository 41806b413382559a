"""`sfumato network` publishes what Python publishes, judges files alone, and refuses in one sentence."""

from __future__ import annotations

import json

import networkx as nx
import pandas as pd
import pytest

import sfumato as sf

S = sf.graphs


@pytest.fixture
def friends(tmp_path):
    path = tmp_path / "friends.txt"
    nx.write_edgelist(nx.karate_club_graph(), path, data=False)
    return path


def test_python_and_the_command_line_write_the_same_files(tmp_path, friends, run):
    done = run(
        "network",
        "anonymize",
        friends,
        "--model",
        "k-degree:k=3",
        "--algorithm",
        "degree-sequence:edges=add",
        "--out",
        tmp_path / "one",
    )
    assert done.exit_code == 0, done.output
    assert "edges-added" in done.output
    recipe = tmp_path / "one" / "internal" / "recipe.toml"
    again = run("network", "anonymize", friends, "--recipe", recipe, "--out", tmp_path / "two", "--json")
    assert json.loads(again.stdout)["audit"]["holds"] is True
    S.run_recipe(S.read_recipe(recipe), S.read(friends)).write(tmp_path / "three")
    for path in (tmp_path / "one").rglob("*.*"):
        for other in ("two", "three"):
            assert path.read_bytes() == (tmp_path / other / path.relative_to(tmp_path / "one")).read_bytes()


@pytest.mark.parametrize(
    ("model", "algorithm"),
    [
        ("k-degree:k=3", "degree-sequence"),
        ("k-candidates:k=2,knowledge=H2", "k-match"),
        ("k-neighborhood:k=2", "alike-neighborhoods"),
        ("k-automorphism:k=2", "k-match"),
        ("k-isomorphism:k=2", "k-match"),
        ("edge-confidence:limit=0.9", "random-change"),
        ("l-opacity:limit=0.9", "opacity-greedy"),
        ("k-anonymity:k=2", "sangreea"),
    ],
)
def test_the_model_chooses_the_search_unless_one_is_named(tmp_path, run, model, algorithm):
    nx.write_gml(nx.relabel_nodes(nx.karate_club_graph(), str), tmp_path / "club.gml")
    done = run("network", "anonymize", tmp_path / "club.gml", "--model", model, "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    recipe = S.read_recipe(tmp_path / "out" / "internal" / "recipe.toml")
    assert recipe.algorithm.name == algorithm
    release = S.anonymize(S.read(tmp_path / "club.gml"), models=recipe.models, secret=recipe.secret)
    assert release.recipe.algorithm == recipe.algorithm


def test_models_that_no_search_keeps_by_itself_are_refused_with_a_way_on(tmp_path, run, friends):
    asked = ("network", "anonymize", friends, "--out", tmp_path / "out", "--model")
    done = run(*asked, "relation-belief:limit=0.3,leaks=home=0.3")
    assert done.exit_code == 2
    assert "kind-removal:sensitive=love" in done.output
    done = run(*asked, "k-degree:k=2", "--model", "l-opacity:limit=0.5")
    assert done.exit_code == 2
    assert "No algorithm keeps k-degree and l-opacity" in done.output


def test_an_audit_reads_the_files_alone(tmp_path, friends, run):
    done = run(
        "network",
        "anonymize",
        friends,
        "--model",
        "k-automorphism:k=2",
        "--algorithm",
        "k-match:turns=5",
        "--out",
        tmp_path / "out",
    )
    assert done.exit_code == 0, done.output
    public, internal = tmp_path / "out" / "public", tmp_path / "out" / "internal"
    undecided = run("network", "audit", public, "--recipe", internal / "recipe.toml")
    assert (undecided.exit_code, "DOES NOT HOLD" in undecided.output) == (1, True)
    assert "promises not decided 1" in undecided.output
    assert "--alignment" in undecided.output
    proven = run(
        "network",
        "audit",
        public,
        "--recipe",
        internal / "recipe.toml",
        "--alignment",
        internal / "alignment.csv",
        "--json",
    )
    assert (proven.exit_code, json.loads(proven.output)["holds"]) == (0, True)
    implied = run("network", "audit", public, "--model", "k-candidates:k=2,knowledge=stable")
    assert implied.exit_code == 0
    original = run("network", "audit", friends, "--model", "k-candidates:k=2,knowledge=H2")
    assert original.exit_code == 1


def test_persons_have_roles(tmp_path, friends, run):
    people = tmp_path / "people.csv"
    rows = [f"{key},{30 + key % 7},{'flu' if key % 3 else 'cold'}" for key in range(34)]
    people.write_text("\n".join(["key,age,disease", *rows]) + "\n")
    done = run(
        "network",
        "anonymize",
        friends,
        "--persons",
        people,
        "--quasi",
        "age",
        "--sensitive",
        "disease",
        "--model",
        "p-sensitive-k-anonymity:p=2,k=4,sensitive=disease",
        "--algorithm",
        "sangreea",
        "--out",
        tmp_path / "out",
    )
    assert done.exit_code == 0, done.output
    recipe = tmp_path / "out" / "internal" / "recipe.toml"
    assert run("network", "audit", tmp_path / "out" / "public", "--recipe", recipe).exit_code == 0
    again = run("network", "anonymize", friends, "--persons", people, "--recipe", recipe, "--out", tmp_path / "two")
    assert again.exit_code == 0, again.output
    one, two = (tmp_path / name / "public" / "persons.csv" for name in ("out", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_attributes_of_persons_have_hierarchies(tmp_path, friends, run):
    people, cities = tmp_path / "people.csv", tmp_path / "city.csv"
    rows = [f"{key},{20 + key},{['Ulm', 'Aalen', 'Bonn'][key % 3]},{'flu' if key % 3 else 'cold'}" for key in range(34)]
    people.write_text("\n".join(["key,age,city,disease", *rows]) + "\n")
    cities.write_text("Ulm;south;*\nAalen;south;*\nBonn;west;*\n")
    asked = ["--persons", people, "--quasi", "age,city", "--sensitive", "disease"]
    asked += ["--hierarchy", "age=intervals:10,20", "--hierarchy", f"city={cities}"]
    model = ["--model", "p-sensitive-k-anonymity:p=2,k=4,sensitive=disease", "--algorithm", "sangreea"]
    done = run("network", "anonymize", friends, *asked, *model, "--out", tmp_path / "one")
    assert done.exit_code == 0, done.output
    public, recipe = tmp_path / "one" / "public", tmp_path / "one" / "internal" / "recipe.toml"
    shown = pd.read_csv(public / "persons.csv")
    assert set(shown["city"]) <= {"Ulm", "Aalen", "Bonn", "south", "*"}
    assert "south" in set(shown["city"])
    assert {int(low) % 10 for low in shown["age"].str.extract(r"\[(\d+), ")[0].dropna()} == {0}
    assert run("network", "audit", public, "--recipe", recipe).exit_code == 0
    again = run("network", "anonymize", friends, "--persons", people, "--recipe", recipe, "--out", tmp_path / "two")
    assert again.exit_code == 0, again.output
    S.run_recipe(S.read_recipe(recipe), S.read(friends, persons=people)).write(tmp_path / "three")
    for path in (tmp_path / "one").rglob("*.*"):
        for other in ("two", "three"):
            assert path.read_bytes() == (tmp_path / other / path.relative_to(tmp_path / "one")).read_bytes()
    missing = run("network", "anonymize", friends, "--recipe", recipe, "--out", tmp_path / "four")
    assert (missing.exit_code, "give it by --persons" in missing.output) == (2, True)
    options = ["--knowledge", "H1", "--seeds", "5", "--plantings", "2", "--seed", "1"]
    attacked = run("network", "attack", public, "--with", friends, "--persons", people, "--recipe", recipe, *options)
    assert "attribute by majority of 'disease'" in attacked.output
    unknown = run("network", "audit", friends, *asked[:2], "--hierarchy", "age=prefixes", "--model", "k-degree:k=2")
    assert (unknown.exit_code, "has no role" in unknown.output) == (2, True)


def test_edges_are_in_any_columns(tmp_path, run):
    path = tmp_path / "edges.csv"
    path.write_text("since,one,other\n1990,1,2\n1991,2,3\n1992,3,1\n")
    done = run("network", "audit", path, "--edge-columns", "one,other", "--model", "k-degree:k=3")
    assert done.exit_code == 0, done.output
    wrong = run("network", "audit", path, "--edge-columns", "one", "--model", "k-degree:k=3")
    assert (wrong.exit_code, "two columns" in wrong.output) == (2, True)


def test_what_is_left_out_is_told(tmp_path, run):
    path = tmp_path / "loops.txt"
    path.write_text("1 1\n1 2\n2 1\n2 3\n3 4\n4 1\n")
    refused = run("network", "audit", path, "--model", "k-degree:k=2")
    assert (refused.exit_code, "1 self-loops" in refused.output) == (2, True)
    told = run("network", "audit", path, "--model", "k-degree:k=2", "--simplify")
    assert (told.exit_code, "1 double edges were left out" in told.output) == (0, True)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "--model"),
        (["--algorithm", "sangrea", "--model", "k-degree:k=2"], "did you mean 'sangreea'"),
        (["--algorithm", "sangreea"], "--model"),
        (["--algorithm", "sangreea", "--model", "k-degree:k=2"], "cannot keep k-degree"),
    ],
)
def test_bad_requests_are_refused(tmp_path, friends, run, options, why):
    done = run("network", "anonymize", friends, *options, "--out", tmp_path / "out")
    assert (done.exit_code, why in done.output) == (2, True)
    assert not (tmp_path / "out").exists()


def test_an_attack_compares_the_original_with_the_release(tmp_path, friends, run):
    asked = ["--model", "k-anonymity:k=5", "--algorithm", "sangreea", "--out", tmp_path / "out"]
    assert run("network", "anonymize", friends, *asked).exit_code == 0
    public, recipe = tmp_path / "out" / "public", tmp_path / "out" / "internal" / "recipe.toml"
    options = ["--with", friends, "--recipe", recipe, "--knowledge", "H1,H2", "--seeds", "5", "--plantings", "2"]
    done = run("network", "attack", public, *options, "--seed", "1", "--json")
    assert done.exit_code == 0, done.output
    found = {side: each["attacks"] for side, each in json.loads(done.stdout).items()}
    assert [each["attack"] for each in found["original"]][:2] == ["structure by H1", "structure by H2"]
    assert found["original"][1]["successes"] == 23
    assert found["published"][1]["successes"] < 5
    assert "planted persons" in run("network", "attack", public, *options).output
    other = tmp_path / "other.txt"
    nx.write_edgelist(nx.path_graph(34), other, data=False)
    refused = run("network", "attack", public, "--with", other, *options[2:])
    assert refused.exit_code == 2
    assert "give what it was made from" in refused.output


@pytest.fixture
def relations(tmp_path):
    rows = ["source,target,kind"]
    for place, (one, other) in enumerate(nx.karate_club_graph().edges):
        rows += [f"{one},{other},{kind}" for kind, each in (("home", 2), ("work", 3), ("love", 5)) if place % each == 0]
    path = tmp_path / "relations.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("keep", ["some", "clusters"])
def test_sensitive_relations_are_published_judged_and_attacked(tmp_path, relations, run, keep):
    model = "relation-belief:limit=0.3,leaks=home=0.3+work=0.2"
    asked = ["--kind", "kind", "--model", model, "--algorithm", f"kind-removal:sensitive=love,keep={keep}"]
    done = run("network", "anonymize", relations, *asked, "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["measures"]["relations-removed"] >= 16
    public, recipe = tmp_path / "out" / "public", tmp_path / "out" / "internal" / "recipe.toml"
    assert run("network", "audit", public, "--recipe", recipe).exit_code == 0
    stricter = run("network", "audit", public, "--model", "relation-belief:limit=0.3,leaks=home=0.9+work=0.2")
    assert stricter.exit_code == 1
    again = run("network", "anonymize", relations, "--recipe", recipe, "--out", tmp_path / "two")
    assert again.exit_code == 0, again.output
    for path in public.iterdir():
        assert path.read_bytes() == (tmp_path / "two" / "public" / path.name).read_bytes()
    options = ["--recipe", recipe, "--knowledge", "H1", "--seeds", "3", "--plantings", "2", "--seed", "1", "--json"]
    attacked = run("network", "attack", public, "--with", relations, *options)
    assert json.loads(attacked.stdout)["published"]["attacks"], attacked.output


@pytest.mark.parametrize(
    "asked",
    [
        ("l-opacity:length=1,limit=0.3", "opacity-greedy:edges=move", "original_degree"),
        ("edge-confidence:limit=0.8", "edge-switching:runs=10", "switched"),
    ],
)
def test_what_an_audit_needs_is_in_the_files(tmp_path, friends, run, asked):
    model, algorithm, column = asked
    done = run("network", "anonymize", friends, "--model", model, "--algorithm", algorithm, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    public, recipe = tmp_path / "out" / "public", tmp_path / "out" / "internal" / "recipe.toml"
    assert any(column in path.read_text() for path in public.glob("*.csv"))
    assert run("network", "audit", public, "--recipe", recipe).exit_code == 0
    options = ["--recipe", recipe, "--knowledge", "H1", "--seeds", "3", "--plantings", "2", "--seed", "1", "--json"]
    assert json.loads(run("network", "attack", public, "--with", friends, *options).stdout)["published"]["attacks"]
    assert run("network", "audit", friends, "--model", model).exit_code == 1
