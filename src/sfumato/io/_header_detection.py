"""The first line of a table: whether it is a header or already a record, and what the columns are called."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, pairwise

from sfumato._validation import require
from sfumato.errors import ReadError
from sfumato.io._type_inference import MISSING
from sfumato.io.formats import FileFindings

FEWEST_NAMED = 2  # columns of a table whose first one may have no name
MAX_RECORDS = 2_000  # records that are compared with the first line
SAMPLE_BYTES = 1 << 18
NUMBER = re.compile(r"[-+]?(?:[0-9][0-9 .,']*|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?%?")
DAY = re.compile(r"[0-9]{1,4}([-./年])[0-9]{1,2}([-./月])[0-9]{1,4}日?(?:[T ][0-9:.]+)?")
FIRST_YEAR, LAST_YEAR = 1800, 2100
NO_NAME = 4.0  # natural logarithm of how much rarer names than values are numbers above numbers, or values below
CLEAR = 1.0  # the same, of how much evidence is enough
RECORD_MESSAGE = (
    "{where} seems to have no header, because its first {line} looks like a record: what would be names are numbers or "
    "values of their columns; pass header=False, and names= if you know them, or header=True if it is the header."
)
PROPOSED_MESSAGE = (
    "{where} has no header, because its first {line} looks like a record, so its columns are named column_1 and so on; "
    "confirm it with header=False, and name them by names=, or pass header=True if it is the header."
)
UNCLEAR = (
    "Nothing shows whether the first {line} of {where} is a header or a record; it is taken for a header. If it is "
    "one, confirm it with header=True; otherwise read it with header=False, and names= if you know them."
)
INDEX = "The first column has no name, and is called {name!r}; name all columns by names=."
DOUBTFUL_MESSAGE = (
    "The first {line} of {where} seems to be a header; pass header=True to replace its names, or header=False to read "
    "it as a record."
)


@dataclass(frozen=True, kw_only=True)
class Header:
    """What is said of the header of a table.

    Parameters
    ----------
    given : whether the first line is a header; None to find it out.
    names : what the columns are called, instead of what the header says.
    """

    given: bool | None = None
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        require(self.given is None or isinstance(self.given, bool), "read", "header", "True or False", self.given)
        names: object = self.names
        good = isinstance(names, tuple | list) and all(isinstance(name, str) and name.strip() for name in names)
        require(
            good and len(set(self.names)) == len(self.names),
            "read",
            "names",
            "different names, one for every column, as in ('age', 'job')",
            names,
        )
        object.__setattr__(self, "names", tuple(self.names))

    def from_options(
        self, where: object, first: Sequence[str], rows: Sequence[Sequence[str]], findings: FileFindings, line: str
    ) -> bool:
        """Return whether the first line is a header; refuse what is doubtful, or note it where readings are proposed.

        Parameters
        ----------
        where, line : what is read, and what its lines are called.
        first, rows : the cells of the first line, and of some lines below it.
        findings : is told what was found out; says whether that is proposed.
        """
        if self.given is not None:
            return self.given
        seems = seems_header(first, rows)
        if self.names and seems is True:
            raise ReadError(DOUBTFUL_MESSAGE.format(where=where, line=line))
        if seems is False and not self.names:
            if not findings.proposing:
                raise ReadError(RECORD_MESSAGE.format(where=where, line=line))
            findings.remarks.append(PROPOSED_MESSAGE.format(where=where, line=line))
        if seems is False or self.names:
            findings.options["header"] = False
            return False
        if seems is None and findings.proposing and rows:
            findings.remarks.append(UNCLEAR.format(where=where, line=line))
        return True

    def column_names(self, where: object, first: Sequence[str], findings: FileFindings, *, header: bool) -> list[str]:
        """Return what the columns are called: as is said, as the header says, or by their numbers."""
        if self.names:
            if len(self.names) != len(first):
                raise ReadError(
                    f"There are {len(self.names):,} names for the {len(first):,} columns of {where}; give one for "
                    "every column by names=."
                )
            return list(self.names)
        if not header:
            return [f"column_{number}" for number in range(1, len(first) + 1)]
        return make_unique(with_index(first, findings), findings)


def seems_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Return whether a first line is a header, or a record; None if nothing shows it.

    Every cell is evidence by how likely it is as a name and as a value of its column: names are rarely numbers above
    numbers or values of their columns, and values are new to a column as often as those below come only once. Years
    and counted numbers may well be names.

    >>> seems_header(["39", "State-gov"], [["50", "Private"], ["38", "State-gov"]])
    False
    >>> seems_header(["age", "sector"], [["50", "Private"], ["38", "State-gov"]])
    True
    """
    columns = [[cell for cell in cells if cell not in MISSING] for cells in zip(*rows, strict=False)]
    found = [(name.strip(), cells) for name, cells in zip(first, columns, strict=False) if cells]
    numbers = [name for name, cells in found if _is_number(name) and all(map(_is_number, cells))]
    evidence = 0.0 if _may_be_names(numbers) else len(numbers) * NO_NAME
    evidence += sum(_evidence(name, cells) for name, cells in found if name not in MISSING and name not in numbers)
    if evidence > CLEAR:
        return False
    return True if evidence < -CLEAR else None


