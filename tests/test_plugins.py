"""A model and a format of another package work everywhere, and a broken package breaks nothing but itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from pages import ROOT, blocks, install, with_path
from sfumato.cli import _recipe_options
from sfumato.errors import PluginError, ReadError, RecipeError, WriteError
from sfumato.io.formats import FORMATS, resolve_format, resolve_release_format
from sfumato.tables._catalogue import ALGORITHMS, MODELS
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.testing.formats import FORMAT_CHECKS
from sfumato.testing.models import MODEL_CHECKS

PAGE = ROOT / "docs" / "howto" / "extend-sfumato.md"
ATTRIBUTES = {"age": {"role": "quasi"}, "disease": {"role": "sensitive"}}
MODEL = "simpson-l-diversity:l=1.5,sensitive=disease"
ROLES = ["--quasi", "age,sex", "--sensitive", "disease"]


@dataclass(frozen=True)
class Installed:
    """The package of the page, installed: its project, and how to run programs and commands that find it."""

    project: Path
    target: Path

    def run(self, *command: object, folder: Path, code: int = 0) -> str:
        """Run Python with arguments; give what it prints."""
        surroundings = {**os.environ, "PYTHONPATH": with_path(self.target), "COLUMNS": "100"}
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, *map(str, command)],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env=surroundings,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def sfumato(self, *arguments: object, folder: Path, code: int = 0) -> str:
        """Run a command."""
        return self.run("-m", "sfumato", *arguments, folder=folder, code=code)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    folder = tmp_path_factory.mktemp("page")
    for block in blocks(PAGE.read_text("utf-8"), PAGE):
        block.write_file(folder)
    (project,) = folder.iterdir()
    install(project, folder / "target")
    return Installed(project, folder / "target")


@pytest.fixture
def folder(tmp_path) -> Path:
    sf.write(sf.datasets.generate_hospital(300, seed=1), tmp_path / "patients.csv")
    return tmp_path


@pytest.mark.slow
def test_the_page_shows_every_file_of_the_package(installed):
    shown = next(block.body for block in blocks(PAGE.read_text("utf-8"), PAGE) if block.language == "text")
    listed = {line.strip() for line in shown.splitlines()[1:]}
    assert listed == {path.relative_to(installed.project).as_posix() for path in installed.project.rglob("*.*")}


@pytest.mark.slow
def test_a_model_of_another_package_serves_python_and_recipes(installed, folder):
    program = """
import sfumato as sf
from simpson_diversity.model import SimpsonLDiversity
schema = sf.Schema(identifiers=["name"], quasi_identifiers=["age", "sex"], sensitive=["disease"])
release = sf.anonymize(sf.read("patients.csv"), schema, [SimpsonLDiversity(l=1.5, sensitive="disease")], seed=1)
recipe = sf.Recipe.from_toml(release.recipe.to_toml())
assert recipe == release.recipe
again = sf.run_recipe(recipe, sf.read("patients.csv"))
assert again.frame.equals(release.frame)
assert again.audit.holds
release.write("release", table_format="arrow")
assert sf.read("release/public/table.arrow").equals(release.frame)
"""
    installed.run("-c", program, folder=folder)
    report, about = (folder / "release" / page for page in ("internal/report.html", "public/about.html"))
    for page in (report, about):
        text = page.read_text("utf-8")
        assert "In every group of records with equal quasi-identifiers, two records have the same value" in text
        assert "inverse chance that two records of the worst group are alike" in text
        assert "Simpson l-diversity" in text


@pytest.mark.slow
def test_a_report_is_drawn_again_where_the_package_is_not_installed(installed, folder):
    installed.sfumato("anonymize", "patients.csv", *ROLES, "--model", MODEL, "--out", "release", folder=folder)
    page = folder / "release" / "internal" / "report.html"
    drawn = page.read_bytes()
    page.unlink()
    Installed(installed.project, folder).sfumato("report", "release", folder=folder)
    assert page.read_bytes() == drawn


@pytest.mark.slow
def test_a_model_of_another_package_serves_the_command_line(installed, folder):
    out = ["--out", "release", "--format", "arrow"]
    told = installed.sfumato("anonymize", "patients.csv", *ROLES, "--model", MODEL, *out, folder=folder)
    assert told.startswith("Audit: holds")
    audited = ["audit", "release/public/table.arrow", "--recipe", "release/internal/recipe.toml"]
    assert "SimpsonLDiversity(l=1.5, sensitive='disease')" in installed.sfumato(*audited, folder=folder)
    asked = ["--model", "simpson-l-diversity:l=99,sensitive=disease"]
    assert "DOES NOT HOLD" in installed.sfumato(*audited, *asked, folder=folder, code=1)
    wrong = installed.sfumato(*audited, "--model", "simpson-l-diversity:m=2", folder=folder, code=2)
    assert "unknown entry 'm'; the known entries are l, sensitive." in wrong


@pytest.mark.slow
def test_what_another_package_adds_is_listed_with_it(installed, folder):
    for command, name, known in (("models", "simpson-l-diversity", MODELS), ("formats", "arrow", FORMATS)):
        listed = json.loads(installed.sfumato(command, "--json", folder=folder))
        assert [each["name"] for each in listed] == [*known.built_in, name]
        assert listed[-1]["package"] == "simpson-diversity"
        assert installed.sfumato(command, folder=folder).rstrip().endswith("From the package simpson-diversity.")


@pytest.mark.slow
def test_nothing_of_another_package_is_imported_before_it_is_asked_for(installed, folder):
    program = """
