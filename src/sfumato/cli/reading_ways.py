"""How commands about ways read points: which columns say who was where and when, and what everybody knows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.printing import print_remark, show_progress_bar
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.places.earth import Area
    from sfumato.places.trajectories import Trajectories

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
        from sfumato.places.trajectories import Trajectories
        from sfumato.table.read import read

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
        from sfumato.places.counted_ways import read_trajectories_for_counts

        columns = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in TEXT[:2]}
        with show_progress_bar("Reading"):
            table = read_told(str(file), separator=self.separator, encoding=self.encoding)
            return read_trajectories_for_counts(table, **columns)


def read_told(file: str, *, separator: str, encoding: str) -> pa.Table:
    """Read a table of texts as it is told, so that nobody's rows change how others are read."""
    from sfumato.table.formats.known import FORMATS, is_url
    from sfumato.table.read import read

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

        from sfumato.table.read import read

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
    from sfumato.places.earth import Area

    try:
        west, south, east, north = (float(side) for side in text.split(","))
    except ValueError:
        raise InvalidParameterError("--area must be four numbers of degrees, as in 13.0,52.3,13.8,52.7.") from None
    return Area(west=west, south=south, east=east, north=north)
