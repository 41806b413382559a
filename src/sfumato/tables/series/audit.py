"""The audit of a series: what its releases keep together, and how exposed everybody is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Protocol, runtime_checkable

from sfumato._validation import suggest_closest
from sfumato.core._formatting import json_number
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.schema.schema import Schema
from sfumato.tables.audit.audit import audit_context, check_models
from sfumato.tables.models.base import GroupModel
from sfumato.tables.series._versions import Element, Versions
from sfumato.tables.series._worlds.bound_refinement import EXACT_UP_TO
from sfumato.tables.series._worlds.transitions import Stays
from sfumato.tables.series.disclosure import SeriesDisclosureRisk, disclosure_risk_of_history
from sfumato.tables.series.history import History
from sfumato.tables.series.models._base import Answer, SeriesEvaluation, SeriesModel
from sfumato.tables.series.models.bounded_series_disclosure import BoundedSeriesDisclosure
from sfumato.tables.series.models.m_invariance import MInvariance

HEAD = ("promise", "level", "over the series", "persons")


@runtime_checkable
class HistorySource(Protocol):
    """What remembers who was in which group of every release: a `Ledger`."""

    def histories(self) -> Mapping[str, History]:
        """Return the history of every sensitive attribute."""
        ...


@dataclass(frozen=True)
class SeriesVerdict:
    """The level that a series reaches for one model, and whether the promise holds, is broken or is not shown.

    `persons` and `groups` count whom and what breaks it, in all releases together. A promise about single tables is
    judged in every release, and its level is that of the worst.
    """

    model: GroupModel
    answer: Answer
    level: float
    individuals: int
    groups: int

    @property
    def holds(self) -> bool:
        """Whether the promise is shown to hold."""
        return self.answer == "holds"

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain numbers and texts."""
        return {
            "model": self.model.name,
            "parameters": self.model.parameters(),
            "level": json_number(self.level),
            "limit": json_number(self.model.limit),
            "verdict": self.answer,
            "holds": self.holds,
            "violating_persons": self.individuals,
            "violating_groups": self.groups,
        }


