"""Releases of sets, graphs and trajectories: every model and search of the conformance suites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from conformance.test_baskets import SEARCHES as OF_SETS
from conformance.test_networks import SEARCHES as OF_GRAPHS
from conformance.test_ways import KEPT as OF_TRAJECTORIES
from frozen.scenario import SECRET, Scenario
from sfumato.datasets.retail import generate_transactions
from sfumato.testing import graphs, trajectories, transactions

OF_ROWS = sf.transactions.OnClusters(model=sf.models.KAnonymity(k=20))
FEW_CELLS = sf.transactions.LKCPrivacy(L=2, K=3, C=0.8, sensitive="ill")


def released(
    folder: Path, anonymize: Callable[..., Any], data: Any, models: Sequence[Any], search: Any, **how: str
) -> None:
    """Write a release of data that are not a table."""
    anonymize(data, models=models, algorithm=search, secret=SECRET).write(folder, **how)


def rows_with_sets(folder: Path) -> None:
    """Write a table whose rows have sets of items."""
    lists, tree = generate_transactions(200, items=25, mean_length=3, seed=4)
    at = np.arange(200)
    table = pa.table(
        {"age": at * 7 % 80, "sex": [("f", "m")[each % 2] for each in at.tolist()], "ills": lists.to_lists()}
    )
    rows = sf.transactions.TableWithTransactions(table, sf.Schema(quasi_identifiers=["age", "sex"]), item="ills")
    models = [OF_ROWS, sf.transactions.KmAnonymity(k=3, m=2)]
    released(folder, sf.transactions.anonymize, rows, models, sf.transactions.AprioriOnClusters(taxonomy=tree))


def rows_of_many_columns(folder: Path) -> None:
    """Write rows of which an adversary knows few cells."""
    at = np.arange(120)
    columns = {
        name: [f"{name}{each}" for each in (at * step % 4).tolist()] for name, step in (("a", 1), ("b", 3), ("c", 5))
    }
    rows = sf.transactions.transactions_from_rows(
        pa.table({**columns, "ill": [("flu", "pox", "ulcer")[each % 3] for each in at.tolist()]}), sensitive=["ill"]
    )
    released(folder, sf.transactions.anonymize, rows, [FEW_CELLS], sf.transactions.GreedySuppression())


def scenarios() -> Iterator[Scenario]:
    """Yield every release."""
    kinds = (
        ("sets", sf.transactions.anonymize, transactions.draw_transactions(0), OF_SETS),
        ("graph", sf.graphs.anonymize, graphs.draw_graph(0), OF_GRAPHS),
        (
            "trajectories",
            sf.trajectories.anonymize,
            trajectories.draw_trajectories(1),
            [(each, [model]) for model, each in OF_TRAJECTORIES],
        ),
    )
    for kind, anonymize, data, cases in kinds:
        for number, (search, models) in enumerate(cases):
            how = {"table_format": "parquet"} if number == 1 else {}
            task = partial(released, anonymize=anonymize, data=data, models=models, search=search, **how)
            yield Scenario(f"{kind}-{number}-{search.name}", task, (search, *models), kind)
    yield Scenario("sets-beside-a-table", rows_with_sets, (OF_ROWS, sf.transactions.AprioriOnClusters), "sets")
    yield Scenario("sets-lkc-privacy", rows_of_many_columns, (FEW_CELLS,), "sets")