import sys
from sfumato.cli import app
for arguments in (["--help"], ["anonymize", "--help"], COMMAND):
    try:
        app(arguments)
    except SystemExit as done:
        assert not done.code, arguments
assert "simpson_diversity" not in sys.modules
"""
    command = ["anonymize", "patients.csv", *ROLES, "--k", "5", "--out", "release"]
    installed.run("-c", program.replace("COMMAND", repr(command)), folder=folder)


@pytest.mark.slow
def test_a_format_of_another_package_is_read_and_written(installed, folder):
    program = """
import sfumato as sf
patients = sf.read("patients.csv")
sf.write(patients, "patients.feather")
assert sf.read("patients.feather").equals(patients)
open("damaged.arrow", "wb").write(open("patients.feather", "rb").read()[:500])
for refused in (lambda: sf.read("damaged.arrow"), lambda: sf.read("patients.feather", encoding="utf-8"),
                lambda: sf.write(patients, "patients.arrow", excel_safe=True)):
    try:
        refused()
    except sf.errors.SfumatoError as error:
        print(error)
"""
    assert installed.run("-c", program, folder=folder).splitlines() == [
        "damaged.arrow cannot be read by the format 'arrow' (ArrowInvalid).",
        (
            "read.encoding must be left out unless the source is a text file or a Stata file or an SPSS file or a SAS"
            " file; got 'utf-8'."
        ),
        "write.excel_safe must be left out unless the target is a text file or a workbook; got True.",
    ]
    assert not (folder / "patients.arrow").exists()


@pytest.mark.slow
def test_the_package_of_the_page_passes_its_own_tests(installed, tmp_path):
    settings = ["-q", "-p", "no:cacheprovider", "--rootdir", tmp_path]
    told = installed.run("-m", "pytest", *settings, installed.project, folder=tmp_path)
    assert f"{len(MODEL_CHECKS) + len(FORMAT_CHECKS) + 1} passed" in told.splitlines()[-1]


@pytest.fixture
def added(tmp_path, monkeypatch) -> Callable[..., None]:
    """Let a package with one module be found, without installing it."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def add(package: str, group: str, name: str, source: str, place: str = "THING") -> None:
        module = package.replace("-", "_")
        (site / f"{module}.py").write_text(source, "utf-8")
        about = site / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
        (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}:{place}\n", "utf-8")
        monkeypatch.delitem(sys.modules, module, raising=False)

    yield add
    for path in site.glob("*.py"):
        sys.modules.pop(path.stem, None)


