"""The page of the house says what the contract of layers, the folders and their docstrings say."""

from __future__ import annotations

import ast
import pkgutil
import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "sfumato"
HOUSE, *INSIDE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "house_picture.py"))
PAGE = SCRIPT["PAGE"].read_text("utf-8")
ROWS = SCRIPT["ROW"].findall(PAGE)


def rooms(layer: str) -> list[str]:
    return [room.strip().removeprefix("sfumato.") for room in re.split(r"[|:]", layer)]


def purpose(room: str) -> str:
    home = PACKAGE / room / "__init__.py" if (PACKAGE / room).is_dir() else PACKAGE / f"{room}.py"
    return (ast.get_docstring(ast.parse(home.read_text("utf-8"))) or "").partition("\n")[0]


def test_rooms_are_listed_floor_by_floor_as_in_the_contract():
    layers = HOUSE["layers"]
    expected = [(len(layers) - 1 - place, room) for place, layer in enumerate(layers) for room in rooms(layer)]
    assert [(int(floor), room) for floor, room, *_ in ROWS] == expected


def test_every_folder_and_module_is_a_room():
    assert sorted(room for _, room, *_ in ROWS) == sorted(
        module.name for module in pkgutil.iter_modules([str(PACKAGE)]) if module.name != "__main__"
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_a_room_is_for_what_its_docstring_says(row):
    _, room, said, enters, leaves = row
    assert said == purpose(room)
    assert enters.strip()
    assert leaves.strip()


@pytest.mark.parametrize("contract", INSIDE, ids=lambda contract: contract["name"])
def test_rooms_with_floors_of_their_own_are_listed_as_in_their_contract(contract):
    (room,) = contract["containers"]
    listed = re.search(rf"^\| `{room.removeprefix('sfumato.')}` \| ([^|]+) \|$", PAGE, re.MULTILINE)
    assert listed is not None
    assert [re.findall(r"`(\w+)`", floor) for floor in listed[1].split(";")] == [
        rooms(layer) for layer in contract["layers"]
    ]


def test_the_way_of_a_release_goes_through_the_rooms_that_the_picture_numbers():
    steps = re.findall(r"^(\d)\. \*\*\w+\.\*\* `(\w+)`", PAGE, re.MULTILINE)
    assert steps == [(str(number), room) for number, room in enumerate(SCRIPT["WAY"], 1)]
    assert {*SCRIPT["WAY"], *SCRIPT["SISTERS"]} <= {room for _, room, *_ in ROWS}


def test_the_picture_shows_the_contract():
    assert SCRIPT["page"]() == PAGE, "Run: python scripts/house_picture.py"
    drawn = PAGE.partition(SCRIPT["BEGIN"])[2].partition(SCRIPT["END"])[0]
    names = re.findall(r'font-weight="600">(?:\d\. )?(\w+)<', drawn)
    assert names == [room for layer in HOUSE["layers"] for room in rooms(layer)]
