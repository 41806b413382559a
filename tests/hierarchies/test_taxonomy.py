"""Taxonomies from trees, rows and files."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, InvalidParameterError, ReadError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.taxonomy import Taxonomy

SHARED = os.environ.get("SFUMATO_SHARED_DATA")

PLACES = {"Europe": {"West": ["France", "Spain"], "East": ["Poland"]}, "Asia": {"South": ["India"]}}


@pytest.fixture
def write(tmp_path):
    """Give a function that writes a hierarchy file."""

    def written(text, encoding="utf-8"):
        path = tmp_path / "job.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return written


def test_a_tree_of_groups():
    tree = Taxonomy(PLACES).hierarchy
    assert tree.labels == (
        ("France", "Spain", "Poland", "India"),
        ("West", "East", "South"),
        ("Europe", "Asia"),
        ("*",),
    )
    assert tree.levels[2].tolist() == [0, 0, 0, 1]


def test_shallow_leaves_repeat_themselves_going_up():
    tree = Taxonomy(["Unknown", {"Europe": ["Malta", {"West": ["France", "Spain"]}]}])
    assert tree.rows == (
        ("Unknown", "Unknown", "Unknown", "*"),
        ("Malta", "Malta", "Europe", "*"),
        ("France", "West", "Europe", "*"),
        ("Spain", "West", "Europe", "*"),
    )


def test_one_group_over_all_is_the_root():
    assert Taxonomy({"Any": PLACES}) == Taxonomy(PLACES)


def test_a_list_is_a_flat_taxonomy():
    assert Taxonomy(["a", "b"]).hierarchy.labels == (("a", "b"), ("*",))


def test_leaves_of_any_type_are_taken_by_their_text():
    tree = Taxonomy({"x": [1, 2.0, 0.5], "y": [True, dt.date(2020, 1, 1)]})
    assert tree.hierarchy.leaves == ("1", "2", "0.5", "true", "2020-01-01")


def test_the_same_taxonomy_is_equal_however_it_was_written():
    rows = [("Spain", "West", "Europe"), ("India", "South", "Asia"), ("Poland", "East", "Europe")]
    written = Taxonomy({"Europe": {"West": ["Spain"], "East": ["Poland"]}, "Asia": {"South": ["India"]}})
    assert Taxonomy.from_rows(rows) == written
    assert hash(Taxonomy.from_rows(rows)) == hash(written)


def test_absent_leaves_stay():
    assert Taxonomy(PLACES).build(pa.array(["India"])).leaves == ("France", "Spain", "Poland", "India")


def test_values_that_are_no_leaves_are_refused_by_count():
    with pytest.raises(HierarchyError, match="Taxonomy misses 2 of the 3 values of the column; add"):
        Taxonomy(PLACES).build(pa.array(["Europe", "India", "Peru"]))


def test_numbers_find_their_leaves():
    assert Taxonomy({"x": ["1", "2"], "y": ["3"]}).build(pa.array([3, 1])).height == 2
    assert Taxonomy(["true", "false"]).build(pa.array([True])).height == 1


def test_a_column_without_values_is_covered():
    assert Taxonomy(PLACES).build(pa.array([], pa.string())).height == 3


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({}, "has no leaves"),
        ([], "has no leaves"),
        ({"a": []}, "a group without leaves"),
        ({"a": ["x"], "b": {}}, "a group without leaves"),
        ({"a": ["x", "y"], "b": ["x"]}, "repeats 1 of its 3 leaves"),
        ({"a": {"c": ["x"]}, "b": {"c": ["y"]}}, "Level 2 .* not a function of level 1: 1 of 1 nodes"),
        ({"a": ["a", "b"], "c": ["d"]}, "1 labels that stand for different sets"),
        ({"": ["x", "y"], "b": ["z"]}, "without a label"),
        (["x", "*"], "different sets"),
    ],
)
def test_trees_that_are_no_hierarchy_are_refused(tree, message):
    with pytest.raises(HierarchyError, match=message):
        Taxonomy(tree)


@pytest.mark.parametrize(
    "tree", ["abc", 5, None, {"a": "xyz"}, {"a": None}, ["x", ["y"]], [None], [float("nan")], {None: ["x"]}]
)
def test_what_is_no_tree_is_refused(tree):
    with pytest.raises(InvalidParameterError, match=r"Taxonomy\.tree must"):
        Taxonomy(tree)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(HierarchyError, match="1 of 3 rows that are empty or differ in length from the first"):
        Taxonomy.from_rows([("a", "x"), ("b", "x"), ("c",)])
    with pytest.raises(HierarchyError, match="2 of 2 rows"):
        Taxonomy.from_rows([(), ()])
    with pytest.raises(InvalidParameterError, match="got str"):
        Taxonomy.from_rows(["abc"])


def test_a_file_with_mixed_line_ends_and_blank_lines(write):
    path = write("Nurse;Health;*\r\nDoctor;Health;*\n\n  \nClerk;Office;*\rCook;Food;*")
    tree = Taxonomy.read_csv(path)
    assert tree == Taxonomy({"Health": ["Nurse", "Doctor"], "Office": ["Clerk"], "Food": ["Cook"]})


def test_a_file_may_have_quotes_another_separator_and_a_byte_order_mark(write):
    path = write('\ufeff"Smith, John",smiths,*\nDoe,does,*\n')
    assert Taxonomy.read_csv(path, separator=",").hierarchy.leaves == ("Smith, John", "Doe")


def test_a_file_may_have_another_encoding(write):
    path = write("Köln;Süd\nKiel;Nord\n", "latin-1")
    assert Taxonomy.read_csv(path, encoding="latin-1").hierarchy.leaves == ("Köln", "Kiel")
    assert Taxonomy.read_csv(path).hierarchy.leaves == ("Köln", "Kiel")
    with pytest.raises(ReadError, match=r"Cannot read job\.csv as utf-8; give its encoding"):
        Taxonomy.read_csv(path, encoding="utf-8")
    with pytest.raises(ReadError, match="no encoding named 'klingon'"):
        Taxonomy.read_csv(path, encoding="klingon")


def test_a_chinese_file_is_read_as_office_programs_save_it(write):
    path = write("研究生,高等教育,*\n本科,高等教育,*\n小学,初等教育,*\n", "gb18030")
    assert Taxonomy.read_csv(path) == Taxonomy({"高等教育": ["研究生", "本科"], "初等教育": ["小学"]})


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_the_separator_is_found(write, separator):
    path = write("\n".join(separator.join(row) for row in (("a", "x", "*"), ("b", "y", "*"))))
    assert Taxonomy.read_csv(path) == Taxonomy({"x": ["a"], "y": ["b"]})


def test_semicolons_come_before_the_commas_of_intervals(write):
    made = Intervals(5, 10).build(pa.array([17, 42]))
    assert Taxonomy.read_csv(write(made.to_csv())).hierarchy.labels == made.labels


def test_a_root_of_any_name_is_published_as_a_star(write):
    tree = Taxonomy.read_csv(write("0;11;11\n1;10;11\n2;11;11")).hierarchy
    assert tree.labels == (("0", "2", "1"), ("11", "10"), ("*",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;x;*\n\nb;*\n", r"Line 3 of job\.csv has 2 columns, but the first has 3"),
        ("a\nb\n", r"job\.csv has only one column; is .* its separator\?"),
        ("", "has no leaves"),
        ("\n\r\n", "has no leaves"),
        ("a;x;*\na;x;*\n", r"job\.csv: The hierarchy repeats 1 of its 2 leaves"),
        ("a;x;p\nb;x;q\n", r"job\.csv: Level 2 .* not a function"),
    ],
)
def test_files_that_are_no_hierarchy_are_refused(write, text, message):
    with pytest.raises(HierarchyError, match=message):
        Taxonomy.read_csv(write(text))


def test_files_that_cannot_be_read_are_refused(tmp_path, write):
    with pytest.raises(ReadError, match=r"Cannot read gone\.csv: No such file"):
        Taxonomy.read_csv(tmp_path / "gone.csv")
    with pytest.raises(ReadError, match="Is a directory"):
        Taxonomy.read_csv(tmp_path)
    with pytest.raises(ReadError, match="a quoted cell is broken"):
        Taxonomy.read_csv(write('a;"x;*\nb;y;*\n'))
    with pytest.raises(InvalidParameterError, match=r"Taxonomy\.separator must be one character"):
        Taxonomy.read_csv(write("a;x"), separator=";;")


def test_repr_counts_and_shows_no_value():
    assert repr(Taxonomy(PLACES)) == "Taxonomy(<4 leaves, height 3>)"


@st.composite
def trees(draw, depth=3):
    """Draw trees whose leaves and groups all have names of their own."""
    names = draw(st.permutations([f"name {i}" for i in range(40)]))

    def branch(level):
        items = []
        for _ in range(draw(st.integers(1, 3))):
            if level == 0 or len(names) < 8 or draw(st.booleans()):
                items.append(names.pop())
            else:
                items.append({names.pop(): branch(level - 1)})
        return items

    return branch(draw(st.integers(0, depth)))


def paths(tree, above=()):
    for item in tree:
        if isinstance(item, str):
            yield item, above
        else:
            for name, below in item.items():
                yield from paths(below, (name, *above))


@given(trees())
def test_trees_are_lawful_and_leaves_keep_their_ancestors(check_laws, tree):
    hierarchy = Taxonomy(tree).hierarchy
    check_laws(hierarchy)
    wanted = dict(paths(tree))
    tops = {above[-1] if above else leaf for leaf, above in wanted.items()}
    for at, leaf in enumerate(hierarchy.leaves):
        labels = [names[nodes[at]] for names, nodes in zip(hierarchy.labels, hierarchy.levels, strict=True)]
        found = [label for label in labels if label not in {leaf, "*"}]
        expected = wanted[leaf]
        assert found == list(expected if len(tops) > 1 else expected[:-1])


@pytest.mark.shared_data
@pytest.mark.skipif(SHARED is None, reason="SFUMATO_SHARED_DATA does not say where the shared tables are")
def test_all_shared_hierarchy_files_load(check_laws):
    files = sorted(Path(str(SHARED)).glob("*/*hierarchy*.csv"))
    assert len(files) == 56
    for path in files:
        tree = Taxonomy.read_csv(path)
        check_laws(tree.hierarchy)
        assert Taxonomy.from_dict(tree.to_dict()) == tree
