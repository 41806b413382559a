"""Releases of baskets: written, read back, judged, measured, attacked, and made again."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.algorithm import Request
from sfumato.datasets.retail import generate_transactions
from sfumato.errors import (
    GuaranteeViolatedError,
    InvalidParameterError,
    ReadError,
    SchemaError,
    UnsupportedModelError,
    WriteError,
)
from sfumato.transactions.algorithms.apriori_anonymization import AprioriAnonymization
from sfumato.transactions.algorithms.local_recoding_anonymization import LocalRecodingAnonymization
from sfumato.transactions.metrics import default_pairs, relative_error, top_k_deviation
from sfumato.transactions.models.km_anonymity import KmAnonymity
from sfumato.transactions.transactions import Transactions

LISTS = [["canary one", "b1"], ["canary one", "b1"], ["a2", "b1"], ["a2", "b2"], ["canary one", "b2"], []]
TREE = sf.hierarchies.Taxonomy({"A": ["canary one", "a2"], "B": ["b1", "b2"]})
K2 = KmAnonymity(k=2, m=2)


@pytest.fixture(scope="module")
def shop():
    return generate_transactions(300, items=200, seed=3)


@pytest.fixture(scope="module")
def release():
    baskets = Transactions(LISTS, sensitive=["b2"])
    return sf.transactions.anonymize(baskets, models=[K2], algorithm=AprioriAnonymization(taxonomy=TREE))


@pytest.mark.parametrize("form", ["csv", "parquet", "fimi"])
def test_a_written_release_reads_as_what_was_judged(tmp_path, release, form):
    release.write(tmp_path / "out", table_format=form)
    read = sf.transactions.read_published(tmp_path / "out" / "public")
    assert read == release.transactions
    assert sf.transactions.audit(read, models=[K2]).holds
    told = json.loads((tmp_path / "out" / "public" / "promise.json").read_text())
    assert told["kind"] == "baskets"
    assert {each["name"] for each in told["files"]} == {f"baskets.{'dat' if form == 'fimi' else form}", "items.csv"}


def test_nothing_public_tells_of_items_that_are_not_published(tmp_path, release):
    assert release.transactions.items == ("A", "b1", "b2")
    release.write(tmp_path / "out")
    public = "".join(path.read_text() for path in (tmp_path / "out" / "public").iterdir())
    assert "canary" not in public
    assert "canary" not in repr(release)
    assert "canary" in (tmp_path / "out" / "internal" / "recipe.toml").read_text()


def test_published_baskets_stand_in_an_order_that_tells_nothing(release):
    lists = release.transactions.to_lists()
    assert lists == sorted(lists)
    assert len(lists) == 5
    assert release.transactions.origin is None


def test_the_report_compares_before_and_after(release):
    page = release.report().html
    assert "Baskets and items" in page
    assert "1 persons without items" in page
    assert page.count("<svg") >= 3


def test_fimi_text_refuses_blanks_in_names(tmp_path):
    same = sf.transactions.anonymize(
        Transactions([["a b"], ["a b"], ["c"], ["c"]]),
        models=[K2],
        algorithm=AprioriAnonymization(taxonomy=sf.hierarchies.Taxonomy(["a b", "c"])),
    )
    with pytest.raises(SchemaError, match="1 items have blanks"):
        same.write(tmp_path / "out", table_format="fimi")
    with pytest.raises(WriteError, match="not written as 'xml'"):
        same.write(tmp_path / "out", table_format="xml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ['say "hi"', "two\nlines", "comma, dot", "NA", "null", " spaced ", "=1+1"])
def test_odd_names_survive_the_file(tmp_path, name):
    baskets = Transactions([[name], [name], [name, "b"], ["b", name]])
    tree = sf.hierarchies.Taxonomy([name, "b"])
    made = sf.transactions.anonymize(baskets, models=[K2], algorithm=AprioriAnonymization(taxonomy=tree))
    made.write(tmp_path / "out", report=False)
    assert name in sf.transactions.read_published(tmp_path / "out" / "public").items


def test_a_search_that_breaks_its_promise_is_withheld():
    class Lazy(AprioriAnonymization):
        def search(self, request):
            return request.data

    with pytest.raises(GuaranteeViolatedError, match="withheld"):
        sf.transactions.anonymize(Transactions(LISTS), models=[K2], algorithm=Lazy(taxonomy=TREE))


def test_a_folder_without_baskets_is_refused(tmp_path):
    with pytest.raises(ReadError, match="no published baskets"):
        sf.transactions.read_published(tmp_path)


def test_the_table_of_items_must_fit_the_baskets(tmp_path, release):
    release.write(tmp_path / "out")
    items = tmp_path / "out" / "public" / "items.csv"
    items.write_text("".join(items.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(SchemaError, match="does not list the items"):
        sf.transactions.read_published(tmp_path / "out" / "public")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"models": []}, "anonymize.models"),
        ({"models": [sf.models.KAnonymity(k=2)]}, "anonymize.models"),
        ({"algorithm": sf.algorithms.Mondrian()}, "anonymize.algorithm"),
        ({"baskets": LISTS}, "anonymize.baskets"),
    ],
)
def test_what_cannot_be_asked_is_refused(changed, said):
    asked = {"baskets": Transactions(LISTS), "models": [K2], "algorithm": AprioriAnonymization(taxonomy=TREE)} | changed
    with pytest.raises(InvalidParameterError, match=said):
        sf.transactions.anonymize(asked.pop("baskets"), **asked)


def test_a_search_refuses_promises_that_it_cannot_keep():
    promise = sf.transactions.LKCPrivacy(L=1, K=1, C=1.0, sensitive="s")
    with pytest.raises(UnsupportedModelError, match="cannot keep lkc-privacy; promise km-anonymity"):
        sf.transactions.anonymize(Transactions(LISTS), models=[promise], algorithm=AprioriAnonymization(taxonomy=TREE))


def test_a_recipe_makes_the_same_files_again(tmp_path, release):
    release.write(tmp_path / "one")
    recipe = sf.transactions.read_recipe(tmp_path / "one" / "internal" / "recipe.toml")
    sf.transactions.run_recipe(recipe, Transactions(LISTS, sensitive=["b2"])).write(tmp_path / "two")
    for path in sorted((tmp_path / "one").rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_losses_count_every_original_occurrence(release):
    assert release.metrics["ncp"] == pytest.approx(0.5 * 0.5)  # half of the occurrences, each half of the items
    assert release.metrics["occurrences lost"] == 0
    without = Transactions([["a"], ["b"]])
    removed = Transactions([["a"]]).with_provenance(origin=np.array([0]))
    assert removed.information_loss(without) == {"ncp": 0.5, "occurrences lost": 0.5}


def test_local_losses_are_those_of_the_own_part(shop):
    baskets, tree = shop
    made = LocalRecodingAnonymization(taxonomy=tree, part_size=100)
    found = made.search(Request(data=baskets, models=[K2]))
    names = found.tree.names
    above = {name: names[at] if at >= 0 else None for name, at in zip(names, found.tree.parents.tolist(), strict=True)}
    leaves = dict(zip(names, found.tree.leaves.tolist(), strict=True))
    paid, originals = [], baskets.to_lists()
    for row, items in zip(found.origin.tolist(), found.to_lists(), strict=True):
        for leaf in originals[row]:
            node = leaf
            while node not in items:
                node = above[node]
            paid.append(0.0 if node == leaf else leaves[node] / len(tree.rows))
    assert found.has_generalized_items
    assert found.information_loss(baskets)["ncp"] == pytest.approx(np.mean(paid))


def test_top_pairs_and_errors_follow_their_formulas():
    original = Transactions([["a", "b"]] * 3 + [["a", "c"]] * 2 + [["b", "c"]])
    fewer = Transactions([["a", "b"]] * 3 + [["a"], ["c"]] * 2 + [["b", "c"]])
    assert original.top_pairs(2) == [("a", "b"), ("a", "c")]
    assert fewer.top_pairs(2) == [("a", "b"), ("b", "c")]
    assert top_k_deviation(fewer, original, 2) == 0.5
    assert relative_error(fewer, original) == pytest.approx((0 + 2 + 0) / 3)
    assert relative_error(fewer, original, [("a", "c")]) == 2.0
    assert relative_error(original, original, []) == 0.0
    assert default_pairs(original) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_top_pairs_are_those_of_all_pairs(shop):
    baskets, _ = shop
    lists = baskets.to_lists()
    counts = {(one, two): 0 for one in baskets.items for two in baskets.items if one < two}
    for each in lists:
        for at, one in enumerate(each):
            for two in each[at + 1 :]:
                counts[one, two] += 1
    held = {pair: count for pair, count in counts.items() if count}
    assert baskets.top_pairs(30) == sorted(held, key=lambda pair: (-counts[pair], pair))[:30]


def test_groups_share_their_supports_alike(release):
    supports = release.transactions.pair_supports([("canary one", "b1"), ("canary one", "a2"), ("b1", "b2")])
    assert supports.tolist() == [3 / 2, 5 / 4, 0.0]


def test_attacks_find_fewer_after_the_release(shop):
    baskets, tree = shop
    made = sf.transactions.anonymize(baskets, models=[K2], algorithm=AprioriAnonymization(taxonomy=tree))
    before = sf.transactions.attack(baskets, baskets, m=2, k=2, targets=200, seed=1)
    after = sf.transactions.attack(made.transactions, baskets, m=2, k=2, targets=200, seed=1)
    assert [each.attack for each in before] == ["random-items", "rarest-items", "popular-items", "score-matching"]
    assert before.result("rarest-items").rate > before.result("random-items").rate
    assert before.result("random-items").rate > before.result("popular-items").rate
    for choice in ("random", "rarest", "popular"):
        assert after.result(f"{choice}-items").successes == 0
        assert after.result(f"{choice}-items").details["fewer_than_2"] == 0
    assert (
        sf.transactions.attack(made.transactions, baskets, m=2, k=2, targets=200, seed=1).to_dict() == after.to_dict()
    )


def test_attacks_on_groups_need_their_taxonomy(shop, tmp_path):
    baskets, tree = shop
    made = sf.transactions.anonymize(baskets, models=[K2], algorithm=AprioriAnonymization(taxonomy=tree))
    made.write(tmp_path / "out", report=False)
    read = sf.transactions.read_published(tmp_path / "out" / "public")
    with pytest.raises(InvalidParameterError, match="give the taxonomy"):
        sf.transactions.attack(read, baskets)
    known = sf.transactions.attack(read, baskets, taxonomy=tree, seed=1)
    assert known.to_dict() == sf.transactions.attack(made.transactions, baskets, seed=1).to_dict()
    with pytest.raises(InvalidParameterError, match=r"attack\.m"):
        sf.transactions.attack(baskets, baskets, m=0)


def test_score_matching_is_skipped_where_nothing_can_stand_out():
    tiny = Transactions([["a"], ["b"]])
    assert "3 baskets" in sf.transactions.attack(tiny, tiny, seed=1).skipped["score-matching"]


def test_made_up_baskets_have_a_long_tail_and_belong_together():
    baskets, tree = generate_transactions(3000, items=200, seed=5)
    supports = np.sort(baskets.supports)[::-1]
    assert supports[0] > 10 * np.median(supports)
    assert baskets == generate_transactions(3000, items=200, seed=5)[0]
    assert set(baskets.items) <= {row[0] for row in tree.rows}
    aisles = {row[0]: row[2] for row in tree.rows}
    pairs = [(one, two) for each in baskets.to_lists() for one, two in pairwise(each)]
    together = np.mean([aisles[one] == aisles[two] for one, two in pairs])
    turned = np.mean([aisles[one] == aisles[two] for (one, _), (_, two) in zip(pairs, pairs[7:], strict=False)])
    assert together > 1.5 * turned
    with pytest.raises(InvalidParameterError, match=r"generate_transactions\.count"):
        generate_transactions(0)


def test_the_secret_is_recorded_only_where_it_is_needed(release):
    assert release.recipe.secret is None
    assert replace(release.recipe, secret="5f" * 32).to_dict()["sfumato"]["secret"] == "5f" * 32
