"""Stage RELEASE: refuse what is impossible, search, apply, audit, record; write what goes out and what stays in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Progress, Task, silent
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.catalogue import MEASURES
from sfumato.coding.applying import CellTexts, Shuffle, column_ranks, order_rows
from sfumato.coding.fingerprint import fingerprint
from sfumato.core.publication import (
    NOT_PUBLISHED,
    SUPPRESSED_TEXT,
    Center,
    Exact,
    MissingCell,
    Proof,
    Publication,
    Recoded,
)
from sfumato.core.published.table import name_buckets
from sfumato.exceptions import BrokenPromiseError, InfeasibleError
from sfumato.judging.audit.audit import Audit, audit_tables
from sfumato.judging.measures import Measured
from sfumato.models.base import PrivacyModel
from sfumato.randomness import draw_seed, generator
from sfumato.recipe import Recipe
from sfumato.release.recoding_rules import Recoding
from sfumato.release.tasks import task_of
from sfumato.schema.schema import Schema
from sfumato.table.frames import FrameKind, canonical, to_arrow
from sfumato.table.values import texts

if TYPE_CHECKING:
    from os import PathLike

INFORMATION_LOSS = "information-loss-rate"


@dataclass(frozen=True, eq=False)
class Release:
    """A table that keeps its promise, with the proof and the recipe.

    `published` is the published table as Arrow, `correspondence` the original row of every published row,
    `left_out` the columns that have no role and are not published. `proof` says how close to optimal the search
    came, if it can say so; `recoding` holds the rules for publishing later rows in the same way, if every
    value is published in one way. `row_numbers` are the caller's numbers of the original rows, if not their positions.
    """

    published: pa.Table
    original: pa.Table
    correspondence: npt.NDArray[np.int64]
    audit: Audit
    measures: Mapping[str, float]
    recipe: Recipe
    left_out: tuple[str, ...]
    kind: FrameKind
    proof: Proof | None = None
    recoding: Recoding | None = None
    row_numbers: npt.NDArray[np.int64] | None = None

    @cached_property
    def frame(self) -> Any:
        """The published table, of the caller's dataframe kind, without suppressed records, in a meaningless order."""
        return self.kind.restore(decoded(self.published))

    @property
    def suppressed(self) -> int:
        """The number of suppressed records."""
        return int(self.original.num_rows - self.published.num_rows)

    def aligned(self) -> Any:
        """Return one row per original row, in the original order; suppressed records show only `*`."""
        place = np.full(self.original.num_rows, -1, dtype=np.int64)
        place[self.correspondence] = np.arange(len(self.correspondence))
        rows = decoded(self.published).take(pa.array(place, mask=place < 0))
        if self.suppressed:
            lost = pa.array(place < 0)
            for name in self.recipe.schema.quasi:
                at = rows.column_names.index(name)
                rows = rows.set_column(at, name, _starred(rows[name], lost))
        return self.kind.restore_aligned(rows)

    def write(
        self,
        folder: str | PathLike[str],
        *,
        table_format: str = "csv",
        replace: bool = False,
        excel_safe: bool = False,
    ) -> None:
        """Write `public/`, which is safe to share, and `internal/`, which must stay private.

        Parameters
        ----------
        folder : the folder to create; refused if it is not empty, unless `replace`.
        table_format : `"csv"`, `"parquet"` or `"xlsx"`.
        replace : whether an existing release there may be replaced.
        excel_safe : whether cells that a spreadsheet would run as formulas are written after an apostrophe.
        """
        from sfumato.reporting.folders import write_folders

        write_folders(
            folder,
            published=decoded(self.published),
            original=self.original,
            correspondence=self.correspondence,
            audit=self.audit,
            measures=self.measures,
            recipe=self.recipe,
            left_out=self.left_out,
            proof=self.proof,
            rules=None if self.recoding is None else self.recoding.to_toml(),
            table_format=table_format,
            replace=replace,
            excel_safe=excel_safe,
            row_numbers=self.row_numbers,
        )

    def __repr__(self) -> str:
        measures = ", ".join(f"{name} {value:.4g}" for name, value in self.measures.items())
        found = "" if self.proof is None else f"{self.proof}\n"
        return (
            f"Release: {self.published.num_rows:,} of {self.original.num_rows:,} records, "
            f"{len(self.audit.sizes):,} groups, {measures}\n{found}{self.audit!r}"
        )

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{value:.4g}</td></tr>" for name, value in self.measures.items())
        return f"{self.audit._repr_html_()}<table><tr><th>measure</th><th>value</th></tr>{rows}</table>"


