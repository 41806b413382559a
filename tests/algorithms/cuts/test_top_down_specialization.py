"""Top-down specialization takes the steps of its definition, and ends where none is left."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cuts_oracle as oracle
import sfumato as sf
from adult import COLUMNS, read_adult
from cut_tasks import OWN, RELATIVE, TARGETS, S, task_of, texts
from drawn_examples import examples
from sfumato.errors import InvalidParameterError
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.schema import Schema
from sfumato.tables.algorithms.subtree._cut_search import TopDownSearch
from sfumato.tables.algorithms.subtree._gain import choose_gain
from sfumato.tables.algorithms.subtree._groups import CutGroups, TableCombinations
from sfumato.tables.algorithms.subtree._tree import Cut
from sfumato.tables.algorithms.subtree.top_down_specialization import TopDownSpecialization
from sfumato.tables.models.k_anonymity import KAnonymity
from sfumato.tables.models.recursive_l_diversity import RecursiveLDiversity
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.solution import Exact, Interval, MissingCell, Node, Suppressed, ValueSet
from strategies import JOBS, described_tables, tables

SCHEMES = st.sampled_from(["subtree", "sibling"])
PROMISES = st.sampled_from([*OWN, *RELATIVE])


def descent_of(task, target=None, *, siblings=False):
    combinations, _ = TableCombinations.of(task)
    cuts = [Cut(tree, [tree.top()]) for tree in combinations.trees]
    return TopDownSearch(
        CutGroups(combinations, choose_gain(task, combinations.trees, target), cuts), siblings=siblings
    )


def test_gain_and_score_of_the_worked_example():
    table = pa.table({"job": ["a"] * 6 + ["b"] * 4, "class": ["y"] * 5 + ["n"] + ["y"] + ["n"] * 3})
    task = task_of(table, Schema(quasi_identifiers=["job"], insensitive=["class"]), target="class")
    found = descent_of(task, "class").best()
    assert found.trial.gain / 10 == pytest.approx(0.256426, abs=5e-7)
    assert found.trial.least == 4
    assert found.score == pytest.approx(0.256426 / 7, abs=1e-7)
    assert round(found.score, 4) == 0.0366


@given(drawn=described_tables(most_rows=14), models=PROMISES, scheme=SCHEMES, target=TARGETS)
@examples(40)
def test_every_step_is_the_best_one(drawn, models, scheme, target):
    task = task_of(*drawn, models, target=target)
    table = oracle.Table(task, target)
    assume(table.bad(table.top) == 0)
    publication = TopDownSpecialization(scheme=scheme, target=target).search(task)
    assert oracle.same(oracle.published_cuts(publication, table), oracle.top_down(table, scheme))


@given(
    drawn=described_tables(most_rows=16),
    models=PROMISES,
    scheme=SCHEMES,
    target=TARGETS,
    share=st.sampled_from([0.0, 0.15, 0.4, 1.0]),
)
def test_no_specialization_is_left_that_is_allowed_and_gains(drawn, models, scheme, target, share):
    task = task_of(*drawn, models, int(share * drawn[0].num_rows), target)
    table = oracle.Table(task, target)
    assume(table.allows(table.top))
    publication = TopDownSpecialization(scheme=scheme, target=target).search(task)
    cuts = oracle.published_cuts(publication, table)
    assert table.allows(cuts)
    assert publication.suppressed(task.table) == table.bad(cuts)
    before = table.worth(cuts)
    for *_, after in table.partings(cuts, scheme):
        assert not table.allows(after) or table.worth(after) <= before + 1e-8


MENDED = [
    ((RecursiveLDiversity(c=2, l=2, sensitive=S),), 2, ("2110212", "yyxyxzx", "vvuvvvv", "pqqpppq")),
    ((TCloseness(t=0.3, sensitive=S),), 4, ("021101", "yxzxzx", "uvuuuv", "pqrppq")),
]


@pytest.mark.parametrize(("models", "suppressed", "columns"), MENDED)
def test_what_was_refused_is_tried_again_when_nothing_else_is_left(models, suppressed, columns):
    cells = dict(zip(("age", "job", "sex", S), map(list, columns), strict=True))
    table = pa.table({**cells, "age": [int(age) for age in cells["age"]]})
    task = task_of(table, Schema(quasi_identifiers=["age", "job", "sex"], sensitive=[S]), models, suppressed)
    judged = oracle.Table(task)
    cuts = oracle.published_cuts(TopDownSpecialization().search(task), judged)
    for *_, after in judged.partings(cuts, "subtree"):
        assert not judged.allows(after) or judged.worth(after) <= judged.worth(cuts) + 1e-8


TINY = Schema(quasi_identifiers=["job", "age", "sex"], sensitive=[S], hierarchies={"job": JOBS})


@given(table=tables(TINY.attributes, most_rows=12, missing=True), k=st.integers(1, 4))
@examples(25)
def test_no_finer_cuts_at_all_keep_a_monotone_model(table, k):
    ages = pa.array([None if age is None else age // 3 for age in table["age"].to_pylist()], pa.int64())
    task = task_of(table.set_column(table.column_names.index("age"), "age", ages), TINY, (KAnonymity(k=k),))
    judged = oracle.Table(task)
    assume(judged.bad(judged.top) == 0)
    found = oracle.published_cuts(TopDownSpecialization().search(task), judged)
    assert judged.bad(found) == 0
    finer = [
        [cut for cut in attribute.all_cuts(attribute.root) if all(any(p <= q for q in mine) for p in cut)]
        for attribute, mine in zip(judged.attributes, found, strict=True)
    ]
    for cuts in product(*finer):
        assert judged.worth(list(cuts)) <= judged.worth(found) + 1e-9 or judged.bad(list(cuts)) > 0


@given(drawn=described_tables(most_rows=20), models=PROMISES, scheme=SCHEMES)
def test_every_value_has_one_label_that_covers_it(drawn, models, scheme):
    task = task_of(*drawn, models, drawn[0].num_rows // 5)
    table = oracle.Table(task)
    publication = TopDownSpecialization(scheme=scheme).search(task)
    for column, attribute, cut in zip(
        task.table.quasi, table.attributes, oracle.published_cuts(publication, table), strict=True
    ):
        assert sorted(c for part in cut for c in part) == sorted(attribute.root)
        recoded = publication.by_value[column.name]
        assert len(recoded.by_group) == len(column.domain) + 1
        for part in cut:
            label = list(recoded.labels)[recoded.by_group[min(part)]]
            assert covers(label, part, column.domain)
            assert scheme == "sibling" or attribute.ordered or part in attribute.nodes


def covers(label, part, domain):  # noqa: PLR0911 - one line per kind of label
    """Tell whether a label stands for exactly the codes of a part."""
    values, codes = domain.values.to_pylist(), sorted(part)
    match label:
        case Exact(value):
            return [values[c] for c in codes] == [value]
        case MissingCell():
            return codes == [domain.missing]
        case Suppressed():
            return set(range(len(domain))) <= part
        case Interval(low, high, low_closed, high_closed):
            inside = [
                c
                for c, value in enumerate(values)
                if (low <= value if low_closed else low < value) and (value <= high if high_closed else value < high)
            ]
            return inside == codes
        case ValueSet(texts=members):
            return [domain.texts[c] for c in codes] == list(members)
        case Node(text):
            levels = zip(domain.hierarchy.levels, domain.hierarchy.labels, strict=True)
            found = [np.flatnonzero(nodes == names.index(text)) for nodes, names in levels if text in names]
            return found[0].tolist() == codes
    return False


SKEWED = {"job": ["clerk"] * 9 + ["lawyer"] * 9 + ["farmer"] * 9 + ["sailor"] * 2 + ["diver"]}


def test_children_leave_alone_and_the_others_are_published_as_a_set():
    task = task_of(pa.table(SKEWED), Schema(quasi_identifiers=["job"]), (KAnonymity(k=3),))
    assert texts(TopDownSpecialization(scheme="sibling").search(task), "job") == [
        "clerk",
        "{diver, sailor}",
        "farmer",
        "lawyer",
        "{diver, sailor}",
        None,
    ]
    assert texts(TopDownSpecialization().search(task), "job") == ["*"] * 6


def test_a_child_of_a_node_leaves_and_the_node_is_not_published_any_more():
    shelter = Taxonomy({"home": ["flat", "house", "boat"], "none": ["street"]})
    lived = pa.table({"home": ["flat"] * 5 + ["house"] * 2 + ["boat"] * 2 + ["street"] * 4})
    schema = Schema(quasi_identifiers=["home"], hierarchies={"home": shelter})
    task = task_of(lived, schema, (KAnonymity(k=4),))
    shown = dict(
        zip(task.table.quasi[0].domain.texts, texts(TopDownSpecialization().search(task), "home"), strict=False)
    )
    assert shown == {"flat": "home", "house": "home", "boat": "home", "street": "street"}
    shown = texts(TopDownSpecialization(scheme="sibling").search(task), "home")
    shown = dict(zip(task.table.quasi[0].domain.texts, shown, strict=False))
    assert shown == {"flat": "flat", "house": "{house, boat}", "boat": "{house, boat}", "street": "street"}


def test_values_that_stand_beside_nodes_leave_as_these_do():
    table = pa.table({"age": [None, None, 18, 19, 20, 30]})
    schema = Schema(quasi_identifiers=["age"], hierarchies={"age": Intervals(5, 10)})
    task = task_of(table, schema)
    judged = oracle.Table(task)
    publication = TopDownSpecialization(scheme="sibling").search(task)
    assert texts(publication, "age") == ["[15, 20)", "[15, 20)", "[20, 35)", "[20, 35)", None]
    assert oracle.same(oracle.published_cuts(publication, judged), oracle.top_down(judged, "sibling"))


def test_long_sets_are_not_published():
    values = [f"{number:03}" for number in range(103)]
    table = pa.table({"code": values + values[:1] * 20})
    task = task_of(table, Schema(quasi_identifiers=["code"]), (KAnonymity(k=5),))
    assert set(texts(TopDownSpecialization(scheme="sibling").search(task), "code")) == {"*"}
    shorter = task_of(table.slice(3), Schema(quasi_identifiers=["code"]), (KAnonymity(k=5),))
    shown = texts(TopDownSpecialization(scheme="sibling").search(shorter), "code")
    assert shown[0] == "000"
    assert shown[1].count(",") == 99


def test_numbers_are_parted_where_classes_change():
    table = pa.table({"age": [20, 21, 22, 23, 40, 41, 60, 61], "class": list("aaaabbbb")})
    schema = Schema(quasi_identifiers=["age"], insensitive=["class"])
    shown = texts(TopDownSpecialization(target="class").search(task_of(table, schema, target="class")), "age")
    assert shown == ["[20, 23]"] * 4 + ["[40, 61]"] * 4 + [None]


def test_of_two_thresholds_that_with_the_greater_gain_is_taken_though_it_costs_more_anonymity():
    table = pa.table({"age": [1] * 3 + [2] * 2 + [3] * 7, "class": list("aaaabbbbbbba")})
    schema = Schema(quasi_identifiers=["age"], insensitive=["class"])
    task = task_of(table, schema, (KAnonymity(k=3),), target="class")
    assert texts(TopDownSpecialization(target="class").search(task), "age") == ["1", "[2, 3]", "[2, 3]", None]


def test_the_threshold_with_the_greatest_gain_is_left_if_it_breaks_a_model():
    table = pa.table({"age": [20, 30, 31, 32, 33, 34], "class": list("abbbbb")})
    schema = Schema(quasi_identifiers=["age"], insensitive=["class"])
    task = task_of(table, schema, (KAnonymity(k=2),), target="class")
    shown = texts(TopDownSpecialization(target="class").search(task), "age")
    assert shown[:2] == ["[20, 30]"] * 2
    assert shown[2:] == ["[31, 34]"] * 4 + [None]


def test_missing_values_are_a_part_of_their_own_until_the_root_joins_them():
    table = pa.table({"age": [20, 20, 30, 30, None, None], "job": ["clerk", "clerk", "lawyer", "lawyer", None, None]})
    schema = Schema(quasi_identifiers=["age", "job"], hierarchies={"job": JOBS})
    publication = TopDownSpecialization().search(task_of(table, schema))
    assert texts(publication, "age") == ["20", "30", None]
    assert texts(publication, "job")[:2] == ["clerk", "lawyer"]
    assert texts(publication, "job")[-1] is None
    publication = TopDownSpecialization().search(task_of(table, schema, (KAnonymity(k=3),)))
    assert set(texts(publication, "age")) == {"*"}


def test_a_class_to_be_predicted_keeps_more_of_its_information():
    rng = np.random.default_rng(3)
    useful, useless = rng.integers(0, 16, 400), rng.integers(0, 16, 400)
    table = pa.table({"useless": useless, "useful": useful, "class": np.where(useful % 8 < 4, "low", "high")})
    schema = Schema(quasi_identifiers=["useless", "useful"], insensitive=["class"])

    def kept(target):
        task = task_of(table, schema, (KAnonymity(k=20),), target="class")
        group = TopDownSpecialization(target=target).search(task).group
        counts = [Counter(table["class"].filter(pa.array(group == g)).to_pylist()) for g in np.unique(group)]
        return oracle.information_gain(counts)

    assert kept("class") > kept(None) + 0.2


def test_a_table_that_no_cut_protects_is_not_published():
    task = task_of(pa.table({"age": [1, 2, 3]}), Schema(quasi_identifiers=["age"]), (KAnonymity(k=4),), suppressed=1)
    assert TopDownSpecialization().search(task).suppressed(task.table) == 3


def test_never_are_all_records_suppressed():
    task = task_of(pa.table({"age": [1, 2, 3]}), Schema(quasi_identifiers=["age"]), (KAnonymity(k=2),), suppressed=3)
    assert TopDownSpecialization().search(task).suppressed(task.table) == 1


def test_classes_of_too_many_values_are_refused_by_count():
    table = pa.table({"age": [1, 2] * 60, "class": [str(i) for i in range(120)]})
    schema = Schema(quasi_identifiers=["age"], insensitive=["class"])
    refusal = TopDownSpecialization(target="class").check(task_of(table, schema, target="class"))
    assert refusal == (
        "TopDownSpecialization cannot predict 'class', which has 120 distinct values; choose a target of at most 100."
    )


@pytest.mark.parametrize("wrong", [{"scheme": "cell"}, {"target": 3}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InvalidParameterError, match="TopDownSpecialization"):
        TopDownSpecialization(**wrong)


@pytest.mark.shared_data
@pytest.mark.parametrize(("scheme", "share", "loss"), [("subtree", 0.0, 0.635544), ("sibling", 0.0, 0.524263)])
def test_adult_loses_what_it_lost_before(shared_data, scheme, share, loss):
    table, trees = read_adult(shared_data)
    release = sf.anonymize(
        table,
        sf.Schema(quasi_identifiers=COLUMNS, hierarchies=trees),
        [KAnonymity(k=5)],
        TopDownSpecialization(scheme=scheme),
        max_suppressed=share,
    )
    assert release.metrics["loss"] == pytest.approx(loss, abs=1e-6)
