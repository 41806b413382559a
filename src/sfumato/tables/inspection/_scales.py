"""Propose the scale of a column, the order of its values and a hierarchy."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.encoding.domain import nearly_unique
from sfumato.errors import HierarchyError
from sfumato.hierarchies.hierarchy import HierarchyBuilder
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.proposal import propose_hierarchy
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._values import format_distinct_values
from sfumato.schema.roles import Role, Scale
from sfumato.tables.inspection._column_names import NameHint, NameMeaning, is_code
from sfumato.tables.inspection._profiles import CellType, ValueProfile
from sfumato.tables.inspection._roles import Reason

# Well-known orders of words, and ranges of numbers written as text.

MIN_VALUES = 3  # two values have no order that matters
MAX_VALUES = 100

# From low to high: commas separate ranks, bars words of the same rank, semicolons orders.
KNOWN_ORDERS = """
none|no, very low, low, medium|moderate|middle|average|normal, high, very high, extreme;
none|absent, minimal, mild|light, moderate, severe|serious, critical|very severe, fatal;
tiny, very small, small, medium, large|big, very large, huge;
xxs, xs, s, m, l, xl, xxl, xxxl;
very poor|very bad, poor|bad, fair|average, good, very good, excellent;
strongly disagree, disagree, somewhat disagree, neutral|neither agree nor disagree|undecided, somewhat agree,
    agree, strongly agree;
very dissatisfied, dissatisfied, neutral, satisfied, very satisfied;
very unlikely, unlikely, neutral|possible, likely, very likely;
never, rarely|seldom, sometimes|occasionally, often|frequently, usually|very often, always;
daily, weekly, monthly, quarterly, yearly|annually;
infant|baby, toddler|small child, child, teenager|adolescent|teen, young adult, adult, middle aged,
    senior|elderly|old;
monday|mon, tuesday|tue|tues, wednesday|wed, thursday|thu|thur|thurs, friday|fri, saturday|sat, sunday|sun;
january|jan, february|feb, march|mar, april|apr, may, june|jun, july|jul, august|aug, september|sep|sept,
    october|oct, november|nov, december|dec;
first|1st, second|2nd, third|3rd, fourth|4th, fifth|5th, sixth|6th, seventh|7th, eighth|8th, ninth|9th,
    tenth|10th;
i, ii, iii, iv, v, vi, vii, viii, ix, x;
none|no schooling|no education|illiterate, preschool|kindergarten, 1st 4th,
    primary|primary school|primary education|elementary|elementary school, 5th 6th, 7th 8th,
    lower secondary|middle school, 9th, 10th, 11th, 12th,
    upper secondary|secondary|secondary school|secondary education|hs grad|high school|high school graduate,
    vocational|vocational training|vocational school, some college, assoc voc,
    assoc acdm|associate|associates|associate degree|associates degree,
    bachelor|bachelors|bachelor degree|bachelors degree|college|undergraduate, tertiary|university|degree,
    master|masters|master degree|masters degree|graduate|postgraduate, prof school,
    doctorate|doctoral|phd|doctor;
keine|kein, sehr niedrig, niedrig|gering, mittel, hoch, sehr hoch;
sehr klein, klein, mittel, gross, sehr gross;
nie, selten, manchmal|gelegentlich, oft|haufig, immer;
ungenugend, mangelhaft, ausreichend, befriedigend, gut, sehr gut;
montag|mo, dienstag|di, mittwoch|mi, donnerstag|do, freitag|fr, samstag|sonnabend|sa, sonntag|so;
januar, februar, marz, april, mai, juni, juli, august, september, oktober, november, dezember;
ohne abschluss|kein abschluss, hauptschule|hauptschulabschluss,
    realschule|realschulabschluss|mittlere reife, abitur|hochschulreife, bachelor, master|diplom,
    promotion|doktor;
