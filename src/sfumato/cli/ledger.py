"""`sfumato ledger`: what a series of releases has told so far, and whether its record is whole."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json, LedgerKey, command_group, format_examples
from sfumato.cli.printing import align_columns, print_json, printable
from sfumato.cli.refusals import DOES_NOT_HOLD, exit_with_error
from sfumato.exceptions import ReadError

if TYPE_CHECKING:
    from sfumato.judging.series.exposed import SeriesDisclosureRisk
    from sfumato.ledger.ledger import RecordedRelease, Series

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
    from sfumato.ledger.ledger import Series

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
    from sfumato.ledger.ledger import Series

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
    from sfumato.exceptions import InvalidParameterError

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
    from sfumato.ledger.ledger import Series

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
    from sfumato.ledger.ledger import Series

    return Series(file, key=key)


def _disclosure_by_release(ledger: Series, name: str) -> list[SeriesDisclosureRisk]:
    """Return the exposure over the first release, the first two, and so on."""
    from sfumato.judging.series.exposed import disclosure_risk_of_history

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
    return {**asdict(release), "folder": str(release.folder)}


def _record_counts(release: RecordedRelease) -> list[str]:
    groups, counterfeits = sum(release.groups.values()), sum(release.counterfeits.values())
    numbers = (release.individuals, release.newcomers, release.waiting, groups, counterfeits)
    return [f"{number:,}" for number in numbers]
