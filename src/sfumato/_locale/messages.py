"""Entries of words: one folder per language, one TOML file per room that speaks, the same keys and fields in all."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Self, TypeAlias

from sfumato._validation import suggest_closest
from sfumato.errors import InvalidParameterError

LANGUAGES = MappingProxyType({"en": "English", "zh": "中文"})
BETWEEN = MappingProxyType({"en": (", ", " "), "zh": ("、", "")})  # the items of a list, and sentences
NAMED = frozenset({"attack", "identifier", "objective", "question", "role", "step", "what", "where"})

Entry: TypeAlias = str | Mapping[str, str]


class Messages:
    """The words of one language, by key.

    A key is the name of a file, a dot, and the path to an entry in it. An entry is a sentence with fields in braces, or
    a table of two, `one` and `other`, which the field `n` chooses between. Whole numbers are written with a comma
    between thousands. The value of one of the `NAMED` fields is said by its own entry, if it has one under the field's
    name in the same file; a field that is told as a key and its fields, as `LocalizedText.to_dict` does, is said like
    any other sentence.

    >>> say = load_messages("en")
    >>> say("units.records", n=1), say("units.records", n=30162)
    ('1 record', '30,162 records')
    """

    def __init__(self, language: str, entries: MessageFiles) -> None:
        self.language = language
        self.entries = entries

    def __call__(self, key: str, /, **fields: Any) -> str:
        """Say the sentence of this key with these fields."""
        return self.template(key, fields).format_map(self.format_fields(key, fields))

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def __repr__(self) -> str:
        return f"Words({self.language!r})"

    def template(self, key: str, fields: Mapping[str, Any]) -> str:
        """Return the sentence of this key as it is written, the form that the field `n` chooses."""
        entry = self.entries[key]
        return entry if isinstance(entry, str) else entry["one" if fields.get("n") == 1 else "other"]

    def format_fields(self, key: str, fields: Mapping[str, Any]) -> dict[str, object]:
        """Return the fields as they stand in the sentence of this key."""
        room = key.partition(".")[0]
        return {name: self._format_field(room, name, value) for name, value in fields.items()}

    def get(self, key: str, otherwise: str, /, **fields: Any) -> str:
        """Say the sentence of this key if there is one, and something else otherwise.

        >>> load_messages("en").get("kinds.roles.quasi", "quasi"), load_messages("en").get("kinds.roles.other", "other")
        ('quasi-identifier', 'other')
        """
        return self(key, **fields) if key in self.entries else otherwise

    def render(self, told: Mapping[str, Any]) -> str:
        """Say a sentence that is told as its key and fields.

        >>> load_messages("en").render({"key": "units.columns", "fields": {"n": 3}})
        '3 columns'
        """
        return self(told["key"], **told["fields"])

    def subset(self, path: str) -> dict[str, Entry]:
        """Return all entries below a path, by the rest of their keys, as they are written.

        >>> sorted(load_messages("en").subset("kinds.scales"))
        ['categorical', 'nominal', 'numeric', 'ordinal']
        """
        start, room = f"{path}.", self.entries.load_section(path.partition(".")[0])
        return {key.removeprefix(start): entry for key, entry in room.items() if key.startswith(start)}

    def join_items(self, items: Iterable[object]) -> str:
        """Write items one after another.

        >>> load_messages("zh").join_items(["age", "sex"])
        'age、sex'
        """
        return BETWEEN[self.language][0].join(map(str, items))

    def join_sentences(self, sentences: Iterable[str]) -> str:
        """Write sentences one after another."""
        return BETWEEN[self.language][1].join(sentences)

    def _format_field(self, room: str, name: str, value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            return _GroupedInteger(value)
        if isinstance(value, float):
            return _Number(value)
        if isinstance(value, Mapping):
            return self.render(value)
        if isinstance(value, list | tuple):
            return self.join_items(self._format_field(room, name, each) for each in value)
        named = f"{room}.{name}.{value}"
        return self(named) if name in NAMED and named in self.entries else value


@cache
def load_messages(language: str) -> Messages:
    """Return the words of a language, `"en"` or `"zh"`.

    Raises
    ------
    InvalidParameterError
        If there are no words in this language.
    """
    check_language(language)
    return Messages(language, MessageFiles(language))


def check_language(language: str) -> None:
    """Refuse a language that there are no words in."""
    if language not in tuple(LANGUAGES):
        hint = suggest_closest(str(language), LANGUAGES) or f"; choose one of {', '.join(LANGUAGES)}."
        raise InvalidParameterError(f"There are no words in the language {language!r}{hint}")


class MessageFiles(Mapping[str, Entry]):
    """The entries of all files of a language; a file is read when one of its entries is asked for."""

    def __init__(self, language: str) -> None:
        self._texts = {
            file.name.removesuffix(".toml"): file
            for file in (files("sfumato._locale") / language).iterdir()
            if file.name.endswith(".toml")
        }
        self._read: dict[str, dict[str, Entry]] = {}

    def __getitem__(self, key: str) -> Entry:
        return self.load_section(key.partition(".")[0])[key]

    def __iter__(self) -> Iterator[str]:
        for name in sorted(self._texts):
            yield from self.load_section(name)

    def __len__(self) -> int:
        return sum(len(self.load_section(name)) for name in self._texts)

    def load_section(self, name: str) -> dict[str, Entry]:
        """Return the entries of one file; none if there is no such file."""
        if name not in self._read:
            found = self._texts.get(name)
            text = "" if found is None else found.read_text(encoding="utf-8")
            self._read[name] = _flatten(tomllib.loads(text), name)
        return self._read[name]


class _Number(float):
    """A number that large values make no power of ten."""

    def __format__(self, spec: str) -> str:
        said = super().__format__(spec)
        return f"{float(self):,.0f}" if "e+" in said else said


class _GroupedInteger(int):
    """A whole number that is written with a comma between thousands, unless its sentence says otherwise.

    >>> f"{_GroupedInteger(30162)} {_GroupedInteger(30162):.3g}"
    '30,162 3.02e+04'
    """

    def __format__(self, form: str) -> str:
        return format(int(self), form or ",")


def _flatten(entries: Mapping[str, Any], prefix: str) -> dict[str, Entry]:
    """Name every entry by its path.

    >>> _flatten({"a": "x", "b": {"one": "y", "other": "z"}, "c": {"d": "w"}}, "f")
    {'f.a': 'x', 'f.b': {'one': 'y', 'other': 'z'}, 'f.c.d': 'w'}
    """
    found: dict[str, Entry] = {}
    for name, value in entries.items():
        key = f"{prefix}.{name}"
        if isinstance(value, str) or set(value) == {"one", "other"}:
            found[key] = value
        else:
            found |= _flatten(value, key)
    return found


# Sentences of the library that can be said again in another language.


class LocalizedText(str):
    """An English sentence that knows its key and its fields, so that it can be said in other words.

    Fields are plain values or other sentences.

    >>> sentence = LocalizedText("units.records", n=3)
    >>> print(sentence)
    3 records
    >>> sentence.to_dict
    {'key': 'units.records', 'fields': {'n': 3}}
    """

    __slots__ = ("fields", "key")

    key: str
    fields: MappingProxyType[str, Any]

    def __new__(cls, key: str, **fields: Any) -> Self:
        """Say the sentence of this key with these fields."""
        made = super().__new__(cls, load_messages("en")(key, **fields))
        made.key, made.fields = key, MappingProxyType(fields)
        return made

    @property
    def to_dict(self) -> dict[str, Any]:
        """The key and the fields as plain values, which `Messages.render` takes."""
        return {"key": self.key, "fields": {name: _field_to_dict(value) for name, value in self.fields.items()}}

    def render(self, words: Messages) -> str:
        """Say the sentence in the words of some language."""
        return words.render(self.to_dict)

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """Return what a copy or a pickle is made of."""
        return (self.key,), dict(self.fields)

    def __getstate__(self) -> None:
        """Keep nothing else: the arguments make everything again."""


def quote_names(names: Iterable[str]) -> list[LocalizedText]:
    """Put names in quotation marks, those of each language.

    >>> quote_names(["age"])
    ["'age'"]
    """
    return [LocalizedText("units.quoted", name=name) for name in names]


def _field_to_dict(value: object) -> object:
    if isinstance(value, LocalizedText):
        return value.to_dict
    return [_field_to_dict(each) for each in value] if isinstance(value, list | tuple) else value
