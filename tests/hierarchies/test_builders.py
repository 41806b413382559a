"""What all builders have in common: recipes, and silence about values."""

from __future__ import annotations

import datetime as dt
import pickle
import tomllib

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, InvalidParameterError, RecipeError, SfumatoError
from sfumato.hierarchies._settings import BUILDERS, builder_from_dict
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.ordered_groups import OrderedGroups
from sfumato.hierarchies.prefixes import Prefixes
from sfumato.hierarchies.proposal import propose_hierarchy
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.io._values import format_values

CANARY = "canary-7391"

EXAMPLES = [
    Intervals(5, 10, 20),
    Intervals(0.1, 0.5, origin=0.05),
    Intervals("month", "year"),
    Intervals(cuts=[[0, 18.5, 120], [0, 120]]),
    Intervals(cuts=[["2020-01-01", "2020-07-01T12:00", "2021-01-01"]]),
    Prefixes(),
    Prefixes(4, 2),
    Prefixes(4, keep="last"),
    OrderedGroups(["low", "high"]),
    OrderedGroups([{"deep": {"deeper": ["z", "y"]}}, {"flat": ["x"]}, "w"]),
    OrderedGroups({"tables": [{"flat": ["x"]}, {"deeper": {"deepest": ["w"]}}], "mixed": ["z", {"deep": ["y"]}]}),
    Taxonomy(["b", "a"]),
    Taxonomy({"x": ["b", "a"], "y": ["c"]}),
    Taxonomy({"x": {"p": ["b"]}, "y": ["c"]}),
    Taxonomy.from_rows([("a", "a", "x", "all", "*"), ("b", "b", "x", "all", "*")]),
    Taxonomy(["only"]),
]


def through_toml(settings_):
    return tomllib.loads(tomli_w.dumps(settings_))


@pytest.mark.parametrize("builder", EXAMPLES, ids=repr)
def test_builders_round_trip_through_toml_and_pickle(builder):
    back = builder_from_dict(through_toml(builder.to_dict()))
    assert back == builder
    assert hash(back) == hash(builder)
    assert pickle.loads(pickle.dumps(builder)) == builder  # noqa: S301 - our own bytes


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("cd"), st.sampled_from("ef")), min_size=1, max_size=8),
    st.lists(st.integers(0, 3), min_size=8, max_size=8),
)
def test_taxonomies_of_any_shape_keep_order_and_levels_in_recipes(paths, repeats):
    rows = []
    for leaf, (path, repeat) in enumerate(zip(paths, repeats, strict=False)):
        above = [f"group {path[depth:]}" for depth in range(3)]
        rows.append([f"leaf {leaf}"] * (repeat + 1) + above[repeat:])
    tree = Taxonomy.from_rows(rows)
    back = Taxonomy.from_dict(through_toml(tree.to_dict()))
    assert back == tree
    assert back.hierarchy.labels == tree.hierarchy.labels


def test_a_simple_taxonomy_is_a_readable_tree_in_recipes():
    tree = Taxonomy.from_rows([("flu", "lung", "*"), ("ulcer", "gut", "*"), ("cold", "lung", "*")])
    assert tree.to_dict() == {"kind": "taxonomy", "tree": {"lung": ["flu", "cold"], "gut": ["ulcer"]}}
    assert Taxonomy(["a", "b"]).to_dict() == {"kind": "taxonomy", "tree": ["a", "b"]}


def test_every_builder_has_a_kind_and_a_scale():
    assert {kind: builder.scale for kind, builder in BUILDERS.items()} == {
        "intervals": "numeric",
        "prefixes": "categorical",
        "ordered-groups": "ordinal",
        "taxonomy": "categorical",
    }
    assert all(builder.kind == kind for kind, builder in BUILDERS.items())


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({}, "of kind None; choose one of intervals"),
        ({"kind": "taxonomie"}, "did you mean 'taxonomy'"),
        ({"kind": ["x"]}, "of kind"),
        ({"kind": "intervals", "width": [5]}, "no setting 'width'; did you mean 'widths'"),
        ({"kind": "prefixes", "xyz": 1}, "no setting 'xyz'; it has keep, lengths"),
        ({"kind": "taxonomy"}, "needs either 'tree' or 'rows'"),
        ({"kind": "taxonomy", "tree": ["a"], "rows": [["a"]]}, "needs either 'tree' or 'rows'"),
        ({"kind": "ordered-groups", "rows": ["a"]}, "must be a list of lists"),
    ],
)
def test_settings_that_cannot_be_understood_are_refused(settings_, message):
    with pytest.raises(RecipeError, match=message):
        builder_from_dict(settings_)


