"""Every entry is used: by its whole key somewhere in the source, or below a prefix that keys are composed of."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import sfumato
from sfumato._locale.messages import NAMED, load_messages

SOURCE = Path(sfumato.__file__).parent
TEXT = "\n".join(path.read_text("utf-8") for end in ("py", "j2", "js") for path in sorted(SOURCE.rglob(f"*.{end}")))
ENTRIES = load_messages("en").entries

# Keys are composed of these and a text that stands elsewhere in the source.
BY_TEXT = (
    "attacks.",
    "comparison.",
    "pictures.risks.",
    "report.analysts.",
    "report.buckets.",
    "report.distributions.",
    "report.exposure.",
    "report.risk.",
    "report.verdict.",
    "synthetic.limits.",
    "synthetic.moments.",
)
ROOMS = "|".join(sorted({key.partition(".")[0] for key in ENTRIES}))
# Keys are composed of these and what the data say: names of models, measures, columns' roles and the like.
BY_DATA = {
    *re.findall(rf"""["']((?:{ROOMS})\.[\w.-]*)(?:["'] ~|\{{)""", TEXT),
    *(f"{path}." for path in re.findall(r"""subset\(["']([\w.-]+)["']\)""", TEXT)),
    "messages.",  # sentences of the library, recognized as they are written
    "workbench_messages.label.",  # the name of a parameter
    "kinds.",  # each table of it is named by what it is about
    "promises.compared_with.",  # a parameter of models
    "promises.distance.",  # a parameter of models
} - {*BY_TEXT, "promises."}


def quoted(text: str) -> bool:
    return f'"{text}"' in TEXT or f"'{text}'" in TEXT


def said_as_a_field(key: str) -> bool:
    room, *path = key.split(".")
    fields = {
        name
        for each, entry in ENTRIES.items()
        if each.startswith(f"{room}.")
        for form in ([entry] if isinstance(entry, str) else entry.values())
        for _, name, _, _ in Formatter().parse(form)
    }
    return path[0] in NAMED & fields


def used(key: str) -> bool:
    if quoted(key) or key.startswith(tuple(BY_DATA)) or said_as_a_field(key):
        return True
    return any(key.startswith(prefix) and quoted(key.removeprefix(prefix).split(".")[0]) for prefix in BY_TEXT)


@pytest.mark.parametrize("room", sorted({key.partition(".")[0] for key in ENTRIES}))
def test_every_entry_is_used(room):
    assert [key for key in ENTRIES if key.startswith(f"{room}.") and not used(key)] == []


@pytest.mark.parametrize("prefix", BY_TEXT)
def test_every_prefix_is_used(prefix):
    assert f'"{prefix}{{' in TEXT or f'"{prefix}" ~' in TEXT


def test_every_key_in_the_source_has_words():
    said = set(re.findall(rf"""(?:say|ENGLISH|words|Sentence)\(\s*["']((?:{ROOMS})\.[\w.-]+[\w-])["'](?! ~)""", TEXT))
    assert len(said) > 150
    assert sorted(said - set(ENTRIES)) == []
