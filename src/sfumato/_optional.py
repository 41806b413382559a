"""Optional libraries, installed only by those who need them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.errors import SfumatoError


def import_optional(module: str, *, extra: str, error: type[SfumatoError]) -> Any:
    """Import the library of an extra, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise error(
            f'The library {module.partition(".")[0]} is needed; install it with pip install "sfumato[{extra}]".'
        ) from None
