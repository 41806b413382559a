"""Whatever is wrong ends in one clear sentence without a cell's value, and nothing is published."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from recorded_parties import Sent, record
from sfumato.errors import InfeasibleError, InvalidParameterError, ProtocolError, SchemaError
from sfumato.fusion.party import Party
from sfumato.fusion.protocol import fuse, run_party
from sfumato.fusion.secure.channel import run_parties
from sfumato.fusion.secure.messages import pack_message, unpack_message
from sfumato.fusion.session import KAnonymityRequirement, SessionParameters
from sfumato.hierarchies.taxonomy import Taxonomy

IDS = [f"id {number}" for number in range(12)]
CLASSES = ["yes"] * 6 + ["no"] * 6
JOBS = Taxonomy({"office": ["clerk", "boss"], "outdoors": ["farmer", "sailor"]})
NEEDED = KAnonymityRequirement(quasi=["job", "sex"], k=2)


def party(name="left", **columns) -> Party:
    columns = columns or {"job": ["clerk", "boss", "farmer", "sailor"] * 3}
    attributes = [each for each in columns if each not in {"id", "class"}]
    table = pa.table({"id": IDS, "class": CLASSES, **columns})
    builders = {"job": JOBS} if "job" in columns else {}
    return Party(name=name, data=table, id="id", attributes=attributes, hierarchies=builders)


def left() -> Party:
    return party(job=["clerk"] * 3 + ["boss"] * 3 + ["farmer"] * 3 + ["sailor"] * 3)


def right(**changes) -> Party:
    made = party("right", sex=["f", "m"] * 6, age=[20, 20, 20, 30, 30, 30, 40, 40, 40, 50, 50, 50])
    return replace(made, **changes)


def fused(*parties: Party, needed: KAnonymityRequirement = NEEDED):
    return fuse(parties, target="class", requirements=[needed])


def run(agreements: dict[str, SessionParameters], parties: dict[str, Party]):
    return run_parties({name: lambda c, n=name: run_party(parties[n], agreements[n], c) for name in parties})


AGREED = SessionParameters(parties=("left", "right"), target="class", requirements=(NEEDED,))


def test_attributes_that_no_requirement_names_are_told_before_and_after():
    said: list[str] = []
    made = fuse([left(), right()], target="class", requirements=[NEEDED], note=said.append)
    assert said == [made.warning]
    assert "No requirement names age: published as finely as 2 persons share a value of each one alone" in repr(made)
    assert fused(left(), right(), needed=KAnonymityRequirement(quasi=["age", "job", "sex"], k=2)).warning is None
    once = fused(left(), right(), needed=KAnonymityRequirement(quasi=["job", "sex"], k=1))
    assert "published as they are" in once.warning


def test_it_works_when_nothing_is_wrong():
    assert fused(left(), right()).published.num_rows == 12


@pytest.mark.parametrize(
    ("point", "other"),
    [
        ("requirements", (KAnonymityRequirement(quasi=["job", "sex"], k=3),)),
        ("scoring", "plain"),
        ("scoring", "sensitive-sum"),
        ("parties", ("right", "left")),
    ],
)
def test_parties_that_agreed_on_different_things_are_told_what_differs(point, other):
    different = {"left": AGREED, "right": replace(AGREED, **{point: other})}
    with pytest.raises(ProtocolError, match=f"do not agree on: {point}; make the agreements equal"):
        run(different, {"left": left(), "right": right()})


def test_parties_with_different_hierarchies_are_told_which():
    other = Taxonomy({"office": ["clerk"], "outdoors": ["farmer", "sailor", "boss"]})
    with pytest.raises(ProtocolError, match="different hierarchies for 'job'; give both the same file"):
        fused(left(), right(hierarchies={"job": other}))
    assert fused(left(), right(hierarchies={"job": JOBS})).rounds


def test_an_attribute_that_two_parties_bring_is_refused():
    with pytest.raises(ProtocolError, match="'left' and 'right' both have 'sex'; let one of them drop it"):
        fused(party(job=["clerk"] * 12, sex=["f"] * 12), right())


def test_a_requirement_on_an_attribute_that_nobody_brings_is_refused():
    with pytest.raises(SchemaError, match="names 'salary', which no party has"):
        fused(left(), right(), needed=KAnonymityRequirement(quasi=["job", "salary"], k=2))


def test_a_class_that_is_also_an_attribute_is_refused():
    with pytest.raises(SchemaError, match="uses a column twice, as id, class or attribute"):
        fused(left(), right(attributes=["class", "sex"]))
    with pytest.raises(SchemaError, match="class or attribute"):
        fused(left(), right(attributes=["id", "sex"]))


def shifted(by: int) -> Party:
    made = right()
    table = made.data.set_column(0, "id", pa.array([f"id {number + by}" for number in range(12)]))
    classes = pa.array([CLASSES[(number + by) % 12] for number in range(12)])
    return replace(made, data=table.set_column(1, "class", classes))


def test_parties_without_a_person_in_common_are_told_so():
    with pytest.raises(InfeasibleError, match="nobody in common; check that they identify people in the same way"):
        fused(left(), shifted(12))


def test_fewer_persons_in_common_than_required_are_refused():
    with pytest.raises(InfeasibleError, match="3 people in common, but every group requires 4; require fewer"):
        fused(left(), shifted(9), needed=KAnonymityRequirement(quasi=["job", "sex"], k=4))
    exact = fused(left(), shifted(8), needed=KAnonymityRequirement(quasi=["job", "sex"], k=4))
    assert exact.published.num_rows == 4


def test_a_class_that_parties_have_differently_is_refused():
    table = right().data.set_column(1, "class", pa.array(CLASSES[::-1]))
    with pytest.raises(ProtocolError, match="do not agree on the class of some people; nothing is published"):
        fused(left(), right(data=table))


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("id", [*IDS[:-2], IDS[0], IDS[0]], "Column 'id' of party 'right' repeats people in 2 rows"),
        ("id", [*IDS[:-1], None], "Column 'id' of party 'right' is empty in 1 rows"),
        ("class", [*CLASSES[:-2], None, None], "Column 'class' of party 'right' is empty in 2 rows"),
    ],
)
def test_a_table_that_does_not_name_every_person_once_is_refused(column, values, said):
    table = right().data
    table = table.set_column(table.column_names.index(column), column, pa.array(values))
    with pytest.raises(SchemaError, match=said) as caught:
        fused(left(), right(data=table))
    assert IDS[0] not in str(caught.value)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(SchemaError, match="The table of party 'right' has no column 'seks'"):
        fused(left(), right(attributes=["seks"]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"factor": 0},
        {"factor": float("nan")},
        {"factor": True},
        {"attributes": "sex"},
        {"attributes": ["sex", "sex"]},
        {"attributes": []},
        {"name": ""},
        {"attribute_factors": {"sex": 0.5, "age": -1.0}},
        {"value_factors": {"sex": {"f": 0}}},
        {"value_factors": {"age": float("inf")}},
    ],
)
def test_a_party_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(InvalidParameterError):
        right(**wrong)


def test_factors_of_some_attributes_or_of_others_are_refused():
    with pytest.raises(SchemaError, match="a factor for each of its attributes, or for none"):
        right(attribute_factors={"sex": 0.5})
    with pytest.raises(SchemaError, match="factors for values of 'job', which it does not have"):
        right(value_factors={"job": 2.0})


def spoiled(change, kind="specialize", sender=None):
    """Change the first message of a kind on its way."""
    left_to_do, lock = [1], threading.Lock()

    def spoil(_number: int, sent: Sent) -> bytes:
        with lock:
            found = sent.message[5 : 5 + sent.message[4]].decode() == kind and sender in {None, sent.sender}
            if not found or not left_to_do:
                return sent.message
            left_to_do.pop()
        fields = dict(unpack_message(kind, sent.message).fields)
        return pack_message(kind, **{**fields, **change(fields)})

    published = []

    def take(connected, mine):
        published.append(run_party(mine, AGREED, connected))

    functions = {
        "left": lambda connected: take(connected, left()),
        "right": lambda connected: take(connected, right()),
    }
    try:
        record(functions, spoil)
    finally:
        assert not left_to_do, "the message was never sent"
        assert not published


WRONG_SPLITS = {
    "an attribute of another party": (
        lambda fields: {"attribute": "sex" if fields["attribute"] == "job" else "job"},
        "an attribute that is not its own; nothing is published",
    ),
    "an unknown attribute": (lambda _: {"attribute": "salary"}, "not its own"),
    "an unknown node": (lambda _: {"node": 1}, "does not fit the common records"),
    "a node out of range": (lambda _: {"node": -1}, "out of its range"),
    "too few records": (lambda fields: {"children": fields["children"][1:]}, "does not fit the common records"),
    "an unknown child": (lambda fields: {"children": fields["children"] + np.uint8(9)}, "does not fit"),
    "no labels": (lambda _: {"labels": []}, "does not fit"),
    "not have the agreed type": (
        lambda fields: {"children": fields["children"].astype(np.int64)},
        "not have the agreed type or shape",
    ),
    "a matrix": (lambda fields: {"children": fields["children"].reshape(-1, 1)}, "does not fit"),
    "a group that is too small": (
        lambda _: {"children": (np.arange(12) == 0).astype(np.uint8)},
        "breaks a requirement; nothing is published",
    ),
}


@pytest.mark.parametrize("wrong", list(WRONG_SPLITS))
def test_a_winner_that_sends_what_cannot_be_is_found_out(wrong):
    change, said = WRONG_SPLITS[wrong]
    with pytest.raises(ProtocolError, match=said):
        spoiled(change)


def test_a_winner_that_tells_something_else_than_it_does_is_found_out_at_the_end():
    with pytest.raises(ProtocolError, match="do not agree on the fused table; nothing is published"):
        spoiled(lambda fields: {"labels": [b"other", *fields["labels"][1:]]})


@pytest.mark.parametrize("winner", [0, 3, "x"])
def test_a_maximum_that_cannot_be_is_found_out(winner):
    with pytest.raises(ProtocolError):
        spoiled(lambda _: {"winner": winner}, kind="maximum")


def offered(**changes):
    def change(fields):
        given = json.loads(fields["offer"])
        return {"offer": json.dumps({**given, **changes})}

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda _: {"offer": "no JSON"},
        lambda _: {"offer": "[]"},
        lambda _: {"offer": "{}"},
        lambda _: {"offer": "null"},
        offered(attributes=[3]),
        offered(attributes=None),
        offered(settings={"protocol": 1}),
        offered(hierarchies=[]),
        offered(rows="12"),
        offered(more=1),
    ],
)
def test_an_offer_that_cannot_be_read_is_refused(change):
    with pytest.raises(ProtocolError, match="cannot be read; install the same version at all parties"):
        spoiled(change, kind="offer")


def test_another_version_of_the_protocol_is_refused():
    def change(fields):
        given = json.loads(fields["offer"])
        return {"offer": json.dumps({**given, "settings": {**given["settings"], "protocol": "sfumato-fusion-0"}})}

    with pytest.raises(ProtocolError, match="do not agree on: protocol"):
        spoiled(change, kind="offer")


def test_a_party_that_the_agreement_does_not_name_is_refused():
    with pytest.raises(SchemaError, match="does not name party 'stranger'"):
        run({"left": AGREED, "stranger": AGREED}, {"left": left(), "stranger": right(name="stranger")})
