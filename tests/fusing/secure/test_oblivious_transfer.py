"""The receiver gets what it chose, and neither side shows the other more."""

from __future__ import annotations

import hashlib

import nacl.bindings
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from recorded_parties import each, record
from sfumato.errors import InvalidParameterError, ProtocolError
from sfumato.fusion.secure import _curve
from sfumato.fusion.secure.channel import NUMBER, run_parties
from sfumato.fusion.secure.messages import pack_message, unpack_message
from sfumato.fusion.secure.oblivious_transfer import (
    CHUNK,
    OTExtensionReceiver,
    OTExtensionSender,
    _many_pad,
    receive_k_of_n,
    receive_one_of_two,
    send_k_of_n,
    send_one_of_two,
)

SMALL_ORDER = bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")  # y = -1, order 2
NEUTRAL = b"\1" + bytes(31)


def both(sending, receiving):
    return {"sender": sending, "receiver": receiving}


@examples(10)
@given(st.data())
def test_one_of_two_gives_the_chosen_message(data):
    length = data.draw(st.integers(0, 40))
    message = st.binary(min_size=length, max_size=length)
    pairs = data.draw(st.lists(st.tuples(message, message), max_size=5))
    choices = data.draw(st.lists(st.integers(0, 1), min_size=len(pairs), max_size=len(pairs)))
    done = run_parties(both(lambda p: send_one_of_two(p, pairs), lambda p: receive_one_of_two(p, choices)))
    assert done["receiver"] == [pair[choice] for pair, choice in zip(pairs, choices, strict=True)]


@examples(10)
@given(st.data())
def test_some_of_many_gives_the_chosen_messages(data):
    messages = data.draw(st.lists(st.binary(min_size=7, max_size=7), min_size=2, max_size=9))
    wanted = data.draw(st.lists(st.integers(0, len(messages) - 1), min_size=1, max_size=len(messages), unique=True))
    done = run_parties(
        both(
            lambda p: send_k_of_n(p, messages, count=len(wanted)),
            lambda p: receive_k_of_n(p, wanted),
        )
    )
    assert done["receiver"] == [messages[number] for number in wanted]


@examples(5)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=3), st.integers(0, 40), st.randoms(use_true_random=False))
def test_extended_transfers_give_the_chosen_messages_in_every_batch(batches, length, random):
    generator = np.random.default_rng(random.getrandbits(32))
    offers = [generator.integers(0, 256, (2, count, length)).astype(np.uint8) for count in batches]
    choices = [generator.random(count) < 0.5 for count in batches]

    def send(parties):
        transfer = OTExtensionSender(parties)
        for zeros, ones in offers:
            transfer.send(zeros, ones)

    def receive(parties):
        transfer = OTExtensionReceiver(parties)
        return [transfer.receive(wanted, length) for wanted in choices]

    done = run_parties(both(send, receive))
    for (zeros, ones), wanted, got in zip(offers, choices, done["receiver"], strict=True):
        assert np.array_equal(got, np.where(wanted[:, None], ones, zeros))


def test_extended_transfers_go_on_over_chunks():
    count = CHUNK + 9
    numbers = np.arange(count, dtype="<u4").view(np.uint8).reshape(count, 4)
    wanted = np.arange(count) % 3 == 0
    done = run_parties(
        both(
            lambda p: OTExtensionSender(p).send(numbers, 255 - numbers),
            lambda p: OTExtensionReceiver(p).receive(wanted, 4),
        )
    )
    assert np.array_equal(done["receiver"], np.where(wanted[:, None], 255 - numbers, numbers))


