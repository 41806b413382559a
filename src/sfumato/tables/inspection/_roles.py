"""Propose the role of a column: rules from the surest to the most doubtful, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple, Self

import pyarrow as pa

from sfumato._locale.messages import LocalizedText
from sfumato.schema.roles import Role
from sfumato.tables.inspection._column_names import PERIODS, NameHint, NameMeaning, find_name_hint, is_condition
from sfumato.tables.inspection._patterns import DATES, ValuePattern, find_personal_pattern
from sfumato.tables.inspection._profiles import CellType, ValueProfile, profile_column

# Why a role or a scale is proposed: sentences with a kind and values, so that they can be told in other words.


class Reason(LocalizedText):
    """A sentence that knows its kind and the values that stand in it; `reasons.KIND` is its key among the words.

    >>> reason = Reason("secret", where="column name", word="salary")
    >>> print(reason)
    column name contains 'salary': nobody should learn it about a person
    >>> reason.code, reason.values["word"]
    ('secret', 'salary')
    """

    __slots__ = ()

    def __new__(cls, kind: str, **values: object) -> Self:
        """Write the sentence of this kind with these values."""
        return super().__new__(cls, f"reasons.{kind}", **values)

    @property
    def code(self) -> str:
        """Which reason it is."""
        return self.key.removeprefix("reasons.")

    @property
    def values(self) -> MappingProxyType[str, object]:
        """What stands in the sentence, by name."""
        return self.fields

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        """Return what a copy or a pickle is made of."""
        return (self.code,), dict(self.values)


MIN_RECORDS = 20  # with fewer, distinct values mean little
MOSTLY_DISTINCT = 0.5
UNIQUE_TEXTS = 0.7
UNIQUE_NUMBERS = 0.95
LONG_TEXT = 40  # characters
VERY_LONG_TEXT, SOME_DISTINCT = 80, 0.05
MOST_CONDITIONS, LEAST_CONDITIONS = 200, 0.2  # texts to look at, and the share that tells what a column is about
SHORTEST_POSTCODE = 3  # characters
LONGEST_CODE = 12  # characters
MIN_MANY, MAX_TEXTS = 100, 10_000  # without a hierarchy
REPEATED = 20  # records per value from which a label names a kind of thing rather than a person
MAX_OUTCOMES = 10
FIRST_CELLS = 100_000
LEAST_PERIODS = 3  # fewer values are no months or years, but whether something happened in one
MOST_ANSWERS = 3  # values that tell whether there is something, not what it is
LEAST_SHARED = 5  # records that a value published unchanged should have
MOST_SHARED = 20  # values of numbers that are published unchanged: with more, the records of a group differ
MOST_RARE = 0.05  # share of records with a rarer value
CONTACTS = """
    address street anschrift adresse strasse direccion domicilio calle rue 地址 住址 phone mobilenumber cellnumber
    mobile tel fax telefax telefon handy telephone portable telefono movil 电话 手机 email courriel correo 邮箱 邮件
    homepage website url account bankaccount creditcard licenseplate photo
