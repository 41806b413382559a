"""The golden table of masking, and columns made of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sfumato as sf
from golden_files import GOLDEN

NUMBERS = ("age", "edu", "hours", "income")
KEYS = ("age10", "sex", "region", "edu4", "job")
SECRET = "5f" * 32


def persons() -> pa.Table:
    return sf.read(GOLDEN / "masking_persons.csv")


def unrounded() -> pa.Table:
    """Give every number more digits than decimals have, so that nothing rounds what is drawn."""
    table = persons()
    return pa.table({name: np.asarray(table[name], dtype=float) + 1 / 3_000_000 for name in NUMBERS})


def keys() -> pa.Table:
    table = persons()
    return pa.table(
        {
            "age10": np.asarray(table["age"]) // 10,
            "sex": table["sex"],
            "region": table["region"],
            "edu4": np.asarray(table["edu"]) // 4,
            "job": table["job"],
        }
    )


def secret(number: int) -> str:
    return f"{number:064x}"
