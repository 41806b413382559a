"""Attacks on the original and on the published table, for the internal report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato._progress import Progress, ignore_progress, scale_progress
from sfumato.core.attack import Attack, AttackResult
from sfumato.tables.attacks._attack_table import attack_context
from sfumato.tables.attacks.inference import BackgroundKnowledge, Homogeneity, Skewness
from sfumato.tables.attacks.linkage import Linkage, SinglingOut
from sfumato.tables.audit._context import AuditContext
from sfumato.tables.models.base import GroupModel

TARGETS = 1000
SEED = 0  # the same release gives the same report


def attack_section_facts(
    evidence: AuditContext, models: Sequence[GroupModel], tell: Progress = ignore_progress
) -> list[dict[str, Any]] | None:
    """Attack both tables as an adversary who knows everybody's quasi-identifiers in the original: the worst case.

    Targets are a sample of the persons. None for what attacks cannot read: centers of groups, flagged cells, tables
    without quasi-identifiers, and rows that stand for several records.
    """
    chosen = _applicable_attacks(evidence)
    if chosen is None:
        return None
    before = attack_context(evidence.raw, chosen, targets=TARGETS, seed=SEED, tell=scale_progress(tell, 0.0, 0.5))
    after = attack_context(evidence, chosen, models, targets=TARGETS, seed=SEED, tell=scale_progress(tell, 0.5, 1.0))
    return [
        {**_attack_identity(result), "before": _attack_rates(first), "after": _attack_rates(result)}
        for first, result in zip(before, after, strict=True)
    ]


def published_attack_facts(
    evidence: AuditContext, models: Sequence[GroupModel], known: list[dict[str, Any]] | None = None
) -> list[dict[str, Any]] | None:
    """Attack the published table alone, unless it is known already what comes of it; see `attack_section_facts`."""
    if known is not None:
        return [{name: value for name, value in each.items() if name != "before"} for each in known]
    chosen = _applicable_attacks(evidence)
    if chosen is None:
        return None
    found = attack_context(evidence, chosen, models, targets=TARGETS, seed=SEED)
    return [{**_attack_identity(result), "after": _attack_rates(result)} for result in found]


def _applicable_attacks(evidence: AuditContext) -> list[Attack] | None:
    schema = evidence.schema
    read = not (evidence.centers or evidence.counted or schema.flags)
    if not read or not schema.quasi_identifiers or not evidence.published.num_rows:
        return None
    inferring: list[Attack] = [Homogeneity(), BackgroundKnowledge(), Skewness()] if schema.sensitive else []
    return [SinglingOut(), Linkage(), *inferring]


def _attack_identity(result: AttackResult) -> dict[str, Any]:
    return {
        "attack": result.attack,
        "question": result.question,
        "sensitive": result.sensitive,
        "targets": result.targets,
    }


def _attack_rates(result: AttackResult) -> dict[str, Any]:
    low, high = result.interval
    return {
        "rate": result.rate,
        "low": low,
        "high": high,
        "guessing": result.baseline,
        "control": result.control if result.control_targets else None,
        "gains": result.gains,
        "allowed": result.allowed,
        "verdict": result.verdict.value,
    }
