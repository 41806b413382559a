"""Sums, scalar products and frequent item sets equal those of the pooled data."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from recorded_parties import each, record
from sfumato.errors import InvalidParameterError, ProtocolError
from sfumato.fusion.secure.arithmetic import (
    ScalarProductSession,
    secure_scalar_product,
    secure_scalar_product_share,
    secure_sum,
    secure_sums,
)
from sfumato.fusion.secure.channel import run_parties
from sfumato.fusion.secure.frequent_itemsets import frequent_itemsets_horizontal, frequent_itemsets_vertical
from sfumato.fusion.secure.messages import unpack_message

NUMBERS = st.integers(-(2**60), 2**60)
RECORDS = st.lists(st.sets(st.sampled_from("abcde")), max_size=6)


@examples(25)
@given(st.integers(3, 6).flatmap(lambda count: st.lists(NUMBERS, min_size=count, max_size=count)))
def test_all_parties_learn_the_sum(numbers):
    assert run_parties(each(secure_sum, *numbers)) == {f"p{at}": sum(numbers) for at in range(len(numbers))}


@examples(25)
@given(st.lists(st.lists(NUMBERS, min_size=4, max_size=4), min_size=3, max_size=4))
def test_many_sums_are_the_single_ones(rows):
    arrays = [np.array(row).reshape(2, 2) for row in rows]
    for total in run_parties(each(secure_sums, *arrays)).values():
        assert total.tolist() == sum(arrays).tolist()


def test_two_parties_are_refused_because_the_sum_tells_all():
    with pytest.raises(
        InvalidParameterError, match=r"3 or more, because the result of fewer reveals everything; got 2"
    ):
        run_parties(each(secure_sum, 1, 2))


@pytest.mark.parametrize("number", [2**63 // 3 + 1, -(2**63) // 3 - 1, 2**63, 1.5])
def test_numbers_whose_sum_could_overflow_are_refused(number):
    with pytest.raises(InvalidParameterError, match="whole number"):
        run_parties(each(secure_sum, number, number, number))


def test_the_largest_numbers_do_not_overflow():
    largest = (2**63 - 1) // 3
    assert run_parties(each(secure_sum, *[largest] * 3))["p0"] == 3 * largest
    assert run_parties(each(secure_sum, *[-largest] * 3))["p0"] == -3 * largest


def test_parties_with_different_numbers_of_numbers_are_told():
    with pytest.raises(ProtocolError, match="different settings"):
        run_parties(each(secure_sums, *[np.arange(size) for size in (2, 2, 3)]))


def test_no_number_is_in_any_message_and_each_share_is_random():
    """The shares of a party are uniform: any two of three runs are equal with a probability of 2^-64."""
    numbers = [0x1122334455667788, 0x0102030405060708, 0x0A0B0C0D0E0F1011]
    shares = []
    for _ in range(3):
        _, log = record(each(secure_sum, *numbers))
        wire = b"".join(sent.message for sent in log)
        assert not any(number.to_bytes(8, order) in wire for number in numbers for order in ("big", "little"))
        sent_shares = [unpack_message("sum-share", sent.message) for sent in log if b"sum-share" in sent.message]
        shares += [message.array("share", dtype="<u8").item() for message in sent_shares]
    assert len(set(shares)) == len(shares) == 18


@examples(12)
@given(st.data())
def test_the_scalar_product_is_the_scalar_product(data):
    bits = data.draw(st.sampled_from([1, 3, 20]))
    size = data.draw(st.integers(0, 6))
    left = data.draw(st.lists(st.integers(-(2**30), 2**30), min_size=size, max_size=size))
    right = data.draw(st.lists(st.integers(0, 2**bits - 1), min_size=size, max_size=size))
    expected = sum(one * other for one, other in zip(left, right, strict=True))
    vectors = [np.array(left, np.int64), np.array(right, np.int64)]
    opened = run_parties(each(lambda p, v: secure_scalar_product(p, v, bits=bits), *vectors))
    assert opened == {"p0": expected, "p1": expected}
    shares = run_parties(each(lambda p, v: secure_scalar_product_share(p, v, bits=bits), *vectors))
    assert sum(shares.values()) % 2**64 == expected % 2**64


def test_a_session_computes_many_products():
    rng = np.random.default_rng(4)
    left, right = rng.integers(-9, 9, (2, 3, 50)), rng.random((2, 3, 50)) < 0.4

    def play(parties, batches):
        session = ScalarProductSession(parties)
        return [session.products(batch).tolist() for batch in batches]

    expected = (left * right).sum(axis=2).tolist()
    assert run_parties(each(play, left, right)) == {"p0": expected, "p1": expected}


def test_one_share_alone_tells_nothing():
    """Shares of equal vectors are fresh every time; two of six are equal with a probability below 1e-18."""
    vectors = [np.array([3, 4]), np.array([1, 1])]
    shares = [share for _ in range(3) for share in run_parties(each(secure_scalar_product_share, *vectors)).values()]
    assert len(set(shares)) == 6
    assert min(shares) > 2**40


def test_no_entry_of_a_vector_is_in_any_message():
    secret = 0x1122334455667788
    _, log = record(each(secure_scalar_product_share, np.array([secret, 1]), np.array([1, 0])))
    wire = b"".join(sent.message for sent in log)
    assert not any(secret.to_bytes(8, order) in wire for order in ("big", "little"))


def test_vectors_that_do_not_fit_are_refused():
    with pytest.raises(ProtocolError, match="different settings"):
        run_parties(each(secure_scalar_product, np.array([1, 0]), np.array([1, 0, 1])))
    with pytest.raises(InvalidParameterError, match=r"whole numbers from 0 to 2\*\*1 - 1"):
        run_parties(each(secure_scalar_product, np.array([1, 0]), np.array([1, 2])))
    with pytest.raises(InvalidParameterError, match="whole numbers"):
        run_parties(each(secure_scalar_product, np.array([0.5]), np.array([1.0])))
    with pytest.raises(InvalidParameterError, match="exactly 2"):
        run_parties(each(secure_scalar_product, *[np.array([1])] * 3))


def frequent(records, share):
    """List the frequent sets by trying all."""
    items = sorted(set().union(*records))
    found = {}
    for size in range(1, len(items) + 1):
        for chosen in itertools.combinations(items, size):
            support = sum(set(chosen) <= set(record) for record in records)
            if support and support >= Fraction(str(share)) * len(records):
                found[frozenset(chosen)] = support
    return found


@examples(8)
@given(st.lists(RECORDS, min_size=3, max_size=3), st.sampled_from([0.1, 0.3, 0.5, 1.0]))
def test_patterns_over_rows_are_those_of_the_pooled_rows(tables, share):
    done = run_parties(each(lambda p, records: frequent_itemsets_horizontal(p, records, share=share), *tables))
    assert list(done.values()) == [frequent([*itertools.chain(*tables)], share)] * 3


@examples(8)
@given(st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=8), st.sampled_from([0.1, 0.3, 0.5, 1.0]))
def test_patterns_over_columns_are_those_of_the_joined_columns(records, share):
    columns = {item: np.array([item in record for record in records]) for item in "abcde"}
    halves = [{item: columns[item] for item in names} for names in ("abc", "de")]
    done = run_parties(each(lambda p, mine: frequent_itemsets_vertical(p, mine, share=share), *halves))
    assert list(done.values()) == [frequent(records, share)] * 2


def test_a_share_means_what_is_written():
    """One tenth of ten records is one record, though the float 0.1 is a little more than a tenth."""
    tables = [[{"a"}], [{"b"}] * 5, [{"b"}] * 4]
    done = run_parties(each(lambda p, records: frequent_itemsets_horizontal(p, records, share=0.1), *tables))
    assert done["p1"] == {frozenset("a"): 1, frozenset("b"): 9}


def test_an_item_that_is_frequent_nowhere_is_not_proposed():
    tables = [[{"flu"}] * 3 + [{"canary"}], [{"flu"}] * 4, [{"flu"}, {"gout"}]]
    done, log = record(each(lambda p, records: frequent_itemsets_horizontal(p, records, share=0.5), *tables))
    assert done["p2"] == {frozenset(["flu"]): 8}
    wire = b"".join(sent.message for sent in log)
    assert b"canary" not in wire
    assert b"gout" in wire


def test_an_infrequent_item_of_one_party_is_not_named():
    mine = {"flu": np.array([True, True, True, True]), "canary": np.array([True, False, False, False])}
    theirs = {"pneumonia": np.array([True, True, True, False])}
    done, log = record(each(lambda p, columns: frequent_itemsets_vertical(p, columns, share=0.5), mine, theirs))
    assert done["p1"] == {frozenset(["flu"]): 4, frozenset(["pneumonia"]): 3, frozenset(["flu", "pneumonia"]): 3}
    assert b"canary" not in b"".join(sent.message for sent in log)
    assert b"pneumonia" in b"".join(sent.message for sent in log)


def test_patterns_that_cannot_be_found_are_refused():
    column = np.array([True, False])
    with pytest.raises(ProtocolError, match="same name"):
        run_parties(each(lambda p, c: frequent_itemsets_vertical(p, c, share=0.5), {"a": column}, {"a": column}))
    with pytest.raises(ProtocolError, match="different settings"):
        run_parties(each(lambda p, s: frequent_itemsets_vertical(p, {p.me: column}, share=s), 0.5, 0.4))
    with pytest.raises(InvalidParameterError, match="share must be above 0"):
        run_parties(each(lambda p, s: frequent_itemsets_horizontal(p, [], share=s), 0, 0, 0))
    with pytest.raises(InvalidParameterError, match="3 or more"):
        run_parties(each(lambda p, s: frequent_itemsets_horizontal(p, [], share=s), 0.5, 0.5))
    with pytest.raises(InvalidParameterError, match=r"one or more,? of one length"):
        run_parties(each(lambda p, c: frequent_itemsets_vertical(p, c, share=0.5), {}, {}))
