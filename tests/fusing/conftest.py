"""What tests of parties over TLS share."""

from __future__ import annotations

import pytest

from parties_over_tls import PAIR
from party_folders import Folders


@pytest.fixture
def pair(tmp_path):
    return Folders(tmp_path, PAIR)
