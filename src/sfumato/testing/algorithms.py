# ruff: noqa: D401 - the first line of a check is its law
"""Laws that every algorithm obeys.

`check_algorithm(MyAlgorithm())` runs them all on an algorithm of your own. Each check looks at what a `Trial` publishes
of small tables, drawn from fixed seeds, and raises `AssertionError` where its law is broken. What an algorithm finds is
applied and judged here, without the release's own guard, so a wrong algorithm is seen. Requests that an algorithm
refuses are left out, but one without sensitive attributes and one with them must be served.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from sfumato._randomness import seeded_generator
from sfumato.errors import InfeasibleError, SchemaError, SfumatoError, UnsupportedModelError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline.anonymize import anonymize
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.published.published_table import BUCKET_PREFIX, find_bucket_column
from sfumato.tables.published.solution import SUPPRESSED_TEXT, Center, Exact, MissingCell
from sfumato.testing._requests import ROWS, capability_requests, unsupported_requests
from sfumato.testing._trials import (
    TRIAL_SEED,
    AlgorithmTrial,
    copy_table,
    duplicate_records,
    labels_by_record,
    to_weighted_records,
)


def check_algorithm(algorithm: TableAlgorithm) -> None:
    """Run every check on one algorithm."""
    trial = AlgorithmTrial(algorithm)
    for check in ALGORITHM_CHECKS:
        check(trial)


def check_metadata(trial: AlgorithmTrial) -> None:
    """An algorithm states its name and its source."""
    algorithm = trial.algorithm
    assert algorithm.name == algorithm.name.lower().replace(" ", "-")
    assert algorithm.reference


def check_published_table_satisfies_models(trial: AlgorithmTrial) -> None:
    """An audit of the published table alone finds that every model holds."""
    for outcome in trial.outcomes():
        assert all(verdict.holds for verdict in outcome.audit().verdicts)
        for model in outcome.request.models:
            if isinstance(model, KAnonymity) and outcome.request.schema.missing is MissingPolicy.OWN_VALUE:
                classes = Counter(_record_signatures(outcome.published, outcome.request.schema.quasi_identifiers))
                assert min(classes.values()) >= model.k


def check_cells_cover_originals(trial: AlgorithmTrial) -> None:
    """Every published cell covers the cell of the record that it represents."""
    for outcome in trial.outcomes():
        given = {"original": outcome.request.table, "correspondence": outcome.correspondence}
        truth = outcome.audit(**given).truth
        assert truth is not None
        assert truth.false_cells == 0


def check_records_can_be_matched(trial: AlgorithmTrial) -> None:
    """Published records can be paired with original records that they cover, without a correspondence."""
    for outcome in trial.outcomes():
        truth = outcome.audit(original=outcome.request.table).truth
        assert truth is not None
        assert truth.unmatched == 0


def check_records_add_up(trial: AlgorithmTrial) -> None:
    """Every record is published once or suppressed, and no more are suppressed than allowed."""
    for outcome in trial.outcomes():
        rows = outcome.request.table.num_rows
        assert len(outcome.publication.group) == rows
        assert len(set(outcome.correspondence.tolist())) == outcome.published.num_rows
        assert outcome.published.num_rows + outcome.suppressed == rows
        assert outcome.suppressed <= outcome.request.max_suppressed_records


def check_groups_are_classes_of_equal_rows(trial: AlgorithmTrial) -> None:
    """Two records are in one group if and only if their published quasi-identifiers, or their buckets, are equal."""
    for outcome in trial.outcomes():
        groups = outcome.publication.group[outcome.correspondence].tolist()
        rows = _record_signatures(outcome.published, outcome.request.schema.quasi_identifiers)
        assert len(set(zip(groups, rows, strict=True))) == len(set(groups)) == len(set(rows))


def check_missing_cells_are_not_filled(trial: AlgorithmTrial) -> None:
    """A missing quasi-identifier is published as missing, in its bucket if it has one, or suppressed."""
    for outcome in trial.outcomes():
        for name in outcome.request.schema.quasi_identifiers:
            before = outcome.request.table[name].take(pa.array(outcome.correspondence)).to_pylist()
            after = outcome.published[name].to_pylist()
            lost = [shown for cell, shown in zip(before, after, strict=True) if cell is None]
            bucket = find_bucket_column(outcome.published.column_names, name)
            if bucket is None:
                assert set(lost) <= {None, SUPPRESSED_TEXT}
                continue
            number = outcome.published[bucket].to_pylist()
            assert Counter(b for b, cell in zip(number, before, strict=True) if cell is None) == Counter(
                b for b, cell in zip(number, after, strict=True) if cell is None
            )


def check_input_is_untouched(trial: AlgorithmTrial) -> None:
    """A search changes neither the coded table that it gets nor the caller's dataframe."""
    assert all(outcome.untouched for outcome in trial.outcomes())
    assert all(handover.untouched for request in trial.requests for handover in trial.release_bundles(request))


