"""Fixed levels: publish a given full-domain recoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato._validation import is_integer, require
from sfumato.tables.algorithms._labels import label_single_group
from sfumato.tables.algorithms.base import TableAlgorithm, TableRequest
from sfumato.tables.algorithms.full_domain._lattice import LevelMap
from sfumato.tables.algorithms.full_domain._recodings import FoundNode, Recodings
from sfumato.tables.published.solution import TableSolution


@dataclass(frozen=True, kw_only=True)
class FixedLevels(TableAlgorithm):
    """Generalize every quasi-identifier to a given level, and suppress groups that break a model [1]_.

    It does not search: it can publish any node of a lattice that another algorithm explored.

    Parameters
    ----------
    levels : the level of quasi-identifiers by name, from 0 for the values themselves to the height of the hierarchy
        (1 without one) for `*`; quasi-identifiers that are not named are published as `*`.

    References
    ----------
    .. [1] Samarati, "Protecting respondents' identities in microdata release", IEEE TKDE 13(6), 2001.
       https://doi.org/10.1109/69.971193
    """

    name = "fixed-levels"
    reference = "Samarati 2001, https://doi.org/10.1109/69.971193"
    needs_monotone = "matches-all"
    recodes = "given"

    levels: Mapping[str, int] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.levels is not None:
            wanted = "a mapping from names to whole numbers of at least 0"
            require(_are_levels(self.levels), self, "levels", wanted, self.levels)
            object.__setattr__(self, "levels", dict(self.levels))

    @property
    def supports_weights(self) -> bool:
        """Equal records may come as one case: everything is decided by counts."""
        return True

    @property
    def ignores_row_order(self) -> bool:
        """The order of the rows has no effect: everything is decided by counts."""
        return True

    @property
    def named_quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers that have levels."""
        return tuple(self.levels or ())

    def check(self, task: TableRequest) -> str | None:
        """Refuse levels that there are not."""
        refusal = super().check(task)
        if refusal is not None:
            return refusal
        heights = {column.name: LevelMap.of(column.domain).height for column in task.table.quasi}
        for name, level in (self.levels or {}).items():
            if level > heights[name]:
                return f"FixedLevels names level {level} of {name!r}, which has levels from 0 to {heights[name]}."
        return None

    def search(self, task: TableRequest) -> TableSolution:
        """Apply the levels."""
        publication = self.find(task).publish() if task.table.quasi else label_single_group(task)
        task.progress(1.0)
        return publication

    def find(self, task: TableRequest) -> FoundNode:
        """Return the node of the levels."""
        recodings, named = Recodings(task), self.levels or {}
        return FoundNode(recodings, tuple(named.get(ladder.domain.name, ladder.height) for ladder in recodings.ladders))


def _are_levels(given: object) -> bool:
    return isinstance(given, Mapping) and all(
        isinstance(name, str) and is_integer(level) and level >= 0 for name, level in given.items()
    )
