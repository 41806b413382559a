"""Sentences of the library that can be said again in another language."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Self

from sfumato.words.entries import Words, words_in


class Sentence(str):
    """An English sentence that knows its key and its fields, so that it can be said in other words.

    Fields are plain values or other sentences.

    >>> sentence = Sentence("units.records", n=3)
    >>> print(sentence)
    3 records
    >>> sentence.told
    {'key': 'units.records', 'fields': {'n': 3}}
    """

    __slots__ = ("fields", "key")

    key: str
    fields: MappingProxyType[str, Any]

    def __new__(cls, key: str, **fields: Any) -> Self:
        """Say the sentence of this key with these fields."""
        made = super().__new__(cls, words_in("en")(key, **fields))
        made.key, made.fields = key, MappingProxyType(fields)
        return made

    @property
    def told(self) -> dict[str, Any]:
        """The key and the fields as plain values, which `Words.again` takes."""
        return {"key": self.key, "fields": {name: _told(value) for name, value in self.fields.items()}}

    def in_words(self, words: Words) -> str:
        """Say the sentence in the words of some language."""
        return words.again(self.told)

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """Return what a copy or a pickle is made of."""
        return (self.key,), dict(self.fields)

    def __getstate__(self) -> None:
        """Keep nothing else: the arguments make everything again."""


def quoted(names: Iterable[str]) -> list[Sentence]:
    """Put names in quotation marks, those of each language.

    >>> quoted(["age"])
    ["'age'"]
    """
    return [Sentence("units.quoted", name=name) for name in names]


def _told(value: object) -> object:
    if isinstance(value, Sentence):
        return value.told
    return [_told(each) for each in value] if isinstance(value, list | tuple) else value
