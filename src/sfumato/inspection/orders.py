"""Well-known orders of words, and ranges of numbers written as text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

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
