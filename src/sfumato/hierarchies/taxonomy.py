"""Taxonomies: named groups of values, without an order."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from sfumato._validation import require
from sfumato.errors import HierarchyError, ReadError
from sfumato.hierarchies._nested_groups import NestedGroups
from sfumato.io._csv_syntax import detect_separator
from sfumato.io._text_encoding import detect_encoding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEMICOLON = ";"


@dataclass(frozen=True, init=False, repr=False)
class Taxonomy(NestedGroups):
    """Generalize a value to the named groups that it belongs to.

    A group of all leaves is the root and is published as `*`, whatever its name. Leaves that do not occur in
    the column stay: they belong to the domain, and losses count them.

    Parameters
    ----------
    tree : a mapping of group names to smaller groups or to lists of leaves. A list may contain leaves and
        mappings side by side; leaves closer to the root are repeated until all have the same depth.

    Examples
    --------
    >>> tree = Taxonomy({"lung": ["flu", "cold"], "gut": ["ulcer"]})
    >>> tree
    Taxonomy(<3 leaves, height 2>)
    >>> tree.hierarchy.labels
    (('flu', 'cold', 'ulcer'), ('lung', 'gut'), ('*',))
    """

    kind: ClassVar[str] = "taxonomy"
    scale: ClassVar[str] = "categorical"
    ordered: ClassVar[bool] = False
    tree_setting: ClassVar[str] = "tree"

    def __init__(self, tree: Mapping[str, object] | Sequence[object]) -> None:
        super().__init__(tree)

    @classmethod
    def read_csv(cls, path: str | Path, separator: str | None = None, encoding: str | None = None) -> Self:
        """Read one line per leaf, `leaf;level1;...;*`, without a header, as ARX writes them.

        Parameters
        ----------
        path : the file. Blank lines are ignored; lines may end in CR LF, LF or CR.
        separator : the character between columns; by default a semicolon if the first line has one, else detected.
        encoding : the encoding of the file; detected if not given.

        Raises
        ------
        ReadError
            If the file cannot be opened, decoded or split into cells.
        HierarchyError
            If its lines differ in length or do not form a hierarchy.
        """
        one = separator is None or (len(separator) == 1 and separator not in '"\r\n')
        require(one, cls.__name__, "separator", "one character", separator)
        name = Path(path).name
        data = _read_text(Path(path), encoding)
        separator = separator or _detect_separator(data)
        rows = _read_rows(name, data, separator)
        for line, row in rows:
            if len(row) != len(rows[0][1]):
                raise HierarchyError(
                    f"Line {line} of {name} has {len(row)} columns, but the first has {len(rows[0][1])}; "
                    "give every leaf a label on every level."
                )
        if rows and len(rows[0][1]) == 1:
            raise HierarchyError(f"{name} has only one column; is {separator!r} its separator?")
        try:
            return cls.from_rows([row for _, row in rows])
        except HierarchyError as error:
            raise HierarchyError(f"{name}: {error}") from None


def _read_text(path: Path, encoding: str | None) -> str:
    try:
        data = path.read_bytes()
        return data.decode(encoding or detect_encoding(path)).removeprefix("\ufeff")
    except OSError as error:
        raise ReadError(f"Cannot read {path.name}: {error.strerror}.") from None
    except LookupError:
        raise ReadError(f"Cannot read {path.name}: there is no encoding named {encoding!r}.") from None
    except UnicodeError:
        raise ReadError(f"Cannot read {path.name} as {encoding}; give its encoding.") from None


def _detect_separator(data: str) -> str:
    first = next((line for line in data.splitlines() if line.strip()), "")
    return SEMICOLON if SEMICOLON in first else detect_separator(data.encode())


def _read_rows(name: str, data: str, separator: str) -> list[tuple[int, list[str]]]:
    try:
        reader = csv.reader(io.StringIO(data, newline=""), delimiter=separator, strict=True)
        return [(reader.line_num, row) for row in reader if len(row) > 1 or "".join(row).strip()]
    except csv.Error:
        raise ReadError(f"Cannot read {name}: a quoted cell is broken or too long; fix its quotes.") from None
