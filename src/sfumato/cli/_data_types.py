"""How commands about ways read points: which columns say who was where and when, and what everybody knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from sfumato.cli._errors import DOES_NOT_HOLD
from sfumato.cli._output import align_columns, color_verdict, print_json, print_remark, printable, show_progress_bar
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.core.attack import AttackResults
    from sfumato.core.audit import Audit
    from sfumato.core.model import Model
    from sfumato.core.recipe import TypedRecipe
    from sfumato.core.release import Release
    from sfumato.trajectories.geometry import Area
    from sfumato.trajectories.trajectories import Trajectories


# What commands about other kinds of data than tables share: asking for promises and searches, and printing them.

KindModels = Annotated[
    list[str],
    typer.Option("--model", metavar="NAME:KEY=VALUE,...", help="What to promise; repeat for more.", show_default=False),
]
KindAlgorithm = Annotated[
    str | None, typer.Option("--algorithm", metavar="NAME[:KEY=VALUE,...]", help="How to search.", show_default=False)
]
KindRecipeFile = Annotated[
    Path | None, typer.Option("--recipe", metavar="FILE", help="The recipe of a release, as in internal/recipe.toml.")
]
KindOut = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder for public/ and internal/.", show_default=False)
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace an older release in the folder.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no internal report.")]


def choose_by_name(what: str, text: str, known: Mapping[str, Any], **more: object) -> Any:
    """Return the promise or search that an option names; `more` are parameters from other options."""
    from sfumato.cli._recipe_options import parse_choice
    from sfumato.core.recipe import instantiate_choice

    return instantiate_choice(known, {**parse_choice(what, text, known), **more}, what)


def choose_models(texts: Sequence[str], known: Mapping[str, Any]) -> tuple[Model[Any], ...]:
    """Return the promises that options name."""
    if not texts:
        raise InvalidParameterError(f"Say what to promise by --model; choose from {', '.join(known)}.")
    return tuple(choose_by_name("model", text, known) for text in texts)


def recipe_from_option(
    path: Path | None, read: Callable[[Path], TypedRecipe], model: Sequence[str], algorithm: str | None
) -> TypedRecipe | None:
    """Read the recipe that an option names, if any; then no other option says what to promise or how to search."""
    if path is not None and (model or algorithm):
        raise InvalidParameterError(
            "A recipe says what to promise and how to search; leave out --model and --algorithm."
        )
    return None if path is None else read(path)


def models_to_audit(
    texts: Sequence[str], path: Path | None, read: Callable[[Path], TypedRecipe], known: Mapping[str, Any]
) -> tuple[Model[Any], ...]:
    """Return the promises to judge by: those that options name, or else those of a recipe."""
    return choose_models(texts, known) if texts or path is None else read(path).models


def write_and_print_release(
    release: Release[Any], out: Path, *, table_format: str, replace: bool, report: bool, json: bool
) -> None:
    """Write a release, and print what it promises and lost."""
    with show_progress_bar("Writing") as tell:
        release.write(out, table_format=table_format, replace=replace, report=report, progress=tell)
    print_release_result(release, out, json=json)


def print_audit_and_exit(audit: Audit, *, json: bool) -> NoReturn:
    """Print an audit, and end with exit code 1 if a promise does not hold."""
    print_audit(audit, json=json)
    raise typer.Exit(0 if audit.holds else DOES_NOT_HOLD)


def print_audit(audit: Audit, *, json: bool) -> None:
    """Print an audit for people or for programs."""
    if json:
        print_json(audit.to_dict())
        return
    said = "holds" if audit.holds else "DOES NOT HOLD"
    typer.echo(f"Audit: {color_verdict(said, good=audit.holds)}")
    typer.echo(printable_lines(repr(audit)))


def print_release_result(release: Release[Any], out: Path, *, json: bool) -> None:
    """Print what a release promises and lost, and where it is."""
    from sfumato._number_format import format_metric

    folders = {"public": str(out / "public"), "internal": str(out / "internal")}
    if json:
        print_json({"audit": release.audit.to_dict(), "measures": dict(release.metrics), **folders})
        return
    print_audit(release.audit, json=False)
    typer.echo(
        align_columns([[name, format_metric(value, share=False)] for name, value in release.metrics.items()], indent=2)
    )
    typer.echo(printable_lines(f"\nSafe to share:  {folders['public']}\nKeep private:   {folders['internal']}"))


def print_attacks_and_exit(
    original: AttackResults, published: AttackResults, *, threshold: float | None, json: bool
) -> NoReturn:
    """Print attacks on the original and on what is published; end with exit code 1 if one of the latter is too good."""
    print_attacks({"original": original, "published": published}, json=json)
    worse = any(each.broken or (threshold is not None and each.interval[0] > threshold) for each in published)
    if threshold is not None and not json:
        typer.echo(f"\nThreshold {threshold:g}: {color_verdict('DOES NOT HOLD' if worse else 'holds', good=not worse)}")
    raise typer.Exit(DOES_NOT_HOLD if worse else 0)


def print_attacks(sides: Mapping[str, AttackResults], *, json: bool) -> None:
    """Print attacks on several data, such as the original and what is published."""
    from sfumato.core.attack import HEAD

    if json:
        print_json({name: attacks.to_dict() for name, attacks in sides.items()})
        return
    rows = [[*each.cells()[:2], name, *each.cells()[2:]] for name, attacks in sides.items() for each in attacks.results]
    typer.echo(align_columns([[*HEAD[:2], "data", *HEAD[2:]], *rows]))
    for name, attacks in sides.items():
        for attack, why in attacks.skipped.items():
            typer.echo(printable(f"{attack} on {name} skipped: {why}"))


def printable_lines(text: str) -> str:
    """Replace control characters of a text, but for its ends of lines."""
    return "\n".join(printable(line) for line in text.split("\n"))


Points = Annotated[Path, typer.Argument(metavar="FILE", help="The points, one row each.", show_default=False)]

TEXT = ("separator", "encoding", "decimal", "date_format")  # options of a text file, and not of its columns


@dataclass(frozen=True, kw_only=True)
class TrajectoryReadingOptions:
    """How points are read."""

    person: Annotated[str | None, typer.Option(metavar="COLUMN", help="Whose point it is; found by usual names.")] = (
        None
    )
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The moment; found by usual names.")] = None
    longitude: Annotated[str | None, typer.Option(metavar="COLUMN", help="Degrees east.")] = None
    latitude: Annotated[str | None, typer.Option(metavar="COLUMN", help="Degrees north.")] = None
    trip: Annotated[str | None, typer.Option(metavar="COLUMN", help="Tells the trips of a person apart.")] = None
    place: Annotated[str | None, typer.Option(metavar="COLUMN", help="Names of places, for check-ins.")] = None
    coordinates: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where places are: their names first, then longitude and latitude."),
    ] = None
    squares: Annotated[
        float | None, typer.Option(metavar="M", help="Without names, places are squares of so many meters.")
    ] = None
    sensitive: Annotated[str | None, typer.Option(metavar="COLUMN", help="A sensitive value of every person.")] = None
    zone: Annotated[str | None, typer.Option(metavar="ZONE", help="The time zone, as in Europe/Berlin.")] = None
    area: Annotated[
        str | None, typer.Option(metavar="WEST,SOUTH,EAST,NORTH", help="In degrees; points outside are left out.")
    ] = None
    same_moment: Annotated[
        str | None,
        typer.Option(metavar="mean|first", help="Which place counts where a person is at several at one moment."),
    ] = None
    separator: Annotated[str | None, typer.Option(metavar="CHAR", help="Of a text file; by default detected.")] = None
    encoding: Annotated[str | None, typer.Option(metavar="NAME", help="Of a text file; by default detected.")] = None
    decimal: Annotated[
        str | None, typer.Option(metavar="MARK", help="The decimal mark, . or a comma; by default detected.")
    ] = None
    date_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="How days are written, as in dd.mm.yyyy; by default detected.")
    ] = None

    def read(self, file: Path, remembered: dict[str, Any]) -> tuple[Trajectories, dict[str, Any]]:
        """Read ways as the options or a recipe say, tell what looks odd, and return how they were read."""
        from sfumato.io._reading import read
        from sfumato.trajectories.trajectories import Trajectories

        names = [each.name for each in fields(self) if each.name != "coordinates"]
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        how = {**{name: remembered[name] for name in names if name in remembered}, **given}
        columns = {name: value for name, value in how.items() if name not in TEXT}
        if "area" in columns:
            columns["area"] = parse_area(columns["area"])
        with show_progress_bar("Reading"):
            known = None if self.coordinates is None else read(self.coordinates)
            table = read(file, **{name: value for name, value in how.items() if name in TEXT})
            ways = Trajectories(table, coordinates=known, **columns)
        for sentence in ways.remarks:
            print_remark(sentence)
        return ways, how


@dataclass(frozen=True, kw_only=True)
class ReadingCounted:
    """How points are read that are counted with differential privacy: nothing is found out from them, nothing told."""

    person: Annotated[str, typer.Option(metavar="COLUMN", help="Whose point it is.")] = "person"
    time: Annotated[str, typer.Option(metavar="COLUMN", help="The moment, as in 2026-01-31T08:00.")] = "time"
    longitude: Annotated[str | None, typer.Option(metavar="COLUMN", help="Degrees east.")] = None
    latitude: Annotated[str | None, typer.Option(metavar="COLUMN", help="Degrees north.")] = None
    trip: Annotated[str | None, typer.Option(metavar="COLUMN", help="Tells the trips of a person apart.")] = None
    place: Annotated[str | None, typer.Option(metavar="COLUMN", help="Names of places; with --places.")] = None
    zone: Annotated[str, typer.Option(metavar="ZONE", help="The time zone of moments that name none.")] = "UTC"
    separator: Annotated[str, typer.Option(metavar="CHAR", help="The separator of a text file.")] = ","
    encoding: Annotated[str, typer.Option(metavar="NAME", help="The encoding of a text file.")] = "utf-8"
    decimal: Annotated[str, typer.Option(metavar="MARK", help="The decimal mark of degrees, . or a comma.")] = "."
    date_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="How days are written, if not as in 2026-01-31.")
    ] = None

    def read(self, file: Path) -> Trajectories:
        """Read ways as they are told."""
        from sfumato.trajectories._dp_input import read_trajectories_for_counts

        columns = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in TEXT[:2]}
        with show_progress_bar("Reading"):
            table = read_told(str(file), separator=self.separator, encoding=self.encoding)
            return read_trajectories_for_counts(table, **columns)


def read_told(file: str, *, separator: str, encoding: str) -> pa.Table:
    """Read a table of texts as it is told, so that nobody's rows change how others are read."""
    from sfumato.io._reading import read
    from sfumato.io.formats import FORMATS, is_url

    if file.lower().endswith(FORMATS.built_in["csv"].suffixes) and not is_url(file):
        return read(file, as_text=True, separator=separator, encoding=encoding)
    return read(file, as_text=True)


