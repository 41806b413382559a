"""What the values of a column look like: addresses, personal numbers, codes, dates written as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

MOST = 0.5
SOME = 0.05  # for unmistakable patterns

CHINESE_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def is_iban(text: str) -> bool:
    """Check the check digits of an international bank account number (ISO 13616, modulo 97).

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    plain = text.replace(" ", "").upper()
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def is_payment_card(text: str) -> bool:
    """Check the check digit of a payment card number (ISO/IEC 7812, Luhn).

    >>> is_payment_card("4111 1111 1111 1111"), is_payment_card("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_chinese_resident_number(text: str) -> bool:
    """Check the check character of a Chinese resident identity number (GB 11643, modulo 11).

    >>> is_chinese_resident_number("11010519491231002X"), is_chinese_resident_number("110105194912310021")
    (True, False)
    """
    total = sum(weight * int(c) for weight, c in zip(CHINESE_WEIGHTS, text[:17], strict=True))
    return "10X98765432"[total % 11] == text[17].upper()


def is_phone(text: str) -> bool:
    """Return whether a text with separators is a telephone number (ITU-T E.164), not a date or a longer number.

    >>> is_phone("030 1234567"), is_phone("31.12.2020")
    (True, False)
    """
    parts = sorted(map(len, re.findall("[0-9]+", text)))
    date = len(parts) == 3 and parts[-1] <= 4 and parts[1] <= 2  # noqa: PLR2004 - day, month and year
    return text.startswith("+") or (7 <= sum(parts) <= 15 and not date)  # noqa: PLR2004 - digits, as the standard says


@dataclass(frozen=True, kw_only=True)
class ValuePattern:
    """A format of values, and the share of matching values from which a column has it."""

    looks_like: str
    regex: str
    least: float = MOST
    check: Callable[[str], bool] | None = None

    def matching_share(self, texts: pa.Array) -> float:
        """Return the share of texts that match."""
        if not len(texts):
            return 0.0
        matching = texts.filter(pc.match_substring_regex(texts, self.regex))
        if self.check is None:
            return len(matching) / len(texts)
        return sum(map(self.check, matching.to_pylist())) / len(texts)


HEX = "[0-9A-Fa-f]"
BYTE = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"

PERSONAL = (
    ValuePattern(looks_like="e-mail addresses", regex=r"^\s*[^@\s]+@[^@\s]+\.[A-Za-z]{2,}\s*$", least=SOME),
    ValuePattern(
        looks_like="bank account numbers (IBAN)",
        regex=r"^[A-Za-z]{2}[0-9]{2} ?([0-9A-Za-z]{4} ?){2,7}[0-9A-Za-z]{1,4}$",
        least=SOME,
        check=is_iban,
    ),
    ValuePattern(looks_like="web addresses", regex=r"^\s*(https?://|www\.)\S+\s*$", least=SOME),
    ValuePattern(looks_like="UUIDs", regex=rf"^\{{?{HEX}{{8}}(-{HEX}{{4}}){{3}}-{HEX}{{12}}\}}?$", least=SOME),
    ValuePattern(looks_like="MAC addresses", regex=rf"^{HEX}{{2}}([:-]{HEX}{{2}}){{5}}$"),
    ValuePattern(looks_like="IP addresses", regex=rf"^({BYTE}\.){{3}}{BYTE}(/[0-9]+)?$"),
    ValuePattern(
        looks_like="IP addresses",
        regex=rf"^({HEX}{{1,4}}:){{7}}{HEX}{{1,4}}$|^({HEX}{{1,4}}:){{1,6}}(:{HEX}{{1,4}}){{1,6}}$|^::1$",
    ),
    ValuePattern(looks_like="social security numbers", regex=r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$"),
    ValuePattern(
        looks_like="resident identity numbers", regex=r"^[1-9][0-9]{16}[0-9Xx]$", check=is_chinese_resident_number
    ),
    ValuePattern(looks_like="payment card numbers", regex=r"^[2-6]([ -]?[0-9]){13,18}$", check=is_payment_card),
    ValuePattern(
        looks_like="telephone numbers",
        regex=(
            r"^\+[0-9][0-9 ()./-]{6,20}$"
            r"|^00[1-9][0-9]{0,2}[ /-][0-9 ()./-]{5,18}$"
            r"|^0[0-9]{1,5}[ /-][0-9][0-9 -]{4,12}$"
            r"|^\(?[0-9]{2,5}\)?[ .-][0-9]{2,4}([ .-][0-9]{2,4}){1,4}$"
            r"|^\([0-9]{2,5}\) ?[0-9][0-9 .-]{4,12}$"
            r"|^1[3-9][0-9]{9}$"
        ),
        check=is_phone,
    ),
)

DATES = ValuePattern(
    looks_like="dates written as text",
    regex=(
        r"^([0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{2}|[0-9]{4})|[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}"
        r"|[0-9]{1,2}[ .-]*[A-Za-z]{3,9}[ .,-]*[0-9]{4}|[A-Za-z]{3,9} [0-9]{1,2},? [0-9]{4}"
        r"|[0-9]{4}年[0-9]{1,2}月[0-9]{1,2}日)([ T][0-9:.]+)?Z?$"
    ),
)


def find_personal_pattern(texts: pa.Array) -> tuple[ValuePattern, float] | None:
    """Find the format that identifies people or ways to reach them, with its share of the texts.

    >>> texts = pa.array(["ann@example.org", "bob@example.org", "unknown", "none"])
    >>> found, share = find_personal_pattern(texts)
    >>> found.looks_like, share
    ('e-mail addresses', 0.5)
    """
    shares = [(pattern, pattern.matching_share(texts)) for pattern in PERSONAL]
    reached = [(pattern, share) for pattern, share in shares if share >= pattern.least]
    return max(reached, key=lambda found: found[1], default=None)
