"""`sfumato audit --series`: audit several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.counterfeits import GUARANTEE_FILE, stated_counterfeits
from sfumato.cli.options import ReadingOptions, RecipeOptions
from sfumato.cli.printing import print_json, print_remark, show_progress_bar
from sfumato.cli.refusals import DOES_NOT_HOLD
from sfumato.cli.several_releases import SeriesFiles
from sfumato.exceptions import InvalidParameterError, ReadError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.cli.asking import AuditRequest
    from sfumato.judging.series.auditing import SeriesAudit

PUBLIC, INTERNAL = "public", "internal"


@dataclass(frozen=True, kw_only=True)
class SeriesAuditOptions(SeriesFiles):
    """Whether several releases are audited together, and what they were made from."""

    verb = "audit"

    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --series: the ledger that recorded the releases, instead of originals."
        ),
    ] = None
    ledger_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its key; by default beside it, with .key added.")
    ] = None

    stays: Annotated[
        list[str],
        typer.Option(
            metavar="ATTRIBUTE:VALUE=VALUE,...",
            help="With --series, for an attribute whose values change: what a value can become from one release to the "
            "next. Repeat it for other values; those that are not named stay. Without it any can become any other.",
        ),
    ] = field(default_factory=list)

    def changes(self) -> dict[str, dict[str, list[str]]]:
        """Return by attribute which value can become which."""
        found: dict[str, dict[str, list[str]]] = {}
        for each in self.stays:
            attribute, _, said = each.partition(":")
            value, _, others = said.partition("=")
            if not (attribute and value and others):
                raise InvalidParameterError("--stays must be as in --stays disease:cold=flu,angina.")
            found.setdefault(attribute, {}).setdefault(value, []).extend(others.split(","))
        return found

    def only_file(self, files: Sequence[str]) -> str:
        """Return the only table of an audit that is not of a series."""
        if self.ledger is not None or self.ledger_key is not None:
            raise InvalidParameterError("--ledger is of a series of releases; give --series, too.")
        if self.stays:
            raise InvalidParameterError("--stays is about a series of releases; give --series, too.")
        if not (files or self.originals):
            raise InvalidParameterError("No table is given; name a published table, or give --series and --ledger.")
        return super().only_file(files)


def audit_series_files(
    files: Sequence[str], series: SeriesAuditOptions, asked: RecipeOptions, reading: ReadingOptions, *, json: bool
) -> None:
    """Audit releases with their originals, or as their ledger recorded them."""
    from sfumato.cli.asking import build_audit_request
    from sfumato.judging.series.auditing import audit_series

    if series.ledger is not None or series.ledger_key is not None:
        found = _audit_recorded_series(files, series, asked, reading)
    else:
        releases, sources = pair_originals(files, series.originals)
        promise = build_audit_request(_with_recipe(asked, releases))
        with show_progress_bar("Judging"):
            pairs = zip(releases, sources, strict=True)
            tables = [read_release_version(release, source, promise, reading) for release, source in pairs]
            found = audit_series(tables, promise.schema, models=promise.models, stays=series.changes())
    if json:
        print_json(found.to_dict())
    else:
        typer.echo("\n".join(found.lines()))
    if not found.holds:
        raise typer.Exit(DOES_NOT_HOLD)


def _audit_recorded_series(
    files: Sequence[str], series: SeriesAuditOptions, asked: RecipeOptions, reading: ReadingOptions
) -> SeriesAudit:
    """Audit what a ledger recorded; the tables themselves must be what was written, as far as they are still there."""
    from sfumato.cli.asking import build_audit_request
    from sfumato.judging.series.auditing import audit_histories
    from sfumato.ledger.ledger import Series
    from sfumato.models.series_model import SeriesModel

    if series.ledger is None:
        raise InvalidParameterError("--ledger-key is the key of a ledger; give --ledger, too.")
    if series.originals:
        raise InvalidParameterError("The --ledger knows who is who; leave --originals out.")
    ledger = Series(series.ledger, key=series.ledger_key)
    gone = ledger.verify([_folder(Path(file)) for file in files])
    folders = [each.folder for each in ledger.releases()]
    if not folders:
        raise InvalidParameterError(f"The ledger {series.ledger} has no releases yet; write one first.")
    if not gone or asked.recipe is not None or asked.quasi:
        promise = build_audit_request(_with_recipe(asked, folders))
    else:
        raise ReadError(f"{gone[0]} Say what is promised by --recipe, or bring the releases back.")
    with show_progress_bar("Judging"):
        linked = {} if gone else count_linked_groups(folders, promise, reading)
        models = [model for model in promise.models if isinstance(model, SeriesModel)]
        found = audit_histories(ledger.histories(), models, linked=linked, stays=series.changes())
    for sentence in gone:
        print_remark(sentence)
    for model in (each for each in promise.models if each not in models):
        print_remark(
            f"{model!r} is about single releases, and is not judged by a ledger; audit them with their originals."
        )
    return found


def count_linked_groups(folders: Sequence[Path], promise: AuditRequest, reading: ReadingOptions) -> dict[str, int]:
    """Count, by attribute, the groups of published tables whose rows show something else beside a value."""
    from sfumato.judging.evidence import AuditContext
    from sfumato.judging.series.versions import Version, linked_groups

    found = dict.fromkeys([*promise.schema.sensitive, *promise.schema.flags], 0)
    for folder in folders:
        shown = reading.read(str(_table(folder)), promise.conventions)
        version = Version(AuditContext(shown, promise.schema), str(folder))
        for name in found:
            found[name] += linked_groups(version, name)
    return found


def pair_originals(files: Sequence[str], originals: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Tell releases and originals apart; the tables after the first of `--originals` are originals, too."""
    many, odd = divmod(len(files) + len(originals), 2)
    if not originals or odd or len(files) < many:
        raise InvalidParameterError(
            f"A series needs as many originals as releases, but {len(files):,} tables and {len(originals):,} originals "
            "are given; write all releases, then --originals and all originals, or give their --ledger."
        )
    return [Path(file) for file in files[:many]], [*originals, *files[many:]]


def _with_recipe(asked: RecipeOptions, releases: Sequence[Path]) -> RecipeOptions:
    """Take the recipe of the last release, if it is a folder and nothing else says which column is what."""
    recipe = _folder(releases[-1]) / INTERNAL / "recipe.toml"
    return replace(asked, recipe=recipe) if asked.recipe is None and not asked.quasi and recipe.exists() else asked


def read_release_version(
    release: Path, source: str, promise: AuditRequest, reading: ReadingOptions
) -> tuple[pa.Table, pa.Table] | tuple[pa.Table, pa.Table, npt.NDArray[np.int64]]:
    """Read a release, its original and, where it was written with the release, who is who."""
    from sfumato.judging.counterfeits import check_counterfeits
    from sfumato.table.read import read

    shown = reading.read(str(_table(release)), promise.conventions)
    original = reading.read(source, promise.reading)
    rows = _folder(release) / INTERNAL / "correspondence.parquet"
    if not rows.exists():
        return shown, original
    known = read(rows).column(0).to_numpy()
    if (_table(release).parent / GUARANTEE_FILE).is_file():
        check_counterfeits(shown, known, stated_counterfeits(str(_table(release)), None))
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
