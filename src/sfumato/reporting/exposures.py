"""The exposure of every person before and after, for the internal report; records are told by number alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attributes.schema import Schema
from sfumato.auditing.exposure import Exposed, Exposure, exposure
from sfumato.auditing.verdict import plain

MOST_ROWS = 2_000_000


def exposure_facts(published: pa.Table, original: pa.Table, schema: Schema) -> list[dict[str, Any]] | None:
    """Measure the exposure of identities and sensitive values, of the original and of the published table.

    The original is taken as if it were published raw. `before` and `after` are for an adversary who knows the
    quasi-identifiers of one person (adversary 1), `everybody` is for one who knows everybody's (adversary 2) and sees
    the published table. `riskiest` are numbers of original rows. None for a table that is too long to wait for.
    """
    if original.num_rows > MOST_ROWS:
        return None
    raw = original.drop_columns(list(schema.identifier))
    before, after, everybody = (
        _listed(exposure(shown, schema, original=known))
        for shown, known in ((raw, original), (published, original), (published, None))
    )
    return [
        {
            "attribute": attribute,
            "before": _figures(before[attribute]),
            "after": _figures(after[attribute]),
            "everybody": _figures(everybody[attribute]),
            "riskiest": after[attribute].riskiest(),
        }
        for attribute in after
    ]


def _listed(found: Exposure) -> dict[str | None, Exposed]:
    """Give the exposure of identities, under no name, and of each sensitive attribute."""
    return dict([(None, found.identity), *found.values.items()])


def _figures(exposed: Exposed) -> dict[str, Any]:
    most = exposed.maximum
    return {
        "maximum": plain(most),
        "mean": plain(exposed.mean),
        "at_maximum": int(np.count_nonzero(exposed.by_record == most)),
        "histogram": exposed.histogram(),
    }
