"""`sfumato ways stream`: publish regions of crowds while people move."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.kinds import print_audit_and_exit
from sfumato.cli.options import Json, command_group, expand_option_groups, format_examples
from sfumato.cli.printing import print_json, show_progress_bar
from sfumato.cli.reading_ways import BatchReadingOptions, parse_area
from sfumato.cli.writing import check_overwrite
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.places.way_stream import TrajectoryStream

STREAM_EXAMPLES = format_examples(
    "sfumato ways stream update crowds.state minute1.csv --k 5 --area 13.2,52.4,13.6,52.6 --out shown1.csv",
    "sfumato ways stream update crowds.state minute2.csv --out shown2.csv",
    "sfumato ways stream audit shown1.csv shown2.csv --k 5",
)


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """How a stream begins."""

    k: Annotated[int | None, typer.Option("--k", metavar="K", help="At the start: persons in a crowd.")] = None
    area: Annotated[
        str | None, typer.Option(metavar="WEST,SOUTH,EAST,NORTH", help="At the start: the public area, in degrees.")
    ] = None
    window: Annotated[
        float | None, typer.Option(metavar="S", help="At the start: who is silent so long leaves; by default 900.")
    ] = None
    patience: Annotated[
        float | None, typer.Option(metavar="S", help="At the start: how long somebody waits; by default 300.")
    ] = None
    order: Annotated[
        int | None, typer.Option(metavar="N", help="At the start: how often the area is quartered; by default 8.")
    ] = None

    def opened(self, state: Path) -> TrajectoryStream:
        """Begin a stream, or go on with one as its state says."""
        from sfumato.places.way_stream import TrajectoryStream

        given = {name: value for name, value in vars(self).items() if value is not None}
        if state.exists():
            if given:
                raise InvalidParameterError(
                    f"{state} already has its settings; drop --k, --area and what is for the start."
                )
            return TrajectoryStream.load(state)
        if self.k is None or self.area is None:
            raise InvalidParameterError(f"{state} does not exist; give --k and --area to create it.")
        return TrajectoryStream(**{**given, "area": parse_area(self.area), "state": state})


stream_app = command_group("Publish regions of crowds of k persons who stay together, while they move.")


@stream_app.command(
    "update",
    epilog=format_examples(
        "sfumato ways stream update crowds.state minute1.csv --k 5 --area 13.2,52.4,13.6,52.6 --out shown1.csv",
        "sfumato ways stream update crowds.state minute2.csv --out shown2.csv",
        "tail -n 500 points.csv | cat header.csv - | sfumato ways stream update crowds.state - --out shown3.csv",
    ),
)
@expand_option_groups
def update_stream(
    *,
    state: Annotated[
        Path, typer.Argument(metavar="STATE", help="The state; as confidential as the points.", show_default=False)
    ],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="New points, or - for standard input (CSV).", show_default=False)
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="A new file for what may leave.", show_default=False)],
    start: StreamOptions,
    reading: BatchReadingOptions,
    json: Json = False,
) -> None:
    """Take new points, and write the regions of crowds that may leave: a row for every crowd that moved.

    The first points need --k and --area, and create the state. The state is written before what may leave: after a
    crash in between, the same points can be given again, and those that are not too late by then leave. Points that do
    not fit change nothing.
    """
    from sfumato.table.atomic import check_parent_exists
    from sfumato.table.write import write

    check_overwrite(out, force=None)
    check_parent_exists(out.resolve())
    stream = start.opened(state)
    batch = reading.read(file)
    with show_progress_bar("Gathering"):
        shown = stream.update(batch, **reading.columns)
        write(shown, out)
    if json:
        counted = {"waiting": stream.waiting, "suppressed": stream.suppressed, "late": stream.late}
        print_json({"regions": shown.num_rows, **counted})
        return
    typer.echo(f"{shown.num_rows:,} regions, written to {out}")
    typer.echo(repr(stream))


@stream_app.command("audit", epilog=format_examples("sfumato ways stream audit shown1.csv shown2.csv --k 5"))
def audit_published_stream(
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="All that was published, in any order.", show_default=False)
    ],
    k: Annotated[int, typer.Option("--k", metavar="K", help="What was promised.", show_default=False)],
    json: Json = False,
) -> None:
    """Judge all that a stream published, from its files alone; the exit code is 1 if the promise does not hold."""
    from sfumato.places.way_stream import audit_stream, concatenate_updates

    with show_progress_bar("Judging"):
        found = audit_stream(concatenate_updates([_read_published_stream(file) for file in files]), k=k)
    print_audit_and_exit(found, json=json)


def _read_published_stream(file: Path) -> pa.Table:
    """Read what a stream published; keys are texts, also where all of them look like numbers."""
    import pyarrow as pa

    from sfumato.table.read import read

    found = read(file)
    numbers = "key" in found.column_names and not pa.types.is_string(found["key"].type)
    return read(file, column_types={"key": "text"}) if numbers else found