@dataclass(frozen=True, eq=False, repr=False)
class SeriesAudit:
    """What the releases of a series keep together.

    `verdicts` judge the promises that were asked for, and `levels` m-invariance and exposure of every sensitive
    attribute, asked for or not. `linked` counts, by attribute, groups whose rows show something else beside a value by
    which they can be recognized; it is empty if the published tables were not looked at. `unplaced` rows fit several
    groups of a release, so that nobody can say in which one they are; nothing is shown to hold then.
    """

    verdicts: tuple[SeriesVerdict, ...]
    levels: tuple[SeriesVerdict, ...]
    releases: int
    individuals: int
    exposures: Mapping[str, SeriesDisclosureRisk]
    linked: Mapping[str, int] = field(default_factory=dict)
    unplaced: int = 0

    @property
    def holds(self) -> bool:
        """Whether every promise that was asked for is shown to hold over the series."""
        return all(verdict.holds for verdict in self.verdicts)

    def level(self, model: str, sensitive: str | None = None) -> float | int:
        """Return the level that the series reaches for a model, for one sensitive attribute if there are several."""
        asked = [each for each in self.verdicts if _about(each, model, sensitive)]
        found = asked or [each for each in self.levels if _about(each, model, sensitive)]
        if not found:
            judged = sorted({each.model.name for each in (*self.verdicts, *self.levels)})
            hint = suggest_closest(model, judged) or f"; it judged {', '.join(judged)}."
            raise InvalidParameterError(f"The audit of the series did not judge {model!r}{hint}")
        if len({each.model.sensitive_attributes for each in found}) > 1:
            raise InvalidParameterError(f"Several attributes were judged by {model!r}; choose one with sensitive=.")
        number = json_number(found[0].level)
        return float(number) if isinstance(number, str) else number

    def disclosure_risk(self, sensitive: str | None = None) -> SeriesDisclosureRisk:
        """Return how exposed everybody is, for one sensitive attribute if there are several."""
        if sensitive is None and len(self.exposures) == 1:
            return next(iter(self.exposures.values()))
        if sensitive is None:
            raise InvalidParameterError("Several attributes were judged; choose one.")
        if sensitive not in self.exposures:
            hint = suggest_closest(sensitive, self.exposures) or "."
            raise InvalidParameterError(f"The audit of the series did not judge {sensitive!r}{hint}")
        return self.exposures[sensitive]

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain numbers and texts."""
        return {
            "holds": self.holds,
            "releases": self.releases,
            "persons": self.individuals,
            "unplaced": self.unplaced,
            "models": [verdict.to_dict() for verdict in self.verdicts],
            "levels": [
                {
                    "model": v.model.name,
                    "sensitive": ", ".join(v.model.sensitive_attributes),
                    "level": json_number(v.level),
                }
                for v in self.levels
            ],
            "exposure": {name: exposed.to_dict() for name, exposed in self.exposures.items()},
            "linked_groups": dict(self.linked),
        }

    def lines(self) -> list[str]:
        """Say in lines of text what was found."""
        rows = [HEAD, *(_row(verdict) for verdict in self.verdicts)]
        if not self.verdicts:
            reached = [
                (f"{each.model.name} of {each.model.sensitive_attributes[0]!r}", *_row(each)[1:2])
                for each in self.levels
            ]
            rows = [("reaches", "level", "", ""), *((*row, "", "") for row in reached)]
        widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
        found = [f"{self._head()}, {self.releases:,} releases, {self.individuals:,} persons"]
        found += ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        for name, exposed in self.exposures.items():
            found.append(repr(exposed))
            guess = exposed.estimated()
            if guess is not None:
                found.append(
                    f"Estimate by the product form, never a verdict: maximum {guess.maximum:.4g}, mean {guess.mean:.4g}"
                )
            if exposed.decided:
                found.append(
                    f"! Certain to somebody who holds all releases: the {name!r} of {exposed.decided:,} persons; "
                    "releases are safe together if they are made with a ledger and a promise about series."
                )
            if exposed.equal_pairs:
                found.append(f"Pairs of persons proved to have the same {name!r}, at least: {exposed.equal_pairs:,}")
            if exposed.counterfeits:
                found.append(f"Counterfeit values of {name!r}: {exposed.counterfeits:,}")
            if self.linked.get(name):
                found.append(f"Groups whose rows show something else beside {name!r}: {self.linked[name]:,}")
        if not self.linked:
            found.append("What rows show beside these values was not looked at; that needs the published tables.")
        if self.unplaced:
            found.append(
                f"Rows that fit several groups, so that nothing is shown: {self.unplaced:,}; give the correspondences."
            )
        return found

    def _head(self) -> str:
        """Say what holds; promises that are kept by each release alone say nothing about all of them."""
        if not self.verdicts:
            return "Series"
        together = any(isinstance(verdict.model, SeriesModel) for verdict in self.verdicts)
        what = "Series" if together else "No promise is about the series. Each release alone"
        return f"{what}: {'holds' if self.holds else 'DOES NOT HOLD'}"

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def audit_series(
    releases: Sequence[Element] | Mapping[str, History] | HistorySource,
    schema: Schema | None = None,
    *,
    models: Sequence[GroupModel] | None = None,
    exact_up_to: int = EXACT_UP_TO,
    stays: Mapping[str, Stays] | None = None,
) -> SeriesAudit:
    """Audit several releases of one table together; one release is the series of length one.

    Parameters
    ----------
    releases : what `anonymize` returned, in order; or pairs (published, original) of tables, or triples with the
        original row of every published row; or their `Ledger`, or a `History` for every sensitive attribute, by which
        only promises about series can be judged. See `series_disclosure_risk`.
    schema : the roles, for pairs of tables; identifiers say who is who.
    models : the promises to judge: those of series, and those of tables, which must hold in every release. By default
        those that the releases were made with.
    exact_up_to : up to how many pairs of persons and values a component of overlapping groups is solved exactly.
    stays : by transient attribute, what its values can become; exposure is then over all releases together, see
        `series_disclosure_risk`.
    """
    if isinstance(releases, HistorySource):
        releases = releases.histories()
    if isinstance(releases, Mapping):
        return audit_histories(releases, tuple(models or ()), exact_up_to=exact_up_to, stays=stays)
    versions = Versions.of(releases, schema)
    promised = tuple(_models_of_releases(releases) if models is None else models)
    check_models(promised, versions.schema)
    histories = {name: versions.history(name) for name in versions.attributes}
    linked = {name: versions.linked(name) for name in versions.attributes}
    found = audit_histories(
        histories,
        [model for model in promised if isinstance(model, SeriesModel)],
        exact_up_to=exact_up_to,
        linked=linked,
        unplaced=versions.unplaced,
        stays=stays,
    )
    over = iter(found.verdicts)
    verdicts = [
        next(over) if isinstance(model, SeriesModel) else _evaluate_every_release(versions, model) for model in promised
    ]
    rows = tuple(versions.individuals[0])
    exposures = {name: replace(exposed, rows=rows) for name, exposed in found.exposures.items()}
    return replace(found, verdicts=tuple(verdicts), exposures=exposures)


def audit_histories(
    histories: Mapping[str, History],
    models: Sequence[GroupModel] = (),
    *,
    exact_up_to: int = EXACT_UP_TO,
    linked: Mapping[str, int] | None = None,
    unplaced: int = 0,
    stays: Mapping[str, Stays] | None = None,
) -> SeriesAudit:
    """Audit a series given who was in which group, as a ledger knows it; only promises of series can be judged."""
    if not histories:
        raise SchemaError("A series is judged by its sensitive attributes, and there are none, or no releases yet.")
    beside, changes = linked or {}, stays or {}
    for name in changes:
        if name not in histories:
            hint = suggest_closest(name, histories) or "; name one that it has."
            raise InvalidParameterError(f"The series does not have the attribute {name!r} of stays{hint}")
    exposures = {
        name: disclosure_risk_of_history(each, exact_up_to=exact_up_to, unplaced=unplaced, stays=changes.get(name))
        for name, each in histories.items()
    }
    verdicts = []
    for model in models:
        if not isinstance(model, SeriesModel):
            raise InvalidParameterError(f"{model.name!r} is judged in single tables; give the releases themselves.")
        if model.sensitive_attributes[0] not in histories:
            raise InvalidParameterError(f"{type(model).__name__} names an attribute that the series does not have.")
        verdicts.append(
            _evaluate_over_series(
                model, histories[model.sensitive_attributes[0]], beside.get(model.sensitive_attributes[0], 0)
            )
        )
    levels = [
        _evaluate_over_series(model, history, beside.get(name, 0))
        for name, history in histories.items()
        for model in (MInvariance(m=1, sensitive=name), BoundedSeriesDisclosure(limit=1.0, sensitive=name))
    ]
    first = next(iter(histories.values()))
    return SeriesAudit(
        verdicts=tuple(_mark_undecided(each) for each in verdicts) if unplaced else tuple(verdicts),
        levels=tuple(levels),
        releases=len(first.releases),
        individuals=first.persons,
        exposures=exposures,
        linked=dict(beside),
        unplaced=unplaced,
    )


def _models_of_releases(releases: Sequence[Element]) -> list[GroupModel]:
    """Collect the models that releases were made with, each once."""
    found = [model for each in releases for model in getattr(getattr(each, "recipe", None), "models", ())]
    return [model for at, model in enumerate(found) if model not in found[:at]]


def _evaluate_over_series(model: SeriesModel, history: History, linked: int) -> SeriesVerdict:
    over: SeriesEvaluation = model.evaluate_series(history, linked=linked)
    return SeriesVerdict(model, over.answer, over.level, over.individuals, over.groups)


def _evaluate_every_release(versions: Versions, model: GroupModel) -> SeriesVerdict:
    """Judge a promise about tables in every release."""
    found = [audit_context(each.evidence, [model], compare=False).verdicts[0] for each in versions.versions]
    worst = min(found, key=lambda verdict: verdict.margin)
    kept = all(verdict.holds for verdict in found)
    records, groups = sum(verdict.records for verdict in found), sum(verdict.groups for verdict in found)
    return SeriesVerdict(model, "holds" if kept else "broken", worst.level, records, groups)


def _mark_undecided(verdict: SeriesVerdict) -> SeriesVerdict:
    """Say that nothing is shown where it is not known who is in which group."""
    return replace(verdict, answer="not shown") if verdict.holds else verdict


def _about(verdict: SeriesVerdict, model: str, sensitive: str | None) -> bool:
    return verdict.model.name == model and sensitive in {None, *verdict.model.sensitive_attributes}


def _row(verdict: SeriesVerdict) -> tuple[str, str, str, str]:
    return repr(verdict.model), f"{json_number(verdict.level)}", verdict.answer, f"{verdict.individuals:,}"
