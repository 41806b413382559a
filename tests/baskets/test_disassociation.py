"""Disassociation: clusters and chunks by the book, judged against all baskets that a release may have come from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from disassociation_oracle import chunks_by_the_book, clusters_by_the_book, most_baskets, reconstructions
from drawn_examples import examples
from sfumato._randomness import KeyedRandom
from sfumato.core.algorithm import Request
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError, UnsupportedModelError
from sfumato.transactions.algorithms.disassociation import partition_transactions, refine_clusters
from sfumato.transactions.disassociated_transactions import ChunkAssignment, DisassociatedTransactions

LISTS = st.lists(st.sets(st.sampled_from("abcdefg"), min_size=1), min_size=2, max_size=14)
REPEATS = KeyedRandom("5f" * 32)


def tables_of(*clusters):
    """Make the tables of clusters, each given by its size, chunks of parts, terms and, if any, its joint cluster."""
    parts = [
        (number, chunk, part, item)
        for number, (_, chunks, _, *_) in enumerate(clusters, 1)
        for chunk, held in enumerate(chunks, 1)
        for part, items in enumerate(held, 1)
        for item in items
    ]
    terms = [(number, item) for number, (_, _, held, *_) in enumerate(clusters, 1) for item in held]
    sizes = [(number, each[0], each[3] if len(each) > 3 else None) for number, each in enumerate(clusters, 1)]
    return (
        table_of(parts, cluster=pa.int64(), chunk=pa.int64(), part=pa.int64(), item=pa.string()),
        table_of(terms, cluster=pa.int64(), item=pa.string()),
        table_of(sizes, cluster=pa.int64(), baskets=pa.int64(), within=pa.int64()),
    )


def table_of(rows, **types):
    columns = zip(*rows, strict=True) if rows else [[] for _ in types]
    return pa.table(
        [pa.array(list(each), kind) for each, kind in zip(columns, types.values(), strict=True)], list(types)
    )


def disassociated(*clusters):
    return DisassociatedTransactions.from_tables(*tables_of(*clusters))


def found(lists, k=2, m=2, **settings):
    models = [sf.transactions.KmAnonymity(k=k, m=m)]
    request = Request(data=sf.transactions.Transactions(lists), models=models, stream=KeyedRandom("5f" * 32))
    return sf.transactions.Disassociation(**settings).search(request)


def test_parts_that_no_empty_basket_allows_together_break_the_promise():
    forced = disassociated((3, [["a", "a"], ["bc", "bc"]], ""))
    assert forced.count_rare_itemsets(2, 2) == (1, 1)
    assert most_baskets(reconstructions(3, [["a", "a"], ["bc", "bc"]], ""), 2)["a", "b"] == 1
    assert disassociated((3, [["a", "a"], ["b", "b"]], "c")).count_rare_itemsets(2, 2) == (2, 0)
    repaired = found([["a"], ["a", "b", "c"], ["b", "c"]])
    assert repaired.count_rare_itemsets(2, 2) == (2, 0)
    assert len(repaired.terms) == 1


@st.composite
def clusters(draw):
    size = draw(st.integers(2, 4))
    order = draw(st.permutations("abcd"))
    cuts = sorted(draw(st.lists(st.integers(0, 4), min_size=2, max_size=2)))
    owned = [order[: cuts[0]], order[cuts[0] : cuts[1]]]
    chunks = []
    for items in filter(None, owned):
        parts = draw(st.lists(st.sets(st.sampled_from(items), min_size=1), min_size=1, max_size=size))
        chunks.append(["".join(sorted(part)) for part in parts])
    terms = "".join(order[cuts[1] :][: draw(st.integers(0, 1))])
    return size, chunks, terms


@given(clusters(), st.integers(1, 3), st.integers(2, 3))
@examples(120)
def test_the_three_conditions_are_right_for_every_reconstruction(cluster, m, k):
    size, chunks, terms = cluster
    possible = most_baskets(reconstructions(size, chunks, terms), m)
    if not possible:
        return
    level, broken = disassociated(cluster).count_rare_itemsets(k, m)
    assert (level >= k) == (broken == 0) == (min(possible.values()) >= k and size >= k)


@given(clusters())
@examples(60)
def test_bounds_hold_for_every_reconstruction_and_expectations_are_means(cluster):
    size, chunks, terms = cluster
    tables = list(reconstructions(size, chunks, terms))
    if not tables:
        return
    published = disassociated(cluster)
    for items in ("a", "ab", "cd", "abc", "abcd"):
        counts = [sum(set(items) <= basket for basket in table) for table in tables]
        told = sf.transactions.reconstruction.estimate_support(published, items)
        assert told.lower <= min(counts)
        assert max(counts) <= told.upper
        assert told.lower <= told.expected + 1e-9
        assert told.expected <= size
        if not terms:
            assert told.upper == max(counts)
    if not terms:  # with empty baskets allowed, chunks are independent, and means are what is expected
        tables = reconstructions(size, chunks, "", empty=True)
        means = np.mean([sum(set("ab") <= basket for basket in table) for table in tables])
        assert sf.transactions.reconstruction.estimate_support(published, "ab").expected == pytest.approx(means)


@given(LISTS, st.integers(1, 3), st.integers(2, 6))
@examples(100)
def test_clusters_are_those_of_the_book(lists, k, most):
    if len(lists) < k:
        return
    baskets = sf.transactions.Transactions(lists)
    places = partition_transactions(baskets, k, 1, most)
    ours = [sorted(places.rows[a:b].tolist()) for a, b in zip(places.begins[:-1], places.begins[1:], strict=True)]
    assert ours == clusters_by_the_book(baskets.to_lists(), k, most)
    assert min(map(len, ours)) >= k


@given(LISTS, st.integers(1, 3), st.integers(1, 4))
@examples(100)
def test_chunks_are_those_of_the_book(lists, k, m):
    baskets = sf.transactions.Transactions(lists)
    places = partition_transactions(baskets, min(k, len(baskets)), m, 99)
    wanted = chunks_by_the_book(baskets.to_lists(), min(k, len(baskets)), m)
    held = {}
    for code, chunk in zip(baskets.codes.tolist(), places.chunk.tolist(), strict=True):
        held.setdefault(chunk, set()).add(baskets.items[code])
    ours = [sorted(held[chunk]) for chunk in sorted(held) if chunk]
    assert ours in (wanted, _repaired(wanted, baskets))


def _repaired(chunks, baskets):
    """Move the rarest item of the last chunk to the terms, as condition 3 may ask for."""
    counts = {name: int(count) for name, count in zip(baskets.items, baskets.supports, strict=True)}
    if not chunks:
        return []
    rarest = min(chunks[-1], key=lambda item: (counts[item], item))
    return [chunk for chunk in [*chunks[:-1], [item for item in chunks[-1] if item != rarest]] if chunk]


@given(LISTS, st.integers(2, 3), st.integers(1, 3), st.booleans())
@examples(100)
def test_what_is_found_keeps_the_promise_and_may_be_the_original(lists, k, m, joint):
    if len(lists) < k:
        return
    baskets = sf.transactions.Transactions(lists)
    published = found(lists, k, m, most=4, joint=joint)
    again = DisassociatedTransactions.from_tables(*published.to_tables())
    assert again == published
    level, broken = again.count_rare_itemsets(k, m)
    assert level >= k
    assert broken == 0
    for items in ("a", "b", "ab", "cd", "abc"):
        told = sf.transactions.reconstruction.estimate_support(published, items)
        truth = sum(set(items) <= set(basket) for basket in baskets.to_lists())
        assert told.lower <= truth <= told.upper


@given(st.integers(0, 10**6))
@examples(60)
def test_sharing_chunks_keeps_the_promise_for_every_reconstruction_of_each_cluster(seed):
    drawn = np.random.default_rng(seed)
    lists = [[item for item in "abcde" if drawn.random() < 0.35] or ["a"] for _ in range(5)]
    baskets = sf.transactions.Transactions(lists)
    places = partition_transactions(baskets, 2, 2, 2)
    refine_clusters(places, 2, 2)
    published = DisassociatedTransactions.from_positions(places, REPEATS)
    if len(published.sizes) != 2 or len(published.above) != 3:
        return
    held = [{} for _ in published.above]
    parts, terms, _ = published.to_tables()
    for row in parts.to_pylist():
        held[row["cluster"] - 1].setdefault(row["chunk"], {}).setdefault(row["part"], set()).add(row["item"])
    chunks = [[list(each.values()) for each in owner.values()] for owner in held]
    for cluster, size in enumerate(published.sizes.tolist()):
        own = [row["item"] for row in terms.to_pylist() if row["cluster"] == cluster + 1]
        others = len(published) - size
        possible = most_baskets(reconstructions(size, chunks[cluster], own, chunks[2], others), 2)
        assert min(possible.values()) >= 2


def test_terms_leave_for_a_chunk_that_two_clusters_share():
    lists = [
        ["a", "b", "x"],
        ["a", "b"],
        ["a", "b"],
        ["c", "d", "x"],
        ["c", "d"],
        ["c", "d", "y"],
        ["a", "b", "y", "z"],
    ]
    alone, shared = found(lists, most=4, joint=False), found(lists, most=4)
    assert len(alone.terms) == 5
    assert len(shared.above) == len(shared.sizes) + 1
    assert len(shared.terms) < len(alone.terms)
    assert sf.transactions.reconstruction.estimate_support(
        shared, ["x"]
    ) == sf.transactions.reconstruction.SupportEstimate(lower=2, upper=2, expected=2.0)


def test_a_cluster_that_needs_a_term_keeps_one():
    """In both clusters only terms fill two of four baskets, so not all of them may leave."""
    baskets = sf.transactions.Transactions([["a", "b"], ["a", "b"], ["x"], ["y"], ["c", "d"], ["c", "d"], ["x"], ["y"]])
    chunk = np.where(np.array(baskets.items)[baskets.codes] < "x", 1, 0)
    owner = (baskets.rows >= 4).astype(np.int64)
    places = ChunkAssignment(
        baskets=baskets, rows=np.arange(8), begins=np.array([0, 4, 8]), chunk=chunk, owner=owner, above=[-1, -1]
    )
    refine_clusters(places, 2, 2)
    published = DisassociatedTransactions.from_positions(places, REPEATS)
    assert [published.items[code] for code in published.terms.tolist()] == ["x", "x"]
    assert sf.transactions.reconstruction.estimate_support(published, ["y"]).lower == 2
    assert published.count_rare_itemsets(2, 2) == (2, 0)


def test_numbers_of_parts_join_nothing_across_chunks():
    """Baskets ab and cd, 40 of each, in two chunks: the k-th part of one chunk says nothing of the other's."""
    published = disassociated((80, [["a"] * 40 + ["b"] * 40, ["c"] * 40 + ["d"] * 40], "z"))
    lists = [["a", "c"]] * 40 + [["b", "d"]] * 40
    codes = sf.transactions.Transactions(lists)
    agreed = []
    for number in range(30):
        places = partition_transactions(codes, 2, 1, 99)
        places.chunk[:] = np.where(codes.codes < 2, 1, 2)
        shuffled = DisassociatedTransactions.from_positions(places, KeyedRandom(f"{number:064x}"))
        agreed.append(int(((shuffled.codes[:80] == 0) == (shuffled.codes[80:] == 2)).sum()))
    assert abs(np.mean(agreed) - 40) < 5 * (80 / 4 / 30) ** 0.5 * 1.1
    assert published.min_expected_support() == 20


