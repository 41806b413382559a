"""Options that several commands share, each defined once; groups of them are dataclasses."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.cli.asking import Promise
    from sfumato.reporting.publishable import Publishable
    from sfumato.schema.schema import Schema

Command = TypeVar("Command", bound=Callable[..., None])

Source = Annotated[str, typer.Argument(metavar="FILE", help="A table: a file, or a database URL.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read the table."""

    table: Annotated[str | None, typer.Option(metavar="NAME", help="Which table of a database.")] = None
    query: Annotated[str | None, typer.Option(metavar="SQL", help="In place of a table, a query.")] = None
    sheet: Annotated[str | None, typer.Option(metavar="NAME", help="Which sheet of a workbook; else the first.")] = None
    separator: Annotated[str | None, typer.Option(metavar="CHAR", help="Of a text file; else detected.")] = None
    encoding: Annotated[str | None, typer.Option(metavar="NAME", help="Of a text file; else detected.")] = None

    def read(self, source: str) -> pa.Table:
        """Read a table."""
        from sfumato.cli.printing import progress
        from sfumato.table.read import read

        with progress("Reading"):
            return read(
                source,
                table=self.table,
                query=self.query,
                sheet=self.sheet,
                separator=self.separator,
                encoding=self.encoding,
            )


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the attributes are and what is promised, by a recipe, by options, or by both."""

    recipe: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A recipe; other options override what it says.")
    ] = None
    identifier: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns that name a person; never published.")
    ] = field(default_factory=list)
    quasi: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns that an adversary may know; generalized.")
    ] = field(default_factory=list)
    sensitive: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns that must not be learned about a person.")
    ] = field(default_factory=list)
    insensitive: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns that are published as they are.")
    ] = field(default_factory=list)
    hierarchy: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=HOW",
            help="How a column is generalized: a CSV file (leaf;level1;...;*), intervals:5,10,20, "
            "intervals:month,year, prefixes or prefixes:3,1. Repeatable.",
        ),
    ] = field(default_factory=list)
    missing: Annotated[str | None, typer.Option(metavar="POLICY", help="Missing values: own-value or matches-all.")] = (
        None
    )
    k: Annotated[int | None, typer.Option("--k", metavar="N", help="Promise k-anonymity.")] = None
    model: Annotated[
        list[str],
        typer.Option(
            metavar="NAME:KEY=VALUE,...",
            help="Promise a model, as in distinct-l-diversity:l=3,sensitive=disease or k-anonymity:k=9,quasi=age+zip; "
            "levels, categories and bounds of values are a CSV file, as in levels=levels.csv. Replaces the recipe's of "
            "that name and attributes. Repeatable.",
        ),
    ] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Described:
    """What the columns are, where nothing is promised."""

    recipe: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A recipe; other options override what it says.")
    ] = None
    quasi: Annotated[list[str], typer.Option(metavar="A,B,...", help="Columns that an adversary may know.")] = field(
        default_factory=list
    )
    sensitive: Annotated[
        list[str], typer.Option(metavar="A,B,...", help="Columns that must not be learned about a person.")
    ] = field(default_factory=list)
    missing: Annotated[str | None, typer.Option(metavar="POLICY", help="Missing values: own-value or matches-all.")] = (
        None
    )

    def schema(self) -> Schema:
        """Return the schema that recipe and options say."""
        return self.promise().schema

    def promise(self) -> Promise:
        """Return what recipe and options say."""
        from sfumato.cli.asking import ask_promise

        return ask_promise(Asked(**{each.name: getattr(self, each.name) for each in fields(self)}))


@dataclass(frozen=True, kw_only=True)
class Written:
    """How a release is written."""

    table_format: Annotated[
        Literal["csv", "parquet", "xlsx"], typer.Option("--format", help="Of the published table.")
    ] = "csv"
    excel_safe: Annotated[bool, typer.Option("--excel-safe", help="Disarm cells that a spreadsheet would execute.")] = (
        False
    )
    replace: Annotated[bool, typer.Option("--replace", help="Replace an older release.")] = False

    def write(self, release: Publishable, folder: Path) -> None:
        """Write both folders of a release."""
        release.write(folder, table_format=self.table_format, replace=self.replace, excel_safe=self.excel_safe)


def examples(*lines: str) -> str:
    """Write the examples that stand at the end of a help text, each on its own line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def spread(command: Command) -> Command:
    """Let a command take groups of options: Typer sees their fields, the command sees the groups."""
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