def anonymize(
    data: object,
    schema: Schema,
    models: Sequence[PrivacyModel],
    algorithm: Algorithm | None = None,
    *,
    max_suppressed: float = 0.0,
    seed: int | None = None,
    progress: Progress = silent,
) -> Release:
    """Find, check and record a release of a table that keeps every model.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not changed.
    schema : the role of every attribute.
    models : what is promised.
    algorithm : how to search; by default `Mondrian()`.
    max_suppressed : the share of records that may be suppressed, in [0, 1].
    seed : makes a run of a randomized algorithm repeatable; by default drawn from the operating system.
    progress : is called with the share of the search that is done.

    Raises
    ------
    InfeasibleError
        If no release can keep the models, or not without suppressing more.
    """
    recipe = Recipe(
        schema=schema,
        models=models,  # type: ignore[arg-type]  # checked there, and made a tuple
        algorithm=Mondrian() if algorithm is None else algorithm,
        max_suppressed=max_suppressed,
        seed=seed,
    )
    return carry_out(recipe, data, progress=progress)


def carry_out(recipe: Recipe, data: object, *, progress: Progress = silent) -> Release:
    """Run a recipe on a table."""
    table, kind = to_arrow(data)
    schema, models = recipe.schema, recipe.models
    left_out = schema.check_columns(table.column_names)
    order = None if recipe.algorithm.ignores_row_order else fixed_order(table, schema)
    searched = table if order is None else table.take(pa.array(order))
    recipe = replace(
        recipe,
        seed=draw_seed() if recipe.seed is None else recipe.seed,
        input_rows=table.num_rows,
        input_sha256=fingerprint(table),
    )
    task = task_of(recipe, searched, progress)
    publication = _search(recipe.algorithm, task)
    published, found = apply(publication, searched, schema, generator(recipe.seed or 0).spawn(1)[0])
    correspondence = found if order is None else order[found]
    centers = recipe.algorithm.centers
    audit = audit_tables(published, schema, models, original=table, correspondence=correspondence, centers=centers)
    if not audit.holds:
        raise BrokenPromiseError(
            f"{type(recipe.algorithm).__name__} found a release that fails its audit, so it is withheld; "
            "please report this as a bug."
        )
    return Release(
        published=published,
        original=table,
        correspondence=correspondence,
        audit=audit,
        measures=_measures(audit, task, found, centers=centers),
        recipe=recipe,
        left_out=left_out,
        kind=kind,
        proof=publication.proof,
        recoding=_recoding(publication, task, table, recipe),
    )


def _measures(audit: Audit, task: Task, rows: npt.NDArray[np.int64], *, centers: bool) -> dict[str, float]:
    """Measure what the release has lost; `rows` are the rows of the task that are published."""
    table = audit.counts.table
    measured = Measured(table, task.table.rows - table.rows)
    found = {name: each.compute(measured) for name, each in MEASURES.items() if not (centers and each.of_covers)}
    if not centers:
        return found
    from sfumato.algorithms.microaggregation.space import Space

    group = np.full(task.table.rows, NOT_PUBLISHED)
    group[rows] = table.grouped.labels
    lost = float(Space.of(task.table).losses(group, len(table.grouped)).sum())
    return {INFORMATION_LOSS: lost / table.rows, **found}


def _recoding(publication: Publication, task: Task, table: pa.Table, recipe: Recipe) -> Recoding | None:
    if not publication.by_value:
        return None
    return Recoding.of(publication.by_value, [column.domain for column in task.table.quasi], table, recipe)


def fixed_order(table: pa.Table, schema: Schema) -> npt.NDArray[np.int64]:
    """Order rows by everything a search may see or a release may show, so that their given order has no effect."""
    names = (*schema.quasi, *schema.sensitive, *schema.insensitive, *schema.flags.values())
    return order_rows([column_ranks(table[name]) for name in names], table.num_rows)


