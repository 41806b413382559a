"""The words of all languages: the same keys, the same fields."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from sfumato._locale.messages import LANGUAGES, MessageFiles, load_messages
from sfumato.errors import InvalidParameterError

OWN_ENGLISH = ("models", "steps")  # their English is in their own files; test_library_words.py compares them


def forms(entry):
    return [entry] if isinstance(entry, str) else list(entry.values())


def fields_of(entry):
    return {name for form in forms(entry) for _, name, _, _ in Formatter().parse(form) if name is not None}


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "en"])
def test_every_language_has_the_same_keys_and_fields(language):
    english, other = load_messages("en").entries, load_messages(language).entries
    shared = {key: entry for key, entry in other.items() if key.partition(".")[0] not in OWN_ENGLISH}
    assert shared.keys() == english.keys()
    for key, entry in english.items():
        said, known = fields_of(shared[key]), fields_of(entry)
        # a sentence of the library is recognized by all of its fields, and said with those that matter
        assert said == known or (key.startswith("messages.") and said < known), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_form_is_empty_and_all_fields_are_plain_names(language):
    for entry in load_messages(language).entries.values():
        assert all(form.strip() for form in forms(entry))
        assert all(name.isidentifier() for name in fields_of(entry))


def test_one_and_many():
    say = load_messages("en")
    assert [say("units.records", n=n) for n in (0, 1, 1_000)] == ["0 records", "1 record", "1,000 records"]


def test_numbers_are_written_as_the_sentence_says():
    say = load_messages("en")
    assert say("risk.ema.average", average=1, least=1100, exact=0) == (
        "The average chance of finding a record is 1.0000; 1/1,100 is 0.0000."
    )


def test_unknown_languages_are_refused():
    with pytest.raises(InvalidParameterError, match="no words in the language 'de'; choose one of en, zh"):
        load_messages("de")


@pytest.mark.parametrize("key", ["units.nothing", "nowhere.nothing"])
def test_an_unknown_key_is_an_error(key):
    with pytest.raises(KeyError):
        load_messages("en")(key)
    assert key not in load_messages("en")
    assert load_messages("en").get(key, "said otherwise") == "said otherwise"


def test_a_file_is_read_when_it_is_needed():
    entries = MessageFiles("zh")
    assert entries["units.records"]
    assert set(entries._read) == {"units"}
    assert len(entries) == len(list(entries)) > 100


def test_fields_that_have_words_are_said_by_them():
    say = load_messages("zh")
    assert say("reasons.contains", what="dates") == "内容为日期"
    assert say("reasons.contains", what="{unheard of}") == "内容为{unheard of}"


def test_items_are_listed_as_a_language_lists_them():
    assert load_messages("en").join_items(["a", 2]) == "a, 2"
    assert load_messages("zh").join_items(["a", 2]) == "a、2"
    assert load_messages("en").join_sentences(["A.", "B."]) == "A. B."
    assert load_messages("zh").join_sentences(["甲。", "乙。"]) == "甲。乙。"


@pytest.mark.parametrize("key", [key for key in load_messages("zh").entries if not key.endswith(".example")])
def test_chinese_has_its_own_punctuation_and_spaces(key):
    for form in forms(load_messages("zh").entries[key]):
        bare = re.sub("<[^>]*>", "", form)
        assert not re.search(r"[\u4e00-\u9fff][,;:?!]|[,;:?!][\u4e00-\u9fff]|[\u4e00-\u9fff]\.|\.\.\.", bare)
        assert not re.search(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u4e00-\u9fff]", bare)
