"""`sfumato condense`: publish synthetic records with the means and covariances of groups of at least k records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import (
    Force,
    Identifiers,
    Json,
    Known,
    Reading,
    RecipeFile,
    RecipeOptions,
    Secret,
    Source,
    examples,
    spread,
)
from sfumato.cli.printing import print_json, printable, progress
from sfumato.cli.writing import refuse_existing
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.condensing.condensation import Condensed
    from sfumato.judging.comparing.moments import MomentComparison
    from sfumato.judging.comparing.nearest import NearestOriginals
    from sfumato.models.base import PrivacyModel
    from sfumato.schema.schema import Schema

EXAMPLES = examples(
    "sfumato condense patients.csv --quasi age,sex,height_cm --sensitive cost,disease --k 20 --out synthetic.csv",
    "sfumato condense patients.csv --recipe recipe.toml --by disease --rows 100000 --out synthetic.parquet",
)


@dataclass(frozen=True, kw_only=True)
class Condensable:
    """The roles of the columns, and how large groups must be."""

    recipe: RecipeFile = None
    identifier: Identifiers = field(default_factory=list)
    quasi: Known = field(default_factory=list)
    sensitive: Secret = field(default_factory=list)
    insensitive: Annotated[list[str], typer.Option(metavar="A,B,...", help="Other columns to condense.")] = field(
        default_factory=list
    )
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="N", help="The smallest group size; by default the k of the recipe's k-anonymity."),
    ] = None

    def asked(self) -> tuple[Schema, int]:
        """Return the schema and the smallest group size given by the recipe and the options."""
        from sfumato.cli.asking import ask_promise

        promise = ask_promise(RecipeOptions.of(self))
        return promise.schema, _least(promise.models)


@spread
def condense(
    *,
    file: Source,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the synthetic table.", show_default=False)],
    reading: Reading,
    condensable: Condensable,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column of classes; no group mixes two classes.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(metavar="N", help="How many records to draw; by default as many as the table has.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Publish synthetic records with the means and covariances of groups of at least k records.

    All columns with a role except identifiers are condensed. Numbers and dates keep their covariances; other columns
    are drawn from the values of a group, independently of each other. No record belongs to a real person, but no
    privacy model is promised or audited beyond the size of the groups.
    """
    from sfumato.condensing.condensation import Condensation
    from sfumato.judging.comparing.moments import compare_moments
    from sfumato.judging.comparing.nearest import nearest_originals
    from sfumato.table.write import write

    refuse_existing(out, force=force)
    schema, k = condensable.asked()
    condensation = Condensation(k=k, by=by)
    data = reading.read(file)
    with progress("Condensing"):
        condensed = condensation.fit(data, schema)
        synthetic = condensed.sample(rows)
    names = [column.name for column in condensed.mixture.columns if column.numeric]
    with progress("Comparing"):
        moments = compare_moments(data, synthetic, columns=names)
        nearest = nearest_originals(data, synthetic, columns=names)
    with progress("Writing"):
        write(synthetic, out)
    if json:
        print_json(_facts(condensed, synthetic, moments, nearest, out))
    else:
        typer.echo("\n".join(_lines(condensed, synthetic, moments, nearest, out)))


def _least(models: Sequence[PrivacyModel]) -> int:
    """Return the largest k that is promised for all quasi-identifiers together."""
    from sfumato.models.k_anonymity import KAnonymity

    promised = [model.k for model in models if isinstance(model, KAnonymity) and not model.quasi]
    if not promised:
        raise InvalidParameterError("The smallest group size is missing; give --k or a recipe with k-anonymity.")
    return max(promised)


def _lines(
    condensed: Condensed, synthetic: Any, moments: MomentComparison, nearest: NearestOriginals, out: Path
) -> Iterator[str]:
    sizes = condensed.sizes
    yield f"{sizes.sum():,} records in {condensed.groups:,} groups of {sizes.min():,} to {sizes.max():,}"
    yield ""
    yield from repr(moments).splitlines()
    yield ""
    yield from repr(nearest).splitlines()
    yield ""
    yield printable(f"{synthetic.num_rows:,} synthetic records are in {out}")


def _facts(
    condensed: Condensed, synthetic: Any, moments: MomentComparison, nearest: NearestOriginals, out: Path
) -> dict[str, object]:
    sizes = condensed.sizes
    return {
        "rows_in": int(sizes.sum()),
        "rows_out": synthetic.num_rows,
        "groups": condensed.groups,
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "moments": moments.to_dict(),
        "nearest_originals": nearest.to_dict(),
        "out": str(out),
    }
