"""Protocols for parties that compute together and reveal nothing else.

Each module says who learns what, against whom it protects, how many parties it needs and what it costs. All
protocols assume semi-honest parties: they follow the protocol and try to learn from what they see. They are pure: a
protocol gets a `Parties`, which names the parties and has a channel to each, and returns the result. The cryptography
is libsodium's (extra `parties`) and Python's own `hashlib`; randomness comes from the operating system.

>>> from sfumato.fusion import secure
>>> secure.run_parties({
...     "clinic": lambda parties: secure.secure_less(parties, 7),
...     "agency": lambda parties: secure.secure_less(parties, 9),
... })
{'clinic': True, 'agency': True}
"""

from __future__ import annotations

from sfumato.fusion.secure.arithmetic import (
    ScalarProductSession,
    secure_scalar_product,
    secure_scalar_product_share,
    secure_sum,
    secure_sums,
)
from sfumato.fusion.secure.channel import Channel, Parties, memory_channels, run_parties
from sfumato.fusion.secure.comparison import MaximumSession, secure_less, secure_maximum
from sfumato.fusion.secure.frequent_itemsets import frequent_itemsets_horizontal, frequent_itemsets_vertical
from sfumato.fusion.secure.messages import Message, pack_message, unpack_message
from sfumato.fusion.secure.oblivious_transfer import (
    OTExtensionReceiver,
    OTExtensionSender,
    receive_k_of_n,
    receive_one_of_two,
    send_k_of_n,
    send_one_of_two,
)
from sfumato.fusion.secure.set_intersection import secure_intersection
from sfumato.fusion.secure.set_union import secure_union

__all__ = [
    "Channel",
    "MaximumSession",
    "Message",
    "OTExtensionReceiver",
    "OTExtensionSender",
    "Parties",
    "ScalarProductSession",
    "frequent_itemsets_horizontal",
    "frequent_itemsets_vertical",
    "memory_channels",
    "pack_message",
    "receive_k_of_n",
    "receive_one_of_two",
    "run_parties",
    "secure_intersection",
    "secure_less",
    "secure_maximum",
    "secure_scalar_product",
    "secure_scalar_product_share",
    "secure_sum",
    "secure_sums",
    "secure_union",
    "send_k_of_n",
    "send_one_of_two",
    "unpack_message",
]
