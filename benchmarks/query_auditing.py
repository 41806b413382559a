"""The auditor of exact answers: time to decide a question after many, as a ratio to the first.

Run `python benchmarks/query_auditing.py` (after 1,000 and 5,000 questions), or give other numbers. People ask
about ranges of ages and places: rows that are always asked about together cost as much as one. The worst there is are
sums over random halves of the rows: none follows from others, and no two rows stay together; they stop at 1,000. The
last line is the file of the history, which is written to the disk before every answer.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sfumato as sf
from measuring import best_of
from sfumato.queries._sum_auditing import SumAuditor
from sfumato.queries.auditor import MaximumAuditor

ROWS = 100_000
AGES, PLACES = 50, 40
MOST_HALVES = 1_000
RUNS, QUESTIONS = 3, 20
Rows: TypeAlias = npt.NDArray[np.bool_]
Draw: TypeAlias = Callable[[], Rows]


def ask_sum(sums: SumAuditor, rows: Rows) -> bool:
    """Note a sum if it is answered."""
    disclosure = sums.check(rows)
    if not disclosure.discloses:
        sums.accept(disclosure)
    return not disclosure.discloses


def ask_maximum(maxima: MaximumAuditor, rows: Rows, values: npt.NDArray[np.int64]) -> bool:
    """Note a maximum if it is answered."""
    denied = maxima.discloses(rows)
    if not denied:
        maxima.accept(rows, int(values[rows].max()))
    return not denied


def timed(
    title: str, draw: Draw, ask: Callable[[Rows], bool], judge: Callable[[Rows], object], past: list[int]
) -> None:
    """Ask many questions, and time decisions about the same few on the way."""
    timed_on = [draw() for _ in range(QUESTIONS)]
    ask(draw())
    first, _ = best_of(RUNS, lambda: [judge(rows) for rows in timed_on])
    print(f"{title}: first {1000 * first / QUESTIONS:.2f} ms")
    asked, answered = 1, 0
    for number in past:
        while asked < number:
            answered += ask(draw())
            asked += 1
        took, _ = best_of(RUNS, lambda: [judge(rows) for rows in timed_on])
        each = 1000 * took / QUESTIONS
        print(f"  after {number:,}: {each:.2f} ms, {took / first:.1f} times the first ({answered:,} answered)")


def main(past: list[int]) -> None:
    """Print all figures."""
    generator = np.random.default_rng(0)
    age, place = generator.integers(0, AGES, ROWS), generator.integers(0, PLACES, ROWS)
    values = generator.integers(0, 10**6, ROWS)

    def a_range() -> Rows:
        (youngest, oldest), (first, last) = np.sort(generator.integers(0, (AGES, PLACES), (2, 2)), axis=0).T
        return (age >= youngest) & (age <= oldest) & (place >= first) & (place <= last)

    sums, maxima = SumAuditor(ROWS), MaximumAuditor(ROWS)
    title = f"over ranges of {ROWS:,} rows"
    timed(f"sums {title}", a_range, lambda rows: ask_sum(sums, rows), sums.check, past)
    timed(f"maxima {title}", a_range, lambda rows: ask_maximum(maxima, rows, values), maxima.discloses, past)
    count = MOST_HALVES * 6 // 5
    worst = SumAuditor(count)
    halves = sorted({min(number, MOST_HALVES) for number in past})
    timed(
        f"sums over random halves of {count:,} rows",
        lambda: generator.random(count) < 0.5,
        lambda rows: ask_sum(worst, rows),
        worst.check,
        halves,
    )
    with tempfile.TemporaryDirectory() as folder:
        table = pa.table({"age": age, "pay": values})
        auditor = sf.queries.QueryAuditor(table, "pay", Path(folder) / "history.sqlite", public=["age"])
        took, _ = best_of(RUNS, lambda: auditor.ask("count"))
    print(f"the file of the history: {1000 * took:.1f} ms per question")


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [1_000, 5_000])
