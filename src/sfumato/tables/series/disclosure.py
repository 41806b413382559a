"""Exposure over a series: with what probability somebody who holds all releases learns each person's value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._validation import is_integer
from sfumato.errors import InvalidParameterError
from sfumato.schema.schema import Schema
from sfumato.tables.published.groups import Counts
from sfumato.tables.risk.disclosure import QUANTILES, DisclosureProbabilities
from sfumato.tables.series._versions import Element, Versions
from sfumato.tables.series._worlds.bound_refinement import (
    EXACT_UP_TO,
    DisclosureKnowledge,
    RefinedBounds,
    refine_bounds,
)
from sfumato.tables.series._worlds.equal_values import count_equal_pairs
from sfumato.tables.series._worlds.system import values_of
from sfumato.tables.series._worlds.transitions import (
    Stays,
    check_transitions,
    path_product_estimate,
    per_release_probabilities,
    refine_path_bounds,
    transition_matrix_of_history,
)
from sfumato.tables.series.history import History

Floats = npt.NDArray[np.float64]

EXACT, OUTER, UNTOLD = "exact", "outer", ""


@dataclass(frozen=True, eq=False, repr=False)
class SeriesDisclosureRisk:
    """How exposed every person is to somebody who holds all releases of a series; 1 means that she is certain.

    Persons are numbered through all versions. `probability` is that of a person's likeliest value, not a number for who
    was in no group; `candidates` counts the values that she may have. Where `how` is `"exact"`, both are; where it is
    `"outer"`, the probability is a lower bound, what is excluded is excluded for certain, and what is left may be
    impossible all the same. `open` are persons whose cell a release shows because they did not flag it there: they are
    certain, and all figures are about the others. `true` is the probability of a person's own value, where originals
    are at hand and the result is exact. `list_equal_pairs` pairs of persons, at least, have the same value for certain,
    though not which one.
    """

    attribute: str
    releases: int
    probability: Floats
    candidates: Counts
    how: npt.NDArray[np.str_]
    candidates_exact: npt.NDArray[np.bool_]
    true: Floats | None
    equal_pairs: int
    counterfeits: int
    open: npt.NDArray[np.bool_]
    rows: tuple[Counts, ...] = field(default=())
    ladder: RefinedBounds | None = None
    estimate: Callable[[], Floats] | None = None

    @property
    def individuals(self) -> int:
        """How many persons were in a group of any release; without those whose cell is shown as they wished."""
        return int(np.count_nonzero(self.candidates[~self.open]))

    @property
    def visible(self) -> int:
        """How many persons' cells are shown, because they did not flag them."""
        return int(np.count_nonzero(self.open))

    @property
    def decided(self) -> int:
        """How many persons have one value left, which is certain."""
        return int(np.count_nonzero(self.candidates[~self.open] == 1))

    @property
    def exact(self) -> bool:
        """Whether everybody's exposure is exact."""
        return not (self.how == OUTER).any()

    def max(self) -> float:
        """Return the exposure of the most exposed person; a lower bound, if that of anybody is."""
        return self._describe.maximum

    def mean(self) -> float:
        """Return the mean exposure; a lower bound, if that of anybody is."""
        return self._describe.mean

    def quantile(self, share: float) -> float:
        """Return the exposure that this share of the persons does not exceed."""
        return self._describe.quantile(share)

    def histogram(self) -> dict[str, int]:
        """Count persons by exposure: 1, at least 1/2, 1/5, 1/10, 1/20 and less."""
        return self._describe.histogram()

    def above(self, limit: float) -> int:
        """Count the persons whose exposure is above a limit for certain."""
        return int(np.count_nonzero(self.probability[~self.open] > limit))

    def of_version(self, version: int) -> Floats:
        """Return the exposure of the rows of one version's original, counted from 0, in their order."""
        return self.probability[self.rows[version]]

    def possible(self, person: int) -> list[int]:
        """Return the codes of a person's candidates; inside only."""
        if self.ladder is None or not self.candidates[person]:
            return []
        return values_of(self.ladder.masks[self.ladder.system.unit[person]])

    def product(self) -> Floats:
        """Estimate everybody's exposure by the product form; an estimate, never a verdict.

        See `Climbed` and, for values that change as `stays` says, `path_product_estimate`.
        """
        if self.estimate is not None:
            return self.estimate()
        return self.probability.copy() if self.ladder is None else self.ladder.product_form()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain numbers."""
        guess = self.estimated()
        return {
            "attribute": self.attribute,
            "releases": self.releases,
            "persons": self.individuals,
            "shown_persons": self.visible,
            "maximum": self.max(),
            "mean": self.mean(),
            **{f"quantile_{share:g}": self.quantile(share) for share in QUANTILES},
            "exact": self.exact,
            "outer_persons": int(np.count_nonzero(self.how == OUTER)),
            "decided_persons": self.decided,
            "equal_pairs": self.equal_pairs,
            "counterfeits": self.counterfeits,
            "histogram": self.histogram(),
            **({} if guess is None else {"product_estimate": {"maximum": guess.maximum, "mean": guess.mean}}),
        }

    def estimated(self) -> DisclosureProbabilities | None:
        """Return the product form where values change as it is said, which is an estimate; nothing elsewhere."""
        return None if self.estimate is None else DisclosureProbabilities(self.attribute, self.product())

    def __repr__(self) -> str:
        least = "" if self.exact else "at least "
        shown = f"; {self.visible:,} more show theirs" if self.visible else ""
        return (
            f"Exposure of {self.attribute!r} over {self.releases:,} releases, {self.individuals:,} persons: maximum "
            f"{least}{self.max():.4g}, mean {least}{self.mean():.4g}, {self.decided:,} decided{shown}"
        )

    @property
    def _describe(self) -> DisclosureProbabilities:
        return DisclosureProbabilities(self.attribute, np.where(self.open, np.nan, self.probability))


def disclosure_risk_of_history(
    history: History,
    *,
    exact_up_to: int = EXACT_UP_TO,
    rows: tuple[Counts, ...] = (),
    unplaced: int = 0,
    stays: Stays | None = None,
) -> SeriesDisclosureRisk:
    """Compute everybody's exposure over a series, given who was in which group of every release.

    Values of a transient attribute may become any other, unless `stays` says what they can become. If `unplaced` rows
    of the history belong to persons of whom nobody knows in which group they are, everything that is found is an outer
    result: their places may be taken by anybody.
    """
    if stays is not None:
        return _risk_by_transitions(history, stays, exact_up_to, rows, unplaced)
    if history.transient:
        return _risk_by_bounds(history, per_release_probabilities(history), None, _risk_per_release(history), rows)
    ladder = refine_bounds(history, exact_up_to=exact_up_to)
    known = ladder.known()
    true = None if history.truth is None else ladder.chance_of(history.truth.max(axis=0))
    if unplaced:
        known, true = _widen_for_unplaced(known), None
    found = _risk_by_bounds(history, known, ladder, true, rows)
    return replace(found, counterfeits=max(0, found.counterfeits - unplaced))


def _risk_by_transitions(
    history: History, stays: Stays, exact_up_to: int, rows: tuple[Counts, ...], unplaced: int
) -> SeriesDisclosureRisk:
    """Compute everybody's exposure where values change only as it is said: small components exactly."""
    if not history.transient:
        raise InvalidParameterError(
            f"Values of {history.attribute!r} are permanent, so none becomes another; list it in Schema.transient to "
            "say what they can become, or leave stays out."
        )
    relation = transition_matrix_of_history(check_transitions("exposure_series", stays), history, "exposure_series")
    known = refine_path_bounds(history, relation, exact_up_to=exact_up_to)
    found = _risk_by_bounds(history, _widen_for_unplaced(known) if unplaced else known, None, None, rows)
    return replace(
        found,
        counterfeits=max(0, found.counterfeits - unplaced),
        estimate=lambda: path_product_estimate(history, relation),
    )


