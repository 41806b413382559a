"""Options shared by several commands, each defined once; groups of options are dataclasses."""

from __future__ import annotations

import functools
import inspect
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from sfumato.errors import InvalidParameterError, ReadError, SfumatoError
from sfumato.io.formats import FORMATS, is_url, resolve_format

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato._progress import Progress
    from sfumato.cli._recipe_options import AuditRequest
    from sfumato.core.bundle import PublishedRelease
    from sfumato.io._reading import LoadedTable
    from sfumato.io.formats import Option
    from sfumato.schema.schema import Schema
    from sfumato.tables.audit._counterfeits import Stated
    from sfumato.tables.engines.options import EngineSelector
    from sfumato.tables.series.series import Series


Command = TypeVar("Command", bound=Callable[..., None])

Source = Annotated[str, typer.Argument(metavar="FILE", help="The table: a file or a database URL.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]
RecipeFile = Annotated[Path | None, typer.Option(metavar="FILE", help="A recipe file; other options override it.")]
Identifiers = Annotated[
    list[str], typer.Option(metavar="A,B,...", help="Columns that identify a person; never published.")
]
Known = Annotated[list[str], typer.Option(metavar="A,B,...", help="Columns that an adversary may know.")]
Secret = Annotated[list[str], typer.Option(metavar="A,B,...", help="Columns that nobody should learn about a person.")]
Hierarchies = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN=HOW",
        help="How to generalize a column: a CSV file (leaf;level1;...;*), intervals:5,10,20, "
        "intervals:month,year, prefixes or prefixes:3,1. Repeatable.",
    ),
]


def _as_chance(threshold: float | None) -> float | None:
    if threshold is not None and not 0 <= threshold <= 1:
        raise InvalidParameterError("--threshold must be between 0 and 1.")
    return threshold