"""
NOTE = "note"  # a remark in English, a grade in German and French: longer than a grade, it is a remark
COUNTS = "total quantity qty menge quantite cantidad 数量"  # amounts of anything, not of money

QUASI_MEANINGS = {NameMeaning.POSTCODE, NameMeaning.CATEGORY, NameMeaning.DEMOGRAPHIC}


class ColumnFacts(NamedTuple):
    """Everything known about a column."""

    column: ValueProfile
    hint: NameHint | None

    @property
    def meaning(self) -> NameMeaning | None:
        """What the name of the column suggests."""
        return self.hint.meaning if self.hint else None

    def named(self, kind: str) -> Reason:
        """Return a reason about the known word in the name or the label of the column."""
        assert self.hint is not None  # noqa: S101 - asked only where there is one
        return Reason(kind, where=self.hint.found_in, word=self.hint.word)

    def distinct(self, kind: str) -> Reason:
        """Return a reason about the number of distinct values."""
        return Reason(kind, distinct=self.column.distinct, filled=self.column.filled)

    @property
    def repeated(self) -> int:
        """The number of distinct values if many records share each of them on average; 0 otherwise."""
        return self.column.distinct if self.column.distinct * REPEATED <= self.column.filled else 0

    @property
    def separating(self) -> Reason:
        """How well the column separates records, as a reason."""
        percent = int(self.column.separation * 100)
        if self.column.distinct == 1:
            return Reason("separates-one", percent=percent)
        return Reason("separates", distinct=self.column.distinct, percent=percent)


class ProposedRole(NamedTuple):
    """A role with the reasons for it."""

    role: Role
    reasons: tuple[Reason, ...]


def propose_role(column: ValueProfile, hint: NameHint | None) -> ProposedRole:
    """Propose a role; when in doubt, quasi-identifier."""
    clues = ColumnFacts(column, hint)
    proposed = next(proposed for rule in RULES if (proposed := rule(clues)) is not None)
    if proposed.role is Role.QUASI:
        return ProposedRole(Role.QUASI, (*proposed.reasons, clues.separating))
    if proposed.role is not Role.IDENTIFIER and _is_nearly_unique(column, UNIQUE_TEXTS):
        return ProposedRole(proposed.role, (*proposed.reasons, clues.distinct("telling")))
    return proposed


def find_named_identifier(clues: ColumnFacts) -> ProposedRole | None:
    """Find names, numbers and addresses of people by the name of the column; a boolean only hints at them.

    So do two or three values that many records share, such as whether there is a telephone, or an urban address.
    """
    column, hint = clues
    if hint is None or hint.meaning is not NameMeaning.IDENTIFIER or column.kind is CellType.BOOLEAN:
        return None
    if hint.word in CONTACTS.split() and 0 < clues.repeated <= MOST_ANSWERS:
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.named("reaches-people"),))


def find_personal_pattern_identifier(clues: ColumnFacts) -> ProposedRole | None:
    """Find numbers and addresses of people by the format of the values."""
    if clues.column.kind not in {CellType.TEXT, CellType.WHOLE} or clues.repeated == 1:
        return None
    found = find_personal_pattern(clues.column.sample)
    return ProposedRole(Role.IDENTIFIER, (_pattern_reason(*found),)) if found else None


def find_empty_column(clues: ColumnFacts) -> ProposedRole | None:
    """Find columns without values."""
    return None if clues.column.distinct else ProposedRole(Role.INSENSITIVE, (Reason("no-value"),))


def find_record_labels(clues: ColumnFacts) -> ProposedRole | None:
    """Find names and numbers of things with few records each."""
    column, hint = clues
    if hint is None or column.kind is CellType.BOOLEAN:
        return None
    if hint.meaning is NameMeaning.LABEL and column.kind is not CellType.TEXT and 0 < clues.repeated <= MAX_OUTCOMES:
        return None  # a number of few values counts something
    rare = column.distinct * REPEATED > column.filled
    if (hint.meaning is NameMeaning.LABEL and (hint.alone or rare)) or (
        hint.meaning is NameMeaning.PERSON and hint.alone and rare
    ):
        return ProposedRole(Role.IDENTIFIER, (clues.named("may-identify"), clues.distinct("distinct")))
    return find_nearly_unique(clues) if hint.label else None


def find_constant_column(clues: ColumnFacts) -> ProposedRole | None:
    """Find a single value shared by several records, which separates nobody but may reveal a secret of everybody."""
    if clues.column.rows == 1 or clues.column.classes > 1:
        return None
    if clues.meaning is NameMeaning.SENSITIVE:
        return ProposedRole(Role.SENSITIVE, (clues.named("secret"), Reason("one-secret")))
    return ProposedRole(Role.INSENSITIVE, (Reason("one-value"),))


def find_date_column(clues: ColumnFacts) -> ProposedRole | None:
    """Find dates: births, visits and events are also recorded elsewhere."""
    known = Reason("recorded-elsewhere")
    if clues.column.kind in {CellType.DATE, CellType.MOMENT}:
        return ProposedRole(Role.QUASI, (known,))
    share = DATES.matching_share(clues.column.sample) if clues.column.kind is CellType.TEXT else 0.0
    return ProposedRole(Role.QUASI, (_pattern_reason(DATES, share), known)) if share >= DATES.least else None


def find_free_text(clues: ColumnFacts) -> ProposedRole | None:
    """Find long texts that rarely repeat: they can contain anything, including names."""
    column = clues.column
    if column.kind is not CellType.TEXT or column.distinct_share < SOME_DISTINCT:
        return None
    mostly, length = column.distinct_share >= MOSTLY_DISTINCT, column.typical_length
    noted = clues.hint is not None and clues.hint.word == NOTE and length > LONGEST_CODE
    if (clues.meaning is NameMeaning.FREE_TEXT or noted) and (mostly or length >= LONG_TEXT):
        return ProposedRole(Role.IDENTIFIER, (clues.named("may-name"),))
    if length < (LONG_TEXT if mostly else VERY_LONG_TEXT):
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.distinct("distinct"), Reason("long-texts")))


def is_free_text(name: str, cells: pa.ChunkedArray) -> bool:
    """Return whether a canonical column seems to hold free text, judged by its first 100,000 cells.

    >>> is_free_text("note", pa.chunked_array([[f"Ms. Maier called on day {day} of March" for day in range(30)]]))
    True
    """
    column = profile_column(name, cells.slice(0, FIRST_CELLS))
    return find_free_text(ColumnFacts(column, find_name_hint(name))) is not None


def find_ungeneralizable_texts(clues: ColumnFacts) -> ProposedRole | None:
    """Find too many texts to generalize."""
    column = clues.column
    if column.kind is not CellType.TEXT or clues.meaning is NameMeaning.POSTCODE:
        return None
    if clues.meaning is NameMeaning.SENSITIVE and column.distinct_share < UNIQUE_TEXTS:
        return None  # nobody generalizes it
    wordy = column.distinct >= MIN_MANY and column.typical_length > LONGEST_CODE
    if not (wordy and _is_nearly_unique(column, UNIQUE_NUMBERS)) and column.distinct <= MAX_TEXTS:
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.distinct("distinct"), Reason("too-many-texts")))


def conditions(clues: ColumnFacts) -> ProposedRole | None:
    """Find diseases, injuries and other states of health by the values, where the name of the column says little."""
    column, hint = clues
    silent = hint is None or hint.weak or hint.meaning in {NameMeaning.FREE_TEXT, NameMeaning.AMOUNT}
    if not silent or column.kind is not CellType.TEXT:
        return None
    words = column.sample.slice(0, MOST_CONDITIONS).to_pylist()
    found = sum(map(is_condition, words))
    if found <= 1 or found < LEAST_CONDITIONS * len(words):
        return None
    percent = int(100 * found / len(words))
    return ProposedRole(Role.SENSITIVE, (Reason("tells-health", percent=percent),))


def find_role_by_name(clues: ColumnFacts) -> ProposedRole | None:
    """Find quasi-identifiers, secrets and amounts by the name of the column."""
    column, hint = clues
    if hint and hint.secret and hint.word in PERIODS and column.distinct < LEAST_PERIODS:
        return ProposedRole(Role.SENSITIVE, (Reason("secret", where=hint.found_in, word=hint.secret),))
    if clues.meaning is NameMeaning.POSTCODE and column.typical_length < SHORTEST_POSTCODE:
        return None
    if clues.meaning in QUASI_MEANINGS:
        return ProposedRole(Role.QUASI, (clues.named("others-know"),))
    if clues.meaning is NameMeaning.SENSITIVE:
        return ProposedRole(Role.SENSITIVE, (clues.named("secret"),))
    if clues.meaning is NameMeaning.OUTCOME and hint and hint.alone and column.distinct <= MAX_OUTCOMES:
        return ProposedRole(Role.SENSITIVE, (clues.named("predicted"),))
    return measured(clues)


def measured(clues: ColumnFacts) -> ProposedRole | None:
    """Find survey weights and amounts; only a few values that many records share are published unchanged."""
    column, hint = clues
    if hint is None or column.kind not in {CellType.WHOLE, CellType.REAL}:
        return None
    rare = column.distinct > MOST_SHARED or column.rare_share(LEAST_SHARED) > MOST_RARE
    if hint.meaning is NameMeaning.WEIGHT:
        reason = clues.named("survey-weight")
        return ProposedRole(Role.QUASI, (reason, clues.distinct("telling"))) if rare else _published(reason)
    if hint.meaning is not NameMeaning.AMOUNT:
        return None
    if not rare:
        return _published(clues.named("amount"))
    if hint.word in COUNTS.split():
        return ProposedRole(Role.QUASI, (clues.named("others-know"),))
    return ProposedRole(Role.SENSITIVE, (clues.named("secret"),))


def _published(reason: Reason) -> ProposedRole:
    return ProposedRole(Role.INSENSITIVE, (reason,))


def find_nearly_unique(clues: ColumnFacts) -> ProposedRole | None:
    """Find texts and whole numbers that rarely repeat."""
    least = {CellType.TEXT: UNIQUE_TEXTS, CellType.WHOLE: UNIQUE_NUMBERS}.get(clues.column.kind)
    if least is None or not _is_nearly_unique(clues.column, least):
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.distinct("identifying"),))


def ungeneralizable(column: ValueProfile) -> ProposedRole:
    """Return the role of texts that would be published in sets, one and all, were they a quasi-identifier."""
    clues = ColumnFacts(column, None)
    return ProposedRole(Role.IDENTIFIER, (clues.distinct("distinct"), Reason("too-many-texts")))


def default_to_quasi_identifier(clues: ColumnFacts) -> ProposedRole:
    """Treat all others as quasi-identifiers; only the owner of the table can say what they are."""
    return ProposedRole(Role.QUASI, (Reason("unknown") if clues.hint is None else clues.named("says-little"),))


RULES: tuple[Callable[[ColumnFacts], ProposedRole | None], ...] = (
    find_named_identifier,
    find_personal_pattern_identifier,
    find_empty_column,
    find_record_labels,
    find_constant_column,
    find_date_column,
    find_free_text,
    find_ungeneralizable_texts,
    conditions,
    find_role_by_name,
    find_nearly_unique,
    default_to_quasi_identifier,
)


def _is_nearly_unique(column: ValueProfile, least: float) -> bool:
    return column.filled >= MIN_RECORDS and column.distinct_share >= least


def _pattern_reason(pattern: ValuePattern, share: float) -> Reason:
    return Reason("looks-like", percent=int(share * 100), what=pattern.looks_like)
