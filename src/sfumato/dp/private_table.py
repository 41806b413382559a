"""A table that answers only with differential privacy, and only as long as its budget lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, prod
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._neighbors import ROW, one_individual
from sfumato._validation import check_confidence, is_finite_number, is_integer, require
from sfumato.dp import adaptive_grid, histograms, mechanisms
from sfumato.dp.accountant import (
    UNIT,
    Accountant,
    epsilon_cost_units,
    exact_decimal_number,
    format_epsilon,
    recording_refusals,
)
from sfumato.dp.answers import PrivateAnswer, PrivateCounts
from sfumato.dp.public_facts import Bound, canonical_text, count_unreadable, declare_columns, step_of, to_integer_steps
from sfumato.errors import InvalidParameterError
from sfumato.io._dataframes import Frame, cells_of, to_text_table
from sfumato.io._values import encode_distinct, fingerprint_of_rows, format_distinct_values
from sfumato.queries.query import Query, check_column_exists, matching_rows

Integers = npt.NDArray[np.int64]


Where = Mapping[str, object]
Shape: TypeAlias = Literal["cells", "tree", "wavelet"]
SHAPES = get_args(Shape)
MAX_CELLS = 1_000_000
PAIR = 2
MAX_SHARE_DIGITS = 10**6


class PaidQuery(NamedTuple):
    """A question whose cost is spent."""

    question: str
    epsilon: Fraction
    cost: str
    confidence: float


@dataclass(frozen=True, kw_only=True)
class PrivacyUnit:
    """Whose presence the answers hide: a row, or a person with up to `max_rows` rows."""

    person: str | None
    max_rows: int

    def __str__(self) -> str:
        return ROW if self.person is None else one_individual(self.person, self.max_rows)


class PrivateTable:
    """Ask a table for counts, sums, means, quantiles, histograms and contingency tables with noise.

    Every answer is epsilon-differentially private for one unit of privacy: it is at most e**epsilon times as likely
    with the unit in the table as without it, and vice versa. The noise is OpenDP's. How a cell is read follows
    from what is stated about its column and from the cell alone, so one row never changes how another is read. A cell
    that cannot be read so is missing: it satisfies no condition and is neither summed, averaged nor counted in a cell.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table.
    accountant : keeps the budget; the cost of an answer is spent before it is computed.
    analyst : the name of the analyst.
    bounds : for every column of numbers, the lowest and the highest value that anyone may have; others are moved
        to the nearer bound, infinite ones too. State what is known without looking at the table. Two dates make a
        column of dates, of which conditions and bins are asked.
    categories : for every column of text, the values that cells can have; others are in no cell. Categories that are
        all dates have an order.
    person : the column that identifies people. Without it the unit of privacy is one row.
    max_rows : the most rows of a person that count, the first ones in the table; rows of nobody do not count.
    """

    def __init__(
        self,
        data: Frame,
        *,
        accountant: Accountant,
        analyst: str,
        bounds: Mapping[str, tuple[Bound, Bound]] | None = None,
        categories: Mapping[str, Iterable[object]] | None = None,
        person: str | None = None,
        max_rows: int | None = None,
    ) -> None:
        require(isinstance(accountant, Accountant), self, "accountant", "an Accountant", type(accountant).__name__)
        mechanisms.load_opendp()
        table = cells_of(data)
        self.unit = _privacy_unit(table, person, max_rows)
        self._form = declare_columns(table.slice(0, 0), bounds or {}, categories or {})
        accountant.bind_table(fingerprint_of_rows(to_text_table(table)), str(self.unit))
        if person is not None:
            table = table.filter(pa.array(_rows_within_limit(table[person], self.unit.max_rows)))
        self.accountant = accountant
        self.analyst = analyst
        self._rows = table.num_rows
        self._stated = declare_columns(table, bounds or {}, categories or {})

    def __repr__(self) -> str:
        return f"PrivateTable({len(self._stated.columns)} columns, for {self.unit}, analyst {self.analyst!r})"

    @property
    def unreadable_counts(self) -> dict[str, int]:
        """Per stated column how many cells are missing or cannot be read as stated; for the owner's eyes only."""
        return count_unreadable(self._stated)

    def for_analyst(self, analyst: str) -> PrivateTable:
        """Return the same table for another analyst, who has a budget of their own."""
        other = object.__new__(PrivateTable)
        other.__dict__ |= {**self.__dict__, "analyst": analyst}
        return other

    @recording_refusals
    def count(self, where: Where | None = None, *, epsilon: float | str, confidence: float = 0.95) -> PrivateAnswer:
        """Count rows."""
        chosen, paid = self._pay(where, "count", epsilon, confidence, self._adding(1))
        return self._total(np.array([chosen.sum()], dtype=np.int64), self.unit.max_rows, 1.0, paid)

    @recording_refusals
    def sum(
        self, column: str, where: Where | None = None, *, epsilon: float | str, confidence: float = 0.95
    ) -> PrivateAnswer:
        """Sum a column of numbers."""
        values, low, high = self._stated.bounded(column)
        step, most = step_of(low, high)
        chosen, paid = self._pay(where, f"sum of {column}", epsilon, confidence, self._adding(most))
        steps = to_integer_steps(values[chosen & ~np.isnan(values)], low, high)
        return self._total(mechanisms.summed(steps), most * self.unit.max_rows, step, paid)

    @recording_refusals
    def mean(
        self, column: str, where: Where | None = None, *, epsilon: float | str, confidence: float = 0.95
    ) -> PrivateAnswer:
        """Average a column of numbers.

        Half of epsilon pays for the sum of the distances from the middle of the bounds, half for the count; the
        interval follows from both.
        """
        values, low, high = self._stated.bounded(column)
        middle, half = (low + high) / 2, (high - low) / 2
        step, most = step_of(-half, half)
        chosen, paid = self._pay(where, f"mean of {column}", epsilon, confidence, self._adding(2 * most))
        steps = to_integer_steps(values[chosen & ~np.isnan(values)] - middle, -half, half)
        part = paid._replace(epsilon=paid.epsilon / 2, confidence=(1 + confidence) / 2)
        total = self._total(mechanisms.summed(steps), most * self.unit.max_rows, step, part)
        number = self._total(np.array([len(steps)], dtype=np.int64), self.unit.max_rows, 1.0, part)
        counts = [max(each, 1.0) for each in (number.lower, number.upper)]
        ends = [end / count for end in (total.lower, total.upper) for count in counts]
        answer = replace(
            total,
            value=middle + total.value / max(number.value, 1.0),
            lower=middle + min(ends),
            upper=middle + max(ends),
            confidence=confidence,
            mechanism=f"{mechanisms.LAPLACE}, of a sum and a count",
            epsilon=paid.cost,
            steps=("divided by a count of at least 1",),
        )
        return histograms.clip_to_bounds(answer, low, high)

    @recording_refusals
    def quantile(
        self,
        column: str,
        share: float,
        where: Where | None = None,
        *,
        epsilon: float | str,
        confidence: float = 0.95,
        step: float | None = None,
    ) -> PrivateAnswer:
        """Find the value below which a share of the values lies; 0.5 gives the median.

        One of many candidates is selected: steps of `step` between the bounds, or by default every whole number between
        close whole bounds, or a thousand steps. `scale` is that of the noise of the rank.
        """
        values, low, high = self._stated.bounded(column)
        exact = exact_decimal_number(share) if is_finite_number(share) and 0 < share < 1 else None
        exact = exact or Fraction(0)
        fine = 0 < exact.denominator <= MAX_SHARE_DIGITS and exact > 0
        require(fine, self, "share", "between 0 and 1, with at most 6 decimals", share)
        grid = _candidate_step(low, high, step)

        def fits(cost: Fraction) -> None:
            shift_of_ends(exact, len(grid), max_rows=self.unit.max_rows, epsilon=cost, confidence=confidence)

        chosen, paid = self._pay(where, f"quantile {share} of {column}", epsilon, confidence, fits)
        counts = count_at_candidates(np.clip(values[chosen & ~np.isnan(values)], low, high), grid)
        middle, lower, upper, scale = select_quantile(
            counts, exact, max_rows=self.unit.max_rows, epsilon=paid.epsilon, confidence=confidence
        )
        return PrivateAnswer(
            question=paid.question,
            value=float(grid[middle]),
            lower=float(grid[lower]),
            upper=float(grid[upper]),
            confidence=confidence,
            mechanism=mechanisms.SELECTION,
            scale=scale,
            epsilon=paid.cost,
            neighbors=str(self.unit),
        )

    @recording_refusals
    def histogram(
        self,
        column: str,
        where: Where | None = None,
        *,
        epsilon: float | str,
        edges: Sequence[Bound] | None = None,
        shape: Shape = "cells",
        branching: int = 2,
        confidence: float = 0.95,
    ) -> PrivateCounts:
        """Count the rows of every category, or of every bin between edges.

        With shape "tree" counts are summed up a tree whose sums have their own noise, to be made consistent; with
        "wavelet" noise is added to the Haar wavelet. Both answer ranges of many cells better than "cells".
        """
        require(shape in SHAPES, self, "shape", f"one of {', '.join(SHAPES)}", shape)
        require(is_integer(branching) and branching > 1, self, "branching", "a whole number of at least 2", branching)
        given = None if edges is None else {column: edges}
        return self._counts(
            [column], where, edges=given, epsilon=epsilon, confidence=confidence, shape=shape, branching=branching
        )

    @recording_refusals
    def contingency_table(
        self,
        columns: Sequence[str],
        where: Where | None = None,
        *,
        epsilon: float | str,
        edges: Mapping[str, Sequence[Bound]] | None = None,
        confidence: float = 0.95,
    ) -> PrivateCounts:
        """Count the rows of every combination of categories and bins."""
        listed = not isinstance(columns, str) and len(set(columns)) == len(columns) > 0
        require(listed, self, "columns", "a list of distinct columns", columns)
        return self._counts(
            list(columns), where, edges=edges or {}, epsilon=epsilon, confidence=confidence, shape="cells", branching=2
        )

    @recording_refusals
    def grid(
        self,
        columns: Sequence[str],
        where: Where | None = None,
        *,
        epsilon: float | str,
        confidence: float = 0.95,
    ) -> adaptive_grid.PrivateGrid:
        """Count the rows on a grid over two columns of numbers, finer where more rows seem to be.

        This is the adaptive grid of Qardaji, Yang and Li. It answers rectangles better than a table of equal cells.
        """
        listed = not isinstance(columns, str) and len({*columns}) == len(columns) == PAIR
        require(listed, self, "columns", "two distinct columns", columns)
        values, lows, highs = zip(*(self._stated.bounded(name) for name in columns), strict=True)
        fits = self._adding(ceil(1 / adaptive_grid.FOR_ROWS))
        chosen, paid = self._pay(where, f"grid of {', '.join(columns)}", epsilon, confidence, fits)
        low, high = np.array(lows), np.array(highs)
        points = np.stack(values, axis=1)[chosen]
        points = (np.clip(points[~np.isnan(points).any(axis=1)], low, high) - low) / (high - low)
        found = adaptive_grid.count_adaptive_grid(
            points, max_rows=self.unit.max_rows, epsilon=paid.epsilon, confidence=confidence
        )
        corners = adaptive_grid.leaf_bounds(found.grid, *zip(lows, highs, strict=True))
        return adaptive_grid.PrivateGrid(
            question=paid.question,
            columns=tuple(columns),
            cells=adaptive_grid.leaf_labels(corners),
            counts=found.counts,
            lower=found.counts - found.margins,
            upper=found.counts + found.margins,
            confidence=confidence,
            mechanism=f"{mechanisms.LAPLACE}, on an adaptive grid",
            scale=found.scale,
            epsilon=paid.cost,
            neighbors=str(self.unit),
            steps=("made consistent",),
            corners=corners,
        )

    def _counts(
        self,
        columns: list[str],
        where: Where | None,
        *,
        edges: Mapping[str, Sequence[Bound]] | None,
        epsilon: float | str,
        confidence: float,
        shape: str,
        branching: int,
    ) -> PrivateCounts:
        bins = {name: (edges or {}).get(name) for name in columns}
        sizes = [len(self._form.cells(name, bins[name])[1]) for name in columns]
        require(prod(sizes) <= MAX_CELLS, self, "columns", f"of at most {MAX_CELLS:,} cells", prod(sizes))
        what = "table" if len(columns) > 1 else "histogram"
        fits = self._adding(_touched(prod(sizes), shape, branching))
        chosen, paid = self._pay(where, f"{what} of {', '.join(columns)}", epsilon, confidence, fits)
        found = [self._stated.cells(name, bins[name]) for name in columns]
        inside = np.logical_and.reduce([chosen, *(codes >= 0 for codes, _ in found)])
        flat = np.ravel_multi_index([codes[inside] for codes, _ in found], sizes)
        counts = np.bincount(flat, minlength=prod(sizes)).astype(np.int64)
        values, off, scale, tree = self._shaped(counts, paid, shape, branching)
        places = np.unravel_index(np.arange(prod(sizes)), sizes)
        names = [[labels[place] for place in at.tolist()] for at, (_, labels) in zip(places, found, strict=True)]
        return PrivateCounts(
            question=paid.question,
            columns=tuple(columns),
            cells=tuple(zip(*names, strict=True)),
            counts=values,
            lower=values - off,
            upper=values + off,
            confidence=confidence,
            mechanism=mechanisms.LAPLACE if shape == "cells" else f"{mechanisms.LAPLACE}, on a {shape}",
            scale=scale,
            epsilon=paid.cost,
            neighbors=str(self.unit),
            tree=tree,
            branching=branching if tree else 0,
        )

    def _shaped(
        self, counts: npt.NDArray[np.int64], paid: PaidQuery, shape: str, branching: int
    ) -> tuple[npt.NDArray[np.float64], float, float, tuple[npt.NDArray[np.float64], ...]]:
        """Add noise to counts, to all sums of a tree, or to a wavelet; return counts, margin, scale and tree."""
        if shape == "wavelet":
            coefficients = histograms.haar_transform(histograms.pad_to_power_of_two(counts))
            touched = _touched(len(counts), shape, branching)
            drawn = mechanisms.add_discrete_laplace(
                coefficients, sensitivity=touched * self.unit.max_rows, epsilon=paid.epsilon
            )
            off = histograms.wavelet_margin(len(coefficients), drawn.scale, paid.confidence)
            return histograms.inverse_haar_transform(drawn.numbers)[: len(counts)], off, drawn.scale, ()
        levels = histograms.sum_tree(counts, branching) if shape == "tree" else [counts]
        flat = np.concatenate(levels)
        drawn = mechanisms.add_discrete_laplace(
            flat, sensitivity=len(levels) * self.unit.max_rows, epsilon=paid.epsilon
        )
        values = drawn.numbers.astype(np.float64)
        off = float(mechanisms.error_margin(drawn.scale, paid.confidence))
        if shape == "cells":
            return values, off, drawn.scale, ()
        parts = tuple(np.split(values, np.cumsum([len(level) for level in levels])[:-1]))
        return parts[-1][: len(counts)], off, drawn.scale, parts

    def _total(self, value: npt.NDArray[np.int64], sensitivity: int, step: float, paid: PaidQuery) -> PrivateAnswer:
        drawn = mechanisms.add_discrete_laplace(value, sensitivity=sensitivity, epsilon=paid.epsilon)
        off = mechanisms.error_margin(drawn.scale, paid.confidence)
        found = int(drawn.numbers[0])
        return PrivateAnswer(
            question=paid.question,
            value=found * step,
            lower=(found - off) * step,
            upper=(found + off) * step,
            confidence=paid.confidence,
            mechanism=mechanisms.LAPLACE,
            scale=drawn.scale * step,
            epsilon=paid.cost,
            neighbors=str(self.unit),
        )

    def _adding(self, sensitivity: int) -> Callable[[Fraction], None]:
        """Return what refuses an epsilon that is too small for a row to change the numbers by so much in total."""
        return partial(mechanisms.refuse_too_small, sensitivity * self.unit.max_rows)

    def _pay(
        self,
        where: Where | None,
        what: str,
        epsilon: float | str,
        confidence: float,
        fits: Callable[[Fraction], None],
    ) -> tuple[npt.NDArray[np.bool_], PaidQuery]:
        """Judge a question by what is stated, spend, and only then look which rows are asked about.

        From the spending on the budget is gone, whatever happens; so `fits` refuses before it what could not be
        answered. No cell value is in the question's description.
        """
        query = Query(where=where or {})
        for name in query.conditions:
            self._form.check_declared(name)
        matching_rows(query.conditions, self._form.columns, 0)
        units = epsilon_cost_units(epsilon, "PrivateTable")
        check_confidence(self, confidence)
        fits(Fraction(units, UNIT))
        question = what + repr(query).removeprefix("Query(count").removesuffix(")")
        self.accountant.spend(self.analyst, format_epsilon(units), question)
        paid = PaidQuery(question, Fraction(units, UNIT), format_epsilon(units), confidence)
        return matching_rows(query.conditions, self._stated.columns, self._rows), paid


