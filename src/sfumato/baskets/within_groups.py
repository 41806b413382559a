"""Sets inside the groups of a table's release: the table first, then the sets of every group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sfumato.algorithms.base import Algorithm
from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.baskets.item_cut import ItemCut, PlacedBaskets
from sfumato.baskets.item_tree import ItemTree
from sfumato.baskets.km_anonymity import KMAnonymity
from sfumato.baskets.published import PublishedSets
from sfumato.baskets.rows_with_sets import RowsWithSets
from sfumato.baskets.sets_beside_table import Ints, SetsBesideTable, groups_of
from sfumato.baskets.table_promise import TablePromise
from sfumato.baskets.tree_search import TreeSearch, raise_until_kept, recoded_by
from sfumato.catalogue import ALGORITHMS
from sfumato.exceptions import InfeasibleError, InvalidParameterError
from sfumato.kinds.search import KindRequest
from sfumato.randomness import SECRET_BYTES
from sfumato.recipe import choice_of
from sfumato.release.anonymizing import anonymize as anonymize_table
from sfumato.validation import require


@dataclass(frozen=True, kw_only=True, repr=False)
class WithinGroups(TreeSearch):
    """Publish rows with sets: a table algorithm groups the rows, then apriori anonymization generalizes every group.

    Whoever knows the quasi-identifiers of a person and at most m of her items then matches at least k rows. Groups must
    be much larger than k: where fewer than k rows of a group have items, all items of that group are removed.

    Parameters
    ----------
    taxonomy : has every item as a leaf.
    table_algorithm : an algorithm for tables, by default `sf.Mondrian()`.
    """

    name = "within-groups"
    reference = "Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos: Anonymizing data with relational and transaction attributes (2013)"  # noqa: E501 - one title
    serves: ClassVar = (KMAnonymity, TablePromise)
    draws: ClassVar[bool] = True

    table_algorithm: Algorithm = field(default_factory=Mondrian)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.table_algorithm
        algorithm = choice_of(ALGORITHMS, given, "algorithm") if isinstance(given, Mapping) else given
        good = isinstance(algorithm, Algorithm)
        require(good, self, "table_algorithm", "an algorithm for tables", type(algorithm).__name__)
        object.__setattr__(self, "table_algorithm", algorithm)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a recipe holds them."""
        chosen = self.table_algorithm
        return {**super().parameters(), "table_algorithm": {"name": chosen.name, **chosen.parameters()}}

    def find(self, request: KindRequest[PublishedSets]) -> PublishedSets:
        """Release the table, and generalize the sets of each of its groups."""
        rows: object = request.data
        if not isinstance(rows, RowsWithSets):
            raise InvalidParameterError("WithinGroups needs rows with sets; give sf.baskets.RowsWithSets.")
        self.check(request.models)
        promised = [model for model in request.models if isinstance(model, KMAnonymity)]
        models = [model.model for model in request.models if isinstance(model, TablePromise)]
        if not promised or not models:
            raise InvalidParameterError("Promise both: TablePromise of the table and KMAnonymity of the sets.")
        table, source = self._table(rows, models, request.stream.draw(SECRET_BYTES).hex())
        k, m = max(each.k for each in promised), max(each.m for each in promised)
        row_of = np.empty(len(rows), dtype=np.int64)
        row_of[source] = np.arange(len(rows))
        published_row = row_of[rows.rows]
        group = groups_of(table, rows.schema.quasi)[published_row]
        return self._within(rows, table, published_row, group, (k, m))

    def _table(self, rows: RowsWithSets, models: list[Any], secret: str) -> tuple[pa.Table, Ints]:
        """Release the table, and return it with the original row of every row."""
        release = anonymize_table(rows.table, rows.schema, models, self.table_algorithm, secret=secret)
        if len(release.correspondence) != len(rows) or release.published.num_rows != len(rows):
            raise InvalidParameterError(
                f"{type(self.table_algorithm).__name__} does not publish one row for each person; choose another."
            )
        return release.published, np.asarray(release.correspondence, dtype=np.int64)

    def _within(
        self, rows: RowsWithSets, table: pa.Table, published_row: Ints, group: Ints, limits: tuple[int, int]
    ) -> PublishedSets:
        """Generalize the sets of every group that has enough of them."""
        tree = ItemTree.of(self.taxonomy)
        placed, (k, m) = PlacedBaskets(rows.baskets, tree), limits
        order = np.argsort(group, kind="stable")
        parts = [each for each in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(each) >= k]
        if not parts:
            raise InfeasibleError(f"No group of the table has {k:,} rows with items; promise larger groups.")
        cuts = []
        for part in parts:
            cuts.append(ItemCut(placed.part(part)))
            raise_until_kept(cuts[-1], k, m)
        found = recoded_by(cuts, parts, rows.baskets, tree)
        kept = published_row[np.concatenate(parts)]
        by_row = np.argsort(kept)
        return SetsBesideTable(table, rows.schema, found.take(by_row), kept[by_row])
