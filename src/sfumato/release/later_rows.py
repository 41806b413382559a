"""Rows that come after a release: recoded by its rules, and published only if they keep the promise on their own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.publishing import publish_groups
from sfumato.catalogue import measure
from sfumato.coding.fingerprint import fingerprint
from sfumato.core.progress import Progress, followed
from sfumato.core.publication import NOT_PUBLISHED, Publication, Recoded
from sfumato.exceptions import BrokenPromiseError, InfeasibleError, InvalidParameterError, SchemaError
from sfumato.judging.audit.audit import Audit, audit_evidence
from sfumato.judging.evidence import Evidence
from sfumato.judging.measures import Measured
from sfumato.ledger.ledger import Ledger
from sfumato.randomness import Stream
from sfumato.release.anonymizing import refuse_no_folder, run_on
from sfumato.release.applying import apply
from sfumato.release.following import drafted, refuse_changed, refuse_ledger_elsewhere
from sfumato.release.large.places import Elsewhere, InMemory, Where
from sfumato.release.large.recoded_rows import LargeRecodedRows, recode_large
from sfumato.release.readable import readable_schema
from sfumato.release.recoding_rules import RecodedColumn, Recoding, family, label_of
from sfumato.release.release import Release
from sfumato.release.tasks import refuse_rows_of_individuals
from sfumato.reporting.handover import Handover
from sfumato.schema.schema import Schema
from sfumato.sources.engines import Data, Resources, in_memory
from sfumato.table.formats.base import Option
from sfumato.table.frames import Frame, to_arrow
from sfumato.table.values import texts
from sfumato.validation import require

UNKNOWN_VALUE, BROKEN_GROUP = "unknown value", "broken group"

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RecodedRows(Release):
    """Later rows, published with the rules of an earlier release.

    `given` are all rows that were brought, `known_rows` the numbers of those all of whose quasi-identifiers the
    recoding knows. The evidence is about the known ones: what was left out of these stood in groups that would have
    broken a model.
    """

    given: pa.Table
    known_rows: Rows

    @property
    def original(self) -> pa.Table:
        """All rows that were brought."""
        return self.given

    @property
    def known(self) -> pa.Table:
        """The rows all of whose quasi-identifiers the recoding knows."""
        return self.evidence.source

    @property
    def correspondence(self) -> Rows:
        """The row of every published row among all rows that were brought."""
        return self.known_rows[self.evidence.source_rows]

    @property
    def refused(self) -> pa.Table:
        """The numbers of the rows that were left out, and why: an unknown value, or a broken group."""
        unknown = np.setdiff1d(np.arange(self.original.num_rows), self.known_rows)
        broken = np.setdiff1d(self.known_rows, self.correspondence)
        reasons = [UNKNOWN_VALUE] * len(unknown) + [BROKEN_GROUP] * len(broken)
        rows = pa.array(np.concatenate([unknown, broken]), pa.int64())
        return pa.table({"original_row": rows, "reason": pa.array(reasons, pa.string())}).sort_by("original_row")

    @property
    def unknown(self) -> int:
        """The number of rows left out because the recoding does not know one of their values."""
        return int(self.original.num_rows - self.known.num_rows)

    @property
    def broken(self) -> int:
        """The number of rows left out because their groups would have broken a model."""
        return int(self.known.num_rows - self.published.num_rows)

    def _handover(self) -> Handover:
        return changed(super()._handover(), row_numbers=self.known_rows)

    def __repr__(self) -> str:
        refused = f"refused: {self.unknown:,} rows with an unknown value, {self.broken:,} in groups that break a model"
        return f"{super().__repr__()}\n{refused}"


@overload
def recode(
    data: Data,
    recoding: Recoding,
    *,
    progress: Progress | bool = ...,
    ledger: Ledger | None = ...,
    count_rows: bool = ...,
    **where: Unpack[InMemory],
) -> RecodedRows: ...


@overload
def recode(
    data: Data,
    recoding: Recoding,
    *,
    progress: Progress | bool = ...,
    count_rows: bool = ...,
    **where: Unpack[Elsewhere],
) -> LargeRecodedRows: ...


def recode(
    data: Data,
    recoding: Recoding,
    *,
    progress: Progress | bool = False,
    ledger: Ledger | None = None,
    count_rows: bool = False,
    **where: Unpack[Where],
) -> RecodedRows | LargeRecodedRows:
    """Publish later rows with the recoding of an earlier release, and leave out what would break its promise.

    Rows with a value that the recoding does not know are left out. So are rows in groups that break a model among
    the later rows alone: anyone who has both tables can subtract the earlier rows, so later rows must keep the promise
    on their own. The rows must be about other people than those of the earlier release.

    Parameters
    ----------
    data : a table with the same columns, which is not changed, or what is larger than memory: see `sf.anonymize`.
    recoding : the rules of an earlier release.
    progress, ledger, where : as for `sf.anonymize`; later rows are a release of the series, too. Another engine than
        memory returns a `LargeRecodedRows`.
    count_rows : goes on where an identifier of the later rows repeats, as the earlier release may have done, too.

    Raises
    ------
    InfeasibleError
        If no row is left, or an identifier repeats.
    """
    require(isinstance(recoding, Recoding), "recode", "recoding", "an sf.release.Recoding", recoding)
    rest: dict[str, Any] = dict(where)
    out, older = rest.pop("out", None), rest.pop("replace", False)
    return recode_in(
        Resources(**rest), data, recoding, out, replace=older, progress=progress, ledger=ledger, count_rows=count_rows
    )


def recode_in(
    resources: Resources,
    data: Data,
    recoding: Recoding,
    out: str | os.PathLike[str] | None = None,
    *,
    reading: Mapping[str, Option] | None = None,
    replace: bool = False,
    report: bool = True,
    progress: Progress | bool = False,
    ledger: Ledger | None = None,
    count_rows: bool = False,
) -> RecodedRows | LargeRecodedRows:
    """Publish later rows wherever they are; `reading` are the options of `sf.read`, by default the recipe's."""
    require(isinstance(count_rows, bool), "recode", "count_rows", "True or False", count_rows)
    if count_rows:
        recoding = changed(recoding, recipe=changed(recoding.recipe, count_rows=True))
    options = recoding.recipe.reading if reading is None else reading
    chosen = resources.chosen(data, recoding.recipe.schema.attributes)
    if chosen == "memory":
        found = _recoded(in_memory(data, options), recoding, ledger)
        if out is not None:
            found.write(out, table_format="parquet", replace=replace, report=report, progress=progress)
        return found
    refuse_ledger_elsewhere(recoding.recipe, ledger, 'use engine="memory"')
    if resources.resume:
        raise InvalidParameterError("Recoding is not resumed; leave resume out.")
    made = refuse_no_folder(chosen, out, replace=replace)
    with followed(progress, "Recoding") as tell, resources.opened(data, options, made) as source:
        return recode_large(
            recoding, source, made, memory=resources.budget, replace_older=replace, report=report, progress=tell
        )


