"""Sentences of the library that can be said again in another language."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Self

from sfumato.words.entries import Messages, load_messages


class LocalizedText(str):
    """An English sentence that knows its key and its fields, so that it can be said in other words.

    Fields are plain values or other sentences.

    >>> sentence = LocalizedText("units.records", n=3)
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
        made = super().__new__(cls, load_messages("en")(key, **fields))
        made.key, made.fields = key, MappingProxyType(fields)
        return made

    @property
    def to_dict(self) -> dict[str, Any]:
        """The key and the fields as plain values, which `Words.again` takes."""
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
