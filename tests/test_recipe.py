"""A recipe is one TOML file: what is written comes back, and what cannot be meant is refused in one sentence."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import __version__
from sfumato._randomness import draw_seed
from sfumato.core.recipe import Recipe
from sfumato.errors import HierarchyError, InvalidParameterError, ReadError, RecipeError, SchemaError, SfumatoError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.local.mondrian import Mondrian
from sfumato.tables.models.distinct_l_diversity import DistinctLDiversity
from sfumato.tables.models.entropy_l_diversity import EntropyLDiversity
from sfumato.tables.models.frequency_l_diversity import FrequencyLDiversity
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from strategies import JOBS, schemas

SENSITIVE = st.sampled_from(["disease", "salary class"])
REALS = st.floats(1, 99, allow_nan=False)
MODELS = st.one_of(
    st.builds(KAnonymity, k=st.integers(1, 10**6)),
    st.builds(DistinctLDiversity, l=st.integers(1, 99), sensitive=SENSITIVE),
    st.builds(FrequencyLDiversity, l=REALS | st.integers(1, 99), sensitive=SENSITIVE),
    st.builds(EntropyLDiversity, l=REALS, sensitive=SENSITIVE),
    st.builds(RecursiveLDiversity, c=REALS, l=st.integers(1, 9), sensitive=SENSITIVE),
    st.builds(
        TCloseness,
        t=st.floats(0, 1),
        sensitive=SENSITIVE,
        distance=st.sampled_from(["equal", "ordered", "hierarchical"]),
    ),
)
ALGORITHMS = st.builds(Mondrian, strict=st.booleans(), publish=st.sampled_from(["nodes", "sets"]))
RECIPES = st.builds(
    Recipe,
    schema=schemas(),
    models=st.lists(MODELS, min_size=1, max_size=4),
    algorithm=ALGORITHMS,
    max_suppressed=st.floats(0, 1),
    seed=st.none() | st.integers(0, 2**62),
)
LEAST = """
[attributes.age]
role = "quasi"
[[models]]
name = "k-anonymity"
k = 2
"""


@given(RECIPES)
def test_a_recipe_comes_back_from_its_file(recipe):
    written = recipe.to_toml()
    assert Recipe.from_toml(written) == recipe
    assert Recipe.from_toml(written).to_toml() == written
    assert tomllib.loads(written)["sfumato"]["version"] == __version__


NAMES = st.text(min_size=1, max_size=6).filter(lambda name: name.isprintable())


@given(st.lists(NAMES, min_size=4, max_size=4, unique=True), st.lists(NAMES, min_size=2, max_size=4, unique=True))
def test_columns_and_values_of_any_name_come_back(names, values):
    name, quasi, flag, sensitive = names
    schema = Schema(
        identifiers=[name],
        quasi_identifiers=[quasi],
        sensitive=[sensitive],
        orders={quasi: values},
        scales={quasi: "ordinal"},
        flags={quasi: flag},
        hierarchies={sensitive: Taxonomy.from_rows([[f"leaf {value}", f"node {value}"] for value in values])},
    )
    recipe = Recipe(schema=schema, models=(KAnonymity(k=2),), algorithm=Mondrian())
    assert Recipe.from_toml(recipe.to_toml()) == recipe


@pytest.mark.parametrize(
    "builder",
    [
        Intervals(5, 10, origin=1),
        Intervals(cuts=[[0, 18, 65, 120]]),
        Intervals("month", "year"),
        Prefixes(3, 1),
        Prefixes(),
        OrderedGroups({"low": ["none", "school"], "high": ["degree"]}),
        OrderedGroups(["a", "b", "c"]),
        JOBS,
    ],
    ids=repr,
)
def test_every_hierarchy_comes_back(builder):
    schema = Schema(quasi_identifiers=["a"], hierarchies={"a": builder})
    recipe = Recipe(schema=schema, models=(KAnonymity(k=2),), algorithm=Mondrian())
    assert Recipe.from_toml(recipe.to_toml()).schema.hierarchies == {"a": builder}


def test_the_recipe_of_a_release_repeats_it():
    table = pa.table({"age": [20, 21, 30, 31], "disease": ["flu", "cold", "flu", "cold"]})
    schema = Schema(quasi_identifiers=["age"], sensitive=["disease"])
    release = sf.anonymize(table, schema, models=[KAnonymity(k=2)])
    read = Recipe.from_toml(release.recipe.to_toml())
    assert read == release.recipe
    assert read.input_rows == 4
    assert len(read.input_sha256) == 64
    assert read.seed is not None
    again = sf.anonymize(table, read.schema, read.models, read.algorithm, seed=read.seed)
    assert again.recipe == release.recipe


def test_what_is_not_said_is_as_usual():
    recipe = Recipe.from_toml(LEAST)
    assert recipe.algorithm == Mondrian()
    assert recipe.max_suppressed == 0
    assert recipe.seed is None
    assert recipe.input_sha256 is None
    assert recipe.schema.missing == "own-value"


def test_a_drawn_seed_fits_into_a_file():
    recipe = Recipe.from_toml(f"[sfumato]\nseed = {draw_seed()}\n{LEAST}")
    assert Recipe.from_toml(recipe.to_toml()).seed == recipe.seed


def test_a_hierarchy_file_is_looked_for_beside_the_recipe(tmp_path, monkeypatch):
    folder = tmp_path / "recipes"
    folder.mkdir()
    (folder / "job.csv").write_bytes("clerk|böse|*\r\nlawyer|böse|*\r\n".encode("latin-1"))
    file = 'hierarchy = {kind = "taxonomy", file = "job.csv", separator = "|", encoding = "latin-1"}'
    path = folder / "recipe.toml"
    path.write_text(LEAST.replace('role = "quasi"', f'role = "quasi"\n{file}'), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for given_path in (path, str(path), "recipes/recipe.toml"):
        assert Recipe.read(given_path).schema.hierarchies["age"].hierarchy.labels[0] == ("clerk", "lawyer")
    monkeypatch.chdir(folder)
    assert Recipe.from_toml(path.read_text(encoding="utf-8")) == Recipe.read(path)
    monkeypatch.chdir(tmp_path)
    assert Recipe.from_toml(Recipe.read(path).to_toml()) == Recipe.read(path)


@pytest.mark.parametrize("file", ["../job.csv", "{folder}/job.csv", "deep/../../job.csv", "link.csv"])
def test_a_recipe_names_no_file_outside_its_folder(tmp_path, file):
    folder = tmp_path / "recipes"
    (folder / "deep").mkdir(parents=True)
    for place in (tmp_path, folder / "deep"):
        (place / "job.csv").write_text("clerk;*\nlawyer;*\n")
    (folder / "link.csv").symlink_to(tmp_path / "job.csv")
    hierarchy = f'hierarchy = {{kind = "taxonomy", file = "{file.format(folder=tmp_path)}"}}'
    path = folder / "recipe.toml"
    path.write_text(with_attribute(hierarchy), encoding="utf-8")
    with pytest.raises(RecipeError, match=r"csv is outside the folder of the recipe; copy it there, or give it"):
        Recipe.read(path)
    for inside in ("deep/job.csv", str(folder / "deep" / "job.csv")):
        path.write_text(with_attribute(f'hierarchy = {{kind = "taxonomy", file = "{inside}"}}'), encoding="utf-8")
        assert Recipe.read(path).schema.hierarchies["age"].hierarchy.labels[0] == ("clerk", "lawyer")


def with_attribute(lines: str) -> str:
    return LEAST.replace('role = "quasi"', f'role = "quasi"\n{lines}')


def with_model(lines: str) -> str:
    return f'[attributes.disease]\nrole = "sensitive"\n[[models]]\n{lines}'


REFUSED = [
    ("x", "The recipe is not valid TOML, "),
    ("[attributs]", "The recipe has an unknown entry 'attributs'; did you mean 'attributes'?"),
    ("zzz = 1", "The recipe has an unknown entry 'zzz'; the known entries are sfumato, input, series, release, "),
    ("release = 3", "[release] must be a table."),
    ("attributes = 3", "[attributes] must be a table."),
    ("sfumato = []", "[sfumato] must be a table."),
    ("models = 3", "[[models]] must be a list of tables."),
    (
        "[release]\nmax_supressed = 0.1",
        "[release] has an unknown entry 'max_supressed'; did you mean 'max_suppressed'?",
    ),
    ("[sfumato]\nsead = 1", "[sfumato] has an unknown entry 'sead'; did you mean 'seed'?"),
    ("[input]\nrow = 1", "[input] has an unknown entry 'row'; did you mean 'rows'?"),
    ("[attributes]\nage = 3", "[attributes.age] must be a table with at least a role."),
    ("[attributes.age]", "[attributes.age] needs a role, one of identifier, quasi, sensitive, insensitive."),
    ('[attributes.age]\nrole = "king"', "[attributes.age] needs a role, one of identifier, "),
    ('[attributes.age]\nrole = ["quasi"]', "[attributes.age] needs a role, one of identifier, "),
    ('[attributes.age]\nroll = "quasi"', "[attributes.age] has an unknown entry 'roll'; did you mean 'role'?"),
    (with_attribute("scale = 3"), "Schema.scale must be one of numeric, ordinal, categorical, nominal; got 3."),
    (with_attribute('order = "low"'), "The order in [attributes.age] must be a list of strings."),
    (with_attribute("order = [1, 2]"), "The order in [attributes.age] must be a list of strings."),
    (with_attribute("flags = true"), "The flags in [attributes.age] must name a column."),
    (with_attribute("hierarchy = 3"), "[attributes.age.hierarchy] must be a table with a kind."),
    (with_attribute("hierarchy = {}"), "[attributes.age.hierarchy] cannot be used: There is no hierarchy of kind None"),
    (
        with_attribute('hierarchy = {kind = "taxonommy"}'),
        "[attributes.age.hierarchy] cannot be used: There is no hierarchy",
    ),
    (
        with_attribute("hierarchy = {kind = []}"),
        "[attributes.age.hierarchy] cannot be used: There is no hierarchy of kind",
    ),
    (with_attribute('hierarchy = {kind = "intervals"}'), "[attributes.age.hierarchy] cannot be used: Intervals.widths"),
    (
        with_attribute('hierarchy = {kind = "intervals", widths = 5}'),
        "[attributes.age.hierarchy] cannot be used: Inter",
    ),
    (
        with_attribute('hierarchy = {kind = "taxonomy", tree = 5}'),
        "[attributes.age.hierarchy] cannot be used: Taxonomy",
    ),
    (
        with_attribute('hierarchy = {kind = "taxonomy", file = 5}'),
        "[attributes.age.hierarchy] cannot be used: file must",
    ),
    (
        with_attribute('hierarchy = {kind = "taxonomy", file = "x.csv", separator = 1}'),
        "[attributes.age.hierarchy] cannot be used: separator must be a string.",
    ),
    (
        with_attribute('hierarchy = {kind = "taxonomy", file = "x.csv", separater = ";"}'),
        "[attributes.age.hierarchy] cannot be used: A taxonomy from a file has an unknown entry 'separater'; did you",
    ),
    ("[attributes]", "Recipe.models must be a list of at least one model; got ()."),
    ("models = [3]", "Every model of a recipe must be a table with a name."),
    ("models = [{k = 3}]", "Every model of a recipe must be a table with a name."),
    ("models = [{name = 3}]", "Every model of a recipe must be a table with a name."),
    (with_model('name = "k-anonimity"\nk = 2'), "There is no model 'k-anonimity'; did you mean 'k-anonymity'?"),
    (with_model('name = "zzz"'), "There is no model 'zzz'; choose one of k-anonymity, "),
    (with_model('name = "k-anonymity"'), "The model 'k-anonymity' also needs k."),
    (with_model('name = "t-closeness"\nsensitive = "disease"'), "The model 't-closeness' also needs t."),
    (with_model('name = "k-anonymity"\nk = "five"'), "KAnonymity.k must be a whole number of at least 1; got 'five'."),
    (with_model('name = "k-anonymity"\nk = 2.5'), "KAnonymity.k must be a whole number of at least 1; got 2.5."),
    (with_model('name = "k-anonymity"\nk = [2]'), "KAnonymity.k must be a whole number of at least 1; got [2]."),
    (with_model('name = "k-anonymity"\nk = 2\nkk = 3'), "The model 'k-anonymity' has an unknown entry 'kk'; "),
    (
        with_model('name = "distinct-l-diversity"\nl = true\nsensitive = "disease"'),
        "DistinctLDiversity.l must be a whole number of at least 1; got True.",
    ),
    (
        with_model('name = "distinct-l-diversity"\nl = 2\nsensitive = ["disease"]'),
        "DistinctLDiversity.sensitive must be the name of an attribute; got ['disease'].",
    ),
    (
        with_model('name = "entropy-l-diversity"\nl = nan\nsensitive = "disease"'),
        "EntropyLDiversity.l must be ",
    ),
    (
        with_model('name = "t-closeness"\nt = "0.2"\nsensitive = "disease"'),
        "TCloseness.t must be a number from 0 to 1; got '0.2'.",
    ),
    (
        with_model('name = "t-closeness"\nt = 0.2\nsensitive = "disease"\ndistance = ["equal"]'),
        "TCloseness.distance must be one of equal, ",
    ),
    (f"{LEAST}\n[algorithm]\nname = 'mondrain'", "There is no algorithm 'mondrain'; did you mean 'mondrian'?"),
    (f"{LEAST}\n[algorithm]\nstrict = true", "Every algorithm of a recipe must be a table with a name."),
    (
        f"{LEAST}\n[algorithm]\nname = 'mondrian'\nk = 5",
        "The algorithm 'mondrian' has an unknown entry 'k'; the known entries are ",
    ),
    (f"{LEAST}\n[algorithm]\nname = 'mondrian'\nstrict = 1", "Mondrian.strict must be true or false; got 1."),
    (
        f"{LEAST}\n[algorithm]\nname = 'mondrian'\npublish = ['nodes']",
        "The algorithm 'mondrian' has a parameter of the wrong type; see `sfumato algorithms`.",
    ),
    (f"[release]\nmax_suppressed = '2%'\n{LEAST}", "Recipe.max_suppressed must be a share in [0, 1]; got '2%'."),
    (f"[release]\nmax_suppressed = 1.5\n{LEAST}", "Recipe.max_suppressed must be a share in [0, 1]; got 1.5."),
    (
        f"[release]\nmissing = 'ignored'\n{LEAST}",
        "Schema.missing must be one of own-value, matches-all; got 'ignored'.",
    ),
    (f"[sfumato]\nseed = -1\n{LEAST}", "Recipe.seed must be a whole number; got -1."),
    (f"[sfumato]\nseed = 'x'\n{LEAST}", "Recipe.seed must be a whole number; got 'x'."),
    (f"[sfumato]\nlanguage = ['en']\n{LEAST}", "Recipe.language must be one of en, zh; got ['en']."),
    (f"[input]\nrows = 'many'\n{LEAST}", "Recipe.input_rows must be a whole number; got 'many'."),
    (f"[input]\nsha256 = 5\n{LEAST}", "Recipe.input_sha256 must be a text; got 5."),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED, ids=[sentence[:60] for _, sentence in REFUSED])
def test_what_is_no_recipe_is_refused_in_one_sentence(text, sentence):
    with pytest.raises((RecipeError, InvalidParameterError, SchemaError)) as refusal:
        Recipe.from_toml(text)
    said = str(refusal.value)
    assert said.startswith(sentence)
    assert said.endswith((".", "?"))
    assert "\n" not in said
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_a_hierarchy_file_that_cannot_be_used_is_refused(tmp_path):
    file = with_attribute('hierarchy = {kind = "taxonomy", file = "job.csv"}')
    with pytest.raises(ReadError, match=r"Cannot read job.csv: No such file"):
        Recipe.from_toml(file, tmp_path)
    (tmp_path / "job.csv").write_text("a;x;*\nb;y;*\na;y;*\n")
    with pytest.raises(
        RecipeError, match=r"\[attributes.age.hierarchy\] cannot be used: job.csv: The hierarchy repeats"
    ):
        Recipe.from_toml(file, tmp_path)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"schema": {"quasi": ["a"]}}, "Recipe.schema must be an sf.Schema; got {'quasi': ['a']}."),
        ({"models": ()}, "Recipe.models must be a list of at least one model; got ()."),
        ({"models": KAnonymity(k=2)}, "Recipe.models must be a list of at least one model; got KAnonymity."),
        ({"models": [KAnonymity]}, "Recipe.models must be a list of at least one model; got [<class "),
        ({"models": ["k-anonymity"]}, "Recipe.models must be a list of at least one model; got ['k-anonymity']."),
        ({"algorithm": Mondrian}, "Recipe.algorithm must be an algorithm; got ABCMeta."),
        ({"algorithm": pa.table({"a": [1]})}, "Recipe.algorithm must be an algorithm; got Table."),
        ({"max_suppressed": True}, "Recipe.max_suppressed must be a share in [0, 1]; got True."),
        ({"seed": 1.0}, "Recipe.seed must be a whole number; got 1.0."),
    ],
)
def test_parts_of_a_recipe_are_checked_when_it_is_made(settings, sentence):
    usual = {"schema": Schema(quasi_identifiers=["a"]), "models": [KAnonymity(k=2)], "algorithm": Mondrian()}
    with pytest.raises(SfumatoError) as refusal:
        Recipe(**{**usual, **settings})
    assert str(refusal.value).startswith(sentence)
    assert str(refusal.value).endswith(".")


def test_contradictions_of_roles_are_found_by_the_schema():
    with pytest.raises(SchemaError, match=r"Schema\.hierarchies names 'b', which has no role"):
        Recipe(
            schema=Schema(quasi_identifiers=["a"], hierarchies={"b": JOBS}),
            models=[KAnonymity(k=2)],
            algorithm=Mondrian(),
        )
    with pytest.raises(HierarchyError):
        Taxonomy.from_rows([["a", "x"], ["a", "y"]])


READING = {
    "sheet": "Daten",
    "skip_rows": 2,
    "skip_last": 1,
    "fill_merged": True,
    "separator": ";",
    "encoding": "cp1252",
    "decimal": ",",
    "thousands": ".",
    "date_format": "dd.mm.yyyy",
    "column_types": {"zip": "text"},
}


def simple(**settings):
    return Recipe(schema=Schema(quasi_identifiers=["age"]), models=[KAnonymity(k=2)], algorithm=Mondrian(), **settings)


def test_how_a_table_is_read_comes_back():
    recipe = simple(reading=READING)
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert tomllib.loads(recipe.to_toml())["input"] == READING
    written = {"separator": ";", "encoding": "cp1252", "decimal": ",", "date_format": "dd.mm.yyyy"}
    assert recipe.conventions == written
    texts = replace(recipe, reading=READING | {"column_types": {"age": "text", "zip": "text"}})
    assert texts.conventions == written | {"column_types": {"age": "text"}}


@pytest.mark.parametrize("separator", [",", "\t", "|"])
def test_separators_that_would_confuse_a_receiver_are_not_written(separator):
    assert simple(reading={"separator": separator, "decimal": ","}).conventions == {"decimal": ","}


@pytest.mark.parametrize(
    ("reading", "sentence"),
    [
        ({"seperator": ";"}, "has an unknown entry 'seperator'; did you mean 'separator'"),
        ({"skip_rows": "2"}, "The entry 'skip_rows' in .* must be a whole number"),
        ({"decimal": "x"}, "cannot be used: read.decimal must be"),
        ({"column_types": {"a": "b"}}, "cannot be used: read.column_types must be"),
        ("x", "must be a mapping of options"),
    ],
)
def test_what_is_no_option_of_reading_is_refused(reading, sentence):
    with pytest.raises(RecipeError, match=sentence):
        simple(reading=reading)


def test_a_recipe_says_that_a_table_is_another_one():
    table = pa.table({"age": [1, 1, 2, 2]})
    recipe = sf.anonymize(table, Schema(quasi_identifiers=["age"]), [KAnonymity(k=2)]).recipe
    assert recipe.explain_input_mismatch(table) is None
    assert simple().explain_input_mismatch(table) is None
    assert "made for a table of 4 rows and this one has 3" in recipe.explain_input_mismatch(table.slice(1))
    assert "with other cells" in recipe.explain_input_mismatch(pa.table({"age": [1, 1, 3, 3]}))


def test_a_family_of_models_is_suggested_by_its_name():
    text = 'attributes.age.role = "quasi"\n[[models]]\nname = "l-diversity"\n'
    with pytest.raises(RecipeError, match=r"did you mean 'distinct-l-diversity' or .* or 'recursive-l-diversity'"):
        Recipe.from_toml(text)