def _recoded(data: Frame, recoding: Recoding, ledger: Ledger | None) -> RecodedRows:
    table, kind = to_arrow(data)
    left_out = recoding.recipe.schema.check_columns(table.column_names)
    if table.num_rows == 0:
        raise SchemaError("The table has no rows; there is nothing to recode.")
    refuse_rows_of_individuals(recoding.recipe, table)
    asked, draft = drafted(recoding.recipe, table, ledger, later_rows=True)
    columns = {name: recoding.recode(name, table[name]) for name in recoding.columns}
    known_rows = np.flatnonzero(np.logical_and.reduce([column.known for column in columns.values()]))
    if not len(known_rows):
        raise InfeasibleError(
            f"The recoding does not know a value in each of these {table.num_rows:,} rows; make a separate release."
        )
    known = _typed(table.take(pa.array(known_rows)), recoding)
    columns = {name: RecodedColumn(column.texts, column.numbers[known_rows]) for name, column in columns.items()}
    schema = readable_schema(recoding, known, columns)
    evidence, audit = _publish(recoding, known, columns, schema)
    suppressed = table.num_rows - evidence.published.num_rows
    refuse_changed(draft, known_rows[evidence.source_rows])
    recipe = changed(run_on(asked, table.num_rows, fingerprint(table)), schema=schema)
    return RecodedRows(
        evidence=evidence,
        audit=audit,
        measures=measure(Measured.of(evidence.table, suppressed, evidence.groups.histograms)),
        recipe=recipe,
        left_out=left_out,
        kind=kind,
        given=table,
        known_rows=known_rows,
        recoding=recoding,
        draft=draft,
    )


def _publish(
    recoding: Recoding, known: pa.Table, columns: Mapping[str, RecodedColumn], schema: Schema
) -> tuple[Evidence, Audit]:
    """Leave out rows in groups that break a model until none does; return the rest, and its audit."""
    labels = {
        name: Recoded([label_of(text, exact=recoding.columns[name].exact) for text in column.texts], column.numbers)
        for name, column in columns.items()
    }
    publication = publish_groups(np.arange(known.num_rows, dtype=np.int32), labels)
    group = publication.group.copy()
    while (group != NOT_PUBLISHED).any():
        applied = apply(Publication(group, publication.recoded), known, schema, Stream())
        evidence = Evidence(applied.shown, schema, original=known, correspondence=applied.rows)
        audit = audit_evidence(evidence, recoding.recipe.models)
        broken = [audit.violating_rows(verdict.model) for verdict in audit.verdicts if not verdict.holds]
        if not broken:
            if not audit.holds:
                raise BrokenPromiseError(
                    "The recoded rows fail their audit, so they are withheld; please report this as a bug."
                )
            return evidence, audit
        group[applied.rows[np.concatenate(broken)]] = NOT_PUBLISHED
    raise InfeasibleError(
        f"All {known.num_rows:,} rows that the recoding knows are in groups that break a model; "
        "collect more rows and recode them together."
    )


def _typed(table: pa.Table, recoding: Recoding) -> pa.Table:
    """Convert columns to the type that they had in the original, if another one was read."""
    for name, rules in recoding.columns.items():
        if not rules.starred and family(table[name].type) != family(rules.type):
            typed = texts(table[name]).cast(rules.type)
            table = table.set_column(table.column_names.index(name), name, typed)
    return table
