"""Answers with differential privacy: exact without noise, as noisy as stated, and refused in a sentence."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from math import exp

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sfumato._validation import MOST_CONFIDENCE
from sfumato.dp import mechanisms, private_table
from sfumato.dp.accountant import Accountant, AnotherBudgetError
from sfumato.dp.histograms import (
    clip_negative,
    consistent_leaves,
    haar_transform,
    inverse_haar_transform,
    make_consistent,
    sum_tree,
)
from sfumato.dp.private_table import PrivateTable, _rows_within_limit
from sfumato.dp.public_facts import declare_columns, step_of, to_integer_steps
from sfumato.errors import InfeasibleError, InvalidParameterError, SchemaError
from sfumato.queries.query import Query, matching_rows

# Noise cannot be seeded, so tests of it may fail by chance: each less often than once in a hundred million runs.
FALSE_ALARM = 1e-8
SURE = 1e5  # an epsilon so large that answers are exact
STATED = {
    "bounds": {"age": (0, 100), "pay": (0, 5000)},
    "categories": {"sex": ["F", "M", "X"]},
}


@pytest.fixture
def frame():
    generator = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": generator.integers(0, 100, 400),
            "sex": generator.choice(["F", "M"], 400),
            "pay": generator.integers(0, 5000, 400),
            "id": np.arange(400) // 4,
        }
    )


@pytest.fixture
def accountant(tmp_path):
    return Accountant(tmp_path / "budget.sqlite", total=10**6)


@pytest.fixture
def table(frame, accountant):
    return PrivateTable(frame, accountant=accountant, analyst="ann", **STATED)


def test_answers_are_exact_where_epsilon_is_huge(table, frame):
    old = frame[frame["age"] >= 60]
    assert table.count({"age": (">=", 60)}, epsilon=SURE).value == len(old)
    assert table.sum("pay", {"age": (">=", 60)}, epsilon=SURE).value == pytest.approx(old["pay"].sum(), abs=1)
    assert table.mean("pay", {"sex": "F"}, epsilon=SURE).value == pytest.approx(
        frame[frame["sex"] == "F"]["pay"].mean(), abs=0.1
    )
    low, high = (frame["age"].quantile(0.5, interpolation=each) for each in ("lower", "higher"))
    assert low <= table.quantile("age", 0.5, epsilon=SURE).value <= high
    found = table.contingency_table(["sex", "age"], edges={"age": [0, 50, 100]}, epsilon=SURE)
    assert found["F", "[0, 50)"] == ((frame["sex"] == "F") & (frame["age"] < 50)).sum()
    assert found["X", "[50, 100]"] == 0
    assert len(found.cells) == 6


@pytest.mark.parametrize("shape", ["cells", "tree", "wavelet"])
def test_histograms_of_all_shapes_are_exact_where_epsilon_is_huge(table, frame, shape):
    found = table.histogram("age", edges=[0, 10, 20, 50, 70, 100], epsilon=SURE, shape=shape)
    if shape == "tree":
        found = make_consistent(found)
    expected = np.histogram(frame["age"], [0, 10, 20, 50, 70, 100])[0]
    assert np.allclose(found.counts, expected)


def test_an_answer_tells_what_made_it_and_what_it_cost(table):
    answer = table.sum("pay", {"sex": ["F", "X"]}, epsilon="0.25", confidence=0.9)
    assert answer.question == "sum of pay where sex in 2 values"
    assert answer.mechanism == "discrete Laplace"
    assert answer.scale == pytest.approx(5000 / 0.25)
    assert answer.epsilon == "0.25"
    assert answer.confidence == 0.9
    assert answer.upper - answer.value == pytest.approx(answer.scale * np.log(10), rel=1e-3)
    assert table.accountant.balance().analysts["ann"].spent == "0.25"
    assert re.fullmatch(r"PrivateAnswer\(.*, epsilon 0\.25 for adding or removing one row\)", repr(answer))


def test_analysts_have_budgets_of_their_own(frame, tmp_path):
    accountant = Accountant(tmp_path / "budget.sqlite", total=2, per_analyst=1)
    ann = PrivateTable(frame, accountant=accountant, analyst="ann")
    ann.count(epsilon=1)
    with pytest.raises(InfeasibleError, match="analyst 'ann' has 0 left"):
        ann.count(epsilon=1)
    ann.for_analyst("bob").count(epsilon=1)
    with pytest.raises(InfeasibleError, match="the table has 0 left"):
        ann.for_analyst("eve").count(epsilon=1)


def test_every_kind_of_frame_gives_the_same_table(frame, accountant):
    PrivateTable(frame, accountant=accountant, analyst="ann", **STATED)
    again = PrivateTable(pl.DataFrame(frame.to_dict("list")), accountant=accountant, analyst="ann", **STATED)
    assert again.count({"sex": "F"}, epsilon=SURE).value == (frame["sex"] == "F").sum()


def test_missing_values_satisfy_no_condition_and_are_in_no_sum(accountant):
    frame = pd.DataFrame({"sex": ["F", None, "M", "F"], "pay": [1.5, 2.0, None, 4.0]})
    stated = {"bounds": {"pay": (0, 10)}, "categories": {"sex": ["F", "M"]}}
    table = PrivateTable(frame, accountant=accountant, analyst="ann", **stated)
    assert table.count({"sex": ("!=", "F")}, epsilon=SURE).value == 1
    assert table.count({"pay": (0, 10)}, epsilon=SURE).value == 3
    assert table.count({"pay": ("!=", 4)}, epsilon=SURE).value == 2
    assert table.sum("pay", epsilon=SURE).value == pytest.approx(7.5, abs=0.01)
    assert table.mean("pay", epsilon=SURE).value == pytest.approx(2.5, abs=0.01)


def test_values_beyond_the_bounds_are_moved_to_them(accountant):
    frame = pd.DataFrame({"pay": [-50, 5, 10**9]})
    table = PrivateTable(frame, accountant=accountant, analyst="ann", bounds={"pay": (0, 10)})
    assert table.sum("pay", epsilon=SURE).value == pytest.approx(15, abs=0.01)
    assert table.quantile("pay", 0.99, epsilon=SURE).value == 10


def test_a_text_among_numbers_changes_no_other_cell(accountant):
    frame = pd.DataFrame({"pay": ["1", "2.0", "n/a", "3"]})
    table = PrivateTable(frame, accountant=accountant, analyst="ann", bounds={"pay": (0, 10)})
    assert table.sum("pay", {"pay": (">=", 2)}, epsilon=SURE).value == pytest.approx(5, abs=0.01)


def test_a_person_takes_part_with_a_stated_number_of_rows(frame, accountant):
    table = PrivateTable(frame, accountant=accountant, analyst="ann", person="id", max_rows=3, **STATED)
    assert table.count(epsilon=SURE).value == 300
    assert table.count(epsilon=1).scale == pytest.approx(3)
    assert table.histogram("sex", epsilon=1).scale == pytest.approx(3)
    assert table.sum("pay", epsilon=1).scale == pytest.approx(15_000)
    with pytest.raises(InvalidParameterError, match="of whose rows at most 3 count\\), not for adding or"):
        PrivateTable(frame, accountant=accountant, analyst="ann", person="id", max_rows=4, **STATED)


@given(persons=st.lists(st.sampled_from(["a", "b", "c", None]), max_size=20), most=st.integers(1, 3))
def test_which_rows_of_a_person_take_part_depends_on_that_person_alone(persons, most):
    column = pa.chunked_array([pa.array(persons, pa.string())])
    kept = _rows_within_limit(column, most)
    for person in ("a", "b", "c"):
        places = [place for place, each in enumerate(persons) if each == person]
        assert np.flatnonzero([kept[place] for place in places]).tolist() == list(range(min(most, len(places))))
    assert not any(keeps for keeps, each in zip(kept, persons, strict=True) if each is None)


@given(
    values=st.lists(st.integers(0, 6), max_size=12),
    extra=st.integers(0, 6),
    share=st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(3, 4)]),
)
def test_one_more_row_changes_no_score_of_a_quantile_by_more_than_is_paid_for(values, extra, share):
    seen, grid = [], np.arange(7.0)

    def remember(scores, *, sensitivity, epsilon):
        seen.append((scores.copy(), sensitivity, epsilon))
        return 0, 1.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanisms, "permute_and_flip", remember)
        for rows in (values, [*values, extra]):
            counts = private_table.count_at_candidates(np.array(rows, dtype=float), grid)
            private_table.select_quantile(counts, share, max_rows=1, epsilon=Fraction(1), confidence=0.9)
    assert sum(epsilon for _, _, epsilon in seen[:3]) == 1
    assert all(scores.min() == 0 for scores, _, _ in seen)
    for (before, sensitivity, _), (after, _, _) in zip(seen[:3], seen[3:], strict=True):
        assert np.abs(before - after).max() <= sensitivity
    if values:
        true = np.sort(values)[max(0, -(-len(values) * share.numerator // share.denominator) - 1)]
        assert seen[0][0][true] == 0


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.integers(0, 8), st.sampled_from(["tree", "wavelet"]))
def test_one_more_row_changes_trees_and_wavelets_by_what_is_paid_for(counts, place, shape):
    before = np.array(counts)
    after = before.copy()
    after[place % len(counts)] += 1
    if shape == "tree":
        one, other = (np.concatenate(sum_tree(each, 2)) for each in (before, after))
        paid = len(sum_tree(before, 2))
    else:
        size = 1 << (len(counts) - 1).bit_length()
        one, other = (haar_transform(np.pad(each, (0, size - len(each)))) for each in (before, after))
        paid = 1 + (size - 1).bit_length()
    assert np.abs(one - other).sum() == paid


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=9))
def test_whole_steps_are_near_the_values_and_within_the_largest(values):
    steps, (step, most) = to_integer_steps(np.array(values), -3.5, 50.25), step_of(-3.5, 50.25)
    assert np.abs(steps * step - np.clip(values, -3.5, 50.25)).max() <= step
    assert np.abs(steps).max() <= most
    assert most * step == pytest.approx(50.25)


def test_consistency_is_that_of_the_worked_example():
    found = consistent_leaves([np.array([11.0]), np.array([4.0, 6.0]), np.array([3.0, 0.0, 5.0, 2.0])], 2)
    assert found == pytest.approx([3.47619, 0.47619, 4.80952, 1.80952], abs=1e-5)


@given(st.integers(2, 4), st.integers(1, 3), st.integers(0, 10**6))
def test_consistency_is_least_squares(branching, height, seed):
    leaves = branching**height
    sums = sum_tree(np.eye(leaves, dtype=np.int64)[0] * 0, branching)
    matrix = np.vstack(
        [np.kron(np.eye(len(level)), np.ones(leaves // len(level))).reshape(len(level), leaves) for level in sums]
    )
    noisy = np.random.default_rng(seed).normal(size=len(matrix))
    parts = np.split(noisy, np.cumsum([len(level) for level in sums])[:-1])
    expected = np.linalg.lstsq(matrix, noisy)[0]
    assert np.allclose(consistent_leaves(parts, branching), expected)


def test_the_wavelet_is_that_of_the_worked_example():
    assert haar_transform(np.array([1, 2, 3, 4])).tolist() == [10, -4, -1, -1]
    assert inverse_haar_transform(np.array([10, -4, -1, -1])).tolist() == [1, 2, 3, 4]


def test_steps_after_the_noise_are_named(table):
    found = table.histogram("age", edges=list(range(0, 101, 10)), epsilon=0.5, shape="tree")
    assert found.steps == ()
    done = clip_negative(make_consistent(found))
    assert done.steps == ("made consistent", "raised to 0")
    assert done.counts.min() >= 0
    assert done.epsilon == found.epsilon
    with pytest.raises(InvalidParameterError, match="shape='tree'"):
        make_consistent(table.histogram("sex", epsilon=1))


def test_noise_has_the_distribution_that_is_stated():
    draws = mechanisms.add_discrete_laplace(
        np.zeros(20_000, dtype=np.int64), sensitivity=1, epsilon=Fraction(1, 2)
    ).numbers
    a = exp(-0.5)
    edges = range(-6, 7)
    expected = [(1 - a) / (1 + a) * a ** abs(value) for value in edges]
    seen = [(draws == value).sum() for value in edges]
    rest = 1 - sum(expected)
    test = stats.chisquare([*seen, 20_000 - sum(seen)], 20_000 * np.array([*expected, rest]))
    assert test.pvalue > FALSE_ALARM


def test_intervals_hold_the_truth_as_often_as_they_say(table, frame):
    asked = {
        "count": (lambda: table.count(epsilon=0.5, confidence=0.8), len(frame)),
        "mean": (lambda: table.mean("pay", epsilon=2, confidence=0.8), frame["pay"].mean()),
        "quantile": (
            lambda: table.quantile("age", 0.25, epsilon=2, confidence=0.8),
            frame["age"].quantile(0.25, interpolation="lower"),
        ),
    }
    for ask, truth in asked.values():
        answers = [ask() for _ in range(60)]
        held = sum(each.lower <= truth <= each.upper for each in answers)
        assert stats.binom.cdf(held, 60, 0.8) > FALSE_ALARM


def test_intervals_of_trees_and_wavelets_hold_the_truth_as_often_as_they_say(table, frame):
    edges = list(range(0, 101, 5))
    truth = np.histogram(frame["age"], edges)[0]
    for shape in ("tree", "wavelet"):
        held = 0
        for _ in range(30):
            found = table.histogram("age", edges=edges, epsilon=0.5, shape=shape, confidence=0.8)
            found = make_consistent(found) if shape == "tree" else found
            held += int(found.lower[3] <= truth[3] <= found.upper[3])
        assert stats.binom.cdf(held, 30, 0.78) > FALSE_ALARM
        assert stats.binom.sf(held - 1, 30, 0.82) > FALSE_ALARM


def test_answers_of_neighbors_are_hardly_told_apart(accountant, tmp_path):
    one = PrivateTable(pd.DataFrame({"age": [1, 2, 3]}), accountant=accountant, analyst="ann")
    other = PrivateTable(
        pd.DataFrame({"age": [1, 2]}), accountant=Accountant(tmp_path / "two.sqlite", total=10**6), analyst="ann"
    )
    seen = [np.array([each.count(epsilon=1).value for _ in range(150)]) for each in (one, other)]
    larger, smaller = (int((values >= 3).sum()) for values in seen)
    limit = stats.binomtest(larger, 150).proportion_ci(1 - FALSE_ALARM).low
    assert limit <= exp(1) * stats.binomtest(smaller, 150).proportion_ci(1 - FALSE_ALARM).high


@pytest.mark.parametrize("scale", [0.3, 1.0, 12.5, 1e6])
def test_margins_are_those_of_opendp(scale):
    accuracy = mechanisms.load_opendp().discrete_laplacian_scale_to_accuracy(scale, 0.05)
    assert mechanisms.error_margin(scale, 0.95) == np.ceil(accuracy) - 1
    assert mechanisms.error_margin(1e-5, 0.95) == 0


def test_the_noise_costs_no_more_than_epsilon():
    library = mechanisms.load_opendp()
    for epsilon in (Fraction(1, 10), Fraction(1, 3), Fraction(7, 10), Fraction(123_456_789, 10**9)):
        drawn = mechanisms.add_discrete_laplace(np.zeros(1, dtype=np.int64), sensitivity=7, epsilon=epsilon)
        space = library.vector_domain(library.atom_domain(T="i64")), library.l1_distance(T="i64")
        cost = library.m.make_laplace(*space, drawn.scale).map(7)
        assert epsilon * Fraction(99, 100) < Fraction(cost) <= epsilon
        _, scale = mechanisms.permute_and_flip(np.zeros(3, dtype=np.int64), sensitivity=7, epsilon=epsilon)
        space = library.vector_domain(library.atom_domain(T="i64")), library.linf_distance(T="i64")
        cost = library.m.make_noisy_max(*space, library.max_divergence(), scale, negate=True).map(7)
        assert epsilon * Fraction(99, 100) < Fraction(cost) <= epsilon
        assert mechanisms.selection_scale(sensitivity=7, epsilon=epsilon) == pytest.approx(scale)
    with pytest.raises(InvalidParameterError, match="give a larger one"):
        mechanisms.add_discrete_laplace(np.zeros(1, dtype=np.int64), sensitivity=2**40, epsilon=Fraction(1, 10**12))


BAD = {
    "negative epsilon": (lambda t: t.count(epsilon=-1), InvalidParameterError, r"PrivateTable\.epsilon must be"),
    "no epsilon": (lambda t: t.count(epsilon=0), InvalidParameterError, r"PrivateTable\.epsilon must be"),
    "unbounded": (lambda t: t.sum("id", epsilon=1), SchemaError, "Nothing is stated about column 'id'; give its"),
    "unknown": (lambda t: t.sum("pya", epsilon=1), SchemaError, "no column 'pya'; did you mean 'pay'"),
    "condition": (lambda t: t.count({"id": 3}, epsilon=1), SchemaError, "Nothing is stated about column 'id'"),
    "no such column": (lambda t: t.count({"zip": 3}, epsilon=1), SchemaError, "no column 'zip'"),
    "categories": (lambda t: t.mean("sex", epsilon=1), SchemaError, "has categories; sums, means and quantiles"),
    "order": (lambda t: t.count({"sex": (">", "F")}, epsilon=1), InvalidParameterError, "needs an order"),
    "number": (lambda t: t.count({"age": "old"}, epsilon=1), InvalidParameterError, "must name numbers"),
    "share": (lambda t: t.quantile("age", 1.0, epsilon=1), InvalidParameterError, r"share must be between 0 and 1"),
    "step": (lambda t: t.quantile("age", 0.5, epsilon=1, step=-1), InvalidParameterError, r"step must be above 0"),
    "edges": (lambda t: t.histogram("age", epsilon=1), InvalidParameterError, "state the edges of its bins"),
    "falling": (lambda t: t.histogram("age", edges=[5, 1], epsilon=1), InvalidParameterError, "increasing numbers"),
    "no bins": (lambda t: t.histogram("sex", edges=[1, 5], epsilon=1), InvalidParameterError, "drop its edges"),
    "shape": (lambda t: t.histogram("sex", epsilon=1, shape="ring"), InvalidParameterError, "one of cells, tree"),
    "branching": (lambda t: t.histogram("sex", epsilon=1, branching=1), InvalidParameterError, "at least 2"),
    "confidence": (lambda t: t.count(epsilon=1, confidence=1), InvalidParameterError, "confidence must be above 0"),
    "columns": (lambda t: t.contingency_table("sex", epsilon=1), InvalidParameterError, "list of distinct columns"),
    "cell": (lambda t: t.histogram("sex", epsilon=1)["Y"], InvalidParameterError, "no such cell of sex"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_question_is_refused_in_a_sentence_and_costs_nothing(table, case):
    ask, error, sentence = BAD[case]
    with pytest.raises(error, match=sentence) as refused:
        ask(table)
    assert re.fullmatch(r"[^\n]+[^.][.?]", str(refused.value))
    assert table.accountant.balance().answers == (case == "cell")


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (
            {"bounds": {"age": (0, float("inf"))}},
            InvalidParameterError,
            "two finite numbers or two dates, the lower first",
        ),
        ({"bounds": {"age": (5, 5)}}, InvalidParameterError, "two finite numbers"),
        ({"bounds": {"age": 5}}, InvalidParameterError, "two finite numbers"),
        ({"bounds": {"agee": (0, 1)}}, SchemaError, "no column 'agee'; did you mean 'age'"),
        ({"categories": {"sex": "FM"}}, InvalidParameterError, "must be a list of values"),
        ({"categories": {"sex": []}}, InvalidParameterError, "distinct values, at least one"),
        ({"categories": {"sex": ["F"]}, "bounds": {"sex": (0, 1)}}, InvalidParameterError, "state one of them"),
        ({"person": "id"}, InvalidParameterError, r"max_rows must be a whole number of at least 1"),
        ({"max_rows": 3}, InvalidParameterError, "left out unless a person column is named"),
        ({"person": "idd", "max_rows": 1}, SchemaError, "no column 'idd'"),
    ],
)
def test_what_is_stated_badly_is_refused(frame, accountant, given, error, sentence):
    with pytest.raises(error, match=sentence):
        PrivateTable(frame, accountant=accountant, analyst="ann", **given)


COLUMNS = ("age", "sex", "day")
NUMBERS = {"bounds": {"age": (0, 100)}, "categories": {"sex": ["1", "2", "3"], "day": ["2020-01-01", "2020-01-02"]}}
CELLS = st.one_of(
    st.none(),
    st.sampled_from(["1", "1.0", "2", "3.5", "x", "unknown", "true", "2020-01-01", "2020-01-01T00:00:00", "1e999"]),
    st.text(max_size=4),
)
rows_of_texts = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6)


@given(rows=rows_of_texts, other=st.tuples(CELLS, CELLS, CELLS), place=st.integers(0, 5))
def test_one_row_changes_how_no_other_row_is_read(rows, other, place):
    place %= len(rows)

    def read(lines):
        table = pa.table(
            {name: pa.array(cells, pa.string()) for name, cells in zip(COLUMNS, zip(*lines, strict=True), strict=True)}
        )
        found = declare_columns(table, NUMBERS["bounds"], NUMBERS["categories"])
        met = matching_rows(
            Query(where={"day": (">=", "2020-01-02"), "age": (0, 50)}).conditions, found.columns, len(rows)
        )
        ages = found.cells("age", [0, 2, 100])[0]
        return list(
            zip(
                ages.tolist(),
                *(found.cells(each, None)[0].tolist() for each in ("sex", "day")),
                met.tolist(),
                strict=True,
            )
        )

    before, after = read(rows), read([*rows[:place], other, *rows[place + 1 :]])
    assert before[:place] + before[place + 1 :] == after[:place] + after[place + 1 :]


@pytest.mark.parametrize("kind", ["float", "int", "text"])
def test_categories_are_found_however_the_column_is_typed(accountant, kind):
    cells = {"float": [1.0, 2.0, 1.5], "int": [1, 2, 5], "text": ["1.0", "2", "x"]}[kind]
    table = PrivateTable(pd.DataFrame({"sex": cells}), accountant=accountant, analyst="ann", categories={"sex": [1, 2]})
    assert table.histogram("sex", epsilon=SURE).counts.tolist() == [1, 1]


def test_dates_are_asked_by_bounds_that_are_dates(accountant):
    frame = pd.DataFrame({"day": ["2020-01-01", "2020-01-05T12:00", "unknown", None, "2020-02-30"]})
    bounds = {"day": (date(2019, 1, 1), date(2021, 1, 1))}
    table = PrivateTable(frame, accountant=accountant, analyst="ann", bounds=bounds)
    assert table.count({"day": (">", "2020-01-05")}, epsilon=SURE).value == 1
    assert table.count({"day": (date(2020, 1, 1), "2020-12-31")}, epsilon=SURE).value == 2
    edges = [date(2020, 1, 1), date(2020, 1, 3), date(2021, 1, 1)]
    assert table.histogram("day", edges=edges, epsilon=SURE).as_dict() == {
        ("[2020-01-01, 2020-01-03)",): 1,
        ("[2020-01-03, 2021-01-01]",): 1,
    }
    assert table.unreadable_counts == {"day": 3}
    with pytest.raises(SchemaError, match="has dates; sums, means and quantiles need bounds that are numbers"):
        table.mean("day", epsilon=1)
    with pytest.raises(InvalidParameterError, match="must name dates"):
        table.count({"day": "soon"}, epsilon=1)


def test_a_question_is_paid_before_any_row_is_looked_at(table, monkeypatch):
    def spend(*_):
        raise InfeasibleError("spent")

    seen = []
    monkeypatch.setattr("sfumato.dp.private_table.matching_rows", lambda *given: seen.append(given[2]))
    monkeypatch.setattr(Accountant, "spend", spend)
    with pytest.raises(InfeasibleError):
        table.count({"age": 5}, epsilon=1)
    assert seen == [0]


TINY = {"epsilon": "8e-12", "confidence": 0.8023938340860004}


@pytest.mark.parametrize("rows", [0, 1, 999, 1000, 1001])
def test_a_quantile_whose_ranks_do_not_fit_is_refused_before_it_is_paid_whatever_the_rows(accountant, rows):
    frame = pd.DataFrame({"x": np.full(rows, 3.0)})
    table = PrivateTable(frame, accountant=accountant, analyst="ann", bounds={"x": (0, 10)})
    with pytest.raises(
        InvalidParameterError, match=r"ranks that do not fit into 64 bits; give a larger one, or a share"
    ):
        table.quantile("x", 0.999999, **TINY)
    assert accountant.balance().answers == 0


@given(
    counts=st.lists(st.integers(0, 10**9), min_size=2, max_size=5),
    digits=st.integers(1, 999_999),
    confidence=st.floats(1e-6, MOST_CONFIDENCE),
    power=st.integers(-12, 3),
)
def test_scores_of_a_quantile_are_those_of_unbounded_numbers(counts, digits, confidence, power):
    share, epsilon, scores = Fraction(digits, 10**6), Fraction(10) ** power, []

    def least(given, **_):
        scores.append(given.tolist())
        return 0, 1.0

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(mechanisms, "permute_and_flip", least)
        try:
            private_table.select_quantile(np.array(counts), share, max_rows=1, epsilon=epsilon, confidence=confidence)
        except InvalidParameterError:
            assert power < -8
            return
    _, shift = private_table.shift_of_ends(share, len(counts), max_rows=1, epsilon=epsilon, confidence=confidence)
    below = [sum(counts[:place]) for place in range(len(counts) + 1)]
    part, whole, last = share.numerator, share.denominator, len(counts) - 1
    for found, rank in zip(scores, (0, -shift, shift), strict=True):
        wanted = part * below[-1] + rank
        over = [whole * below[place] - wanted if place > 0 else 0 for place in range(last + 1)]
        short = [wanted - whole * below[place + 1] if place < last else 0 for place in range(last + 1)]
        assert found == [max(a, b, 0) for a, b in zip(over, short, strict=True)]


@pytest.mark.parametrize("confidence", [1 - 2**-53, 1 - 1e-10, 0, 1, 1e-400, float("nan"), 10**400, True, "much"])
def test_a_confidence_that_leaves_no_room_for_an_error_is_refused_and_costs_nothing(table, confidence):
    for ask in ASKED.values():
        with pytest.raises(InvalidParameterError, match=r"confidence must be above 0 and at most 0\.999999999;"):
            ask(table, epsilon=1, confidence=confidence)
    assert table.accountant.balance().answers == 0


ASKED = {
    "count": lambda t, **cost: t.count(**cost),
    "sum": lambda t, **cost: t.sum("pay", **cost),
    "mean": lambda t, **cost: t.mean("pay", **cost),
    "quantile": lambda t, **cost: t.quantile("age", 0.9, **cost),
    "histogram": lambda t, **cost: t.histogram("sex", **cost),
    "tree": lambda t, **cost: t.histogram("age", edges=[0, 9, 50, 100], shape="tree", **cost),
    "wavelet": lambda t, **cost: t.histogram("age", edges=[0, 9, 50, 100], shape="wavelet", **cost),
    "table": lambda t, **cost: t.contingency_table(["age", "sex"], edges={"age": [0, 50, 100]}, **cost),
    "grid": lambda t, **cost: t.grid(["age", "pay"], **cost),
}


@pytest.mark.parametrize("confidence", [MOST_CONFIDENCE, 1e-9])
@pytest.mark.parametrize("name", ASKED)
def test_the_most_extreme_confidences_are_answered(table, name, confidence):
    found = ASKED[name](table, epsilon=1, confidence=confidence)
    assert np.all(np.asarray(found.lower) <= np.asarray(found.upper))
    assert np.isfinite([found.lower, found.upper]).all()


def test_sums_saturate():
    most = np.iinfo(np.int64).max
    assert mechanisms.summed(np.array([most, most, most])).tolist() == [2**62]
    assert mechanisms.summed(np.array([-most, -most])).tolist() == [-(2**62)]
    assert mechanisms.summed(np.array([3, -(2**40), 5])).tolist() == [8 - 2**40]
    assert mechanisms.summed(np.array([], dtype=np.int64)).tolist() == [0]


def test_a_tree_that_is_far_larger_than_its_leaves_is_refused_and_costs_nothing(table):
    with pytest.raises(InvalidParameterError, match="branch less"):
        table.histogram("sex", epsilon=1, shape="tree", branching=10**9)
    assert table.accountant.balance().answers == 0


def test_the_same_rows_in_another_order_have_the_same_budget(tmp_path):
    table = pa.table({"age": [20, 30, 40], "sex": ["f", "m", None]})
    PrivateTable(table, accountant=Accountant(tmp_path / "first.sqlite", total=1), analyst="ann")
    turned = table.take([2, 0, 1]).select(["sex", "age"])
    with pytest.raises(AnotherBudgetError, match="have a budget already"):
        PrivateTable(turned, accountant=Accountant(tmp_path / "second.sqlite", total=1), analyst="ann")
