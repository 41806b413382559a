"""Attacks on the original and on the published table, for the internal report."""

from __future__ import annotations

from typing import Any

from sfumato.attacks.attack import attack_evidence
from sfumato.attacks.base import Attack
from sfumato.attacks.inferring import BackgroundKnowledge, Homogeneity, Skewness
from sfumato.attacks.linking import Linkage, SinglingOut
from sfumato.attacks.results import AttackResult
from sfumato.judging.evidence import Evidence

TARGETS = 1000
SEED = 0  # the same release gives the same report


def attack_facts(evidence: Evidence) -> list[dict[str, Any]] | None:
    """Attack both tables as one would who knows the quasi-identifiers of everybody in the original: the worst case.

    Targets are a sample of the persons. None for what attacks cannot read: centers of groups, flagged cells, and tables
    without quasi-identifiers.
    """
    schema = evidence.schema
    if evidence.centers or schema.flags or not schema.quasi or not evidence.published.num_rows:
        return None
    chosen: list[Attack] = [SinglingOut(), Linkage()]
    chosen += [Homogeneity(), BackgroundKnowledge(), Skewness()] if schema.sensitive else []
    before, after = (attack_evidence(each, chosen, targets=TARGETS, seed=SEED) for each in (evidence.raw, evidence))
    return [
        {
            "attack": result.attack,
            "question": result.question,
            "sensitive": result.sensitive,
            "targets": result.targets,
            "before": _figures(first),
            "after": _figures(result),
        }
        for first, result in zip(before, after, strict=True)
    ]


def _figures(result: AttackResult) -> dict[str, Any]:
    low, high = result.interval
    return {
        "rate": result.rate,
        "low": low,
        "high": high,
        "guessing": result.baseline,
        "control": result.control if result.control_targets else None,
        "succeeds": result.succeeds,
    }