def _widen_for_unplaced(known: DisclosureKnowledge) -> DisclosureKnowledge:
    """Return what is known from below, if somebody's place may be taken by anybody."""
    told, nothing = known.candidates > 0, known.candidates == 0
    top = np.where(told, 1.0 / np.maximum(known.candidates, 1), np.nan)
    return DisclosureKnowledge(known.candidates, top, nothing, nothing | (known.candidates == 1))


def _risk_by_bounds(
    history: History,
    known: DisclosureKnowledge,
    ladder: RefinedBounds | None,
    true: Floats | None,
    rows: tuple[Counts, ...],
) -> SeriesDisclosureRisk:
    told = known.candidates > 0
    return SeriesDisclosureRisk(
        attribute=history.attribute,
        releases=len(history.releases),
        probability=known.top,
        candidates=known.candidates,
        how=np.where(told, np.where(known.sure, EXACT, OUTER), UNTOLD),
        candidates_exact=known.exact,
        true=true,
        equal_pairs=0 if ladder is None else count_equal_pairs(ladder.system, ladder.masks),
        counterfeits=history.counterfeits,
        open=np.zeros(history.persons, dtype=np.bool_) if history.transient else history.unflagged,
        rows=rows,
        ladder=ladder,
    )


def _risk_per_release(history: History) -> Floats | None:
    """Return the largest probability of everybody's own value in any release alone."""
    if history.truth is None:
        return None
    found = np.full(history.persons, np.nan)
    for release, own in zip(history.releases, history.truth, strict=True):
        inside = (release.members >= 0) & (own >= 0)
        group = release.members[inside]
        share = release.histogram.look_up_counts(group, own[inside]) / release.histogram.sizes[group]
        found[inside] = np.fmax(found[inside], share)
    return found


