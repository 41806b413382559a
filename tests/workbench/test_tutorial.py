"""The tutorial without code: its buttons and figures are those of the pages, and its pictures are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import sfumato as sf
from sfumato._locale.messages import load_messages
from sfumato._number_format import format_percent
from sfumato.tables._pipeline.recipe_edits import with_roles
from sfumato.tables.inspection._raw_risk import measure_raw_risk

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tutorial" / "without-code.md").read_text("utf-8")
PICTURES = ROOT / "docs" / "pictures" / "workbench"
SHOWN = dict(re.findall(r"!\[([^\]]+)\]\(\.\./pictures/workbench/([\w-]+\.png)\)", PAGE))
LARGEST = 90_000
NO_WORDS = {"public", "internal"}  # the names of the folders stand on the page as they are
HIERARCHY = {
    "with partner": ["cohabiting", "married", "registered partnership"],
    "without partner": ["divorced", "separated", "single", "widowed"],
}


def labels():
    """List what the pages say, with the parts of the release filled in."""
    words = load_messages("en")
    rooms = (ROOT / "src" / "sfumato" / "_locale" / "en").glob("*.toml")
    entries = [entry for room in rooms for entry in words.subset(room.stem).values()]
    said = {form for entry in entries for form in ([entry] if isinstance(entry, str) else entry.values())}
    return said | {text.replace("{part}", part) for text in said for part in NO_WORDS} | NO_WORDS


def test_what_readers_are_told_to_press_is_on_the_pages():
    told = {" ".join(each.split()) for each in re.findall(r"\*\*([^*]+)\*\*", PAGE)}
    assert len(told) > 20
    assert told - labels() == set()


def test_every_picture_is_shown_told_and_small():
    assert set(SHOWN.values()) == {path.name for path in PICTURES.iterdir()}
    assert all(len(told) > 30 for told in SHOWN)
    assert [path.name for path in PICTURES.iterdir() if path.stat().st_size > LARGEST] == []


@pytest.fixture(scope="module")
def release():
    """Make the release of the tutorial without the page."""
    table = sf.datasets.generate_hospital(5000, seed=0)
    script = runpy.run_path(str(ROOT / "scripts" / "workbench_pictures.py"))
    assert {name: sorted(values) for name, values in script["PARTNERS"].items()} == HIERARCHY
    left_out = {table.column_names[number]: None for number in script["UNPUBLISHED"]}
    content = with_roles(sf.propose_recipe(sf.inspect(table), table), left_out).to_dict()
    content["attributes"]["marital_status"]["hierarchy"] = sf.hierarchies.Taxonomy(HIERARCHY).to_dict()
    content["models"][1]["l"] = 3
    return sf.run_recipe(sf.Recipe.from_dict(content), table)


def test_the_figures_are_those_of_the_release(release):
    risk = measure_raw_risk(sf.datasets.generate_hospital(5000, seed=0), release.recipe.schema.quasi_identifiers)
    linkage, skewness = (
        next(each for each in release.measurements.attacks() if each["attack"] == name)
        for name in ("linkage", "skewness")
    )
    figures = {
        f"{risk.unique_records:,} are the only ones",
        f"{len(release.audit.groups.sizes)} groups",
        f"{format_percent(release.metrics['loss'])} of the detail",
        f"the right row {format_percent(linkage['after']['rate'])} of the time",
        f"is right {format_percent(skewness['after']['rate'])} of the time",
    }
    text = " ".join(PAGE.split())
    assert {each for each in figures if each not in text} == set()
    assert release.audit.holds
