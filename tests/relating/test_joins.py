"""Several tables joined by a person: audit and search are what brute force over their joins finds."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from drawn_examples import examples
from related_tables import WARDS, nameless, relations
from sfumato.errors import InfeasibleError
from sfumato.tables.relational.audit import audit_relations, sign_individuals
from sfumato.tables.relational.release import anonymize_relations


def signatures(ages, visits, jobs):
    """Tell of every person what the join tells, by definition: a row, and two multisets."""
    return [
        (
            age,
            frozenset(Counter(fact[1:] for fact in visits if fact[0] == person).items()),
            frozenset(Counter(fact[1:] for fact in jobs if fact[0] == person).items()),
        )
        for person, age in enumerate(ages)
    ]


def company(found):
    """Count for every person who shares what the join tells."""
    counts = Counter(found)
    return [counts[each] for each in found]


@st.composite
def joined(draw):
    people = draw(st.lists(st.tuples(st.sampled_from([21, 25, 33]), st.sampled_from("yn")), min_size=1, max_size=7))
    person = st.integers(0, len(people) - 1)
    visits = draw(st.lists(st.tuples(person, st.sampled_from(list(WARDS)), st.sampled_from([1, 2])), max_size=9))
    jobs = draw(st.lists(st.tuples(person, st.sampled_from("ab")), max_size=5))
    return people, visits, jobs


@given(joined())
@examples(80)
def test_groups_are_persons_of_whom_the_join_tells_the_same(drawn):
    people, visits, jobs = drawn
    tables = nameless(relations(*drawn))
    audit = audit_relations(tables, [sf.models.KAnonymity(k=2)], persons="people")
    expected = company(signatures([age for age, _ in people], visits, jobs))
    assert audit.sizes[audit.group].tolist() == expected
    assert (audit.k, audit.holds, audit.individuals) == (min(expected), min(expected) >= 2, len(people))
    assert audit.verdicts[0].records == sum(size < 2 for size in expected)


def levels_of_all(people, visits, jobs):
    """Yield for every combination of levels the recoded tables and the cost of every cell."""
    ages, years = sorted({age for age, _ in people}), sorted({year for *_, year in visits})
    cost_of = {"inner": (2 / 3 - 1 / 3) / (1 - 1 / 3), "outer": 0, "*": 1}
    decades = {age: [other for other in ages if other // 10 == age // 10] for age in ages}
    names = sorted({job for _, job in jobs})
    for by_age, by_ward, by_year, by_job in product(range(3), range(3), range(2), range(2)):
        shown = [[age, age // 10, "*"][by_age] for age, _ in people]
        wards = [[ward, WARDS[ward], "*"][by_ward] for _, ward, _ in visits]
        kept_years, kept_jobs = [year for *_, year in visits], [job for _, job in jobs]
        costs = [
            [[0, (len(decades[age]) - 1) / max(1, len(ages) - 1), 1][by_age] * (len(ages) > 1) for age, _ in people]
        ]
        if visits:
            costs.append([cost_of.get(ward, 0) for ward in wards])
            costs.append([by_year * (len(years) > 1)] * len(visits))
        if jobs:
            costs.append([by_job * (len(names) > 1)] * len(jobs))
        facts = [
            (fact[0], ward, year if not by_year else "*")
            for fact, ward, year in zip(visits, wards, kept_years, strict=True)
        ]
        works = [(fact[0], job if not by_job else "*") for fact, job in zip(jobs, kept_jobs, strict=True)]
        yield shown, facts, works, costs


def least_loss(people, visits, jobs, k, limit):
    """Try everything."""
    found = []
    for shown, facts, works, costs in levels_of_all(people, visits, jobs):
        kept = [size >= k for size in company(signatures(shown, facts, works))]
        if kept.count(False) > limit or not any(kept):
            continue
        owners = [list(range(len(people))), *([[fact[0] for fact in visits]] * 2 if visits else [])]
        owners += [[fact[0] for fact in jobs]] if jobs else []
        means = [
            sum(cost if kept[person] else 1 for cost, person in zip(cells, who, strict=True)) / len(who)
            for cells, who in zip(costs, owners, strict=True)
        ]
        found.append(sum(means) / len(means))
    return min(found, default=None)


@given(joined(), st.integers(1, 3), st.sampled_from([0.0, 0.3, 1.0]))
@examples(80)
def test_it_loses_as_little_as_the_best_of_all_combinations_of_levels(drawn, k, share):
    limit = int(share * len(drawn[0]))
    best = least_loss(*drawn, k, limit)
    tables = relations(*drawn)
    if best is None:
        with pytest.raises(InfeasibleError):
            anonymize_relations(tables, [sf.models.KAnonymity(k=k)], persons="people", max_suppressed=share)
        return
    release = anonymize_relations(tables, [sf.models.KAnonymity(k=k)], persons="people", max_suppressed=share)
    assert release.loss == pytest.approx(best)
    assert release.audit.k >= k
    assert release.suppressed <= limit


def test_generalizing_more_may_lose_less_than_suppressing():
    """Values as they are would suppress two of four persons; decades cost two of the four cells one half."""
    tables = relations([(21, "n"), (25, "n"), (33, "n"), (33, "n")], [])
    release = anonymize_relations(tables, [sf.models.KAnonymity(k=2)], persons="people", max_suppressed=1.0)
    assert (release.levels, release.suppressed) == ({"people": {"age": 1}}, 0)
    assert release.loss == pytest.approx(1 / 4)


@given(joined())
@examples(40)
def test_published_tables_tell_the_truth_about_the_same_persons(drawn):
    """New numbers are given person by person: every published person is one original with all her rows, generalized."""
    people, visits, jobs = drawn
    assume(least_loss(*drawn, 2, len(people)) is not None)
    release = anonymize_relations(relations(*drawn), [sf.models.KAnonymity(k=2)], persons="people", max_suppressed=1.0)
    levels = release.levels
    steps = {
        "age": [str, lambda age: f"[{age // 10 * 10}, {age // 10 * 10 + 10})", lambda _: "*"],
        "ward": [str, WARDS.get, lambda _: "*"],
        "year": [str, lambda _: "*"],
        "job": [str, lambda _: "*"],
    }

    def show(table, name, value):
        return steps[name][levels[table][name]](value)

    originals = Counter(
        (
            show("people", "age", age),
            smokes,
            frozenset(
                Counter(
                    (show("visits", "ward", w), show("visits", "year", y)) for p, w, y in visits if p == who
                ).items()
            ),
            frozenset(Counter(show("jobs", "job", job) for p, job in jobs if p == who).items()),
        )
        for who, (age, smokes) in enumerate(people)
    )
    rows = {name: frame.to_pylist() for name, frame in release.frames.items()}
    shown = Counter(
        (
            str(row["age"]),
            row["smokes"],
            frozenset(
                Counter(
                    (v["ward"], str(v["year"])) for v in rows.get("visits", []) if v["person"] == row["person"]
                ).items()
            ),
            frozenset(Counter(j["job"] for j in rows.get("jobs", []) if j["who"] == row["person"]).items()),
        )
        for row in rows["people"]
    )
    assert shown <= originals
    assert shown.total() == len(people) - release.suppressed
    assert sorted(row["person"] for row in rows["people"]) == list(range(1, shown.total() + 1))
    assert "name" not in release.frames["people"].column_names


def test_tables_that_are_anonymous_one_by_one_can_single_out_a_person_when_joined():
    people = [(21, "n"), (21, "n"), (33, "y"), (33, "y")]
    visits = [(0, "heart", 1), (1, "skin", 1), (2, "heart", 1), (3, "skin", 1)]
    tables, two = relations(people, visits), [sf.models.KAnonymity(k=2)]
    shown = nameless(tables)
    for each in shown.values():
        assert sf.audit(each.data.drop_columns(["person"]), each.schema, two).holds
    assert audit_relations(shown, two, persons="people").k == 1
    release = anonymize_relations(tables, two, persons="people")
    assert release.audit.k >= 2


def test_how_often_something_happened_tells_persons_apart():
    tables = relations([(21, "n")] * 2, [(0, "heart", 1), (0, "heart", 1), (1, "heart", 1)])
    assert audit_relations(nameless(tables), persons="people").k == 1


def test_models_judge_sensitive_attributes_of_persons():
    people = [(21, "n"), (22, "n"), (33, "y"), (34, "n")]
    models = [sf.models.KAnonymity(k=2), sf.models.DistinctLDiversity(l=2, sensitive="smokes")]
    release = anonymize_relations(relations(people, []), models, persons="people")
    assert release.levels == {"people": {"age": 2}}
    assert [verdict.holds for verdict in release.audit.verdicts] == [True, True]


@given(st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=6))
@examples(60)
def test_signatures_are_equal_where_multisets_are(facts):
    person = np.array([who for who, own in enumerate(facts) for _ in own], dtype=np.int64)
    codes = np.array([code for own in facts for code in own], dtype=np.int64)
    found = sign_individuals(len(facts), [(person, codes)])
    for one, two in product(range(len(facts)), repeat=2):
        assert (found[one] == found[two]) == (sorted(facts[one]) == sorted(facts[two]))