@pytest.mark.parametrize("settings_", [{"kind": "intervals", "widths": 5}, {"kind": "prefixes", "lengths": 5}])
def test_settings_of_the_wrong_type_are_refused(settings_):
    with pytest.raises(InvalidParameterError, match="must be a list"):
        builder_from_dict(settings_)


FAILURES = {
    "missing leaf": lambda: Taxonomy(["a"]).build(pa.array([CANARY])),
    "missing ordered leaf": lambda: OrderedGroups(["a"]).build(pa.array([CANARY])),
    "repeated leaf": lambda: Taxonomy([CANARY, CANARY]),
    "two parents": lambda: Taxonomy.from_rows([("a", CANARY, "x"), ("b", CANARY, CANARY + "!")]),
    "ambiguous label": lambda: Taxonomy({CANARY: [CANARY, "b"], "c": ["d"]}),
    "empty group": lambda: Taxonomy({CANARY: []}),
    "not a tree": lambda: Taxonomy({"a": CANARY}),
    "not a leaf": lambda: Taxonomy([[CANARY]]),
    "uneven rows": lambda: Taxonomy.from_rows([(CANARY, "x"), (CANARY,)]),
    "row is text": lambda: Taxonomy.from_rows([CANARY]),
    "torn order": lambda: OrderedGroups.from_rows([(CANARY, "x"), ("b", "y"), ("c", "x")]),
    "text for numbers": lambda: Intervals(5).build(pa.array([CANARY])),
    "outside cuts": lambda: Intervals(cuts=[[0, 1]]).build(pa.array([7391])),
    "too far": lambda: Intervals(1).build(pa.array([7391e290])),
    "long text": lambda: Prefixes().build(pa.array([CANARY * 9])),
    "star": lambda: Prefixes(1).build(pa.array([CANARY, "c" + "*" * (len(CANARY) - 1)])),
    "automatic star": lambda: propose_hierarchy(pa.array([CANARY, "*"])),
    "levels": lambda: Hierarchy.from_levels([CANARY, CANARY], [[CANARY, CANARY]]),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_no_value_appears_in_a_message(failure):
    with pytest.raises(SfumatoError) as caught:
        failure()
    assert "7391" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("text", [f"{CANARY};x\n{CANARY}\n", f'"{CANARY};x\n', f"{CANARY};x\n{CANARY};x\n", CANARY])
def test_no_value_of_a_file_appears_in_a_message(tmp_path, text):
    path = tmp_path / "job.csv"
    path.write_text(text)
    with pytest.raises(SfumatoError) as caught:
        Taxonomy.read_csv(path)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("builder", [Taxonomy([CANARY]), OrderedGroups({"x": [CANARY]}), Taxonomy([CANARY]).hierarchy])
def test_no_value_appears_in_a_repr(builder):
    assert CANARY not in repr(builder)


@pytest.mark.parametrize(
    ("builder", "values", "missed"),
    [
        (Intervals(5, 10), pa.array([3, 17]), []),
        (Intervals(0.5), pa.array([0.1, float("inf"), float("-inf")]), ["-inf", "inf"]),
        (Intervals(cuts=[[0, 18, 65]]), pa.array([66, 65, 0, -1]), ["-1", "66"]),
        (
            Intervals(cuts=[["2020-01-01", "2021-01-01"]]),
            pa.array([dt.date(2019, 12, 31), dt.date(2021, 1, 1)]),
            ["2019-12-31"],
        ),
        (Intervals("month"), pa.array([dt.date(2019, 12, 31)]), []),
        (Prefixes(2), pa.array(["537", "x"]), []),
        (OrderedGroups(["low", "high"]), pa.array(["middle", "low"]), ["middle"]),
        (Taxonomy({"x": ["1"], "y": ["2"]}), pa.array([1, 2, 3]), ["3"]),
    ],
    ids=lambda each: repr(each) if not isinstance(each, pa.Array) else "values",
)
def test_every_builder_lists_the_values_that_it_misses(builder, values, missed):
    assert builder.find_uncovered(values).to_pylist() == missed
    covered = values.filter(pc.invert(pc.is_in(format_values(values), value_set=pa.array(missed, pa.string()))))
    assert builder.find_uncovered(covered).to_pylist() == []
    builder.build(covered)
    if missed:
        with pytest.raises(HierarchyError):
            builder.build(values)


@pytest.mark.parametrize("builder", EXAMPLES, ids=repr)
def test_no_values_are_no_missed_values(builder):
    assert builder.find_uncovered(pa.array([], pa.string())).to_pylist() == []


def test_intervals_of_numbers_refuse_to_look_for_texts():
    with pytest.raises(HierarchyError, match="need a column of numbers"):
        Intervals(5).find_uncovered(pa.array(["a"]))
