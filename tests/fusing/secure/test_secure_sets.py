"""Intersections and unions are what they are in the clear, and nothing else is seen."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from recorded_parties import each, record
from sfumato.errors import InvalidParameterError, ProtocolError
from sfumato.fusion.secure import _curve, _oblivious_store, set_intersection, set_union
from sfumato.fusion.secure.channel import run_parties
from sfumato.fusion.secure.messages import unpack_message
from sfumato.fusion.secure.set_intersection import secure_intersection
from sfumato.fusion.secure.set_union import secure_union

IDS = st.lists(st.integers(0, 12).map(lambda number: f"person-{number}"), unique=True, max_size=12)
TEXTS = st.lists(st.text(max_size=17), max_size=4)


def points(sent, kind):
    joined = unpack_message(kind, sent.message).blob("points")
    return [joined[at : at + 32] for at in range(0, len(joined), 32)]


def of_kind(log, kind):
    return [sent for sent in log if sent.message[4:].startswith(bytes([len(kind)]) + kind.encode())]


@examples(25)
@given(st.lists(IDS, min_size=2, max_size=4))
def test_the_intersection_is_found_in_an_order_common_to_all(lists):
    done = run_parties(each(secure_intersection, *lists))
    found = [[ids[at] for at in positions] for ids, positions in zip(lists, done.values(), strict=True)]
    assert all(names == found[0] for names in found)
    assert len(set(found[0])) == len(found[0])
    assert set(found[0]) == set.intersection(*map(set, lists))


@pytest.mark.parametrize("parties", [2, 3])
def test_lists_of_several_chunks_fit_together(monkeypatch, parties):
    monkeypatch.setattr(set_intersection, "CHUNK", 4)
    lists = [[f"{number}" for number in range(start, 23)] for start in range(parties)]
    done = run_parties(each(secure_intersection, *lists))
    found = [[ids[at] for at in positions] for ids, positions in zip(lists, done.values(), strict=True)]
    assert all(names == found[0] for names in found)
    assert set(found[0]) == set(lists[-1])


def test_the_common_order_is_another_one_every_time():
    ids = [f"{number}" for number in range(25)]
    orders = {tuple(run_parties(each(secure_intersection, ids, ids))["p0"].tolist()) for _ in range(3)}
    assert len(orders) == 3
    assert tuple(range(25)) not in orders


def test_a_text_is_its_bytes():
    done = run_parties(each(secure_intersection, ["Zoë", "b"], [b"a", "Zoë".encode()]))
    assert {name: positions.tolist() for name, positions in done.items()} == {"p0": [0], "p1": [1]}


def test_repeated_ids_are_refused_without_naming_them():
    with pytest.raises(InvalidParameterError, match="1 repeated") as caught:
        run_parties(each(secure_intersection, ["canary", b"canary"], ["b"]))
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("parties", [2, 3])
def test_progress_goes_up_to_the_end(parties):
    seen = []

    def counted(view, ids):
        progress = (lambda done, total: seen.append((done, total))) if view.index == 0 else None
        return secure_intersection(view, ids, progress=progress)

    run_parties(each(counted, *[["a", "b", "c"]] * parties))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("parties", [2, 3])
def test_no_id_and_no_hashed_id_is_in_any_message(parties):
    lists = [[f"canary-{number + party:03}" for number in range(5)] for party in range(parties)]
    _, log = record(each(secure_intersection, *lists))
    wire = b"".join(sent.message for sent in log)
    assert b"canary" not in wire
    for ids in lists:
        digests = [hashlib.sha256(b"sfumato intersection" + one.encode()).digest() for one in ids]
        assert not any(secret in wire for secret in digests + _curve.hash_to_points(digests))


SUBSETS = ["".join(who) for size in range(1, 5) for who in itertools.combinations("0123", size)]


@pytest.fixture
def runs(monkeypatch):
    """Keep what every party knows."""
    kept = {}

    class Kept(set_intersection._IntersectionRun):
        def __init__(self, parties, ids, progress):
            super().__init__(parties, ids, progress)
            kept[parties.me] = self

    monkeypatch.setattr(set_intersection, "_IntersectionRun", Kept)
    return kept


def test_with_several_parties_no_two_lists_can_be_compared():
    """Two lists under the same keys would tell whoever sees both how many ids they share, and their owners which."""
    lists = [[who for who in SUBSETS if str(party) in who] for party in range(4)]
    _, log = record(each(secure_intersection, *lists))
    seen = {}
    for kind in ("intersection-list", "intersection-finished"):
        for sent in of_kind(log, kind):
            for point in points(sent, kind):
                seen.setdefault(point, set()).add(sent.sender)
    assert len(seen) == 8 * 4  # blinded once, and answered by three
    repeated = [who for who in seen.values() if len(who) > 1]
    assert repeated == []


@pytest.mark.parametrize("other", ["p1", "p2", "p3"])
def test_the_first_and_another_party_learn_only_what_all_the_rest_have(runs, other):
    """They open every store for all ids that they hold together, and take off every share that they know."""
    lists = [[who for who in SUBSETS if str(party) in who] for party in range(4)]
    _, log = record(each(secure_intersection, *lists))
    rest = sorted({"p1", "p2", "p3"} - {other})
    together = sorted({*lists[0], *lists[int(other[1])]})
    digests = [hashlib.sha256(b"sfumato intersection" + one.encode()).digest() for one in together]
    residues = {}
    for name in rest:
        (store,) = [sent for sent in of_kind(log, "intersection-store") if sent.sender == name]
        store = unpack_message("intersection-store", store.message)
        cells = np.frombuffer(store.blob("cells"), np.uint64).reshape(-1, 2)
        multipliers = np.frombuffer(store.blob("multipliers"), np.uint64)
        opened = _curve.montgomery_multiply(
            runs[name]._key, b"".join(_curve.hash_to_points(digests))
        )  # as the store's owner would for them
        keys, masks = set_intersection._store_keys(opened)
        left = masks ^ _oblivious_store.decode_store(keys, multipliers, cells)
        for known in ("p0", other):
            drawn = [hashlib.sha256(runs[known]._secrets[name] + one.encode()).digest()[:16] for one in together]
            left = left ^ np.frombuffer(b"".join(drawn), np.uint64).reshape(-1, 2)
        residues[name] = left
    assert all(each.any(axis=1).all() for each in residues.values())
    both = ~(residues[rest[0]] ^ residues[rest[1]]).any(axis=1)
    assert [one for one, told in zip(together, both, strict=True) if told] == [
        one for one in together if rest[0][1] in one and rest[1][1] in one
    ]


def test_without_the_first_party_others_see_nothing_but_the_common_ids():
    lists = [["all", "0-1", "0-2"], ["all", "0-1", "1-2"], ["all", "0-2", "1-2"]]
    done, log = record(each(secure_intersection, *lists))
    assert [len(positions) for positions in done.values()] == [1, 1, 1]
    kinds = {"intersection-size", "intersection-secret", "intersection-list", "intersection-common"}
    for sent in log:
        if sent.receiver != "p0":
            assert any(sent in of_kind(log, kind) for kind in kinds)
            assert sent.sender == "p0" or sent not in of_kind(log, "intersection-list")
    (named,) = {sent.message for sent in of_kind(log, "intersection-common") if sent.receiver == "p1"}
    assert len(unpack_message("intersection-common", named).blob("names")) == 16


@given(st.integers(0, 300), st.integers(0, 2**32))
@examples(30)
def test_a_hidden_store_gives_what_was_stored_and_noise_otherwise(count, seed):
    drawn = np.random.default_rng(seed)
    keys, values = (drawn.integers(0, 2**64, (count + 5, width), np.uint64) for width in (3, 2))
    store = _oblivious_store.encode_store(keys[:count], values[:count])
    found = _oblivious_store.decode_store(keys, *store)
    assert (found[:count] == values[:count]).all()
    assert not (found[count:] == values[count:]).any()
    assert len(store[1]) == 3 * _oblivious_store.cells_per_hash(count)


def test_a_list_leaves_its_owner_in_a_random_order(monkeypatch):
    key = _curve.random_montgomery_scalar()
    monkeypatch.setattr(set_intersection, "random_montgomery_scalar", lambda: key)
    ids = [f"{number}" for number in range(25)]
    _, log = record(each(secure_intersection, ids, ids))
    hashes = _curve.hash_to_points([hashlib.sha256(b"sfumato intersection" + one.encode()).digest() for one in ids])
    kept = [_curve.montgomery_multiply(key, point) for point in hashes]
    for sender in ("p0", "p1"):
        sent = next(sent for sent in of_kind(log, "intersection-list") if sent.sender == sender)
        assert set(points(sent, "intersection-list")) == set(kept)
        assert points(sent, "intersection-list") != kept


def test_with_three_parties_the_first_list_travels_blinded(monkeypatch):
    """Whoever sees ids under the key of a store could open it, so no list may leave under a key itself."""
    key = _curve.random_montgomery_scalar()
    monkeypatch.setattr(set_intersection, "random_montgomery_scalar", lambda: key)
    _, log = record(each(secure_intersection, ["a"], ["a"], ["a"]))
    (point,) = _curve.hash_to_points([hashlib.sha256(b"sfumato intersectiona").digest()])
    kept = {
        point,
        _curve.montgomery_multiply(key, point),
        _curve.montgomery_multiply(key, _curve.montgomery_multiply(key, point)),
    }
    travelled = {points(sent, "intersection-list")[0] for sent in of_kind(log, "intersection-list")}
    assert len(travelled) == 2
    assert not kept & travelled


@examples(8)
@given(st.lists(TEXTS, min_size=2, max_size=4))
def test_the_union_is_the_union(lists):
    done = run_parties(each(secure_union, *lists))
    assert list(done.values()) == [sorted(set().union(*lists))] * len(lists)


@examples(20)
@given(st.binary(max_size=70))
def test_an_item_is_read_back_from_its_points(item):
    written = set_union._embed_item(item, 3)
    assert len(written) == 96
    assert set_union._decode_item(written) == item


def test_different_items_share_no_point():
    items = [b"diagnosis:" * 6 + end for end in (b"", b"a", b"b")]
    blocks = [set_union._embed_item(item, 3) for item in items]
    assert len({block[at : at + 32] for block in blocks for at in (0, 32, 64)}) == 9
    assert blocks[0] == set_union._embed_item(items[0], 3)


def test_points_that_are_no_item_are_refused():
    written = set_union._embed_item(b"flu", 1)
    spoiled = bytes([written[0] ^ 1]) + written[1:]
    with pytest.raises(ProtocolError, match="cannot be read"):
        set_union._decode_item(spoiled)


def test_items_are_in_no_message_but_the_result_and_lists_are_shuffled():
    lists = [["canary-1", "canary-2"], ["canary-2"], ["canary-3"]]
    _, log = record(each(secure_union, *lists))
    wire = b"".join(sent.message for sent in log if sent not in of_kind(log, "union-items"))
    assert b"canary" not in wire
    plain = {set_union._embed_item(item.encode(), 3) for items in lists for item in items}
    assert not any(point in wire for point in plain)
    assert {sent.sender for sent in of_kind(log, "union-items")} == {"p2"}


def test_every_party_shuffles_what_it_passes_on(monkeypatch):
    asked = []
    honest = _curve.random_permutation

    def counted(count):
        asked.append(count)
        return honest(count)

    monkeypatch.setattr(set_union, "random_permutation", counted)
    run_parties(each(secure_union, ["a", "b"], ["c", "d"], ["e", "f"]))
    assert sorted(asked) == [2] * 9 + [6] * 2  # three lists at three parties, the union at all but the last


def test_unions_that_cannot_be_written_are_refused():
    with pytest.raises(InvalidParameterError, match="1 longer ones") as caught:
        run_parties(each(secure_union, ["canary" * 20], ["b"]))
    assert "canary" not in str(caught.value)
    with pytest.raises(ProtocolError, match="different settings"):
        run_parties(
            {"a": lambda p: secure_union(p, ["x"], longest=10), "b": lambda p: secure_union(p, ["x"], longest=20)}
        )


def test_a_random_order_is_an_order():
    orders = np.array([_curve.random_permutation(5) for _ in range(400)])
    assert (np.sort(orders, axis=1) == np.arange(5)).all()
    assert all(len(set(orders[:, place].tolist())) == 5 for place in range(5))