def _touched(cells: int, shape: str, branching: int) -> int:
    """Return in how many of the numbers that get noise a row is: its cell, sums above it, or coefficients."""
    if shape == "cells":
        return 1
    if shape == "tree":
        return 1 + histograms.height_of_tree(cells, branching)
    return 1 + (cells - 1).bit_length()


def _privacy_unit(table: pa.Table, person: str | None, max_rows: int | None) -> PrivacyUnit:
    if person is None:
        require(max_rows is None, "PrivateTable", "max_rows", "left out unless a person column is named", max_rows)
        return PrivacyUnit(person=None, max_rows=1)
    check_column_exists(person, table)
    fine = is_integer(max_rows) and max_rows > 0  # type: ignore[operator]  # a whole number, as just checked
    require(fine, "PrivateTable", "max_rows", "a whole number of at least 1", max_rows)
    return PrivacyUnit(person=person, max_rows=max_rows or 1)


def _rows_within_limit(persons: pa.ChunkedArray, most: int) -> npt.NDArray[np.bool_]:
    """Return which rows are among the first of a person; this depends only on that person's rows."""
    distinct, found = encode_distinct(persons)
    names = [canonical_text(each) for each in format_distinct_values(distinct).to_pylist()]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    same = np.array([*(places[name] for name in names), -1], dtype=np.int64)
    codes = same[np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)]
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else np.array([], dtype=np.int64)
    rank = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    kept = np.empty(len(codes), dtype=np.bool_)
    kept[order] = (rank < most) & (ordered >= 0)
    return kept


