"""The leveled way: search among recodings on counts that the engine makes level by level, and recode by value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._progress import Progress, scale_progress
from sfumato._randomness import seeded_generator
from sfumato.core.recipe import Recipe
from sfumato.encoding.coded_table import CodedColumn, CodedTable, check_encodable
from sfumato.encoding.domain import Domain, infer_domain
from sfumato.errors import InfeasibleError, ReadError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline.request import check_model, check_supported
from sfumato.tables._pipeline.search import recoding_of_solution
from sfumato.tables.algorithms.base import TableRequest, check_suppression
from sfumato.tables.algorithms.full_domain._lattice import LevelMap, Levels
from sfumato.tables.algorithms.full_domain._recodings import NodeFinder, Recodings
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit._truth_by_rule import truth_by_rule
from sfumato.tables.audit._truthfulness import Truthfulness, cells_cover
from sfumato.tables.engines._source import (
    NOWHERE,
    WEIGHT,
    CombinationRecoding,
    EngineSource,
    TooManyCombinationsError,
    ValueMapping,
)
from sfumato.tables.models._conjunction import drop_implied
from sfumato.tables.out_of_core._combinations import rewrite_rule
from sfumato.tables.out_of_core._run import EngineOutcome, EngineRun
from sfumato.tables.out_of_core._segment_audit import audit_segments
from sfumato.tables.out_of_core._support import audited_columns, model_attributes
from sfumato.tables.out_of_core.stored_release import EngineStatistics
from sfumato.tables.published.published_table import PublishedColumn
from sfumato.tables.published.solution import TableSolution

# Counts of a table on levels of its hierarchies, where its combinations of values are too many for memory.

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
                f"The sensitive columns that models read have more than {self.max_combinations:,} "
                "combinations, too many for "
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


ENDS = {"profile": 0.05, "search": 0.5, "write": 0.8, "judge": 0.97}  # shares of the time


def is_full_domain(recipe: Recipe) -> bool:
    """Return whether the algorithm of a recipe does nothing but choose one level per column."""
    algorithm = recipe.algorithm
    plain = not getattr(algorithm, "refine", False) and not algorithm.target_columns
    return isinstance(algorithm, NodeFinder) and plain and bool(recipe.schema.quasi_identifiers)


@dataclass(frozen=True, kw_only=True, eq=False)
class _LevelSearch:
    """What a search chose, as it is published.

    Parameters
    ----------
    task, publication : the combinations on the chosen levels, and how they are published.
    counts : the same combinations, of values that stand for those of their nodes.
    look_ups : which values stand for which.
    source : the table with looked-up values.
    group : the group of every combination by the rule, `NOWHERE` if it is not published.
    rule : how rows are published.
    """

    task: TableRequest
    publication: TableSolution
    counts: pa.Table
    look_ups: Mapping[str, ValueMapping]
    source: EngineSource
    group: npt.NDArray[np.int32]
    rule: CombinationRecoding


def release_levels(run: EngineRun, parts: Path) -> EngineOutcome:
    """Search, let the engine look up and write all rows, and judge the files.

    Parameters
    ----------
    run : the recipe and its table.
    parts : the folder for the parts of the published table.
    """
    counts = LevelCounts.of(run)
    found = _search_levels(run, counts)
    tell = scale_progress(run.progress, ENDS["search"], ENDS["write"])
    found.source.write(found.rule, parts, lambda done: tell(done, "writing"))
    written = run.source.written(parts)
    written.profile(run.names, run.recipe.schema.quasi_identifiers, found.rule.unchanged_columns)
    truth = _truth(run, counts.quasi, found, written)
    return EngineOutcome(
        judged=audit_segments(
            run, written, counts.quasi, truth, scale_progress(run.progress, ENDS["write"], ENDS["judge"])
        ),
        written=written,
        passage=EngineStatistics(
            engine=run.source.engine,
            way="leveled",
            reason=f"more than {run.limits.combinations:,} combinations of {len(run.columns)} columns do not fit into "
            "memory, but those of the levels that were chosen do",
            combinations=found.counts.num_rows,
            memory=run.memory,
            spilled=max(run.source.spilled, found.source.spilled),
        ),
        proof=found.publication.proof,
        recoding=recoding_of_solution(found.publication, found.task, found.counts, run.recipe),
    )


def _search_levels(run: EngineRun, counts: LevelCounts) -> _LevelSearch:
    """Choose the levels, and say how every row is published."""
    algorithm = run.recipe.algorithm
    assert isinstance(algorithm, NodeFinder)  # noqa: S101 - asked before
    task = counts.request(scale_progress(run.progress, ENDS["profile"], ENDS["search"]))
    levels, proof = algorithm.find(task)[1:]
    combinations = counts.counted(levels)
    if combinations is None:
        raise InfeasibleError(
            f"The levels that {type(algorithm).__name__} chose have more than {counts.max_combinations:,} "
            "groups, too many for "
            "memory; give more with memory=, or use fewer or coarser quasi-identifiers."
        )
    task = replace(task, table=counts.coded(combinations), rollup_counts=None)
    publication = replace(Recodings(task).publish(levels), proof=proof)
    check_suppression(algorithm, publication.suppressed(task.table), task.table.rows, task.max_suppressed)
    rule, group = rewrite_rule(publication, combinations, run.recipe.schema.quasi_identifiers, run.names)
    look_ups = counts.look_ups(levels)
    return _LevelSearch(
        task=task,
        publication=publication,
        counts=combinations,
        look_ups=look_ups,
        source=run.source.with_mapping(look_ups),
        group=group,
        rule=rule,
    )


def _truth(run: EngineRun, quasi: tuple[Domain, ...], found: _LevelSearch, written: EngineSource) -> Truthfulness:
    """Compare what was written with what the rule makes of every combination, and the rule with every value."""
    recipe, lost = run.recipe, found.group == NOWHERE
    names, groups = audited_columns(recipe), pa.array(np.where(lost, 0, found.group))
    ruled = pa.table({name: found.rule.shown[name].take(groups) for name in recipe.schema.quasi_identifiers})
    expected = ruled
    for name in model_attributes(recipe):
        expected = expected.append_column(name, found.counts[name])
    counts = written.count(names, max(run.limits.groups, found.counts.num_rows), lambda _: None)
    evidence = AuditContext(
        counts.select(names),
        Schema(insensitive=names),
        original=expected,
        weights=counts[WEIGHT].to_numpy(),
        original_weights=found.counts[WEIGHT].to_numpy(),
    )
    truth = truth_by_rule(evidence, ruled, lost)
    same = found.source.digest(found.rule) == written.digest_written(found.rule)
    false = sum(_false_values(run, domain, found, ruled[domain.name], ~lost) for domain in quasi)
    return replace(
        truth, false_cells=truth.false_cells + false, unmatched=truth.unmatched if same else max(truth.unmatched, 1)
    )


def _false_values(
    run: EngineRun, domain: Domain, found: _LevelSearch, cells: pa.ChunkedArray, kept: npt.NDArray[np.bool_]
) -> int:
    """Count the values of a column that the cell does not cover in which the rule publishes them."""
    own = domain.encode(found.counts[domain.name])[kept]
    shown = cells.filter(pa.array(kept))
    standing, first = np.unique(own, return_index=True)
    look_up = found.look_ups.get(domain.name)
    if look_up is None:
        values, others = standing, standing
    else:
        values, others = (domain.encode(pa.chunked_array([each])) for each in (look_up.values, look_up.others))
    place = np.searchsorted(standing, others).clip(max=len(standing) - 1)
    published = standing[place] == others
    column = PublishedColumn.from_cells(
        domain.name, shown.take(pa.array(first[place[published]])), run.recipe.schema, domain
    )
    return int(np.count_nonzero(~cells_cover(column, column.codes, values[published])))
