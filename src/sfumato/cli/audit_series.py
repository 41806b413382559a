"""`sfumato audit --series`: audit several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.counterfeits import PROMISE, stated_counterfeits
from sfumato.cli.options import Reading, RecipeOptions
from sfumato.cli.printing import print_json, progress
from sfumato.cli.refusals import DOES_NOT_HOLD
from sfumato.exceptions import InvalidParameterError, ReadError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.cli.asking import Promise

PUBLIC, INTERNAL = "public", "internal"


@dataclass(frozen=True, kw_only=True)
class InSeries:
    """Whether several releases are audited together, and what they were made from."""

    series: Annotated[
        bool,
        typer.Option(
            "--series",
            help="Audit several releases of one table together, in order: files, or folders that sfumato wrote.",
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
        """Return the only table of an audit that is not of a series."""
        if self.originals:
            raise InvalidParameterError("--originals also needs --series; for one table give --original.")
        if len(files) != 1:
            raise InvalidParameterError(
                f"{len(files):,} tables are given; give one, or --series to audit them together."
            )
        return files[0]


def audit_in_series(
    files: Sequence[str], originals: Sequence[str], asked: RecipeOptions, reading: Reading, *, json: bool
) -> None:
    """Audit releases with their originals; the tables after the first of `--originals` are originals, too."""
    from sfumato.cli.asking import ask_promise
    from sfumato.judging.series.auditing import audit_series

    releases, sources = paired(files, originals)
    promise = ask_promise(_with_recipe(asked, releases))
    with progress("Judging"):
        tables = [
            read_version(release, source, promise, reading) for release, source in zip(releases, sources, strict=True)
        ]
        found = audit_series(tables, promise.schema, models=promise.models)
    if json:
        print_json(found.to_dict())
    else:
        typer.echo("\n".join(found.lines()))
    if not found.holds:
        raise typer.Exit(DOES_NOT_HOLD)


def paired(files: Sequence[str], originals: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Tell releases and originals apart; the tables after the first of `--originals` are originals, too."""
    many, odd = divmod(len(files) + len(originals), 2)
    if not originals or odd or len(files) < many:
        raise InvalidParameterError(
            f"A series needs as many originals as releases, but {len(files):,} tables and {len(originals):,} originals "
            "are given; write all releases, then --originals and all originals."
        )
    return [Path(file) for file in files[:many]], [*originals, *files[many:]]


def _with_recipe(asked: RecipeOptions, releases: Sequence[Path]) -> RecipeOptions:
    """Take the recipe of the last release, if it is a folder and nothing else says which column is what."""
    recipe = _folder(releases[-1]) / INTERNAL / "recipe.toml"
    return replace(asked, recipe=recipe) if asked.recipe is None and not asked.quasi and recipe.exists() else asked


def read_version(
    release: Path, source: str, promise: Promise, reading: Reading
) -> tuple[pa.Table, pa.Table] | tuple[pa.Table, pa.Table, npt.NDArray[np.int64]]:
    """Read a release, its original and, where it was written with the release, who is who."""
    from sfumato.judging.counterfeits import refuse_unstated
    from sfumato.table.read import read

    shown = reading.read(str(_table(release)), promise.conventions)
    original = reading.read(source, promise.reading)
    rows = _folder(release) / INTERNAL / "correspondence.parquet"
    if not rows.exists():
        return shown, original
    known = read(rows).column(0).to_numpy()
    if (_table(release).parent / PROMISE).is_file():
        refuse_unstated(shown, known, stated_counterfeits(str(_table(release)), None))
    return shown, original, known


def _folder(release: Path) -> Path:
    """Return the folder of a release that sfumato wrote, given it or the table in it."""
    return release if release.is_dir() else release.parent.parent


def _table(release: Path) -> Path:
    """Find the published table of a release."""
    if not release.is_dir():
        return release
    found = [path for path in sorted((release / PUBLIC).glob("table.*")) if path.suffix not in {".html", ".json"}]
    if len(found) != 1:
        raise ReadError(f"{release} is no folder of a release with one table in {PUBLIC}/; name the table itself.")
    return found[0]
