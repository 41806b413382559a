"""What the internal report tells of masking: steps, measures, warnings, and attacks that start from the real values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato._locale.messages import LocalizedText
from sfumato.core._formatting import json_number
from sfumato.errors import SfumatoError
from sfumato.io._values import is_metric_type, to_numbers
from sfumato.report.guarantee import masking_statement, plain_values
from sfumato.tables.attacks.records import attack_records
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.masking.comparison import distance_linkage_rate
from sfumato.tables.models.base import GroupModel

ATTACKS = ("single-value", "link-halves", "nearest-inference")
TARGETS = 500
SEED = 0  # the same release gives the same report


def masking_facts(evidence: AuditContext, models: Sequence[GroupModel]) -> dict[str, Any] | None:
    """Tell what masking did; None where nothing was masked."""
    masking = evidence.masking
    if not masking:
        return None
    steps = [
        {
            **plain_values(each.to_dict()),
            "measures": {name: json_number(value) for name, value in each.metrics.items()},
            "warned": [said.to_dict if isinstance(said, LocalizedText) else None for said in each.warnings],
        }
        for each in masking.records
    ]
    told = masking_statement(masking, models)
    return {
        **told,
        "no_model": told.get("no_model"),
        "masking": steps,
        "attacks": record_attack_facts(evidence),
        "nearest": nearest_record_share(evidence),
    }


def nearest_record_share(evidence: AuditContext) -> dict[str, Any] | None:
    """Return how often the nearest published record, by all numbers, is a person's own; None without numbers."""
    masking, shown = evidence.masking, evidence.published
    if masking.original is None or not masking.perturbed or evidence.counted:
        return None
    original = masking.original.take(pa.array(evidence.source_rows))
    names = [
        name
        for name in shown.column_names
        if name in original.column_names
        and all(is_metric_type(table[name].type) and not table[name].null_count for table in (shown, original))
    ]
    if not names:
        return None
    x, y = (np.column_stack([to_numbers(table[name]) for name in names]) for table in (original, shown))
    return {"columns": names, "rate": distance_linkage_rate(x, y, TARGETS), "guessing": 1 / shown.num_rows}


def record_attack_facts(evidence: AuditContext) -> list[dict[str, Any]]:
    """Attack the published records as somebody who knows the values before masking.

    Without persons who are not in the table, rates are against guessing only. What does not apply is left out.
    """
    original, shown = evidence.masking.original, evidence.published
    if original is None or not evidence.masking.perturbed or evidence.counted:
        return []
    found = []
    for name in ATTACKS:
        try:
            tried = attack_records(shown, original, [name], schema=evidence.schema, targets=TARGETS, seed=SEED)
        except SfumatoError:
            continue
        found += [
            {
                "attack": each.attack,
                "sensitive": each.sensitive,
                "question": each.question,
                "rate": each.rate,
                "guessing": each.baseline,
            }
            for each in tried.results
        ]
    return found