def _candidate_step(low: float, high: float, step: float | None) -> npt.NDArray[np.float64]:
    fine = step is None or (is_finite_number(step) and 0 < step <= high - low and (high - low) / step <= MAX_CELLS)
    require(fine, "PrivateTable", "step", "above 0, and neither wider than the bounds nor very small", step)
    return quantile_candidates(low, high, step)


# Private quantiles: candidates are scored by how far their rank is off, and one is selected.
#
# A score is `max(#(x < c) - t, t - #(x <= c), 0)` for the desired rank `t`. The true quantile scores 0, also if many
# values are equal. One row more or less changes it by at most max(share, 1 - share). An end of the interval is the
# selection for a rank that is so much lower (or higher) that the selection is below (above) the true quantile except
# with a probability that the confidence allows; the outermost candidates always qualify, because they are the bounds.


# Private quantiles: candidates are scored by how far their rank is off, and one is selected.
#
# A score is `max(#(x < c) - t, t - #(x <= c), 0)` for the desired rank `t`. The true quantile scores 0, also if many
# values are equal. One row more or less changes it by at most max(share, 1 - share). An end of the interval is the
# selection for a rank that is so much lower (or higher) that the selection is below (above) the true quantile except
# with a probability that the confidence allows; the outermost candidates always qualify, because they are the bounds.
MAX_STEPS = 1_000
MOST_SHIFT = 2**60
SAFETY = 1 + 1e-9  # scales are accurate up to rounding


