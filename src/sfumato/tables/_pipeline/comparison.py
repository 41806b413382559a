"""`sf.compare_algorithms`: the same promise by several algorithms, compared."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato._progress import Progress, open_progress, scale_progress
from sfumato._randomness import draw_seed
from sfumato._validation import is_finite_number, require, suggest_closest
from sfumato.core.recipe import Recipe
from sfumato.core.writing import read_facts
from sfumato.errors import InvalidParameterError, ReleaseWarning, SfumatoError
from sfumato.io._dataframes import Frame, to_arrow
from sfumato.report.comparison import ComparedRelease, ReleaseComparison, candidate_from_facts
from sfumato.tables._catalogue import ALGORITHMS
from sfumato.tables._pipeline.anonymize import run_recipe
from sfumato.tables._pipeline.release import Release
from sfumato.tables._pipeline.request import refuse_free_text, refuse_huge_numbers, refuse_rows_of_individuals
from sfumato.tables.algorithms.base import TableAlgorithm
from sfumato.tables.metrics.classification import (
    Classifier,
    ClassifierComparison,
    compare_classifiers,
    hold_out,
    require_sklearn,
)

EVERY = "all"


def compare_algorithms(
    data: Frame,
    recipe: Recipe,
    algorithms: str | Sequence[str | TableAlgorithm] = EVERY,
    *,
    most_seconds: float | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Progress | bool = False,
) -> ReleaseComparison:
    """Release a table by several algorithms under the same promise, and compare what they make.

    Every candidate is dropped when its figures are taken, so that not all are in memory at once. To release the chosen
    one, carry out its recipe, or write all to a folder.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table; it is not changed.
    recipe : the roles, the promise and the limit of suppression; its own algorithm is not used.
    algorithms : names or algorithms, or `"all"` for every one that can do without parameters.
    most_seconds : stop a search that takes longer and list it as refused; by default never.
    folder : where to write every candidate, in a folder of its name; by default nothing is written.
    progress : True shows a bar; a function is called with the share of the candidates that is done, and their names.
    """
    limited = most_seconds is None or (is_finite_number(most_seconds) and most_seconds > 0)
    require(limited, "try_algorithms", "most_seconds", "above 0", most_seconds)
    table, _ = to_arrow(data)
    recipe = replace(recipe, seed=draw_seed() if recipe.seed is None else recipe.seed)
    refuse_rows_of_individuals(recipe, table)
    refuse_free_text(recipe, table)
    refuse_huge_numbers(recipe, table)
    chosen = dict(_resolve_algorithms(algorithms))
    found: list[ComparedRelease] = []
    refused: dict[str, str] = {}
    with open_progress(progress, "Trying") as tell:
        for number, (name, algorithm) in enumerate(chosen.items()):
            clock = _TimedProgress(most_seconds, number / len(chosen), 1 / len(chosen), name, tell)
            try:
                release = _try_algorithm(recipe, table, algorithm, clock)
            except SfumatoError as error:
                refused[name] = str(error)
            else:
                found.append(
                    candidate_from_facts(name, _figures(release, None if folder is None else Path(folder) / name))
                )
        tell(1.0)
    if not found:
        reasons = "; ".join(f"{name}: {why.rstrip('.')}" for name, why in refused.items())
        raise InvalidParameterError(f"No algorithm could keep the promise ({reasons}).")
    return ReleaseComparison(candidates=tuple(found), refused=refused)


def _figures(release: Release, folder: Path | None) -> Mapping[str, Any]:
    """Return what releases are compared by; of one that is written, what its report tells."""
    if folder is None:
        return release.figures()
    folder.parent.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)  # candidates, of which one is chosen
        release.write(folder)
    return read_facts(folder)


def _try_algorithm(recipe: Recipe, table: pa.Table, algorithm: TableAlgorithm | str, progress: Progress) -> Release:
    """Make one candidate, without blocks if it needs none; a text says why it cannot be tried."""
    progress(0.0)
    if isinstance(algorithm, str):
        raise InvalidParameterError(algorithm)
    blocks = None if algorithm.supports_weights else recipe.block_rows
    asked = replace(recipe, algorithm=algorithm, block_rows=blocks)
    release: Release = run_recipe(asked, table, progress=progress)
    return release


class _TimedProgress:
    """Pass progress on, and stop a search that takes too long."""

    def __init__(self, most: float | None, start: float, share: float, name: str, progress: Progress) -> None:
        self._end = None if most is None else time.monotonic() + most
        self._sentence = f"Its search took longer than {most:g} seconds; try it alone with more." if most else ""
        self._start, self._share, self._name, self._progress = start, share, name, progress

    def __call__(self, done: float, note: str = "") -> None:
        self._progress(self._start + self._share * min(done, 1.0), f"{self._name} {note}".strip())
        if self._end is not None and time.monotonic() > self._end:
            raise SfumatoError(self._sentence)


def _resolve_algorithms(algorithms: str | Sequence[str | TableAlgorithm]) -> Iterator[tuple[str, TableAlgorithm | str]]:
    """Yield every algorithm by its name, or why it cannot be tried."""
    taken: dict[str, int] = {}
    listed = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    listed = list(ALGORITHMS) if listed == [EVERY] else listed
    if not listed:
        raise InvalidParameterError('No algorithm is named; give at least one, or "all".')
    for each in listed:
        name = each if isinstance(each, str) else each.name
        taken[name] = taken.get(name, 0) + 1
        called = name if taken[name] == 1 else f"{name}-{taken[name]}"
        yield called, _algorithm_by_name(each) if isinstance(each, str) else each


def _algorithm_by_name(name: str) -> TableAlgorithm | str:
    """Return the algorithm of a name with its default parameters, or say which it needs."""
    if name not in ALGORITHMS:
        hint = suggest_closest(name, ALGORITHMS) or f"; choose one of {', '.join(ALGORITHMS)}."
        raise InvalidParameterError(f"There is no algorithm {name!r}{hint}")
    kind: Any = ALGORITHMS[name]
    needed = [each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]
    if needed:
        return f"It needs {', '.join(needed)}; name it with them."
    made: TableAlgorithm = kind()
    return made


# What can be learned from a release: publish a part of a table by a recipe, and test a classifier on the rest.

SEARCHED = 0.7  # the share of the work, as it is told


def evaluate_classification(
    recipe: Recipe,
    data: Frame,
    *,
    target: str,
    share: float = 0.3,
    classifier: Classifier | None = None,
    seed: int = 0,
    progress: Progress | bool = False,
) -> ClassifierComparison:
    """Hold out some records, publish the others by a recipe, and train a classifier on them before and after.

    A release of the whole table cannot be tested fairly, since it was made from the records to test on. So this makes
    another one, of the records that are kept, and shows nothing of it. Requires scikit-learn: install
    `sfumato[learn]`.

    Parameters
    ----------
    recipe, data : what would be released, and how.
    target : the published column of classes.
    share, seed : how many records are held out, and which; a seed also makes the training repeatable.
    classifier : any scikit-learn classifier; by default a decision tree with at least 10 records in a leaf.
    progress : True shows a bar; a function is called with the share of the work that is done.

    Raises
    ------
    InfeasibleError
        If no release of the records that are kept can keep the models.
    """
    require_sklearn()
    table, kind = to_arrow(data)
    recipe = replace(recipe, schema=recipe.schema.with_orders(kind.category_orders))
    kept, held = hold_out(table, share=share, seed=seed)
    with open_progress(progress, "Learning") as tell:
        release = run_recipe(recipe, kept, progress=scale_progress(tell, 0.0, SEARCHED))
        tell(SEARCHED)
        schema = recipe.schema
        published = [name for name in schema.attributes if name != target and name in release.published.column_names]
        found = compare_classifiers(
            release.evidence.source,
            release.published,
            held,
            target=target,
            schema=schema,
            columns=published,
            classifier=classifier,
            seed=seed,
        )
        tell(1.0)
    return found