def check_infeasible_requests_are_rejected(trial: AlgorithmTrial) -> None:
    """A request that no release can keep is refused, and the refusal says what is possible."""
    request = trial.requests[0]
    rows = request.table.num_rows
    error = _rejection(trial.algorithm, request.table, request.schema, [KAnonymity(k=rows + 1)])
    assert isinstance(error, InfeasibleError)
    assert f"reaches {rows}" in str(error)
    assert f"{rows + 1} is needed" in str(error)


def check_same_recipe_gives_same_bytes(trial: AlgorithmTrial) -> None:
    """The same request with the same seed and secret gives the same bytes."""
    for request in trial.requests:
        assert trial.release(request) == trial.release_again(request, request.table)


def check_row_order_is_ignored(trial: AlgorithmTrial) -> None:
    """The order of the original rows has no effect on what is published."""
    for request in trial.requests:
        order = seeded_generator(TRIAL_SEED).permutation(request.table.num_rows)
        assert trial.release(request) == trial.release_again(request, request.table.take(pa.array(order)))


def check_dataframe_backends_agree(trial: AlgorithmTrial) -> None:
    """The same table as pandas, Polars or Arrow gives the same bytes."""
    for request in trial.requests:
        assert all(handover.cells == trial.release(request) for handover in trial.release_bundles(request))


def check_edge_case_tables(trial: AlgorithmTrial) -> None:
    """One row, equal rows, missing or constant columns, none or many, and odd names are all published correctly."""
    for outcome in trial.odd_outcomes():
        assert outcome.suppressed == 0
        assert outcome.audit(original=outcome.request.table, correspondence=outcome.correspondence).holds


def check_empty_tables_are_rejected(trial: AlgorithmTrial) -> None:
    """A table without rows is refused in a sentence."""
    request = trial.requests[0]
    error = _rejection(trial.algorithm, request.table.slice(0, 0), request.schema, [KAnonymity(k=1)])
    assert isinstance(error, SchemaError)
    assert "no rows" in str(error)


def check_progress_is_monotone(trial: AlgorithmTrial) -> None:
    """Progress is a share of the work that never falls and ends at 1."""
    for outcome in (*trial.outcomes(), *trial.odd_outcomes()):
        told = [done for done, _ in outcome.told]
        assert told == sorted(told)
        assert told[-1:] == [1.0]
        assert told[0] >= 0
        assert all(isinstance(note, str) for _, note in outcome.told)


def check_unsupported_requests_are_rejected(trial: AlgorithmTrial) -> None:
    """Flags of single cells and models that merging may break are supported correctly, or refused in a sentence."""
    for request in unsupported_requests():
        try:
            release = anonymize(request.table, request.schema, request.models, trial.algorithm, seed=TRIAL_SEED)
        except SfumatoError as error:
            refusal = error
        else:
            buckets = {f"{BUCKET_PREFIX}{name}" for name in request.schema.flags}
            assert buckets <= set(release.published.column_names)
            continue
        assert isinstance(refusal, UnsupportedModelError | InfeasibleError)
        assert type(trial.algorithm).__name__ in str(refusal)
        assert str(refusal).endswith(".")


def check_declared_cell_form(trial: AlgorithmTrial) -> None:
    """Cells cover their groups, or centers or buckets are published, as the algorithm declares."""
    shown = set()
    for outcome in trial.outcomes():
        labels = [label for recoded in outcome.publication.recoded.values() for label in recoded.labels]
        shown |= {"centers"} if any(isinstance(label, Center) for label in labels) else set()
        shown |= {"buckets"} if outcome.publication.buckets else set()
    assert (shown or {"covers"}) == {trial.algorithm.publishes}


def check_nothing_is_recoded_where_declared(trial: AlgorithmTrial) -> None:
    """Where nothing is recoded, every published quasi-identifier is the value that its record has, or missing."""
    for outcome in trial.outcomes() if trial.algorithm.recodes == "nothing" else ():
        labels = [label for recoded in outcome.publication.recoded.values() for label in recoded.labels]
        assert all(isinstance(label, Exact | MissingCell) for label in labels)


