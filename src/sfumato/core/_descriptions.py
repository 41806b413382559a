"""A model in words, for people who never read its paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato._locale.messages import Messages, load_messages

SHARE = "least share of what is asked for that the worst group reaches"


@dataclass(frozen=True, kw_only=True)
class ModelDescription:
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
    language : the language of all these.
    """

    title: str
    level: str = "level of the worst group"
    promise: str = "{Group} keeps {title}."
    stops: str = "See the documentation of this model for the attack that it stops."
    open: str = "See the documentation of this model for what it leaves open."
    further: Mapping[str, str] = field(default_factory=dict)
    language: str = "en"

    def sentence(self, parameters: Mapping[str, Any], *, buckets: bool = False) -> str:
        """Say what is promised with these parameters, of every group, or of every bucket of flagged cells.

        >>> words = ModelDescription(title="k-anonymity", promise="{Group} holds at least {k} records.")
        >>> words.sentence({"k": 5}, buckets=True)
        'Every bucket of flagged cells holds at least 5 records.'
        """
        say = load_messages(self.language)
        group = say("promises.bucket" if buckets else "promises.group")
        filled = {key: _format_parameter(key, value, say) for key, value in parameters.items()}
        filled |= {"group": group, "Group": group.capitalize(), "title": self.title}
        k = parameters.get("k")
        if isinstance(k, int):
            filled["others"] = say("promises.others", n=k - 1)
        further = [sentence for key, sentence in self.further.items() if parameters.get(key)]
        return say.join_sentences(sentence.format_map(filled) for sentence in (self.promise, *further))

    def translated(self, name: str, words: Messages) -> ModelDescription:
        """Return the words of the model of this name in another language; these, where that has none.

        >>> from sfumato.models import KAnonymity
        >>> KAnonymity.description.translated("k-anonymity", load_messages("zh")).title
        'K-匿名'
        """
        found = words.subset(f"models.{name}")
        if not found:
            return self
        told = {each: str(found[each]) for each in ("title", "level", "promise", "open", "stops") if each in found}
        further = {
            key.removeprefix("further."): str(entry) for key, entry in found.items() if key.startswith("further.")
        }
        return ModelDescription(**told, further=further, language=words.language)


def _format_parameter(key: str, value: object, say: Messages) -> object:
    if isinstance(value, Mapping):
        return say("promises.given", n=len(value))
    if isinstance(value, list | tuple):
        return say.join_items(say("promises.name", name=name) for name in value)
    if isinstance(value, str):
        return say.get(f"promises.{key}.{value}", value)
    return f"{value:g}" if isinstance(value, float) else value