def apply(
    publication: Publication, table: pa.Table, schema: Schema, rng: np.random.Generator
) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Build the published table, and for each of its rows the number of the original row.

    Values in buckets are permuted within each bucket, and buckets are renumbered, both uniformly at random. Attributes
    permuted together share one column of bucket numbers, after the last of them.
    """
    kept = np.flatnonzero(publication.group != NOT_PUBLISHED)
    group = publication.group[kept]
    whole = len(kept) == table.num_rows
    arrays, ranked = {}, []
    published = {*schema.quasi, *schema.sensitive, *schema.insensitive}
    names = [name for name in table.column_names if name in published]
    shuffles = _Shuffles(publication, kept, rng)
    for at, name in enumerate(names):
        recoded, bucketed = publication.recoded.get(name), name in publication.buckets
        if recoded is None:
            arrays[name] = table[name] if whole else table[name].take(pa.array(kept))
        else:
            kind = pa.string() if bucketed else _kind(recoded, table[name].type)
            cells = CellTexts([label.text for label in recoded.labels], recoded.by_group[group], kind)
            arrays[name] = cells.array()
        if bucketed:
            original = table[name] if recoded is None else texts(table[name])
            joint, shuffle = shuffles.of(name)
            arrays[name] = shuffle.cells(arrays[name], original.take(kept))
            if not set(joint) & set(names[at + 1 :]):
                arrays[name_buckets(joint)] = shuffle.number
                ranked.append(column_ranks(shuffle.number))
        ranked.append(cells.ranks() if recoded is not None and not bucketed else column_ranks(arrays[name]))
    order = order_rows(ranked, len(kept))
    return pa.table(arrays).take(pa.array(order)), kept[order]


class _Shuffles:
    """The shuffles of bucketized attributes, drawn on demand."""

    def __init__(self, publication: Publication, kept: npt.NDArray[np.int64], rng: np.random.Generator) -> None:
        self._publication, self._kept, self._rng = publication, kept, rng
        self._joint = {name: joint for joint in publication.together for name in joint}
        self._drawn: dict[tuple[str, ...], Shuffle] = {}

    def of(self, name: str) -> tuple[tuple[str, ...], Shuffle]:
        """Return all attributes that are permuted together with one, and how."""
        joint = self._joint.get(name, (name,))
        if joint not in self._drawn:
            bucket = self._publication.buckets[name]
            numbers = self._numbers(bucket) if joint in self._publication.together else None
            self._drawn[joint] = Shuffle.draw(bucket[self._kept], self._rng, numbers=numbers)
        return joint, self._drawn[joint]

    def _numbers(self, bucket: npt.NDArray[np.int32]) -> pa.Array | None:
        """Find the numbers of the same buckets in another slice."""
        for joint, drawn in self._drawn.items():
            if joint in self._publication.together and np.array_equal(self._publication.buckets[joint[0]], bucket):
                return drawn.number
        return None


def decoded(table: pa.Table) -> pa.Table:
    """Convert dictionary columns to plain values."""
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table[field.name].cast(field.type.value_type))
    return table


def _search(algorithm: Algorithm, task: Task) -> Publication:
    publication = algorithm.search(task)
    name, rows, most = type(algorithm).__name__, task.table.rows, task.most_suppressed
    if publication.suppressed == rows:
        raise InfeasibleError(f"{name} would suppress all records; promise less.")
    if publication.suppressed > most:
        raise InfeasibleError(
            f"{name} would suppress {publication.suppressed:,} records, more than the {most:,} "
            f"allowed; set max_suppressed={_rounded_up(publication.suppressed, rows)} or promise less."
        )
    return publication


def _rounded_up(part: int, whole: int, digits: int = 4) -> float:
    return float(Fraction(-(-part * 10**digits // whole), 10**digits))


def _kind(recoded: Recoded, original: pa.DataType) -> pa.DataType:
    """Return the type of a published column: the original's if only values are published, or that of centers."""
    if all(isinstance(label, Exact | MissingCell) for label in recoded.labels):
        return original
    centers = [label.value for label in recoded.labels if isinstance(label, Center)]
    if len(centers) < len(recoded.labels) or any(isinstance(center, str) for center in centers):
        return pa.string()
    return canonical(pa.table({"center": pa.array(centers)}))["center"].type


def _starred(column: pa.ChunkedArray, lost: pa.Array) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    return pc.if_else(lost, SUPPRESSED_TEXT, texts(column))
