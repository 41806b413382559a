"""Propose the role of a column: rules from the surest to the most doubtful, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sfumato.inspection.names import Hint, Meaning
from sfumato.inspection.patterns import DATES, Pattern, personal_pattern
from sfumato.inspection.profile import CellKind, Profile
from sfumato.schema.roles import Role

LEAST_RECORDS = 20  # with fewer, distinct values mean little
MOSTLY_DISTINCT = 0.5
UNIQUE_TEXTS = 0.7
UNIQUE_NUMBERS = 0.95
LONG_TEXT = 40  # characters
LONGEST_CODE = 12  # characters
LEAST_MANY, MOST_TEXTS = 100, 10_000  # without a hierarchy
REPEATED = 20  # records per value from which a label names a kind of thing rather than a person
MOST_OUTCOMES = 10

QUASI_MEANINGS = {Meaning.POSTCODE, Meaning.CATEGORY, Meaning.DEMOGRAPHIC}


class Clues(NamedTuple):
    """Everything known about a column."""

    column: Profile
    hint: Hint | None

    @property
    def meaning(self) -> Meaning | None:
        """What the name of the column suggests."""
        return self.hint.meaning if self.hint else None

    @property
    def named(self) -> str:
        """The known word in the name of the column, as the beginning of a reason."""
        return f"{self.hint.found_in} contains {self.hint.word!r}" if self.hint else "column name"

    @property
    def distinct(self) -> str:
        """The number of distinct values, as the beginning of a reason."""
        return f"{self.column.distinct:,} of {self.column.filled:,} values are distinct"

    @property
    def separating(self) -> str:
        """How well the column separates records, as a reason."""
        values = "distinct value separates" if self.column.distinct == 1 else "distinct values separate"
        share = int(self.column.separation * 100)
        return f"{self.column.distinct:,} {values} {share}% of all pairs of records"


class ProposedRole(NamedTuple):
    """A role with the reasons for it."""

    role: Role
    reasons: tuple[str, ...]


def propose_role(column: Profile, hint: Hint | None) -> ProposedRole:
    """Propose a role; when in doubt, quasi-identifier."""
    clues = Clues(column, hint)
    proposed = next(proposed for rule in RULES if (proposed := rule(clues)) is not None)
    if proposed.role is Role.QUASI:
        return ProposedRole(Role.QUASI, (*proposed.reasons, clues.separating))
    if proposed.role is not Role.IDENTIFIER and _unique(column, UNIQUE_TEXTS):
        why = f"{clues.distinct}: anyone who knows one finds the record, so consider rounding or grouping"
        return ProposedRole(proposed.role, (*proposed.reasons, why))
    return proposed


def named_identifier(clues: Clues) -> ProposedRole | None:
    """Find names, numbers and addresses of people by the name of the column; a boolean only hints at them."""
    if clues.meaning is not Meaning.IDENTIFIER or clues.column.kind is CellKind.BOOLEAN:
        return None
    return ProposedRole(Role.IDENTIFIER, (f"{clues.named}: it identifies or reaches people",))


def looks_personal(clues: Clues) -> ProposedRole | None:
    """Find numbers and addresses of people by the format of the values."""
    if clues.column.kind not in {CellKind.TEXT, CellKind.WHOLE}:
        return None
    found = personal_pattern(clues.column.sample)
    return ProposedRole(Role.IDENTIFIER, (_looks(*found),)) if found else None


def empty(clues: Clues) -> ProposedRole | None:
    """Find columns without values."""
    return None if clues.column.distinct else ProposedRole(Role.INSENSITIVE, ("no record has a value",))


def labeled(clues: Clues) -> ProposedRole | None:
    """Find names and numbers of things with few records each."""
    column, hint = clues
    if hint is None or column.kind is CellKind.BOOLEAN:
        return None
    rare = column.distinct * REPEATED > column.filled
    if (hint.meaning is Meaning.LABEL and (hint.alone or rare)) or (
        hint.meaning is Meaning.PERSON and hint.alone and rare
    ):
        return ProposedRole(Role.IDENTIFIER, (f"{clues.named}: it may identify people", clues.distinct))
    return unique(clues) if hint.label else None


def constant(clues: Clues) -> ProposedRole | None:
    """Find a single value shared by several records, which separates nobody but may reveal a secret of everybody."""
    if clues.column.rows == 1 or clues.column.classes > 1:
        return None
    if clues.meaning is Meaning.SENSITIVE:
        why = "all records share one value: anyone known to be in the table has it"
        return ProposedRole(Role.SENSITIVE, (_secret(clues), why))
    return ProposedRole(Role.INSENSITIVE, ("all records share one value: it separates nobody",))


def dated(clues: Clues) -> ProposedRole | None:
    """Find dates: births, visits and events are also recorded elsewhere."""
    known = "dates are also recorded elsewhere"
    if clues.column.kind in {CellKind.DATE, CellKind.MOMENT}:
        return ProposedRole(Role.QUASI, (known,))
    share = DATES.share(clues.column.sample) if clues.column.kind is CellKind.TEXT else 0.0
    return ProposedRole(Role.QUASI, (_looks(DATES, share), known)) if share >= DATES.least else None


def free_text(clues: Clues) -> ProposedRole | None:
    """Find long texts that rarely repeat: they can contain anything, including names."""
    if clues.column.kind is not CellKind.TEXT or clues.column.distinct_share < MOSTLY_DISTINCT:
        return None
    if clues.meaning is Meaning.FREE_TEXT:
        return ProposedRole(Role.IDENTIFIER, (f"{clues.named}: free text may name people",))
    if clues.column.typical_length < LONG_TEXT:
        return None
    return ProposedRole(Role.IDENTIFIER, (clues.distinct, "most values are long: free text may name people"))


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
    why = "there are too many texts to generalize; give it a hierarchy to keep it"
    return ProposedRole(Role.IDENTIFIER, (clues.distinct, why))


def named(clues: Clues) -> ProposedRole | None:
    """Find quasi-identifiers, secrets and amounts by the name of the column."""
    column, hint = clues
    if clues.meaning in QUASI_MEANINGS:
        return ProposedRole(Role.QUASI, (f"{clues.named}: others may know it",))
    if clues.meaning is Meaning.SENSITIVE:
        return ProposedRole(Role.SENSITIVE, (_secret(clues),))
    if clues.meaning is Meaning.OUTCOME and hint and hint.alone and column.distinct <= MOST_OUTCOMES:
        return ProposedRole(Role.SENSITIVE, (f"{clues.named}: it is what others want to predict",))
    if clues.meaning is Meaning.WEIGHT and column.kind in {CellKind.WHOLE, CellKind.REAL}:
        why = f"{clues.named}: a survey weight, which others rarely know; equal weights tell who was sampled alike"
        return ProposedRole(Role.INSENSITIVE, (why,))
    if clues.meaning is Meaning.AMOUNT and column.kind in {CellKind.WHOLE, CellKind.REAL}:
        return ProposedRole(Role.INSENSITIVE, (f"{clues.named}: an amount that others rarely know",))
    return None


def unique(clues: Clues) -> ProposedRole | None:
    """Find texts and whole numbers that rarely repeat."""
    least = {CellKind.TEXT: UNIQUE_TEXTS, CellKind.WHOLE: UNIQUE_NUMBERS}.get(clues.column.kind)
    if least is None or not _unique(clues.column, least):
        return None
    return ProposedRole(Role.IDENTIFIER, (f"{clues.distinct}: it identifies people",))


def doubtful(clues: Clues) -> ProposedRole:
    """Treat all others as quasi-identifiers; only the owner of the table can say what they are."""
    unknown = "nothing shows what it is" if clues.hint is None else f"{clues.named}, which says little"
    return ProposedRole(Role.QUASI, (f"{unknown}: a quasi-identifier, to be safe",))


RULES: tuple[Callable[[Clues], ProposedRole | None], ...] = (
    named_identifier,
    looks_personal,
    empty,
    labeled,
    constant,
    dated,
    free_text,
    boundless,
    named,
    unique,
    doubtful,
)


def _unique(column: Profile, least: float) -> bool:
    return column.filled >= LEAST_RECORDS and column.distinct_share >= least


def _secret(clues: Clues) -> str:
    return f"{clues.named}: nobody should learn it about a person"


def _looks(pattern: Pattern, share: float) -> str:
    return f"{int(share * 100)}% of distinct values look like {pattern.looks_like}"
