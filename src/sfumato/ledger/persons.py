"""Persons as a ledger knows them: keyed hashes of their identifiers, which only the key connects with anybody."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.ledger.key import LedgerKey
from sfumato.table.persons import individual_keys

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