def quantile_candidates(low: float, high: float, step: float | None) -> npt.NDArray[np.float64]:
    """Return the possible answers: every whole number between whole bounds that are close, else equal steps.

    >>> quantile_candidates(0, 4, None), quantile_candidates(0, 1, 0.25)
    (array([0., 1., 2., 3., 4.]), array([0.  , 0.25, 0.5 , 0.75, 1.  ]))
    """
    whole = float(low).is_integer() and float(high).is_integer() and high - low <= MAX_STEPS
    steps = MAX_STEPS if step is None else max(1, ceil((high - low) / step - SAFETY + 1))
    return np.linspace(low, high, int(high - low) + 1 if whole and step is None else steps + 1)


def count_at_candidates(values: npt.NDArray[np.float64], grid: npt.NDArray[np.float64]) -> Integers:
    """Count values at the candidates nearest to them."""
    middles = (grid[1:] + grid[:-1]) / 2
    return np.bincount(np.searchsorted(middles, values), minlength=len(grid)).astype(np.int64)


def shift_of_ends(
    share: Fraction, candidates: int, *, max_rows: int, epsilon: Fraction, confidence: float
) -> tuple[int, int]:
    """Return the sensitivity of a score, and how far the ranks of the interval's ends are from that of the quantile.

    Both follow from the question alone. One whose ranks would not fit into 64 bits is refused, before it is paid.
    """
    sensitivity = max_rows * max(share.numerator, share.denominator - share.numerator)
    quarter = mechanisms.selection_scale(sensitivity=sensitivity, epsilon=epsilon / 4)
    shift = ceil(mechanisms.selection_margin(quarter * SAFETY, candidates, (1 - confidence) / 2)) + 1
    if shift > MOST_SHIFT:
        raise InvalidParameterError(
            "Such a small epsilon needs ranks that do not fit into 64 bits; give a larger one, or a share with fewer "
            "decimals."
        )
    return sensitivity, shift


