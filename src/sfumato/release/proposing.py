"""`sf.inspect` and `sf.propose_recipe`: what a table seems to be, and a first recipe for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

from sfumato.algorithms.local.mondrian import Mondrian
from sfumato.coding.fingerprint import compute_table_digest
from sfumato.exceptions import InvalidParameterError
from sfumato.inspection.detect import Inspection, inspect_columns
from sfumato.models.k_anonymity import KAnonymity
from sfumato.recipe import READ_OPTION_TYPES, Recipe
from sfumato.release.presets import get_preset
from sfumato.schema.scales import Scale
from sfumato.sources.engines import Data, InputEngineOptions
from sfumato.table.formats.base import Option
from sfumato.table.frames import Frame, to_arrow

USUAL = "research-partner"
USUAL_READING = {"separator": ",", "encoding": "utf-8"}


def inspect(
    data: Data,
    *,
    labels: Mapping[str, str] | None = None,
    preset: str | None = None,
    **where: Unpack[InputEngineOptions],
) -> Inspection:
    """Propose a role and a scale for every column of a table, and what to promise, and measure its risk.

    Parameters
    ----------
    data : a pandas, Polars or Arrow table, which is not changed; or what is larger than memory: a file, a folder of
        Parquet files or a pattern such as `"census/*.parquet"`, an Arrow dataset.
    labels : what is known in words about columns whose names say little, as surveys have them; `read_detecting_layout`
        returns those of a Stata, SPSS or SAS file.
    preset : who receives the table, or the rule that it must keep; one of `sf.release.list_presets()`.
    where : `engine`, `memory` and `temporary`, see `sfumato.sources.engines.InputEngineOptions`.

    Raises
    ------
    SchemaError
        If the table has no rows or no columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = inspect(pa.table({"age": [39, 50, 39], "disease": ["flu", "cold", "flu"]}))
    >>> [(p.name, p.role.value) for p in found.proposals]
    [('age', 'quasi'), ('disease', 'sensitive')]
    >>> found.models
    (KAnonymity(k=3), DistinctLDiversity(l=2, sensitive='disease'))
    """
    return with_models(inspect_columns(data, labels=labels, **where), preset)


def with_models(found: Inspection, preset: str | None = None) -> Inspection:
    """Add to what was found in a table what to promise."""
    return replace(found, models=propose_recipe(found, None, preset=preset).models)


def propose_recipe(
    found: Inspection, data: Frame | None, *, reading: Mapping[str, Option] | None = None, preset: str | None = None
) -> Recipe:
    """Propose a recipe that can be carried out as it stands, or changed first.

    It promises what a preset promises: by default 5-anonymity, and two different values in every group for each
    sensitive column. Only by default is less promised of a table with fewer than five records. A sensitive column in
    which one value is so frequent that nothing could keep the preset has no role, so it is not published.

    Parameters
    ----------
    found : what `sf.inspect` found in the table; its roles are proposals, to be checked.
    data : the table, whose fingerprint the recipe records; None if it is larger than memory.
    reading : how the table was read, as `sf.read_detecting_layout` tells it.
    preset : who receives the table, or the rule that it must keep; one of `sf.release.list_presets()`.

    Raises
    ------
    InvalidParameterError
        If the table has fewer records than the preset wants in one group.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [39, 50, 39], "disease": ["flu", "cold", "flu"]})
    >>> [model.name for model in propose_recipe(inspect(table), table).models]
    ['k-anonymity', 'distinct-l-diversity']
    """
    chosen = get_preset(preset or USUAL)
    if preset is None:
        chosen = replace(chosen, k=min(chosen.k, found.rows))
    if chosen.k > found.rows:
        raise InvalidParameterError(
            f"The preset {chosen.name!r} wants at least {chosen.k} records in every group, and the table has "
            f"{found.rows:,}; choose another preset."
        )
    kept = [each for each in found.proposals if not chosen.needs_more(each)]
    recipe = Recipe(
        schema=replace(found, proposals=tuple(kept)).schema(),
        models=(KAnonymity(k=1),),
        algorithm=Mondrian(),
        input_rows=found.rows,
        input_sha256=None if data is None else compute_table_digest(to_arrow(data)[0]),
        reading=non_default_options(reading or {}),
    )
    return chosen.applied(
        recipe,
        distinct={each.name: each.distinct for each in kept},
        ordered=[each.name for each in kept if each.scale in {Scale.NUMERIC, Scale.ORDINAL}],
    )


def non_default_options(reading: Mapping[str, Option]) -> dict[str, Option]:
    """Return how a table was read, without what goes without saying."""
    known = {name: value for name, value in reading.items() if name in READ_OPTION_TYPES}
    return {name: value for name, value in known.items() if USUAL_READING.get(name) != value}
