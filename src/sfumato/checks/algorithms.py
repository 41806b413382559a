# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every algorithm obeys.

`check_algorithm(MyAlgorithm())` runs them all on your own algorithm. Each check publishes small tables, drawn from
fixed seeds, and raises `AssertionError` if its law is broken. The result of an algorithm is applied and judged here,
without the release's own audit, so that a wrong algorithm is detected. Requests that an algorithm refuses are skipped,
but at least one without sensitive attributes and one with them must succeed.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Algorithm, Progress, Task, silent
from sfumato.checks.requests import Request, odd_requests, requests, unservable
from sfumato.coding.codes import CodedTable, code
from sfumato.core.publication import SUPPRESSED_TEXT, Publication
from sfumato.core.published.table import BUCKET_PREFIX, bucket_column
from sfumato.exceptions import InfeasibleError, SchemaError, SfumatoError, UnsupportedModelError
from sfumato.judging.audit.audit import Audit, audit_tables
from sfumato.models.k_anonymity import KAnonymity
from sfumato.randomness import generator
from sfumato.release.anonymizing import anonymize, apply, decoded
from sfumato.schema.missing import Missing
from sfumato.schema.schema import Schema
from sfumato.table.frames import to_arrow

SEED = 7


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The result of a request: the publication, the published table and the original row of each row."""

    request: Request
    publication: Publication
    published: pa.Table
    correspondence: npt.NDArray[np.int64]
    centers: bool

    def audit(self, **original: Any) -> Audit:
        """Judge the published table."""
        schema, models = self.request.schema, self.request.models
        return audit_tables(self.published, schema, models, centers=self.centers, **original)


def check_algorithm(algorithm: Algorithm) -> None:
    """Run every check on one algorithm."""
    for check in ALGORITHM_CHECKS:
        check(algorithm)


def check_facts_are_stated(algorithm: Algorithm) -> None:
    """An algorithm states its name and its source."""
    assert algorithm.name == algorithm.name.lower().replace(" ", "-")
    assert algorithm.reference


def check_published_table_keeps_every_model(algorithm: Algorithm) -> None:
    """An audit of the published table alone finds that every model holds."""
    for outcome in _outcomes(algorithm, requests()):
        assert all(verdict.holds for verdict in outcome.audit().verdicts)
        for model in outcome.request.models:
            if isinstance(model, KAnonymity) and outcome.request.schema.missing is Missing.OWN_VALUE:
                classes = Counter(_rows(outcome.published, outcome.request.schema.quasi))
                assert min(classes.values()) >= model.k


def check_cells_cover_their_originals(algorithm: Algorithm) -> None:
    """Every published cell covers the cell of the record that it represents."""
    for outcome in _outcomes(algorithm, requests()):
        given = {"original": outcome.request.table, "correspondence": outcome.correspondence}
        truth = outcome.audit(**given).truth
        assert truth is not None
        assert truth.false_cells == 0


def check_originals_can_be_found(algorithm: Algorithm) -> None:
    """Published records can be paired with original records that they cover, without a correspondence."""
    for outcome in _outcomes(algorithm, requests()):
        truth = outcome.audit(original=outcome.request.table).truth
        assert truth is not None
        assert truth.unmatched == 0


def check_records_add_up(algorithm: Algorithm) -> None:
    """Every record is published once or suppressed, and no more are suppressed than allowed."""
    for outcome in _outcomes(algorithm, requests()):
        rows = outcome.request.table.num_rows
        assert len(outcome.publication.group) == rows
        assert len(set(outcome.correspondence.tolist())) == outcome.published.num_rows
        assert outcome.published.num_rows + outcome.publication.suppressed == rows
        assert outcome.publication.suppressed <= outcome.request.most_suppressed


def check_groups_are_classes_of_equal_rows(algorithm: Algorithm) -> None:
    """Two records are in one group if and only if their published quasi-identifiers, or their buckets, are equal."""
    for outcome in _outcomes(algorithm, requests()):
        groups = outcome.publication.group[outcome.correspondence].tolist()
        rows = _rows(outcome.published, outcome.request.schema.quasi)
        assert len(set(zip(groups, rows, strict=True))) == len(set(groups)) == len(set(rows))


def check_missing_cells_are_not_filled(algorithm: Algorithm) -> None:
    """A missing quasi-identifier is published as missing, in its bucket if it has one, or suppressed."""
    for outcome in _outcomes(algorithm, requests()):
        for name in outcome.request.schema.quasi:
            before = outcome.request.table[name].take(pa.array(outcome.correspondence)).to_pylist()
            after = outcome.published[name].to_pylist()
            lost = [shown for cell, shown in zip(before, after, strict=True) if cell is None]
            bucket = bucket_column(outcome.published.column_names, name)
            if bucket is None:
                assert set(lost) <= {None, SUPPRESSED_TEXT}
                continue
            number = outcome.published[bucket].to_pylist()
            assert Counter(b for b, cell in zip(number, before, strict=True) if cell is None) == Counter(
                b for b, cell in zip(number, after, strict=True) if cell is None
            )


def check_input_is_untouched(algorithm: Algorithm) -> None:
    """A search changes neither the coded table that it gets nor the caller's dataframe."""
    for request in requests():
        coded, untouched = _coded(algorithm, request), _coded(algorithm, request)
        _search(algorithm, request, coded)
        pairs = zip((*coded.quasi, *coded.sensitive), (*untouched.quasi, *untouched.sensitive), strict=True)
        for mine, theirs in pairs:
            assert np.array_equal(mine.codes, theirs.codes)
            assert mine.domain.texts == theirs.domain.texts
        for frame in _frames(request.table):
            before = to_arrow(frame)[0]
            _released(algorithm, request, frame)
            assert to_arrow(frame)[0].equals(before)


