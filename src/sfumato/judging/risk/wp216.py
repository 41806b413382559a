"""The three tests of the Article 29 Working Party (Opinion 05/2014, WP216): singling out, linkability, inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sfumato.core.published.counting import count_groups
from sfumato.core.published.table import PublishedTable, bucket_column
from sfumato.judging.risk.findings import Figure, Finding, Judgment
from sfumato.judging.risk.hipaa_columns import telling_columns
from sfumato.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.schema.missing import Missing
from sfumato.schema.schema import Schema
from sfumato.words import Sentence, quoted

if TYPE_CHECKING:
    from sfumato.judging.risk.assess import Risk

LIKELY = 0.5  # a guess that is right more often than wrong


def judge_wp216(risk: Risk) -> Judgment:
    """Judge a table by the three tests of the Opinion [1]_, each with its evidence.

    A passed test is passed with respect to the quasi-identifiers and sensitive attributes that the schema names, and
    to this table alone. Linkability is never passed: groups can be linked even if records cannot, as the Opinion
    objects to k-anonymity.

    References
    ----------
    .. [1] Article 29 Data Protection Working Party, "Opinion 05/2014 on Anonymisation Techniques", 0829/14/EN WP216.
    """
    return Judgment(preset="wp216", findings=(_singling_out(risk), _linkability(risk), *_inference(risk)))


def _singling_out(risk: Risk) -> Finding:
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
        sentence = Sentence("risk.wp216.unique", unique=risk.unique_records, records=risk.records)
    else:
        sentence = Sentence("risk.wp216.alike", least=figures["smallest_group"])
    return Finding(
        name=Sentence("risk.name.singling_out"),
        passed=not risk.unique_records,
        sentence=sentence,
        figures=figures,
        columns=risk.quasi,
    )


def _linkability(risk: Risk) -> Finding:
    """Fail if records can be linked one to one: by a column that identifies people, or because they are unique."""
    names = telling_columns(risk.subject.table)
    named = tuple(
        name for name in risk.subject.table.column_names if name in risk.subject.schema.identifier or name in names
    )
    figures = {"naming_columns": len(named), "unique_records": risk.unique_records}
    return Finding(
        name=Sentence("risk.name.linkability"),
        passed=False if named or risk.unique_records else None,
        sentence=_linked(named, risk.unique_records),
        figures=figures,
        columns=(*named, *risk.quasi),
    )


def _linked(named: Sequence[str], unique: int) -> Sentence:
    if named:
        key = "risk.wp216.named_and_unique" if unique else "risk.wp216.named"
        return Sentence(key, columns=quoted(named), unique=unique)
    return Sentence("risk.wp216.linked", unique=unique) if unique else Sentence("risk.wp216.unlinked")


def _inference(risk: Risk) -> list[Finding]:
    """Judge how reliably the sensitive values of a group can be guessed, attribute by attribute."""
    if not risk.subject.schema.sensitive:
        sentence = Sentence("risk.wp216.no_sensitive")
        return [Finding(name=Sentence("risk.name.inference"), passed=None, sentence=sentence)]
    return [_guessed(risk, name) for name in risk.subject.schema.sensitive]


def _guessed(risk: Risk, name: str) -> Finding:
    groups, columns = risk.subject.groups, risk.subject.table.column_names
    table = risk.subject.table.select([each for each in columns if each in {name, bucket_column(columns, name)}])
    shown = table.take(pa.array(groups.rows)) if groups.suppressed else table
    worst = Schema(sensitive=[name], missing=Missing.MATCHES_ALL)
    counted = count_groups(PublishedTable(groups.records, groups.columns, groups.grouped), shown, worst)
    known = np.diff(counted.histograms[name].offsets) > 0
    shares = np.where(known, 1 / FrequencyLDiversity(l=1, sensitive=name).level(counted), 0.0)
    certain, likely = int(counted.sizes[shares == 1].sum()), int(counted.sizes[shares > LIKELY].sum())
    if certain:
        sentence = Sentence("risk.wp216.certain", certain=certain, records=risk.records)
    else:
        sentence = Sentence("risk.wp216.likely", likely=likely, records=risk.records)
    return Finding(
        name=Sentence("risk.name.inference_of", column=name),
        passed=False if certain else None if likely else True,
        sentence=sentence,
        figures={"certain_records": certain, "likely_records": likely, "highest_chance": float(shares.max())},
        columns=(name, *risk.quasi),
    )
