"""What every algorithm provides, and what it refuses by the facts that it declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.coding.codes import CodedColumn, CodedTable
from sfumato.core.groups import Groups
from sfumato.core.progress import Progress, silent
from sfumato.core.publication import Publication
from sfumato.core.signatures import KnownPersons
from sfumato.models.base import PrivacyModel
from sfumato.randomness import Stream
from sfumato.schema.missing import SENSITIVE, Missing
from sfumato.validation import did_you_mean

Shows: TypeAlias = Literal["covers", "centers", "buckets"]
Settled: TypeAlias = Mapping[str, Any]  # plain values, as JSON has them
Needed: TypeAlias = Literal["always", "matches-all", "never"]
MANY = 1 << 40  # records, more than any model asks for


class FinerCounts(Protocol):
    """Counts of a table whose combinations of values do not fit into memory, on levels where they do."""

    @property
    def most(self) -> int:
        """How many combinations fit."""

    @property
    def histograms(self) -> Sequence[npt.NDArray[np.float64]]:
        """How often every code of every quasi-identifier occurs, with missing cells last."""

    def fetch(self, levels: tuple[int, ...]) -> CodedTable | None:
        """Count combinations on one level per quasi-identifier, one code standing for its node; nothing if too many."""

    def in_groups_below(self, size: int, levels: tuple[int, ...]) -> int:
        """Count the records in groups of a recoding that are smaller than a size."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What an algorithm is asked to do.

    Parameters
    ----------
    table : the coded records, one by one or equal ones as one case.
    models : the promises that every published group must keep; those that compare with the original table compare
        with this one, unless they were compared to another before.
    most_suppressed : the largest number of records that may be suppressed.
    missing : how missing values are read.
    rng : where random choices of the search come from that hide nobody.
    stream : where random choices come from that hide somebody, such as who is in which bucket.
    progress : is called with the share of the work done, in [0, 1], and a note on its state.
    totals : how often every value of the sensitive attributes that models read occurs, if the records are a segment of
        a larger table: models compare groups with all of it.
    finer : where searches over full-domain recodings count finer combinations, if the table holds only the coarsest.
    lost : how many cells of every quasi-identifier are missing, if the table is searched in blocks, and only what
        models read is told of it here.
    known : what earlier releases of the same series told about the person of every case, if a ledger keeps them.
    """

    table: CodedTable
    models: Sequence[PrivacyModel]
    most_suppressed: int
    missing: Missing
    rng: np.random.Generator
    stream: Stream = field(default_factory=Stream)
    progress: Progress = silent
    totals: Mapping[str, npt.NDArray[np.int64]] | None = None
    finer: FinerCounts | None = None
    lost: Mapping[str, int] | None = None
    known: KnownPersons | None = None

    def __post_init__(self) -> None:
        if any(model.needs_original for model in self.models):
            original = self.whole()
            object.__setattr__(self, "models", tuple(model.compared_to(original) for model in self.models))

    @property
    def watched(self) -> tuple[CodedColumn, ...]:
        """The sensitive attributes that models read."""
        names = {name for model in self.models for name in model.attributes}
        return tuple(column for column in self.table.sensitive if column.name in names)

    @property
    def compared_with(self) -> str:
        """The table whose distribution groups are compared with: published, original or both; empty if none is."""
        published = any(model.compares_with_table for model in self.models)
        original = any(model.needs_original for model in self.models)
        return "both" if published and original else "published" if published else "original" if original else ""

    @property
    def smallest_group(self) -> int:
        """A size below which no group is good."""
        return max((model.smallest_group for model in self.models), default=1)

    def whole(self) -> Groups:
        """Count all records as one group."""
        return self.together(self.table, self.watched)

    def together(self, table: CodedTable, columns: Sequence[CodedColumn]) -> Groups:
        """Count the records of a table, and their values of some of its columns, as one group."""
        group = np.zeros(table.cases, dtype=np.int32)
        return Groups.from_rows(group, 1, columns, SENSITIVE, weights=table.weights, totals=self.totals)


class Algorithm(ABC):
    """A search for a publication that keeps all models. It has no privacy parameters of its own.

    Facts, each proven by the conformance suite; one that depends on parameters is a property:

    - `publishes`: `"covers"` if published cells cover the values of their groups, `"centers"` if quasi-identifiers are
      values that stand for a whole group, `"buckets"` if values are published apart from their records;
    - `needs_monotone`: whether models must keep their promise for unions of good groups: `"always"`, `"never"`, or
      `"matches-all"`, only where missing cells match every value;
    - `needs_complete`: whether no quasi-identifier may be missing;
    - `serves_flags`: whether single cells can be sensitive;
    - `serves_attributes`: which sensitive attributes models may be about: `"together"`, several in one model;
      `"apart"`, one in each; `"one"`, the same in all;
    - `hides_identities`: whether records are hidden in groups, and not only their sensitive values;
    - `recodes`: where the recoding of quasi-identifiers comes from: `"searched"`, `"given"` by parameters, or
      `"nothing"` is recoded;
    - `suppresses`: whether the search may leave records out; if not, a group of all records must keep every monotone
      model;
    - `serves_cases`: whether equal records may come as one case with a weight, and are published as if they came one by
      one;
    - `ignores_row_order`: whether rows in another order are published alike; if not, they are put in a fixed
      order first;
    - `follows_series`: whether it keeps to what earlier releases of a series told, so that releases are safe together,
      and fills up buckets by rows of nobody where it must;
    - `serves_blocks`: whether a large table may be searched block by block;
    - `guides`: columns besides quasi-identifiers that the search looks at, such as a class to be predicted;
    - `names_quasi`: quasi-identifiers that parameters name, such as those with weights.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    needs_monotone: ClassVar[Needed] = "never"
    needs_complete: ClassVar[bool] = False
    serves_flags: ClassVar[bool] = False
    serves_attributes: ClassVar[Literal["together", "apart", "one"]] = "together"
    hides_identities: ClassVar[bool] = True
    recodes: ClassVar[Literal["searched", "given", "nothing"]] = "searched"
    suppresses: ClassVar[bool] = True
    follows_series: ClassVar[bool] = False
    serves_blocks: ClassVar[bool] = True

    @abstractmethod
    def search(self, task: Task) -> Publication:
        """Find what to publish."""

    @property
    def publishes(self) -> Shows:
        """What stands in published cells."""
        return "covers"

    @property
    def serves_cases(self) -> bool:
        """Whether equal records may come as one case with a weight."""
        return False

    @property
    def ignores_row_order(self) -> bool:
        """Whether the order of the rows has no effect on the result; if it has, they are put in a fixed order first."""
        return False

    @property
    def guides(self) -> tuple[str, ...]:
        """Columns besides quasi-identifiers that the search looks at, such as a class to predict."""
        return ()

    @property
    def names_quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers that the parameters name."""
        return ()

    def needed_of_blocks(self, models: Sequence[PrivacyModel]) -> Sequence[PrivacyModel]:
        """Return what a block of a table must keep as one group, so that the search finds what to publish of it."""
        return models

    def settle(self, task: Task, blocks: Callable[[], Iterable[CodedTable]]) -> Settled:  # noqa: ARG002 - most decide nothing
        """Decide what must be alike in all blocks of a table, before they are searched one by one.

        Parameters
        ----------
        task : the whole table, of which only what models read may be told, as cases with weights.
        blocks : returns the records of every block, as often as it is called; each keeps what is needed of it.
        """
        return {}

    def settled(self, facts: Settled) -> Algorithm:  # noqa: ARG002 - most decide nothing
        """Return what searches blocks, given what was decided for all of them."""
        return self

    def refused_missing(self, missing: Mapping[str, int], policy: Missing) -> str | None:  # noqa: ARG002 - for some
        """Return in one sentence why quasi-identifiers with so many missing cells are not served, or nothing."""
        for name, cells in missing.items() if self.needs_complete else ():
            if cells:
                return (
                    f"{_name(self)} needs every quasi-identifier, but column {name!r} has {cells:,} missing "
                    "cells; fill them or drop these rows."
                )
        return None

    def refusal(self, task: Task) -> str | None:
        """Return in one sentence why the algorithm does not support this task, or nothing.

        What follows from the declared facts is derived here. An algorithm adds only what is its own.
        """
        return next((sentence for reason in REASONS for sentence in reason(self, task)), None)

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the algorithm, without those that were not given."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]  # every algorithm is a dataclass
        return {name: value for name, value in named.items() if value is not None}


def _cases(algorithm: Algorithm, task: Task) -> Iterator[str]:
    if task.table.weights is not None and not (algorithm.serves_cases or task.lost is not None):
        yield (
            f"{_name(algorithm)} needs every record, but equal records are only counted here; give it the records "
            "themselves, or use Optimal."
        )


def _flags(algorithm: Algorithm, task: Task) -> Iterator[str]:
    if task.table.flags and not algorithm.serves_flags:
        columns = ", ".join(repr(column) for column in task.table.flags)
        yield f"{_name(algorithm)} cannot protect single sensitive cells (of {columns}); drop Schema.flags."


def _population(algorithm: Algorithm, task: Task) -> Iterator[str]:
    for model in task.models:
        if model.needs_population:
            yield (
                f"{_name(algorithm)} cannot search for {model!r}, which needs a population table; "
                "give one to the audit."
            )


def _named_columns(algorithm: Algorithm, task: Task) -> Iterator[str]:
    known = [column.name for column in task.table.quasi]
    for column in algorithm.names_quasi:
        if column not in known:
            hint = did_you_mean(column, known) or "; drop it."
            yield f"{_name(algorithm)} names {column!r}, which is not a quasi-identifier{hint}"


def _unions(algorithm: Algorithm, task: Task) -> Iterator[str]:
    for model in task.models:
        if model.monotone:
            continue
        if algorithm.needs_monotone == "always":
            yield (
                f"{_name(algorithm)} does not support {model!r}, because merging valid groups can break it; "
                "use Optimal."
            )
        if algorithm.needs_monotone == "matches-all" and task.missing is Missing.MATCHES_ALL:
            yield f"{_name(algorithm)} does not support {model!r} if missing values match all; use own-value."


def _attributes(algorithm: Algorithm, task: Task) -> Iterator[str]:
    for model in task.models:
        if len(model.attributes) > 1 and algorithm.serves_attributes != "together":
            yield (
                f"{_name(algorithm)} does not support {model!r}, which is about several attributes at once; "
                "use Mondrian."
            )
    named = list(dict.fromkeys(name for model in task.models for name in model.attributes))
    if len(named) > 1 and algorithm.serves_attributes == "one":
        listed = ", ".join(repr(name) for name in named)
        yield f"{_name(algorithm)} supports one sensitive attribute, but models name {listed}; keep one or use Anatomy."


def _identities(algorithm: Algorithm, task: Task) -> Iterator[str]:
    """Refuse models that a group of many keeps, and one record with the same values does not.

    Values too frequent for a model may be suppressed, so the same is asked of a group that has every value once.
    """
    if algorithm.hides_identities:
        return
    columns = (*task.table.quasi, *task.table.sensitive)
    instead = "LocalAnatomyGeneralization" if task.table.flags else "CrossBucket or Mondrian"
    one, many = np.ones(1, dtype=np.int64), np.full(1, MANY)
    for model in task.models:
        seen = [column for column in columns if column.name in model.attributes]
        whole = task.together(task.table, seen)
        even = {name: replace(each, counts=np.minimum(each.counts, 1)) for name, each in whole.histograms.items()}
        for group in (whole, replace(whole, histograms=even)):
            if model.kept_by(replace(group, sizes=many))[0] and not model.kept_by(replace(group, sizes=one))[0]:
                yield (
                    f"{_name(algorithm)} does not support {model!r}, because it hides values, not identities: "
                    f"other cells stay exact; use {instead}."
                )


def _missing_cells(algorithm: Algorithm, task: Task) -> Iterator[str]:
    table, lost = task.table, task.lost
    if lost is None:
        cases = {column.name: np.flatnonzero(column.codes == column.domain.missing) for column in table.quasi}
        lost = {name: table.records(found) for name, found in cases.items()}
    refusal = algorithm.refused_missing(lost, task.missing)
    if refusal is not None:
        yield refusal


def _name(algorithm: Algorithm) -> str:
    return type(algorithm).__name__


REASONS: tuple[Callable[[Algorithm, Task], Iterator[str]], ...] = (
    _named_columns,
    _cases,
    _flags,
    _population,
    _unions,
    _attributes,
    _identities,
    _missing_cells,
)
FACTS = (
    "publishes",
    "needs_monotone",
    "needs_complete",
    "serves_flags",
    "serves_attributes",
    "hides_identities",
    "recodes",
    "suppresses",
    "serves_cases",
    "ignores_row_order",
)  # that are told of every algorithm; other facts are about its parameters
