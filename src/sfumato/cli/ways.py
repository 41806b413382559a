"""`sfumato ways`: publish, judge and attack trajectories."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.kinds import (
    KindAlgorithm,
    KindModels,
    KindOut,
    KindRecipeFile,
    NoReport,
    Replace,
    asked,
    asked_models,
    end_attacks,
    end_audit,
    judged_models,
    known_recipe,
    write_release,
)
from sfumato.cli.options import Json, examples, family, spread
from sfumato.cli.printing import print_json, progress, remark
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.places.region_ways import RegionWays
    from sfumato.places.trajectories import Trajectories

EXAMPLES = examples(
    "sfumato ways unicity points.csv --person user --longitude lon --latitude lat",
    "sfumato ways anonymize points.csv --person user --model k-delta:k=5,delta=300 --out release",
    "sfumato ways audit release/public --recipe release/internal/recipe.toml",
    "sfumato ways attack release/public --with points.csv --recipe release/internal/recipe.toml",
)
DEFAULT = {
    "k-delta": "never-walk-alone",
    "k-ways": "align-ways",
    "km-places": "merge-places",
    "lkc": "suppress-visits",
    "place-owners": "hide-from-owners",
}
Points = Annotated[Path, typer.Argument(metavar="FILE", help="The points, one row each.", show_default=False)]
Published = Annotated[
    Path, typer.Argument(metavar="DIR|FILE", help="The folder public/, or its file of ways.", show_default=False)
]
Known = Annotated[int, typer.Option("--points", metavar="N", help="How many points are known.")]
Meters = Annotated[float, typer.Option(metavar="M", help="How exactly places are known.")]
Seconds = Annotated[float, typer.Option(metavar="S", help="How exactly moments are known.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Repeats the draws.")]

app = family("Publish trajectories: who was where, and when.")


@dataclass(frozen=True, kw_only=True)
class ReadingWays:
    """How points are read."""

    person: Annotated[str | None, typer.Option(metavar="COLUMN", help="Whose point it is; by default person.")] = None
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The moment; by default time.")] = None
    longitude: Annotated[str | None, typer.Option(metavar="COLUMN", help="Degrees east.")] = None
    latitude: Annotated[str | None, typer.Option(metavar="COLUMN", help="Degrees north.")] = None
    trip: Annotated[str | None, typer.Option(metavar="COLUMN", help="Tells the trips of a person apart.")] = None
    place: Annotated[str | None, typer.Option(metavar="COLUMN", help="Names of places, for check-ins.")] = None
    squares: Annotated[
        float | None, typer.Option(metavar="M", help="Without names, places are squares of so many meters.")
    ] = None
    sensitive: Annotated[str | None, typer.Option(metavar="COLUMN", help="A sensitive value of every person.")] = None
    zone: Annotated[str | None, typer.Option(metavar="ZONE", help="The time zone, as in Europe/Berlin.")] = None

    def read(self, file: Path, remembered: dict[str, Any]) -> tuple[Trajectories, dict[str, Any]]:
        """Read ways as the options or a recipe say, tell what looks odd, and return how they were read."""
        from sfumato.places.trajectories import Trajectories
        from sfumato.table.read import read

        names = [each.name for each in fields(self)]
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        how = {**{name: remembered[name] for name in names if name in remembered}, **given}
        with progress("Reading"):
            ways = Trajectories(read(file), **how)
        for sentence in ways.remarks:
            remark(sentence)
        return ways, how


@app.command(epilog=examples("sfumato ways unicity points.csv --person user --points 4 --meters 500 --seconds 3600"))
@spread
def unicity(
    *,
    file: Points,
    reading: ReadingWays,
    points: Known = 4,
    meters: Meters = 500.0,
    seconds: Seconds = 3600.0,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Tell how many persons a few known points single out."""
    from sfumato.places.singling_out import unicity as find

    ways, _ = reading.read(file, {})
    with progress("Looking"):
        found = find(ways, points=points, meters=meters, seconds=seconds, seed=seed)
    print_json(found.to_dict()) if json else typer.echo(repr(found).strip("<>"))