def select_quantile(
    counts: Integers, share: Fraction, *, max_rows: int, epsilon: Fraction, confidence: float
) -> tuple[int, int, int, float]:
    """Select the indices of a quantile and of both ends of its interval; also return the scale of the rank's noise.

    Half of epsilon pays for the quantile, and a quarter for each end. Ranks fit into 64 bits: a share has at most 6
    decimals, no memory holds 2**40 rows, and the ends are shifted by at most 2**60.
    """
    part, whole = share.numerator, share.denominator
    sensitivity, shift = shift_of_ends(share, len(counts), max_rows=max_rows, epsilon=epsilon, confidence=confidence)
    below = np.concatenate([[0], np.cumsum(counts)])
    wanted = part * int(below[-1])
    under, up_to = whole * below[:-1], whole * below[1:]

    def selected(rank: int, cost: Fraction) -> tuple[int, float]:
        over, short = under - rank, rank - up_to
        over[0] = short[-1] = 0
        scores = np.maximum(np.maximum(over, short), 0)
        return mechanisms.permute_and_flip(scores, sensitivity=sensitivity, epsilon=cost)

    middle, scale = selected(wanted, epsilon / 2)
    lower, _ = selected(wanted - shift, epsilon / 4)
    upper, _ = selected(wanted + shift, epsilon / 4)
    return middle, min(lower, middle), max(upper, middle), scale / whole
