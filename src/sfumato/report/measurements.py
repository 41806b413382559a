"""A release judged part by part, as its report tells it; what was asked for once is kept until it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato._progress import Progress, ignore_progress, open_progress, run_with_progress
from sfumato._threads import map_in_threads
from sfumato.core.bundle import ReleaseBundle
from sfumato.report.guarantee import is_bucket_column
from sfumato.report.sections.attacks import attack_section_facts
from sfumato.report.sections.disclosure_risk import compute_disclosure_risks, disclosure_risk_facts
from sfumato.report.sections.distributions import RecordWeights, quasi_identifier_distribution, unchanged_distribution
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.audit.audit import Audit, audit_context
from sfumato.tables.metrics.utility import utility_of_context
from sfumato.tables.models.base import GroupModel
from sfumato.tables.risk.disclosure import explain_disclosure_risk

MIN_TO_NAME = 2
Sizes = npt.NDArray[np.int64]


class ReleaseMeasurements:
    """A release, judged part by part: each is computed when it is first asked for, and kept for the report.

    Every part is what `report.json` holds under its name, as plain values. Where the original is not known, nothing can
    be compared with it: such parts are None or empty, and so are those that look at single records, where rows stand
    for several. Keep all of them as private as the original.
    """

    def __init__(self, handover: ReleaseBundle) -> None:
        self.handover = replace(handover, evidence=handover.evidence.undecorated())
        self._kept: dict[str, Any] = {}

    def with_recipe(self, recipe: str) -> ReleaseMeasurements:
        """Return the same with another text of the recipe, and everything that was computed so far."""
        other = copy(self)
        other.handover = replace(self.handover, recipe=recipe)
        return other

    @property
    def evidence(self) -> AuditContext:
        """What is judged."""
        return self.handover.evidence

    @property
    def public_context(self) -> AuditContext:
        """What receivers see of it."""
        known = self.evidence
        masking = known.masking.public()
        return AuditContext(
            known.published, known.schema, centers=known.centers, masking=masking, weights=known.weights
        )

    @property
    def smallest(self) -> int:
        """The size below which no group can keep the promise."""
        return smallest_required_class(self.handover.models, self.evidence.schema.quasi_identifiers)

    def risk(self) -> dict[str, Any]:
        """Return the risk that records are found by their quasi-identifiers, before and after."""
        raw = self.section("raw")
        return {
            "smallest_promised": self.smallest,
            "before": None if raw is None else reidentification_risk_facts(raw, self.smallest),
            "after": reidentification_risk_facts(self.handover.audit, self.smallest),
        }

    def attacks(self, *, progress: Progress | bool = False) -> list[dict[str, Any]] | None:
        """Attack the original and the published table; None for what attacks cannot read.

        The adversary knows everybody's quasi-identifiers: the worst case. See `sfumato.attacks`.
        """
        found: list[dict[str, Any]] | None = self._with_progress("attacks", "Attacking", progress)
        return found

    def disclosure_risk(self, *, progress: Progress | bool = False) -> list[dict[str, Any]] | None:
        """Measure how exposed identities and sensitive values are, before and after; None for too large a table."""
        found = self._with_progress("exposure", "Measuring exposure", progress)
        if "exposure facts" not in self._kept:
            self._kept["exposure facts"] = self.disclosure_risk_of(self.public_context) if self._compares else None
        facts: list[dict[str, Any]] | None = None if found is None else self._kept["exposure facts"]
        return facts

    def distributions(self, *, progress: Progress | bool = False) -> list[dict[str, Any]]:
        """Compare the distribution of every published column, before and after."""
        return list(self._with_progress("attributes", "Comparing columns", progress) or ())

    def utility(self, *, progress: Progress | bool = False) -> dict[str, Any] | None:
        """Compare what analysts find in both tables; see `sfumato.tables.metrics.utility.UtilityComparison`."""
        found: dict[str, Any] | None = self._with_progress("utility", "Comparing findings", progress)
        return found

    def series(self, *, progress: Progress | bool = False) -> dict[str, Any] | None:
        """Tell what the releases of the series told up to this one; None for a release of no series."""
        found: dict[str, Any] | None = self._with_progress("series", "Measuring the series", progress)
        return found

    def reasons(self, row: int) -> dict[str, Any]:
        """Say in numbers why a row of the original is exposed, and how much; no value of it is told.

        See `sfumato.tables.risk.disclosure.DisclosureReasons`. `exposure` lists the exposure of its identity, under no
        name, and of each of its sensitive values, before and after; None where that is not known.
        """
        found = explain_disclosure_risk(self.evidence.genuine, row).to_dict()
        exposures = self.section("exposure")
        return {**found, "exposure": None if exposures is None else exposures.row(row)}

    def disclosure_risk_of(self, written: AuditContext) -> list[dict[str, Any]] | None:
        """Return the exposure as the report tells it of a table that was read back from its file."""
        return disclosure_risk_facts(self.evidence, written, self.section("exposure"))

    def section(self, name: str, tell: Progress = ignore_progress) -> Any:
        """Return what a part of the report is made from; None where the original is not known."""
        if not self._compares:
            return None
        if name not in self._kept:
            self._kept[name] = PARTS[name](self, tell)
        return self._kept[name]

    def cached(self, name: str) -> Any:
        """Return a part if it was asked for already; None otherwise."""
        return self._kept.get(name)

    def complete(self) -> None:
        """Compute all parts that were not asked for yet, several at once."""
        if self._compares:
            missing = [name for name in PARTS if name not in self._kept]
            list(map_in_threads(self.section, missing, self.evidence.source.num_rows))

    @property
    def done(self) -> float:
        """The share of the parts that are there."""
        return sum(name in self._kept for name in PARTS) / len(PARTS) if self._compares else 1.0

    @property
    def _compares(self) -> bool:
        return self.evidence.original is not None

    def _with_progress(self, name: str, title: str, progress: Progress | bool) -> Any:
        """Compute a part while somebody is told about it, every second at least."""
        with open_progress(progress, title) as tell:
            found = run_with_progress(lambda told: self.section(name, told), tell)
            tell(1.0)
        return found


def smallest_required_class(models: Sequence[GroupModel], quasi: Sequence[str]) -> int:
    """Return the size below which no group can keep all models: k, or what diversity needs if that is more.

    Models that look at only some of the quasi-identifiers say nothing about groups on all of them.
    """
    whole = [model for model in models if not model.scope or set(model.scope) >= set(quasi)]
    return max((model.min_group_size for model in whole), default=1)


def reidentification_risk_facts(audit: Audit, smallest: int) -> dict[str, Any]:
    """Measure what an attacker who knows that a person is in the table achieves.

    A record counts as found by chance, one in the number of records that match it.
    """
    sizes, matching = audit.sizes, audit.groups.sizes
    records = int(sizes.sum())
    below = int(sizes[matching < smallest].sum())
    return {
        "records": records,
        "groups": len(sizes),
        "smallest_group": int(matching.min()),
        "unique_records": int(sizes[matching == 1].sum()),
        "records_below": below,
        "share_below": below / records,
        "highest_risk": 1 / int(matching.min()),
        "average_risk": _mean_risk(sizes, matching) / records,
    }


def _mean_risk(sizes: Sizes, matching: Sizes) -> float:
    """Sum one over the number of matching records; in order of size, so that no last bit depends on groups' order."""
    if np.array_equal(sizes, matching):
        return float(len(sizes))
    distinct, place = np.unique(matching, return_inverse=True)
    records = np.bincount(place.ravel(), weights=sizes)
    return float((records / distinct).sum())


