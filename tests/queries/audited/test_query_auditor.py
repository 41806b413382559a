"""The auditor: exact answers, denials that tell nothing, one history for all."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from query_auditing_oracle import determined_by_sums
from sfumato.errors import InvalidParameterError, ReadError, SchemaError
from sfumato.queries._interval_auditing import (
    AnsweredClassSums,
    IntervalTolerance,
    _narrowest_interval,
    decay_rate_from_mean,
    maximum_narrows_interval,
    sum_narrows_interval,
)
from sfumato.queries.auditor import MIXES, QueryAuditor

NAMES = list("abcdefgh")
PAY = [1000, 2000, 1500, 3000, 2500, 900, 4000, 3500]


@pytest.fixture
def table():
    return pd.DataFrame({"name": NAMES, "age": range(20, 60, 5), "secret": [7, 8] * 4, "pay": PAY})


@pytest.fixture
def auditor(table, tmp_path):
    return QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["name", "age"])


def among(names):
    return {"name": list(names)}


def test_answers_are_exact(auditor):
    assert auditor.ask("sum").value == sum(PAY)
    assert auditor.ask("avg").value == sum(PAY) / 8
    assert auditor.ask("count", {"age": (">=", 40)}).value == 4


def test_maxima_and_minima_are_exact(auditor):
    assert auditor.ask("max", among("abcd")).value == 3000
    assert auditor.ask("min", among("efgh")).value == 900


def test_sums_of_fractions_are_rounded_once(tmp_path):
    table = pd.DataFrame({"name": list("abc"), "pay": [0.1, 0.2, 0.3]})
    auditor = QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["name"])
    assert auditor.ask("sum").value == 0.6


def test_rows_without_a_value_are_left_out(tmp_path):
    table = pd.DataFrame({"name": list("abcd"), "pay": [1, 2, 3, None]})
    auditor = QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["name"])
    assert auditor.ask("count").value == 3
    assert auditor.ask("sum").value == 6


def test_averages_and_sums_are_one_kind_of_question(auditor):
    assert not auditor.ask("sum", among("abc")).denied
    assert auditor.ask("avg", among("ab")).denied
    assert auditor.ask("avg", among("abc")).value == 1500


def test_sums_maxima_and_minima_share_no_rows(auditor):
    auditor.ask("sum", among("abc"))
    auditor.ask("max", among("def"))
    for kind, names in (("max", "ad"), ("min", "fgh"), ("sum", "fg")):
        assert auditor.ask(kind, among(names)).reason == MIXES
    assert not auditor.ask("min", among("gh")).denied


def test_denials_are_kept_in_the_history_and_change_nothing(auditor):
    auditor.ask("sum", among("abc"), user="ann")
    auditor.ask("sum", among("ab"), user="bob")
    kept = [(each.user, each.kind, each.denied) for each in auditor.history]
    assert kept == [("ann", "sum", False), ("bob", "sum", True)]
    assert not auditor.ask("sum", among("abcd" + "e")).denied


def test_askers_who_share_a_history_cannot_combine_answers(table, tmp_path):
    one, other = (QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["name"]) for _ in range(2))
    assert not one.ask("sum", among("abcd"), user="ann").denied
    assert other.ask("sum", among("abc"), user="bob").denied
    assert not other.ask("max", among("efgh")).denied
    assert one.ask("max", among("efg")).denied


def test_the_history_survives_the_program(table, tmp_path):
    QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["name"]).ask("sum", among("abcd"))
    again = QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["name"])
    assert again.ask("sum", among("abc")).denied
    assert [each.denied for each in again.history] == [False, True]


ASKER = """
import sys
import pandas as pd
from sfumato.queries.auditor import QueryAuditor

