"""What earlier releases of a series told about the persons of a table: the signature of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class KnownPersons:
    """Who of a coded table was in an earlier release, and which values her group of one sensitive attribute showed.

    Parameters
    ----------
    signature_of_row : the place of every row's signature in `signatures`; -1 for a newcomer.
    signatures : the values of each, as codes: of the attribute's domain, the code after it for a missing value, and
        from the next one on those of `gone`, in their order.
    gone : values of signatures that nobody in the table has any longer.
    """

    signature_of_row: npt.NDArray[np.int64]
    signatures: Sequence[tuple[int, ...]]
    gone: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
