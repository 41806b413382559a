"""Every TOML file is read alike: what cannot be read is refused in one sentence, without a word of its content."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.core import _toml
from sfumato.core._toml import MAX_NESTED, parse_toml, read_toml
from sfumato.core.recipe import Recipe
from sfumato.dp.store import PrivateStore
from sfumato.errors import RecipeError
from sfumato.fusion.party_file import PartyFile
from sfumato.local_dp.configuration import load_mechanism, load_perturbation_plan
from sfumato.tables.recoding import Recoding

CANARY = "Ada-Lovelace-1815"
READERS = {
    "agreement": load_mechanism,
    "plan": load_perturbation_plan,
    "party file": PartyFile.read,
    "store": PrivateStore.read,
    "recipe": Recipe.read,
    "recoding": Recoding.read,
}
INVALID = {
    "two signs": f'name = = "{CANARY}"',
    "an open text": f'[person]\nname = "{CANARY}',
    "a key twice": f"{CANARY} = 1\n{CANARY} = 2",
    "a table over a value": f'{CANARY} = 1\n[{CANARY}."{CANARY}"]',
    "a place in a text": f'name = "{CANARY} (at line 7, column 7)',
    "a key of an inline table twice": f"a = {{{CANARY} = 1, {CANARY} = 2}}",
    "no date": "born = 1815-13-45",
    "more digits than Python reads": f"number = {'1' * 5_000}",
}


def nested(depth: int) -> dict[str, str]:
    return {
        "lists": f"a = {'[' * depth}{']' * depth}",
        "inline tables": f"a = {'{a = ' * depth}1{'}' * depth}",
        "dotted keys": f"{'.'.join(['a'] * (depth + 1))} = 1",
        "headings": f"[{'.'.join(['a'] * depth)}]",
        "tables in lists": f"[[{'.'.join(['a'] * depth)}]]",
    }


@pytest.fixture(params=READERS)
def refuse(request, tmp_path):
    """Read a file that is refused, and give the sentence after the file's name."""

    def refuse(content: bytes | str | None = None, path: Path | None = None) -> str:
        path = path or tmp_path / "some.toml"
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        with pytest.raises(RecipeError) as refusal:
            READERS[request.param](path)
        said, named = str(refusal.value), f"The {request.param} {path} "
        assert said.startswith(named)
        assert said.endswith(".")
        assert "\n" not in said
        assert refusal.value.__cause__ is None
        assert refusal.value.__suppress_context__ or refusal.value.__context__ is None
        return said.removeprefix(named)

    return refuse


def test_a_file_that_is_not_there_is_refused(refuse):
    assert refuse().startswith("cannot be read: No such file or directory")


def test_a_folder_is_refused(refuse, tmp_path):
    assert refuse(path=tmp_path).startswith("cannot be read: Is a directory")


def test_what_is_not_utf8_is_refused(refuse):
    said = refuse(f'name = "{CANARY} Gödel"'.encode("latin-1"))
    assert said.startswith("is not UTF-8 text")
    assert CANARY not in said


@pytest.mark.parametrize("content", INVALID.values(), ids=INVALID)
def test_what_is_no_toml_is_refused_without_quoting_it(refuse, content):
    said = refuse(content)
    assert said.startswith("is not valid TOML")
    assert CANARY not in said
    assert "1815" not in said
    assert "line 7" not in said


@pytest.mark.parametrize("content", nested(900).values(), ids=nested(1))
def test_what_is_nested_too_deep_is_refused(refuse, content):
    assert refuse(content).startswith(f"is nested more than {MAX_NESTED} deep")


def test_what_is_too_large_is_refused(refuse, monkeypatch):
    monkeypatch.setattr(_toml, "MAX_BYTES", 1 << 20)
    assert refuse(b"#" * ((1 << 20) + 1)).startswith("is larger than any ")


def test_the_place_of_a_mistake_is_told(tmp_path):
    path = tmp_path / "some.toml"
    path.write_text("k = 5\nl = = 3\n", "utf-8")
    with pytest.raises(RecipeError) as refusal:
        read_toml(path, "recipe", remedy="write another")
    assert str(refusal.value) == f"The recipe {path} is not valid TOML, at line 2, column 5; write another."


@pytest.mark.parametrize("kind", nested(1))
def test_exactly_so_many_tables_inside_each_other_are_read(kind):
    inside = MAX_NESTED - (2 if kind == "tables in lists" else 1)
    assert list(parse_toml(nested(inside)[kind], "recipe")) == ["a"]
    with pytest.raises(RecipeError, match=r"^The recipe is nested more than 100 deep"):
        parse_toml(nested(inside + 1)[kind], "recipe")


def test_a_byte_order_mark_is_no_content(tmp_path):
    path = tmp_path / "some.toml"
    path.write_bytes(b"\xef\xbb\xbfname = 'G\xc3\xb6del'\r\n")
    assert read_toml(path, "recipe") == {"name": "Gödel"}
