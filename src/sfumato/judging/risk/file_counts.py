"""The records of a table that stays in its engine: how many have each combination of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.core.published.table import find_bucket_column
from sfumato.exceptions import InvalidParameterError, SchemaError
from sfumato.judging.evidence import AuditContext
from sfumato.judging.risk.record_groups import check_columns
from sfumato.schema.schema import Schema
from sfumato.sources.base import WEIGHT, check_no_reserved_names
from sfumato.sources.counting import count_if_fits, rows_per_individual
from sfumato.sources.engines import Data, EngineSelector
from sfumato.table.formats.base import Option
from sfumato.table.persons import RowsPerIndividual

BYTES_PER_COMBINATION = 800  # while its engine may still hold it
NOTHING: Mapping[str, Option] = {}


def count_records_in_engine(
    resources: EngineSelector, data: Data, schema: Schema, reading: Mapping[str, Option] = NOTHING
) -> tuple[AuditContext, RowsPerIndividual | None]:
    """Count the combinations of quasi-identifiers of a table that stays in its engine, and rows of individuals.

    Parameters
    ----------
    resources, data : the engine and the table.
    schema : the quasi-identifiers, and identifiers that may repeat.
    reading : the options of `sf.read`.
    """
    if not schema.quasi_identifiers:
        raise SchemaError("The schema has no quasi-identifier; risk depends on what an adversary may know.")
    quasi, most = schema.select_quasi_identifiers(), resources.budget // BYTES_PER_COMBINATION
    with resources.open_source(data, reading, texts=schema.quasi_identifiers) as source:
        check_no_reserved_names(schema.quasi_identifiers)
        check_columns(source.names, (*schema.sensitive, *schema.quasi_identifiers))
        buckets = dict.fromkeys(find_bucket_column(source.names, name) for name in schema.quasi_identifiers)
        names = (*schema.quasi_identifiers, *(column for column in buckets if column is not None))
        rows = rows_per_individual(source, schema.identifiers, "table")
        source.profile(names, names)
        counts = count_if_fits(source, names, most)
    return AuditContext(counts.drop_columns([WEIGHT]), quasi, weights=counts[WEIGHT].to_numpy()), rows


def reject_row_options(**given: object) -> None:
    """Refuse what is looked up row by row."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameterError(
                f"{name} needs single rows, which are not looked at beyond memory; leave it out, or use "
                'engine="memory".'
            )
