"""`sfumato attack --series`: attack several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.audit_series import paired, read_version
from sfumato.cli.options import Reading, RoleOptions
from sfumato.cli.printing import progress
from sfumato.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from sfumato.attacks.results import Attacks


@dataclass(frozen=True, kw_only=True)
class SeriesAttacked:
    """Whether several releases are attacked together, and what they were made from."""

    series: Annotated[
        bool,
        typer.Option(
            "--series",
            help="Attack several releases of one table together, in order: files, or folders that sfumato wrote.",
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
        """Return the only table of an attack that is not on a series."""
        if self.originals:
            raise InvalidParameterError("--originals also needs --series; for one table give --original.")
        if len(files) != 1:
            raise InvalidParameterError(
                f"{len(files):,} tables are given; give one, or --series to attack them together."
            )
        return files[0]


def attacked_in_series(
    files: Sequence[str],
    originals: Sequence[str],
    described: RoleOptions,
    reading: Reading,
    *,
    attacks: Sequence[str],
    targets: int,
    seed: int | None,
) -> Attacks:
    """Attack releases with their originals; the roles are those of the recipe, by default of the last release."""
    from sfumato.attacks.attacking_series import attack_series

    releases, sources = paired(files, originals)
    recipe = (releases[-1] if releases[-1].is_dir() else releases[-1].parent.parent) / "internal" / "recipe.toml"
    if described.recipe is None and recipe.exists():
        described = replace(described, recipe=recipe)
    promise = described.promise()
    with progress("Attacking"):
        tables = [read_version(*pair, promise, reading) for pair in zip(releases, sources, strict=True)]
        return attack_series(tables, promise.schema, attacks, targets=targets, seed=seed)
