"""Whatever is spoiled on the way ends in one clear error, and never in a wrong result or in waiting for ever."""

from __future__ import annotations

import numpy as np
import pytest

from recorded_parties import each, record
from sfumato.errors import ProtocolError
from sfumato.fusion.secure import set_intersection
from sfumato.fusion.secure.arithmetic import secure_scalar_product, secure_sum
from sfumato.fusion.secure.comparison import secure_less, secure_maximum
from sfumato.fusion.secure.frequent_itemsets import frequent_itemsets_horizontal, frequent_itemsets_vertical
from sfumato.fusion.secure.messages import pack_message
from sfumato.fusion.secure.oblivious_transfer import receive_k_of_n, send_k_of_n
from sfumato.fusion.secure.set_intersection import secure_intersection
from sfumato.fusion.secure.set_union import secure_union

PROTOCOLS = {
    "maximum-of-two": each(secure_maximum, 5, 9),
    "maximum-of-three": each(secure_maximum, 5, 9, 7),
    "comparison": each(secure_less, 5, 9),
    "sum": each(secure_sum, 5, 9, 7),
    "intersection-of-two": each(secure_intersection, ["a", "b"], ["b", "c"]),
    "intersection-of-three": each(secure_intersection, ["a", "b"], ["b", "c"], ["b"]),
    "union": each(secure_union, ["a"], ["b"], ["a"]),
    "scalar-product": each(secure_scalar_product, np.array([4, 5]), np.array([1, 0])),
    "rows": each(lambda p, records: frequent_itemsets_horizontal(p, records, share=0.5), *[[{"a", "b"}]] * 3),
    "columns": {
        "p0": lambda p: frequent_itemsets_vertical(p, {"a": np.array([True, True])}, share=0.5),
        "p1": lambda p: frequent_itemsets_vertical(p, {"b": np.array([True, False])}, share=0.5),
    },
    "transfer": {
        "p0": lambda p: send_k_of_n(p, [b"a", b"b", b"c"], count=2),
        "p1": lambda p: receive_k_of_n(p, [2, 0]),
    },
}
FAULTS = {
    "truncated": lambda message: message[:-1],
    "empty": lambda _: b"",
    "longer": lambda message: message + b"\0",
    "": lambda message: message[:5] + bytes([message[5] ^ 1]) + message[6:],
    "another protocol": lambda _: pack_message("weather", text="fine"),
    "another version": lambda message: message[:3] + b"\2" + message[4:],
    "no message at all": lambda message: bytes(len(message)),
    "no fields": lambda message: message[: 5 + message[4]] + b"\0\0",
}


@pytest.fixture(scope="module")
def lengths():
    return {name: len(record(functions)[1]) for name, functions in PROTOCOLS.items()}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_spoiled_message_ends_the_protocol_with_a_clear_error(protocol, fault, lengths):
    for place in {0, lengths[protocol] // 2, lengths[protocol] - 1}:

        def spoil(number, sent, place=place):
            return FAULTS[fault](sent.message) if number == place else sent.message

        with pytest.raises(ProtocolError, match=r"from party 'p\d'"):
            record(PROTOCOLS[protocol], spoil)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_party_that_fails_at_any_message_frees_the_others(protocol, lengths):
    for place in sorted({0, 1, lengths[protocol] // 3, lengths[protocol] // 2, lengths[protocol] - 1}):

        def spoil(number, sent, place=place):
            if number == place:
                raise ArithmeticError
            return sent.message

        with pytest.raises(ArithmeticError):
            record(PROTOCOLS[protocol], spoil)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_earlier_message_in_place_of_another_ends_the_protocol(protocol):
    """From the second message of a party to another on, each is once replaced by the one before it."""
    _, log = record(PROTOCOLS[protocol])
    ways = {(sent.sender, sent.receiver) for sent in log}
    for way in ways:
        count = sum((sent.sender, sent.receiver) == way for sent in log)
        for place in {1, count // 2, count - 1} & set(range(1, count)):
            earlier = []

            def spoil(_number, sent, way=way, place=place, earlier=earlier):
                if (sent.sender, sent.receiver) != way:
                    return sent.message
                earlier.append(sent.message)
                return earlier[-2] if len(earlier) == place + 1 else sent.message

            with pytest.raises(ProtocolError, match=r"from party 'p\d'"):
                record(PROTOCOLS[protocol], spoil)


def test_a_repeated_message_of_the_right_kind_is_found(monkeypatch):
    monkeypatch.setattr(set_intersection, "CHUNK", 1)
    seen = []

    def spoil(_number, sent):
        if sent.sender == "p0":
            seen.append(sent.message)
        return seen[-2] if sent.sender == "p0" and len(seen) == 3 else sent.message

    with pytest.raises(ProtocolError, match="lost, repeated or out of order"):
        record(each(secure_intersection, ["a", "b"], ["b", "c"]), spoil)
