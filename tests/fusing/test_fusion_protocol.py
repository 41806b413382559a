"""Any number of parties make the table that one party would make of all their attributes, and that is the right one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fusion_oracle as oracle
from drawn_examples import examples
from fusion_cases import Case, cases
from sfumato.fusion.party import Party
from sfumato.fusion.protocol import fuse
from sfumato.fusion.session import KAnonymityRequirement
from sfumato.hierarchies.taxonomy import Taxonomy


def rows_of(table: pa.Table) -> list[tuple[str, ...]]:
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


def steps(fused) -> list[tuple[str, str]]:
    return [(each.attribute, each.node) for each in fused.transcript]


@examples(120)
@given(cases(), st.sampled_from(["sensitive", "sensitive-sum", "plain"]))
def test_one_party_makes_what_the_text_tells(case: Case, scoring):
    fused = fuse([case.joined()], target="class", requirements=case.requirements, scoring=scoring)
    rows, history = oracle.specialize(case.attributes(scoring), case.classes, case.required())
    assert steps(fused) == history
    assert rows_of(fused.published) == rows


@pytest.mark.parametrize(
    ("parties", "scoring"), [(2, "sensitive"), (3, "sensitive"), (2, "sensitive-sum"), (2, "plain")]
)
def test_several_parties_make_what_one_would_make_of_all_attributes(parties, scoring):
    @examples(12)
    @given(cases(parties=parties))
    def check(case: Case):
        alone = fuse([case.joined()], target="class", requirements=case.requirements, scoring=scoring)
        fused = fuse(case.parties(), target="class", requirements=case.requirements, scoring=scoring)
        ordered = [*alone.published.column_names]
        assert fused.published.select(ordered).equals(alone.published)
        assert [(e.attribute, e.node, e.children, e.records) for e in fused.transcript] == [
            (e.attribute, e.node, e.children, e.records) for e in alone.transcript
        ]
        names = [party.name for party in case.parties()]
        assert [each.winner for each in fused.transcript] == [
            names[case.owners[each.attribute]] for each in fused.transcript
        ]
        assert fused.lengths == tuple(case.persons + strangers for strangers in case.strangers)

    check()


@examples(60)
@given(cases())
def test_every_requirement_holds_in_what_is_published(case: Case):
    fused = fuse([case.joined()], target="class", requirements=case.requirements)
    assert fused.audit.holds
    assert fused.published.num_rows == case.persons
    for each in case.requirements:
        groups = Counter(zip(*(fused.published[name].to_pylist() for name in each.quasi), strict=True))
        assert min(groups.values()) >= min(each.k, case.persons)


@examples(40)
@given(cases())
def test_factors_that_nobody_gives_come_from_the_information_gain_of_each_party(case: Case):
    weights = {}
    for number, factor in enumerate(case.party_factors):
        mine = [name for name, owner in case.owners.items() if owner == number]
        gains = {}
        for name in mine:
            parts = {cell: [] for cell in case.cells[name]}
            for cell, each in zip(case.cells[name], case.classes, strict=True):
                parts[cell].append(each)
            gains[name] = max(oracle.entropy(case.classes) - oracle.inside(list(parts.values())), 0.0)
        total = sum(gains.values())
        for name in mine:
            equal = len(mine) == 1 or total < 1e-9
            weights[name] = factor * (1 / len(mine) if equal else (1 - gains[name] / total) / (len(mine) - 1))
    attributes = [replace(each, weight=weights[each.name]) for each in case.attributes()]
    rows, history = oracle.specialize(attributes, case.classes, case.required())
    parties = [replace(party, attribute_factors=None) for party in case.parties()]
    fused = fuse(parties, target="class", requirements=case.requirements)
    assert steps(fused) == history
    assert rows_of(fused.published.select([*case.ordered(), "class"])) == rows


ILLNESSES = Taxonomy({f"group {group}": [f"illness {group}{number:02}" for number in range(20)] for group in "AB"})


def clinic_and_agency() -> list[Party]:
    """Let an illness, of 40, tell as much about the class as the sex; groups are too small for both to be shown."""
    cells = [("f", "A", 18), ("f", "B", 10), ("m", "A", 10), ("m", "B", 2)]
    rows = [(sex, f"illness {group}{at:02}", "yn"[at >= yes]) for sex, group, yes in cells for at in range(20)]
    sexes, illnesses, classes = zip(*rows, strict=True)
    known = {"id": range(80), "class": classes}
    return [
        Party(
            name="clinic",
            data=pa.table({**known, "illness": illnesses}),
            id="id",
            attributes=["illness"],
            hierarchies={"illness": ILLNESSES},
            value_factors={"illness": 1.0},
        ),
        Party(
            name="agency",
            data=pa.table({**known, "sex": sexes}),
            id="id",
            attributes=["sex"],
            value_factors={"sex": 5.0},
        ),
    ]


@pytest.mark.parametrize(
    ("scoring", "shown", "hidden"), [("sensitive", "sex", "illness"), ("sensitive-sum", "illness", "sex")]
)
def test_a_sensitive_attribute_comes_later_however_many_values_it_has(scoring, shown, hidden):
    """The sum of 40 factors of 1 is more than that of 2 factors of 5, their mean is less."""
    required = [KAnonymityRequirement(quasi=("illness", "sex"), k=21)]
    fused = fuse(clinic_and_agency(), target="class", requirements=required, scoring=scoring)
    assert [each.attribute for each in fused.transcript] == [shown]
    assert set(fused.published[hidden].to_pylist()) == {"*"}


def test_the_worked_example_of_two_parties():
    """Both offer a gain of 1, so the first party wins; then age is parted, as it gains 1 among all records under it."""
    ids = [1, 2, 3, 4]
    classes = ["Y", "Y", "N", "N"]
    jobs = pa.table({"id": ids, "class": classes, "job": ["Clerk", "Clerk", "Boss", "Boss"]})
    ages = pa.table({"id": ids[::-1], "class": classes[::-1], "age": [51, 50, 31, 30]})
    ladder = Taxonomy({"<40": ["30", "31"], ">=40": ["50", "51"]})
    first = Party(name="P1", data=jobs, id="id", attributes=["job"])
    second = Party(name="P2", data=ages, id="id", attributes=["age"], hierarchies={"age": ladder})
    fused = fuse(
        [first, second],
        target="class",
        requirements=[KAnonymityRequirement(quasi=("job", "age"), k=2)],
        scoring="plain",
    )
    first_round, second_round = fused.transcript
    assert (first_round.winner, first_round.attribute) == ("P1", "job")
    assert dict(zip(first_round.children, first_round.records, strict=True)) == {"Boss": 2, "Clerk": 2}
    assert (second_round.winner, second_round.attribute) == ("P2", "age")
    assert rows_of(fused.published) == [("Boss", ">=40", "N")] * 2 + [("Clerk", "<40", "Y")] * 2