def test_the_same_secret_publishes_the_same_release():
    lists = [["a", "b"], ["a"], ["b", "c"], ["c"], ["a", "c"], ["b"]] * 2
    assert found(lists) == found(lists)
    models = [sf.transactions.KmAnonymity(k=2, m=2)]
    request = Request(data=sf.transactions.Transactions(lists), models=models, stream=KeyedRandom("6e" * 32))
    assert sf.transactions.Disassociation().search(request) != found(lists)


@given(LISTS, st.integers(0, 99))
@examples(60)
def test_a_sampled_table_is_a_reconstruction(lists, seed):
    published = found(lists, most=4)
    drawn = sf.transactions.reconstruction.sample_reconstruction(published, seed=seed)
    assert len(drawn) == len(published)
    assert drawn == sf.transactions.reconstruction.sample_reconstruction(published, seed=seed)
    for items in ("a", "b", "ab", "cd", "abc"):
        told = sf.transactions.reconstruction.estimate_support(published, items)
        assert told.lower <= sum(set(items) <= set(basket) for basket in drawn.to_lists()) <= told.upper


def as_set(table):
    return tuple(sorted("".join(sorted(basket)) for basket in table))


def test_every_reconstruction_of_a_cluster_can_be_drawn():
    cluster = (3, [["ab", "a"], ["c", "c"]], "z")
    published = disassociated(cluster)
    possible = {as_set(table) for table in reconstructions(*cluster)}
    drawn = {
        as_set(sf.transactions.reconstruction.sample_reconstruction(published, seed=at).to_lists()) for at in range(200)
    }
    assert drawn <= possible
    assert len(drawn) > 3


