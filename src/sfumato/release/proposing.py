"""`sf.propose_recipe`: a first recipe for a table that was inspected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.coding.fingerprint import fingerprint
from sfumato.inspection.detect import Inspection
from sfumato.models.base import PrivacyModel
from sfumato.models.distinct_l_diversity import DistinctLDiversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.recipe import READING, Recipe
from sfumato.schema.roles import Role
from sfumato.table.formats.base import Option
from sfumato.table.frames import Frame, to_arrow

USUAL_K = 5
USUAL_L = 2
USUAL_READING = {"separator": ",", "encoding": "utf-8"}


def propose_recipe(found: Inspection, data: Frame, *, reading: Mapping[str, Option] | None = None) -> Recipe:
    """Propose a recipe that can be carried out as it stands, or changed first.

    It promises 5-anonymity, and two different values in every group for each sensitive column.

    Parameters
    ----------
    found : what `sf.inspect` found in the table; its roles are proposals, to be checked.
    data : the table, whose fingerprint the recipe records.
    reading : how the table was read, as `sf.propose_reading` tells it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.inspection import inspect
    >>> table = pa.table({"age": [39, 50, 39], "disease": ["flu", "cold", "flu"]})
    >>> [model.name for model in propose_recipe(inspect(table), table).models]
    ['k-anonymity', 'distinct-l-diversity']
    """
    return Recipe(
        schema=found.schema(),
        models=tuple(_models(found)),
        algorithm=Mondrian(),
        input_rows=found.rows,
        input_sha256=fingerprint(to_arrow(data)[0]),
        reading=to_remember(reading or {}),
    )


def to_remember(reading: Mapping[str, Option]) -> dict[str, Option]:
    """Return how a table was read, without what goes without saying."""
    known = {name: value for name, value in reading.items() if name in READING}
    return {name: value for name, value in known.items() if USUAL_READING.get(name) != value}


def _models(found: Inspection) -> Iterator[PrivacyModel]:
    yield KAnonymity(k=min(USUAL_K, found.rows))
    for each in found.proposals:
        if each.role is Role.SENSITIVE and each.distinct >= USUAL_L:
            yield DistinctLDiversity(l=USUAL_L, sensitive=each.name)
