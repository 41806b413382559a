"""Numbers as offices write them: with a decimal comma, with marks between thousands, with a unit."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table.formats.inference import EXPONENT, INFINITE, match_all

POINT, COMMA = ".", ","
THOUSANDS = (".", ",", " ", "'", "\u2019", "\u00a0", "\u202f")
UNITS = (
    *("kg", "g", "mg", "µg", "t", "lb", "lbs", "oz", "公斤", "千克", "克", "斤"),
    *("km", "m", "cm", "mm", "ft", "in", "公里", "米", "厘米", "m²", "qm", "km²", "ha"),
    *("l", "ml", "dl", "mmol/l", "mg/dl", "mmHg", "bpm", "kcal", "°C", "°F", "℃", "IU"),
    *("%", "‰", "€", "EUR", "$", "USD", "£", "GBP", "¥", "CNY", "RMB", "元", "万元", "CHF", "Fr."),
    *(
        "years",
        "year",
        "yrs",
        "months",
        "days",
        "hours",
        "h",
        "min",
        "s",
        "Jahre",
        "Jahr",
        "Monate",
        "Tage",
        "Std.",
        "岁",
        "年",
        "天",
    ),
)
GAP = "[ \u00a0\u202f]?"


def normalize_numbers(values: pa.Array, decimal: str = POINT, thousands: str = "") -> pa.Array | None:
    """Return numbers with a decimal point and nothing between thousands; None if one is not written so.

    >>> normalize_numbers(pa.array(["1.234,5", "-7", "0,25"]), decimal=",", thousands=".").to_pylist()
    ['1234.5', '-7', '0.25']
    """
    if decimal == POINT and not thousands:
        return values
    if not match_all(values, _number_pattern(decimal, thousands)):
        return None
    bare = pc.replace_substring(values, thousands, "") if thousands else values
    return bare if decimal == POINT else pc.replace_substring(bare, decimal, POINT)


def _number_pattern(decimal: str, thousands: str) -> str:
    grouped = rf"|[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+" if thousands else ""
    return rf"-?(?:[0-9]+{grouped})?(?:{re.escape(decimal)}[0-9]*)?(?:{EXPONENT})?|{INFINITE}"


def format_numbers(texts: pa.Array, decimal: str) -> pa.Array:
    """Write the texts of numbers with another decimal mark."""
    return texts if decimal == POINT else pc.replace_substring(texts, POINT, decimal)


def strip_unit(values: pa.Array, unit: str) -> pa.Array:
    """Take a unit away where it stands after a number, with or without a space.

    >>> strip_unit(pa.array(["70 kg", "71kg", "72"]), "kg").to_pylist()
    ['70', '71', '72']
    """
    return pc.replace_substring_regex(values, rf"(?i){GAP}{re.escape(unit)}\z", "")


def detect_units(values: pa.Array) -> list[str]:
    """Return the known units that numbers are written with; empty unless every text is a number with one.

    >>> detect_units(pa.array(["70 kg", "71 kg"])), detect_units(pa.array(["70 kg", "x"]))
    (['kg'], [])
    """
    number = r"-?[0-9][0-9.,]*"
    any_unit = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
    if not match_all(values, rf"{number}{GAP}(?:{any_unit})"):
        return []
    found = pc.extract_regex(values, rf"\A{number}{GAP}(?P<unit>{any_unit})\z").field(0)
    return sorted(found.unique().to_pylist())
