"""Sets inside the groups of a table's release: the table first, then the sets of every group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sfumato._randomness import SECRET_BYTES
from sfumato._validation import require
from sfumato.core.algorithm import Request
from sfumato.core.recipe import instantiate_choice
from sfumato.errors import InfeasibleError, InvalidParameterError
from sfumato.tables._catalogue import ALGORITHMS
from sfumato.tables._pipeline.anonymize import anonymize as anonymize_table
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.transactions._published import PublishedTransactions
from sfumato.transactions.algorithms._generalization import (
    LeafOrderedTransactions,
    TaxonomyCut,
    TaxonomyGeneralization,
    generalize_until_anonymous,
    recode_by_cuts,
)
from sfumato.transactions.models.km_anonymity import KmAnonymity
from sfumato.transactions.models.on_clusters import OnClusters
from sfumato.transactions.table_with_transactions import (
    Ints,
    PublishedTableWithTransactions,
    TableWithTransactions,
    equivalence_class_labels,
)
from sfumato.transactions.taxonomy import ItemTaxonomy


@dataclass(frozen=True, kw_only=True, repr=False)
class AprioriOnClusters(TaxonomyGeneralization):
    """Publish rows with sets: a table algorithm groups the rows, then apriori anonymization generalizes every group.

    Whoever knows the quasi-identifiers of a person and at most m of her items then matches at least k rows. Groups must
    be much larger than k: where fewer than k rows of a group have items, all items of that group are removed.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    table_algorithm : an algorithm for tables, by default `sf.algorithms.Mondrian()`.
    """

    name = "within-groups"
    reference = "Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos: Anonymizing data with relational and transaction attributes (2013)"  # noqa: E501 - one title
    supports: ClassVar = (KmAnonymity, OnClusters)
    uses_secret: ClassVar[bool] = True

    table_algorithm: TableAlgorithm = field(default_factory=Mondrian)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.table_algorithm
        algorithm = instantiate_choice(ALGORITHMS, given, "algorithm") if isinstance(given, Mapping) else given
        good = isinstance(algorithm, TableAlgorithm)
        require(good, self, "table_algorithm", "an algorithm for tables", type(algorithm).__name__)
        object.__setattr__(self, "table_algorithm", algorithm)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a recipe holds them."""
        chosen = self.table_algorithm
        return {**super().parameters(), "table_algorithm": {"name": chosen.name, **chosen.parameters()}}

    def search(self, request: Request[PublishedTransactions]) -> PublishedTransactions:
        """Release the table, and generalize the sets of each of its groups."""
        rows: object = request.data
        if not isinstance(rows, TableWithTransactions):
            raise InvalidParameterError(
                "AprioriOnClusters needs rows with sets; give sf.transactions.TableWithTransactions."
            )
        self.check(request.models)
        promised = [model for model in request.models if isinstance(model, KmAnonymity)]
        models = [model.model for model in request.models if isinstance(model, OnClusters)]
        if not promised or not models:
            raise InvalidParameterError("Promise both: OnClusters of the table and KmAnonymity of the sets.")
        table, source = self._anonymize_table(rows, models, request.stream.random_bytes(SECRET_BYTES).hex())
        k, m = max(each.k for each in promised), max(each.m for each in promised)
        row_of = np.empty(len(rows), dtype=np.int64)
        row_of[source] = np.arange(len(rows))
        published_row = row_of[rows.rows]
        group = equivalence_class_labels(table, rows.schema.quasi_identifiers)[published_row]
        return self._anonymize_classes(rows, table, published_row, group, (k, m))

    def _anonymize_table(self, rows: TableWithTransactions, models: list[Any], secret: str) -> tuple[pa.Table, Ints]:
        """Release the table, and return it with the original row of every row."""
        release = anonymize_table(rows.table, rows.schema, models, self.table_algorithm, secret=secret)
        if len(release.correspondence) != len(rows) or release.published.num_rows != len(rows):
            raise InvalidParameterError(
                f"{type(self.table_algorithm).__name__} does not publish one row for each person; choose another."
            )
        return release.published, np.asarray(release.correspondence, dtype=np.int64)

    def _anonymize_classes(
        self, rows: TableWithTransactions, table: pa.Table, published_row: Ints, group: Ints, limits: tuple[int, int]
    ) -> PublishedTransactions:
        """Generalize the sets of every group that has enough of them."""
        tree = ItemTaxonomy.from_taxonomy(self.taxonomy)
        placed, (k, m) = LeafOrderedTransactions(rows.transactions, tree), limits
        order = np.argsort(group, kind="stable")
        parts = [each for each in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(each) >= k]
        if not parts:
            raise InfeasibleError(f"No group of the table has {k:,} rows with items; promise larger groups.")
        cuts = []
        for part in parts:
            cuts.append(TaxonomyCut(placed.take(part)))
            generalize_until_anonymous(cuts[-1], k, m)
        found = recode_by_cuts(cuts, parts, rows.transactions, tree)
        kept = published_row[np.concatenate(parts)]
        by_row = np.argsort(kept)
        return PublishedTableWithTransactions(table, rows.schema, found.take(by_row), kept[by_row])
