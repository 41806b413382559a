"""The three tests of the Article 29 Working Party (Opinion 05/2014, WP216): singling out, linkability, inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sfumato.core.published.counting import count_groups
from sfumato.core.published.table import PublishedTable, find_bucket_column
from sfumato.judging.risk.findings import ComplianceReport, Figure, Finding
from sfumato.judging.risk.hipaa_columns import identifying_columns
from sfumato.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.schema.missing import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.words import LocalizedText, quote_names

if TYPE_CHECKING:
    from sfumato.judging.risk.assess import RiskAssessment

LIKELY = 0.5  # a guess that is right more often than wrong


def check_wp216(risk: RiskAssessment) -> ComplianceReport:
    """Judge a table by the three tests of the Opinion [1]_, each with its evidence.

    A passed test is passed with respect to the quasi-identifiers and sensitive attributes that the schema names, and
    to this table alone. Linkability is never passed: groups can be linked even if records cannot, as the Opinion
    objects to k-anonymity.

    References
    ----------
    .. [1] Article 29 Data Protection Working Party, "Opinion 05/2014 on Anonymisation Techniques", 0829/14/EN WP216.
    """
    return ComplianceReport(preset="wp216", findings=(_singling_out(risk), _linkability(risk), *_inference(risk)))


def _singling_out(risk: RiskAssessment) -> Finding:
    """Fail if some record can be distinguished from all others by its quasi-identifiers."""
    figures: dict[str, Figure] = {
        "unique_records": risk.unique_records,
        "share": risk.unique_records / risk.records,
        "smallest_group": int(risk.subject.groups.candidates.min()),
        "records_with_special_uniques": risk.special_uniques.records,
    }
    if risk.population_uniques is not None:
        figures["uniques_in_population"] = risk.population_uniques.uniques
    if risk.unique_records:
        sentence = LocalizedText("risk.wp216.unique", unique=risk.unique_records, records=risk.records)
    else:
        sentence = LocalizedText("risk.wp216.alike", least=figures["smallest_group"])
    return Finding(
        name=LocalizedText("risk.name.singling_out"),
        passed=not risk.unique_records,
        sentence=sentence,
        figures=figures,
        columns=risk.quasi,
    )


def _linkability(risk: RiskAssessment) -> Finding:
    """Fail if records can be linked one to one: by a column that identifies people, or because they are unique."""
    names = identifying_columns(risk.subject.table)
    named = tuple(
        name for name in risk.subject.table.column_names if name in risk.subject.schema.identifiers or name in names
    )
    figures = {"naming_columns": len(named), "unique_records": risk.unique_records}
    return Finding(
        name=LocalizedText("risk.name.linkability"),
        passed=False if named or risk.unique_records else None,
        sentence=_linked(named, risk.unique_records),
        figures=figures,
        columns=(*named, *risk.quasi),
    )


def _linked(named: Sequence[str], unique: int) -> LocalizedText:
    if named:
        key = "risk.wp216.named_and_unique" if unique else "risk.wp216.named"
        return LocalizedText(key, columns=quote_names(named), unique=unique)
    return LocalizedText("risk.wp216.linked", unique=unique) if unique else LocalizedText("risk.wp216.unlinked")


def _inference(risk: RiskAssessment) -> list[Finding]:
    """Judge how reliably the sensitive values of a group can be guessed, attribute by attribute."""
    if not risk.subject.schema.sensitive:
        sentence = LocalizedText("risk.wp216.no_sensitive")
        return [Finding(name=LocalizedText("risk.name.inference"), passed=None, sentence=sentence)]
    return [_inference_success(risk, name) for name in risk.subject.schema.sensitive]


def _inference_success(risk: RiskAssessment, name: str) -> Finding:
    groups, columns = risk.subject.groups, risk.subject.table.column_names
    table = risk.subject.table.select([each for each in columns if each in {name, find_bucket_column(columns, name)}])
    shown = table.take(pa.array(groups.rows)) if groups.suppressed else table
    worst = Schema(sensitive=[name], missing=MissingPolicy.MATCHES_ALL)
    counted = count_groups(PublishedTable(groups.records, groups.columns, groups.grouped), shown, worst)
    known = np.diff(counted.histograms[name].offsets) > 0
    shares = np.where(known, 1 / FrequencyLDiversity(l=1, sensitive=name).levels(counted), 0.0)
    certain, likely = int(counted.sizes[shares == 1].sum()), int(counted.sizes[shares > LIKELY].sum())
    if certain:
        sentence = LocalizedText("risk.wp216.certain", certain=certain, records=risk.records)
    else:
        sentence = LocalizedText("risk.wp216.likely", likely=likely, records=risk.records)
    return Finding(
        name=LocalizedText("risk.name.inference_of", column=name),
        passed=False if certain else None if likely else True,
        sentence=sentence,
        figures={"certain_records": certain, "likely_records": likely, "highest_chance": float(shares.max())},
        columns=(name, *risk.quasi),
    )
