"""The page of the architecture shows the import contract and the packages as they are."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "architecture_picture.py"))
PAGE = SCRIPT["PAGE"].read_text("utf-8")


def test_the_picture_and_the_table_are_current():
    assert SCRIPT["page"]() == PAGE, "Run: python scripts/architecture_picture.py"


def test_the_picture_shows_every_module_of_the_contract():
    drawn = re.findall(r'text-anchor="middle" fill="currentColor">([\w.]+)<', PAGE)
    assert drawn == [name for row in SCRIPT["layers"]() for name in row]


def test_every_package_has_a_purpose():
    assert [name for name in SCRIPT["packages"]() if not SCRIPT["purpose"](name)] == []


def test_every_module_that_the_page_names_exists():
    named = set(re.findall(r"`sfumato\.([\w.]+)`", PAGE))
    homes = [SCRIPT["PACKAGE"].joinpath(*name.split(".")) for name in named]
    assert [str(home) for home in homes if not home.is_dir() and not home.with_suffix(".py").exists()] == []
