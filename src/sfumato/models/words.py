"""A model in words, for people who never read its paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GROUP = "every group of records with equal quasi-identifiers"
FLAGGED_BUCKET = "every bucket of flagged cells"

SHARE = "least share of what is asked for that the worst group reaches"


@dataclass(frozen=True, kw_only=True)
class ModelWords:
    """What reports say about a model, in one language.

    In `promise` and `further`, `{NAME}` stands for the parameter of that name; `{group}` and `{Group}` for what the
    model speaks of, a group of records or a bucket of flagged cells; and `{others}` for the others in a group of k.

    Parameters
    ----------
    title : the model's name as people write it.
    level : what the level counts.
    promise : a sentence that says what is promised.
    stops : the name of the attack that no longer works, a colon, and what an attacker does in it.
    open : a sentence that says what the promise leaves open.
    further : one more sentence for each parameter that is given and not false.
    """

    title: str
    level: str = "level of the worst group"
    promise: str = "{Group} keeps {title}."
    stops: str = "See the documentation of this model for the attack that it stops."
    open: str = "See the documentation of this model for what it leaves open."
    further: Mapping[str, str] = field(default_factory=dict)

    def sentence(self, parameters: Mapping[str, Any], group: str = GROUP) -> str:
        """Say what is promised with these parameters, of every group or bucket.

        >>> words = ModelWords(title="k-anonymity", promise="{Group} holds at least {k} records.")
        >>> words.sentence({"k": 5}, FLAGGED_BUCKET)
        'Every bucket of flagged cells holds at least 5 records.'
        """
        filled = {key: _shown(value) for key, value in parameters.items()}
        filled |= {"group": group, "Group": group.capitalize(), "title": self.title}
        k = parameters.get("k")
        if isinstance(k, int):
            filled["others"] = "1 other" if k == 2 else f"{k - 1} others"  # noqa: PLR2004 - one and another one
        further = [sentence for key, sentence in self.further.items() if parameters.get(key)]
        return " ".join(sentence.format_map(filled) for sentence in (self.promise, *further))


def _shown(value: object) -> object:
    if isinstance(value, Mapping):
        return f"as given for {len(value)} values"
    if isinstance(value, list | tuple):
        return ", ".join(f"“{name}”" for name in value)
    return f"{value:g}" if isinstance(value, float) else value
