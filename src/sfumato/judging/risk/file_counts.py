"""The records of a table that stays in its engine: how many have each combination of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.core.published.table import bucket_column
from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.judging.evidence import Evidence
from sfumato.judging.risk.record_groups import refuse_columns
from sfumato.schema.schema import Schema
from sfumato.sources.base import WEIGHT, refuse_reserved
from sfumato.sources.counting import count_fitting, rows_per_individual
from sfumato.sources.engines import Data, Resources
from sfumato.table.formats.base import Option
from sfumato.table.persons import RowsPerIndividual

BYTES_PER_COMBINATION = 800  # while its engine may still hold it
NOTHING: Mapping[str, Option] = {}


def counted_records(
    resources: Resources, data: Data, schema: Schema, reading: Mapping[str, Option] = NOTHING
) -> tuple[Evidence, RowsPerIndividual | None]:
    """Count the combinations of quasi-identifiers of a table that stays in its engine, and rows of individuals.

    Parameters
    ----------
    resources, data : the engine and the table.
    schema : the quasi-identifiers, and identifiers that may repeat.
    reading : the options of `sf.read`.
    """
    if not schema.quasi:
        raise SchemaError("The schema has no quasi-identifier; risk depends on what an adversary may know.")
    quasi, most = schema.of_quasi(), resources.budget // BYTES_PER_COMBINATION
    with resources.opened(data, reading, texts=schema.quasi) as source:
        refuse_reserved(schema.quasi)
        refuse_columns(source.names, (*schema.sensitive, *schema.quasi))
        buckets = dict.fromkeys(bucket_column(source.names, name) for name in schema.quasi)
        names = (*schema.quasi, *(column for column in buckets if column is not None))
        rows = rows_per_individual(source, schema.identifier, "table")
        source.profile(names, names)
        counts = count_fitting(source, names, most)
    return Evidence(counts.drop_columns([WEIGHT]), quasi, weights=counts[WEIGHT].to_numpy()), rows


def refuse_single_rows(**given: object) -> None:
    """Refuse what is looked up row by row."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameterError(
                f"{name} needs single rows, which are not looked at beyond memory; leave it out, or use "
                'engine="memory".'
            )