def check_impossible_requests_are_refused(algorithm: Algorithm) -> None:
    """A request that no release can keep is refused, and the refusal says what is possible."""
    request = next(requests())
    rows = request.table.num_rows
    error = _refusal(algorithm, request.table, request.schema, [KAnonymity(k=rows + 1)])
    assert isinstance(error, InfeasibleError)
    assert f"reaches {rows}" in str(error)
    assert f"{rows + 1} is needed" in str(error)


def check_same_seed_gives_same_bytes(algorithm: Algorithm) -> None:
    """The same request with the same seed gives the same bytes."""
    for request in requests():
        first, second = (_released(algorithm, request, request.table) for _ in range(2))
        assert first == second


def check_row_order_is_ignored(algorithm: Algorithm) -> None:
    """The order of the original rows has no effect on what is published."""
    for request in requests():
        order = generator(SEED).permutation(request.table.num_rows)
        shuffled = request.table.take(pa.array(order))
        assert _released(algorithm, request, request.table) == _released(algorithm, request, shuffled)


def check_frame_kinds_agree(algorithm: Algorithm) -> None:
    """The same table as pandas, Polars or Arrow gives the same bytes."""
    for request in requests():
        expected = _released(algorithm, request, request.table)
        for frame in _frames(request.table):
            assert _released(algorithm, request, frame) == expected


def check_odd_tables_are_published(algorithm: Algorithm) -> None:
    """One row, equal rows, missing or constant columns, none or many, and odd names are all published correctly."""
    for outcome in _outcomes(algorithm, odd_requests()):
        assert outcome.publication.suppressed == 0
        assert outcome.audit(original=outcome.request.table, correspondence=outcome.correspondence).holds


def check_empty_tables_are_refused(algorithm: Algorithm) -> None:
    """A table without rows is refused in a sentence."""
    request = next(requests())
    error = _refusal(algorithm, request.table.slice(0, 0), request.schema, [KAnonymity(k=1)])
    assert isinstance(error, SchemaError)
    assert "no rows" in str(error)


def check_progress_rises_to_one(algorithm: Algorithm) -> None:
    """Progress is a share of the work that never falls and ends at 1."""
    for request in (*requests(), *odd_requests()):
        told: list[float] = []

        def tell(done: float, note: str = "", told: list[float] = told) -> None:
            told.append(done)
            assert isinstance(note, str)

        if _search(algorithm, request, _coded(algorithm, request), tell) is not None:
            assert told == sorted(told)
            assert told[-1:] == [1.0]
            assert told[0] >= 0


