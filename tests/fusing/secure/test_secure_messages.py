"""Messages read back as they were written, and nothing else is a message."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sfumato.errors import ProtocolError
from sfumato.fusion.secure.messages import VERSION, pack_message, unpack_message

ARRAYS = st.sampled_from(["?", "u1", "<i2", "<i4", "<i8", "<u4", "<u8"]).flatmap(
    lambda dtype: hnp.arrays(np.dtype(dtype), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=12))
)
VALUES = st.one_of(
    st.integers(-(2**300), 2**300),
    st.text(max_size=30),
    st.binary(max_size=60),
    st.lists(st.binary(max_size=9)),
    ARRAYS,
)
FIELDS = st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True).filter(lambda name: name != "kind"), VALUES)
EXAMPLE = pack_message(
    "greeting", age=-7, name="Zoë", key=b"\0\1", keys=[b"", b"abc"], row=np.arange(400, dtype=np.int64) % 3
)


@given(FIELDS)
def test_a_message_reads_back_as_it_was_written(fields):
    read = unpack_message("kept", pack_message("kept", **fields)).fields
    assert set(read) == set(fields)
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            assert read[name].dtype == value.dtype
            assert read[name].shape == value.shape
            assert np.array_equal(read[name], value)
        else:
            assert type(read[name]) is type(value)
            assert read[name] == value


def test_arrays_that_repeat_themselves_are_compressed_and_random_ones_are_not():
    dull = np.zeros(100_000, np.int64)
    random = np.random.default_rng(5).integers(0, 2**63, 1000, np.uint64)
    assert len(pack_message("m", a=dull)) < dull.nbytes / 100
    assert random.nbytes < len(pack_message("m", a=random)) < random.nbytes + 60
    assert np.array_equal(unpack_message("m", pack_message("m", a=random)).array("a", dtype="<u8"), random)


@pytest.mark.parametrize("length", range(len(EXAMPLE)))
def test_a_message_that_is_cut_off_is_refused(length):
    with pytest.raises(ProtocolError):
        unpack_message("greeting", EXAMPLE[:length])


def test_a_message_with_something_behind_it_is_refused():
    with pytest.raises(ProtocolError, match="malformed"):
        unpack_message("greeting", EXAMPLE + b"\0")


@given(st.integers(0, len(EXAMPLE) - 1), st.integers(1, 255))
def test_a_changed_byte_never_raises_anything_else(place, change):
    spoiled = bytearray(EXAMPLE)
    spoiled[place] ^= change
    try:
        unpack_message("greeting", bytes(spoiled))
    except ProtocolError as error:
        assert "Zo" not in str(error)  # noqa: PT017 - it need not raise


@given(st.binary(max_size=80))
def test_bytes_that_are_no_message_are_refused(data):
    with pytest.raises(ProtocolError):
        unpack_message("greeting", data)
    with pytest.raises(ProtocolError):
        unpack_message("greeting", EXAMPLE[:14] + data)


def test_another_version_is_told():
    other = EXAMPLE[:3] + bytes([VERSION + 1]) + EXAMPLE[4:]
    with pytest.raises(ProtocolError, match=r"version 2, but this is version 1; install the same version"):
        unpack_message("greeting", other)


def test_another_kind_is_told_without_repeating_it():
    with pytest.raises(ProtocolError, match="A message 'farewell' was expected from party 'b', but another") as caught:
        unpack_message("farewell", EXAMPLE, sender="party 'b'")
    assert "greeting" not in str(caught.value)


def test_a_message_above_the_limit_is_refused():
    with pytest.raises(ProtocolError, match="more than the 100 allowed"):
        unpack_message("greeting", pack_message("greeting", key=bytes(200)), limit=100)


def array_message(shape: tuple[int, ...], body: bytes, *, squeezed: int) -> bytes:
    head = b"B" + struct.pack(f">B{len(shape)}QB", len(shape), *shape, squeezed)
    field = b"\1a" + b"a" + struct.pack(">Q", len(head) + len(body)) + head + body
    return b"SFU\1" + b"\1m" + struct.pack(">H", 1) + field


def test_what_swells_beyond_the_limit_is_refused_before_it_swells():
    assert unpack_message("m", array_message((4,), b"abcd", squeezed=0)).array("a", dtype="|u1").tolist() == [
        97,
        98,
        99,
        100,
    ]
    bomb = zlib.compress(bytes(10_000_000))
    for size in (10_000_000, 1000):
        message = array_message((size,), bomb, squeezed=1)
        tracemalloc.start()
        with pytest.raises(ProtocolError, match="malformed"):
            unpack_message("m", message, limit=1_000_000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1_000_000


@pytest.mark.parametrize(
    ("shape", "body", "squeezed"),
    [
        ((5,), b"abcd", 0),
        ((3,), b"abcd", 0),
        ((0, 2**60), b"", 0),
        ((0, 2**28, 2**28, 2**28), b"", 0),
        ((2**62, 4), b"", 0),
        ((1, 1, 1, 1, 1), b"a", 0),
        ((4,), b"abcd", 2),
        ((4,), b"abcd", 1),
        ((4,), zlib.compress(b"abcd") + b"x", 1),
        ((4,), zlib.compress(b"abcd")[:-1], 1),
    ],
)
def test_arrays_that_are_not_what_they_say_are_refused(shape, body, squeezed):
    with pytest.raises(ProtocolError, match="malformed"):
        unpack_message("m", array_message(shape, body, squeezed=squeezed))


def test_a_truth_value_is_zero_or_one():
    good = pack_message("m", a=np.array([True, False]))
    assert unpack_message("m", good).array("a", dtype="|b1").tolist() == [True, False]
    with pytest.raises(ProtocolError, match="malformed"):
        unpack_message("m", good[:-1] + b"\7")


def test_a_field_that_comes_twice_is_refused():
    once = pack_message("m", a=1)
    field = once[len(pack_message("m")) :]
    assert unpack_message("m", once).integer("a", least=1, most=1) == 1
    with pytest.raises(ProtocolError, match="malformed"):
        unpack_message("m", once[:6] + struct.pack(">H", 2) + field + field)


def test_fields_are_checked_when_they_are_read():
    message = unpack_message("greeting", EXAMPLE, sender="party 'b'")
    assert message.integer("age", least=-7, most=-7) == -7
    assert message.text("name") == "Zoë"
    assert message.blob("key", length=2) == b"\0\1"
    assert message.blobs("keys", count=2) == [b"", b"abc"]
    assert message.array("row", dtype="<i8", shape=(400,)).sum() == 399
    for read in [
        lambda: message.integer("age", least=0, most=9),
        lambda: message.integer("name", least=0, most=9),
        lambda: message.integer("missing", least=0, most=9),
        lambda: message.text("age"),
        lambda: message.blob("key", length=3),
        lambda: message.blobs("keys", count=3),
        lambda: message.blobs("keys", length=3),
        lambda: message.array("row", dtype="<u8"),
        lambda: message.array("row", dtype="<i8", shape=(399,)),
    ]:
        with pytest.raises(ProtocolError, match="The message 'greeting' from party 'b' cannot be used") as caught:
            read()
        assert "Zo" not in str(caught.value)
    assert "Zo" not in repr(message)
