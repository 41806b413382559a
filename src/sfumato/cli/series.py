"""`sfumato audit --series`: audit several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from sfumato.cli._errors import DOES_NOT_HOLD, exit_with_error
from sfumato.cli._options import (
    GUARANTEE_FILE,
    Json,
    LedgerKey,
    ReadingOptions,
    RecipeOptions,
    RoleOptions,
    command_group,
    format_examples,
    stated_counterfeits,
)
from sfumato.cli._output import align_columns, print_json, print_remark, printable, show_progress_bar
from sfumato.errors import InvalidParameterError, ReadError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from sfumato.cli._recipe_options import AuditRequest
    from sfumato.core.attack import AttackResults
    from sfumato.tables.series.audit import SeriesAudit
    from sfumato.tables.series.disclosure import SeriesDisclosureRisk
    from sfumato.tables.series.series import RecordedRelease, Series


# Options of commands that take several releases of one table together.


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
    from sfumato.cli._recipe_options import build_audit_request
    from sfumato.tables.series.audit import audit_series

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
    from sfumato.cli._recipe_options import build_audit_request
    from sfumato.tables.series.audit import audit_histories
    from sfumato.tables.series.models._base import SeriesModel
    from sfumato.tables.series.series import Series

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
    from sfumato.tables.audit._context import AuditContext
    from sfumato.tables.series._versions import Version, linked_groups

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
    from sfumato.io._reading import read
    from sfumato.tables.audit._counterfeits import check_counterfeits

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


# `sfumato attack --series`: attack several releases of one table together.


class SeriesAttackOptions(SeriesFiles):
    """Whether several releases are attacked together, and what they were made from."""

    verb = "attack"


def attack_series_files(
    files: Sequence[str],
    originals: Sequence[str],
    described: RoleOptions,
    reading: ReadingOptions,
    *,
    attacks: Sequence[str],
    targets: int,
    seed: int | None,
) -> AttackResults:
    """Attack releases with their originals; the roles are those of the recipe, by default of the last release."""
    from sfumato.tables.series.attacks._attack_series import attack_series

    releases, sources = pair_originals(files, originals)
    recipe = (releases[-1] if releases[-1].is_dir() else releases[-1].parent.parent) / "internal" / "recipe.toml"
    if described.recipe is None and recipe.exists():
        described = replace(described, recipe=recipe)
    promise = described.audit_request()
    with show_progress_bar("Attacking"):
        tables = [read_release_version(*pair, promise, reading) for pair in zip(releases, sources, strict=True)]
        return attack_series(tables, promise.schema, attacks, targets=targets, seed=seed)


# `sfumato ledger`: what a series of releases has told so far, and whether its record is whole.

EXAMPLES = format_examples(
    "sfumato ledger init hospital.ledger",
    "sfumato ledger show hospital.ledger",
    "sfumato ledger verify hospital.ledger",
)
FORGETTING = (
    "What recognizes this person is replaced by a random number in all releases. If she comes back, she is new: "
    "her signature is not kept, and what the releases tell about her together is no longer limited. Copies of the "
    "ledger still know her."
)

EXPOSURE_HEAD = ("releases", "persons", "maximum", "mean", "certain", "pairs known to be equal")

LedgerFile = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger.", show_default=False)]

app = command_group("Keep the ledger of a series of releases, which makes them safe together.")


@app.command(
    "init",
    epilog=format_examples("sfumato ledger init hospital.ledger", "sfumato ledger init a.ledger --key keys/a.key"),
)
def init_series(*, file: LedgerFile, key: LedgerKey = None) -> None:
    """Make a ledger without releases, and its key.

    Keep the ledger, its key and the head beside the key as private as internal/, and back them up after every release.
    Without the key the ledger is useless, and the series cannot go on.
    """
    from sfumato.tables.series.series import Series

    made = Series.create(file, key=key)
    typer.echo(made.path)


@app.command(
    "show", epilog=format_examples("sfumato ledger show hospital.ledger", "sfumato ledger show hospital.ledger --json")
)
def show_series(*, file: LedgerFile, key: LedgerKey = None, json: Json = False) -> None:
    """List the releases of a series: who was published, and who waits."""
    ledger = _open_ledger(file, key)
    releases = ledger.releases()
    if json:
        print_json(
            {"name": ledger.name, "head": ledger.head, "releases": [_recorded_release_facts(each) for each in releases]}
        )
        return
    typer.echo(f"{len(releases):,} releases of the series {ledger.name}")
    if releases:
        rows = [["release", "time", "persons", "new", "waiting", "groups", "counterfeits", "folder"]]
        rows += [[str(each.number), each.time, *_record_counts(each), str(each.folder)] for each in releases]
        typer.echo(align_columns(rows))


@app.command(
    "verify",
    epilog=format_examples(
        "sfumato ledger verify hospital.ledger", "sfumato ledger verify hospital.ledger 2026-q1 2026-q2"
    ),
)
def verify_series(
    *,
    file: LedgerFile,
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR]...", help="Releases that the ledger must know.")
    ] = None,
    key: LedgerKey = None,
) -> None:
    """Check that nothing was changed or taken out, and that every release is what was recorded.

    Exit codes: 0 all is as it was recorded, 1 it is not, 2 bad request.
    """
    from sfumato.tables.series.series import Series

    try:
        ledger = Series(file, key=key)
        remarks = ledger.verify(folders or [])
    except ReadError as error:
        raise exit_with_error(str(error), DOES_NOT_HOLD) from None
    for sentence in remarks:
        typer.echo(sentence)
    typer.echo(f"All {len(ledger.releases()):,} releases are as they were recorded.")


@app.command(
    "exposure",
    epilog=format_examples(
        "sfumato ledger exposure hospital.ledger", "sfumato ledger exposure hospital.ledger --limit 0.34"
    ),
)
def show_disclosure(
    *,
    file: LedgerFile,
    sensitive: Annotated[
        str | None, typer.Option(metavar="NAME", help="The attribute; by default all that are followed.")
    ] = None,
    limit: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Fail unless nobody's exposure is shown to be above this.")
    ] = None,
    key: LedgerKey = None,
    json: Json = False,
) -> None:
    """Tell how sure somebody can be of a person's value who holds all releases, after each of them.

    Exit codes: 0 done, and within the limit if one is given; 1 above it, or not shown to be within; 2 bad request.
    """
    from sfumato.errors import InvalidParameterError

    if limit is not None and not 0 < limit <= 1:
        raise InvalidParameterError("--limit must be a share in (0, 1].")
    ledger = _open_ledger(file, key)
    asked = ledger.attributes if sensitive is None else (sensitive,)
    found = {name: _disclosure_by_release(ledger, name) for name in asked}
    if not found:
        raise InvalidParameterError(f"The ledger {file} has no releases yet; write one first.")
    if json:
        print_json({name: [each.to_dict() for each in over] for name, over in found.items()})
    for name, over in found.items():
        if not json:
            typer.echo(f"Exposure of {printable(name)} to somebody who holds all releases up to each")
            typer.echo(align_columns([EXPOSURE_HEAD, *(_disclosure_row(each) for each in over)], indent=2))
    if limit is not None and not all(over[-1].exact and over[-1].max() <= limit for over in found.values()):
        raise exit_with_error(
            f"The series does not show that everybody's exposure is at most {limit:g}.", DOES_NOT_HOLD
        )


@app.command("repair", epilog=format_examples("sfumato ledger repair hospital.ledger"))
def repair_series(*, file: LedgerFile, key: LedgerKey = None) -> None:
    """Finish or undo what a killed run left; whoever opens the ledger next does so, too.

    If the head beside the key is lost it is written anew: be sure that the ledger is the newest copy.
    """
    from sfumato.tables.series.series import Series

    typer.echo(Series.repair(file, key=key))


@app.command(
    "forget",
    epilog=format_examples(
        "sfumato ledger forget hospital.ledger 4711", "sfumato ledger forget a.ledger Ann 1984-02-29 --yes"
    ),
)
def forget_individual(
    *,
    file: LedgerFile,
    person: Annotated[
        list[str],
        typer.Argument(metavar="PERSON...", help="Her identifiers, in the order of their columns.", show_default=False),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    key: LedgerKey = None,
) -> None:
    """Forget a person: nobody recognizes her in the ledger any more, and the groups keep their sizes."""
    ledger = _open_ledger(file, key)
    typer.echo(FORGETTING)
    if not yes:
        typer.confirm("Forget her?", abort=True)
    if not ledger.forget(*person):
        raise exit_with_error("The ledger does not know this person; nothing was changed.", DOES_NOT_HOLD)
    typer.echo("Forgotten.")


def _open_ledger(file: Path, key: Path | None) -> Series:
    from sfumato.tables.series.series import Series

    return Series(file, key=key)


def _disclosure_by_release(ledger: Series, name: str) -> list[SeriesDisclosureRisk]:
    """Return the exposure over the first release, the first two, and so on."""
    from sfumato.tables.series.disclosure import disclosure_risk_of_history

    history = ledger.history(name)
    return [disclosure_risk_of_history(history.truncate(count)) for count in range(1, len(history.releases) + 1)]


def _disclosure_row(exposed: SeriesDisclosureRisk) -> tuple[str, ...]:
    least = "" if exposed.exact else "at least "
    shares = (f"{least}{share:.4g}" for share in (exposed.max(), exposed.mean()))
    return (
        str(exposed.releases),
        f"{exposed.individuals:,}",
        *shares,
        f"{exposed.decided:,}",
        f"{exposed.equal_pairs:,}",
    )


def _recorded_release_facts(release: RecordedRelease) -> dict[str, Any]:
    facts = {**asdict(release), "folder": str(release.folder)}
    return {"persons" if name == "individuals" else name: value for name, value in facts.items()}


def _record_counts(release: RecordedRelease) -> list[str]:
    groups, counterfeits = sum(release.groups.values()), sum(release.counterfeits.values())
    numbers = (release.individuals, release.newcomers, release.waiting, groups, counterfeits)
    return [f"{number:,}" for number in numbers]
