"""Nobody learns more than the final table says, and no message holds what nobody may see."""

from __future__ import annotations

import struct
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_examples import examples
from fusion_cases import Case, cases
from recorded_parties import Sent, record
from sfumato.fusion import _specialization
from sfumato.fusion.party import Party
from sfumato.fusion.protocol import fuse, run_party
from sfumato.fusion.secure.channel import NUMBER
from sfumato.fusion.secure.messages import unpack_message
from sfumato.fusion.session import KAnonymityRequirement, SessionParameters
from sfumato.hierarchies.taxonomy import Taxonomy

JOBS = Taxonomy(
    {
        "office": ["stenographer", "bookkeeper", "notary", "librarian"],
        "outdoors": ["lighthouse keeper", "charcoal burner", "fisherman", "shepherd"],
    }
)


def recorded(parties: list[Party], requirements, scoring="sensitive"):
    """Fuse over channels that write everything down."""
    names = tuple(party.name for party in parties)
    agreement = SessionParameters(parties=names, target="class", requirements=tuple(requirements), scoring=scoring)
    functions = {party.name: lambda connected, party=party: run_party(party, agreement, connected) for party in parties}
    return record(functions)


def kind_of(sent: Sent) -> str:
    length = sent.message[4]
    return sent.message[5 : 5 + length].decode()


def contents(sent: Sent) -> dict[str, object]:
    return dict(unpack_message(kind_of(sent), sent.message).fields)


def as_bytes(sent: Sent) -> bytes:
    """Give the message as it was sent, and once more with all arrays unpacked."""
    unpacked = [value.tobytes() for value in contents(sent).values() if isinstance(value, np.ndarray)]
    return b"|".join([sent.message, *unpacked])


def below(fused, attribute: str) -> dict[str, set[str]]:
    """Tell for every label which labels of the final table lie below it."""
    children = {event.node: event.children for event in fused.transcript if event.attribute == attribute}
    final = set(fused.published[attribute].to_pylist())

    def collect(label: str) -> set[str]:
        if label not in children:
            return {label} & final
        return set().union(*(collect(child) for child in children[label]))

    return {label: collect(label) for event in children.values() for label in event}


@given(cases(missing=False))
def test_what_is_told_in_a_round_follows_from_the_final_table(case: Case):
    fused = fuse([case.joined()], target="class", requirements=case.requirements)
    for event in fused.transcript:
        rows = Counter(fused.published[event.attribute].to_pylist())
        under = below(fused, event.attribute)
        assert event.records == tuple(sum(rows[label] for label in under[child]) for child in event.children)


@examples(10)
@given(cases(parties=3))
def test_all_parties_end_with_the_same_table_and_transcript(case: Case):
    results, _ = recorded(case.parties(), case.requirements)
    first, *others = results.values()
    for other in others:
        assert other.published.equals(first.published)
        assert other.transcript == first.transcript
        assert other.audit.holds


