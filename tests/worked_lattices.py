"""Lattices that were worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from lattice_tasks import make_task
from sfumato.encoding.coded_table import encode_table
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.schema.schema import Schema
from sfumato.tables.models.k_anonymity import KAnonymity

if TYPE_CHECKING:
    from sfumato._progress import Progress
    from sfumato.tables.algorithms.base import TableRequest

SEX_AND_ZIP = pa.table({"sex": ["M", "F", "M", "F"], "zip": ["53715", "53715", "53710", "53710"]})
SEX_AND_ZIP_SCHEMA = Schema(quasi_identifiers=["sex", "zip"], hierarchies={"zip": Prefixes(4)})
SEX_AND_ZIP_MINIMAL = {(0, 1), (1, 0)}
SEX_AND_ZIP_SOLUTIONS = {(0, 1), (1, 0), (0, 2), (1, 1), (1, 2)}

# Twelve nodes: ages alone and zips alone tell all records apart; decades and two digits do not.
AGE_AND_ZIP = pa.table({"age": [21, 22, 31, 32], "zip": ["111", "112", "221", "222"]})
AGE_AND_ZIP_SCHEMA = Schema(quasi_identifiers=["age", "zip"], hierarchies={"age": Intervals(10), "zip": Prefixes()})
AGE_AND_ZIP_SOLUTIONS = {(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)}

# Suppressing the kind, at height 1, is a solution; one digit of the zip, at height 2, is another and loses less.
KIND_AND_ZIP = pa.table(
    {"kind": ["x", "y"] * 4, "zip": [zip_code for zip_code in ("111", "121", "211", "221") for _ in range(2)]}
)
KIND_AND_ZIP_SCHEMA = Schema(quasi_identifiers=["kind", "zip"], hierarchies={"zip": Prefixes()})


def sex_and_zip(limit: int = 0) -> TableRequest:
    """Ask for 2-anonymity of sex and zip."""
    return make_task(encode_table(SEX_AND_ZIP, SEX_AND_ZIP_SCHEMA), [KAnonymity(k=2)], limit)


def age_and_zip(**how: Progress) -> TableRequest:
    """Ask for 2-anonymity of age and zip."""
    return make_task(encode_table(AGE_AND_ZIP, AGE_AND_ZIP_SCHEMA), [KAnonymity(k=2)], 0, **how)


def kind_and_zip() -> TableRequest:
    """Ask for 2-anonymity of kind and zip."""
    return make_task(encode_table(KIND_AND_ZIP, KIND_AND_ZIP_SCHEMA), [KAnonymity(k=2)], 0)
