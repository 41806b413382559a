"""Boolean circuits for the garbled protocols: XOR and NOT cost nothing there, AND costs 32 bytes.

A circuit is public; all parties build the same one. Numbers are lists of wires, lowest bit first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

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
