"""Exposure over a series from releases, or from published tables with their originals."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.core.history import History
from sfumato.exceptions import InvalidParameterError
from sfumato.judging.series.exposed import SeriesDisclosureRisk, disclosure_risk_of_history
from sfumato.judging.series.versions import Element, Versions
from sfumato.models.stays import Stays
from sfumato.models.worlds.ladder import EXACT_UP_TO
from sfumato.schema.schema import Schema
from sfumato.validation import is_integer


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
