"""The secure comparison reveals whether the first party's number is less than the second's.

Two parties, semi-honest. **Both** learn this one bit and nothing else about the other's 64-bit number. One
garbled circuit of 64 AND gates, see `sfumato.fusion.secure._garbled_circuit`, which states the assumptions. Cost: 128
oblivious transfers (about 35 ms).
"""

from __future__ import annotations

import secrets

from sfumato._validation import is_integer, require
from sfumato.fusion.secure._garbled_circuit import (
    WIDTH,
    make_less_circuit,
    make_maximum_circuit,
    run_evaluator,
    run_garbler,
)
from sfumato.fusion.secure.channel import PAIR, Parties, check_party_count
from sfumato.fusion.secure.oblivious_transfer import OTExtensionReceiver, OTExtensionSender


def secure_less(parties: Parties, number: int) -> bool:
    """Return whether the number of the first party is less than the number of the second.

    Parameters
    ----------
    parties
        The two parties; both call this function.
    number
        My number, from 0 to 2**64 - 1.
    """
    check_party_count(parties, "secure_less", most=PAIR)
    within = is_integer(number) and 0 <= number < 2**WIDTH
    require(within, "secure_less", "number", "a whole number from 0 to 2**64 - 1", "another")
    bits = [number >> place & 1 for place in range(WIDTH)]
    if parties.index == 0:
        run_garbler(parties, OTExtensionSender(parties), make_less_circuit(), bits)
        return bool(parties.receive(parties.peer, "comparison").integer("less", least=0, most=1))
    (less,) = run_evaluator(parties, OTExtensionReceiver(parties), make_less_circuit(), bits)
    parties.send(parties.peer, "comparison", less=less)
    return bool(less)


# The secure maximum: who has the greatest score, and nothing else about any score.
#
# Two or more parties, semi-honest. Every party has a 64-bit whole number. **All parties** learn the index of the
# party with the greatest number, the lowest index among equal ones, or that all numbers are 0; nobody learns anything
# else about another's number, neither its size nor how close it was.
#
# With two parties, the first garbles a circuit and the second evaluates it, see
# `sfumato.fusion.secure._garbled_circuit`.
# With more, every further party splits its number into two random shares, whose XOR it is, one for the first party and
# one for the second; these two put all shares into one circuit. **Assumption** with three or more parties: the first
# and
# the second do not collude; together they would see everything. Any other coalition learns no more than its own
# numbers and the result reveal.
#
# Cost: 128 oblivious transfers once per session (about 35 ms), then per maximum of N parties about `130 * (N - 1)` AND
# gates and `64 * (N - 1)` extended transfers: with two parties 3 ms and 11 kilobytes, with five 7 ms and 36 kilobytes.

MAX_SCORE = 2**WIDTH - 1


class MaximumSession:
    """Find many maxima among the same parties; all of them make a session and use it equally often."""

    def __init__(self, parties: Parties) -> None:
        check_party_count(parties, "MaximumSession")
        self._parties = parties
        first, second = parties.names[:2]
        self._transfer: OTExtensionSender | OTExtensionReceiver | None = None
        if parties.me == first:
            self._transfer = OTExtensionSender(parties.pair(first, second))
        elif parties.me == second:
            self._transfer = OTExtensionReceiver(parties.pair(first, second))

    def find(self, score: int) -> int | None:
        """Return the index of the party with the greatest score, or `None` if all scores are 0."""
        within = is_integer(score) and 0 <= score <= MAX_SCORE
        require(within, self, "score", "a whole number from 0 to 2**64 - 1", "another")
        parties = self._parties
        first, second = parties.names[:2]
        circuit = make_maximum_circuit(len(parties.names))
        if isinstance(self._transfer, OTExtensionSender):
            run_garbler(parties.pair(first, second), self._transfer, circuit, self._inputs(score))
            return self._decode_result(second)
        if isinstance(self._transfer, OTExtensionReceiver):
            above, *index = run_evaluator(parties.pair(first, second), self._transfer, circuit, self._inputs(score))
            winner = sum(bit << place for place, bit in enumerate(index)) + 1 if above else 0
            parties.broadcast("maximum", winner=winner)
            return winner - 1 if winner else None
        share = secrets.randbits(WIDTH)
        parties.send(first, "maximum-share", share=share.to_bytes(WIDTH // 8, "little"))
        parties.send(second, "maximum-share", share=(share ^ score).to_bytes(WIDTH // 8, "little"))
        return self._decode_result(second)

    def _inputs(self, score: int) -> list[int]:
        """Combine my number and the shares of the other parties, as bits."""
        numbers = [score]
        for name in self._parties.names[2:]:
            share = self._parties.receive(name, "maximum-share").blob("share", length=WIDTH // 8)
            numbers.append(int.from_bytes(share, "little"))
        return [number >> place & 1 for number in numbers for place in range(WIDTH)]

    def _decode_result(self, second: str) -> int | None:
        told = self._parties.receive(second, "maximum")
        winner = told.integer("winner", least=0, most=len(self._parties.names))
        return winner - 1 if winner else None


def secure_maximum(parties: Parties, score: int) -> int | None:
    """Return the index of the party with the greatest score, or `None` if all scores are 0.

    Parameters
    ----------
    parties
        The parties; each of them calls this function.
    score
        My number, from 0 to 2**64 - 1.
    """
    return MaximumSession(parties).find(score)