def made_up(persons: int = 120, seed: int = 5) -> list[Party]:
    """Make two parties whose raw values cannot be taken for anything else; some persons only one of them knows."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"citizen {number:07d}" for number in rng.choice(10**7, persons + 12, replace=False)])
    leaves = ["stenographer", "bookkeeper", "notary", "librarian", "lighthouse keeper", "charcoal burner"]
    jobs = rng.choice([*leaves, "fisherman", "shepherd"], persons + 12)
    incomes = rng.choice(10**9, persons + 12, replace=False) + 10**9
    classes = np.where((incomes > np.median(incomes)) ^ (rng.random(persons + 12) < 0.2), "spender", "saver")
    cities = rng.choice(["Montevideo", "Ulaanbaatar", "Thessaloniki"], persons + 12)

    def party(name, rows, **columns):
        columns = {each: pa.array(values[rows]) for each, values in columns.items()}
        table = pa.table({"id": pa.array(ids[rows]), "class": pa.array(classes[rows]), **columns})
        builders = {"job": JOBS} if "job" in columns else {}
        return Party(name=name, data=table, id="id", attributes=list(columns), hierarchies=builders, factor=0.5)

    left, right = rng.permutation(persons + 6), 6 + rng.permutation(persons + 6)
    return [party("left", left, job=jobs, city=cities), party("right", right, income=incomes)]


NEEDED = [KAnonymityRequirement(quasi=["job", "income"], k=4), KAnonymityRequirement(quasi=["city", "income"], k=5)]


def secrets_of(party: Party, shown: set[str]) -> list[bytes]:
    """List ids and raw values of a party that the final table does not show, as texts and as numbers."""
    table = party.data
    values = {value for name in ("id", *party.attributes) for value in table[name].to_pylist()}
    bounds = {number for label in shown for number in label.strip("[]").split(", ")}
    hidden = [value for value in values if str(value) not in shown | bounds]
    found = [str(value).encode() for value in hidden]
    for value in hidden:
        if isinstance(value, int):
            found += [struct.pack(order + form, value) for order in "<>" for form in "qd"]
    return found


def test_no_message_holds_a_raw_value_or_a_score(monkeypatch):
    offered = []
    bits = _specialization._score_bits
    monkeypatch.setattr(_specialization, "_score_bits", lambda score: offered.append(score) or bits(score))
    parties = made_up()
    results, log = recorded(parties, NEEDED)
    fused = results["left"]
    assert fused.rounds >= 3
    assert len({each.winner for each in fused.transcript}) == 2
    shown = {label for name in ("job", "city", "income") for label in fused.published[name].to_pylist()}
    shown |= {label for event in fused.transcript for label in (event.node, *event.children)}
    hidden = [each for party in parties for each in secrets_of(party, shown)]
    assert len(hidden) > 150
    scores = [form for score in set(offered) for form in (struct.pack("<d", score), struct.pack(">d", score))]
    scores += [repr(score).encode() for score in offered if score != 1.0]
    assert len(scores) >= 12
    for sent in log:
        said = as_bytes(sent)
        assert not [each for each in (*hidden, *scores) if each in said], f"in a message of {sent.sender}"


def test_a_winner_tells_the_labels_and_who_gets_which_and_nothing_else():
    results, log = recorded(made_up(), NEEDED)
    told = [contents(sent) for sent in log if kind_of(sent) == "specialize"]
    assert len(told) == results["left"].rounds
    assert all(set(each) == {NUMBER, "attribute", "node", "labels", "children"} for each in told)
    final: dict[str, list[str]] = {name: ["*"] * 120 for name in ("job", "city", "income")}
    for each in told:
        labels = [label.decode() for label in each["labels"]]
        nodes = np.array(final[each["attribute"]], dtype=object)
        (event,) = [e for e in results["left"].transcript if list(e.children) == labels]
        nodes[nodes == event.node] = np.array(labels)[each["children"]]
        final[each["attribute"]] = nodes.tolist()
    rows = Counter(zip(*final.values(), strict=True))
    published = results["right"].published
    assert rows == Counter(zip(*(published[name].to_pylist() for name in final), strict=True))


def worlds(gain: float, *, loser: int, parties: int) -> list[Party]:
    """Make parties of which one always loses; how good its attribute is does not show in the final table."""
    persons = 24
    classes = ["yes"] * 12 + ["no"] * 12
    best = ["a"] * 12 + ["b"] * 12
    weak = ["c" if at % 12 < (12 - gain if at < 12 else gain) else "d" for at in range(persons)]
    made = []
    for number in range(parties):
        column = best if number == (loser + 1) % parties else weak
        values = {f"column {number}": column if number in {loser, (loser + 1) % parties} else ["e"] * persons}
        table = pa.table({"id": [f"id {at}" for at in range(persons)], "class": classes, **values})
        made.append(Party(name=f"p{number}", data=table, id="id", attributes=list(values)))
    return made


RUNS = 6
ANEW = {"specialize", "classes"}  # depend on the common order of persons, which every run draws anew
Slot = tuple[str, str, object, str]


def views(gain: float, *, loser: int, parties: int) -> dict[Slot, np.ndarray]:
    """Run several times; give for every message its bytes in all runs, which must be equally many."""
    slots: dict[Slot, list[bytes]] = defaultdict(list)
    for _ in range(RUNS):
        made = worlds(gain, loser=loser, parties=parties)
        quasi = [name for party in made for name in party.attributes]
        results, log = recorded(made, [KAnonymityRequirement(quasi=quasi, k=12)])
        assert results["p0"].rounds == 1
        for sent in log:
            kind = kind_of(sent)
            slots[sent.sender, sent.receiver, contents(sent)[NUMBER], kind].append(sent.message)
    assert all(len(messages) == RUNS for messages in slots.values())
    return {
        slot: np.array([np.frombuffer(message, np.uint8) for message in messages]) for slot, messages in slots.items()
    }


def told_apart(one: np.ndarray, other: np.ndarray) -> bool:
    """Tell whether four bytes in a row are the same in all runs of either world, but differ between the worlds."""
    fixed = (one == one[0]).all(axis=0) & (other == other[0]).all(axis=0)
    differs = fixed & (one[0] != other[0])
    return any(fixed[at : at + 4].all() and differs[at : at + 4].any() for at in range(max(one.shape[1] - 3, 1)))


@pytest.mark.parametrize(("loser", "parties"), [(0, 2), (1, 2), (2, 3)])
def test_messages_do_not_depend_on_the_losing_score(loser, parties):
    """Kinds and lengths are equal, what is fixed is fixed alike, and bytes are as frequent in both worlds."""
    first, second = (views(gain, loser=loser, parties=parties) for gain in (3, 5))
    assert {slot: seen.shape for slot, seen in first.items()} == {slot: seen.shape for slot, seen in second.items()}
    for slot, seen in first.items():
        if slot[-1] not in ANEW:
            assert not told_apart(seen, second[slot]), slot
            one, other = (np.bincount(each.ravel(), minlength=256) for each in (seen, second[slot]))
            difference = ((one - other) ** 2 / np.maximum(one + other, 1)).sum()
            assert difference < 255 + 9 * np.sqrt(2 * 255), f"{slot}: less often by chance than once in a billion runs"


@given(st.floats(min_value=1e-300, max_value=1e300), st.floats(min_value=1e-300, max_value=1e300))
def test_greater_scores_are_greater_numbers(one, other):
    assert (_specialization._score_bits(one) < _specialization._score_bits(other)) == (one < other)
    assert 0 < _specialization._score_bits(one) < 2**64
