"""The key of a ledger: a file of its own, without which nobody recognizes the ledger's persons."""

from __future__ import annotations

import hmac
import os
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from sfumato.exceptions import ReadError, WriteError

FORMAT = "sfumato ledger key 1"
RECOGNIZED_BY = b"sfumato ledger"
PUBLISHED = "public"
BLOCK = 64  # bytes that SHA-256 works on at a time
INNER, OUTER = 0x36, 0x5C  # RFC 2104


@dataclass(frozen=True)
class LedgerKey:
    """A secret of 256 bits."""

    secret: bytes = field(repr=False)

    @classmethod
    def make(cls, path: Path) -> LedgerKey:
        """Draw a key and write it into a new file that only its owner may read."""
        made = cls(secrets.token_bytes(32))
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise WriteError(f"{path} already exists; name another file for the key.") from None
        except OSError as error:
            raise WriteError(f"The key file {path} cannot be written: {error.strerror}.") from None
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{FORMAT}\n{made.secret.hex()}\n")
            file.flush()
            os.fsync(file.fileno())
        return made

    @classmethod
    def read(cls, path: Path) -> LedgerKey:
        """Read a key file; refuse one that others may read, too."""
        check_permissions(path, "key")
        try:
            format_, secret = path.read_text("ascii").split("\n")[:2]
            known = cls(bytes.fromhex(secret))
        except FileNotFoundError:
            raise ReadError(f"There is no key file {path}; the ledger cannot be used without its key.") from None
        except (OSError, ValueError):
            raise ReadError(f"{path} is not the key file of a ledger; restore it from a copy.") from None
        if format_ != FORMAT or len(known.secret) != sha256().digest_size:
            raise ReadError(f"{path} is not the key file of a ledger; restore it from a copy.")
        return known

    @cached_property
    def check(self) -> str:
        """What a ledger recognizes its key by."""
        return self.digest(RECOGNIZED_BY).hex()

    def digest(self, message: bytes) -> bytes:
        """Return the HMAC-SHA-256 of a message."""
        return hmac.digest(self.secret, message, "sha256")

    def digests(self, messages: list[bytes]) -> list[bytes]:
        """Return the HMAC-SHA-256 of every message; both pads of the key are hashed only once."""
        inner, outer = (sha256(bytes(byte ^ pad for byte in self.secret.ljust(BLOCK, b"\0"))) for pad in (INNER, OUTER))
        found = []
        for message in messages:
            begun, ended = inner.copy(), outer.copy()
            begun.update(message)
            ended.update(begun.digest())
            found.append(ended.digest())
        return found


def check_not_public(path: Path, what: str) -> None:
    """Refuse a confidential file in a folder that is safe to share."""
    if any(part.casefold() == PUBLISHED for part in path.absolute().parts) or any(
        part.casefold() == PUBLISHED for part in path.resolve().parts
    ):
        raise WriteError(f"{path} is in a folder named public, and the {what} of a series is confidential; move it.")


def check_permissions(path: Path, what: str) -> None:
    """Refuse a confidential file that others than its owner may read or write, where the system knows of that."""
    if hasattr(os, "getuid") and path.exists() and path.stat().st_mode & 0o077:
        raise ReadError(f"Others may read the {what} file {path}; take that away by chmod 600.")
