"""Options of commands that take several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import typer

from sfumato.exceptions import InvalidParameterError


@dataclass(frozen=True, kw_only=True)
class SeriesFiles:
    """Whether several releases are looked at together, and what they were made from."""

    verb: ClassVar[str]  # what the command does to them

    series: Annotated[
        bool,
        typer.Option(
            "--series",
            help="Take several releases of one table together, in order: files, or folders that sfumato wrote.",
        ),
    ] = False
    originals: Annotated[
        list[str],
        typer.Option(
            metavar="FILE...",
            help="With --series, after the releases: the original of each, in the same order. It says who is who.",
        ),
    ] = field(default_factory=list)

    def only_file(self, files: Sequence[str]) -> str:
        """Return the only table of a command that is not about a series."""
        if self.originals:
            raise InvalidParameterError("--originals also needs --series; for one table give --original.")
        if len(files) != 1:
            raise InvalidParameterError(
                f"{len(files):,} tables are given; give one, or --series to {self.verb} them together."
            )
        return files[0]
