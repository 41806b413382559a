"""Releases of a series: the ledger that a recipe belongs to, and the persons whom it knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato._validation import require
from sfumato.core.recipe import Recipe
from sfumato.encoding.coded_table import CodedTable
from sfumato.errors import InvalidParameterError, UnsupportedModelError
from sfumato.tables.algorithms._cohorts import check_cohorts, supports_cohorts
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.masking._apply import steps_after_search
from sfumato.tables.models.base import GroupModel
from sfumato.tables.series._ledger.draft import ReleaseDraft
from sfumato.tables.series._prior_disclosure import Cohorts, KnownIndividuals
from sfumato.tables.series.disclosure import disclosure_risk_of_history
from sfumato.tables.series.history import History
from sfumato.tables.series.models._base import SeriesModel
from sfumato.tables.series.series import Series

Ints = npt.NDArray[np.int64]


Known: TypeAlias = Callable[[CodedTable], KnownIndividuals]


def check_series_of_recipe(recipe: Recipe, ledger: Series | None) -> None:
    """Refuse to run a recipe of a series without its ledger, or with another."""
    require(ledger is None or isinstance(ledger, Series), "anonymize", "ledger", "an sf.Series", ledger)
    if recipe.ledger is None:
        return
    if ledger is None:
        raise InvalidParameterError(
            "The recipe is of a series of releases, which are safe together only by their ledger; give it by ledger=, "
            "or take [series] out of the recipe."
        )
    if ledger.name != recipe.ledger:
        raise InvalidParameterError(f"The recipe is of another series than the ledger {ledger.path}; give its own.")


def require_memory_for_series(recipe: Recipe, ledger: Series | None, where: str) -> None:
    """Refuse a ledger for a release that is not made and written in one go in memory."""
    check_series_of_recipe(recipe, ledger)
    if ledger is not None:
        raise InvalidParameterError(
            f"A ledger follows releases that are made in memory and written to a folder; {where}."
        )


def draft_release(
    recipe: Recipe, table: pa.Table, ledger: Series | None, *, later_rows: bool = False
) -> tuple[Recipe, ReleaseDraft | None]:
    """Look up the persons of a table, and note in the recipe which series the release belongs to, and since when."""
    check_series_of_recipe(recipe, ledger)
    if ledger is None:
        return recipe, None
    _check_cohort_support(recipe)
    if recipe.block_rows is not None and recipe.algorithm.supports_series:
        raise InvalidParameterError(
            f"{type(recipe.algorithm).__name__} looks at all persons of a series together, so the table is not "
            "searched in blocks; drop block_rows."
        )
    draft = ledger.draft(table, recipe.schema, later_rows=later_rows)
    return replace(recipe, ledger=draft.version.memory.chain.name, ledger_head=draft.version.head), draft


def _check_cohort_support(recipe: Recipe) -> None:
    """Refuse what a series by atoms cannot promise, or would part persons who stay together."""
    if not supports_cohorts(recipe.algorithm):
        return
    refusal = check_cohorts(recipe.algorithm, recipe.models)
    if refusal is not None:
        raise UnsupportedModelError(refusal)
    if steps_after_search(recipe.masking):
        raise InvalidParameterError(
            "SuppressCells hides cells of single persons, which parts them from those they were published with; leave "
            "it out of a series."
        )


def check_permanent_values(draft: ReleaseDraft | None, rows: npt.NDArray[np.int64]) -> None:
    """Refuse to publish rows of persons of a series whose permanent values changed."""
    if draft is not None:
        draft.version.check_permanent_values(rows)


def earlier_disclosures(
    draft: ReleaseDraft | None, order: npt.NDArray[np.int64] | None, models: Sequence[GroupModel] = ()
) -> Known | None:
    """Return what tells of the persons of a table, whose rows may have been put in another order.

    What is promised limits which cells may be shown that are no longer flagged: a promise about the series, or else
    the least number of values that the others ask for.
    """
    if draft is None:
        return None
    promised = disclosure_limits(models)
    limits = dict(promised)
    for model in models:
        for name in set(model.sensitive_attributes) - set(promised):
            limits[name] = min(limits.get(name, 1.0), 1 / max(model.min_group_size, 1))
    return lambda coded: draft.known(coded, order, limits)


def disclosure_limits(models: Sequence[GroupModel]) -> dict[str, float]:
    """Return the largest exposure over a series that is promised, by attribute."""
    limits: dict[str, float] = {}
    for model in models:
        if isinstance(model, SeriesModel):
            limit = model.limit if model.bound == "max" else 1 / model.limit
            limits[model.sensitive_attributes[0]] = min(limit, limits.get(model.sensitive_attributes[0], 1.0))
    return limits


def cohorts_of_draft(draft: ReleaseDraft | None, recipe: Recipe, order: npt.NDArray[np.int64] | None) -> Cohorts | None:
    """Return the atoms of the persons of a table, if earlier releases of its series are continued by atoms."""
    if draft is None or not supports_cohorts(recipe.algorithm) or not draft.version.memory.releases:
        return None
    found = draft.cohorts()
    return found if order is None else found.take(order)


# What the releases of a series told up to this one, in plain numbers for its report.


# What the releases of a series told up to this one, in plain numbers for its report.
EXACT_UP_TO = 200  # pairs of persons and values: a report must not wait long, and says "at least" where it stops


def cumulative_disclosure(
    draft: ReleaseDraft, models: Sequence[GroupModel], *, evidence: AuditContext, rows: Ints, at: Ints
) -> dict[str, Any]:
    """Tell how exposed everybody is after each release of a series, the last being the one that is made.

    Parameters
    ----------
    draft : the release, as its ledger will know it.
    models : what is promised; promises about series limit the exposure.
    evidence, rows, at : as for `Draft.recorded`.
    """
    limits = disclosure_limits(models)
    histories = draft.histories(evidence=evidence, rows=rows, at=at)
    changes = draft.flag_changes(evidence=evidence, rows=rows, at=at)
    return {
        **draft.figures(at),
        "counterfeits": evidence.counterfeits,
        "attributes": [
            {
                "attribute": name,
                "limit": limits.get(name),
                "releases": _disclosure_by_release(history),
                **changes.get(name, {}),
            }
            for name, history in histories.items()
        ],
    }


def _disclosure_by_release(history: History) -> list[dict[str, Any]]:
    """Tell what the first release tells, the first two together, and so on."""
    found = []
    for count, release in enumerate(history.releases, start=1):
        exposed = disclosure_risk_of_history(history.truncate(count), exact_up_to=EXACT_UP_TO)
        found.append(
            {
                "release": count,
                "persons": exposed.individuals,
                "shown": exposed.visible,
                "maximum": exposed.max(),
                "mean": exposed.mean(),
                "exact": exposed.exact,
                "decided": exposed.decided,
                "equal_pairs": exposed.equal_pairs,
                "counterfeits": int(release.counterfeits.sum()),
            }
        )
    return found