def check_declared_capabilities(trial: AlgorithmTrial) -> None:
    """What an algorithm says that it serves is served, and what it says that it does not serve is refused."""
    for fact, served, request in capability_requests(trial.algorithm):
        task = trial.task(request)
        refusal = trial.algorithm.check(task)
        assert (refusal is None) is served, f"{fact} says otherwise: {refusal or 'it is served'}"
        if served:
            trial.algorithm.search(task)


def check_weighted_records(trial: AlgorithmTrial) -> None:
    """Equal records that come as one case, in any order, are published as if they came one by one, or are refused."""
    algorithm = trial.algorithm
    for request in (*trial.requests[::3], *trial.odd_requests):  # each is searched twice more
        if not set(algorithm.target_columns) <= set(request.table.column_names):
            continue
        task = duplicate_records(trial.task(request))
        if algorithm.check(task) is not None:
            continue
        counted, case_of = to_weighted_records(task)
        refusal = algorithm.check(counted)
        assert (refusal is None) is algorithm.supports_weights, (
            f"supports_weights says otherwise: {refusal or 'it is served'}"
        )
        if refusal is None:
            before = copy_table(counted.table)
            assert labels_by_record(algorithm, counted, case_of) == labels_by_record(
                algorithm, task, np.arange(task.table.rows)
            )
            assert all(map(np.array_equal, before, copy_table(counted.table)))


def check_blockwise_search(trial: AlgorithmTrial) -> None:
    """A table that is searched in blocks is published as correctly as one that is searched as a whole."""
    if trial.algorithm.supports_weights:
        return
    plain = [each for each in trial.requests if not any(model.sensitive_attributes for model in each.models)]
    sensitive = [each for each in trial.requests if each not in plain]
    blocks = AlgorithmTrial(trial.algorithm, (*plain[::3], *sensitive[::3]), block_rows=ROWS // 4)
    for check in BLOCKWISE_CHECKS:
        check(blocks)


def check_serialization(trial: AlgorithmTrial) -> None:
    """An algorithm equals what its pickle and its parameters restore: strings, numbers, flags, or these by name."""
    algorithm = trial.algorithm
    for copy in (pickle.loads(pickle.dumps(algorithm)), type(algorithm)(**algorithm.parameters())):  # noqa: S301 - made here
        assert copy == algorithm
        assert hash(copy) == hash(algorithm)
    for value in algorithm.parameters().values():
        plain = value if isinstance(value, dict) else {"": value}
        assert all(isinstance(name, str) and isinstance(each, str | int | float) for name, each in plain.items())


ALGORITHM_CHECKS: tuple[Callable[[AlgorithmTrial], None], ...] = (
    check_metadata,
    check_published_table_satisfies_models,
    check_cells_cover_originals,
    check_records_can_be_matched,
    check_records_add_up,
    check_groups_are_classes_of_equal_rows,
    check_missing_cells_are_not_filled,
    check_input_is_untouched,
    check_infeasible_requests_are_rejected,
    check_same_recipe_gives_same_bytes,
    check_row_order_is_ignored,
    check_dataframe_backends_agree,
    check_edge_case_tables,
    check_empty_tables_are_rejected,
    check_progress_is_monotone,
    check_unsupported_requests_are_rejected,
    check_declared_cell_form,
    check_nothing_is_recoded_where_declared,
    check_declared_capabilities,
    check_weighted_records,
    check_blockwise_search,
    check_serialization,
)
BLOCKWISE_CHECKS = (
    check_published_table_satisfies_models,
    check_cells_cover_originals,
    check_records_add_up,
    check_groups_are_classes_of_equal_rows,
    check_missing_cells_are_not_filled,
    check_row_order_is_ignored,
)


def _rejection(algorithm: TableAlgorithm, table: pa.Table, schema: Schema, models: list[KAnonymity]) -> SfumatoError:
    try:
        anonymize(table, schema, models, algorithm, seed=TRIAL_SEED)
    except SfumatoError as error:
        return error
    raise AssertionError("nothing was refused")


def _record_signatures(table: pa.Table, names: Sequence[str]) -> list[tuple[object, ...]]:
    """Return what distinguishes records: their quasi-identifiers, or the buckets that these are in."""
    columns = [table[find_bucket_column(table.column_names, name) or name].to_pylist() for name in names]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
