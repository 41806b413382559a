"""The secure comparison reveals whether the first party's number is less than the second's.

Two parties, semi-honest. **Both** learn this one bit and nothing else about the other's 64-bit number. One
garbled circuit of 64 AND gates, see `sfumato.fusing.secure.garbled_circuit`, which states the assumptions. Cost: 128
oblivious transfers (about 35 ms).
"""

from __future__ import annotations

from sfumato.fusing.secure.channel import PAIR, Parties, check_party_count
from sfumato.fusing.secure.circuits import WIDTH, make_less_circuit
from sfumato.fusing.secure.garbled_circuit import run_evaluator, run_garbler
from sfumato.fusing.secure.transfer_extension import OTExtensionReceiver, OTExtensionSender
from sfumato.validation import is_integer, require


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
