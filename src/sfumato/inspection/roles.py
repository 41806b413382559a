"""Propose the role of a column: rules from the surest to the most doubtful, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa

from sfumato.inspection.names import PERIODS, Hint, Meaning, hint, is_condition
from sfumato.inspection.patterns import DATES, Pattern, personal_pattern
from sfumato.inspection.profile import CellKind, Profile, profile
from sfumato.inspection.reasons import Reason
from sfumato.schema.roles import Role

LEAST_RECORDS = 20  # with fewer, distinct values mean little
MOSTLY_DISTINCT = 0.5
UNIQUE_TEXTS = 0.7
UNIQUE_NUMBERS = 0.95
LONG_TEXT = 40  # characters
VERY_LONG_TEXT, SOME_DISTINCT = 80, 0.05
MOST_CONDITIONS, LEAST_CONDITIONS = 200, 0.2  # texts to look at, and the share that tells what a column is about
SHORTEST_POSTCODE = 3  # characters
LONGEST_CODE = 12  # characters
LEAST_MANY, MOST_TEXTS = 100, 10_000  # without a hierarchy
REPEATED = 20  # records per value from which a label names a kind of thing rather than a person
MOST_OUTCOMES = 10
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

QUASI_MEANINGS = {Meaning.POSTCODE, Meaning.CATEGORY, Meaning.DEMOGRAPHIC}


class Clues(NamedTuple):
    """Everything known about a column."""

    column: Profile
    hint: Hint | None

    @property
    def meaning(self) -> Meaning | None:
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


def propose_role(column: Profile, hint: Hint | None) -> ProposedRole:
    """Propose a role; when in doubt, quasi-identifier."""
    clues = Clues(column, hint)
    proposed = next(proposed for rule in RULES if (proposed := rule(clues)) is not None)
    if proposed.role is Role.QUASI:
        return ProposedRole(Role.QUASI, (*proposed.reasons, clues.separating))
    if proposed.role is not Role.IDENTIFIER and _unique(column, UNIQUE_TEXTS):
        return ProposedRole(proposed.role, (*proposed.reasons, clues.distinct("telling")))
    return proposed


def named_identifier(clues: Clues) -> ProposedRole | None:
    """Find names, numbers and addresses of people by the name of the column; a boolean only hints at them.

    So do two or three values that many records share, such as whether there is a telephone, or an urban address.
    """
    column, hint = clues
    if hint is None or hint.meaning is not Meaning.IDENTIFIER or column.kind is CellKind.BOOLEAN:
        return None
    if hint.word in CONTACTS.split() and 0 < clues.repeated <= MOST_ANSWERS:
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.named("reaches-people"),))


def looks_personal(clues: Clues) -> ProposedRole | None:
    """Find numbers and addresses of people by the format of the values."""
    if clues.column.kind not in {CellKind.TEXT, CellKind.WHOLE} or clues.repeated == 1:
        return None
    found = personal_pattern(clues.column.sample)
    return ProposedRole(Role.IDENTIFIER, (_looks(*found),)) if found else None


def empty(clues: Clues) -> ProposedRole | None:
    """Find columns without values."""
    return None if clues.column.distinct else ProposedRole(Role.INSENSITIVE, (Reason("no-value"),))


def labeled(clues: Clues) -> ProposedRole | None:
    """Find names and numbers of things with few records each."""
    column, hint = clues
    if hint is None or column.kind is CellKind.BOOLEAN:
        return None
    if hint.meaning is Meaning.LABEL and column.kind is not CellKind.TEXT and 0 < clues.repeated <= MOST_OUTCOMES:
        return None  # a number of few values counts something
    rare = column.distinct * REPEATED > column.filled
    if (hint.meaning is Meaning.LABEL and (hint.alone or rare)) or (
        hint.meaning is Meaning.PERSON and hint.alone and rare
    ):
        return ProposedRole(Role.IDENTIFIER, (clues.named("may-identify"), clues.distinct("distinct")))
    return unique(clues) if hint.label else None


def constant(clues: Clues) -> ProposedRole | None:
    """Find a single value shared by several records, which separates nobody but may reveal a secret of everybody."""
    if clues.column.rows == 1 or clues.column.classes > 1:
        return None
    if clues.meaning is Meaning.SENSITIVE:
        return ProposedRole(Role.SENSITIVE, (clues.named("secret"), Reason("one-secret")))
    return ProposedRole(Role.INSENSITIVE, (Reason("one-value"),))


def dated(clues: Clues) -> ProposedRole | None:
    """Find dates: births, visits and events are also recorded elsewhere."""
    known = Reason("recorded-elsewhere")
    if clues.column.kind in {CellKind.DATE, CellKind.MOMENT}:
        return ProposedRole(Role.QUASI, (known,))
    share = DATES.share(clues.column.sample) if clues.column.kind is CellKind.TEXT else 0.0
    return ProposedRole(Role.QUASI, (_looks(DATES, share), known)) if share >= DATES.least else None


def free_text(clues: Clues) -> ProposedRole | None:
    """Find long texts that rarely repeat: they can contain anything, including names."""
    column = clues.column
    if column.kind is not CellKind.TEXT or column.distinct_share < SOME_DISTINCT:
        return None
    mostly, length = column.distinct_share >= MOSTLY_DISTINCT, column.typical_length
    noted = clues.hint is not None and clues.hint.word == NOTE and length > LONGEST_CODE
    if (clues.meaning is Meaning.FREE_TEXT or noted) and (mostly or length >= LONG_TEXT):
        return ProposedRole(Role.IDENTIFIER, (clues.named("may-name"),))
    if length < (LONG_TEXT if mostly else VERY_LONG_TEXT):
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.distinct("distinct"), Reason("long-texts")))


def is_free_text(name: str, cells: pa.ChunkedArray) -> bool:
    """Return whether a canonical column seems to hold free text, judged by its first 100,000 cells.

    >>> is_free_text("note", pa.chunked_array([[f"Ms. Maier called on day {day} of March" for day in range(30)]]))
    True
    """
    column = profile(name, cells.slice(0, FIRST_CELLS))
    return free_text(Clues(column, hint(name))) is not None


def boundless(clues: Clues) -> ProposedRole | None:
    """Find too many texts to generalize."""
    column = clues.column
    if column.kind is not CellKind.TEXT or clues.meaning is Meaning.POSTCODE:
        return None
    if clues.meaning is Meaning.SENSITIVE and column.distinct_share < UNIQUE_TEXTS:
        return None  # nobody generalizes it
    wordy = column.distinct >= LEAST_MANY and column.typical_length > LONGEST_CODE
    if not (wordy and _unique(column, UNIQUE_NUMBERS)) and column.distinct <= MOST_TEXTS:
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.distinct("distinct"), Reason("too-many-texts")))


def conditions(clues: Clues) -> ProposedRole | None:
    """Find diseases, injuries and other states of health by the values, where the name of the column says little."""
    column, hint = clues
    silent = hint is None or hint.weak or hint.meaning in {Meaning.FREE_TEXT, Meaning.AMOUNT}
    if not silent or column.kind is not CellKind.TEXT:
        return None
    words = column.sample.slice(0, MOST_CONDITIONS).to_pylist()
    found = sum(map(is_condition, words))
    if found <= 1 or found < LEAST_CONDITIONS * len(words):
        return None
    percent = int(100 * found / len(words))
    return ProposedRole(Role.SENSITIVE, (Reason("tells-health", percent=percent),))


def named(clues: Clues) -> ProposedRole | None:
    """Find quasi-identifiers, secrets and amounts by the name of the column."""
    column, hint = clues
    if hint and hint.secret and hint.word in PERIODS and column.distinct < LEAST_PERIODS:
        return ProposedRole(Role.SENSITIVE, (Reason("secret", where=hint.found_in, word=hint.secret),))
    if clues.meaning is Meaning.POSTCODE and column.typical_length < SHORTEST_POSTCODE:
        return None
    if clues.meaning in QUASI_MEANINGS:
        return ProposedRole(Role.QUASI, (clues.named("others-know"),))
    if clues.meaning is Meaning.SENSITIVE:
        return ProposedRole(Role.SENSITIVE, (clues.named("secret"),))
    if clues.meaning is Meaning.OUTCOME and hint and hint.alone and column.distinct <= MOST_OUTCOMES:
        return ProposedRole(Role.SENSITIVE, (clues.named("predicted"),))
    return measured(clues)


def measured(clues: Clues) -> ProposedRole | None:
    """Find survey weights and amounts; only a few values that many records share are published unchanged."""
    column, hint = clues
    if hint is None or column.kind not in {CellKind.WHOLE, CellKind.REAL}:
        return None
    rare = column.distinct > MOST_SHARED or column.rare_share(LEAST_SHARED) > MOST_RARE
    if hint.meaning is Meaning.WEIGHT:
        reason = clues.named("survey-weight")
        return ProposedRole(Role.QUASI, (reason, clues.distinct("telling"))) if rare else _published(reason)
    if hint.meaning is not Meaning.AMOUNT:
        return None
    if not rare:
        return _published(clues.named("amount"))
    if hint.word in COUNTS.split():
        return ProposedRole(Role.QUASI, (clues.named("others-know"),))
    return ProposedRole(Role.SENSITIVE, (clues.named("secret"),))


def _published(reason: Reason) -> ProposedRole:
    return ProposedRole(Role.INSENSITIVE, (reason,))


def unique(clues: Clues) -> ProposedRole | None:
    """Find texts and whole numbers that rarely repeat."""
    least = {CellKind.TEXT: UNIQUE_TEXTS, CellKind.WHOLE: UNIQUE_NUMBERS}.get(clues.column.kind)
    if least is None or not _unique(clues.column, least):
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.distinct("identifying"),))


def ungeneralizable(column: Profile) -> ProposedRole:
    """Return the role of texts that would be published in sets, one and all, were they a quasi-identifier."""
    clues = Clues(column, None)
    return ProposedRole(Role.IDENTIFIER, (clues.distinct("distinct"), Reason("too-many-texts")))


def doubtful(clues: Clues) -> ProposedRole:
    """Treat all others as quasi-identifiers; only the owner of the table can say what they are."""
    return ProposedRole(Role.QUASI, (Reason("unknown") if clues.hint is None else clues.named("says-little"),))


RULES: tuple[Callable[[Clues], ProposedRole | None], ...] = (
    named_identifier,
    looks_personal,
    empty,
    labeled,
    constant,
    dated,
    free_text,
    boundless,
    conditions,
    named,
    unique,
    doubtful,
)


def _unique(column: Profile, least: float) -> bool:
    return column.filled >= LEAST_RECORDS and column.distinct_share >= least


def _looks(pattern: Pattern, share: float) -> Reason:
    return Reason("looks-like", percent=int(share * 100), what=pattern.looks_like)
