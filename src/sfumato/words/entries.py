"""Entries of words: one folder per language, one TOML file per room that speaks, the same keys and fields in all."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from sfumato.exceptions import InvalidParameterError
from sfumato.validation import did_you_mean

LANGUAGES = MappingProxyType({"en": "English", "zh": "中文"})


class Words:
    """The words of one language, by key.

    A key is the name of a file, a dot, and the path to an entry in it. An entry is a sentence with fields in braces, or
    a table of two, `one` and `other`, which the field `n` chooses between. Whole numbers are written with a comma
    between thousands.

    >>> say = words_in("en")
    >>> say("units.records", n=1), say("units.records", n=30162)
    ('1 record', '30,162 records')
    """

    def __init__(self, language: str, entries: Mapping[str, str | Mapping[str, str]]) -> None:
        self.language = language
        self.entries = entries

    def __call__(self, key: str, /, **fields: Any) -> str:
        """Say the sentence of this key with these fields."""
        entry = self.entries[key]
        sentence = entry if isinstance(entry, str) else entry["one" if fields.get("n") == 1 else "other"]
        return sentence.format_map({name: _shown(value) for name, value in fields.items()})

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def __repr__(self) -> str:
        return f"Words({self.language!r}, {len(self.entries):,} entries)"


@cache
def words_in(language: str) -> Words:
    """Return the words of a language, `"en"` or `"zh"`.

    Raises
    ------
    InvalidParameterError
        If there are no words in this language.
    """
    if language not in LANGUAGES:
        hint = did_you_mean(str(language), LANGUAGES) or f"; choose one of {', '.join(LANGUAGES)}."
        raise InvalidParameterError(f"There are no words in the language {language!r}{hint}")
    folder = files("sfumato.words") / language
    found: dict[str, str | Mapping[str, str]] = {}
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".toml"):
            found |= _flat(tomllib.loads(file.read_text(encoding="utf-8")), file.name.removesuffix(".toml"))
    return Words(language, MappingProxyType(found))


def _flat(entries: Mapping[str, Any], prefix: str) -> dict[str, str | Mapping[str, str]]:
    """Name every entry by its path.

    >>> _flat({"a": "x", "b": {"one": "y", "other": "z"}, "c": {"d": "w"}}, "f")
    {'f.a': 'x', 'f.b': {'one': 'y', 'other': 'z'}, 'f.c.d': 'w'}
    """
    found: dict[str, str | Mapping[str, str]] = {}
    for name, value in entries.items():
        key = f"{prefix}.{name}"
        if isinstance(value, str) or set(value) == {"one", "other"}:
            found[key] = value
        else:
            found |= _flat(value, key)
    return found


def _shown(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value
