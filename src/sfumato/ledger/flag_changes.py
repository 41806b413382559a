"""How a release handles flags that came and went since the release before it, in numbers."""

from __future__ import annotations

import numpy as np

from sfumato.core.published.table import read_bucket_numbers
from sfumato.judging.evidence import AuditContext
from sfumato.ledger.contents import NOBODY
from sfumato.ledger.memory import STRANGER, UNSIGNED, Ints
from sfumato.ledger.version import TableVersion


def count_flag_changes(
    version: TableVersion, evidence: AuditContext, rows: Ints, at: Ints
) -> dict[str, dict[str, int]]:
    """Count by attribute with flags, as the published table tells it.

    Parameters
    ----------
    version : the persons of the table, as the ledger knows them.
    evidence : what is published.
    rows : the row of the evidence's original for every published row, `NOBODY` for a counterfeit.
    at : the row of the version for every published row.

    Returns
    -------
    dict
        For every attribute `flagged_late`, cells that are flagged though an earlier release showed them; `shown_now`,
        cells that are no longer flagged and shown; `kept_hidden`, cells that are no longer flagged and hidden all the
        same, because showing them would expose others.
    """
    found = {}
    somebody = rows != NOBODY
    numbers = version.numbers[at[somebody]]
    for name, column in evidence.schema.flags.items():
        flagged = np.asarray(evidence.source[column])[rows[somebody]]
        buckets = read_bucket_numbers(evidence.published, name)
        inside = np.zeros(len(flagged), dtype=np.bool_) if buckets is None else (buckets >= 0)[somebody]
        remembered = version.memory.attributes.get(name)
        known = np.zeros(len(flagged), dtype=np.bool_) if remembered is None else numbers != STRANGER
        signed, shown = known.copy(), known.copy()
        if remembered is not None:
            signed[known] = remembered.place[numbers[known]] != UNSIGNED
            shown[known] = remembered.shown[numbers[known]]
        found[name] = {
            "flagged_late": int((flagged & shown).sum()) if name in version.hidden else 0,
            "shown_now": int((~flagged & ~inside & signed & ~shown).sum()),
            "kept_hidden": int((~flagged & inside).sum()),
        }
    return found
