"""What every algorithm provides, and what it refuses by the facts that it declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato._progress import Progress, ignore_progress
from sfumato._randomness import KeyedRandom
from sfumato._validation import suggest_closest
from sfumato.encoding.coded_table import CodedColumn, CodedTable
from sfumato.errors import InfeasibleError
from sfumato.schema.roles import SENSITIVE, MissingPolicy
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.groups import Groups
from sfumato.tables.published.solution import TableSolution
from sfumato.tables.series._prior_disclosure import KnownIndividuals

Shows: TypeAlias = Literal["covers", "centers", "buckets"]
Settled: TypeAlias = Mapping[str, Any]  # plain values, as JSON has them
Needed: TypeAlias = Literal["always", "matches-all", "never"]
MANY = 1 << 40  # records, more than any model asks for


class RollupCounts(Protocol):
    """Counts of a table whose combinations of values do not fit into memory, on levels where they do."""

    @property
    def max_combinations(self) -> int:
        """How many combinations fit."""

    @property
    def histograms(self) -> Sequence[npt.NDArray[np.float64]]:
        """How often every code of every quasi-identifier occurs, with missing cells last."""

    def fetch(self, levels: tuple[int, ...]) -> CodedTable | None:
        """Count combinations on one level per quasi-identifier, one code standing for its node; nothing if too many."""

    def count_records_below(self, size: int, levels: tuple[int, ...]) -> int:
        """Count the records in groups of a recoding that are smaller than a size."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableRequest:
    """What an algorithm is asked to do.

    Parameters
    ----------
    table : the coded records, one by one or equal ones as one case.
    models : the promises that every published group must keep; those that compare with the original table compare
        with this one, unless they were compared to another before.
    max_suppressed : the largest number of records that may be suppressed.
    missing : how missing values are read.
    rng : where random choices of the search come from that hide nobody.
    stream : where random choices come from that hide somebody, such as who is in which bucket.
    progress : is called with the share of the work done, in [0, 1], and a note on its state.
    totals : how often every value of the sensitive attributes that models read occurs, if the records are a segment of
        a larger table: models compare groups with all of it.
    rollup_counts : where searches over full-domain recodings count finer combinations, if the table holds only the
        coarsest.
    missing_cells : how many cells of every quasi-identifier are missing, if the table is searched in blocks, and only
        what models read is told of it here.
    known : what earlier releases of the same series told about the person of every case, if a ledger keeps them.
    """

    table: CodedTable
    models: Sequence[GroupModel]
    max_suppressed: int
    missing: MissingPolicy
    rng: np.random.Generator
    stream: KeyedRandom = field(default_factory=KeyedRandom)
    progress: Progress = ignore_progress
    totals: Mapping[str, npt.NDArray[np.int64]] | None = None
    rollup_counts: RollupCounts | None = None
    missing_cells: Mapping[str, int] | None = None
    known: KnownIndividuals | None = None

    def __post_init__(self) -> None:
        if any(model.needs_original for model in self.models):
            original = self.as_one_group()
            object.__setattr__(self, "models", tuple(model.with_reference(original) for model in self.models))

    @property
    def model_columns(self) -> tuple[CodedColumn, ...]:
        """The sensitive attributes that models read."""
        names = {name for model in self.models for name in model.sensitive_attributes}
        return tuple(column for column in self.table.sensitive if column.name in names)

    @property
    def reference_table(self) -> str:
        """The table whose distribution groups are compared with: published, original or both; empty if none is."""
        published = any(model.compares_with_table for model in self.models)
        original = any(model.needs_original for model in self.models)
        return "both" if published and original else "published" if published else "original" if original else ""

    @property
    def min_group_size(self) -> int:
        """A size below which no group is good."""
        return max((model.min_group_size for model in self.models), default=1)

    def as_one_group(self) -> Groups:
        """Count all records as one group."""
        return self.count_as_one_group(self.table, self.model_columns)

    def count_as_one_group(self, table: CodedTable, columns: Sequence[CodedColumn]) -> Groups:
        """Count the records of a table, and their values of some of its columns, as one group."""
        group = np.zeros(table.n_weighted_records, dtype=np.int32)
        return Groups.from_rows(group, 1, columns, SENSITIVE, weights=table.weights, totals=self.totals)