def _audit_original(judged: ReleaseMeasurements, _: Progress) -> Audit:
    """Judge the original as if it were published; single sensitive cells, which have no buckets there, are left out."""
    evidence, models = judged.evidence, judged.handover.models
    schema = evidence.schema
    of_groups = [
        model for model in models if set(model.sensitive_attributes) <= set(schema.sensitive) - set(schema.flags)
    ]
    if not schema.flags:
        return audit_context(evidence.raw, of_groups, compare=False)
    shown = evidence.source.select([*schema.quasi_identifiers, *schema.sensitive])
    unflagged = AuditContext(shown, replace(schema, flags={}), weights=evidence.original_weights)
    return audit_context(unflagged.with_reference(of_groups, evidence), of_groups, compare=False)


def _attributes(judged: ReleaseMeasurements, tell: Progress) -> list[dict[str, Any]]:
    evidence, fewest = judged.evidence.genuine, max(judged.smallest, MIN_TO_NAME)
    published, original, schema, known = evidence.published, evidence.source, evidence.schema, evidence.coded
    assert known is not None  # noqa: S101 - asked only where the original is known
    coded = {column.name: column for column in known.quasi}
    quasi = {column.name: column for column in evidence.table.columns}
    names = [each for each in published.column_names if not is_bucket_column(each, schema)]
    weights = RecordWeights(evidence.original_weights, evidence.weights)
    described = []
    for at, name in enumerate(names):
        tell(at / len(names))
        if name in quasi:
            facts = quasi_identifier_distribution(quasi[name], coded[name], fewest=fewest, weights=weights)
        else:
            facts = unchanged_distribution(
                name, published[name], original[name], schema, fewest=fewest, weights=weights
            )
        described.append({"name": name, "role": schema.role(name).value, **facts})
    return described


PARTS: Mapping[str, Callable[[ReleaseMeasurements, Progress], Any]] = {
    "exposure": lambda judged, tell: compute_disclosure_risks(judged.evidence, tell),
    "raw": _audit_original,
    "attributes": _attributes,
    "attacks": lambda judged, tell: attack_section_facts(judged.evidence.genuine, judged.handover.models, tell),
    "utility": lambda judged, _: (
        None if judged.evidence.counted else utility_of_context(judged.evidence.genuine).to_dict()
    ),
    "series": lambda judged, _: None if judged.handover.series is None else judged.handover.series(),
}
