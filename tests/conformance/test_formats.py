"""Every format of files keeps every law of the suite."""

from __future__ import annotations

from sfumato.io.formats import FORMATS
from sfumato.testing.suite import parametrize_with_checks

OF_FILES = [form for form in FORMATS.built_in.values() if form.suffixes]


@parametrize_with_checks(*OF_FILES)
def test_format_keeps_the_law(subject, law):
    law(subject)


def test_databases_are_checked_by_their_own_tests():
    assert {form.name for form in OF_FILES} == set(FORMATS) - {"sqlite", "duckdb", "postgresql"}
