"""The auditor: answers exactly, unless the answer together with earlier ones would reveal somebody's value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import is_finite_number, require
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.io._values import compute_table_digest
from sfumato.queries._interval_auditing import (
    EVEN,
    AnsweredClassSums,
    IntervalTolerance,
    class_sizes,
    maximum_narrows_interval,
    sum_narrows_interval,
)
from sfumato.queries._sum_auditing import SumAuditor, SumDisclosure
from sfumato.queries.query import Query, RowColumn, check_column_exists, matching_rows, natural_column
from sfumato.queries.query_history import Integers, QueryHistory, RecordedQuery, RowPartition, Truths

# What maxima reveal: whose value can be an answered maximum. Minima are maxima of the opposite order.
#
# Values are known by rank; the ranks in use are those of answers. Values may be equal, and have no known bound.
# The extreme rows of an answered maximum are those that no lower answer rules out; if there is only one, it is
# determined.
#
# Consider another maximum, over Q. Its answer `a` is unknown, so all answers that agree with the past count. An
# earlier maximum m > a loses its extreme rows inside Q. Answers below the largest m whose extreme rows all lie in Q are
# impossible. So Q discloses for some possible answer if and only if
#
# - an earlier maximum above that has exactly one extreme row outside Q, or
# - the largest upper bound of rows of Q belongs to a single row (no bound counts as the largest of all).

UNBOUNDED = np.iinfo(np.int64).max
INITIAL_CAPACITY = 64


class MaximumAuditor:
    """The answered maxima of a column."""

    def __init__(self, rows: int) -> None:
        self.partition = RowPartition(rows)
        self.upper = np.array([UNBOUNDED], dtype=np.int64)
        self._answers = np.zeros(0, dtype=np.int64)
        self._extreme = np.zeros((INITIAL_CAPACITY, INITIAL_CAPACITY), dtype=np.bool_)

    @property
    def _extremes(self) -> Truths:
        return self._extreme[: len(self._answers), : len(self.upper)]

    def upper_bounds(self, rows: Truths) -> Integers:
        """Return the rank above which no value of these rows lies, or UNBOUNDED."""
        return self.upper[self.partition.classes[rows]]

    def discloses(self, rows: Truths) -> bool:
        """Return whether any answer that agrees with the past would determine a value."""
        cover = self.partition.cover(rows)
        outside = self._extremes @ (cover.sizes - cover.inside)
        possible = self._answers[outside == 0].max(initial=-1)
        if (self._answers[outside == 1] > possible).any():
            return True
        touched = cover.inside > 0
        top = self.upper[touched].max()
        return int(cover.inside[touched & (self.upper == top)].sum()) == 1

    def accept(self, rows: Truths, answer: int) -> None:
        """Record an answered maximum, by rank."""
        cover = self.partition.cover(rows)
        old, width = len(self.upper), len(self.upper) + len(cover.split)
        self._grow(len(self._answers) + 1, width)
        self._extreme[:, old:width] = self._extreme[:, cover.split]
        self.upper = np.append(self.upper, self.upper[cover.split])
        self.partition.split(cover)
        members = cover.members
        above = np.flatnonzero(self._answers > answer)
        self._extreme[np.ix_(above, np.flatnonzero(members))] = False
        self.upper[members] = np.minimum(self.upper[members], answer)
        now = members & (self.upper == answer)
        same = np.flatnonzero(self._answers == answer)
        if not (self._extremes[same] == now).all(axis=1).any():
            self._extreme[len(self._answers), :width] = now
            self._answers = np.append(self._answers, answer)

    def _grow(self, rows: int, columns: int) -> None:
        have = self._extreme.shape
        if rows <= have[0] and columns <= have[1]:
            return
        larger = np.zeros((max(have[0], 2 * rows), max(have[1], 2 * columns)), dtype=np.bool_)
        larger[: have[0], : have[1]] = self._extreme
        self._extreme = larger


Aggregate: TypeAlias = Literal["count", "sum", "avg", "max", "min"]
AGGREGATES = get_args(Aggregate)
FAMILIES = {"sum": 1, "avg": 1, "max": 2, "min": 3}
PAIR = 2
MIN_VALUES = 3
MAX_SKEW = 0.3  # averages of evenly spread values lie between this share and the rest, but for tiny tables
DISCLOSES = "Together with earlier answers, this one could reveal somebody's value."
NARROWS = "Together with earlier answers, this one could reveal somebody's value too closely."
MIXES = "Another kind of question was asked about some of these rows; sums, maxima and minima must not share rows."


@dataclass(frozen=True, kw_only=True)
class ExactAnswer:
    """An exact answer."""

    question: str
    value: float

    @property
    def denied(self) -> bool:
        """No."""
        return False


@dataclass(frozen=True, kw_only=True)
class DeniedAnswer:
    """A question that is not answered. Whether and why follows only from earlier questions and answers."""

    question: str
    reason: str

    @property
    def denied(self) -> bool:
        """Yes."""
        return True


class QueryAuditor:
    """Answer sums, counts, averages, maxima and minima of one column exactly, as long as they disclose nothing.

    Before each answer the auditor decides by earlier questions and answers, never by the answer itself, so that a
    denial reveals nothing either. The history is one file for everyone who asks, so that people who share answers learn
    no more than one of them may.

    The assumptions: everybody may know who is in which row, who has a value, and the `public` columns (so counts are
    always answered); values of the column are numbers without known bounds or with the stated ones. A column with few
    possible values is not safe here; use `PrivateTable`.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; one row per person.
    column : the protected column of numbers. Rows without a value are left out.
    path : the history file, created if it does not exist. Deleting it forgets what was answered.
    public : the columns that conditions may use.
    tolerance : also deny answers that leave somebody's value in an interval narrower than this; needs `bounds`.
    bounds : the lowest and the highest value that anyone can have, as everybody knows.
    risk : with a tolerance, the accepted probability that an answer narrows an interval too much.
    skew : with a tolerance, how near to a bound the average of people's values may lie, as a share of the distance of
        the bounds; 0.5 supposes that values are evenly spread. The smaller, the more is denied. Values that lean more
        are refused: state narrower bounds, or a smaller share.
    """

    def __init__(
        self,
        data: Frame,
        column: str,
        path: str | Path,
        *,
        public: Sequence[str],
        tolerance: float | None = None,
        bounds: tuple[float, float] | None = None,
        risk: float = 0.01,
        skew: float = 0.1,
    ) -> None:
        table, _ = to_arrow(data)
        check_column_exists(column, table)
        listed = not isinstance(public, str) and column not in public
        require(listed, self, "public", "a list of columns, without the protected one", public)
        self.column = column
        self.tolerance = _make_tolerance(tolerance, bounds, risk, skew)
        marked = compute_table_digest(table)
        table = table.filter(pa.compute.is_valid(table[column]))
        self._values = _protected_values(table[column], column, self.tolerance)
        self._ranks: npt.NDArray[np.int64]
        self._distinct, self._ranks = np.unique(self._values, return_inverse=True)
        self._public: dict[str, RowColumn] = {}
        for name in public:
            check_column_exists(name, table)
            self._public[name] = natural_column(name, table[name])
        rows = len(self._values)
        rule = "exact disclosure" if self.tolerance is None else repr(self.tolerance)
        self._history = QueryHistory.open(Path(path), rows, {"table": marked, "column": column, "rule": rule})
        self._lock = Lock()
        self._seen = 0
        self._family = np.zeros(rows, dtype=np.int8)
        self._sums = SumAuditor(rows)
        self._totals: list[float] = []
        self._maxima = {"max": MaximumAuditor(rows), "min": MaximumAuditor(rows)}

    def __repr__(self) -> str:
        return f"QueryAuditor({self.column!r}, {len(self._values)} rows)"

    @property
    def history(self) -> tuple[RecordedQuery, ...]:
        """All questions, answered and denied, of everyone."""
        return self._history.all()

    def ask(
        self, kind: Aggregate, where: Mapping[str, object] | None = None, *, user: str = ""
    ) -> ExactAnswer | DeniedAnswer:
        """Ask one question, in turn with everyone else who asks.

        Parameters
        ----------
        kind : `"count"`, `"sum"`, `"avg"`, `"max"` or `"min"` of the protected column.
        where : conditions on public columns, as in `Query`.
        user : who asks, for the history.
        """
        require(kind in AGGREGATES, self, "kind", f"one of {', '.join(AGGREGATES)}", kind)
        query = Query(where=where or {})
        for name in query.conditions:
            if name not in self._public:
                raise SchemaError(f"Conditions may use {', '.join(self._public) or 'no column'}, not {name!r}.")
        rows = matching_rows(query.conditions, self._public, len(self._values))
        question = f"{kind} of {self.column}{repr(query).removeprefix('Query(count').removesuffix(')')}"
        if kind == "count":
            with self._history.lock() as store:
                QueryHistory.add(store, RecordedQuery(user, kind, question, denied=False), rows)
            return ExactAnswer(question=question, value=int(rows.sum()))
        if not rows.any():
            raise InvalidParameterError("No row satisfies the conditions; ask about others.")
        with self._lock:
            return self._decide_and_answer(kind, rows, question, user)

    def _decide_and_answer(self, kind: str, rows: Truths, question: str, user: str) -> ExactAnswer | DeniedAnswer:
        """Catch up with the history, decide, record the question, and only then answer."""
        with self._history.lock() as store:
            for entry in self._history.answers_since(store, self._seen):
                self._record(entry.kind, entry.rows)
                self._seen = entry.number
            reason, disclosure = self._check_disclosure(kind, rows)
            entered = QueryHistory.add(store, RecordedQuery(user, kind, question, denied=bool(reason)), rows)
        if reason:
            return DeniedAnswer(question=question, reason=reason)
        self._record(kind, rows, disclosure)
        self._seen = entered
        return ExactAnswer(question=question, value=self._answer(kind, rows))

    def _check_disclosure(self, kind: str, rows: Truths) -> tuple[str, SumDisclosure | None]:
        """Return why a question must be denied, or nothing, without looking at any value of these rows."""
        if not np.isin(self._family[rows], (0, FAMILIES[kind])).all():
            return MIXES, None
        if FAMILIES[kind] == FAMILIES["sum"]:
            disclosure = self._sums.check(rows)
            if disclosure.discloses:
                return DISCLOSES, None
            wide = self.tolerance is None or disclosure.known or not self._sum_narrows(disclosure, self.tolerance)
            return "" if wide else NARROWS, disclosure
        if self._maxima[kind].discloses(rows):
            return DISCLOSES, None
        wide = self.tolerance is None or not maximum_narrows_interval(
            self._slack(kind, rows, self.tolerance), self.tolerance
        )
        return "" if wide else NARROWS, None

    def _sum_narrows(self, disclosure: SumDisclosure, tolerance: IntervalTolerance) -> bool:
        cover, asked = disclosure.cover, self._sums.independent_sums.astype(np.float64)
        past = AnsweredClassSums(
            asked=np.concatenate([asked, asked[:, cover.split]], axis=1),
            sums=np.array(self._totals),
            sizes=class_sizes(cover.sizes_after),
        )
        return sum_narrows_interval(past, cover.members.astype(np.float64), tolerance)

    def _slack(self, kind: str, rows: Truths, tolerance: IntervalTolerance) -> npt.NDArray[np.float64]:
        """Return how far values may lie from the bound that maxima (or minima) push them to, as far as is known."""
        upper = self._maxima[kind].upper_bounds(rows)
        known = upper < UNBOUNDED
        room = np.full(len(upper), tolerance.high - tolerance.low)
        if kind == "max":
            room[known] = self._distinct[upper[known]] - tolerance.low
        else:
            room[known] = tolerance.high - self._distinct[len(self._distinct) - 1 - upper[known]]
        return room

    def _record(self, kind: str, rows: Truths, disclosure: SumDisclosure | None = None) -> None:
        """Take an answered question into account."""
        self._family[rows] = FAMILIES[kind]
        if FAMILIES[kind] == FAMILIES["sum"]:
            found = disclosure or self._sums.check(rows)
            if not found.known:
                self._totals.append(float(self._answer("sum", rows)))
            self._sums.accept(found)
            return
        ranks = self._ranks[rows]
        best = int(ranks.max()) if kind == "max" else len(self._distinct) - 1 - int(ranks.min())
        self._maxima[kind].accept(rows, best)

    def _answer(self, kind: str, rows: Truths) -> float:
        chosen = self._values[rows]
        if kind in {"max", "min"}:
            extreme = chosen.max() if kind == "max" else chosen.min()
            return extreme.item()  # type: ignore[no-any-return]  # a number of Python's
        total = sum(chosen.tolist()) if chosen.dtype == np.int64 else fsum(chosen.tolist())
        return total if kind == "sum" else total / len(chosen)


def _protected_values(column: pa.ChunkedArray, name: str, tolerance: IntervalTolerance | None) -> npt.NDArray[Any]:
    """Return the values of the protected column; refuse one that an auditor cannot protect."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise SchemaError(f"Column {name!r} does not contain numbers; a QueryAuditor protects numbers.")
    values = np.asarray(column.to_numpy())
    if len(np.unique(values)) < MIN_VALUES:
        raise SchemaError(
            f"Column {name!r} has fewer than {MIN_VALUES} different values, which exact answers would soon reveal; "
            "use PrivateTable."
        )
    if tolerance is not None:
        outside = int(((values < tolerance.low) | (values > tolerance.high)).sum())
        if outside:
            raise SchemaError(f"{outside} values of column {name!r} lie outside the stated bounds.")
        share = (float(np.mean(values)) - tolerance.low) / (tolerance.high - tolerance.low)
        if min(share, 1 - share) < min(tolerance.skew, MAX_SKEW):
            raise SchemaError(
                f"The values of column {name!r} lean more to one bound than skew={tolerance.skew:g} supposes; state a "
                "smaller skew, or bounds that are as close as everybody knows."
            )
    return values


def _make_tolerance(
    width: float | None, bounds: tuple[float, float] | None, risk: float, skew: float
) -> IntervalTolerance | None:
    require(is_finite_number(risk) and 0 < risk < 1, "QueryAuditor", "risk", "between 0 and 1", risk)
    require(is_finite_number(skew) and 0 < skew <= EVEN, "QueryAuditor", "skew", "above 0 and at most 0.5", skew)
    together = (width is None) == (bounds is None)
    require(together, "QueryAuditor", "bounds", "given together with tolerance", bounds)
    if width is None or bounds is None:
        return None
    rising = len(bounds) == PAIR and all(map(is_finite_number, bounds)) and bounds[0] < bounds[1]
    require(rising, "QueryAuditor", "bounds", "two numbers, the lower first", bounds)
    fine = is_finite_number(width) and 0 < width < bounds[1] - bounds[0]
    require(fine, "QueryAuditor", "tolerance", "above 0 and narrower than the bounds", width)
    return IntervalTolerance(
        low=float(bounds[0]), high=float(bounds[1]), width=float(width), risk=float(risk), skew=float(skew)
    )
