"""The one table of formats: what tables are read from and written to.

Other packages add formats by the entry point `sfumato.formats`. Libraries are imported when a table is read or written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sfumato._plugins import Registry
from sfumato._validation import require, suggest_closest
from sfumato.errors import InvalidParameterError, PluginError, SfumatoError, WriteError

if TYPE_CHECKING:
    from sfumato.io._dataframes import Frame


# What a format is.

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


def _lazy_function(module: str, function: str) -> Callable[..., Any]:
    """Return a function of a module here that is imported when it is called."""

    def call(*given: object, **options: object) -> object:
        return getattr(import_module(f"sfumato.io.{module}"), function)(*given, **options)

    return call


def _statistics_format(name: str, kind: str, *suffixes: str) -> Format:
    return Format(
        name=name,
        kind=kind,
        suffixes=suffixes,
        read=_lazy_function("_statistics", "read_statistics"),
        read_options=("encoding", "as_text"),
        tells=True,
        extra="statistics",
    )


def _database_format(name: str, *schemes: str, extra: str = "") -> Format:
    return Format(
        name=name,
        kind="a database",
        schemes=schemes,
        read=_lazy_function("_database", "read_database"),
        write=_lazy_function("_database", "write_database"),
        read_options=("table", "query", "as_text"),
        write_options=("table_name", "if_exists"),
        extra=extra,
    )


OTHER_BOOKS = (".xls", ".xlsb", ".xlsm", ".ods", ".numbers")
_BUILT_IN_FORMATS = (
    Format(
        name="csv",
        kind="a text file",
        suffixes=tuple(f".{each}{packed}" for packed in ("", ".gz") for each in ("csv", "tsv", "txt", "data", "dat")),
        read=_lazy_function("_csv", "read_csv"),
        write=_lazy_function("_csv", "write_csv"),
        read_options=("separator", "encoding", *SHAPE, *CONVENTIONS),
        write_options=("excel_safe", *WRITTEN),
        tells=True,
    ),
    Format(
        name="parquet",
        kind="a Parquet file",
        suffixes=(".parquet", ".pq"),
        read=_lazy_function("_parquet", "read_parquet"),
        write=_lazy_function("_parquet", "write_parquet"),
        read_options=("as_text",),
    ),
    Format(
        name="xlsx",
        kind="a workbook",
        suffixes=(".xlsx",),
        read=_lazy_function("_excel", "read_excel"),
        write=_lazy_function("_excel", "write_excel"),
        read_options=("sheet", "fill_merged", *SHAPE, *CONVENTIONS),
        write_options=("excel_safe",),
        tells=True,
        extra="excel",
    ),
    _statistics_format("stata", "a Stata file", ".dta"),
    _statistics_format("spss", "an SPSS file", ".sav", ".zsav", ".por"),
    _statistics_format("sas", "a SAS file", ".sas7bdat", ".xpt"),
    _database_format("sqlite", "sqlite"),
    _database_format("duckdb", "duckdb", extra="duckdb"),
    _database_format("postgresql", "postgresql", "postgres", extra="postgresql"),
)


def _find_defect(loaded: object) -> str | None:
    if not isinstance(loaded, Format):
        return "is no Format"
    ours = {mark for each in _BUILT_IN_FORMATS for mark in (*each.suffixes, *each.schemes)}
    taken = [mark for mark in (*loaded.suffixes, *loaded.schemes) if mark in ours]
    return f"claims {taken[0]!r}, which Sfumato itself reads" if taken else None


FORMATS: Registry[Format] = Registry(
    what="format",
    group="sfumato.formats",
    built_in={each.name: each for each in _BUILT_IN_FORMATS},
    flaw=_find_defect,
)


def is_url(source: object) -> bool:
    """Return whether a source is a database URL rather than a file name."""
    return isinstance(source, str) and "://" in source


def is_database(source: object) -> bool:
    """Return whether a source is the URL of a database of a kind that is known."""
    return is_url(source) and _resolve(lambda each: _scheme(source) in each.schemes) is not None


def _scheme(url: object) -> str:
    return str(url).partition("://")[0].lower()


def resolve_format(source: str | os.PathLike[str], error: type[SfumatoError]) -> Format:
    """Find the format of a file by its suffix, or of a database by the scheme of its URL."""
    return _by_scheme(str(source), error) if is_url(source) else _by_suffix(Path(source), error)


def resolve_release_format(name: object, *, excel_safe: bool = False) -> Format:
    """Find the format that the table of a release is to be written in, and refuse one that cannot do so as asked."""
    found = FORMATS.get(name) if isinstance(name, str) else None
    if found is None or not _written_to_files(found):
        known = ", ".join(each.name for each in _iter_usable() if _written_to_files(each))
        raise InvalidParameterError(f"write.table_format must be one of {known}; got {name!r}.")
    check_options(found, "write", {"excel_safe": excel_safe})
    return found


def check_options(form: Format, verb: str, options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that were given, and refuse those that a format does not honor."""
    side, known = ("source", "read_options") if verb == "read" else ("target", "write_options")
    said = {name: value for name, value in options.items() if value is not None}
    given = {name: value for name, value in said.items() if value is not False or name == "header"}
    for name, value in given.items():
        kinds = dict.fromkeys(each.kind for each in FORMATS.built_in.values() if name in getattr(each, known))
        expected = f"left out unless the {side} is {' or '.join(kinds)}"
        require(name in getattr(form, known), verb, name, expected, value)
    return given


