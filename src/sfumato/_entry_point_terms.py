"""Sentences in the words of the entrance through which a request came.

The library writes every sentence in the words of Python: `skip_rows=2`, `KAnonymity.k must be at least 1; got ().`,
`sf.hierarchies.Intervals(5, 10)`. The command line and the workbench translate a sentence where they show it, so no
sentence is written twice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Protocol

UNSPECIFIED = object()  # the value of a parameter that is named without one, as in "give more with memory="

FILES = r"(?!(?:csv|tsv|txt|gz|parquet|pq|xlsx?|dta|z?sav|por|sas7bdat|xpt|toml|json|sqlite|db|duckdb|arrow|gml)\b)"
LITERAL = r"""'[^']*'|"[^"]*"|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)|-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?|True|False|None"""
MUST_BE = re.compile(rf"(?<![\w'\"])((?:[A-Za-z_]\w*\.)+){FILES}([A-Za-z_]\w*)(?=\[[^\]]*\] must | must )")
RECIPE = re.compile(r"(?<![\w'\"])(Schema|Recipe)\.([a-z_]+)(?:\[('[^']*'|\"[^\"]*\")\])?")
SUBSCRIPT = re.compile(r"\[('[^']*'|\"[^\"]*\")\](?= must )")
GOT = re.compile(r"(?<=; got )(.+)(?=\.$)", re.DOTALL)
CALL = re.compile(r"(?<![\w'\"/.-])((?:[a-z_]+\.)*[A-Z]\w*\([^()]*\))")
REFERENCE = re.compile(r"(?<![\w'\"/.-])sf\.((?:[a-z_]+\.)*\w+)")
CLASS = re.compile(r"(?<![\w'\"/.-])([A-Z]\w*[A-Z]\w*)(?![\w'\"/(-])(?:\.([a-z_]+))?")
GIVEN = re.compile(rf"(?<![^\s(])([a-z_]+)=({LITERAL})?(?=[\s,;.)]|$)")
BRACKETS = re.compile(r"(?<!\w)([\[({]['\"][^\[\](){}]*[\])}]|\[\]|\(\)|\{\})")
NAMED = re.compile(r"(?<![\w'\"-])(True|False|None)(?![\w'\"])")


class EntryPointTerms(Protocol):
    """The words of an entrance."""

    def option(self, name: str, value: object) -> str | None:
        """Return how a parameter is given, with a value unless it is `UNSAID`; None if it is none of this entrance."""

    def owned(self, owner: str, name: str) -> str:
        """Return what the parameter of a class or a function is called."""

    def made(self, name: str, positional: list[object], named: Mapping[str, object]) -> str | None:
        """Return what is called that Python makes by a class or does by a function; None if it is none of ours."""

    def shown(self, value: object) -> str:
        """Write a plain value."""


def translate(sentence: str, words: EntryPointTerms) -> str:
    """Return a sentence of the library in the words of an entrance; what is in them already stays as it is."""

    def owned(found: re.Match[str]) -> str:
        return words.owned(found[1].rstrip("."), found[2])

    def of_recipe(found: re.Match[str]) -> str:
        column = "" if found[3] is None else f" of {found[3]}"
        return words.owned(found[1], found[2]) + column

    def value(found: re.Match[str]) -> str:
        read = _parse_literal(found[1])
        return found[1] if read is UNSPECIFIED or isinstance(read, str) else words.shown(read)

    def call(found: re.Match[str]) -> str:
        return _translate_call(found[1], words)

    def reference(found: re.Match[str]) -> str:
        name = found[1].rpartition(".")[2]
        return words.made(name, [], {}) or name.replace("_", " ")

    def named(found: re.Match[str]) -> str:
        if found[2]:
            return words.owned(found[1], found[2])
        return words.made(found[1], [], {}) or found[0]

    def given(found: re.Match[str]) -> str:
        read = UNSPECIFIED if found[2] is None else _parse_literal(found[2])
        return words.option(found[1], read) or (found[1] if read is UNSPECIFIED else f"{found[1]}={words.shown(read)}")

    said = GOT.sub(value, SUBSCRIPT.sub(r" of \1", MUST_BE.sub(owned, sentence)))
    for pattern, change in ((RECIPE, of_recipe), (CALL, call), (REFERENCE, reference), (CLASS, named), (GIVEN, given)):
        said = pattern.sub(change, said)
    return NAMED.sub(value, BRACKETS.sub(value, said))


def _parse_literal(written: str) -> object:
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return UNSPECIFIED


def _translate_call(written: str, words: EntryPointTerms) -> str:
    """Say a call of a class, such as `sf.hierarchies.Intervals(5, 10)`; what cannot be read so stays."""
    try:
        call = ast.parse(written, mode="eval").body
        if not isinstance(call, ast.Call):
            return written
        positional = [ast.literal_eval(each) for each in call.args]
        named = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (ValueError, SyntaxError):
        return written
    name = written.partition("(")[0].rpartition(".")[2]
    return words.made(name, positional, named) or written
