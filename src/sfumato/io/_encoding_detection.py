"""The encoding of text that is no Unicode, by evidence: how likely its letters are in each encoding.

Every encoding that can decode the text is a hypothesis about its words: East Asian letters come mostly from the levels
of frequent ones in the national standards, Cyrillic and Greek words are of one script, and Latin words use the few
letters of some language. The likelihood of the distinct words decides; the language of the user decides between
encodings that are about as likely, and the other one is said.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from typing import NamedTuple

MAX_WORDS = 2_000
MAX_SAMPLE_BYTES = 1 << 12  # bytes of lines
DECISIVE_MARGIN = (
    4.0  # natural logarithm of how much likelier one encoding must be, so that the other one is not mentioned
)
PREFERRED = 3.0  # the same, of the encodings of the user's language
UNUSUAL = 1.5  # by which encodings other than the most usual ones are less likely beforehand
FOREIGN = re.compile(r"[^\x00-\x7f]")
WORD = re.compile(r"[^\W\d_]+")
DIGITS = re.compile(r"[0-9]+")  # numbered words are one
SEPARATORS = re.compile(r"[,;|\t\r\n\"]+")
SIGNS = "°€£§²³µ–—‘’“”„…«»·ªº¿¡№™®©½¼¾×±\u00a0"  # noqa: RUF001 - signs of text
NO_LETTERS = "¢£¤¥¦§¨©¬®±´¶¸¹¼½¾×÷"  # noqa: RUF001 - which stand beside no letter
FREQUENT_CHINESE = (  # in the names of columns, and at large
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
    "这這個們來為國時會對過發後姓名性别別龄齡男女日期号號编編地址疾病电電话話身份證证類类型狀状態态金額额數数量"
    "费費用民族职職业業學学歷历婚姻診诊斷断科室醫医院患者收入教育城市省區区縣县住血压糖高低體体重無无否單单位備备注註"
)
RARE, UNKNOWN, MIXED = math.log(1e-5), math.log(1e-7), math.log(0.1)
LATIN = {
    "cp1252": (
        *("äöüß", "éèêëàâçîïôùûüœæ", "áéíóúñü", "áâãàçéêíóôõú", "àèéìòù", "åäöéü", "åæøéô", "éëïèöüáóí"),
        "áðéíóúýþæö",
    ),
    "cp1250": ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž"),
    "cp1254": ("çğıöşüâîûİ", "äöüß"),
}
FEW_SPEAKERS = "þ"  # a letter of a language that is not expected before another one
CYRILLIC = ("оеаинтсрвлк", "мдпуяыьгзбчйхжшюцщэфъёіїєґ")
GREEK = ("αοιετσνηυρπ", "κμλςωγδχθφβξζψάέήίόύώϊϋΐΰ")
SCRIPTS = {"cp1251": CYRILLIC, "cp1253": GREEK}
EAST_ASIAN = ("gb18030", "big5", "cp932", "euc_jp", "cp949")
USUAL = {"cp1252", "gb18030"}
OF_LANGUAGE = {
    "zh": ("gb18030",),
    "zh_tw": ("big5",),
    "zh_hk": ("big5",),
    "ja": ("cp932", "euc_jp"),
    "ko": ("cp949",),
    **dict.fromkeys(("pl", "cs", "sk", "hu", "ro", "hr", "sl"), ("cp1250",)),
    **dict.fromkeys(("ru", "uk", "bg", "sr", "be"), ("cp1251",)),
    "el": ("cp1253",),
    "tr": ("cp1254",),
}

_LANGUAGE: ContextVar[str | None] = ContextVar("language", default=None)


class EncodingGuess(NamedTuple):
    """The likeliest encoding, and another one that fits about as well and reads other letters."""

    encoding: str
    other: str | None = None


@contextmanager
def prefer_language(language: str | None) -> Iterator[None]:
    """Say in which language the page is, or the program; beside that of the system."""
    token = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def guess_encoding(sample: bytes, decodes: Callable[[str], bool]) -> EncodingGuess | None:
    """Find the likeliest encoding of some lines, among those that decode the whole file; None if there is none."""
    found: list[tuple[float, str, str]] = []
    for name in (*LATIN, *SCRIPTS, *EAST_ASIAN):
        try:
            text = sample.decode(name)
        except UnicodeDecodeError:
            continue
        if not any(text == known for _, known, _ in found):  # the same letters, by the more usual encoding
            found.append((log_likelihood(text, name) + _prior(name), text, name))
    found.sort(key=lambda each: -each[0])
    fitting = ((score, name) for score, _, name in found if decodes(name))
    first = next(fitting, None)
    if first is None:
        return None
    second = next(fitting, None)
    doubtful = second is not None and first[0] - second[0] < DECISIVE_MARGIN
    return EncodingGuess(first[1], second[1] if second is not None and doubtful else None)


def log_likelihood(text: str, encoding: str) -> float:
    """Return the logarithm of how likely the distinct words of a text are, read by an encoding."""
    cells = {cell for cell in SEPARATORS.split(DIGITS.sub("", text)) if FOREIGN.search(cell)}
    words = sorted(cells)[:MAX_WORDS]
    if encoding in EAST_ASIAN:
        return sum(_asian(word, encoding) for word in words)
    if encoding in SCRIPTS:
        return sum(_in_script(word, SCRIPTS[encoding]) for word in words)
    return max(
        sum(_in_latin(word, letters) for word in words) - (DECISIVE_MARGIN if FEW_SPEAKERS in letters else 0)
        for letters in LATIN[encoding]
    )


def may_be_chinese(sample: bytes) -> bool:
    """Return whether some valid UTF-8 is frequent Chinese letters, too, in GB18030, as two letters alone may be."""
    try:
        letters = set(FOREIGN.findall(sample[:MAX_SAMPLE_BYTES].decode("gb18030")))
    except UnicodeDecodeError:
        return False
    return len(sample) < MAX_SAMPLE_BYTES and bool(letters) and letters <= set(FREQUENT_CHINESE)


def preferred_encodings() -> set[str]:
    """Return the encodings that are expected in the language of the page, and of the system."""
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    found: set[str] = set()
    for language in filter(None, (_LANGUAGE.get(), next(filter(None, named), None))):
        known = language.partition(".")[0].lower().replace("-", "_")
        found |= set(OF_LANGUAGE.get(known) or OF_LANGUAGE.get(known.partition("_")[0], ()))
    return found


def _prior(encoding: str) -> float:
    return (PREFERRED if encoding in preferred_encodings() else 0.0) - (0.0 if encoding in USUAL else UNUSUAL)


def _in_latin(word: str, letters: str) -> float:
    """Judge a word of Latin letters: those of a language, and signs that stand outside of words."""
    common = math.log(0.9 / (2 * len(letters)))
    score = 0.0
    for letter in FOREIGN.findall(word):
        score += (
            common if letter in letters or letter.lower() in letters else _letter_log_probability(letter)
        )  # İ becomes two letters
    return score + _odd_word_penalty(word)


def _in_script(word: str, letters: tuple[str, str]) -> float:
    """Judge a word of another alphabet, whose letters are all of that."""
    score = 0.0
    for letter in FOREIGN.findall(word):
        share = next((share for share, some in zip((0.6, 0.3), letters, strict=True) if letter.lower() in some), 0.0)
        score += math.log(share / 30) if share else _letter_log_probability(letter)
    mixed = sum(bool(FOREIGN.search(part)) and not all(map(FOREIGN.match, part)) for part in WORD.findall(word))
    return score + mixed * RARE + _odd_word_penalty(word)


def _letter_log_probability(letter: str) -> float:
    return math.log(0.1 / len(SIGNS)) if letter in SIGNS else RARE


def _odd_word_penalty(word: str) -> float:
    """Judge capitals inside words, and signs beside letters, which words of an alphabet do not have."""
    pairs = [(one, two) for one, two in pairwise(word) if not (one + two).isascii()]
    capitals = sum(
        one.isalpha() and two.isupper()
        for part in WORD.findall(word)
        if not part.isupper()
        for one, two in pairwise(part)
        if not (one + two).isascii()
    )
    signs = sum((one in NO_LETTERS and two.isalpha()) or (two in NO_LETTERS and one.isalpha()) for one, two in pairs)
    odd: int = capitals + signs
    return odd * RARE / 3


def _asian(word: str, encoding: str) -> float:
    """Judge a word of an East Asian language, which mixes with no Latin letters, by the levels of its letters."""
    levels = _levels(encoding)
    mixed = sum(one.isalpha() and two.isalpha() and one.isascii() != two.isascii() for one, two in pairwise(word))
    return sum(levels.get(letter, UNKNOWN) for letter in FOREIGN.findall(word)) + mixed * MIXED


@cache
def _levels(encoding: str) -> dict[str, float]:
    """Return how likely the letters of a national standard are: those of its first level share most of the weight."""
    parts = {
        "gb18030": ("gb2312", (range(0xB0, 0xD8), 0.93), (range(0xD8, 0xF8), 0.03), (range(0xA1, 0xA4), 0.04)),
        "big5": ("big5", (range(0xA4, 0xC7), 0.95), (range(0xC9, 0xFA), 0.02), (range(0xA1, 0xA4), 0.03)),
        "cp949": ("euc_kr", (range(0xB0, 0xC9), 0.95), (range(0xCA, 0xFE), 0.01), (range(0xA1, 0xA4), 0.04)),
    }
    japanese = ("euc_jp", (range(0xA4, 0xA6), 0.5), (range(0xB0, 0xD0), 0.44), (range(0xD0, 0xF5), 0.02))
    codec, *levels = parts.get(encoding, (*japanese, (range(0xA1, 0xA4), 0.04)))
    found: dict[str, float] = {}
    for rows, share in levels:
        letters = [_letter(bytes((row, cell)), str(codec)) for row in rows for cell in range(0x40, 0xFF)]
        known = [letter for letter in letters if letter]
        found |= dict.fromkeys(known, math.log(share / len(known)))
    frequent = [each for each in dict.fromkeys(FREQUENT_CHINESE) if each in found and encoding in {"gb18030", "big5"}]
    return found | {each: math.log(0.4 / len(frequent)) for each in frequent}


def _letter(code: bytes, codec: str) -> str:
    try:
        return code.decode(codec)
    except UnicodeDecodeError:
        return ""
