"""Counts of a table on levels of its hierarchies, where its combinations of values are too many for memory."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import TableRequest
from sfumato.algorithms.full_domain.ladder import LevelMap
from sfumato.algorithms.full_domain.lattice import Levels
from sfumato.coding.codes import CodedColumn, CodedTable, check_encodable
from sfumato.coding.domain import Domain, infer_domain
from sfumato.core.progress import Progress
from sfumato.exceptions import InfeasibleError, ReadError
from sfumato.models.requirements import drop_implied
from sfumato.randomness import seeded_generator
from sfumato.release.large.large_run import EngineRun
from sfumato.release.large.served import model_attributes
from sfumato.release.tasks import check_model, check_supported
from sfumato.schema.missing import MissingPolicy
from sfumato.sources.base import WEIGHT, TooManyCombinationsError, ValueMapping

SETS = 4  # so many sets of combinations share the memory of all


@dataclass(frozen=True, kw_only=True, eq=False)
class LevelCounts:
    """The counts that a search over full-domain recodings asks for, one `GROUP BY` each.

    On a level, the first value of every node stands for all values of that node, so what is counted looks like the
    table itself.

    Parameters
    ----------
    run : the recipe and its table.
    quasi, sensitive : the domains of the quasi-identifiers, and of the sensitive columns that models read.
    values : the different values of every quasi-identifier, the missing one last.
    """

    run: EngineRun
    quasi: tuple[Domain, ...]
    sensitive: tuple[Domain, ...]
    values: tuple[pa.Array, ...]

    @classmethod
    def of(cls, run: EngineRun) -> LevelCounts:
        """Find the values of all columns that a search reads."""
        schema, found = run.recipe.schema, {name: run.source.values(name) for name in run.columns}
        domains = {name: infer_domain(name, pa.chunked_array([cells]), schema) for name, cells in found.items()}
        quasi = tuple(domains[name] for name in schema.quasi_identifiers)
        sensitive = tuple(domains[name] for name in model_attributes(run.recipe))
        check_encodable(quasi, sensitive, run.profile.rows)
        values = tuple(pa.concat_arrays([found[each.name], pa.nulls(1, found[each.name].type)]) for each in quasi)
        return cls(run=run, quasi=quasi, sensitive=sensitive, values=values)

    @property
    def max_combinations(self) -> int:
        """How many combinations fit, of several sets."""
        return max(self.run.limits.combinations // SETS, 1)

    @cached_property
    def level_maps(self) -> tuple[LevelMap, ...]:
        """The levels of every quasi-identifier."""
        return tuple(LevelMap.of(domain) for domain in self.quasi)

    @cached_property
    def histograms(self) -> tuple[npt.NDArray[np.float64], ...]:
        """How often every code of every quasi-identifier occurs, with missing cells last."""
        found = []
        for domain, values in zip(self.quasi, self.values, strict=True):
            counts = self.run.source.count([domain.name], len(values), lambda _: None)
            codes, weights = domain.encode(counts[domain.name]), counts[WEIGHT].to_numpy()
            found.append(np.bincount(codes, weights, minlength=len(domain) + 1).astype(np.float64))
        return tuple(found)

    def request(self, progress: Progress) -> TableRequest:
        """Build the task of the recipe, and refuse what is refused in memory."""
        recipe = self.run.recipe
        table = self.fetch(tuple(ladder.height for ladder in self.level_maps))
        if table is None:
            raise InfeasibleError(
                f"The sensitive columns that models read have more than {self.max_combinations:,} combinations, too many for "
                "memory; give more with memory=."
            )
        task = TableRequest(
            table=table,
            models=drop_implied(recipe.models),
            max_suppressed=int(Fraction(str(recipe.max_suppressed)) * table.rows),
            missing=MissingPolicy(recipe.schema.missing),
            rng=seeded_generator(recipe.seed or 0),
            progress=progress,
            rollup_counts=self,
        )
        for model in task.models:
            check_model(model, task, recipe.algorithm)
        check_supported(task, recipe.algorithm)
        return task

    def look_ups(self, levels: Levels) -> dict[str, ValueMapping]:
        """Look up for every value the first one of its node."""
        found = {}
        for domain, values, ladder, level in zip(self.quasi, self.values, self.level_maps, levels, strict=True):
            if level:
                nodes = ladder.levels[level][domain.encode(pa.chunked_array([values]))]
                _, first, place = np.unique(nodes, return_index=True, return_inverse=True)
                found[domain.name] = ValueMapping(values, values.take(pa.array(first[place])))
        return found

    def counted(self, levels: Levels) -> pa.Table | None:
        """Count combinations on one level per quasi-identifier; nothing if they do not fit."""
        names = [domain.name for domain in (*self.quasi, *self.sensitive)]
        try:
            counts = self.run.source.with_mapping(self.look_ups(levels)).count(
                names, self.max_combinations, lambda _: None
            )
        except TooManyCombinationsError:
            return None
        if int(counts[WEIGHT].to_numpy().sum()) != self.run.profile.rows:
            raise ReadError("The table changed while it was read; make the release again.")
        return counts

    def coded(self, counts: pa.Table) -> CodedTable:
        """Code what was counted."""
        return CodedTable(
            rows=self.run.profile.rows,
            quasi=tuple(CodedColumn(domain, domain.encode(counts[domain.name])) for domain in self.quasi),
            sensitive=tuple(CodedColumn(domain, domain.encode(counts[domain.name])) for domain in self.sensitive),
            weights=counts[WEIGHT].to_numpy(),
        )

    def fetch(self, levels: Levels) -> CodedTable | None:
        """Count combinations on one level per quasi-identifier, and code them; nothing if they do not fit."""
        counts = self.counted(levels)
        return None if counts is None else self.coded(counts)

    def count_records_below(self, size: int, levels: Levels) -> int:
        """Count the records in groups of a recoding that are smaller than a size."""
        names = [domain.name for domain in self.quasi]
        return self.run.source.with_mapping(self.look_ups(levels)).count_in_small_groups(size, names)
