"""`sfumato baskets`: the same files as in Python, judged and attacked from the folder."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli._application import app
from sfumato.datasets.retail import generate_transactions


def run(*words, code=0):
    done = CliRunner().invoke(app, ["baskets", *map(str, words)])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    baskets, tree = generate_transactions(200, items=300, seed=2)
    (folder / "shop.dat").write_text("".join(" ".join(each) + "\n" for each in baskets.to_lists()) + "\n")
    (folder / "tree.csv").write_text(tree.hierarchy.to_csv())
    long = "".join(f"{row},{item}\n" for row, each in enumerate(baskets.to_lists()) for item in each)
    (folder / "shop.csv").write_text(f"who,what\n{long}")
    return folder, baskets, tree


def same(one, two):
    files = {path.relative_to(one) for path in one.rglob("*") if path.is_file()}
    assert files == {path.relative_to(two) for path in two.rglob("*") if path.is_file()}
    return all((one / name).read_bytes() == (two / name).read_bytes() for name in files)


def test_the_command_writes_what_python_writes(shop, tmp_path):
    folder, _, tree = shop
    asked = ("--model", "km-anonymity:k=3,m=2", "--algorithm", "local-recoding:part_size=50")
    done = run("anonymize", folder / "shop.dat", *asked, "--taxonomy", folder / "tree.csv", "--out", tmp_path / "one")
    assert "Audit: holds" in done.output
    search = sf.transactions.LocalRecodingAnonymization(taxonomy=tree, part_size=50)
    release = sf.transactions.anonymize(
        sf.transactions.read(folder / "shop.dat"), models=[sf.transactions.KmAnonymity(k=3, m=2)], algorithm=search
    )
    release.write(tmp_path / "two")
    assert same(tmp_path / "one", tmp_path / "two")
    run(
        "anonymize", folder / "shop.dat", "--recipe", tmp_path / "one/internal/recipe.toml", "--out", tmp_path / "three"
    )
    assert same(tmp_path / "one", tmp_path / "three")


@pytest.mark.parametrize(
    ("asked", "algorithm"),
    [
        (("km-anonymity:k=3,m=2",), "disassociation"),
        (("km-anonymity:k=3,m=2", "--fan-out", "4"), "apriori-anonymization"),
        (("set-k-anonymity:k=3",), "top-down-partition"),
        (("coherence:h=0.9,k=3,p=1",), "greedy-suppression"),
        (("rho-uncertainty:rho=0.9,most=1",), "greedy-suppression"),
    ],
)
def test_the_model_chooses_the_search_unless_one_is_named(shop, tmp_path, asked, algorithm):
    folder, baskets, _ = shop
    sensitive = () if "k-anon" in asked[0] or "km" in asked[0] else ("--sensitive", baskets.items[0])
    run("anonymize", folder / "shop.dat", "--model", *asked, *sensitive, "--out", tmp_path / "out")
    recipe = sf.transactions.read_recipe(tmp_path / "out/internal/recipe.toml")
    assert recipe.algorithm.name == algorithm
    if "--fan-out" not in asked:
        marked = sf.transactions.read(folder / "shop.dat", sensitive=sensitive[1:])
        release = sf.transactions.anonymize(marked, models=recipe.models, secret=recipe.secret)
        assert release.recipe.algorithm == recipe.algorithm


def test_groups_that_nobody_named_are_published_by_their_items(shop, tmp_path):
    folder, baskets, _ = shop
    run("anonymize", folder / "shop.dat", "--model", "km-anonymity:k=9,m=2", "--fan-out", 3, "--out", tmp_path / "out")
    read = sf.transactions.read_published(tmp_path / "out/public")
    groups = [name for name in read.items if name not in baskets.items]
    assert groups
    for name in groups:
        held = name.strip("{}").replace("..", ",").split(",")
        assert name == "*" or {*held} <= {*baskets.items}


def test_long_tables_are_read_by_their_columns_and_by_the_recipe(shop, tmp_path):
    folder, baskets, _ = shop
    run(
        *("anonymize", folder / "shop.csv", "--person", "who", "--item", "what", "--model", "km-anonymity:k=3,m=1"),
        *("--fan-out", 3, "--format", "parquet", "--no-report", "--out", tmp_path / "one"),
    )
    assert not (tmp_path / "one/internal/report.html").exists()
    recipe = sf.transactions.read_recipe(tmp_path / "one/internal/recipe.toml")
    assert recipe.input == {"person": "who", "item": "what", "baskets": 200, "sha256": baskets.digest}
    run("anonymize", folder / "shop.csv", "--recipe", tmp_path / "one/internal/recipe.toml", "--out", tmp_path / "two")


def test_the_audit_reads_the_folder_alone(shop, tmp_path):
    folder, _, _ = shop
    run("anonymize", folder / "shop.dat", "--model", "km-anonymity:k=3,m=2", "--out", tmp_path / "out")
    public, recipe = tmp_path / "out/public", tmp_path / "out/internal/recipe.toml"
    found = json.loads(run("audit", public, "--recipe", recipe, "--json").output)
    assert found["holds"]
    assert found["models"][0]["parameters"] == {"k": 3, "m": 2}
    assert "DOES NOT HOLD" in run("audit", folder / "shop.dat", "--model", "km-anonymity:k=3,m=2", code=1).output
    attacked = run("attack", public, "--with", folder / "shop.dat", "--recipe", recipe, "--seed", 1, "--json")
    told = json.loads(attacked.stdout)
    assert told["published"]["attacks"][0]["successes"] == 0
    assert told["original"]["attacks"][1]["successes"] > 0
    assert (
        "rarest-items" in run("attack", public, "--with", folder / "shop.dat", "--recipe", recipe, "--seed", 1).output
    )
    raw = ("attack", folder / "shop.dat", "--with", folder / "shop.dat", "--seed", 1)
    assert "NOT LIMITED" in run(*raw).output  # nothing is judged
    assert "Threshold 0.1: DOES NOT HOLD" in run(*raw, "--threshold", 0.1, code=1).output
    assert "--threshold must be between 0 and 1" in run(*raw, "--threshold", 2, code=2).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say what to promise by --model; choose from"),
        (("--model", "km-anonymity:k=3"), "also needs m"),
        (("--model", "km-anonimity:k=3,m=2"), "did you mean 'km-anonymity'"),
        (("--model", "km-anonymity:k=3,m=0"), "m of km-anonymity must be"),
        (("--model", "km-anonymity:k=999,m=1"), "there are only 200 baskets"),
        (("--model", "km-anonymity:k=3,m=2", "--algorithm", "apriori"), "There is no algorithm 'apriori'"),
        (("--model", "km-anonymity:k=3,m=2", "--recipe", "absent.toml"), "A recipe says what"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(shop, tmp_path, words, said):
    folder, _, _ = shop
    done = run("anonymize", folder / "shop.dat", *words, "--out", tmp_path / "out", code=2)
    assert said in done.output
    assert done.output.count("\n") == 1 or done.output.startswith("Note:")
    assert not (tmp_path / "out").exists()


def test_what_is_united_and_left_out_is_said(tmp_path):
    (tmp_path / "some.dat").write_text("a b\n\na b\n")
    done = run("anonymize", tmp_path / "some.dat", "--model", "km-anonymity:k=2,m=2", "--out", tmp_path / "out")
    assert "1 persons have no items" in done.output