def _evidence(name: str, cells: Sequence[str]) -> float:
    """Return the logarithm of how much likelier a cell is as a value of its column than as a name."""
    if all(map(_is_number, cells)):
        return -NO_NAME
    if name in cells:
        return NO_NAME
    once = sum(number == 1 for number in Counter(cells).values())
    return math.log((once + 1) / (len(cells) + 1))  # how often the next value is a new one


def _is_number(text: str) -> bool:
    return bool(NUMBER.fullmatch(text) or DAY.fullmatch(text))


def _may_be_names(numbers: Sequence[str]) -> bool:
    """Return whether numbers are years, or are counted, as the columns of a matrix are."""
    if not numbers or not all(each.isdecimal() for each in numbers) or len(set(numbers)) < len(numbers):
        return False
    whole = [int(each) for each in numbers]
    years = all(FIRST_YEAR <= each <= LAST_YEAR for each in whole)
    steps = {later - earlier for earlier, later in pairwise(whole)}
    return years or steps == {1}


def with_index(names: Sequence[str], findings: FileFindings) -> Sequence[str]:
    """Name the first column if it alone has no name, as the row numbers that pandas and R write before a table.

    >>> with_index(["", "age", "job"], FileFindings())
    ['column_1', 'age', 'job']
    >>> with_index(["", "age", ""], FileFindings())
    ['', 'age', '']
    """
    if len(names) < FEWEST_NAMED or names[0] or not all(names[1:]):
        return names
    called = "column_1"
    if called in names:
        called = next(each for each in (f"column_1_{number}" for number in count(2)) if each not in names)
    findings.remarks.append(INDEX.format(name=called))
    return [called, *names[1:]]


def make_unique(names: Sequence[str], findings: FileFindings) -> list[str]:
    """Give columns that are named like an earlier one a number, and say so.

    >>> make_unique(["x", "x", "x_2", ""], FileFindings())
    ['x', 'x_3', 'x_2', '']
    """
    taken, seen = set(names), set[str]()
    found: list[str] = []
    renamed: list[str] = []
    for name in names:
        if name and name in seen:
            number = next(each for each in count(2) if f"{name}_{each}" not in taken)
            renamed.append(f"{name}_{number}")
            taken.add(renamed[-1])
            found.append(renamed[-1])
        else:
            seen.add(name)
            found.append(name)
    if renamed:
        what = "A column is named like another one, and is" if len(renamed) == 1 else "Columns are named alike, and are"
        findings.remarks.append(f"{what} renamed {', '.join(map(repr, renamed))}; name all columns by names=.")
    return found


def parse_names(written: str) -> tuple[str, ...]:
    """Split names at commas; those that hold a comma are quoted.

    >>> parse_names('age, "last, first"')
    ('age', 'last, first')
    """
    return tuple(name.strip() for name in next(csv.reader([written], skipinitialspace=True), []))


def format_names(names: Sequence[str]) -> str:
    """Write names as `parse_names` reads them.

    >>> format_names(("age", "last, first"))
    'age,"last, first"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def parse_sample(data: bytes, separator: str) -> list[list[str]]:
    """Take the first lines of a text file apart, those that are empty left out."""
    text = data[:SAMPLE_BYTES].decode(errors="replace")
    if len(data) > SAMPLE_BYTES:
        text = text[: text.rfind("\n") + 1] or text
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell is very long; the lines above it are enough
        for line in csv.reader(text.splitlines(keepends=True), delimiter=separator, skipinitialspace=True):
            rows += [[cell.strip() for cell in line]] if any(line) else []
            if len(rows) > MAX_RECORDS:
                break
    return rows
