"""`sfumato ways`: publish, judge and attack trajectories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._data_types import (
    KindAlgorithm,
    KindModels,
    KindOut,
    KindRecipeFile,
    NoReport,
    Points,
    Replace,
    TrajectoryReadingOptions,
    choose_by_name,
    choose_models,
    models_to_audit,
    print_attacks_and_exit,
    print_audit_and_exit,
    recipe_from_option,
    write_and_print_release,
)
from sfumato.cli._dp_counts import TRAJECTORY_COUNT_EXAMPLES as COUNT_EXAMPLES
from sfumato.cli._dp_counts import trajectory_counts_app as count_app
from sfumato.cli._options import Json, Threshold, command_group, expand_option_groups, format_examples
from sfumato.cli._output import align_columns, print_json, show_progress_bar
from sfumato.cli.locations import STREAM_EXAMPLES, stream_app
from sfumato.errors import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.trajectories.cloaked_trajectories import CloakedTrajectories
    from sfumato.trajectories.trajectories import Trajectories

EXAMPLES = format_examples(
    "sfumato ways unicity points.csv --person user --longitude lon --latitude lat",
    "sfumato ways anonymize points.csv --person user --model k-delta:k=5,delta=300 --out release",
    "sfumato ways audit release/public --recipe release/internal/recipe.toml",
    "sfumato ways attack release/public --with points.csv --recipe release/internal/recipe.toml",
    "sfumato ways count density points.csv --area 13.2,52.4,13.6,52.6 --epsilon 1 --budget ways.budget \\",
    "    --total 2 --analyst ann --out density.csv",
)
Published = Annotated[
    Path, typer.Argument(metavar="DIR|FILE", help="The folder public/, or its file of ways.", show_default=False)
]
With = Annotated[Path, typer.Option("--with", metavar="FILE", help="The original points.", show_default=False)]
Known = Annotated[int, typer.Option("--points", metavar="N", help="How many points are known.")]
Meters = Annotated[float, typer.Option(metavar="M", help="How exactly places are known.")]
Seconds = Annotated[float, typer.Option(metavar="S", help="How exactly moments are known.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Repeats the draws.")]

app = command_group("Publish trajectories: who was where, and when.")
app.add_typer(count_app, name="count", epilog=COUNT_EXAMPLES)
app.add_typer(stream_app, name="stream", epilog=STREAM_EXAMPLES)


@app.command(
    "unicity",
    epilog=format_examples("sfumato ways unicity points.csv --person user --points 4 --meters 500 --seconds 3600"),
)
@expand_option_groups
def measure_unicity(
    *,
    file: Points,
    reading: TrajectoryReadingOptions,
    points: Known = 4,
    meters: Meters = 500.0,
    seconds: Seconds = 3600.0,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Tell how many persons a few known points single out."""
    from sfumato.trajectories.risk import unicity as find

    ways, _ = reading.read(file, {})
    with show_progress_bar("Looking"):
        found = find(ways, points=points, meters=meters, seconds=seconds, seed=seed)
    print_json(found.to_dict()) if json else typer.echo(repr(found).strip("<>"))


@app.command(
    "anonymize",
    epilog=format_examples(
        "sfumato ways anonymize points.csv --person user --model k-delta:k=5,delta=300 --out release",
        "sfumato ways anonymize points.csv --model k-delta:k=5,delta=300 \\",
        "    --algorithm never-walk-alone:span=43200,every=1800 --out release",
        "sfumato ways anonymize checkins.csv --place shop --model km-places:k=5,m=2 --out release",
        "sfumato ways anonymize points.csv --recipe release/internal/recipe.toml --out again",
    ),
)
@expand_option_groups
def anonymize_trajectories(
    *,
    file: Points,
    out: KindOut,
    model: KindModels = [],  # noqa: B006 - Typer copies it
    algorithm: KindAlgorithm = None,
    recipe: KindRecipeFile = None,
    reading: TrajectoryReadingOptions,
    table_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="The form of the file: csv or parquet.")
    ] = "csv",
    replace: Replace = False,
    no_report: NoReport = False,
    show: Annotated[
        str | None, typer.Option(metavar="PERSON", help="Draw the way of this person in the internal report.")
    ] = None,
    json: Json = False,
) -> None:
    """Publish ways so that a promise about them holds; the promises choose the usual search, unless one is named."""
    from sfumato.core._atomic_writes import check_target_free
    from sfumato.trajectories._catalogue import ALGORITHMS, MODELS, read_recipe
    from sfumato.trajectories._pipeline import anonymize as make
    from sfumato.trajectories._pipeline import run_recipe
    from sfumato.trajectories._release import individual_index

    check_target_free(out, replace=replace)
    known = recipe_from_option(recipe, read_recipe, model, algorithm)
    models = () if known is not None else choose_models(model, MODELS)
    ways, how = reading.read(file, dict(known.input) if known else {})
    if show is not None:
        individual_index(ways, show)
    with show_progress_bar("Searching") as tell:
        if known is not None:
            release = run_recipe(known, ways, progress=tell)
        else:
            search = None if algorithm is None else choose_by_name("algorithm", algorithm, ALGORITHMS)
            release = make(ways, models=models, algorithm=search, source=how, progress=tell)
    release = release if show is None else release.with_example(show)
    write_and_print_release(release, out, table_format=table_format, replace=replace, report=not no_report, json=json)


@app.command("audit", epilog=format_examples("sfumato ways audit release/public --model k-delta:k=5,delta=300"))
@expand_option_groups
def audit_trajectories(
    *,
    published: Published,
    model: KindModels = [],  # noqa: B006 - Typer copies it
    recipe: KindRecipeFile = None,
    json: Json = False,
) -> None:
    """Judge published ways from their file alone; the exit code is 1 if a promise does not hold."""
    from sfumato.trajectories._catalogue import MODELS, read_recipe
    from sfumato.trajectories._pipeline import audit as judge

    models = models_to_audit(model, recipe, read_recipe, MODELS)
    with show_progress_bar("Judging"):
        found = judge(_read_published_trajectories(published), models=models)
    print_audit_and_exit(found, json=json)


