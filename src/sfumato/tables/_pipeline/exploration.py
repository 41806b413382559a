"""Solutions: the nodes of an explored lattice as data, to filter, rank, draw and publish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from html import escape
from math import inf
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._locale.messages import load_messages
from sfumato._progress import Progress, open_progress
from sfumato._validation import is_finite_number, is_integer, require, suggest_closest
from sfumato.core._atomic_writes import atomic_path
from sfumato.core.recipe import Recipe
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import DataFrameBackend, Frame, SameBackend, to_arrow
from sfumato.schema.schema import Schema
from sfumato.tables._pipeline.anonymize import anonymize
from sfumato.tables._pipeline.release import Release
from sfumato.tables._pipeline.request import build_request
from sfumato.tables.algorithms.full_domain._lattice import Exploration, Lattice, LevelMap, NodeStatus
from sfumato.tables.algorithms.full_domain._lattice_search import FullDomainSearch
from sfumato.tables.algorithms.full_domain.fixed_levels import FixedLevels
from sfumato.tables.algorithms.full_domain.optimal import Optimal
from sfumato.tables.models.base import GroupModel

if TYPE_CHECKING:
    from sfumato.report.charts.scatter import ScatterLabels


StatusText: TypeAlias = Literal["anonymous", "not anonymous", "bounded"]
STATUS_TEXTS: Mapping[NodeStatus, StatusText] = {
    NodeStatus.NOT_ANONYMOUS: "not anonymous",
    NodeStatus.ANONYMOUS: "anonymous",
    NodeStatus.BOUNDED: "bounded",
}


@dataclass(frozen=True, kw_only=True)
class LatticeNode:
    """One full-domain recoding: a level for every quasi-identifier, and what is known about it.

    Parameters
    ----------
    levels : the level of every quasi-identifier; 0 publishes its values.
    status : `"anonymous"` if it is a solution, `"not anonymous"` if not, `"bounded"` if it was not checked
        because it cannot lose less than the best.
    loss : what it loses, if it was judged.
    bound : a lower bound for its loss.
    suppressed : the number of records it suppresses, if it was judged.
    """

    levels: Mapping[str, int] = field(hash=False)
    status: StatusText
    loss: float | None
    bound: float
    suppressed: int | None

    @property
    def height(self) -> int:
        """The sum of the levels."""
        return sum(self.levels.values())


@dataclass(frozen=True, eq=False, repr=False)
class LatticeExploration:
    """Nodes of a lattice of full-domain recodings, and what a search found out about each.

    `explored` holds the nodes as arrays, `recipe` the request, `rows` the number of records.
    """

    explored: Exploration
    recipe: Recipe
    rows: int
    data: Frame
    kind: DataFrameBackend

    def __len__(self) -> int:
        return len(self.explored)

    @property
    def best(self) -> LatticeNode | None:
        """The solution with the smallest known loss; None if there is none."""
        return None if self.explored.best is None else self._node(self.explored.best)

    @property
    def minimal(self) -> list[LatticeNode]:
        """The minimal solutions, below which there is no other solution, by increasing loss."""
        nodes = [self._node(row) for row in np.flatnonzero(self.explored.is_minimal).tolist()]
        return sorted(nodes, key=lambda node: (node.bound if node.loss is None else node.loss, *node.levels.values()))

    @property
    def proven(self) -> bool:
        """Whether no solution in the whole lattice loses less than the best one found."""
        return self.explored.proof.found < inf and self.explored.proof.optimal

    def counts(self) -> dict[str, int]:
        """Count the nodes by their status."""
        status = self.explored.status
        return {text: int(np.count_nonzero(status == number)) for number, text in STATUS_TEXTS.items()}

    def ranked(self, most: int | None = None) -> list[LatticeNode]:
        """Return the solutions that were judged, by increasing loss, then by what they suppress and their levels.

        Parameters
        ----------
        most : how many to return; by default all.
        """
        explored = self.explored
        judged = np.flatnonzero((explored.status == NodeStatus.ANONYMOUS) & ~np.isnan(explored.loss))
        order = np.lexsort((*explored.levels[judged].T[::-1], explored.suppressed[judged], explored.loss[judged]))
        first = judged == -1 if explored.best is None else judged[order] != explored.best
        order = order[
            np.argsort(first, kind="stable")
        ]  # of several with the smallest loss, the one that is called best
        return [self._node(row) for row in judged[order][:most].tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain values: counts, the best node, the minimal ones, and what is proven."""
        proof, best = self.explored.proof, self.best
        return {
            "nodes": proof.candidates,
            "checked": proof.checked,
            "status": self.counts(),
            "objective": proof.objective,
            "proven": self.proven,
            "bound": None if best is None else proof.bound,
            "best": None if best is None else asdict(best),
            "minimal": [asdict(node) for node in self.minimal],
        }

    def table(self) -> pa.Table:
        """Return all nodes: the level of every quasi-identifier, status, loss, bound, suppressed records, height."""
        explored = self.explored
        lost, judged = np.isnan(explored.loss), explored.suppressed >= 0
        facts = {
            "status": pa.array([STATUS_TEXTS[status] for status in NodeStatus]).take(pa.array(explored.status)),
            "loss": pa.array(explored.loss, mask=lost),
            "bound": pa.array(explored.bound),
            "suppressed": pa.array(explored.suppressed, mask=~judged),
            "height": pa.array(self._heights),
        }
        levels = {name: pa.array(explored.levels[:, j].astype(np.int64)) for j, name in enumerate(explored.names)}
        return pa.table(levels | {_unused_name(fact, explored.names): column for fact, column in facts.items()})

    @cached_property
    def frame(self) -> SameBackend:
        """The nodes as a table of the caller's dataframe kind; see `table`."""
        return DataFrameBackend(name=self.kind.name).restore(self.table())

    def filter(
        self,
        *,
        status: StatusText | None = None,
        max_loss: float | None = None,
        max_suppressed: float | None = None,
        levels: Mapping[str, int] | None = None,
        max_levels: Mapping[str, int] | None = None,
    ) -> LatticeExploration:
        """Keep some of the nodes.

        Parameters
        ----------
        status : `"anonymous"`, `"not anonymous"` or `"bounded"`.
        max_loss : the largest loss of a node; nodes with an unknown loss are dropped.
        max_suppressed : the share of records that a node may suppress; nodes that were not judged are dropped.
        levels : exact levels of some quasi-identifiers.
        max_levels : the highest levels that some quasi-identifiers may have.
        """
        explored, kept = self.explored, np.ones(len(self), dtype=np.bool_)
        if status is not None:
            numbers = {text: number for number, text in STATUS_TEXTS.items()}
            require(status in numbers, "filter", "status", f"one of {', '.join(numbers)}", status)
            kept &= explored.status == numbers[status]
        if max_loss is not None:
            require(is_finite_number(max_loss), "filter", "max_loss", "a number", max_loss)
            kept &= explored.loss <= max_loss
        if max_suppressed is not None:
            share = is_finite_number(max_suppressed) and 0 <= max_suppressed <= 1
            require(share, "filter", "max_suppressed", "a share in [0, 1]", max_suppressed)
            most = int(Fraction(str(max_suppressed)) * self.rows)
            kept &= (explored.suppressed >= 0) & (explored.suppressed <= most)
        for name, level in self._checked(levels or {}).items():
            kept &= explored.levels[:, explored.names.index(name)] == level
        for name, level in self._checked(max_levels or {}).items():
            kept &= explored.levels[:, explored.names.index(name)] <= level
        return replace(self, explored=_subset(explored, np.flatnonzero(kept)))

    def release(self, node: LatticeNode | Mapping[str, int], *, progress: Progress | bool = False) -> Release:
        """Publish the table with any node, under the models and the suppression limit that were explored.

        Parameters
        ----------
        node : a node, such as `best`, or the level of every quasi-identifier.
        progress : True shows a bar; a function is called with the share of the work that is done.

        Raises
        ------
        InfeasibleError
            If the node is not a solution.
        """
        return anonymize(
            self.data,
            self.recipe.schema,
            self.recipe.models,
            FixedLevels(levels=self._levels("release", node)),
            max_suppressed=self.recipe.max_suppressed,
            seed=self.recipe.seed,
            progress=progress,
        )

    def scatter(self, marked: Mapping[str, LatticeNode | Mapping[str, int]], said: ScatterLabels) -> str:
        """Draw the solutions that were judged as a picture (SVG): their loss and the records that they suppress.

        Parameters
        ----------
        marked : nodes that carry a letter, by letter, such as `{"A": solutions.best}`.
        said : the words of the picture.
        """
        from sfumato.report.charts.scatter import draw_solution_scatter

        nodes = self.ranked()
        place = {tuple(node.levels.values()): at for at, node in enumerate(nodes)}
        marks = {}
        for letter, node in marked.items():
            levels = tuple(self._levels("scatter", node).values())
            if levels not in place:
                raise InvalidParameterError("scatter: a marked node was not judged or is filtered out; mark another.")
            marks[letter] = place[levels]
        return draw_solution_scatter([asdict(node) for node in nodes], self.rows, marked=marks, said=said)

    def draw(self, path: str | PathLike[str] | None = None, *, language: str = "en") -> str:
        """Draw the nodes as a picture (SVG): a few as a diagram with its frontier, many as loss over height.

        Parameters
        ----------
        path : a file to write the picture to, if any; an existing file is replaced.
        language : of the words in the picture, `"en"` or `"zh"`.
        """
        from sfumato.report.charts.lattice import draw_lattice

        drawn = draw_lattice(self.explored, self.explored.is_minimal, load_messages(language))
        if path is not None:
            with atomic_path(Path(path)) as temporary:
                temporary.write_text(drawn, encoding="utf-8", newline="\n")
        return drawn

    def __repr__(self) -> str:
        return "\n".join(self._sentences())

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._sentences())
        return f"{told}{self.draw()}"

    @cached_property
    def _heights(self) -> npt.NDArray[np.int64]:
        return np.asarray(self.explored.levels.sum(axis=1, dtype=np.int64))

    def _node(self, row: int) -> LatticeNode:
        explored = self.explored
        loss, suppressed = float(explored.loss[row]), int(explored.suppressed[row])
        return LatticeNode(
            levels=dict(zip(explored.names, explored.node(row), strict=True)),
            status=STATUS_TEXTS[NodeStatus(int(explored.status[row]))],
            loss=None if np.isnan(loss) else loss,
            bound=float(explored.bound[row]),
            suppressed=None if suppressed < 0 else suppressed,
        )

    def _levels(self, owner: str, node: object) -> dict[str, int]:
        """Return the level of every quasi-identifier; `owner` is who asks."""
        levels = node.levels if isinstance(node, LatticeNode) else node
        require(isinstance(levels, Mapping), owner, "node", "a node, or a mapping from names to levels", node)
        levels = self._checked(cast("Mapping[str, int]", levels))
        lacking = [name for name in self.explored.names if name not in levels]
        if lacking:
            raise InvalidParameterError(f"{owner}: give the level of {', '.join(map(repr, lacking))} as well.")
        return {name: levels[name] for name in self.explored.names}

    def _checked(self, levels: Mapping[str, int]) -> Mapping[str, int]:
        """Refuse levels of unknown attributes, and levels that an attribute does not have."""
        explored = self.explored
        for name, level in levels.items():
            if name not in explored.names:
                hint = suggest_closest(str(name), explored.names) or f"; choose one of {', '.join(explored.names)}."
                raise InvalidParameterError(f"levels name {name!r}, which is not a quasi-identifier{hint}")
            top = explored.heights[explored.names.index(name)]
            good = is_integer(level) and 0 <= level <= top
            require(good, "levels", name, f"a whole number from 0 to {top}", level)
        return levels

    def _sentences(self) -> list[str]:
        proof, best = self.explored.proof, self.best
        whole = "" if len(self) == proof.candidates else f" of {proof.candidates:,}"
        counted = ", ".join(f"{number:,} {text}" for text, number in self.counts().items() if number)
        lines = [f"Solutions: {len(self):,}{whole} nodes{': ' if counted else ''}{counted}"]
        if best is None:
            unjudged = self.counts()["anonymous"]
            return [
                *lines,
                f"best: the loss of {unjudged:,} solutions is not known" if unjudged else "best: no solution",
            ]
        levels = ", ".join(f"{name}={level}" for name, level in best.levels.items())
        lines.append(f"best: {levels}; {proof.objective} {best.loss:.6g}, {best.suppressed:,} records suppressed")
        return [*lines, str(proof)]


def _subset(explored: Exploration, rows: npt.NDArray[np.intp]) -> Exploration:
    """Keep some nodes, and find the best of them; among equals, that of the whole lattice."""
    loss, status = explored.loss[rows], explored.status[rows]
    judged = np.flatnonzero((status == NodeStatus.ANONYMOUS) & ~np.isnan(loss))
    order = np.lexsort((rows[judged] != explored.best, loss[judged]))
    return replace(
        explored,
        levels=explored.levels[rows],
        status=status,
        loss=loss,
        bound=explored.bound[rows],
        suppressed=explored.suppressed[rows],
        best=int(judged[order[0]]) if len(judged) else None,
    )


def _unused_name(fact: str, names: Sequence[str]) -> str:
    """Return a column name that no quasi-identifier has.

    >>> _unused_name("loss", ["age"]), _unused_name("loss", ["loss"])
    ('loss', 'loss_of_node')
    """
    while fact in names:
        fact += "_of_node"
    return fact


# Explore a lattice: find out which full-domain recodings of a table are solutions, and what they lose.

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
    >>> from sfumato.tables.models.k_anonymity import KAnonymity
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
