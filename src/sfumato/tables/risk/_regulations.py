"""The three tests of the Article 29 Working Party (Opinion 05/2014, WP216): singling out, linkability, inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sfumato._locale.messages import LocalizedText, quote_names
from sfumato._validation import suggest_closest
from sfumato.errors import InvalidParameterError
from sfumato.schema.roles import MissingPolicy
from sfumato.schema.schema import Schema
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.published._counting import count_groups
from sfumato.tables.published.published_table import PublishedTable, find_bucket_column
from sfumato.tables.risk._attacker_models import min_group_size
from sfumato.tables.risk._hipaa import check_safe_harbor, identifying_columns
from sfumato.tables.risk.compliance import ComplianceReport, Figure, Finding

if TYPE_CHECKING:
    from sfumato.tables.risk.assessment import RiskAssessment


# The threshold of the European Medicines Agency (Policy 0070) and of Health Canada for clinical reports.

WRITTEN = 0.09
LEAST_GROUP = 11
EXACT = 1 / LEAST_GROUP


def check_ema(risk: RiskAssessment, *, strict: bool = True) -> ComplianceReport:
    """Judge a table by the threshold 0.09 that EMA and Health Canada recommend [1]_ [2]_.

    0.09 is 1/11 = 0.0909... rounded: groups of at least 11 records are meant. Taken literally, a risk of at most
    0.09 would require 12. Groups of 11 pass here.

    Parameters
    ----------
    risk : the assessment of the table.
    strict : judge the record at highest risk, as for public release; otherwise only the average.

    References
    ----------
    .. [1] European Medicines Agency, "External guidance on the implementation of Policy 0070", 2018.
    .. [2] Health Canada, "Guidance document: Public release of clinical information", 2019.
    """
    return ComplianceReport(preset="ema", findings=(_highest(risk, strict=strict), _average(risk)))


def _highest(risk: RiskAssessment, *, strict: bool) -> Finding:
    groups = risk.subject.groups
    smallest = int(groups.candidates.min())
    small = int(groups.sizes[groups.candidates < LEAST_GROUP].sum())
    return Finding(
        name=LocalizedText("risk.name.highest"),
        passed=smallest >= LEAST_GROUP if strict else None,
        sentence=LocalizedText(
            "risk.ema.highest",
            small=small,
            records=risk.records,
            least=LEAST_GROUP,
            smallest=smallest,
            written=WRITTEN,
        ),
        figures={
            "smallest_group": smallest,
            "least_group": LEAST_GROUP,
            "least_group_if_taken_literally": min_group_size(WRITTEN),
            "highest_risk": 1 / smallest,
            "threshold_written": WRITTEN,
            "threshold_exact": EXACT,
            "records_in_smaller_groups": small,
            "share_in_smaller_groups": small / risk.records,
        },
        columns=risk.quasi,
    )


def _average(risk: RiskAssessment) -> Finding:
    average = risk.prosecutor.average
    return Finding(
        name=LocalizedText("risk.name.average"),
        passed=average <= EXACT,
        sentence=LocalizedText("risk.ema.average", average=average, least=LEAST_GROUP, exact=EXACT),
        figures={"average_risk": average, "threshold_exact": EXACT},
        columns=risk.quasi,
    )


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


# Rules that tables are commonly judged by, each with its short name.


def _hipaa(risk: RiskAssessment) -> ComplianceReport:
    return check_safe_harbor(risk.subject.table)


PRESETS: Mapping[str, Callable[[RiskAssessment], ComplianceReport]] = {
    "ema": check_ema,
    "hipaa": _hipaa,
    "wp216": check_wp216,
}


def check_compliance(risk: RiskAssessment, preset: str) -> ComplianceReport:
    """Judge a table by one of the rules: ema, hipaa or wp216."""
    if preset not in PRESETS:
        hint = suggest_closest(preset, PRESETS) or f"; choose one of {', '.join(PRESETS)}."
        raise InvalidParameterError(f"There is no preset {preset!r}{hint}")
    if risk.subject.groups.weights is not None and preset != "ema":
        raise InvalidParameterError(
            f"{preset} looks at the cells of single records, but these rows stand for several each; judge by ema, or "
            "give every record a row of its own."
        )
    return PRESETS[preset](risk)