class TableAlgorithm(ABC):
    """A search for a publication that keeps all models. It has no privacy parameters of its own.

    Facts, each proven by the conformance suite; one that depends on parameters is a property:

    - `publishes`: `"covers"` if published cells cover the values of their groups, `"centers"` if quasi-identifiers are
      values that stand for a whole group, `"buckets"` if values are published apart from their records;
    - `needs_monotone`: whether models must keep their promise for unions of good groups: `"always"`, `"never"`, or
      `"matches-all"`, only where missing cells match every value;
    - `needs_complete`: whether no quasi-identifier may be missing;
    - `supports_flags`: whether single cells can be sensitive;
    - `supports_attributes`: which sensitive attributes models may be about: `"together"`, several in one model;
      `"apart"`, one in each; `"one"`, the same in all;
    - `hides_identities`: whether records are hidden in groups, and not only their sensitive values;
    - `recodes`: where the recoding of quasi-identifiers comes from: `"searched"`, `"given"` by parameters, or
      `"nothing"` is recoded;
    - `suppresses`: whether the search may leave records out; if not, a group of all records must keep every monotone
      model;
    - `supports_weights`: whether equal records may come as one case with a weight, and are published as if they came
      one by one;
    - `ignores_row_order`: whether rows in another order are published alike; if not, they are put in a fixed
      order first;
    - `supports_series`: whether it keeps to what earlier releases of a series told, so that releases are safe together,
      and fills up buckets by rows of nobody where it must;
    - `supports_blocks`: whether a large table may be searched block by block;
    - `guides`: columns besides quasi-identifiers that the search looks at, such as a class to be predicted;
    - `names_quasi`: quasi-identifiers that parameters name, such as those with weights.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    needs_monotone: ClassVar[Needed] = "never"
    needs_complete: ClassVar[bool] = False
    supports_flags: ClassVar[bool] = False
    supports_attributes: ClassVar[Literal["together", "apart", "one"]] = "together"
    hides_identities: ClassVar[bool] = True
    recodes: ClassVar[Literal["searched", "given", "nothing"]] = "searched"
    suppresses: ClassVar[bool] = True
    supports_series: ClassVar[bool] = False
    supports_blocks: ClassVar[bool] = True

    @abstractmethod
    def search(self, task: TableRequest) -> TableSolution:
        """Find what to publish."""

    @property
    def publishes(self) -> Shows:
        """What stands in published cells."""
        return "covers"

    @property
    def supports_weights(self) -> bool:
        """Whether equal records may come as one case with a weight."""
        return False

    @property
    def ignores_row_order(self) -> bool:
        """Whether the order of the rows has no effect on the result; if it has, they are put in a fixed order first."""
        return False

    @property
    def target_columns(self) -> tuple[str, ...]:
        """Columns besides quasi-identifiers that the search looks at, such as a class to predict."""
        return ()

    @property
    def named_quasi_identifiers(self) -> tuple[str, ...]:
        """Quasi-identifiers that the parameters name."""
        return ()

    def block_models(self, models: Sequence[GroupModel]) -> Sequence[GroupModel]:
        """Return what a block of a table must keep as one group, so that the search finds what to publish of it."""
        return models

    def fit_blocks(self, task: TableRequest, blocks: Callable[[], Iterable[CodedTable]]) -> Settled:  # noqa: ARG002 - most decide nothing
        """Decide what must be alike in all blocks of a table, before they are searched one by one.

        Parameters
        ----------
        task : the whole table, of which only what models read may be told, as cases with weights.
        blocks : returns the records of every block, as often as it is called; each keeps what is needed of it.
        """
        return {}

    def for_blocks(self, facts: Settled) -> TableAlgorithm:  # noqa: ARG002 - most decide nothing
        """Return what searches blocks, given what was decided for all of them."""
        return self

    def check_missing(self, missing: Mapping[str, int], policy: MissingPolicy) -> str | None:  # noqa: ARG002 - for some
        """Return in one sentence why quasi-identifiers with so many missing cells are not served, or nothing."""
        for name, cells in missing.items() if self.needs_complete else ():
            if cells:
                return (
                    f"{_algorithm_name(self)} needs every quasi-identifier, but column {name!r} has {cells:,} missing "
                    "cells; fill them or drop these rows."
                )
        return None

    def check(self, task: TableRequest) -> str | None:
        """Return in one sentence why the algorithm does not support this task, or nothing.

        What follows from the declared facts is derived here. An algorithm adds only what is its own.
        """
        return next((sentence for reason in REASONS for sentence in reason(self, task)), None)

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the algorithm, without those that were not given."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # every algorithm is a dataclass
        return {name: value for name, value in named.items() if value is not None}


def _check_weights(algorithm: TableAlgorithm, task: TableRequest) -> Iterator[str]:
    if task.table.weights is not None and not (algorithm.supports_weights or task.missing_cells is not None):
        yield (
            f"{_algorithm_name(algorithm)} needs every record, but equal records are only counted here; "
            "give it the records "
            "themselves, or use Optimal."
        )


def _check_flags(algorithm: TableAlgorithm, task: TableRequest) -> Iterator[str]:
    if task.table.flags and not algorithm.supports_flags:
        columns = ", ".join(repr(column) for column in task.table.flags)
        yield f"{_algorithm_name(algorithm)} cannot protect single sensitive cells (of {columns}); drop Schema.flags."


def _check_population(algorithm: TableAlgorithm, task: TableRequest) -> Iterator[str]:
    for model in task.models:
        if model.needs_population:
            yield (
                f"{_algorithm_name(algorithm)} cannot search for {model!r}, which needs a population table; "
                "give one to the audit."
            )


def _check_named_columns(algorithm: TableAlgorithm, task: TableRequest) -> Iterator[str]:
    known = [column.name for column in task.table.quasi]
    for column in algorithm.named_quasi_identifiers:
        if column not in known:
            hint = suggest_closest(column, known) or "; drop it."
            yield f"{_algorithm_name(algorithm)} names {column!r}, which is not a quasi-identifier{hint}"


def _check_monotone(algorithm: TableAlgorithm, task: TableRequest) -> Iterator[str]:
    for model in task.models:
        if model.monotone:
            continue
        if algorithm.needs_monotone == "always":
            yield (
                f"{_algorithm_name(algorithm)} does not support {model!r}, because merging valid groups can break it; "
                "use Optimal."
            )
        if algorithm.needs_monotone == "matches-all" and task.missing is MissingPolicy.MATCHES_ALL:
            yield f"{_algorithm_name(algorithm)} does not support {model!r} if missing values match all; use own-value."


def _check_sensitive_attributes(algorithm: TableAlgorithm, task: TableRequest) -> Iterator[str]:
    for model in task.models:
        if len(model.sensitive_attributes) > 1 and algorithm.supports_attributes != "together":
            yield (
                f"{_algorithm_name(algorithm)} does not support {model!r}, which is about several attributes at once; "
                "use Mondrian."
            )
    named = list(dict.fromkeys(name for model in task.models for name in model.sensitive_attributes))
    if len(named) > 1 and algorithm.supports_attributes == "one":
        listed = ", ".join(repr(name) for name in named)
        yield (
            f"{_algorithm_name(algorithm)} supports one sensitive attribute, but models name {listed}; "
            "keep one or use Anatomy."
        )


def _check_identity_models(algorithm: TableAlgorithm, task: TableRequest) -> Iterator[str]:
    """Refuse models that a group of many keeps, and one record with the same values does not.

    Values too frequent for a model may be suppressed, so the same is asked of a group that has every value once.
    """
    if algorithm.hides_identities:
        return
    columns = (*task.table.quasi, *task.table.sensitive)
    instead = "LocalAnatomyGeneralization" if task.table.flags else "CrossBucketGeneralization or Mondrian"
    one, many = np.ones(1, dtype=np.int64), np.full(1, MANY)
    for model in task.models:
        seen = [column for column in columns if column.name in model.sensitive_attributes]
        whole = task.count_as_one_group(task.table, seen)
        even = {name: replace(each, counts=np.minimum(each.counts, 1)) for name, each in whole.histograms.items()}
        for group in (whole, replace(whole, histograms=even)):
            if (
                model.satisfied_by(replace(group, sizes=many))[0]
                and not model.satisfied_by(replace(group, sizes=one))[0]
            ):
                yield (
                    f"{_algorithm_name(algorithm)} does not support {model!r}, because it hides values, not "
                    "identities: "
                    f"other cells stay exact; use {instead}."
                )


def _check_missing_cells(algorithm: TableAlgorithm, task: TableRequest) -> Iterator[str]:
    table, lost = task.table, task.missing_cells
    if lost is None:
        cases = {column.name: np.flatnonzero(column.codes == column.domain.missing) for column in table.quasi}
        lost = {name: table.records(found) for name, found in cases.items()}
    refusal = algorithm.check_missing(lost, task.missing)
    if refusal is not None:
        yield refusal


def _algorithm_name(algorithm: TableAlgorithm) -> str:
    return type(algorithm).__name__


REASONS: tuple[Callable[[TableAlgorithm, TableRequest], Iterator[str]], ...] = (
    _check_named_columns,
    _check_weights,
    _check_flags,
    _check_population,
    _check_monotone,
    _check_sensitive_attributes,
    _check_identity_models,
    _check_missing_cells,
)
FACTS: Mapping[str, str] = {  # as `sfumato algorithms --json` names them, and the attributes of every algorithm
    "publishes": "publishes",
    "needs_monotone": "needs_monotone",
    "needs_complete": "needs_complete",
    "serves_flags": "supports_flags",
    "serves_attributes": "supports_attributes",
    "hides_identities": "hides_identities",
    "recodes": "recodes",
    "suppresses": "suppresses",
    "serves_cases": "supports_weights",
    "ignores_row_order": "ignores_row_order",
}  # other facts are about parameters


# How much may be suppressed: refuse what would leave out all records, or more than allowed.


def check_suppression(algorithm: TableAlgorithm, suppressed: int, rows: int, most: int) -> None:
    """Refuse what would suppress all records, or more than may be."""
    name = type(algorithm).__name__
    if suppressed == rows:
        raise InfeasibleError(f"{name} would suppress all records; promise less.")
    if suppressed > most:
        needed = round_up_share(suppressed, rows)
        raise InfeasibleError(
            f"{name} would suppress {suppressed:,} records, more than the {most:,} "
            f"allowed; set max_suppressed={needed} or promise less.",
            [{"max_suppressed": needed}],
        )


def round_up_share(part: int, whole: int, digits: int = 4) -> float:
    """Return a share of the records that allows to suppress so many."""
    return float(Fraction(-(-part * 10**digits // whole), 10**digits))
