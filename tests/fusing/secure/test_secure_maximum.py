"""The maximum is the maximum, and nobody can see more in what is sent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from recorded_parties import each, record
from sfumato.errors import InvalidParameterError
from sfumato.fusion.secure._garbled_circuit import (
    WIDTH,
    Circuit,
    CircuitBuilder,
    make_less_circuit,
    make_maximum_circuit,
    run_evaluator,
    run_garbler,
)
from sfumato.fusion.secure.channel import NUMBER, run_parties
from sfumato.fusion.secure.comparison import MaximumSession, secure_less, secure_maximum
from sfumato.fusion.secure.messages import unpack_message
from sfumato.fusion.secure.oblivious_transfer import OTExtensionReceiver, OTExtensionSender

LARGEST = 2**64 - 1
EDGES = st.sampled_from([0, 1, 2, 2**32, 2**63 - 1, 2**63, LARGEST - 1, LARGEST])
SCORES = st.one_of(EDGES, st.integers(0, 3), st.integers(0, LARGEST))


def first_greatest(scores):
    return scores.index(max(scores)) if max(scores) else None


def computed(circuit: Circuit, bits: list[int]) -> list[int]:
    """Compute a circuit in the clear."""
    wires = list(bits)
    for gate in circuit.gates:
        left, right = wires[gate.left], wires[gate.right]
        wires.append({"xor": left ^ right, "and": left & right, "not": 1 - left}[gate.kind])
    return [wires[wire] for wire in circuit.outputs]


def bits_of(number: int) -> list[int]:
    return [number >> place & 1 for place in range(WIDTH)]


@given(SCORES, SCORES)
def test_the_circuit_of_the_comparison_compares(left, right):
    assert computed(make_less_circuit(), bits_of(left) + bits_of(right)) == [left < right]


@given(st.lists(SCORES, min_size=2, max_size=7), st.data())
def test_the_circuit_of_the_maximum_finds_the_first_greatest(scores, data):
    shares = [data.draw(st.integers(0, LARGEST)) for _ in scores[2:]]
    mine = [scores[0], *shares]
    theirs = [scores[1], *(score ^ share for score, share in zip(scores[2:], shares, strict=True))]
    above, *index = computed(
        make_maximum_circuit(len(scores)), [bit for number in mine + theirs for bit in bits_of(number)]
    )
    winner = sum(bit << place for place, bit in enumerate(index))
    assert (winner if above else None) == first_greatest(scores)


def test_the_circuits_are_as_small_as_they_say():
    assert make_less_circuit().and_gates == 64
    for numbers in range(2, 9):
        assert make_maximum_circuit(numbers).and_gates <= 134 * numbers


@examples(10)
@given(st.data())
def test_a_garbled_circuit_computes_what_the_circuit_does(data):
    mine, theirs = (
        data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=5)),
        data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=5)),
    )
    builder = CircuitBuilder(garbler_inputs=len(mine), evaluator_inputs=len(theirs))
    wires = list(range(len(mine) + len(theirs)))
    for _ in range(data.draw(st.integers(0, 15))):
        left, right = data.draw(st.sampled_from(wires)), data.draw(st.sampled_from(wires))
        kind = data.draw(st.sampled_from([builder.xor, builder.and_, builder.or_]))
        wires += [kind(left, right), builder.not_(left)]
    circuit = builder.build(data.draw(st.lists(st.sampled_from(wires), min_size=1, max_size=6)))
    done = run_parties(
        {
            "garbler": lambda p: run_garbler(p, OTExtensionSender(p), circuit, mine),
            "evaluator": lambda p: run_evaluator(p, OTExtensionReceiver(p), circuit, theirs),
        }
    )
    assert done["evaluator"] == computed(circuit, mine + theirs)


@examples(12)
@given(st.integers(2, 5).flatmap(lambda count: st.lists(st.tuples(*[SCORES] * count), min_size=1, max_size=6)))
def test_every_party_learns_the_first_greatest_in_every_round(rounds):
    def play(parties, scores):
        session = MaximumSession(parties)
        return [session.find(score) for score in scores]

    done = run_parties(each(play, *zip(*rounds, strict=True)))
    expected = [first_greatest(scores) for scores in rounds]
    assert list(done.values()) == [expected] * len(rounds[0])


@examples(8)
@given(SCORES, SCORES)
def test_both_parties_learn_which_number_is_less(left, right):
    assert run_parties(each(secure_less, left, right)) == {"p0": left < right, "p1": left < right}


def test_one_maximum_needs_no_session():
    assert run_parties(each(secure_maximum, 3, 9, 9)) == {"p0": 1, "p1": 1, "p2": 1}


@pytest.mark.parametrize("score", [-1, 2**64, 1.5, True, None])
def test_scores_out_of_range_are_refused_without_telling_them(score):
    with pytest.raises(InvalidParameterError, match="score must be a whole number from 0 to") as caught:
        run_parties(each(secure_maximum, score, score))
    assert str(score) not in str(caught.value).replace("2**64 - 1", "")


@pytest.mark.parametrize(
    "scores", [[0xA1B2C3D4E5F60718, 0x1122334455667788], [0x99AABBCCDDEEFF01] + [0x8899AABBCCDDEE00] * 3]
)
def test_no_score_is_in_any_message(scores):
    """Eight random bytes are found in some 100 kilobytes with a probability of about 1e-14."""
    done, log = record(each(secure_maximum, *scores))
    assert set(done.values()) == {scores.index(max(scores))}
    wire = b"".join(sent.message for sent in log)
    for number in scores:
        for order in ("big", "little"):
            assert number.to_bytes(8, order) not in wire
            assert bytes(bits_of(number)) not in wire
            assert np.packbits(bits_of(number), bitorder=order).tobytes() not in wire
    assert len(wire) > 5000


RUNS = 45
DIFFERENCE = 0.93


def recorded_bits(scores):
    """Give the bits of all messages of every round, one row per round; setting a session up is not recorded."""
    rounds = []

    def play(parties, score):
        session = MaximumSession(parties)
        return [session.find(score) for _ in range(RUNS)]

    _, log = record(each(play, *scores))
    by_way: dict[tuple[str, str, str], list[bytes]] = {}
    for sent in log:
        for kind in ("garbled-circuit", "extension-columns", "extension-messages", "maximum", "maximum-share"):
            if sent.message[4:].startswith(bytes([len(kind)]) + kind.encode()):
                by_way.setdefault((sent.sender, sent.receiver, kind), []).append(sent.message)
    for messages in by_way.values():
        assert len(messages) == RUNS
        assert len({len(message) for message in messages}) == 1
        rounds.append(np.frombuffer(b"".join(messages), np.uint8).reshape(RUNS, -1))
    return sorted(by_way), np.unpackbits(np.concatenate(rounds, axis=1), axis=1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([LARGEST, 0], [LARGEST, LARGEST - 1]),
        ([0, LARGEST], [LARGEST - 1, LARGEST]),
        ([5, LARGEST, 0], [5, LARGEST, LARGEST - 1]),
    ],
)
def test_messages_look_alike_whatever_the_losing_score(one, other):
    """Kinds, numbers and lengths of messages are equal, and no bit of a message depends on the losing score.

    By Hoeffding, the share of set bits in 45 rounds differs between two equal distributions by more than 0.93 with a
    probability below 2 exp(-45 x 0.93^2) = 3e-17 per bit; with below 1e6 bits, a false alarm has less than 1e-9. The
    share of set bits overall differs by more than 7 standard deviations with a probability below 1e-11.
    """
    ways, bits = recorded_bits(one)
    other_ways, other_bits = recorded_bits(other)
    assert ways == other_ways
    assert bits.shape == other_bits.shape
    assert bits.shape[1] < 1_000_000
    assert np.abs(bits.mean(axis=0) - other_bits.mean(axis=0)).max() <= DIFFERENCE
    changing = bits.std(axis=0) + other_bits.std(axis=0) > 0
    sizes = changing.sum() * RUNS
    assert abs(bits[:, changing].mean() - other_bits[:, changing].mean()) < 7 * (0.5 / sizes) ** 0.5
    assert changing.mean() > 0.5


def test_the_result_is_the_only_thing_that_the_winner_is_told():
    _, log = record(each(secure_maximum, LARGEST, 7, 8, 9))
    told = [unpack_message("maximum", sent.message).fields for sent in log if b"\x07maximum" in sent.message[:12]]
    assert [dict(fields) for fields in told] == [{NUMBER: fields[NUMBER], "winner": 1} for fields in told]
    assert len(told) == 3
    to_further = [sent for sent in log if sent.receiver in {"p2", "p3"}]
    assert len(to_further) == 2
