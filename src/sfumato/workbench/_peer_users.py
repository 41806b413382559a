"""Who is at the other end of a connection: on Linux, the system tells which user of this machine a socket is of."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

ESTABLISHED = "01"
Address = tuple[str, int]


def is_other_user(client: Address | None, server: Address | None) -> bool:
    """Return whether a connection is known to come from another user of this machine, who is no administrator.

    Somebody who sees the address that opens the page in the list of processes, or is sent the cookie, thus has no use
    for it. Other systems than Linux do not tell, and connections from other machines are none of this one's users.
    """
    if client is None or server is None:
        return False
    owner = socket_owner(client, server)
    return owner is not None and owner not in {0, os.getuid(), int(os.environ.get("SUDO_UID", "0"))}


def socket_owner(client: Address, server: Address) -> int | None:
    """Return the number of the user whose socket a connection begins at; None where the system does not tell."""
    kind = "tcp6" if ":" in client[0] else "tcp"
    try:
        lines = Path(f"/proc/net/{kind}").read_text(encoding="ascii").splitlines()[1:]
        wanted = [_format_address(*client[:2]), _format_address(*server[:2]), ESTABLISHED]
    except (OSError, ValueError):
        return None
    return next((int(parts[7]) for parts in map(str.split, lines) if parts[1:4] == wanted), None)


def _format_address(host: str, port: int) -> str:
    """Write an address as the system does: words of 32 bits as this processor orders their bytes."""
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(packed) // 4}I", packed)) + f":{port:04X}"