GOOD = """
from dataclasses import dataclass
from sfumato.models import KAnonymity

@dataclass(frozen=True, kw_only=True, repr=False)
class THING(KAnonymity):
    name = "NAME"
"""
FORMAT = """
from sfumato.io.formats import Format

def read(path):
    raise ValueError("secret-cell")

def write(table, path):
    raise ValueError("secret-cell")

THING = Format(name="NAME", kind="a file", suffixes=(".SUFFIX",), read=read, write=write)
"""
BROKEN = {
    "cannot be loaded (No module named 'no_such_module')": "import no_such_module",
    "cannot be loaded (ZeroDivisionError)": "1 / 0",
    "cannot be loaded (SystemExit)": "raise SystemExit",
    "cannot be loaded (module 'far_away' has no attribute 'THING')": "",
    "is no subclass of PrivacyModel": "THING = 3",
    "does not define level and limit": "from sfumato.models import PrivacyModel\nclass THING(PrivacyModel): pass",
    "is no dataclass": (
        "from sfumato.models import PrivacyModel\nclass THING(PrivacyModel):\n    limit = 1\n    level = 1\n"
    ),
    "has no name and no reference and no bound and no stricter": (
        "from dataclasses import dataclass\nfrom sfumato.models import PrivacyModel\n"
        "@dataclass\nclass THING(PrivacyModel):\n    limit = 1\n    level = 1\n"
    ),
    "calls itself 'other-anonymity'": GOOD.replace("NAME", "other-anonymity"),
}


@pytest.mark.parametrize(("flaw", "source"), BROKEN.items(), ids=BROKEN)
def test_a_broken_model_is_one_sentence_for_who_asks_and_a_line_in_the_list(added, flaw, source):
    added("far-away", "sfumato.models", "far-anonymity", source)
    sentence = (
        f"The model 'far-anonymity' of the package 'far-away' cannot be used because it {flaw}; "
        "update or uninstall that package."
    )
    with pytest.raises(PluginError) as caught:
        sf.Recipe.from_dict({"attributes": ATTRIBUTES, "models": [{"name": "far-anonymity", "k": 2}]})
    assert str(caught.value) == sentence
    *ours, broken = MODELS.entries()
    assert [each.name for each in ours] == list(MODELS.built_in)
    assert (broken.name, broken.package, broken.choice, broken.problem) == (
        "far-anonymity",
        "far-away",
        None,
        sentence,
    )
    recipe = sf.Recipe.from_dict({"attributes": ATTRIBUTES, "models": [{"name": "k-anonymity", "k": 2}]})
    assert recipe.models == (KAnonymity(k=2),)


def test_no_package_takes_a_name_of_ours(added):
    added("far-away", "sfumato.models", "k-anonymity", GOOD.replace("NAME", "k-anonymity"))
    assert MODELS["k-anonymity"] is KAnonymity
    assert list(MODELS) == list(MODELS.built_in)
    assert "far_away" not in sys.modules
    *_, broken = MODELS.entries()
    assert broken.package == "far-away"
    assert "cannot be used because it has a name that Sfumato itself uses; update or" in broken.problem
    assert "far_away" not in sys.modules


def test_a_name_that_two_packages_claim_is_nobodys(added):
    for package in ("far-away", "farther-away"):
        added(package, "sfumato.models", "far-anonymity", GOOD.replace("NAME", "far-anonymity"))
    sentence = (
        "The model 'far-anonymity' is added by 'far-away' and 'farther-away', so none is used; uninstall all but one."
    )
    with pytest.raises(PluginError) as caught:
        MODELS["far-anonymity"]
    assert str(caught.value) == sentence
    assert [each.problem for each in MODELS.entries()][-2:] == [sentence, sentence]
    assert "far_away" not in sys.modules


def test_an_algorithm_of_another_package_is_found(added):
    source = GOOD.replace("NAME", "far-search").replace("KAnonymity", "Mondrian").replace("models", "algorithms")
    added("far-away", "sfumato.algorithms", "far-search", source)
    content = {"attributes": ATTRIBUTES, "models": [{"name": "k-anonymity", "k": 2}]}
    recipe = sf.Recipe.from_dict({**content, "algorithm": {"name": "far-search", "strict": False}})
    assert type(recipe.algorithm) is ALGORITHMS["far-search"] is sys.modules["far_away"].THING
    assert recipe.algorithm.strict is False
    assert "far-search" in ALGORITHMS
    assert "far-search" not in MODELS
    assert len(ALGORITHMS) == len(ALGORITHMS.built_in) + 1
    with pytest.raises(RecipeError, match=r"There is no algorithm 'far-serch'; did you mean 'far-search'?"):
        sf.Recipe.from_dict({**content, "algorithm": {"name": "far-serch"}})