def test_no_basket_of_a_sampled_table_is_empty_though_there_are_no_terms():
    published = disassociated((3, [["a", "a"], ["b", "b"]], ""))
    for seed in range(20):
        assert as_set(sf.transactions.reconstruction.sample_reconstruction(published, seed=seed).to_lists()) == (
            "a",
            "ab",
            "b",
        )


def test_pairs_are_expected_as_if_chunks_were_independent():
    published = disassociated((4, [["ab", "ab", "a"], ["c", "c"]], "d"), (2, [["ac", "a"]], ""))
    pairs = [("a", "b"), ("a", "c"), ("b", "c"), ("a", "d"), ("c", "nothing")]
    wanted = [2, 3 * 2 / 4 + 1, 2 * 2 / 4, 3 / 4, 0]
    assert published.pair_supports(pairs).tolist() == pytest.approx(wanted)
    for pair, expected in zip(pairs, wanted, strict=True):
        assert sf.transactions.reconstruction.estimate_support(published, pair).expected == pytest.approx(expected)
    assert published.top_pairs(2) == [("a", "c"), ("a", "b")]
    assert published.match_counts([("a", "b"), ("a", "c"), ("a", "d"), ("nothing",)]).tolist() == [2, 3, 3, 0]


@given(LISTS)
@examples(40)
def test_the_matrix_of_pairs_agrees_with_sets_one_by_one(lists):
    published = found(lists, most=4)
    names = published.items
    pairs = [(one, two) for at, one in enumerate(names) for two in names[at + 1 :]]
    alone = [sf.transactions.reconstruction.estimate_support(published, pair).expected for pair in pairs]
    assert published.pair_supports(pairs).tolist() == pytest.approx(alone) if pairs else True
    ranked = sorted(zip(pairs, np.round(alone, 9), strict=True), key=lambda each: (-each[1], each[0]))
    assert published.top_pairs(3) == [pair for pair, count in ranked[:3] if count > 0]


