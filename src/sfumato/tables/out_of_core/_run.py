"""What every way of making a large release works with, and what it hands back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from sfumato._progress import Progress
from sfumato._randomness import draw_secret, draw_seed
from sfumato.core.recipe import Recipe
from sfumato.encoding.coded_table import stars_error
from sfumato.tables.engines._source import EngineSource, TableProfile
from sfumato.tables.out_of_core._audit import AuditFindings
from sfumato.tables.out_of_core._support import counted_columns, published_names
from sfumato.tables.out_of_core.stored_release import EngineStatistics
from sfumato.tables.published.solution import LossBound
from sfumato.tables.recoding import Recoding

BYTES_PER_COMBINATION = 400  # of the search, the look-up of groups, and the combinations themselves
BYTES_PER_ROW = 1_200  # of a segment at the peak: its codes and cells, search, order of rows, comparison


@dataclass(frozen=True)
class MemoryLimits:
    """What fits into memory.

    Parameters
    ----------
    combinations : how many combinations a search may count.
    groups : how many published combinations are judged together.
    segment_rows : how many rows a segment may have.
    """

    combinations: int
    groups: int
    segment_rows: int

    @classmethod
    def of(cls, memory: int) -> Self:
        """Return what fits into half of so many bytes; the engine may take the other half meanwhile."""
        most = memory // 2 // BYTES_PER_COMBINATION
        return cls(combinations=most, groups=most, segment_rows=memory // 2 // BYTES_PER_ROW)


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineRun:
    """A recipe, the table that it is carried out on, and what that may take.

    Parameters
    ----------
    recipe : what is asked for, with its seed and the digest of the table.
    source, profile : the table, and what one scan told of it.
    memory, limits : how many bytes the process may take, and what fits into them.
    progress : is told the share of the work that is done.
    kept : the folder of a run that can be resumed.
    """

    recipe: Recipe
    source: EngineSource
    profile: TableProfile
    memory: int
    limits: MemoryLimits
    progress: Progress
    kept: Path | None = None

    @classmethod
    def begin(
        cls,
        recipe: Recipe,
        source: EngineSource,
        *,
        memory: int,
        limits: MemoryLimits | None,
        progress: Progress,
        kept: Path | None,
    ) -> EngineRun:
        """Scan the table once, and record in the recipe what it was made of."""
        progress(0.0, "reading")
        names = published_names(recipe.schema, source.names)
        plain = [name for name in names if name not in recipe.schema.quasi_identifiers]
        profile = source.profile(names, counted_columns(recipe), plain)
        check_ambiguous_stars(profile, (*recipe.schema.quasi_identifiers, *recipe.schema.sensitive))
        made_of = replace(
            recipe,
            seed=draw_seed() if recipe.seed is None else recipe.seed,
            secret=draw_secret()
            if recipe.secret is None and recipe.algorithm.publishes == "buckets"
            else recipe.secret,
            input_rows=profile.rows,
            input_sha256=None,
            input_digest=profile.digest,
        )
        return cls(
            recipe=made_of,
            source=source,
            profile=profile,
            memory=memory,
            limits=limits or MemoryLimits.of(memory),
            progress=progress,
            kept=kept,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The published columns, in the order of the table."""
        return published_names(self.recipe.schema, self.source.names)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose combinations a search sees."""
        return counted_columns(self.recipe)


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineOutcome:
    """What a way has made: parts that were written and judged, and what is told of them."""

    judged: AuditFindings
    written: EngineSource
    passage: EngineStatistics
    proof: LossBound | None = None
    recoding: Recoding | None = None


def check_ambiguous_stars(profile: TableProfile, names: Iterable[str]) -> None:
    """Refuse some columns if they have cells that nothing tells apart from suppressed ones."""
    for name in names:
        if profile.column(name).stars:
            raise stars_error(name)
