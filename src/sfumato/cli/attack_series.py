"""`sfumato attack --series`: attack several releases of one table together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.cli.audit_series import pair_originals, read_release_version
from sfumato.cli.options import ReadingOptions, RoleOptions
from sfumato.cli.printing import show_progress_bar
from sfumato.cli.several_releases import SeriesFiles

if TYPE_CHECKING:
    from sfumato.attacks.results import AttackResults


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
    from sfumato.attacks.attacking_series import attack_series

    releases, sources = pair_originals(files, originals)
    recipe = (releases[-1] if releases[-1].is_dir() else releases[-1].parent.parent) / "internal" / "recipe.toml"
    if described.recipe is None and recipe.exists():
        described = replace(described, recipe=recipe)
    promise = described.audit_request()
    with show_progress_bar("Attacking"):
        tables = [read_release_version(*pair, promise, reading) for pair in zip(releases, sources, strict=True)]
        return attack_series(tables, promise.schema, attacks, targets=targets, seed=seed)
