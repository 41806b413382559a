"""Why a role or a scale is proposed: sentences with a kind and values, so that they can be told in other words."""

from __future__ import annotations

from types import MappingProxyType
from typing import Self

SENTENCES = MappingProxyType(
    {
        "reaches-people": "{where} contains {word!r}: it identifies or reaches people",
        "may-identify": "{where} contains {word!r}: it may identify people",
        "may-name": "{where} contains {word!r}: free text may name people",
        "others-know": "{where} contains {word!r}: others may know it",
        "secret": "{where} contains {word!r}: nobody should learn it about a person",
        "predicted": "{where} contains {word!r}: it is what others want to predict",
        "survey-weight": "{where} contains {word!r}: a survey weight, which others rarely know; equal weights tell who "
        "was sampled alike",
        "amount": "{where} contains {word!r}: an amount that others rarely know",
        "says-little": "{where} contains {word!r}, which says little: a quasi-identifier, to be safe",
        "unknown": "nothing shows what it is: a quasi-identifier, to be safe",
        "distinct": "{distinct:,} of {filled:,} values are distinct",
        "identifying": "{distinct:,} of {filled:,} values are distinct: it identifies people",
        "telling": "{distinct:,} of {filled:,} values are distinct: anyone who knows one finds the record, so consider "
        "rounding or grouping",
        "separates": "{distinct:,} distinct values separate {percent}% of all pairs of records",
        "separates-one": "1 distinct value separates {percent}% of all pairs of records",
        "looks-like": "{percent}% of distinct values look like {what}",
        "no-value": "no record has a value",
        "one-secret": "all records share one value: anyone known to be in the table has it",
        "one-value": "all records share one value: it separates nobody",
        "recorded-elsewhere": "dates are also recorded elsewhere",
        "long-texts": "most values are long: free text may name people",
        "too-many-texts": "there are too many texts to generalize; give it a hierarchy to keep it",
        "stated-order": "the table says the order of its categories",
        "stands-for-categories": "whole numbers stand for categories",
        "contains": "it contains {what}",
        "known-order": "all its values have a well-known order",
        "codes": "all its values are codes of the same length",
        "postcodes": "postcodes with the same prefix are close to each other",
        "lost-zeros": "some have fewer digits than others: read it as text if leading zeros were lost",
    }
)


class Reason(str):
    """A sentence that knows its kind, by which `SENTENCES` names it, and the values that stand in it.

    >>> reason = Reason("secret", where="column name", word="salary")
    >>> print(reason)
    column name contains 'salary': nobody should learn it about a person
    >>> reason.kind, reason.values["word"]
    ('secret', 'salary')
    """

    __slots__ = ("kind", "values")

    kind: str
    values: MappingProxyType[str, object]

    def __new__(cls, kind: str, **values: object) -> Self:
        """Write the sentence of this kind with these values."""
        made = super().__new__(cls, SENTENCES[kind].format(**values))
        made.kind, made.values = kind, MappingProxyType(values)
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        """Return what a copy or a pickle is made of."""
        return (self.kind,), dict(self.values)

    def __getstate__(self) -> None:
        """Keep nothing else: the arguments make everything again."""
