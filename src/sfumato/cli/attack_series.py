"""`sfumato attack --series`: attack several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.cli.audit_series import paired, read_version
from sfumato.cli.options import Reading, RoleOptions
from sfumato.cli.printing import progress
from sfumato.cli.several_releases import SeveralReleases

if TYPE_CHECKING:
    from sfumato.attacks.results import Attacks


class SeriesAttacked(SeveralReleases):
    """Whether several releases are attacked together, and what they were made from."""

    verb = "attack"


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