aucun, tres faible, faible|bas, moyen|modere, eleve|fort|haut, tres eleve;
jamais, rarement, parfois, souvent, toujours;
lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche;
janvier, fevrier, mars, avril, mai, juin, juillet, aout, septembre, octobre, novembre, decembre;
ninguno, muy bajo, bajo, medio|moderado, alto, muy alto;
nunca, rara vez, a veces, a menudo, siempre;
lunes, martes, miercoles, jueves, viernes, sabado, domingo;
enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre;
无, 很低, 低, 中|中等, 高, 很高;
文盲, 小学, 初中, 高中|中专, 大专|专科, 本科|大学, 硕士|研究生, 博士;
从不, 很少, 有时, 经常, 总是;
星期一|周一, 星期二|周二, 星期三|周三, 星期四|周四, 星期五|周五, 星期六|周六, 星期日|周日|星期天;
一月, 二月, 三月, 四月, 五月, 六月, 七月, 八月, 九月, 十月, 十一月, 十二月
"""

NUMBER = r"[$€£¥]?\s*(\d[\d.,]*)\s*[^\W\d_]{0,6}"
BETWEEN = re.compile(rf"[\[(]?\s*{NUMBER}\s*(?:-|\u2013|to|bis|,|\.\.)\s*{NUMBER}\s*[\])]?")
BELOW = re.compile(rf"(?:<=?|under|below|up to|unter|bis)\s*{NUMBER}", re.IGNORECASE)
ABOVE = re.compile(rf"(?:>=?|over|above)\s*{NUMBER}|{NUMBER}\s*(?:\+|and over|and older|or more)", re.IGNORECASE)


def find_known_order(words: Sequence[str]) -> list[str] | None:
    """Sort words from low to high if all of them belong to one well-known order.

    >>> find_known_order(["High", "low", "very high", "MEDIUM"])
    ['low', 'MEDIUM', 'High', 'very high']
    >>> find_known_order(["65+", "<18", "18-64"])
    ['<18', '18-64', '65+']
    >>> find_known_order(["red", "low", "high"])
    """
    if not MIN_VALUES <= len(words) <= MAX_VALUES:
        return None
    plain = {word: _normalize_word(word) for word in words}
    for places in _load_orders():
        if all(text in places for text in plain.values()):
            return sorted(words, key=lambda word: (places[plain[word]], word))
    ranges = {word: _parse_range(word.strip()) for word in words}
    ends = {word: range_ for word, range_ in ranges.items() if range_ is not None}
    return sorted(words, key=lambda word: (*ends[word], word)) if len(ends) == len(words) else None


@cache
def _load_orders() -> tuple[dict[str, int], ...]:
    return tuple(
        {" ".join(word.split()): place for place, alike in enumerate(order.split(",")) for word in alike.split("|")}
        for order in KNOWN_ORDERS.split(";")
    )


def _normalize_word(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.casefold())
    letters = "".join(c for c in letters if not unicodedata.combining(c) and c not in "'\u2019.")
    return " ".join(re.split(r"[\s_/-]+", letters)).strip()


def _parse_range(text: str) -> tuple[float, float] | None:
    if match := BETWEEN.fullmatch(text):
        low, high = _parse_number(match[1]), _parse_number(match[2])
        return (low, high) if low < high else None
    if match := BELOW.fullmatch(text):
        return -float("inf"), _parse_number(match[1])
    if match := ABOVE.fullmatch(text):
        return _parse_number(match[1] or match[2]), float("inf")
    return None


def _parse_number(digits: str) -> float:
    whole, dot, rest = digits.replace(",", "").partition(".")
    return float(f"{whole}{dot}{rest.replace('.', '')}")


LONGEST_POSTCODE = 12
MAX_CATEGORIES = 1_000


class ProposedScale(NamedTuple):
    """A scale with its order or hierarchy, and the reasons for it."""

    scale: Scale
    order: tuple[str, ...] | None = None
    hierarchy: HierarchyBuilder | None = None
    reasons: tuple[Reason, ...] = ()


def propose_scale(
    profile: ValueProfile, hint: NameHint | None, role: Role, ordered: Sequence[str] | None = None
) -> ProposedScale:
    """Propose a scale; quasi-identifiers with a useful automatic hierarchy get it.

    `ordered` categories, which a dataframe can state, make it ordinal. A flat taxonomy says no more than a nominal
    scale, so none is proposed.
    """
    if ordered is not None and role is not Role.IDENTIFIER:
        present = set(profile.values.to_pylist())
        order = tuple(each for each in ordered if each in present)
        return ProposedScale(Scale.ORDINAL, order=order, reasons=(Reason("stated-order"),))
    meaning = hint.meaning if hint else None
    if role is Role.QUASI and meaning is NameMeaning.POSTCODE and profile.kind in {CellType.TEXT, CellType.WHOLE}:
        postcodes = _find_postcodes(profile)
        if postcodes is not None:
            return postcodes
    categories = _categories(profile, meaning, role) if profile.kind is CellType.WHOLE else None
    if categories is not None:
        return categories
    if profile.kind.ordered:
        hierarchy = _propose_useful_hierarchy(profile.values, profile.known_counts) if role is Role.QUASI else None
        told = _rounded(hierarchy) if isinstance(hierarchy, Intervals) else ()
        reasons = (Reason("contains", what=str(profile.kind)), *told)
        return ProposedScale(Scale.NUMERIC, hierarchy=hierarchy, reasons=reasons)
    if profile.kind is CellType.BOOLEAN:
        return ProposedScale(Scale.NOMINAL, reasons=(Reason("contains", what=str(profile.kind)),))
    return _text_scale(profile, role)


def _categories(profile: ValueProfile, meaning: NameMeaning | None, role: Role) -> ProposedScale | None:
    """Find whole numbers that stand for categories: codes of a classification are no amounts, however large."""
    code = role is not Role.IDENTIFIER and is_code(profile.name)
    if not code and (meaning is not NameMeaning.CATEGORY or profile.distinct > MAX_CATEGORIES):
        return None
    hierarchy = (
        _propose_useful_hierarchy(format_distinct_values(profile.values)) if code and role is Role.QUASI else None
    )
    reasons = (Reason("stands-for-categories"),)
    if hierarchy is not None:
        return ProposedScale(Scale.CATEGORICAL, hierarchy=hierarchy, reasons=reasons)
    if role is Role.QUASI and nearly_unique(profile.distinct, profile.rows):
        return None
    return ProposedScale(Scale.NOMINAL, reasons=reasons)


def _text_scale(profile: ValueProfile, role: Role) -> ProposedScale:
    words = profile.values.to_pylist() if profile.distinct <= MAX_VALUES else []
    order = find_known_order(words) if role is not Role.IDENTIFIER else None
    if order is not None:
        return ProposedScale(Scale.ORDINAL, order=tuple(order), reasons=(Reason("known-order"),))
    hierarchy = _propose_useful_hierarchy(profile.values) if role is Role.QUASI else None
    if isinstance(hierarchy, Prefixes):
        return ProposedScale(Scale.CATEGORICAL, hierarchy=hierarchy, reasons=(Reason("codes"),))
    return ProposedScale(Scale.NOMINAL)


def _find_postcodes(profile: ValueProfile) -> ProposedScale | None:
    codes = format_distinct_values(profile.values)
    if not pc.all(pc.match_substring_regex(codes, rf"^[0-9A-Za-z -]{{1,{LONGEST_POSTCODE}}}\z")).as_py():
        return None
    lengths = pc.min_max(pc.utf8_length(codes)).as_py()
    reasons = [Reason("postcodes")]
    if profile.kind is CellType.WHOLE and lengths["min"] < lengths["max"]:
        reasons.append(Reason("lost-zeros"))
    return ProposedScale(Scale.CATEGORICAL, hierarchy=Prefixes(), reasons=tuple(reasons))


def _rounded(intervals: Intervals) -> Iterator[Reason]:
    """Say where the narrowest intervals begin and end, so that what is published is rounded outward to there."""
    if intervals.cuts is not None:
        yield Reason("round-cuts", count=len(intervals.cuts[0]) - 1)
    elif intervals.is_date_based:
        yield Reason("round-units", what=f"{intervals.widths[0]}s")
    else:
        yield Reason("round-widths", width=intervals.widths[0])


def _propose_useful_hierarchy(values: pa.Array, counts: npt.NDArray[np.int64] | None = None) -> HierarchyBuilder | None:
    try:
        found = propose_hierarchy(values, counts)
    except HierarchyError:
        return None
    return None if isinstance(found, Taxonomy) else found
