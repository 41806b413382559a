"""t-closeness: its own facts, distances against linear programs, and exactness."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_examples import examples
from oracles import earth_movers_distance, equal_distance, hierarchical_distance, ordered_distance
from sfumato.encoding.coded_table import CodedColumn
from sfumato.encoding.domain import Domain
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.taxonomy import Taxonomy
from sfumato.schema.roles import MissingPolicy, Scale
from sfumato.tables.models import _earth_movers_distance
from sfumato.tables.models.t_closeness import TCloseness
from sfumato.tables.published.groups import Groups
from strategies import counts, group_counts, hierarchies

TREE = Taxonomy({"respiratory": ["flu", "pneumonia"], "digestive": ["ulcer", "gastritis"]}).hierarchy
DISTANCES = ["equal", "ordered", "hierarchical"]


def close(distance: str, t: float = 0.5) -> TCloseness:
    return TCloseness(t=t, sensitive="s", distance=distance)


def domain_of(hierarchy: Hierarchy) -> Domain:
    return Domain("s", Scale.ORDINAL, pa.array(hierarchy.labels[0]), hierarchy)


def with_domain(matrix: list[list[int]], hierarchy: Hierarchy, **options: object) -> Groups:
    return Groups.from_counts(s=matrix, domains={"s": domain_of(hierarchy)}, **options)


@st.composite
def groups_with_a_hierarchy(draw: st.DrawFn) -> tuple[list[list[int]], Hierarchy]:
    matrix = draw(group_counts())
    return matrix, draw(hierarchies([f"v{i}" for i in range(len(matrix[0]))]))


def test_the_example_of_the_paper_with_four_diseases():
    """P is even, Q is (1/2, 1/2, 0, 0) or (1/2, 0, 1/2, 0)."""
    groups = with_domain([[1, 1, 0, 0], [1, 0, 1, 0]], TREE, totals={"s": np.array([1, 1, 1, 1])})
    assert close("hierarchical").levels(groups).tolist() == [1 / 2, 1 / 4]
    assert close("equal").levels(groups).tolist() == [1 / 2, 1 / 2]
    assert close("ordered").levels(groups).tolist() == [1 / 3, 1 / 6]


def test_the_salaries_of_the_paper():
    """Li et al. 2007, section 4.3: nine salaries; the lowest three are 0.375, the mixed three 0.167 away."""
    three = np.eye(9, dtype=int)
    groups = Groups.from_counts(s=[three[:3].sum(axis=0), three[[3, 5, 8]].sum(axis=0)], totals={"s": np.ones(9, int)})
    assert close("ordered").levels(groups).tolist() == [0.375, 1 / 6]


@given(groups_with_a_hierarchy())
def test_levels_are_the_definitions_rounded_once(drawn):
    matrix, hierarchy = drawn
    groups, totals = with_domain(matrix, hierarchy), np.sum(matrix, axis=0).tolist()
    levels = [level.tolist() for level in hierarchy.levels]
    assert close("equal").levels(groups).tolist() == [float(equal_distance(row, totals)) for row in matrix]
    assert close("ordered").levels(groups).tolist() == [float(ordered_distance(row, totals)) for row in matrix]
    expected = [float(hierarchical_distance(row, totals, levels)) for row in matrix]
    assert close("hierarchical").levels(groups).tolist() == expected


@given(counts(4), counts(4), hierarchies(["a", "b", "c", "d"]))
@examples(30)
def test_levels_are_the_least_work_of_moving_mass(row, totals, hierarchy):
    groups = with_domain([row], hierarchy, totals={"s": np.array(totals)})
    ground = {
        "equal": lambda i, j: float(i != j),
        "ordered": lambda i, j: abs(i - j) / 3,
        "hierarchical": lambda i, j: sum(level[i] != level[j] for level in hierarchy.levels) / hierarchy.height,
    }
    for distance, between in ground.items():
        least = earth_movers_distance(row, totals, between)
        assert close(distance).levels(groups)[0] == pytest.approx(least, abs=1e-9)


@given(counts(5), counts(5), hierarchies(["a", "b", "c", "d"]))
@examples(30)
def test_a_missing_value_of_its_own_is_at_distance_1_from_all_others(row, totals, hierarchy):
    """Exact for equal and hierarchical distances; never below for the ordered one, and never above 1."""
    groups = with_domain([row], hierarchy, totals={"s": np.array(totals)})
    missing = 4

    def beside(distance):
        return lambda i, j: float(i != j) if missing in {i, j} else distance(i, j)

    by_tree = beside(lambda i, j: sum(level[i] != level[j] for level in hierarchy.levels) / hierarchy.height)
    assert close("equal").levels(groups)[0] == float(equal_distance(row, totals))
    assert close("hierarchical").levels(groups)[0] == pytest.approx(
        earth_movers_distance(row, totals, by_tree), abs=1e-9
    )
    by_rank = earth_movers_distance(row, totals, beside(lambda i, j: abs(i - j) / 3))
    assert by_rank - 1e-9 <= close("ordered").levels(groups)[0] <= 1


@given(counts(5), counts(5))
def test_the_ordered_bound_with_missing_values_is_as_documented(row, totals):
    groups = with_domain([row], domain_hierarchy(4), totals={"s": np.array(totals)})
    q, p = Fraction(row[4], sum(row)), Fraction(totals[4], sum(totals))
    both_known = any(row[:4]) and any(totals[:4])
    between = ordered_distance(row[:4], totals[:4]) if both_known else Fraction(0)
    assume(any(totals[:4]) or not any(row[:4]))
    assert close("ordered").levels(groups)[0] == float(min((1 - q) * between + abs(q - p), Fraction(1)))


def test_the_ordered_bound_with_missing_values_is_at_most_1():
    groups = with_domain([[0, 0, 0, 3, 0]], domain_hierarchy(4), totals={"s": np.array([2, 0, 0, 0, 2])})
    assert close("ordered").levels(groups).tolist() == [1]


def test_a_single_value_is_ordered_beside_missing_ones():
    groups = with_domain([[3, 1], [1, 0]], domain_hierarchy(1), totals={"s": np.array([1, 1])})
    assert close("ordered").levels(groups).tolist() == [0.25, 0.5]


@pytest.mark.parametrize(("missing", "levels"), [("own-value", [0.0]), ("matches-all", [1.0])])
def test_a_column_without_any_value_has_no_order_to_cross(missing, levels):
    column = CodedColumn(Domain("s", Scale.NUMERIC, pa.array([], pa.int64())), np.zeros(3, dtype=np.uint8))
    groups = Groups.from_rows(np.zeros(3, dtype=np.int32), 1, [column], MissingPolicy(missing))
    assert close("ordered").levels(groups).tolist() == levels


def test_both_kinds_of_missing_values_add_up():
    groups = with_domain([[2, 2, 0, 0, 0]], TREE, totals={"s": np.array([2, 2, 0, 0, 1])}, missing={"s": [1]})
    assert close("ordered").levels(groups).tolist() == [0.4]


def domain_hierarchy(leaves: int) -> Hierarchy:
    names = [f"v{i}" for i in range(leaves)]
    return Hierarchy.from_levels(names, [names], ordered=True)


@given(counts(4), counts(4), st.integers(0, 5), st.sampled_from(DISTANCES))
def test_missing_values_that_may_be_anything_count_as_moved_from_end_to_end(row, totals, lost, distance):
    groups = with_domain([row], TREE, totals={"s": np.array(totals)}, missing={"s": [lost]})
    levels = [level.tolist() for level in TREE.levels]
    known = {
        "equal": equal_distance(row, totals),
        "ordered": ordered_distance(row, totals),
        "hierarchical": hierarchical_distance(row, totals, levels),
    }[distance]
    share = Fraction(lost, sum(row) + lost)
    assert close(distance).levels(groups).tolist() == [float((1 - share) * known + share)]


@pytest.mark.parametrize("policy", MissingPolicy)
@pytest.mark.parametrize("distance", DISTANCES)
def test_a_table_without_any_known_value_is_judged(policy, distance):
    codes = CodedColumn(domain_of(TREE), np.full(3, 4, dtype=np.uint8))
    groups = Groups.from_rows(np.array([0, 0, 1]), 2, [codes], policy)
    expected = 0 if policy is MissingPolicy.OWN_VALUE else 1
    assert close(distance).levels(groups).tolist() == [expected, expected]


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_single_value_is_no_distance_from_itself(distance):
    assert close(distance, t=0).satisfied_by(with_domain([[3], [1]], domain_hierarchy(1))).all()


def test_a_true_fifth_is_within_a_fifth():
    groups = Groups.from_counts(s=[[7, 3], [3, 7], [5, 5], [701, 299]], totals={"s": np.array([5, 5])})
    assert close("equal", t=0.2).levels(groups).tolist() == [0.2, 0.2, 0, 0.201]
    assert close("ordered", t=0.2).satisfied_by(groups).tolist() == [True, True, True, False]
    assert close("equal", t=0.2).satisfied_by(groups).tolist() == [True, True, True, False]


def test_a_true_third_is_within_a_third():
    groups = Groups.from_counts(s=[[1, 2, 0], [3, 0, 0]], totals={"s": np.array([1, 1, 1])})
    assert close("equal", t=1 / 3).satisfied_by(groups).tolist() == [True, False]


@pytest.mark.parametrize("distance", DISTANCES)
def test_large_counts_stay_exact(distance):
    """Products beyond 64 bits: small groups beside large ones, and a fifth that is a fifth."""
    big = 10**15
    matrix = [[7 * big, 3 * big, 0, 0], [7, 3, 0, 0], [big, big + 1, big, big], [0, 0, 1, 0]]
    totals = [5 * big, 5 * big, 0, 0]
    groups = with_domain(matrix, TREE, totals={"s": np.array(totals)})
    levels = [level.tolist() for level in TREE.levels]
    expected = {
        "equal": [equal_distance(row, totals) for row in matrix],
        "ordered": [ordered_distance(row, totals) for row in matrix],
        "hierarchical": [hierarchical_distance(row, totals, levels) for row in matrix],
    }[distance]
    assert close(distance).levels(groups).tolist() == [float(level) for level in expected]
    assert close("equal", t=0.2).satisfied_by(groups).tolist() == [True, True, False, False]


def test_many_values_with_large_counts_stay_exact():
    counted = np.zeros((2, 40), dtype=np.int64)
    counted[[0, 1], [0, 20]] = 10**9
    groups = Groups.from_counts(s=counted, totals={"s": counted[0]})
    assert close("ordered").levels(groups).tolist() == [0, 20 / 39]


@pytest.mark.parametrize("distance", DISTANCES)
def test_large_counts_of_values_that_may_be_anything_stay_exact(distance):
    big = 10**15
    even = {"s": np.array([5 * big, 5 * big, 5 * big, 5 * big])}
    groups = with_domain([[big, big, big, big], [1, 1, 1, 1]], TREE, totals=even, missing={"s": [big, 1]})
    assert close(distance, t=0.2).levels(groups).tolist() == [0.2, 0.2]


def test_large_counts_with_both_kinds_of_missing_values_stay_exact():
    big = 10**15
    totals = {"s": np.array([big, big, big, big, big])}
    groups = with_domain([[big, big, big, big, 0]], TREE, totals=totals, missing={"s": [big]})
    assert close("ordered").levels(groups).tolist() == [0.4]


def test_large_counts_with_missing_values_stay_exact():
    big = 10**15
    groups = with_domain(
        [[7 * big, 3 * big, 0, 0, big], [1, 1, 0, 0, 0]],
        TREE,
        totals={"s": np.array([5 * big, 5 * big, 0, 0, big])},
    )
    known = ordered_distance([7, 3, 0, 0], [5, 5, 0, 0])
    assert close("ordered").levels(groups).tolist() == [
        float(Fraction(10, 11) * known),
        float(Fraction(1, 11)),
    ]


def test_quotients_are_rounded_once():
    top = [2**53 + 1, 10**17 + 7, 2**53 - 1, 1, 0]
    bottom = [3, 10**18 + 9, 2**53 + 1, 5, 0]
    expected = [float(Fraction(a, b)) for a, b in zip(top[:4], bottom[:4], strict=True)]
    assert _earth_movers_distance.correctly_rounded_quotient(np.array(top), np.array(bottom)).tolist() == [*expected, 0]


@given(group_counts(), st.randoms(use_true_random=False))
def test_the_equal_distance_ignores_names_of_values(matrix, random):
    order = list(range(len(matrix[0])))
    random.shuffle(order)
    renamed = [[row[v] for v in order] for row in matrix]
    assert close("equal").levels(Groups.from_counts(s=matrix)).tolist() == pytest.approx(
        close("equal").levels(Groups.from_counts(s=renamed)).tolist(), abs=0
    )


def test_a_hierarchical_distance_needs_a_hierarchy():
    with pytest.raises(SchemaError, match=r"'s' has no hierarchy for TCloseness; give one in Schema\.hierarchies"):
        close("hierarchical").levels(Groups.from_counts(s=[[1, 1]]))
    flat = Domain("s", Scale.NOMINAL, pa.array(["a", "b"]))
    with pytest.raises(SchemaError, match="'s' has no hierarchy"):
        close("hierarchical").levels(Groups.from_counts(s=[[1, 1]], domains={"s": flat}))


def test_an_ordered_distance_needs_an_order():
    flat = Domain("s", Scale.NOMINAL, pa.array(["a", "b"]))
    with pytest.raises(
        SchemaError, match=r"'s' is nominal and has no order for TCloseness; give an order in Schema\.orders"
    ):
        close("ordered").levels(Groups.from_counts(s=[[1, 1]], domains={"s": flat}))


def test_t_may_be_0_or_1():
    groups = Groups.from_counts(s=[[1, 0], [0, 1], [1, 1]])
    assert close("equal", t=0).satisfied_by(groups).tolist() == [False, False, True]
    assert close("equal", t=1).satisfied_by(groups).all()


@pytest.mark.parametrize("t", [-0.1, 1.1, True, "0.2", float("nan")])
def test_t_must_lie_between_0_and_1(t):
    with pytest.raises(InvalidParameterError, match=r"TCloseness\.t must be a number from 0 to 1; got"):
        TCloseness(t=t, sensitive="s")


def test_the_distance_must_be_known():
    with pytest.raises(InvalidParameterError, match=r"distance must be one of equal, .*, kl, matrix; got 'cosine'"):
        TCloseness(t=0.1, sensitive="s", distance="cosine")


# The table that groups are compared with


def of_original(**options):
    return TCloseness(t=0.3, sensitive="s", compared_with="original", **options)


def whole(*counts_of_values):
    return Groups.from_counts(s=[counts_of_values], domains={"s": domain_of(TREE)})


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_original_stays_what_groups_are_compared_with(distance):
    groups = with_domain([[1, 1, 0, 0], [1, 0, 1, 0]], TREE)
    levels = of_original(distance=distance).with_reference(whole(3, 1, 1, 3)).levels(groups)
    told = replace(groups, totals={"s": np.array([3, 1, 1, 3])})
    assert levels.tolist() == close(distance).levels(told).tolist()
    assert levels.tolist() != close(distance).levels(groups).tolist()


def test_without_the_original_nothing_is_judged():
    groups = with_domain([[1, 1, 0, 0], [1, 0, 1, 0]], TREE)
    for model in (of_original(), of_original().with_reference(Groups(np.array([4])))):
        for ask in (model.levels, model.satisfied_by, model.min_violating_records, model.cut_distance):
            with pytest.raises(SchemaError, match="compares with the original table, which is not known here"):
                ask(groups)


def test_the_first_original_counts():
    first = of_original().with_reference(whole(3, 1, 1, 3))
    assert first.with_reference(whole(1, 9, 9, 1)) is first
    assert close("equal").with_reference(whole(3, 1, 1, 3)) == close("equal")


def test_an_original_with_other_values_is_refused():
    model = of_original().with_reference(whole(3, 1, 1, 3))
    other = Taxonomy({"x": ["flu", "cold"], "y": ["ulcer", "gastritis"]}).hierarchy
    for groups in (with_domain([[1, 1, 0, 0]], other), Groups.from_counts(s=[[1, 1, 0]])):
        with pytest.raises(SchemaError, match="has other values here than in the original table"):
            model.levels(groups)


def test_only_the_published_table_changes_when_records_are_suppressed():
    assert close("equal").compares_with_table
    assert not close("equal").needs_original
    assert not of_original().compares_with_table
    assert of_original().needs_original


def test_a_model_that_knows_the_original_is_the_same_model():
    plain, told = of_original(), of_original().with_reference(whole(3, 1, 1, 3))
    assert plain == told
    assert repr(plain) == repr(told)
    assert plain.parameters() == told.parameters()
    copied = pickle.loads(pickle.dumps(told))  # noqa: S301 - made here
    groups = with_domain([[1, 1, 0, 0]], TREE)
    assert copied.levels(groups).tolist() == told.levels(groups).tolist()


def test_a_table_that_is_neither_is_refused():
    with pytest.raises(InvalidParameterError, match="compared_with must be one of published, original"):
        TCloseness(t=0.3, sensitive="s", compared_with="other")


def test_the_promise_names_the_table():
    told = TCloseness.description.sentence(of_original().parameters())
    assert "as in the whole original table" in told
    assert "as in the whole published table" in TCloseness.description.sentence(close("equal").parameters())
