"""What all tests share: how hard Hypothesis looks, and where the shared benchmark tables are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED_DATA = "SFUMATO_SHARED_DATA"

# The same examples in every run, and no verdict that depends on how fast the machine is or what else was imported.
settings.register_profile(
    "moderate",
    derandomize=True,
    deadline=None,
    max_examples=35,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.register_profile(
    "thorough", settings.get_profile("moderate"), derandomize=False, max_examples=1000, print_blob=True
)
settings.load_profile(os.environ.get("SFUMATO_HYPOTHESIS", "moderate"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the shared benchmark tables where there are none."""
    if _shared_data_folder() is not None:
        return
    absent = pytest.mark.skip(reason=f"{SHARED_DATA} does not name a folder")
    for item in items:
        if item.get_closest_marker("shared_data"):
            item.add_marker(absent)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Give the folder of the shared benchmark tables to a test marked `shared_data`."""
    folder = _shared_data_folder()
    if folder is None:
        pytest.fail(f"A test that uses the fixture shared_data must be marked with it ({SHARED_DATA} is not set).")
    return folder


def _shared_data_folder() -> Path | None:
    named = os.environ.get(SHARED_DATA)
    return Path(named) if named and Path(named).is_dir() else None