@app.command(
    epilog=examples(
        "sfumato ways anonymize points.csv --person user --model k-delta:k=5,delta=300 --out release",
        "sfumato ways anonymize points.csv --model k-delta:k=5,delta=300 \\",
        "    --algorithm never-walk-alone:span=43200,every=1800 --out release",
        "sfumato ways anonymize checkins.csv --place shop --model km-places:k=5,m=2 --out release",
        "sfumato ways anonymize points.csv --recipe release/internal/recipe.toml --out again",
    )
)
@spread
def anonymize(
    *,
    file: Points,
    out: KindOut,
    model: KindModels = [],  # noqa: B006 - Typer copies it
    algorithm: KindAlgorithm = None,
    recipe: KindRecipeFile = None,
    reading: ReadingWays,
    table_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="The form of the file: csv or parquet.")
    ] = "csv",
    replace: Replace = False,
    no_report: NoReport = False,
    json: Json = False,
) -> None:
    """Publish ways so that a promise about them holds; the first promise chooses the search, unless one is named."""
    from sfumato.places.anonymizing import anonymize as make
    from sfumato.places.anonymizing import carry_out
    from sfumato.places.catalogue import ALGORITHMS, MODELS, read_recipe
    from sfumato.table.atomic import refuse_occupied

    refuse_occupied(out, replace=replace)
    known = known_recipe(recipe, read_recipe, model, algorithm)
    models = () if known is not None else asked_models(model, MODELS)
    ways, how = reading.read(file, dict(known.source) if known else {})
    with progress("Searching") as tell:
        if known is not None:
            release = carry_out(known, ways, progress=tell)
        else:
            search = asked("algorithm", algorithm or DEFAULT[models[0].name], ALGORITHMS)
            release = make(ways, models=models, algorithm=search, source=how, progress=tell)
    write_release(release, out, table_format=table_format, replace=replace, report=not no_report, json=json)


@app.command(epilog=examples("sfumato ways audit release/public --model k-delta:k=5,delta=300"))
@spread
def audit(
    *,
    published: Published,
    model: KindModels = [],  # noqa: B006 - Typer copies it
    recipe: KindRecipeFile = None,
    json: Json = False,
) -> None:
    """Judge published ways from their file alone; the exit code is 1 if a promise does not hold."""
    from sfumato.places.anonymizing import audit as judge
    from sfumato.places.catalogue import MODELS, read_recipe

    models = judged_models(model, recipe, read_recipe, MODELS)
    with progress("Judging"):
        found = judge(_published(published), models=models)
    end_audit(found, json=json)


@app.command(
    epilog=examples(
        "sfumato ways attack release/public --with points.csv --recipe release/internal/recipe.toml",
        "sfumato ways attack release/public --with points.csv --points 6 --meters 100 --json",
    )
)
@spread
def attack(
    *,
    published: Published,
    with_: Annotated[Path, typer.Option("--with", metavar="FILE", help="The original points.", show_default=False)],
    recipe: KindRecipeFile = None,
    reading: ReadingWays,
    points: Known = 4,
    meters: Meters = 500.0,
    seconds: Seconds = 3600.0,
    targets: Annotated[int, typer.Option(metavar="N", help="How many persons are attacked.")] = 200,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Attack published ways by a few known points of persons, before and after; the recipe tells who is who.

    The exit code is 1 if the attack on what is published succeeds: if it is surely right more often than its control.
    """
    from sfumato.places.anonymizing import carry_out
    from sfumato.places.attacking import attack as run
    from sfumato.places.catalogue import read_recipe
    from sfumato.randomness import draw_seed

    known = known_recipe(recipe, read_recipe, (), None)
    original, _ = reading.read(with_, dict(known.source) if known else {})
    shown = _published(published)
    seed = draw_seed() if seed is None else seed
    options: dict[str, Any] = {"points": points, "meters": meters, "seconds": seconds, "targets": targets, "seed": seed}
    with progress("Attacking"):
        before = run(original, original, **options)
        if known is not None:
            again = carry_out(known, original).ways
            if again.digest() != shown.digest():
                raise InvalidParameterError(
                    "The recipe and these points give other ways than those published; give what they were made from."
                )
            shown = again
        after = run(shown, original, **options)
    end_attacks(before, after, json=json)


def _published(path: Path) -> Trajectories | RegionWays:
    """Read published ways from a folder or a file."""
    from sfumato.places.way_release import WayRelease, published_from

    with progress("Reading"):
        return WayRelease.read(path) if path.is_dir() else published_from(path)
