"""Yao's garbled circuits: two parties compute a circuit on their inputs and learn only its output.

Two parties, semi-honest. The **evaluator** learns the outputs and nothing about the garbler's inputs. The **garbler**
learns nothing, unless the evaluator sends it the outputs. Labels of 128 bits, XOR and NOT without tables (Kolesnikov
and Schneider 2008), AND as two half gates (Zahur, Rosulek and Evans 2015), SHA-256 with the number of the gate as hash.
The evaluator gets the labels of its inputs by oblivious transfer. It assumes that SHA-256 is circular correlation
robust and whatever the transfer assumes. Every circuit is garbled afresh and evaluated once.

Cost: per AND gate 32 bytes, four hashes at the garbler and two at the evaluator, about 8 microseconds; per input bit
of the evaluator one transfer.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from sfumato.fusion.secure.channel import Parties
from sfumato.fusion.secure.oblivious_transfer import Bytes, OTExtensionReceiver, OTExtensionSender

# Boolean circuits for the garbled protocols: XOR and NOT cost nothing there, AND costs 32 bytes.
#
# A circuit is public; all parties build the same one. Numbers are lists of wires, lowest bit first.

WIDTH = 64  # bits of a score


class Gate(NamedTuple):
    """One gate; its output is the next wire. For NOT, `right` is `left`."""

    kind: Literal["xor", "and", "not"]
    left: int
    right: int


@dataclass(frozen=True, kw_only=True)
class Circuit:
    """Wires are numbered: first the inputs of the garbler, then those of the evaluator, then one wire per gate."""

    garbler_inputs: int
    evaluator_inputs: int
    gates: tuple[Gate, ...]
    outputs: tuple[int, ...]

    @property
    def and_gates(self) -> int:
        """The number of gates that cost something."""
        return sum(gate.kind == "and" for gate in self.gates)


class CircuitBuilder:
    """Collect gates; every method returns the wires of its result."""

    def __init__(self, *, garbler_inputs: int, evaluator_inputs: int) -> None:
        self._garbler_inputs = garbler_inputs
        self._evaluator_inputs = evaluator_inputs
        self._gates: list[Gate] = []

    def xor(self, left: int, right: int) -> int:
        """Return whether exactly one of two bits is set."""
        return self._gate("xor", left, right)

    def and_(self, left: int, right: int) -> int:
        """Return whether both bits are set."""
        return self._gate("and", left, right)

    def not_(self, wire: int) -> int:
        """Flip a bit."""
        return self._gate("not", wire, wire)

    def or_(self, left: int, right: int) -> int:
        """Return whether at least one of two bits is set."""
        return self.xor(self.xor(left, right), self.and_(left, right))

    def greater(self, left: Sequence[int], right: Sequence[int]) -> int:
        """Return whether one unsigned number is greater than another of the same length; one AND per bit."""
        above = self.and_(left[0], self.not_(right[0]))
        for mine, theirs in zip(left[1:], right[1:], strict=True):
            differs = self.and_(self.xor(mine, above), self.xor(theirs, above))
            above = self.xor(mine, differs)
        return above

    def select(self, condition: int, when_set: Sequence[int], otherwise: Sequence[int]) -> list[int]:
        """Choose between two numbers; one AND per bit."""
        return [
            self.xor(low, self.and_(condition, self.xor(high, low)))
            for high, low in zip(when_set, otherwise, strict=True)
        ]

    def any_(self, wires: Sequence[int]) -> int:
        """Return whether any bit is set."""
        found = wires[0]
        for wire in wires[1:]:
            found = self.or_(found, wire)
        return found

    def build(self, outputs: Sequence[int]) -> Circuit:
        """Return the circuit with these outputs."""
        return Circuit(
            garbler_inputs=self._garbler_inputs,
            evaluator_inputs=self._evaluator_inputs,
            gates=tuple(self._gates),
            outputs=tuple(outputs),
        )

    def _gate(self, kind: Literal["xor", "and", "not"], left: int, right: int) -> int:
        self._gates.append(Gate(kind, left, right))
        return self._garbler_inputs + self._evaluator_inputs + len(self._gates) - 1


@cache
def make_less_circuit() -> Circuit:
    """Return whether the garbler's number is less than the evaluator's."""
    builder = CircuitBuilder(garbler_inputs=WIDTH, evaluator_inputs=WIDTH)
    return builder.build([builder.greater(range(WIDTH, 2 * WIDTH), range(WIDTH))])


@cache
def make_maximum_circuit(numbers: int) -> Circuit:
    """Find the first largest of several numbers: whether it is above 0, and its index in binary.

    The first number is the garbler's, the second the evaluator's. For every further one, both put in a share; the
    number is their XOR.
    """
    side = (numbers - 1) * WIDTH
    builder = CircuitBuilder(garbler_inputs=side, evaluator_inputs=side)
    values = [list(range(WIDTH)), list(range(side, side + WIDTH))]
    values += [
        [builder.xor(wire, side + wire) for wire in range(start, start + WIDTH)] for start in range(WIDTH, side, WIDTH)
    ]
    best = values[0]
    index: list[int | None] = [None] * (numbers - 1).bit_length()
    for number in range(1, numbers):
        won = builder.greater(values[number], best)
        best = builder.select(won, values[number], best)
        index = [_select_bit(builder, won, number >> place & 1, wire) for place, wire in enumerate(index)]
    outputs = [builder.any_(best), *(wire for wire in index if wire is not None)]
    return builder.build(outputs)


def _select_bit(builder: CircuitBuilder, won: int, bit: int, wire: int | None) -> int | None:
    """Replace one bit of the index so far by a constant if `won` is set; no wire represents a constant 0."""
    if wire is None:
        return won if bit else None
    return builder.or_(won, wire) if bit else builder.and_(builder.not_(won), wire)


LABEL = 16  # bytes

_HALVES = 2


def run_garbler(parties: Parties, transfer: OTExtensionSender, circuit: Circuit, bits: Sequence[int]) -> None:
    """Garble a circuit with my input bits, and let the other party evaluate it."""
    offset = secrets.randbits(8 * LABEL) | 1
    inputs = circuit.garbler_inputs + circuit.evaluator_inputs
    zeros = [secrets.randbits(8 * LABEL) for _ in range(inputs)]
    tables: list[int] = []
    for gate in circuit.gates:
        left, right = zeros[gate.left], zeros[gate.right]
        if gate.kind == "xor":
            zeros.append(left ^ right)
        elif gate.kind == "not":
            zeros.append(left ^ offset)
        else:
            output, rows = _garble_and(left, right, offset, len(tables))
            zeros.append(output)
            tables += rows
    mine = [zero ^ offset * bit for zero, bit in zip(zeros, bits, strict=False)]
    parties.send(
        parties.peer,
        "garbled-circuit",
        tables=_joined(tables),
        labels=_joined(mine),
        meaning=bytes(zeros[wire] & 1 for wire in circuit.outputs),
    )
    theirs = zeros[circuit.garbler_inputs : inputs]
    transfer.send(_label_rows(theirs), _label_rows([zero ^ offset for zero in theirs]))


def run_evaluator(parties: Parties, transfer: OTExtensionReceiver, circuit: Circuit, bits: Sequence[int]) -> list[int]:
    """Evaluate the circuit that the other party garbles, on my input bits, and return the output bits."""
    received = parties.receive(parties.peer, "garbled-circuit")
    tables = _split(received.blob("tables", length=_HALVES * LABEL * circuit.and_gates))
    labels = _split(received.blob("labels", length=LABEL * circuit.garbler_inputs))
    meaning = received.blob("meaning", length=len(circuit.outputs))
    labels += _split(transfer.receive(np.array(bits, np.bool_), LABEL).tobytes())
    used = 0
    for gate in circuit.gates:
        left, right = labels[gate.left], labels[gate.right]
        if gate.kind == "xor":
            labels.append(left ^ right)
        elif gate.kind == "not":
            labels.append(left)
        else:
            labels.append(_evaluate_and(left, right, tables[used], tables[used + 1], used))
            used += _HALVES
    return [(labels[wire] ^ means) & 1 for wire, means in zip(circuit.outputs, meaning, strict=True)]


def _garble_and(left: int, right: int, offset: int, number: int) -> tuple[int, tuple[int, int]]:
    """Garble an AND gate: return the label of its output 0, and the two rows of its table."""
    left_hash, right_hash = _hash(left, number), _hash(right, number + 1)
    garbler_row = left_hash ^ _hash(left ^ offset, number) ^ offset * (right & 1)
    evaluator_row = right_hash ^ _hash(right ^ offset, number + 1) ^ left
    garbler_half = left_hash ^ garbler_row * (left & 1)
    evaluator_half = right_hash ^ (evaluator_row ^ left) * (right & 1)
    return garbler_half ^ evaluator_half, (garbler_row, evaluator_row)


def _evaluate_and(left: int, right: int, garbler_row: int, evaluator_row: int, number: int) -> int:
    garbler_half = _hash(left, number) ^ garbler_row * (left & 1)
    evaluator_half = _hash(right, number + 1) ^ (evaluator_row ^ left) * (right & 1)
    return garbler_half ^ evaluator_half


def _hash(label: int, number: int) -> int:
    seed = number.to_bytes(8, "big") + label.to_bytes(LABEL, "big")
    return int.from_bytes(hashlib.sha256(seed).digest()[:LABEL], "big")


def _joined(labels: Sequence[int]) -> bytes:
    return b"".join(label.to_bytes(LABEL, "big") for label in labels)


def _label_rows(labels: Sequence[int]) -> Bytes:
    return np.frombuffer(_joined(labels), np.uint8).reshape(-1, LABEL)


def _split(joined: bytes) -> list[int]:
    return [int.from_bytes(joined[at : at + LABEL], "big") for at in range(0, len(joined), LABEL)]
