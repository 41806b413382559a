"""Explore a lattice: find out which full-domain recodings of a table are solutions, and what they lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.algorithms.full_domain.ladder import LevelMap
from sfumato.algorithms.full_domain.lattice import Lattice
from sfumato.algorithms.full_domain.optimal import Optimal
from sfumato.algorithms.full_domain.search import FullDomainSearch
from sfumato.core.progress import Progress, open_progress
from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.models.base import GroupModel
from sfumato.recipe import Recipe
from sfumato.release.solutions import LatticeExploration
from sfumato.release.tasks import build_request
from sfumato.schema.schema import Schema
from sfumato.table.frames import Frame, to_arrow

DECIDED = 20_000  # the most nodes that are all decided


def explore(
    data: Frame,
    schema: Schema,
    models: Sequence[GroupModel],
    algorithm: FullDomainSearch | None = None,
    *,
    max_suppressed: float = 0.0,
    progress: Progress | bool = False,
) -> LatticeExploration:
    """Find the full-domain recodings of a table that keep every model, and what they lose.

    Lattices of at most 20,000 nodes are decided completely; in larger ones, nodes that cannot be best stay unchecked.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not changed.
    schema : the role of every attribute.
    models : what is promised.
    algorithm : a search over full-domain recodings; by default `Optimal()`.
    max_suppressed : the share of records that may be suppressed, in [0, 1].
    progress : True shows a bar; a function is called with the share of the search that is done.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [31, 34, 47, 45], "sex": ["f", "m", "f", "f"]})
    >>> from sfumato.hierarchies import Intervals
    >>> from sfumato.models.k_anonymity import KAnonymity
    >>> schema = Schema(quasi_identifiers=["age", "sex"], hierarchies={"age": Intervals(10)})
    >>> solutions = explore(table, schema, [KAnonymity(k=2)])
    >>> solutions.counts(), solutions.best.levels
    ({'not anonymous': 4, 'anonymous': 2, 'bounded': 0}, {'age': 1, 'sex': 1})
    """
    search = _search_for_exploration(algorithm)
    recipe = Recipe(
        schema=schema,
        models=models,  # type: ignore[arg-type]  # checked there, and made a tuple
        algorithm=search,
        max_suppressed=max_suppressed,
    )
    table, kind = to_arrow(data)
    recipe = replace(recipe, schema=schema.with_orders(kind.category_orders))
    if not schema.quasi_identifiers:
        raise SchemaError("The schema has no quasi-identifier, so there is no lattice; give at least one.")
    schema.check_columns(table.column_names)
    with open_progress(progress, "Exploring") as tell:
        task = build_request(recipe, table, tell)
        size = Lattice(tuple(LevelMap.of(column.domain) for column in task.table.quasi)).size
        explored = search.explore(task, complete=size <= DECIDED).exploration
    return LatticeExploration(explored=explored, recipe=recipe, rows=table.num_rows, data=data, kind=kind)


def _search_for_exploration(algorithm: object) -> FullDomainSearch:
    search = Optimal() if algorithm is None else algorithm
    if not isinstance(search, FullDomainSearch):
        raise InvalidParameterError(
            f"explore needs a search over full-domain recodings, such as Optimal(); got {type(search).__name__}."
        )
    if search.refine:
        raise InvalidParameterError("explore judges one recoding at a time and refines none; use refine=False.")
    return search