def test_no_message_of_the_sender_crosses_in_the_clear():
    secret = [(hashlib.sha256(b"%d" % n).digest(), hashlib.sha256(b"x%d" % n).digest()) for n in range(4)]
    rows = [np.frombuffer(b"".join(pair[bit] for pair in secret), np.uint8).reshape(-1, 32) for bit in (0, 1)]
    for sending, receiving in [
        (lambda p: send_one_of_two(p, secret), lambda p: receive_one_of_two(p, [0, 1, 1, 0])),
        (
            lambda p: send_k_of_n(p, [pair[0] for pair in secret], count=2),
            lambda p: receive_k_of_n(p, [1, 2]),
        ),
        (
            lambda p: OTExtensionSender(p).send(*rows),
            lambda p: OTExtensionReceiver(p).receive(np.array([False, True, True, False]), 32),
        ),
    ]:
        _, log = record(both(sending, receiving))
        wire = b"".join(sent.message for sent in log)
        assert not any(message in wire for pair in secret for message in pair)


def test_the_message_that_was_not_chosen_stays_closed():
    """With its own secrets the receiver opens one message of a pair; the same pad does not open the other."""
    pairs = [(bytes(16), bytes(16))]
    done, log = record(both(lambda p: send_one_of_two(p, pairs), lambda p: receive_one_of_two(p, [1])))
    first, second = unpack_message("transfer-messages", log[-1].message).blobs("hidden", count=2)
    assert done["receiver"] == [bytes(16)]
    assert first != second  # equal messages, so the pads differ


def test_a_message_of_many_opens_with_all_of_its_keys_only():
    keys = [bytes([number]) * 32 for number in range(3)]
    pads = {_many_pad(number, keys, 16) for number in range(8)}
    pads |= {_many_pad(5, [*keys[:place], bytes(32), *keys[place + 1 :]], 16) for place in (1, 2)}
    assert len(pads) == 10
    messages = [bytes(16)] * 5
    _, log = record(both(lambda p: send_k_of_n(p, messages, count=2), lambda p: receive_k_of_n(p, [4, 0])))
    assert len(set(unpack_message("transfer-many-messages", log[-1].message).blobs("hidden", count=10))) == 10


def test_no_two_batches_hide_their_choices_by_the_same_bits():
    choices = np.arange(16) % 2 == 0

    def receive(parties):
        transfer = OTExtensionReceiver(parties)
        for _ in range(3):
            transfer.receive(choices, 4)

    def send(parties):
        transfer = OTExtensionSender(parties)
        for _ in range(3):
            transfer.send(np.zeros((16, 4), np.uint8), np.ones((16, 4), np.uint8))

    _, log = record(both(send, receive))
    columns = [
        unpack_message("extension-columns", sent.message) for sent in log if b"extension-columns" in sent.message
    ]
    assert len({message.array("columns", dtype="|u1").tobytes() for message in columns}) == 3
    hidden = [
        unpack_message("extension-messages", sent.message) for sent in log if b"extension-messages" in sent.message
    ]
    assert len({message.array(name, dtype="|u1").tobytes() for message in hidden for name in ("zeros", "ones")}) == 6


def test_the_choices_do_not_show():
    """Fixed bits of the receiver's messages would differ: 8 x 32 x 60 bits, false alarm below 1e-9.

    By Hoeffding, the share of set bits among 60 points differs by more than 0.75 between two equal distributions
    with probability below 2 exp(-60 x 0.75^2) = 4e-15 per bit, and there are 256.
    """
    shares = []
    for choice in (0, 1):
        _, log = record(
            both(
                lambda p: send_one_of_two(p, [(b"", b"")] * 60),
                lambda p, choice=choice: receive_one_of_two(p, [choice] * 60),
            )
        )
        points = unpack_message("transfer-choose", log[1].message).blobs("points", count=60, length=32)
        bits = np.unpackbits(np.frombuffer(b"".join(points), np.uint8).reshape(60, 32), axis=1)
        shares.append(bits.mean(axis=0))
        assert len(set(points)) == 60
    assert np.abs(shares[0] - shares[1]).max() < 0.75


@pytest.mark.parametrize("point", [bytes(32), SMALL_ORDER, NEUTRAL, b"\2" + bytes(31), b"\xff" * 32, b"short"])
def test_what_is_no_point_of_the_group_is_refused_by_the_receiver(point):
    def spoil(number, sent):
        return pack_message("transfer-open", **{NUMBER: 0}, point=point) if number == 0 else sent.message

    with pytest.raises(ProtocolError, match=r"not a point of the group|5 bytes|does not have 32 bytes"):
        record(both(lambda p: send_one_of_two(p, [(b"a", b"b")]), lambda p: receive_one_of_two(p, [1])), spoil)