path, names = sys.argv[1:]
table = pd.DataFrame({"name": list("abcdefgh"), "pay": [1000, 2000, 1500, 3000, 2500, 900, 4000, 3500]})
auditor = QueryAuditor(table, "pay", path, public=["name"])
print(auditor.ask("sum", {"name": list(names)}).denied)
"""


@pytest.mark.slow
def test_askers_in_other_processes_wait_for_each_other(tmp_path):
    sets = ("abcdefgh", "abcdefg", "bcdefgh")
    askers = [
        subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-c", ASKER, str(tmp_path / "history.sqlite"), names], stdout=subprocess.PIPE, text=True
        )
        for names in sets
    ]
    said = [each.communicate()[0].strip() for each in askers]
    answered = [
        [name in names for name in NAMES] for names, denied in zip(sets, said, strict=True) if denied == "False"
    ]
    assert set(said) == {"False", "True"}
    assert determined_by_sums(answered) == []


@examples(15)
@given(
    data=st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(lambda values: len(set(values)) > 2),
    asked=st.lists(
        st.tuples(st.sampled_from(["sum", "max", "min"]), st.sets(st.sampled_from("abcd"), min_size=1)),
        min_size=2,
        max_size=4,
    ),
    pick=st.integers(0, 10**6),
)
def test_whether_a_question_is_denied_follows_from_earlier_questions_and_answers_alone(data, asked, pick):
    *past, (kind, names) = asked
    with tempfile.TemporaryDirectory() as folder:
        verdicts = replay(Path(folder) / "one.sqlite", data, past)
        others = [
            other
            for other in product(range(4), repeat=4)
            if len(set(other)) > 2 and all(same_answer(data, other, *each) for each, denied in verdicts if not denied)
        ]
        other = others[pick % len(others)]
        once = replay(Path(folder) / "two.sqlite", data, [*past, (kind, names)])
        again = replay(Path(folder) / "three.sqlite", other, [*past, (kind, names)])
    assert [denied for _, denied in once] == [denied for _, denied in again]


@examples(15)
@given(
    data=st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(lambda values: len(set(values)) > 2),
    asked=st.lists(
        st.tuples(st.sampled_from(["sum", "avg", "max", "min"]), st.sets(st.sampled_from("abcd"), min_size=1)),
        min_size=3,
        max_size=8,
    ),
)
def test_after_any_questions_everyones_value_could_be_another(data, asked):
    tables = np.array(list(product(range(-9, 13), repeat=4)), dtype=np.int16)
    with tempfile.TemporaryDirectory() as folder:
        table = pd.DataFrame({"name": list("abcd"), "pay": data})
        auditor = QueryAuditor(table, "pay", Path(folder) / "history.sqlite", public=["name"])
        for kind, names in asked:
            answer = auditor.ask(kind, among(names))
            if not answer.denied:
                chosen = tables[:, ["abcd".index(name) for name in names]]
                found = {"sum": chosen.sum, "avg": chosen.mean, "max": chosen.max, "min": chosen.min}[kind](axis=1)
                tables = tables[found == answer.value]
    assert (tables.min(axis=0) < tables.max(axis=0)).all()


def replay(path, data, questions):
    table = pd.DataFrame({"name": list("abcd"), "pay": data})
    auditor = QueryAuditor(table, "pay", path, public=["name"])
    return [((kind, names), auditor.ask(kind, among(names)).denied) for kind, names in questions]


def same_answer(one, other, kind, names):
    of = {"sum": sum, "max": max, "min": min}[kind]
    chosen = ["abcd".index(name) for name in names]
    return of(one[place] for place in chosen) == of(other[place] for place in chosen)


def test_a_maximum_is_denied_when_all_its_values_may_be_near_the_bound():
    half = IntervalTolerance(low=0, high=100, width=50, risk=0.01)
    assert maximum_narrows_interval(np.full(6, 100.0), half)
    assert not maximum_narrows_interval(np.full(7, 100.0), half)
    assert maximum_narrows_interval(np.full(7, 60.0), half)


def test_a_sum_that_is_likely_to_narrow_values_too_much_is_denied(table, tmp_path):
    def first(tolerance, names):
        path = tmp_path / f"{tolerance}-{names}.sqlite"
        auditor = QueryAuditor(table, "pay", path, public=["name"], tolerance=tolerance, bounds=(0, 5_000), skew=0.5)
        return auditor.ask("sum", among(names)).denied

    assert first(4_500, "ab")
    assert not first(250, "ab")
    assert first(1_000, "ab")
    assert not first(1_000, "abcd")


def test_what_is_answered_leaves_the_tolerance_to_nearly_every_table():
    generator = np.random.default_rng(3)
    tolerance = IntervalTolerance(low=0, high=1, width=0.1, risk=0.05)
    sets = np.array([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 0, 0, 1, 0]], dtype=float)
    sizes = np.array([1.0, 2, 1, 1, 2])
    narrow = answered = 0
    for _ in range(8):
        values = np.array([generator.random(int(size)).sum() for size in sizes])
        past = AnsweredClassSums(asked=np.zeros((0, 5)), sums=np.zeros(0), sizes=sizes)
        for members in sets:
            if not sum_narrows_interval(past, members, tolerance):
                past = past.with_sum(members, float(members @ values))
                answered += 1
        narrow += _narrowest_interval(past, tolerance) < tolerance.width
    assert answered > 8
    # Each of at most 3 answers is too narrow with a chance of 0.05 at most: more than 6 of 8 tables are so with a
    # chance below 2e-5.
    assert narrow <= 6


DECIDED: dict[tuple[object, ...], bool] = {}


def narrows(past: AnsweredClassSums, members: np.ndarray, tolerance: IntervalTolerance) -> bool:
    """Decide, or remember: what follows from earlier answers alone is the same for all tables that gave them."""
    asked = tolerance, past.asked.tobytes(), past.sums.tobytes(), past.sizes.tobytes(), members.tobytes()
    if asked not in DECIDED:
        DECIDED[asked] = sum_narrows_interval(past, members, tolerance)
    return DECIDED[asked]


@pytest.mark.parametrize("mirrored", [False, True])
def test_skewed_tables_keep_the_tolerance_where_the_skew_is_stated(mirrored):
    """Values that lean to a bound: the rule for evenly spread ones answers, and narrows, far too often."""

    def narrowed(skew):
        generator = np.random.default_rng(11)
        tolerance = IntervalTolerance(low=0, high=1, width=0.3, risk=0.01, skew=skew)
        narrow = 0
        for _ in range(20):
            sizes = np.array([2.0, 3.0, 4.0])
            values = np.array([np.minimum(generator.exponential(0.08, int(size)), 1).sum() for size in sizes])
            values = sizes - values if mirrored else values
            past = AnsweredClassSums(asked=np.zeros((0, 3)), sums=np.zeros(0), sizes=sizes)
            for members in np.eye(3):
                if not narrows(past, members, tolerance):
                    past = past.with_sum(members, float(members @ values))
            narrow += _narrowest_interval(past, tolerance) < tolerance.width
        return narrow

    assert narrowed(0.5) > 10
    assert narrowed(0.08) == 0


def test_a_large_group_of_skewed_values_is_answered():
    tolerance = IntervalTolerance(low=0, high=1, width=0.3, risk=0.01, skew=0.08)
    past = AnsweredClassSums(asked=np.zeros((0, 1)), sums=np.zeros(0), sizes=np.array([40.0]))
    assert not sum_narrows_interval(past, np.ones(1), tolerance)
    assert sum_narrows_interval(replace(past, sizes=np.array([4.0])), np.ones(1), tolerance)
    assert maximum_narrows_interval(np.full(5, 1.0), tolerance)
    assert not maximum_narrows_interval(np.full(5, 1.0), replace(tolerance, skew=0.5))


@given(st.floats(0.02, 0.49))
def test_the_lean_gives_the_mean_that_is_stated(skew):
    at = (np.arange(200_000) + 0.5) / 200_000
    weights = np.exp(-decay_rate_from_mean(skew) * at)
    assert (at * weights).sum() / weights.sum() == pytest.approx(skew, rel=1e-3)


def test_values_that_lean_more_than_stated_are_refused(tmp_path):
    skewed = pd.DataFrame({"pay": [1, 2, 3, 1, 2, 60], "name": list("abcdef")})
    given_to = {"public": ["name"], "tolerance": 50, "bounds": (0, 1000)}
    with pytest.raises(SchemaError, match=r"lean more to one bound than skew=0\.1 supposes"):
        QueryAuditor(skewed, "pay", tmp_path / "h.sqlite", **given_to)
    assert QueryAuditor(skewed, "pay", tmp_path / "h.sqlite", skew=0.01, **given_to).ask("sum", among("abc")).denied


def test_intervals_of_linear_programs_are_those_known():
    tolerance = IntervalTolerance(low=0, high=10, width=1, risk=0.01)
    one_sum = AnsweredClassSums(asked=np.array([[1.0, 1.0]]), sums=np.array([4.0]), sizes=np.array([1.0, 1.0]))
    assert _narrowest_interval(one_sum, tolerance) == pytest.approx(4)
    of_class = AnsweredClassSums(asked=np.array([[1.0]]), sums=np.array([29.0]), sizes=np.array([3.0]))
    assert _narrowest_interval(of_class, tolerance) == pytest.approx(1)


BAD = {
    "kind": (lambda auditor: auditor.ask("median"), InvalidParameterError, "must be one of count, sum"),
    "protected": (lambda auditor: auditor.ask("sum", {"pay": 5}), SchemaError, "may use name, age, not 'pay'"),
    "private": (lambda auditor: auditor.ask("sum", {"secret": 7}), SchemaError, "may use name, age"),
    "nobody": (lambda auditor: auditor.ask("sum", among("z")), InvalidParameterError, "No row satisfies"),
    "order": (lambda auditor: auditor.ask("sum", {"name": (">", "a")}), InvalidParameterError, "needs an order"),
    "number": (lambda auditor: auditor.ask("sum", {"age": "old"}), InvalidParameterError, "must name numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_question_is_refused_in_a_sentence(auditor, case):
    ask, error, sentence = BAD[case]
    with pytest.raises(error, match=sentence) as refused:
        ask(auditor)
    assert re.fullmatch(r"[^\n]+[^.]\.", str(refused.value))
    assert auditor.history == ()


def test_columns_that_exact_answers_cannot_protect_are_refused(table, tmp_path):
    for column, sentence in (
        ("secret", "fewer than 3 different values"),
        ("name", "does not contain numbers"),
        ("pax", "did you"),
    ):
        with pytest.raises(SchemaError, match=sentence):
            QueryAuditor(table, column, tmp_path / "history.sqlite", public=["age"])
    with pytest.raises(InvalidParameterError, match="without the protected one"):
        QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["pay"])
    with pytest.raises(InvalidParameterError, match="together with tolerance"):
        QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["age"], bounds=(0, 1))
    with pytest.raises(SchemaError, match="8 values of column 'pay' lie outside"):
        QueryAuditor(table, "pay", tmp_path / "history.sqlite", public=["age"], bounds=(0, 1), tolerance=0.1)
    assert list(tmp_path.iterdir()) == []


def test_the_history_of_another_table_column_or_rule_is_refused(table, tmp_path):
    path = tmp_path / "history.sqlite"
    QueryAuditor(table, "pay", path, public=["name"])
    with pytest.raises(InvalidParameterError, match="started with another table"):
        QueryAuditor(table.head(7), "pay", path, public=["name"])
    with pytest.raises(InvalidParameterError, match="started with another column"):
        QueryAuditor(table, "age", path, public=["name"])
    with pytest.raises(InvalidParameterError, match="started with another rule"):
        QueryAuditor(table, "pay", path, public=["name"], tolerance=5, bounds=(0, 10_000))


@pytest.mark.parametrize("damage", ["cut", "text", "empty", "rows", "missing entry", "missing last entry"])
def test_a_damaged_history_is_refused_in_a_sentence(table, tmp_path, damage):
    path = tmp_path / "history.sqlite"
    auditor = QueryAuditor(table, "pay", path, public=["name"])
    auditor.ask("sum", among("abcd"))
    auditor.ask("sum", among("efgh"))
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    elif damage in {"text", "empty"}:
        path.write_text("" if damage == "empty" else "no database at all, but a text " * 50)
    else:
        change = {
            "rows": "UPDATE questions SET rows = x'00'",
            "missing entry": "DELETE FROM questions WHERE entry = 1",
            "missing last entry": "DELETE FROM questions WHERE entry = 2",
        }[damage]
        with sqlite3.connect(path) as store:
            store.execute(change)
        store.close()
    sentence = f"^{re.escape(str(path))} is not a valid query history file, so nothing is answered; restore it"
    with pytest.raises(ReadError, match=sentence):
        QueryAuditor(table, "pay", path, public=["name"]).ask("sum", among("abc"))
    if damage.startswith("missing"):
        with pytest.raises(ReadError, match=sentence):
            auditor.ask("sum", among("abc"))