@app.command(
    "measure",
    epilog=format_examples(
        "sfumato ways measure release/public --with points.csv --recipe release/internal/recipe.toml",
        "sfumato ways measure made-up.csv --with points.csv --person user --json",
    ),
)
@expand_option_groups
def compute_metrics(
    *,
    published: Published,
    with_: With,
    recipe: KindRecipeFile = None,
    reading: TrajectoryReadingOptions,
    json: Json = False,
) -> None:
    """Tell what published or made-up ways have lost; with a recipe also how far points were moved.

    Keep the figures private: they also describe the original.
    """
    from sfumato import _number_format
    from sfumato.trajectories.metrics import DESCRIPTIONS, compute_metrics

    original, shown = _read_both_sides(published, with_, recipe, reading)
    with show_progress_bar("Measuring"):
        found = compute_metrics(original, shown)
    if json:
        print_json(found)
        return
    typer.echo(
        align_columns(
            [
                [name, _number_format.format_metric(value, share=False), DESCRIPTIONS[name]]
                for name, value in found.items()
            ]
        )
    )


@app.command(
    "attack",
    epilog=format_examples(
        "sfumato ways attack release/public --with points.csv --recipe release/internal/recipe.toml",
        "sfumato ways attack release/public --with points.csv --recipe release/internal/recipe.toml \\",
        "    --attack signal-linking --attack who-knows-whom --source phones.csv --friends friends.csv --json",
    ),
)
@expand_option_groups
def attack_trajectories(
    *,
    published: Published,
    with_: With,
    recipe: KindRecipeFile = None,
    attack: Annotated[
        list[str], typer.Option(metavar="NAME", help="An attack to run; by default all that apply. Repeatable.")
    ] = [],  # noqa: B006 - Typer copies it
    source: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A second source of the same persons, with the same columns.")
    ] = None,
    friends: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Pairs of persons who know each other, in two columns.")
    ] = None,
    reading: TrajectoryReadingOptions,
    points: Known = 4,
    meters: Meters = 500.0,
    seconds: Seconds = 3600.0,
    targets: Annotated[int, typer.Option(metavar="N", help="How many persons are attacked.")] = 200,
    seed: Seed = None,
    threshold: Threshold = None,
    json: Json = False,
) -> None:
    """Attack published ways by what is known of persons, before and after; the recipe tells who is who.

    Attacks: known-points, home-work, signal-linking, markov-linking, next-place, who-knows-whom (with --friends) and
    tracking. Links start from --source, or else from half of a person's points. What does not apply is told.

    Exit codes: 0 what was judged holds, 1 an attack on what is published is surely right more often than --threshold, 2
    bad request.
    """
    from sfumato._randomness import draw_seed
    from sfumato.trajectories._catalogue import read_recipe
    from sfumato.trajectories.attacks._attack import ATTACKS
    from sfumato.trajectories.attacks._attack import attack as run

    original, shown = _read_both_sides(published, with_, recipe, reading)
    seed = draw_seed() if seed is None else seed
    options: dict[str, Any] = {"points": points, "meters": meters, "seconds": seconds, "targets": targets, "seed": seed}
    options |= {"attacks": attack or ATTACKS, "friends": None if friends is None else _read_pairs(friends)}
    if source is not None:
        known = recipe_from_option(recipe, read_recipe, (), None)
        how = {name: value for name, value in (known.input if known else {}).items() if name != "sensitive"}
        options["source"] = replace(reading, sensitive=None).read(source, how)[0]
    with show_progress_bar("Attacking"):
        before, after = run(original, original, **options), run(shown, original, **options)
    print_attacks_and_exit(before, after, threshold=threshold, json=json)


def _read_both_sides(
    published: Path, original: Path, recipe: Path | None, reading: TrajectoryReadingOptions
) -> tuple[Trajectories, Trajectories | CloakedTrajectories]:
    """Read the original and what is published; a recipe makes it again, to learn who is who."""
    from sfumato.trajectories._catalogue import read_recipe
    from sfumato.trajectories._pipeline import run_recipe

    known = recipe_from_option(recipe, read_recipe, (), None)
    ways, _ = reading.read(original, dict(known.input) if known else {})
    shown = _read_published_trajectories(published)
    if known is None:
        return ways, shown
    with show_progress_bar("Searching") as tell:
        again = run_recipe(known, ways, progress=tell).trajectories
    if again.digest() != shown.digest():
        raise InvalidParameterError(
            "The recipe and these points give other ways than those published; give what they were made from."
        )
    return ways, again


def _read_published_trajectories(path: Path) -> Trajectories | CloakedTrajectories:
    """Read published ways from a folder or a file."""
    from sfumato.trajectories._release import TrajectoriesRelease, read_published

    with show_progress_bar("Reading"):
        return TrajectoriesRelease.read(path) if path.is_dir() else read_published(path)


def _read_pairs(path: Path) -> list[tuple[str, str]]:
    """Read pairs of keys from the first two columns of a table."""
    from sfumato.io._reading import read
    from sfumato.io._values import format_values

    table = read(path)
    if table.num_columns < 2:  # noqa: PLR2004 - a pair has two
        raise InvalidParameterError(
            "The table of persons who know each other needs two columns; give a pair in each row."
        )
    sides = [format_values(table.column(at)).to_pylist() for at in (0, 1)]
    return [(one, other) for one, other in zip(*sides, strict=True) if one is not None and other is not None]
