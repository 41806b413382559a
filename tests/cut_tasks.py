"""Small tasks for searches for cuts: models of every kind, and what is published in the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf
from sfumato.encoding.coded_table import encode_table
from sfumato.schema.roles import MissingPolicy
from sfumato.tables.algorithms.base import TableRequest
from sfumato.tables.models.base import GroupModel
from sfumato.tables.published.solution import TableSolution

S = "disease"
TARGETS = st.sampled_from([None, S])
TWO: tuple[GroupModel, ...] = (sf.models.KAnonymity(k=2),)
OWN: list[tuple[GroupModel, ...]] = [
    TWO,
    (sf.models.KAnonymity(k=3),),
    (sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive=S)),
    (sf.models.FrequencyLDiversity(l=1.5, sensitive=S),),
    (sf.models.EntropyLDiversity(l=1.5, sensitive=S),),
    (sf.models.RecursiveLDiversity(c=3, l=2, sensitive=S),),
]
RELATIVE: list[tuple[GroupModel, ...]] = [
    (sf.models.TCloseness(t=0.4, sensitive=S),),
    (sf.models.KAnonymity(k=2), sf.models.TCloseness(t=0.3, sensitive=S)),
]


def task_of(
    table: pa.Table,
    schema: sf.Schema,
    models: Sequence[GroupModel] = TWO,
    suppressed: int = 0,
    target: str | None = None,
) -> TableRequest:
    """Ask for cuts through the hierarchies of a table."""
    return TableRequest(
        table=encode_table(table, schema, () if target is None else (target,)),
        models=models,
        max_suppressed=suppressed,
        missing=MissingPolicy(schema.missing),
        rng=np.random.default_rng(0),
    )


def texts(publication: TableSolution, name: str) -> list[str | None]:
    """List what an attribute is published as, group by group."""
    recoded = publication.by_value[name]
    return [list(recoded.labels)[number].text for number in recoded.by_group]