def check_what_cannot_be_served_is_refused(algorithm: Algorithm) -> None:
    """Flags of single cells and models that merging may break are supported correctly, or refused in a sentence."""
    for request in unservable():
        try:
            release = anonymize(request.table, request.schema, request.models, algorithm, seed=SEED)
        except SfumatoError as error:
            refusal = error
        else:
            buckets = {f"{BUCKET_PREFIX}{name}" for name in request.schema.flags}
            assert buckets <= set(release.published.column_names)
            continue
        assert isinstance(refusal, UnsupportedModelError | InfeasibleError)
        assert type(algorithm).__name__ in str(refusal)
        assert str(refusal).endswith(".")


def check_algorithm_can_be_stored(algorithm: Algorithm) -> None:
    """An algorithm equals what its pickle and its parameters restore: strings, numbers, flags, or these by name."""
    for copy in (pickle.loads(pickle.dumps(algorithm)), type(algorithm)(**algorithm.parameters())):  # noqa: S301 - made here
        assert copy == algorithm
        assert hash(copy) == hash(algorithm)
    for value in algorithm.parameters().values():
        plain = value if isinstance(value, dict) else {"": value}
        assert all(isinstance(name, str) and isinstance(each, str | int | float) for name, each in plain.items())


ALGORITHM_CHECKS: tuple[Callable[[Algorithm], None], ...] = (
    check_facts_are_stated,
    check_published_table_keeps_every_model,
    check_cells_cover_their_originals,
    check_originals_can_be_found,
    check_records_add_up,
    check_groups_are_classes_of_equal_rows,
    check_missing_cells_are_not_filled,
    check_input_is_untouched,
    check_impossible_requests_are_refused,
    check_same_seed_gives_same_bytes,
    check_row_order_is_ignored,
    check_frame_kinds_agree,
    check_odd_tables_are_published,
    check_empty_tables_are_refused,
    check_progress_rises_to_one,
    check_what_cannot_be_served_is_refused,
    check_algorithm_can_be_stored,
)


def _outcomes(algorithm: Algorithm, wanted: Iterator[Request]) -> Iterator[Outcome]:
    """Publish every request that the algorithm supports."""
    served: set[bool] = set()
    for request in wanted:
        publication = _search(algorithm, request, _coded(algorithm, request))
        if publication is not None:
            served.add(any(model.attributes for model in request.models))
            published, correspondence = apply(publication, request.table, request.schema, generator(SEED))
            yield Outcome(
                request=request,
                publication=publication,
                published=decoded(published),
                correspondence=correspondence,
                centers=algorithm.centers,
            )
    assert False in served, "no request without sensitive attributes was served"
    assert True in served, "no request with sensitive attributes was served"


def _coded(algorithm: Algorithm, request: Request) -> CodedTable:
    return code(request.table, request.schema, algorithm.guides)


def _search(
    algorithm: Algorithm, request: Request, coded: CodedTable, progress: Progress = silent
) -> Publication | None:
    task = Task(
        table=coded,
        models=request.models,
        most_suppressed=request.most_suppressed,
        missing=Missing(request.schema.missing),
        rng=generator(SEED),
        progress=progress,
    )
    return algorithm.search(task) if algorithm.refusal(task) is None else None


def _released(algorithm: Algorithm, request: Request, frame: object) -> bytes | None:
    """Return the cells of a release as bytes, or None if the algorithm refuses the request."""
    share = request.max_suppressed
    try:
        release = anonymize(frame, request.schema, request.models, algorithm, max_suppressed=share, seed=SEED)
    except UnsupportedModelError:
        return None
    table, _ = to_arrow(release.frame)
    return repr((table.schema, table.to_pydict())).encode()


def _refusal(algorithm: Algorithm, table: pa.Table, schema: Schema, models: list[KAnonymity]) -> SfumatoError:
    try:
        anonymize(table, schema, models, algorithm, seed=SEED)
    except SfumatoError as error:
        return error
    raise AssertionError("nothing was refused")


def _frames(table: pa.Table) -> Iterator[object]:
    """Yield the table as every other kind of dataframe that is installed."""
    if find_spec("pandas"):
        yield table.to_pandas(date_as_object=False)
    if find_spec("polars"):
        import polars as pl

        yield pl.from_arrow(table)


def _rows(table: pa.Table, names: Sequence[str]) -> list[tuple[object, ...]]:
    """Return what distinguishes records: their quasi-identifiers, or the buckets that these are in."""
    columns = [table[bucket_column(table.column_names, name) or name].to_pylist() for name in names]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