@dataclass(frozen=True, kw_only=True)
class BatchReadingOptions:
    """How a batch of points is read."""

    person: Annotated[str, typer.Option(metavar="COLUMN", help="Whose point it is.")] = "person"
    time: Annotated[str, typer.Option(metavar="COLUMN", help="The moment.")] = "time"
    longitude: Annotated[str | None, typer.Option(metavar="COLUMN", help="Degrees east.")] = None
    latitude: Annotated[str | None, typer.Option(metavar="COLUMN", help="Degrees north.")] = None
    zone: Annotated[str | None, typer.Option(metavar="ZONE", help="The time zone, as in Europe/Berlin.")] = None

    @property
    def columns(self) -> dict[str, str]:
        """The names of the columns, as a stream takes them."""
        return {each.name: name for each in fields(self) if (name := getattr(self, each.name)) is not None}

    def read(self, file: str) -> pa.Table:
        """Read a batch from a file or, if it is "-", from standard input; keys of persons are texts in every batch."""
        import sys

        from sfumato.io._reading import read

        with show_progress_bar("Reading"):
            if file == "-":
                return _read_pipe(sys.stdin.buffer.read(), {self.person, self.time})
            return read(file, column_types={self.person: "text"})


def _read_pipe(data: bytes, texts: set[str]) -> pa.Table:
    """Read a text file with commas that comes through a pipe."""
    import io

    import pyarrow as pa
    from pyarrow import csv

    if not data.strip():
        raise InvalidParameterError("Standard input is empty; pipe points into it, with a line of names above them.")
    options = csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()))
    try:
        return csv.read_csv(io.BytesIO(data), convert_options=options)
    except pa.ArrowInvalid:
        raise InvalidParameterError(
            "Standard input is no table of points; give lines with commas in UTF-8, the first with the names."
        ) from None


def parse_area(text: str) -> Area:
    """Return the area that an option describes."""
    from sfumato.trajectories.geometry import Area

    try:
        west, south, east, north = (float(side) for side in text.split(","))
    except ValueError:
        raise InvalidParameterError("--area must be four numbers of degrees, as in 13.0,52.3,13.8,52.7.") from None
    return Area(west=west, south=south, east=east, north=north)
