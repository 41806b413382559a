"""Why a role or a scale is proposed: sentences with a kind and values, so that they can be told in other words."""

from __future__ import annotations

from types import MappingProxyType
from typing import Self

from sfumato.words import LocalizedText


class Reason(LocalizedText):
    """A sentence that knows its kind and the values that stand in it; `reasons.KIND` is its key among the words.

    >>> reason = Reason("secret", where="column name", word="salary")
    >>> print(reason)
    column name contains 'salary': nobody should learn it about a person
    >>> reason.kind, reason.values["word"]
    ('secret', 'salary')
    """

    __slots__ = ()

    def __new__(cls, kind: str, **values: object) -> Self:
        """Write the sentence of this kind with these values."""
        return super().__new__(cls, f"reasons.{kind}", **values)

    @property
    def code(self) -> str:
        """Which reason it is."""
        return self.key.removeprefix("reasons.")

    @property
    def values(self) -> MappingProxyType[str, object]:
        """What stands in the sentence, by name."""
        return self.fields

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        """Return what a copy or a pickle is made of."""
        return (self.code,), dict(self.values)
