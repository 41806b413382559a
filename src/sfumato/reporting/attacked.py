"""Attacks on the original and on the published table, for the internal report."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.attack import attack
from sfumato.attacks.base import Attack
from sfumato.attacks.inferring import BackgroundKnowledge, Homogeneity, Skewness
from sfumato.attacks.linking import Linkage, SinglingOut
from sfumato.attacks.results import AttackResult
from sfumato.schema.schema import Schema

MOST_ATTACKED_ROWS = 200_000
SEED = 0  # the same release gives the same report


def attack_facts(
    published: pa.Table, original: pa.Table, schema: Schema, correspondence: npt.NDArray[np.int64], *, centers: bool
) -> list[dict[str, Any]] | None:
    """Attack both tables as an adversary who knows everybody's quasi-identifiers in the original: the worst case.

    None for a table that would take too long, and for what attacks cannot read: centers of groups, flagged cells,
    and tables without quasi-identifiers.
    """
    if original.num_rows > MOST_ATTACKED_ROWS or centers or schema.flags or not schema.quasi or not published.num_rows:
        return None
    chosen: list[Attack | str] = [SinglingOut(), Linkage()]
    chosen += [Homogeneity(), BackgroundKnowledge(), Skewness()] if schema.sensitive else []
    raw = original.select([*schema.quasi, *schema.sensitive])
    rows = np.arange(original.num_rows).tolist()
    before = attack(raw, schema, chosen, known=original, correspondence=rows, seed=SEED)
    after = attack(published, schema, chosen, known=original, correspondence=correspondence.tolist(), seed=SEED)
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