@pytest.mark.parametrize("point", [bytes(32), SMALL_ORDER, NEUTRAL, b"\2" + bytes(31), b"\xff" * 32, b"short"])
def test_what_is_no_point_of_the_group_is_refused_by_the_sender(point):
    def spoil(number, sent):
        return pack_message("transfer-choose", **{NUMBER: 0}, points=[point]) if number == 1 else sent.message

    with pytest.raises(ProtocolError, match=r"not a point of the group|5 bytes|does not have 32 bytes"):
        record(both(lambda p: send_one_of_two(p, [(b"a", b"b")]), lambda p: receive_one_of_two(p, [1])), spoil)


def test_a_point_off_the_subgroup_is_refused():
    base = nacl.bindings.crypto_scalarmult_ed25519_base_noclamp(b"\1" + bytes(31))
    off = nacl.bindings.crypto_core_ed25519_add(base, SMALL_ORDER)
    _curve.check_point(base)
    with pytest.raises(ProtocolError, match="not a point of the group"):
        _curve.check_point(off)
    with pytest.raises(ProtocolError, match="not a point of the group"):
        _curve.multiply(_curve.random_scalar(), [off])


def test_requests_that_cannot_be_served_are_refused():
    for sending, receiving in [
        (lambda p: send_one_of_two(p, [(b"a", b"bc")]), lambda p: receive_one_of_two(p, [1])),
        (lambda p: send_one_of_two(p, [(b"a", b"b")]), lambda p: receive_one_of_two(p, [2])),
        (lambda p: send_k_of_n(p, [b"a"], count=1), lambda p: receive_k_of_n(p, [0])),
        (lambda p: send_k_of_n(p, [b"a", b"b"], count=3), lambda p: receive_k_of_n(p, [0])),
        (lambda p: send_k_of_n(p, [b"a", b"b"], count=1), lambda p: receive_k_of_n(p, [2])),
    ]:
        with pytest.raises(InvalidParameterError):
            run_parties(both(sending, receiving))
    with pytest.raises(InvalidParameterError, match="exactly 2"):
        run_parties(each(receive_one_of_two, [1], [1], [1]))


def test_nobody_gets_more_than_was_offered():
    for count, wanted in [(1, [0, 1]), (2, [0])]:
        with pytest.raises(ProtocolError, match="The message 'transfer-many' from party"):
            run_parties(
                both(
                    lambda p, count=count: send_k_of_n(p, [b"a", b"b", b"c"], count=count),
                    lambda p, wanted=wanted: receive_k_of_n(p, wanted),
                )
            )
    with pytest.raises(ProtocolError):
        run_parties(both(lambda p: send_one_of_two(p, [(b"a", b"b")]), lambda p: receive_one_of_two(p, [1, 0])))


def test_points_are_converted_as_libsodium_converts_them():
    digests = [hashlib.sha256(b"%d" % number).digest() for number in range(50)]
    points = [nacl.bindings.crypto_core_ed25519_from_uniform(digest) for digest in digests]
    assert _curve.hash_to_points(digests) == [
        nacl.bindings.crypto_sign_ed25519_pk_to_curve25519(point) for point in points
    ]
    assert _curve.hash_to_points([]) == []


def test_a_blinding_comes_off_again():
    joined = b"".join(_curve.hash_to_points([hashlib.sha256(b"%d" % number).digest() for number in range(5)]))
    for _ in range(20):
        key = _curve.random_montgomery_scalar()
        blind, unblind = _curve.blinding_scalars(key)
        assert blind != key
        assert _curve.montgomery_multiply(
            unblind, _curve.montgomery_multiply(blind, joined)
        ) == _curve.montgomery_multiply(key, joined)


def test_zero_is_no_point_for_the_ladder():
    with pytest.raises(ProtocolError, match="not a point"):
        _curve.montgomery_multiply(_curve.random_montgomery_scalar(), bytes(32))