def _by_scheme(url: str, error: type[SfumatoError]) -> Format:
    scheme = _scheme(url)
    found = _resolve(lambda each: scheme in each.schemes)
    if found is not None:
        return found
    known = [each.schemes[0] for each in _iter_usable() if each.schemes]
    raise error(f"{scheme!r} is not a known kind of database{suggest_closest(scheme, known) or _list_formats(known)}")


def _by_suffix(path: Path, error: type[SfumatoError]) -> Format:
    name = path.name.lower()
    found = _resolve(lambda each: name.endswith(each.suffixes))
    if found is not None:
        return found
    scheme = _sniff_database(path)
    if scheme is not None:
        raise error(f"{path} is a database file; name it {scheme}:///{path}, and its table by table=.")
    if name.endswith(OTHER_BOOKS):
        raise error(f"{path} is a workbook that cannot be read; save it as .xlsx, or its sheet as .csv, and read that.")
    able = (each for each in _iter_usable() if (each.write if error is WriteError else each.read) is not None)
    raise error(f"{path} has no known suffix{_list_formats([suffix for each in able for suffix in each.suffixes])}")


def _sniff_database(path: Path) -> str | None:
    """Return the scheme for a file that is a database, whatever its suffix."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        return None
    if start.startswith(b"SQLite format 3"):
        return "sqlite"
    return "duckdb" if start[8:12] == b"DUCK" else None


def _resolve(fits: Callable[[Format], bool]) -> Format | None:
    """Find the format that fits: one of Sfumato's own, or else the only one of another package."""
    for ours in FORMATS.built_in.values():
        if fits(ours):
            return ours
    theirs = [each for each in _iter_usable() if fits(each)]
    if len(theirs) > 1:
        names = " and ".join(repr(each.name) for each in theirs)
        raise PluginError(f"The formats {names} of other packages claim the same files; uninstall all but one.")
    return theirs[0] if theirs else None


def _iter_usable() -> Iterator[Format]:
    return (each.choice for each in FORMATS.entries() if each.choice is not None)


def _list_formats(marks: list[str]) -> str:
    broken = sum(each.choice is None for each in FORMATS.entries())
    more = f"; `sfumato formats` tells why {broken} more cannot be used" if broken else ""
    return f"; known are {', '.join(marks)}{more}."


def _written_to_files(form: Format) -> bool:
    return bool(form.suffixes) and form.write is not None


# What a reader finds out about a file besides its table.


@dataclass
class FileFindings:
    """Options that were found out and used, sentences that the owner should know, and what the file calls columns.

    `proposing` says whether what is likely is adopted and told, instead of refused until it is stated.
    """

    options: dict[str, object] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    proposing: bool = False
