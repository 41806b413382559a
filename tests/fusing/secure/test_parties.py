"""Parties in one process: results come back, errors do, too, and nobody waits for ever."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from sfumato.errors import InvalidParameterError, ProtocolError
from sfumato.fusion.secure.channel import Parties, check_same_settings, memory_channels, run_parties
from sfumato.fusion.secure.comparison import secure_less


def test_a_view_knows_its_place():
    view = Parties(me="b", names=("a", "b", "c"), channels=memory_channels(("a", "b", "c"))["b"])
    assert view.index == 1
    assert view.others == ("a", "c")
    assert (view.neighbor(1), view.neighbor(-1), view.neighbor(2)) == ("c", "a", "a")
    assert view.pair("a", "b").peer == "a"


@pytest.mark.parametrize(
    ("me", "names"), [("a", ("a",)), ("a", ("a", "a")), ("x", ("a", "b")), ("a", ("a", "b", "stranger"))]
)
def test_impossible_views_are_refused(me, names):
    with pytest.raises(InvalidParameterError, match="Parties"):
        Parties(me=me, names=names, channels=memory_channels(("a", "b"))["a"])


def test_messages_arrive_in_order():
    def first(parties):
        for number in range(20):
            parties.send("b", "count", number=number)

    def second(parties):
        return [parties.receive("a", "count").integer("number", least=0, most=20) for _ in range(20)]

    assert run_parties({"a": first, "b": second})["b"] == list(range(20))


def test_the_error_of_one_party_is_raised_and_frees_the_others():
    freed = []

    def failing(parties):
        parties.receive("b", "hello")
        raise ArithmeticError

    def waiting(parties):
        if parties.me == "b":
            parties.send("a", "hello")
        try:
            parties.receive("a", "never")
        except ProtocolError as error:
            freed.append(str(error))
            raise

    with pytest.raises(ArithmeticError):
        run_parties({"a": failing, "b": waiting, "c": waiting})
    assert freed == ["The other party has left; start the protocol again at all parties."] * 2


def test_who_waits_in_vain_gives_up():
    channels = memory_channels(("a", "b"), patience=0.01)
    with pytest.raises(ProtocolError, match=r"sent nothing for 0\.01 seconds"):
        run_parties({"a": lambda parties: parties.receive("b", "x"), "b": lambda _: None}, channels=channels)


def test_a_closed_channel_stays_closed():
    channels = memory_channels(("a", "b"))
    channels["a"]["b"].close()
    for _ in range(2):
        for end in (channels["a"]["b"], channels["b"]["a"]):
            with pytest.raises(ProtocolError, match="left"):
                end.receive()


def test_different_settings_are_found():
    with pytest.raises(ProtocolError, match=r"Parties '.' and '.' run the protocol with different settings"):
        run_parties({name: lambda parties: check_same_settings(parties, f"k = {parties.index // 2}") for name in "abc"})
    run_parties({name: lambda parties: check_same_settings(parties, "k = 1") for name in "abc"})


def test_a_missing_library_is_told_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "nacl.bindings", None)
    with pytest.raises(ProtocolError, match=r'nacl is needed; install it with pip install "sfumato\[parties\]"'):
        run_parties({name: lambda parties: secure_less(parties, 1) for name in "ab"})


def test_messages_say_who_sent_them():
    def first(parties):
        parties.send("b", "row", row=np.arange(3))

    with pytest.raises(ProtocolError, match="party 'a'"):
        run_parties({"a": first, "b": lambda parties: parties.receive("a", "row").integer("row", least=0, most=1)})
