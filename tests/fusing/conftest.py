"""What tests of parties over TLS share."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import pytest

from parties_over_tls import PAIR
from party_folders import Folders


@pytest.fixture
def pair(tmp_path):
    return Folders(tmp_path, PAIR)


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Collect connections that a closing event loop left behind, before a later test is blamed for them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
