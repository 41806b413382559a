"""How loops are compiled: on first use, cached on disk, and without the global interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numba as nb
import numpy.typing as npt

Function = TypeVar("Function", bound=Callable[..., Any])
Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = tuple[Array, ...]
Number: TypeAlias = Any  # a whole number: of Python where loops begin, of an array inside them

compiled = cast("Callable[[Function], Function]", nb.njit(cache=True, nogil=True))
