"""The words of all languages: the same keys, the same fields."""

from __future__ import annotations

from string import Formatter

import pytest

from sfumato.exceptions import InvalidParameterError
from sfumato.words import LANGUAGES, words_in


def forms(entry):
    return [entry] if isinstance(entry, str) else list(entry.values())


def fields_of(entry):
    return {name for form in forms(entry) for _, name, _, _ in Formatter().parse(form) if name is not None}


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "en"])
def test_every_language_has_the_same_keys_and_fields(language):
    english, other = words_in("en").entries, words_in(language).entries
    assert {key: fields_of(entry) for key, entry in other.items()} == {
        key: fields_of(entry) for key, entry in english.items()
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_form_is_empty_and_all_fields_are_plain_names(language):
    for entry in words_in(language).entries.values():
        assert all(form.strip() for form in forms(entry))
        assert all(name.isidentifier() for name in fields_of(entry))


def test_one_and_many():
    say = words_in("en")
    assert [say("units.records", n=n) for n in (0, 1, 1_000)] == ["0 records", "1 record", "1,000 records"]


def test_unknown_languages_are_refused():
    with pytest.raises(InvalidParameterError, match="no words in the language 'de'; choose one of en, zh"):
        words_in("de")


def test_an_unknown_key_is_an_error():
    with pytest.raises(KeyError):
        words_in("en")("units.nothing")