# Exposure over a series from releases, or from published tables with their originals.


def series_disclosure_risk(
    releases: Sequence[Element] | History,
    schema: Schema | None = None,
    *,
    sensitive: str | None = None,
    exact_up_to: int = EXACT_UP_TO,
    stays: Stays | None = None,
) -> SeriesDisclosureRisk:
    """Compute how exposed every person is to an adversary who holds all releases of a series.

    She knows everybody's quasi-identifiers in every version, and in which group everybody is, but nobody's sensitive
    value; and she does not reason about the choices of the algorithm. One release is the series of length one, and
    agrees with `exposure` without an original where rows that look alike are in one group.

    Parameters
    ----------
    releases : what `anonymize` returned, in order; or pairs (published, original) of tables, or triples with the
        original row of every published row, counted from 0 and -1 for rows that belong to nobody; or a `History`.
    schema : the roles, for pairs of tables; identifiers say who is who.
    sensitive : the attribute, if there are several.
    exact_up_to : up to how many pairs of persons and values a component of overlapping groups is solved exactly.
    stays : of a transient attribute: a value to those that it can become from one version to the next, as texts; each
        can stay what it is, too. Without it every value can become every other, and each release is looked at alone.
        Candidates and probability are then those of the release that tells most about a person.
    """
    if not is_integer(exact_up_to) or exact_up_to < 0:
        raise InvalidParameterError("exact_up_to must be a whole number of at least 0.")
    if isinstance(releases, History):
        return disclosure_risk_of_history(releases, exact_up_to=exact_up_to, stays=stays)
    versions = Versions.of(releases, schema)
    name = single_attribute(versions, sensitive)
    rows, unplaced = tuple(versions.individuals[0]), versions.unplaced
    history = versions.history(name)
    return disclosure_risk_of_history(history, exact_up_to=exact_up_to, rows=rows, unplaced=unplaced, stays=stays)


def single_attribute(versions: Versions, sensitive: str | None) -> str:
    """Return the attribute that was asked for, or the only one."""
    if sensitive is not None:
        return sensitive
    if len(versions.attributes) != 1:
        raise InvalidParameterError(
            f"The series has {len(versions.attributes):,} sensitive attributes; choose one with sensitive=."
        )
    return versions.attributes[0]
