"""Every table is read and coded once per release, whatever is judged about it."""

from __future__ import annotations

from collections import Counter

import pytest

import sfumato as sf
from sfumato.cli._demo_runs import demo_recipe
from sfumato.encoding import coded_table
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.tables.published.published_table import PublishedTable

QUASI = demo_recipe(1).schema.quasi_identifiers


@pytest.fixture
def counted(monkeypatch):
    """Count who is coded, read and built how often while a release is made and written."""
    counts: Counter[str] = Counter()

    def count(owner, name, key):
        plain = getattr(owner, name)

        def counting(*given, **named):
            counts[key(*given)] += 1
            return plain(*given, **named)

        monkeypatch.setattr(owner, name, counting)

    count(coded_table, "encode_column", lambda name, *_: f"code {name}")
    count(PublishedTable, "read", lambda *_: "read")
    count(Prefixes, "build", lambda *_: "build")
    return counts


@pytest.mark.parametrize("report", [True, False])
def test_a_table_is_coded_once_for_the_search_and_once_for_all_judges(counted, tmp_path, report):
    release = sf.run_recipe(demo_recipe(1), sf.datasets.generate_hospital(400, seed=1))
    release.write(tmp_path / "out", report=report)
    assert {name: counted[f"code {name}"] for name in QUASI} == dict.fromkeys(QUASI, 2)
    assert counted["build"] == 2


def test_a_published_table_is_read_once_from_memory_and_once_from_its_file(counted, tmp_path):
    release = sf.run_recipe(demo_recipe(1), sf.datasets.generate_hospital(400, seed=1))
    release.write(tmp_path / "out")
    assert counted["read"] == 2
