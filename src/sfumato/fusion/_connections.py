"""Where a party can be reached, where it reaches the others, and how long it waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sfumato._validation import is_finite_number, require
from sfumato.errors import SchemaError
from sfumato.fusion.certificates import Credentials
from sfumato.fusion.session import SessionParameters

LAST_PORT = 65535
MIN_SILENCE = 2


@dataclass(frozen=True, kw_only=True)
class Address:
    """A host and a port."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str, owner: str) -> Address:
        """Read `host:port`.

        >>> Address.parse("[::1]:7701", "listen")
        Address(host='::1', port=7701)
        """
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) <= LAST_PORT):
            raise SchemaError(f'{owner} must be host:port, as in "clinic.example:7701"; correct {text!r}.')
        return cls(host=host, port=int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another party: its name, a copy of its certificate, and where it listens, if it does so for this party."""

    name: str
    certificate: Path
    address: Address | None = None


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """How long a party waits, in seconds.

    Parameters
    ----------
    others : for all the others to arrive.
    silence : for any sign of life from a party; all of them send such signs twice a second while they compute.
    step : for the next message from a party that is alive.
    """

    others: float = 600.0
    silence: float = 60.0
    step: float = 3600.0

    def __post_init__(self) -> None:
        for name, least in (("others", 0), ("silence", MIN_SILENCE), ("step", MIN_SILENCE)):
            given = getattr(self, name)
            require(is_finite_number(given) and given >= least, self, name, f"at least {least} seconds", given)


@dataclass(frozen=True, kw_only=True)
class PeerConnections:
    """How one party reaches the others.

    Of two parties, the one named first in the agreement listens, and the other connects to it.

    Parameters
    ----------
    me : the name of this party.
    identity : its key and its certificate.
    peers : the others.
    listen : where later parties in the agreement reach this one; the last party needs none.
    waiting : how long to wait.
    """

    me: str
    identity: Credentials
    peers: Sequence[Peer]
    listen: Address | None = None
    waiting: Timeouts = field(default_factory=Timeouts)

    def for_session(self, agreement: SessionParameters) -> tuple[dict[str, Peer], dict[str, Address]]:
        """Return the others by name, and where those listen that this party connects to; refuse what is missing."""
        peers = {peer.name: peer for peer in self.peers}
        wanted = [name for name in agreement.parties if name != self.me]
        if self.me not in agreement.parties:
            raise SchemaError(f"The agreement does not name party {self.me!r}; correct one of them.")
        if len(peers) < len(self.peers) or set(peers) != set(wanted):
            raise SchemaError(
                f"The peers of party {self.me!r} are not the other parties of the agreement; list each of them once."
            )
        place = agreement.parties.index(self.me)
        if self.listen is None and place + 1 < len(agreement.parties):
            raise SchemaError(
                f"Party {self.me!r} needs an address to listen on: {agreement.parties[place + 1]!r} connects to it."
            )
        addresses: dict[str, Address] = {}
        for name in agreement.parties[:place]:
            address = peers[name].address
            if address is None:
                raise SchemaError(f"Party {self.me!r} connects to {name!r}, so it needs the address of that peer.")
            addresses[name] = address
        return peers, addresses
