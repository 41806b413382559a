"""Messages of the library on a page: in the words of its fields and buttons, and in its language.

The library writes a message as an English sentence in the words of Python. Here its parameters get the labels of the
page. On a page in another language, the sentences of `words/en/messages.toml` are recognized and said again; one that
is not there follows what kind of problem it tells, as the original.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from inspect import signature
from string import Formatter

from sfumato._entry_point_terms import UNSPECIFIED, translate
from sfumato._locale.messages import Messages, load_messages
from sfumato.hierarchies._settings import BUILDERS
from sfumato.report.texts import model_texts
from sfumato.tables._catalogue import ALGORITHMS, MASKING_STEPS, MODELS
from sfumato.tables.models.base import GroupModel
from sfumato.workbench._pages.models import parameter_label

POWER = re.compile(r"""(?<![\w.'"“])-?[0-9]+(?:\.[0-9]+)?e\+?[0-9]+(?![\w.]*['"”\w])""")
LARGE = 1_000_000  # written with commas
SHELL = re.compile(r" \(--[a-z][^()]*\)")
JOINED = re.compile(r"(?<=\S) (and|or) (?=\S)")
NAME = re.compile(r"(?<!\w)'([^']*)'(?!\w)")
LABELS = tuple(f"workbench_{where}.{{}}" for where in ("data.reading", "search", "messages.label", "history.place"))


class PageTerms:
    """The words of a page: what it calls parameters, models and values."""

    def __init__(self, say: Messages) -> None:
        self.say = say

    def _label(self, name: str) -> str | None:
        return next((self.say(key.format(name)) for key in LABELS if key.format(name) in self.say), None)

    def option(self, name: str, value: object) -> str | None:
        """Name a field of the page and what to put in; of what no page asks, the option of the command line."""
        label = self._label(name)
        if label is None and name in _fields():
            label = name  # a field of a model or an algorithm
        if label is None:
            option, shown = (
                f"--{name.replace('_', '-')}",
                "" if value in (UNSPECIFIED, True) else f" {self._typed(value)}",
            )
            return self.say("workbench_messages.elsewhere", option=option.removesuffix("s") + shown)
        said = "field" if value is UNSPECIFIED else "field_with"
        return self.say(
            f"workbench_messages.{said}", label=label, value="" if value is UNSPECIFIED else self.shown(value)
        )

    def _typed(self, value: object) -> str:
        if isinstance(value, Mapping):
            return ",".join(f"{key}={each}" for key, each in value.items())
        return self.shown(value)

    def owned(self, owner: str, name: str) -> str:
        """Say whose parameter it is: a field of a model, an algorithm or a step, or a part of the recipe."""
        made = classes().get(owner.rpartition(".")[2])
        if made is None:
            return self._label(name) or name.replace("_", " ")
        field = parameter_label(made, name, self.say) if issubclass(made, GroupModel) else name
        return self.say("workbench_messages.of", field=field, owner=self._title(made))

    def made(self, name: str, positional: list[object], named: Mapping[str, object]) -> str | None:
        """Say what the page calls a model with its settings, an algorithm, a step or a kind of hierarchies."""
        made = classes().get(name)
        if made is None:
            return None
        settings = [*map(self.shown, positional), *(f"{key} = {self.shown(value)}" for key, value in named.items())]
        title = self._title(made)
        return f"{title} ({self.say.join_items(settings)})" if settings else title

    def _title(self, made: type) -> str:
        if issubclass(made, GroupModel):
            return model_texts(made, self.say).title
        slug = next(name for kind in (BUILDERS, ALGORITHMS, MASKING_STEPS) for name in kind if kind[name] is made)
        keys = (f"masking.step.{slug}", f"workbench_hierarchies.tabs.{slug}")
        return next((self.say(key) for key in keys if key in self.say), slug)

    def shown(self, value: object) -> str:
        """Write a value as people type it."""
        if isinstance(value, bool):
            return self.say(f"workbench_messages.{'yes' if value else 'no'}")
        if value is None or (isinstance(value, tuple | list | dict | str) and not value):
            return self.say("workbench_messages.nothing")
        if isinstance(value, Mapping):
            return self.say.join_items(f"{key} = {self.shown(each)}" for key, each in value.items())
        if isinstance(value, tuple | list):
            return self.say.join_items(map(self.shown, value))
        return format_plain_number(value) if isinstance(value, int | float) else str(value)


@cache
def classes() -> dict[str, type]:
    """Return the models, algorithms, masking steps and kinds of hierarchies, by the names of their classes."""
    kinds: list[Mapping[str, type]] = [BUILDERS, *(each.built_in for each in (MASKING_STEPS, ALGORITHMS, MODELS))]
    return {made.__name__: made for kind in kinds for made in kind.values()}


@cache
def _fields() -> set[str]:
    """Return the names of all parameters of models, algorithms, masking steps and hierarchies."""
    return {name for made in classes().values() for name in signature(made).parameters}


def format_plain_number(number: float) -> str:
    """Write a number without powers of ten.

    >>> format_plain_number(1e9), format_plain_number(0.05), format_plain_number(12)
    ('1,000,000,000', '0.05', '12')
    """
    return f"{number:,.0f}" if abs(number) >= LARGE else f"{number:.15g}"


def find_field(sentence: str) -> str | None:
    """Return the parameter that a refusal is about, for the page to go to its field.

    >>> find_field("KAnonymity.k must be at least 1; got 0."), find_field("The model k-anonymity also needs k.")
    ('k', 'k')
    """
    found = re.search(r"\.(\w+) must be|also needs (\w+)", sentence)
    return None if found is None else found[1] or found[2]


def translate_error(say: Messages, sentence: str, kind: str | None = None) -> str:
    """Return a sentence of the library as a page says it; `kind` is the class of the problem that it tells."""
    if say.language == "en":
        return _in_page_terms(sentence, say)
    found = _translate_sentence(sentence, say)
    if found is not None:
        return found
    key = f"workbench.errors.{kind}"
    about = say(key if key in say else "workbench.errors.other")
    return say("workbench_messages.untranslated", about=about, sentence=_in_page_terms(sentence, load_messages("en")))


def translate_note(say: Messages, sentence: str) -> str:
    """Return a note on how far a job is: by its key, or the library's; none in a language in which nobody knows it."""
    if sentence in say:
        return say(sentence)
    return _in_page_terms(sentence, say) if say.language == "en" else _translate_sentence(sentence, say) or ""


def _in_page_terms(sentence: str, say: Messages) -> str:
    """Put the words of a page in place of those of Python and the command line."""
    said = translate(SHELL.sub("", sentence), PageTerms(say))
    return POWER.sub(lambda found: format_plain_number(float(found[0])), said)


def _translate_sentence(sentence: str, say: Messages) -> str | None:
    """Say a sentence that is known in another language; None if it is not."""
    for key, pattern in _patterns().items():
        found = pattern.fullmatch(sentence)
        if found is not None:
            fields = {name: _field(value, say) for name, value in found.groupdict().items()}
            return say(key, **fields)
    return None


def _field(value: str, say: Messages) -> str:
    """Say a part of a sentence: another sentence, names, or what Python calls something."""
    again = _translate_sentence(value, say)
    if again is not None:
        return again
    listed, quoted = say.join_items(["", ""]), NAME.sub(r"“\1”", _in_page_terms(value, say))
    joined = JOINED.sub(lambda found: say(f"workbench_messages.{found[1]}"), quoted)
    return joined.replace("”, “", f"”{listed}“")


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return what the known sentences look like, those with more letters of their own first."""
    found = {}
    for key, entry in load_messages("en").subset("messages").items():
        parsed: list[tuple[str, str | None]] = [each[:2] for each in Formatter().parse(str(entry))]
        parts = [(re.escape(text), name) for text, name in parsed]
        seen: set[str] = set()
        pattern = ""
        for text, name in parts:
            pattern += text + ("" if name is None else f"(?P={name})" if name in seen else f"(?P<{name}>.+?)")
            seen |= {name} if name else set()
        found[f"messages.{key}"] = (sum(len(text) for text, _ in parts), re.compile(pattern, re.DOTALL))
    return {key: pattern for key, (_, pattern) in sorted(found.items(), key=lambda each: -each[1][0])}
