"""The key of a ledger: a file of its own, without which nobody recognizes the ledger's persons."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ReadError, WriteError
from sfumato.io._individuals import individual_keys

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


# Persons as a ledger knows them: keyed hashes of their identifiers, which only the key connects with anybody.

TOKEN = 16  # bytes of a person's hash that are kept; the rest hides her values
Pads = npt.NDArray[np.uint64]
Tokens: TypeAlias = pa.Array  # of fixed-size binary
KIND = pa.binary(TOKEN)
PADS = (32 - TOKEN) // 8
MORE = 4  # pads of one further hash


@dataclass(frozen=True, eq=False, repr=False)
class HashedIndividuals:
    """The persons of a table: a token for each, and what hides her permanent values.

    The hash of a person is HMAC-SHA-256. Its first half is her token, which is kept. Its second half never is: it is
    added, bit by bit, to the hashes of her values, so that equal values of two persons look unlike.
    """

    tokens: Tokens
    pads: tuple[Pads, ...]

    def __len__(self) -> int:
        return len(self.tokens)


def hash_individuals(
    table: pa.Table, identifiers: Sequence[str], key: LedgerKey, attributes: int = PADS
) -> HashedIndividuals:
    """Hash the identifiers of every row, each as its canonical text in Unicode NFC with its length before it.

    Rows without an identifier are refused, and persons with two rows.
    """
    digests = key.digests(list(individual_keys(table, identifiers).cast(pa.binary()).to_pylist()))
    joined = np.frombuffer(b"".join(digests), dtype=np.uint64).reshape(-1, 4)
    tokens = split_tokens(joined[:, : TOKEN // 8].tobytes())
    pads = [joined[:, TOKEN // 8 + place].copy() for place in range(PADS)]
    for number in range(-(-max(0, attributes - PADS) // MORE)):
        more = key.digests([b"pads %d " % number + digest for digest in digests])
        pads += list(np.frombuffer(b"".join(more), dtype=np.uint64).reshape(-1, MORE).T.copy())
    return HashedIndividuals(tokens, tuple(pads))


def hash_values(values: pa.Array, attribute: str, pads: Pads, key: LedgerKey) -> Pads:
    """Hash the value of every person with the key, and hide it by what only she has."""
    coded = values.dictionary_encode(null_encoding="encode")
    named = [b"" if text is None else b"v" + text.encode() for text in coded.dictionary.to_pylist()]
    owner = attribute.encode()
    hashes = key.digests([b"%d:%s:%s" % (len(owner), owner, value) for value in named])
    short = np.frombuffer(b"".join(each[:8] for each in hashes), dtype=np.uint64)
    return np.asarray(short[coded.indices.to_numpy(zero_copy_only=False)] ^ pads)


def split_tokens(joined: bytes) -> Tokens:
    """Read tokens that were kept one after the other."""
    return pa.FixedSizeBinaryArray.from_buffers(KIND, len(joined) // TOKEN, [None, pa.py_buffer(joined)])


def join_tokens(tokens: Tokens) -> bytes:
    """Put tokens one after the other, to be kept."""
    if not len(tokens):
        return b""
    return np.frombuffer(tokens.buffers()[1], np.uint8, len(tokens) * TOKEN, tokens.offset * TOKEN).tobytes()


def random_token() -> bytes:
    """Draw a token that belongs to nobody."""
    return secrets.token_bytes(TOKEN)
