"""`sfumato attack`: attack a published table as an adversary who knows some people would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._errors import DOES_NOT_HOLD
from sfumato.cli._minimality_attack import MinimalityOutput, show_minimality_attack
from sfumato.cli._options import (
    Json,
    PromisedOptions,
    ReadingOptions,
    RoleOptions,
    Threshold,
    expand_option_groups,
    format_examples,
)
from sfumato.cli._output import align_columns, color_verdict, print_json, printable, show_progress_bar
from sfumato.cli.audit import ReferenceOptions
from sfumato.cli.series import SeriesAttackOptions, attack_series_files
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.cli._recipe_options import AuditRequest
    from sfumato.core.attack import AttackResults

WORRY = (
    "Worry about a rate above the guarantee, which is then broken, and about a gain that is not limited if it\n"
    "matters: promise more, and attack again."
)
EXAMPLES = format_examples(
    "sfumato attack release/public/table.csv --with voters.csv --recipe recipe.toml",
    "sfumato attack release/public/table.csv --with patients.csv --recipe recipe.toml \\",
    "    --correspondence release/internal/correspondence.parquet --threshold 0.1",
    "sfumato attack release/public/table.csv --with voters.csv --recipe recipe.toml \\",
    "    --original patients.csv --key name --attack linkage --attack membership --json",
    "sfumato attack first.csv --with patients.csv --quasi age,zip --sensitive disease --other second.csv",
    "sfumato attack 2026-q1 2026-q2 --series --originals patients-q1.csv patients-q2.csv",
    "sfumato attack patients.csv --search --recipe release/internal/recipe.toml",
    "sfumato attack synthetic.csv --with patients.csv --control others.csv --quasi age,zip --sensitive disease",
)


@dataclass(frozen=True, kw_only=True)
class KnowledgeOptions:
    """What the adversary knows, and where to find out whether she is right."""

    known: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="FILE",
            help="The people the adversary knows, by the quasi-identifiers in this table; the original is the worst "
            "case. She does not know its sensitive columns: they show whether she is right. Needed without --series.",
            show_default=False,
        ),
    ] = None
    original: Annotated[
        str | None, typer.Option(metavar="FILE", help="The true rows, found by --key; people not in it are outsiders.")
    ] = None
    key: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column, such as a name, that --with and --original share."),
    ] = None
    correspondence: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The row of --with (or of --original, if given) that each published row comes from."
        ),
    ] = None
    outsiders: Annotated[
        str | None, typer.Option(metavar="FILE", help="People she knows who are not in the published table.")
    ] = None
    other: Annotated[
        str | None, typer.Option(metavar="FILE", help="A second release of the same people, with the same columns.")
    ] = None
    control: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Persons of the same population who were not used for the release. With them, records are attacked "
            "by the nearest one and by learning, as perturbed and synthetic tables need it; --with is the original.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AttackOptions:
    """Which attacks to run, on how many people."""

    attack: Annotated[
        list[str], typer.Option(metavar="NAME", help="An attack to run; by default all that apply. Repeatable.")
    ] = field(default_factory=list)
    targets: Annotated[int, typer.Option(metavar="N", help="Attack at most this many people.")] = 1000
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the random draws.")] = None


@expand_option_groups
def attack(
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="The table: a file or a database URL. With --series the releases, in order.",
            show_default=False,
        ),
    ],
    reading: ReadingOptions,
    described: PromisedOptions,
    knowing: KnowledgeOptions,
    attacking: AttackOptions,
    series: SeriesAttackOptions,
    searching: MinimalityOutput,
    threshold: Threshold = None,
    json: Json = False,
) -> None:
    """Attack a published table as an adversary who knows some people would, and count what she gets right.

    Every success rate comes with its 95% confidence interval, the rate of guessing, and a control: the same attack on
    people the table says nothing about. With --series several releases are attacked together; guessing is then what
    one of them tells alone. Where the models of the recipe, or of --k and --model, limit an attack, the rate that they
    allow stands beside it: a rate within it is no reason to worry, one that is surely above it breaks the guarantee.
    With a control, the threshold is on the excess: how far an attack gets from what the control gets right to always
    being right. With --search the search itself is attacked, and the threshold is on the share of individuals who are
    surely believed more of than is promised. Exit codes: 0 what was judged holds, 1 the guarantee or the threshold does
    not, 2 bad request.
    """
    if series.series:
        _attack_series(files, series, described, reading, knowing, attacking, threshold=threshold, json=json)
        return
    file = series.only_file(files)
    if searching.search:
        _refuse_beside(knowing, "--search")
        show_minimality_attack(
            file, described.recipe, reading, searching, seed=attacking.seed, threshold=threshold, json=json
        )
        return
    promise = described.audit_request()
    if knowing.known is None:
        raise InvalidParameterError("Give --with, a table of the people the adversary knows.")
    if knowing.control is not None:
        shown = reading.read(file, promise.conventions)
        _attack_records(shown, promise, knowing, attacking, threshold=threshold, json=json)
        return
    if promise.publishes == "centers":
        raise InvalidParameterError(
            "The recipe publishes centers of groups, which contain nobody's values, so attacks would find nobody; "
            "give --control, measure them by sfumato audit --exposure, or publish ranges."
        )
    _print_results(
        _run_attacks(reading.read(file, promise.conventions), promise, knowing, attacking), threshold, json=json
    )


def _attack_series(  # noqa: PLR0917 - the groups of options, as the command has them
    files: list[str],
    series: SeriesAttackOptions,
    described: RoleOptions,
    reading: ReadingOptions,
    knowing: KnowledgeOptions,
    attacking: AttackOptions,
    *,
    threshold: float | None,
    json: bool,
) -> None:
    """Attack several releases together, and print what was found."""
    _refuse_beside(knowing, "--series")
    chosen, drawn = attacking.attack, (attacking.targets, attacking.seed)
    found = attack_series_files(
        files, series.originals, described, reading, attacks=chosen, targets=drawn[0], seed=drawn[1]
    )
    _print_results(found, threshold, json=json)


def _refuse_beside(knowing: KnowledgeOptions, asked: str) -> None:
    """Refuse options about one published table, which another kind of attack would ignore."""
    for each in fields(knowing):
        if getattr(knowing, each.name) is not None:
            option = "with" if each.name == "known" else each.name
            raise InvalidParameterError(f"--{option} is about one table; leave it out with {asked}.")


def _print_results(found: AttackResults, threshold: float | None, *, json: bool) -> None:
    """Print what was found, and fail if an attack is surely above the threshold, or above the guarantee."""
    worse = [each for each in found if each.broken or (threshold is not None and each.interval[0] > threshold)]
    if json:
        print_json({"holds": not worse, **found.to_dict()})
    else:
        typer.echo("\n".join(_result_lines(found, threshold)))
    if worse:
        raise typer.Exit(DOES_NOT_HOLD)


def _attack_records(
    published: Any,
    promise: AuditRequest,
    knowing: KnowledgeOptions,
    attacking: AttackOptions,
    *,
    threshold: float | None,
    json: bool,
) -> None:
    """Attack perturbed, synthetic or averaged records, and print what was found."""
    from sfumato.tables.attacks.records import attack_records

    assert knowing.control is not None  # noqa: S101 - the caller has looked
    given = {"--original": knowing.original, "--key": knowing.key, "--correspondence": knowing.correspondence}
    given |= {"--outsiders": knowing.outsiders, "--other": knowing.other}
    for option, value in given.items():
        if value is not None:
            raise InvalidParameterError(f"{option} is not used with --control; leave one of them out.")
    with show_progress_bar("Attacking"):
        found = attack_records(
            published,
            ReadingOptions().read(str(knowing.known), promise.reading),
            attacking.attack,
            control=ReadingOptions().read(knowing.control, promise.reading),
            schema=promise.schema,
            targets=attacking.targets,
            seed=attacking.seed,
        )
    low = [each.excess_interval[0] for each in found if each.excess_interval is not None]
    fails = threshold is not None and any(each > threshold for each in low)
    if json:
        print_json({"holds": not fails, **found.to_dict()})
    else:
        typer.echo("\n".join(map(printable, repr(found).splitlines())))
        if threshold is not None:
            said = color_verdict("DOES NOT HOLD" if fails else "holds", good=not fails)
            typer.echo(f"\nThreshold {threshold:g}: {said}")
    if fails:
        raise typer.Exit(DOES_NOT_HOLD)


def _run_attacks(
    published: Any, promise: AuditRequest, knowing: KnowledgeOptions, attacking: AttackOptions
) -> AttackResults:
    from sfumato.tables.attacks._attack_table import attack as run

    tables: dict[str, Any] = {
        name: None if source is None else ReadingOptions().read(source, promise.reading)
        for name, source in (
            ("known", knowing.known),
            ("original", knowing.original),
            ("outsiders", knowing.outsiders),
            ("other", knowing.other),
        )
    }
    rows = ReferenceOptions(original=str(knowing.known), correspondence=knowing.correspondence).rows()
    with show_progress_bar("Attacking"):
        return run(
            published,
            promise.schema,
            attacking.attack,
            known=tables["known"],
            original=tables["original"],
            key=knowing.key,
            correspondence=rows,
            outsiders=tables["outsiders"],
            other=tables["other"],
            models=promise.models,
            targets=attacking.targets,
            seed=attacking.seed,
        )


def _result_lines(found: AttackResults, threshold: float | None) -> Iterator[str]:
    from sfumato.core.attack import AttackVerdict

    yield from map(printable, repr(found).splitlines())
    if not found.results:
        yield "Nothing could be attacked."
        return
    yield ""
    yield "The three questions of WP216, each with the attack that beats guessing by most:"
    yield align_columns(
        [[question, result.title, f"{result.excess:.3g}"] for question, result in found.questions().items()], indent=2
    )
    yield ""
    yield from (f"{printable(each.meaning)}" for each in found if each.verdict is not AttackVerdict.NO_GAIN)
    if any(each.verdict is not AttackVerdict.NO_GAIN for each in found):
        yield WORRY
    if found.broken:
        yield f"\nGuarantee: {color_verdict('DOES NOT HOLD', good=False)}"
    if threshold is not None:
        worse = any(each.interval[0] > threshold for each in found)
        said = color_verdict("DOES NOT HOLD" if worse else "holds", good=not worse)
        yield f"\nThreshold {threshold:g}: {said}"