def test_types_that_are_declared_without_quotes_are_read_from_the_command_line(added):
    source = GOOD.replace("NAME", "far-anonymity").replace(
        "    name", "    also: list[str] = ()\n    text: str = ''\n    name"
    )
    added("far-away", "sfumato.models", "far-anonymity", source)
    assert _recipe_options._choice("model", "far-anonymity:k=3,also=1+2,text=4") == {
        "name": "far-anonymity",
        "k": 3,
        "also": ["1", "2"],
        "text": "4",
    }


def test_a_format_that_claims_what_is_ours_is_refused(added, tmp_path):
    added("far-away", "sfumato.formats", "far", FORMAT.replace("NAME", "far").replace("SUFFIX", "csv"))
    assert resolve_format("x.csv", ReadError) is FORMATS.built_in["csv"]
    with pytest.raises(PluginError, match=r"'far' of .* because it claims '\.csv', which Sfumato itself reads;"):
        resolve_release_format("far")
    with pytest.raises(WriteError, match=r"known are .*\.xlsx; `sfumato formats` tells why 1 more cannot be used\.$"):
        sf.write(pa.table({"a": [1]}), tmp_path / "x.far")


def test_a_suffix_that_two_packages_claim_is_nobodys(added, tmp_path):
    for package in ("far", "farther"):
        added(package, "sfumato.formats", package, FORMAT.replace("NAME", package).replace("SUFFIX", "same"))
    with pytest.raises(PluginError, match="The formats 'far' and 'farther' of other packages claim the same files"):
        sf.write(pa.table({"a": [1]}), tmp_path / "x.same")


def test_what_a_format_of_another_package_raises_quotes_no_cell(added, tmp_path):
    added("far-away", "sfumato.formats", "far", FORMAT.replace("NAME", "far").replace("SUFFIX", "far"))
    path = tmp_path / "x.far"
    with pytest.raises(WriteError, match=r"^The format 'far' cannot write this table \(ValueError\)\.$"):
        sf.write(pa.table({"a": [1]}), path)
    assert not path.exists()
    path.write_text("secret-cell")
    with pytest.raises(ReadError, match=r"x\.far cannot be read by the format 'far' \(ValueError\)\.$"):
        sf.read(path)


@pytest.mark.parametrize("given", ["read", "write"])
def test_a_format_that_works_one_way_says_so(added, tmp_path, given):
    one_way = (
        FORMAT.replace("NAME", "far").replace("SUFFIX", "far").replace("read=read, write=write", f"{given}={given}")
    )
    added("far-away", "sfumato.formats", "far", one_way)
    path = tmp_path / "x.far"
    path.write_text("content")
    if given == "read":
        with pytest.raises(WriteError, match=r"^The format 'far' is only read; write the table to another file\.$"):
            sf.write(pa.table({"a": [1]}), path)
        with pytest.raises(
            sf.errors.InvalidParameterError, match=r"table_format must be one of csv, parquet, xlsx; got 'far'"
        ):
            resolve_release_format("far")
    else:
        with pytest.raises(ReadError, match=r"^The format 'far' is only written; read the table from another file\.$"):
            sf.read(path)


NAMES_OF_PLACES = [
    "stranger:THING",
    "stranger",
    "stranger.THING",
    "sfumato.tables.models.k_anonymity:KAnonymity",
    "os:system",
    "../stranger",
    "__import__('stranger')",
]


@pytest.mark.parametrize("name", NAMES_OF_PLACES)
@pytest.mark.parametrize("what", ["model", "algorithm"])
def test_a_recipe_imports_no_module(tmp_path, monkeypatch, name, what):
    marked = tmp_path / "imported"
    (tmp_path / "stranger.py").write_text(f"open({str(marked)!r}, 'w').close()\n{GOOD}", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    content = {"attributes": ATTRIBUTES, "models": [{"name": "k-anonymity", "k": 2}]}
    entry = {"models": [{"name": name, "k": 2}]} if what == "model" else {"algorithm": {"name": name}}
    with pytest.raises(RecipeError, match=f"There is no {what}"):
        sf.Recipe.from_dict({**content, **entry})
    assert (MODELS if what == "model" else ALGORITHMS).get(name) is None
    assert not marked.exists()
    assert "stranger" not in set(sys.modules) - before
