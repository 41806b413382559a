"""Intersections and unions are what they are in the clear, and nothing else is seen."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from recorded_parties import each, record
from sfumato.exceptions import InvalidParameterError, ProtocolError
from sfumato.fusing.secure import curve, set_intersection, set_union
from sfumato.fusing.secure.channel import run_parties
from sfumato.fusing.secure.messages import unpack
from sfumato.fusing.secure.set_intersection import secure_intersection
from sfumato.fusing.secure.set_union import secure_union

IDS = st.lists(st.integers(0, 12).map(lambda number: f"person-{number}"), unique=True, max_size=12)
TEXTS = st.lists(st.text(max_size=17), max_size=4)


def points(sent, kind):
    joined = unpack(kind, sent.message).blob("points")
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
        assert not any(secret in wire for secret in digests + curve.hashed(digests))


def test_with_three_parties_nobody_sees_which_of_its_ids_only_one_other_has():
    """All but the first see finished points of their own and the common ones, nothing to compare the rest with."""
    lists = [["all", "0-1", "0-2"], ["all", "0-1", "1-2"], ["all", "0-2", "1-2"]]
    done, log = record(each(secure_intersection, *lists))
    (common,) = {tuple(points(sent, "intersection-common")) for sent in of_kind(log, "intersection-common")}
    assert len(common) == 1
    assert [len(positions) for positions in done.values()] == [1, 1, 1]
    finished = {sent.sender: points(sent, "intersection-finished") for sent in of_kind(log, "intersection-finished")}
    assert set(finished) == {"p1", "p2"}
    assert len(set(finished["p1"]) & set(finished["p2"])) == 2
    for name in ("p1", "p2"):
        seen = b"".join(sent.message for sent in log if sent.receiver == name)
        sent_on = b"".join(
            sent.message for sent in log if sent.sender == name and sent not in of_kind(log, "intersection-finished")
        )
        assert [point for point in finished[name] if point in seen] == list(common)
        assert not any(point in sent_on for points_of in finished.values() for point in points_of)


def test_the_first_of_three_parties_cannot_follow_its_own_list(monkeypatch):
    """The second party hands the list on in another order (the same one by chance: 1 in 25!)."""
    key = curve.ladder_scalar()
    monkeypatch.setattr(set_intersection, "ladder_scalar", lambda: key)
    lists = [[f"{number}" for number in range(25)]] * 3
    _, log = record(each(secure_intersection, *lists))
    passed = of_kind(log, "intersection-list")
    came = next(sent for sent in passed if (sent.sender, sent.receiver) == ("p0", "p1"))
    came = curve.ladder(key, b"".join(points(came, "intersection-list")))
    came = [came[at : at + 32] for at in range(0, len(came), 32)]
    left = [points(sent, "intersection-list") for sent in passed if (sent.sender, sent.receiver) == ("p1", "p2")]
    (left,) = [one for one in left if set(one) == set(came)]
    assert left != came


def test_a_list_leaves_its_owner_in_a_random_order(monkeypatch):
    key = curve.ladder_scalar()
    monkeypatch.setattr(set_intersection, "ladder_scalar", lambda: key)
    ids = [f"{number}" for number in range(25)]
    _, log = record(each(secure_intersection, ids, ids))
    hashes = curve.hashed([hashlib.sha256(b"sfumato intersection" + one.encode()).digest() for one in ids])
    kept = [curve.ladder(key, point) for point in hashes]
    for sender in ("p0", "p1"):
        sent = next(sent for sent in of_kind(log, "intersection-list") if sent.sender == sender)
        assert set(points(sent, "intersection-list")) == set(kept)
        assert points(sent, "intersection-list") != kept


def test_with_three_parties_a_list_travels_under_a_blinding_of_its_own(monkeypatch):
    """Whoever multiplies last must not see what the owner finishes, so no list may leave under the key itself."""
    key = curve.ladder_scalar()
    monkeypatch.setattr(set_intersection, "ladder_scalar", lambda: key)
    _, log = record(each(secure_intersection, ["a"], ["a"], ["a"]))
    (point,) = curve.hashed([hashlib.sha256(b"sfumato intersectiona").digest()])
    kept = {curve.ladder(key, point), curve.ladder(key, curve.ladder(key, point))}
    travelled = [points(sent, "intersection-list")[0] for sent in of_kind(log, "intersection-list")]
    assert len(set(travelled)) == 9
    assert not kept & set(travelled)
    (common,) = {points(sent, "intersection-common")[0] for sent in of_kind(log, "intersection-common")}
    assert common == curve.ladder(key, curve.ladder(key, curve.ladder(key, point)))


def test_finished_lists_are_sorted_so_that_their_order_tells_nothing():
    _, log = record(each(secure_intersection, *[[f"{number}" for number in range(25)]] * 3))
    for sent in of_kind(log, "intersection-finished"):
        assert points(sent, "intersection-finished") == sorted(points(sent, "intersection-finished"))


@examples(8)
@given(st.lists(TEXTS, min_size=2, max_size=4))
def test_the_union_is_the_union(lists):
    done = run_parties(each(secure_union, *lists))
    assert list(done.values()) == [sorted(set().union(*lists))] * len(lists)


@examples(20)
@given(st.binary(max_size=70))
def test_an_item_is_read_back_from_its_points(item):
    written = set_union._embedded(item, 3)
    assert len(written) == 96
    assert set_union._read(written) == item


def test_different_items_share_no_point():
    items = [b"diagnosis:" * 6 + end for end in (b"", b"a", b"b")]
    blocks = [set_union._embedded(item, 3) for item in items]
    assert len({block[at : at + 32] for block in blocks for at in (0, 32, 64)}) == 9
    assert blocks[0] == set_union._embedded(items[0], 3)


def test_points_that_are_no_item_are_refused():
    written = set_union._embedded(b"flu", 1)
    spoiled = bytes([written[0] ^ 1]) + written[1:]
    with pytest.raises(ProtocolError, match="cannot be read"):
        set_union._read(spoiled)


def test_items_are_in_no_message_but_the_result_and_lists_are_shuffled():
    lists = [["canary-1", "canary-2"], ["canary-2"], ["canary-3"]]
    _, log = record(each(secure_union, *lists))
    wire = b"".join(sent.message for sent in log if sent not in of_kind(log, "union-items"))
    assert b"canary" not in wire
    plain = {set_union._embedded(item.encode(), 3) for items in lists for item in items}
    assert not any(point in wire for point in plain)
    assert {sent.sender for sent in of_kind(log, "union-items")} == {"p2"}


def test_every_party_shuffles_what_it_passes_on(monkeypatch):
    asked = []
    honest = curve.random_order

    def counted(count):
        asked.append(count)
        return honest(count)

    monkeypatch.setattr(set_union, "random_order", counted)
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
    orders = np.array([curve.random_order(5) for _ in range(400)])
    assert (np.sort(orders, axis=1) == np.arange(5)).all()
    assert all(len(set(orders[:, place].tolist())) == 5 for place in range(5))
