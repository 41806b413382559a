"""`sf.propose_recipe`: a first recipe for a table that was inspected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.coding.fingerprint import fingerprint
from sfumato.inspection.detect import Inspection
from sfumato.models.k_anonymity import KAnonymity
from sfumato.recipe import READING, Recipe
from sfumato.release.presets import preset_named
from sfumato.schema.scales import Scale
from sfumato.table.formats.base import Option
from sfumato.table.frames import Frame, to_arrow

USUAL = "research-partner"
USUAL_READING = {"separator": ",", "encoding": "utf-8"}


def propose_recipe(
    found: Inspection, data: Frame | None, *, reading: Mapping[str, Option] | None = None, preset: str | None = None
) -> Recipe:
    """Propose a recipe that can be carried out as it stands, or changed first.

    It promises what a preset promises: by default 5-anonymity, and two different values in every group for each
    sensitive column. Only by default is less promised of a table with fewer than five records.

    Parameters
    ----------
    found : what `sf.inspect` found in the table; its roles are proposals, to be checked.
    data : the table, whose fingerprint the recipe records; None if it is larger than memory.
    reading : how the table was read, as `sf.propose_reading` tells it.
    preset : who receives the table, or the rule that it must keep; one of `sf.release.list_presets()`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sfumato.inspection import inspect
    >>> table = pa.table({"age": [39, 50, 39], "disease": ["flu", "cold", "flu"]})
    >>> [model.name for model in propose_recipe(inspect(table), table).models]
    ['k-anonymity', 'distinct-l-diversity']
    """
    recipe = Recipe(
        schema=found.schema(),
        models=(KAnonymity(k=1),),
        algorithm=Mondrian(),
        input_rows=found.rows,
        input_sha256=None if data is None else fingerprint(to_arrow(data)[0]),
        reading=to_remember(reading or {}),
    )
    chosen = preset_named(preset or USUAL)
    if preset is None:
        chosen = replace(chosen, k=min(chosen.k, found.rows))
    return chosen.applied(
        recipe,
        distinct={each.name: each.distinct for each in found.proposals},
        ordered=[each.name for each in found.proposals if each.scale in {Scale.NUMERIC, Scale.ORDINAL}],
    )


def to_remember(reading: Mapping[str, Option]) -> dict[str, Option]:
    """Return how a table was read, without what goes without saying."""
    known = {name: value for name, value in reading.items() if name in READING}
    return {name: value for name, value in known.items() if USUAL_READING.get(name) != value}
