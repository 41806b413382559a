"""What values look like."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.inspection._patterns import (
    DATES,
    PERSONAL,
    find_personal_pattern,
    is_chinese_resident_number,
    is_iban,
    is_payment_card,
)

LOOKS = {
    "e-mail addresses": ["ann@example.org", "b.c+d@mail.example.co.uk"],
    "bank account numbers (IBAN)": ["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"],
    "web addresses": ["https://example.org/a?b=c", "www.example.org"],
    "UUIDs": ["123e4567-e89b-12d3-a456-426614174000"],
    "MAC addresses": ["00:1A:2b:3c:4d:5e", "00-1a-2b-3c-4d-5e"],
    "IP addresses": ["192.168.10.20", "8.8.8.8", "10.0.0.0/8"],
    "social security numbers": ["123-45-6789"],
    "resident identity numbers": ["11010519491231002X"],
    "payment card numbers": ["4111 1111 1111 1111", "378282246310005", "5555-5555-5555-4444"],
    "telephone numbers": [
        "+49 30 1234567",
        "+14155550123",
        "(415) 555-0123",
        "415-555-0123",
        "030 1234567",
        "01 23 45 67 89",
        "13812345678",
        "0049 30 1234567",
    ],
}
SIX_GROUPS = ["2001:db8:85a3:0:0:8a2e:370:7334", "fe80::1", "2001:db8::8a2e:370:7334", "::1"]

ORDINARY = [
    "53715", "02139-1234", "53715-1234", "K1A 0B1", "flu", "heart attack", "2020-01-31", "31.12.2020",
    "1/2/2020", "39", "3.14", "20-30", "[20, 30)", "120/80", "E11.9", "10.20.30", "12:30", "A+", "", " ",
    "12345678", "anna", "415 555", "GB83 WEST 1234 5698 7654 32", "4111 1111 1111 1112", "@home", "me@home",
]  # fmt: skip


@pytest.mark.parametrize(("look", "text"), [(look, text) for look, texts in LOOKS.items() for text in texts])
def test_what_names_or_reaches_persons_is_recognized(look, text):
    found = find_personal_pattern(pa.array([text]))
    assert found is not None
    assert (found[0].looks_like, found[1]) == (look, 1.0)


@pytest.mark.parametrize("text", SIX_GROUPS)
def test_long_ip_addresses_are_recognized(text):
    found = find_personal_pattern(pa.array([text]))
    assert found is not None
    assert found[0].looks_like == "IP addresses"


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_values_look_like_nothing(text):
    assert find_personal_pattern(pa.array([text])) is None


def test_no_values_look_like_nothing():
    assert find_personal_pattern(pa.array([], pa.string())) is None


@pytest.mark.parametrize(("emails", "recognized"), [(4, False), (5, True)])
def test_some_e_mail_addresses_are_enough(emails, recognized):
    texts = pa.array(["ann@example.org"] * emails + ["word"] * (100 - emails))
    assert (find_personal_pattern(texts) is not None) == recognized


@pytest.mark.parametrize(("phones", "recognized"), [(49, False), (50, True)])
def test_half_of_the_values_must_look_like_telephone_numbers(phones, recognized):
    texts = pa.array(["+49 30 1234567"] * phones + ["word"] * (100 - phones))
    assert (find_personal_pattern(texts) is not None) == recognized


@pytest.mark.parametrize(
    "text",
    [
        "2020-01-31",
        "31.12.2020",
        "1/2/20",
        "31 Dec 2020",
        "December 31, 2020",
        "2020年1月31日",
        "2020-01-31 10:30:00",
    ],
)
def test_dates_written_as_text_are_recognized(text):
    assert DATES.matching_share(pa.array([text])) == 1


@pytest.mark.parametrize("text", ["2020", "12", "flu 2", "1.5", "10.20.3000.1"])
def test_other_texts_are_no_dates(text):
    assert DATES.matching_share(pa.array([text])) == 0


@given(st.integers(0, 10**14))
def test_exactly_one_last_digit_completes_a_card_number(front):
    assert sum(is_payment_card(f"{front}{last}") for last in range(10)) == 1


@given(st.integers(0, 10**17 - 1))
def test_exactly_one_last_sign_completes_a_resident_number(front):
    assert sum(is_chinese_resident_number(f"{front:017d}{last}") for last in "0123456789X") == 1


@given(st.integers(0, 10**18 - 1), st.integers(0, 96))
def test_check_digits_of_an_iban_leave_the_remainder_one(account, other):
    check = 98 - int(f"{account:018d}131400") % 97
    assert is_iban(f"DE{check:02d}{account:018d}")
    assert is_iban(f"DE{other:02d}{account:018d}") == ((other - check) % 97 == 0)


@given(st.lists(st.text(), max_size=5))
def test_any_texts_can_be_looked_at(texts):
    assert all(0 <= pattern.matching_share(pa.array(texts, pa.string())) <= 1 for pattern in (*PERSONAL, DATES))
