"""The names that users see: the stubs list them, the packages have them, and each has one home."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import types
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

import sfumato
from sfumato import errors
from sfumato.schema.roles import MissingName, MissingPolicy, Scale, ScaleName
from sfumato.tables import _catalogue
from sfumato.tables.attacks._attack_table import ATTACKS

PACKAGE = Path(sfumato.__file__).parent


def namespace(stub: Path) -> str:
    parts = stub.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("sfumato", *(part for part in parts if part != "__init__")))


STUBS = {namespace(path): path for path in sorted(PACKAGE.rglob("*.pyi"))}
NAMESPACES = [package for package in STUBS if package != "sfumato"]
BELOW = {"sfumato.tables.relational"}  # namespaces that another namespace offers
WITHOUT_STUB = {"sfumato.errors"}  # light modules that are offered as they are
DATA_TYPES = ("transactions", "graphs", "trajectories")  # whose verbs have the same names
MAX_TOP = 48  # names at the top

# Cells are of any type, and so are the values of what is written as JSON; nothing else is.
JSON = {"to_dict", "from_dict", "parameters", "public_parameters", "public", "figures", "schema_options"}
CELLS = {"categories", "domains", "encoded", "groups", "leaves", "parameters", "tree", "value", "values", "where"}
CELLS_OUT = {"FrequencyEstimate.values", "PerturbedNaiveBayes.predict", "PerturbedTree.predict"}
CELLS_OUT |= {"Hierarchy.leaves", "RandomizedResponse.perturb"}


class Export(NamedTuple):
    """One line of a stub."""

    package: str
    name: str
    home: str | None

    @property
    def thing(self) -> object:
        """What users get."""
        return getattr(importlib.import_module(self.package), self.name)

    @property
    def data_type(self) -> str:
        """The package of a data type beside tables; empty for all others."""
        part = self.package.split(".")[1] if "." in self.package else ""
        return part if part in DATA_TYPES else ""


def exports(package: str) -> Iterator[Export]:
    for line in ast.parse(STUBS[package].read_text("utf-8")).body:
        if isinstance(line, ast.AnnAssign):
            yield Export(package, ast.unparse(line.target), None)
            continue
        assert isinstance(line, ast.ImportFrom), f"{package}: a stub holds imports, not {ast.unparse(line)!r}."
        assert line.level == 1
        for alias in line.names:
            assert alias.name == alias.asname, f"{package}: write {alias.name} as {alias.name}, or checkers hide it."
            base = package if STUBS[package].stem == "__init__" else package.rpartition(".")[0]
            home = f"{base}.{line.module}" if line.module else None
            yield Export(package, alias.name, home)


EXPORTS = [each for package in STUBS for each in exports(package)]
DEFINED = [each for each in EXPORTS if each.home is not None]


def shown(each: Export) -> str:
    return f"{each.package}.{each.name}"


@pytest.mark.parametrize("each", DEFINED, ids=shown)
def test_a_public_name_is_the_very_thing_that_its_home_defines(each):
    assert each.thing is getattr(importlib.import_module(each.home), each.name)
    assert (each.thing.__module__, each.thing.__qualname__) == (each.home, each.name)


@pytest.mark.parametrize("package", STUBS)
def test_a_package_offers_what_its_stub_lists(package):
    loaded = importlib.import_module(package)
    listed = sorted(each.name for each in exports(package) if each.name != "__version__")
    assert len(set(listed)) == len(listed)
    assert sorted(loaded.__all__) == listed
    assert dir(loaded) == listed


@pytest.mark.parametrize("package", STUBS)
def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = importlib.import_module(package).no_such_name


@pytest.mark.parametrize("package", [name for name, path in STUBS.items() if path.stem == "__init__"])
def test_no_name_is_hidden_by_a_module_of_its_package(package):
    """Importing the module, as a user may, would put it in the place of the name."""
    for each in exports(package):
        if not isinstance(each.thing, types.ModuleType):
            assert importlib.util.find_spec(f"{package}.{each.name}") is None


def test_every_namespace_is_offered_at_the_top():
    offered = {each.thing.__name__ for each in exports("sfumato") if isinstance(each.thing, types.ModuleType)}
    assert offered == {*NAMESPACES, *WITHOUT_STUB} - BELOW


def test_every_public_object_has_one_path():
    paths: dict[int, list[str]] = {}
    for each in DEFINED:
        paths.setdefault(id(each.thing), []).append(shown(each))
    assert [found for found in paths.values() if len(found) > 1] == []


@pytest.mark.parametrize("data_type", ["", *DATA_TYPES])
def test_one_name_means_one_thing(data_type):
    own = Counter(each.name for each in DEFINED if each.data_type == data_type)
    assert [name for name, times in own.items() if times > 1] == []


def test_the_top_stays_small_enough_to_read():
    assert len(sfumato.__all__) <= MAX_TOP


@pytest.mark.parametrize(
    ("package", "things"),
    [
        ("sfumato.models", _catalogue.MODELS.values()),
        ("sfumato.algorithms", _catalogue.ALGORITHMS.values()),
        ("sfumato.masking", _catalogue.MASKING_STEPS.values()),
        ("sfumato.attacks", ATTACKS.values()),
    ],
    ids=["models", "algorithms", "masking", "attacks"],
)
def test_everything_in_a_catalogue_is_offered(package, things):
    offered = {each.thing for each in DEFINED if each.package == package}
    assert [thing.__name__ for thing in things if thing not in offered] == []


def test_all_errors_are_listed():
    assert sorted(errors.__all__) == sorted(
        name for name, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__
    )


def signatures(each: Export) -> Iterator[tuple[str, dict[str, str]]]:
    """Find the annotations of a public function, or of a class, its fields and public methods."""
    if not inspect.isclass(each.thing):
        yield each.name, inspect.get_annotations(each.thing)
        return
    for name, kind in inspect.get_annotations(each.thing).items():
        if not name.startswith("_"):
            yield f"{each.name}.{name}", {name: kind}
    for name, member in vars(each.thing).items():
        if name.startswith("_") and name != "__init__":
            continue
        found = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        found = found.func if isinstance(found, cached_property) else found
        if inspect.isfunction(found):
            yield f"{each.name}.{name}", inspect.get_annotations(found)


def test_signatures_say_more_than_any_and_object():
    said = {
        (place, name, kind) for each in DEFINED for place, found in signatures(each) for name, kind in found.items()
    }
    assert len(said) > 500
    vague = {
        f"{place}({name}: {kind})"
        for place, name, kind in said
        if re.search(r"\b(?:Any|object)\b", str(kind))
        and place.rpartition(".")[2] not in JSON
        and name not in CELLS
        and place not in CELLS_OUT
    }
    assert vague == set()


@pytest.mark.parametrize(
    ("names", "kind"), [(ScaleName, Scale), (MissingName, MissingPolicy)], ids=["scales", "missing"]
)
def test_a_word_that_types_allow_is_a_member_and_the_other_way_round(names: object, kind: type[StrEnum]):
    assert get_args(names) == tuple(member.value for member in kind)