def test_files_are_read_as_they_were_written(tmp_path):
    lists = [["a", "b", "x y"], ["a", "b"], ["c", 'd"'], ["c", 'd"', "a"]] * 3
    for form in ("csv", "parquet"):
        published = found(lists)
        (tmp_path / form).mkdir()
        published.write_files(tmp_path / form, form)
        assert {path.name for path in (tmp_path / form).iterdir()} <= set(DisassociatedTransactions.files)
        assert DisassociatedTransactions.read_files(tmp_path / form) == published
    assert DisassociatedTransactions.read_files(tmp_path) is None
    with pytest.raises(sf.errors.WriteError, match="choose csv or parquet"):
        published.write_files(tmp_path, "fimi")
    (tmp_path / "csv" / "terms.csv").write_text("cluster,thing\n1,a\n")
    with pytest.raises(SchemaError, match=r"terms\.csv does not have the columns cluster, item"):
        DisassociatedTransactions.read_files(tmp_path / "csv")


CONTRADICTIONS = {
    "two chunks": ([(3, [["a", "a"], ["a", "b"]], "")], "stands in two chunks of one cluster"),
    "chunk and term": ([(3, [["a", "a"]], "a")], "or in a chunk and among its terms"),
    "too many parts": ([(2, [["a", "a", "a"]], "")], "more parts than its cluster has baskets"),
    "no baskets": ([(0, [["a"]], "")], "at least one basket"),
    "unknown joint": ([(2, [["a", "a"]], "", 9)], "that the table of clusters does not list"),
    "sizes": ([(2, [["a", "a"]], "", 2), (3, [["b", "b"]], "")], "does not have the baskets of its clusters"),
    "circle": ([(2, [], "", 2), (2, [], "", 3), (2, [], "", 2)], "or is within itself"),
    "joint terms": ([(2, [["a", "a"]], "", 2), (2, [], "b")], "only clusters have terms"),
    "shared and own": ([(2, [["a", "a"]], "", 2), (2, [["a", "a"]], "")], "stands in two chunks"),
    "shared and term": ([(2, [], "a", 2), (2, [["a", "a"]], "")], "among its terms"),
    "twice": ([(3, [["aa", "a"]], "")], "stands twice in one part"),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_tables_that_contradict_each_other_are_refused(what):
    clusters_, sentence = CONTRADICTIONS[what]
    with pytest.raises(SchemaError, match=sentence):
        disassociated(*clusters_)


def test_numbers_of_clusters_need_not_be_ours():
    parts, terms, clusters_ = tables_of((3, [["a", "a"], ["b", "b"]], "c"))
    odd = pa.table({"cluster": pa.array([-7]), "baskets": pa.array([3]), "within": pa.array([None], pa.int64())})
    parts = parts.set_column(0, "cluster", pa.array([-7] * len(parts)))
    terms = terms.set_column(0, "cluster", pa.array([-7] * len(terms)))
    parts = parts.set_column(2, "part", pa.array([2**62, -5, 2**62, -5]))
    assert DisassociatedTransactions.from_tables(parts, terms, odd).count_rare_itemsets(2, 2) == (2, 0)
    with pytest.raises(SchemaError, match="does not list all clusters"):
        DisassociatedTransactions.from_tables(parts, terms, clusters_)
    with pytest.raises(SchemaError, match="no missing cells"):
        DisassociatedTransactions.from_tables(
            parts.set_column(3, "item", pa.nulls(len(parts), pa.string())), terms, odd
        )


def test_a_file_whose_clusters_or_sets_are_too_small_is_broken():
    assert disassociated((2, [["a", "a"]], "z")).count_rare_itemsets(3, 1) == (2, 2)
    assert disassociated((5, [["ab", "a", "b", "b"]], "z")).count_rare_itemsets(2, 1) == (2, 0)
    assert disassociated((5, [["ab", "a", "b", "b"]], "z")).count_rare_itemsets(2, 2) == (1, 1)
    assert disassociated((5, [["a", "a"]], "")).count_rare_itemsets(2, 2) == (0, 1)
    assert disassociated((2, [], "abc")).count_rare_itemsets(2, 2) == (2, 0)


def test_bad_requests_are_refused_in_a_sentence():
    with pytest.raises(InvalidParameterError, match=r"Disassociation\.most must be a whole number of at least 2"):
        sf.transactions.Disassociation(most=1)
    with pytest.raises(InvalidParameterError, match=r"Disassociation\.joint must be True or False"):
        sf.transactions.Disassociation(joint=3)
    with pytest.raises(InfeasibleError, match="k is 5, but there are only 2 baskets"):
        found([["a"], ["b"]], k=5)
    request = Request(data=sf.transactions.Transactions([["a"]]), models=[sf.transactions.SetKAnonymity(k=2)])
    with pytest.raises(UnsupportedModelError, match="Disassociation cannot keep set-k-anonymity"):
        sf.transactions.Disassociation().search(request)
    with pytest.raises(InvalidParameterError, match="at least one item"):
        sf.transactions.reconstruction.estimate_support(disassociated((2, [], "a")), [])
    with pytest.raises(InvalidParameterError, match="must be DisassociatedTransactions"):
        sf.transactions.reconstruction.sample_reconstruction(sf.transactions.Transactions([["a"]]))
    with pytest.raises(InvalidParameterError, match="seed must be a whole number"):
        sf.transactions.reconstruction.sample_reconstruction(disassociated((2, [], "a")), seed=-1)
    assert "secret" not in repr(found([["secret"], ["secret"]]))


def test_an_attack_tells_how_many_baskets_are_possible_and_how_many_are_likely():
    lists = [["a", "b"]] * 2 + [["c", "d"]] * 2 + [["a", "d"]] + [["e"]] * 20
    published = found(lists, k=2, m=2)
    result = sf.transactions.attack(
        published, sf.transactions.Transactions(lists), m=2, k=2, targets=25, seed=1
    ).result("random-items")
    assert result.successes == 0
    assert result.details["fewer_than_2"] == 0
    assert 0 < result.details["mean_expected"] < 25
    assert result.details["expected_below_1"] == 3 / 25  # of a and d, and twice of c and d
