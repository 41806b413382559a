"""What a format is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from sfumato.validation import require

if TYPE_CHECKING:
    from sfumato.table.frames import Frame

Option: TypeAlias = "str | int | bool | tuple[str, ...] | Mapping[str, str]"

CONVENTIONS = ("decimal", "thousands", "date_format", "column_types")
SHAPE = ("missing", "skip_rows", "skip_last", "header", "names", "as_text")
READ_OPTIONS = ("table", "query", "sheet", "fill_merged", "separator", "encoding", *SHAPE, *CONVENTIONS)
WRITTEN = ("separator", "encoding", "decimal", "date_format")  # the conventions of text files that are also written
WRITE_OPTIONS = ("table_name", "if_exists", "excel_safe", *WRITTEN)


def stated(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that say anything: no header, and that nothing is a missing value, are said, too."""
    empty: tuple[object, ...] = (None, 0, False, {}, (), [])
    said = (("header", False), ("missing", ()))
    return {name: value for name, value in options.items() if (name, value) in said or value not in empty}


@dataclass(frozen=True, kw_only=True)
class Format:
    """A kind of file, or a kind of database, that tables are read from and written to.

    Parameters
    ----------
    name : the name for `table_format` and `--format`.
    kind : what a source of this format is called, as in "a text file".
    suffixes : of files, in lower case with the dot; the first is that of the table of a release.
    schemes : of URLs, in lower case; a format has either suffixes or schemes.
    read : takes a path (of a database, its URL) and those of the options that were given; gives a dataframe.
    write : takes an Arrow table, a path (or URL) and those of the options that were given; leaves a complete file.
    read_options, write_options : the options of `sf.read` and `sf.write` that it honors; others are refused.
    tells : whether reading takes `findings`, too, to be told what was found out about a file.
    extra : what is installed with Sfumato for it, as in `pip install "sfumato[excel]"`; nothing if empty.
    """

    name: str
    kind: str
    suffixes: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    read: Callable[..., Frame] | None = field(default=None, repr=False)
    write: Callable[..., None] | None = field(default=None, repr=False)
    read_options: tuple[str, ...] = ()
    write_options: tuple[str, ...] = ()
    tells: bool = False
    extra: str = ""

    def __post_init__(self) -> None:
        require(bool(self.name and self.kind), self, "name", "given, and kind, too", self.name)
        dotted = all(text.startswith(".") and text == text.lower() for text in self.suffixes)
        require(dotted, self, "suffixes", "in lower case with their dots, as in ('.csv', '.tsv')", self.suffixes)
        require(bool(self.suffixes) != bool(self.schemes), self, "suffixes", "given unless schemes are", self.suffixes)
        for which, known in (("read_options", READ_OPTIONS), ("write_options", WRITE_OPTIONS)):
            given = getattr(self, which)
            require(set(given) <= set(known), self, which, f"some of {', '.join(known)}", given)
        require(self.read is not None or self.write is not None, self, "read", "given unless write is", self.read)