PromisedK = Annotated[int | None, typer.Option("--k", metavar="N", help="Promise k-anonymity with this k.")]
PromisedModels = Annotated[
    list[str],
    typer.Option(
        metavar="NAME:KEY=VALUE,...",
        help="Promise a privacy model, as in distinct-l-diversity:l=3,sensitive=disease or "
        "k-anonymity:k=9,quasi=age+zip; levels, categories and bounds of values come from a CSV file, as in "
        "levels=levels.csv. Replaces the recipe's model of the same name and attributes. Repeatable.",
    ),
]
Steps = Annotated[
    list[str],
    typer.Option(
        metavar="NAME[:KEY=VALUE,...]",
        help="A masking step before the search (see sfumato steps), as in top-code:column=age,at=90; repeat for more.",
    ),
]
MissingPolicy = Annotated[str | None, typer.Option(metavar="POLICY", help="Missing values: own-value or matches-all.")]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="CHANCE", help="Fail if the success rate of an attack is surely above this.", callback=_as_chance
    ),
]
CountRows = Annotated[
    bool,
    typer.Option("--count-rows", help="Go on where an identifier repeats, and count rows instead of individuals."),
]
PublishText = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN",
        help="Publish this sensitive or insensitive column as it is, although it seems to hold free text. Repeatable.",
    ),
]
Language = Annotated[
    str | None, typer.Option(metavar="NAME", help="The language of the pages, en or zh; by default that of the recipe.")
]
LedgerKey = Annotated[
    Path | None, typer.Option("--key", metavar="FILE", help="The ledger's key; by default beside it, with .key added.")
]
FILE_FORMATS = [name for name, each in FORMATS.built_in.items() if each.suffixes and each.write is not None]


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How to read the table."""

    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table to read from a database.")] = None
    query: Annotated[str | None, typer.Option(metavar="SQL", help="A query to read instead of a table.")] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="The sheet of a workbook; by default the first.")
    ] = None
    separator: Annotated[
        str | None, typer.Option(metavar="CHAR", help="The separator of a text file; by default detected.")
    ] = None
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="The encoding of a text file; by default detected.")
    ] = None
    skip_rows: Annotated[
        int, typer.Option(metavar="N", help="Lines or rows before the header, as of a title.", show_default=False)
    ] = 0

    skip_last: Annotated[
        int, typer.Option(metavar="N", help="Lines or rows after the last record, as of totals.", show_default=False)
    ] = 0
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line or row is a header; by default found out, and asked for where it looks like a "
            "record.",
            show_default=False,
        ),
    ] = None
    names: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="What the columns are called, instead of what a header says."),
    ] = None
    fill_merged: Annotated[
        bool, typer.Option("--fill-merged", help="Give the value of merged cells of a sheet to all of them.")
    ] = False
    decimal: Annotated[
        str | None, typer.Option(metavar="MARK", help="The decimal mark, . or a comma; by default detected.")
    ] = None
    thousands: Annotated[
        str | None, typer.Option(metavar="MARK", help="What stands between thousands; by default detected.")
    ] = None
    date_format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="How days are written, as in dd.mm.yyyy; by default detected."),
    ] = None
    column_type: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=TYPE",
            help="Read it as text, number, number:kg (with a unit), date, date:dd.mm.yyyy or boolean. Repeatable.",
        ),
    ] = field(default_factory=list)
    quiet: Annotated[
        bool,
        typer.Option("--quiet", help="Print only errors and what is asked for: no remarks, no summary."),
    ] = False

    def __post_init__(self) -> None:
        """Print no remarks from now on if asked so, whether the table is read here or in an engine."""
        from sfumato.cli._output import set_quiet

        if self.quiet:
            set_quiet()

    def read(self, source: str, remembered: Mapping[str, Option] | None = None) -> pa.Table:
        """Read a table; see `load`."""
        return self.load(source, remembered).table

    def load(
        self,
        source: str,
        remembered: Mapping[str, Option] | None = None,
        *,
        propose: bool = False,
    ) -> LoadedTable:
        """Read a table, and print what its owner should know of it.

        Parameters
        ----------
        source : a file or a database URL.
        remembered : how a recipe says that the table is read; options override it.
        propose : whether to find the header and the sheet of a table, too.
        """
        from sfumato.cli._output import print_remark, show_progress_bar
        from sfumato.cli._terms import to_shell_terms
        from sfumato.io._reading import read_with_findings

        with show_progress_bar("Reading"):
            loaded = read_with_findings(source, self.options_for(source, remembered or {}), propose=propose)
        loaded = replace(loaded, remarks=tuple(map(to_shell_terms, loaded.remarks)))
        for sentence in loaded.remarks:
            print_remark(sentence)
        return loaded

    def options_for(self, source: str, remembered: Mapping[str, Option]) -> dict[str, Option]:
        """Return the options of `sf.read` that are given, or that a recipe remembers for such a table."""
        given = self.options()
        return {**still_applicable(source, remembered, given), **given}

    def options(self) -> dict[str, Option]:
        """Return the options of `sf.read` that are given."""
        from sfumato.io._header_detection import parse_names
        from sfumato.io.formats import stated

        given = {name: value for name, value in vars(self).items() if name not in {"quiet", "column_type"}}
        given["column_types"] = column_types(self.column_type)
        given["names"] = () if self.names is None else parse_names(self.names)
        return stated(given)  # type: ignore[return-value]  # each is an option of reading


@dataclass(frozen=True, kw_only=True)
class EngineArguments:
    """Where rows are looked at, and what that may take."""

    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="memory, duckdb, or auto: memory if the table takes at most a quarter of the budget.",
        ),
    ] = "auto"
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The budget, as in 4GB; by default half of what is free.")
    ] = None
    temporary: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="For what does not fit into memory; by default beside the release, or else where the system has it.",
        ),
    ] = None

    def resources(self) -> EngineSelector:
        """Return what looking at a table may take."""
        from sfumato.tables.engines.options import EngineSelector

        return EngineSelector(engine=self.engine, memory=self.memory, temporary=self.temporary)


@dataclass(frozen=True, kw_only=True)
class ReleaseEngineArguments(EngineArguments):
    """Where a release is made, and what that may take."""

    resume: Annotated[
        bool,
        typer.Option(help="Continue where --resume stopped; leave what the next one needs if this one fails."),
    ] = False

    def resources(self) -> EngineSelector:
        """Return what a release may take."""
        return replace(super().resources(), resume=self.resume)


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """The series that a release belongs to."""

    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The ledger of the series: it is asked, and the release is recorded there."),
    ] = None
    ledger_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its key; by default beside it, with .key added.")
    ] = None

    def opened(self) -> Series | None:
        """Open the ledger, if one is given."""
        from sfumato.errors import InvalidParameterError
        from sfumato.tables.series.series import Series

        if self.ledger is None and self.ledger_key is not None:
            raise InvalidParameterError("--ledger-key is the key of a ledger; give --ledger, too.")
        return None if self.ledger is None else Series(self.ledger, key=self.ledger_key)


@dataclass(frozen=True, kw_only=True)
class WritingOptions:
    """How a release is written."""

    table_format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help=f"Format of the published table: {', '.join(FILE_FORMATS)}, "
            "or one that another package adds (see sfumato formats).",
        ),
    ] = "csv"
    excel_safe: Annotated[
        bool, typer.Option("--excel-safe", help="Escape cells that a spreadsheet would run as formulas.")
    ] = False
    replace: Annotated[bool, typer.Option("--replace", help="Replace an existing release.")] = False
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Leave out the report, which takes most of the time.")
    ] = False

    def check_target(self, out: Path) -> None:
        """Refuse before the search what would be refused after it."""
        from sfumato.core._atomic_writes import check_target_free
        from sfumato.io.formats import resolve_release_format

        check_target_free(out, replace=self.replace)
        resolve_release_format(self.table_format, excel_safe=self.excel_safe)

    def check_parts_format(self) -> None:
        """Refuse what asks for another table than one of Parquet parts, which every engine but memory writes."""
        if self.excel_safe or self.table_format not in {"csv", "parquet"}:
            raise InvalidParameterError(
                "A release beyond memory is written as Parquet parts; leave out --excel-safe and --format, or give "
                "--engine memory."
            )

    def write(self, release: PublishedRelease, folder: Path, progress: Progress) -> None:
        """Write both folders of a release."""
        release.write(
            folder,
            table_format=self.table_format,
            replace=self.replace,
            excel_safe=self.excel_safe,
            report=not self.no_report,
            progress=progress,
        )


@dataclass(frozen=True, kw_only=True)
class RecipeOptions:
    """The roles of the columns and the models to promise, taken from a recipe, from options or from both."""

    recipe: RecipeFile = None
    identifier: Identifiers = field(default_factory=list)
    quasi: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns that an adversary may know; generalized.")
    ] = field(default_factory=list)
    sensitive: Secret = field(default_factory=list)
    insensitive: Annotated[list[str], typer.Option(metavar="A,B,...", help="Columns that are published unchanged.")] = (
        field(default_factory=list)
    )
    hierarchy: Hierarchies = field(default_factory=list)
    missing: MissingPolicy = None
    k: PromisedK = None
    model: PromisedModels = field(default_factory=list)

    @classmethod
    def from_options(cls, fewer: Any) -> RecipeOptions:
        """Take over a group of some of these options."""
        return cls(**{each.name: getattr(fewer, each.name) for each in fields(fewer)})


@dataclass(frozen=True, kw_only=True)
class RoleOptions:
    """The roles of the columns, for commands that promise nothing."""

    recipe: RecipeFile = None
    quasi: Known = field(default_factory=list)
    sensitive: Secret = field(default_factory=list)
    missing: MissingPolicy = None

    def schema(self) -> Schema:
        """Return the schema given by the recipe and the options."""
        return self.audit_request().schema

    def audit_request(self) -> AuditRequest:
        """Return what recipe and options say."""
        from sfumato.cli._recipe_options import build_audit_request

        return build_audit_request(RecipeOptions.from_options(self))


@dataclass(frozen=True, kw_only=True)
class PromisedOptions(RoleOptions):
    """The roles of the columns, and what was promised, for commands that compare with it."""

    k: PromisedK = None
    model: PromisedModels = field(default_factory=list)


def format_examples(*lines: str) -> str:
    """Format the examples at the end of a help text, one per line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def command_group(says: str) -> typer.Typer:
    """Begin a family of commands; its name alone shows its help."""
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)

    @app.callback(help=says, invoke_without_command=True)
    def start(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return app


def expand_option_groups(command: Command) -> Command:
    """Let a command take groups of options: Typer sees the fields, the command sees the groups."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        parameters += _parameters(groups[name]) if name in groups else [parameter.replace(annotation=hints[name])]

    @functools.wraps(command)
    def flat(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
    return flat  # type: ignore[return-value]  # called by Typer alone


def _parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, default=_default(each), annotation=hints[each.name]
        )
        for each in fields(group)
    ]


def _default(each: Field[Any]) -> object:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return inspect.Parameter.empty if each.default is MISSING else each.default


# How a table was read before: what a recipe remembers of it, and how to say it again.


def column_types(given: Sequence[str]) -> dict[str, str]:
    """Read the types of columns.

    >>> column_types(["zip=text", "weight=number:kg"])
    {'zip': 'text', 'weight': 'number:kg'}
    """
    types: dict[str, str] = {}
    for each in given:
        name, sign, kind = each.rpartition("=")
        if not sign or not name or name in types:
            raise InvalidParameterError("Write --column-type once per column, as in zip=text.")
        types[name] = kind
    return types


def still_applicable(source: str, remembered: Mapping[str, Option], given: Mapping[str, Option]) -> dict[str, Option]:
    """Return what a recipe remembers and a table of this format can be read by."""
    if not remembered:
        return {}
    from sfumato.io._parquet import is_multi_file

    form = FORMATS["parquet"] if not is_url(source) and is_multi_file(source) else resolve_format(source, ReadError)
    known = {*form.read_options, "column_types"}
    if {"table", "query"} & set(given):
        known -= {"table", "query"}
    return {name: value for name, value in remembered.items() if name in known}


def reading_as_options(reading: Mapping[str, Option]) -> str:
    """Write how a table is read as options of a command line.

    >>> reading_as_options({"separator": ";", "skip_rows": 2, "column_types": {"zip": "text"}})
    "--separator ';' --skip-rows 2 --column-type zip=text"
    """
    from sfumato.io._header_detection import format_names

    words: list[str] = []
    for name, value in reading.items():
        if isinstance(value, Mapping):
            words += [f"--column-type {shlex.quote(f'{column}={kind}')}" for column, kind in value.items()]
        else:
            option = f"--{name.replace('_', '-')}"
            shown = format_names(value) if isinstance(value, tuple | list) else str(value)
            negated = option.replace("--", "--no-", 1)
            words.append(option if value is True else negated if value is False else f"{option} {shlex.quote(shown)}")
    return " ".join(words)


# What a release states about rows that belong to nobody: in the promise that stands beside its table.

GUARANTEE_FILE = "promise.json"


def stated_counterfeits(table: str, given: int | None) -> Stated:
    """Return how many rows of a table are stated to belong to nobody: as given, or by the promise beside it."""
    from sfumato.tables.audit._counterfeits import check_stated

    promise = Path(table).parent / GUARANTEE_FILE
    if given is not None:
        return given
    if not promise.is_file():
        return 0
    try:
        said = json.loads(promise.read_text("utf-8"))
        stated: Stated = said["counterfeits"]["buckets"] if "counterfeits" in said else 0
        check_stated(stated, "promise")
    except (OSError, ValueError, KeyError, TypeError, SfumatoError):
        raise ReadError(
            f"{promise} does not tell how many rows belong to nobody; restore it, or say it by --counterfeits."
        ) from None
    return stated
