"""Attacks on series: the golden examples, all worlds of tiny series, and a population that changes."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from series_worlds import LETTERS, random_series, released, series_of, setting_of, worlds
from sfumato.datasets.hospital_series import generate_hospital_series
from sfumato.errors import InvalidParameterError, SchemaError
from sfumato.tables.series.attacks._attack_series import SERIES_ATTACKS, attack_series
from sfumato.tables.series.attacks._base import AttributeSeries, VisibleRows, decided_given_known
from sfumato.tables.series.attacks.group_comparison import ForwardComparison, GroupDifference, min_old_rows
from sfumato.tables.series.attacks.inference import (
    CriticalAbsence,
    Intersection,
    Unflagging,
    ValueEquivalence,
    equivalence_numbers,
)
from sfumato.tables.series.attacks.linkage import RowLinking

SCHEMA = sf.Schema(
    identifiers=["patient"],
    quasi_identifiers=["age", "sex", "zip"],
    sensitive=["condition"],
    insensitive=["first_visit", "height_cm"],
)
COLUMNS = ["patient", "age", "sex", "zip", "condition", "first_visit", "height_cm"]


def said(attack, one):
    """Return the claims as letters, a dot for none."""
    return "".join("." if value < 0 else LETTERS[value] for value in attack.claims(one).value.tolist())


@pytest.mark.parametrize(
    ("attack", "releases", "claims"),
    [
        (Intersection(), ["abc:xyz def:uvw", "ade:xuv bcf:yzw"], "x....w"),
        (Intersection(propagate=False), ["abc:xyz", "ad:xu bc:yz", "bd:uy"], "xy.u"),
        (Intersection(), ["abc:xyz", "ad:xu bc:yz", "bd:uy"], "xyzu"),
        (GroupDifference(), ["abc:xyz", "abcd:xxyz"], "...x"),
        (GroupDifference(), ["abc:xyz", "ab:xy"], "..z"),
        (GroupDifference(), ["abc:wwz", "bc:wz"], "w.."),
        (GroupDifference(), ["abcdef:uvwxyz", "ab:uv", "cde:wxy"], ".....z"),
        (GroupDifference(), ["abc:xyz", "ab*:xyz"], "..."),
        (ForwardComparison(), ["abc:xyz", "ade:xuv bcf:yzw"], "x....."),
        (CriticalAbsence(), ["ab:xy cd:xz", "ac:xx d:z"], "x..."),
        (CriticalAbsence(), ["ab:xy", "a*:xy"], ".."),
        (Unflagging(), ["abc:xyz def:uvw", "b:y c:z adef:uvwx"], "x....."),
    ],
)
def test_the_golden_examples_come_out_as_written(attack, releases, claims):
    assert said(attack, series_of(*releases)) == claims


def test_groups_that_show_the_same_and_differ_in_one_person_make_equals():
    one = series_of("ab:xy cd:xy", "ac:xy bd:xy")
    sets = equivalence_numbers(one)
    assert sets[0] == sets[3]
    assert sets[1] == sets[2]
    assert sets[0] != sets[1]


def test_a_ward_beside_the_value_recognizes_rows_and_decides_their_neighbors():
    one = series_of("ab:xy", "ac:xy bd:xy", truth="xyyx")
    x, y = LETTERS.index("x"), LETTERS.index("y")
    rows = (
        VisibleRows(np.array([0, 0]), np.array([x, y]), np.array([7, 1])),
        VisibleRows(np.array([0, 0, 1, 1]), np.array([x, y, x, y]), np.array([7, 2, 3, 1])),
    )
    assert said(RowLinking(), AttributeSeries(one.history, one.truth, rows)) == "xyyx"
    torn = (rows[0], VisibleRows(rows[1].group, rows[1].value, np.array([1, 2, 3, 7])))
    assert said(RowLinking(), AttributeSeries(one.history, one.truth, torn)) == "...."


def test_rows_are_nobodys_who_is_in_one_release_only():
    one = series_of("ab:xy", "cd:xy")
    x, y = LETTERS.index("x"), LETTERS.index("y")
    rows = tuple(VisibleRows(np.array([0, 0]), np.array([x, y]), np.array([7, 1])) for _ in range(2))
    assert said(RowLinking(), AttributeSeries(one.history, one.truth, rows)) == "...."


def test_what_was_taken_for_known_and_contradicts_a_group_decides_nothing_more():
    (release,) = series_of("abc:xyy").releases
    x, y = LETTERS.index("x"), LETTERS.index("y")
    assert decided_given_known(release, np.array([0]), np.array([x])).tolist() == [x, y, y]
    assert decided_given_known(release, np.array([0, 1]), np.array([x, x])).tolist() == [x, x, -1]
    assert decided_given_known(release, np.array([0]), np.array([LETTERS.index("u")])).tolist() == [-1, -1, -1]


def test_what_attacks_rule_out_is_in_no_world_and_who_is_equal_is_so_in_all():
    rng = np.random.default_rng(5)
    for _ in range(25):
        one = random_series(rng, persons=5, releases=3, values=3)
        every = list(worlds(one))
        assert every
        seen = one.published
        sets = equivalence_numbers(one)
        for p, q in itertools.combinations(np.flatnonzero(seen).tolist(), 2):
            assert sets[p] != sets[q] or all(world[p] == world[q] for world in every)
        for attack in (Intersection(), GroupDifference(), CriticalAbsence(), Unflagging()):
            value = attack.claims(one).value
            assert all(value[p] in {-1, world[p]} for world in every for p in range(5))


def placements(first, second, overlap):
    """Yield how many old rows every group and value of the second release gets, for all ways to place them."""
    old, new = (each.histogram for each in (first, second))
    rows = [
        (g, v)
        for g, v, n in zip(old.rows.tolist(), old.codes.tolist(), old.counts.tolist(), strict=True)
        for _ in range(n)
    ]
    room = {(g, v): n for g, v, n in zip(new.rows.tolist(), new.codes.tolist(), new.counts.tolist(), strict=True)}
    choices = [[g for g, value in room if value == v and (mine, g) in overlap] for mine, v in rows]
    for chosen in itertools.product(*choices):
        taken = dict.fromkeys(room, 0)
        for (_, v), g in zip(rows, chosen, strict=True):
            taken[g, v] += 1
        if all(taken[cell] <= room[cell] for cell in room):
            yield taken


def test_rows_that_must_be_old_are_old_however_rows_are_placed():
    rng = np.random.default_rng(3)
    tight = 0
    for _ in range(60):
        truth = rng.integers(0, 3, 7)
        texts = []
        for persons in ("abcde", "abcdefg"):
            group = rng.integers(0, 3, len(persons))
            parts = [[p for p, g in zip(persons, group, strict=True) if g == number] for number in range(3)]
            values = ["".join(LETTERS[truth["abcdefg".index(p)]] for p in part) for part in parts]
            texts.append(
                " ".join(f"{''.join(part)}:{value}" for part, value in zip(parts, values, strict=True) if part)
            )
        first, second = (released(text, "abcdefg") for text in texts)
        both = [(int(first.members[p]), int(second.members[p])) for p in range(5)]
        every = list(placements(first, second, set(both)))
        assert every
        bound = min_old_rows(first, second).todense()
        for cell in every[0]:
            least = min(taken[cell] for taken in every)
            assert bound[cell] <= least
            tight += bound[cell] == least > 0
    assert tight > 50


def test_rows_that_are_not_hers_are_counted_as_fung_and_others_do():
    one = series_of("abcd:wxxy", "aef:xxz bcdg:wxyz")
    first, second = one.releases
    rows, sizes = ForwardComparison()._left(first, second, np.array([0]))
    ruled_out = sum(max(0, g1 - g2) for g1, g2 in ((1, 0), (2, 2), (1, 0), (0, 1)))
    assert sizes[0] - rows.sum() == ruled_out == 2


@pytest.mark.parametrize("example", sf.datasets.series_attack_examples(), ids=lambda each: each.name)
def test_every_example_breaks_before_and_holds_after(example):
    before = attack_series(example.before, example.schema, [example.name], seed=1).results[0]
    assert before.successes == before.claims > 0
    after = attack_series(example.after, example.schema, seed=1)
    assert example.name in after.skipped or not after.result(example.name).claims


def test_every_attack_has_an_example():
    assert [each.name for each in sf.datasets.series_attack_examples()] == list(SERIES_ATTACKS)


@pytest.fixture(scope="module")
def versions():
    return [table.select(COLUMNS) for table in generate_hospital_series(600, 3, seed=3)]


def test_independent_anatomy_breaks_by_intersection_and_nearly_all_by_propagation(versions):
    promise = [sf.models.FrequencyLDiversity(l=3, sensitive="condition")]
    made = [sf.anonymize(each, SCHEMA, promise, sf.algorithms.Anatomy(), seed=1) for each in versions]
    found = attack_series(made, seed=1, targets=5000)
    broken = {each.attack for each in found.gaining}
    assert {"intersection", "forward-comparison", "cross-comparison"} <= broken
    result = found.result("intersection")
    assert result.successes == result.claims
    assert result.details["last_by_intersection"] < result.details["last_decided"]
    assert result.details["last_decided"] > 0.7


def test_independent_generalizations_break_by_rows_that_are_recognized(versions):
    promise = [sf.models.DistinctLDiversity(l=3, sensitive="condition")]
    made = [sf.anonymize(each, SCHEMA, promise, sf.algorithms.Mondrian(), seed=1) for each in versions]
    linked = attack_series(made, attacks=["row-linking"], seed=1, targets=5000).results[0]
    assert linked.gains
    assert linked.precision > 0.99


def careful(rng, versions):
    """Publish pairs of values for ever: who has one of a pair meets one with the other, or a counterfeit."""
    codes: dict[str, int] = {}
    found = []
    for table in versions:
        for value in table["condition"].to_pylist():
            codes.setdefault(value, len(codes))
        value = np.array([codes[each] for each in table["condition"].to_pylist()])
        shown, rows = [], []
        for low in range(0, len(codes), 2):
            sides = [rng.permutation(np.flatnonzero(value == low + side)).tolist() for side in (0, 1)]
            for number, pair in enumerate(itertools.zip_longest(*sides, fillvalue=-1)):
                names = [low, low + 1] if rng.random() < 0.5 else [low + 1, low]
                shown += [(f"{low:03}{number:05}", name) for name in names]
                rows += pair
        found.append((table, shown, np.array(rows)))
    names = {code: name for name, code in codes.items()} | {len(codes): "none"}
    for table, shown, rows in found:
        known = {
            name: [str(table[name][row].as_py()) if row >= 0 else "*" for row in rows.tolist()]
            for name in ("age", "sex", "zip")
        }
        values = {"condition": [names[value] for _, value in shown], "_bucket_condition": [int(b) for b, _ in shown]}
        yield pa.table(known | values), table, rows


def test_no_attack_succeeds_on_an_m_invariant_series_but_value_equivalence_which_is_reported(versions):
    rng = np.random.default_rng(1)
    schema = sf.Schema(identifiers=["patient"], quasi_identifiers=["age", "sex", "zip"], sensitive=["condition"])
    found = attack_series(list(careful(rng, versions)), schema, seed=1, targets=5000)
    assert {each.attack for each in found if each.claims} <= {"value-equivalence"}
    equal = found.result("value-equivalence")
    assert equal.successes == equal.claims > 0
    assert equal.details["pairs"] >= 1


def test_value_equivalence_guesses_as_two_persons_agree_by_chance():
    one = series_of("ab:xy cd:xy", "ac:xy bd:xy", truth="xyyx")
    assert next(iter(ValueEquivalence().run(setting_of(one)))).baseline == pytest.approx(0.5)


def test_bad_input_is_refused_in_a_sentence():
    example = sf.datasets.series_attack_examples()[0]
    (shown, original), second = example.before
    schema = example.schema
    nobody = sf.Schema(quasi_identifiers=["age", "sex"], sensitive=["disease"])
    twice, lost = (
        pa.concat_tables([original, original]),
        original.set_column(0, "name", pa.array([None] * 6, pa.string())),
    )
    changed = original.set_column(3, "disease", pa.array(["influenza"] * 6))
    loose = sf.Schema(
        identifiers=["name"], quasi_identifiers=["age", "sex"], sensitive=["disease"], missing="matches-all"
    )
    alike = pa.table({"name": list("abcd"), "age": [30] * 4, "sex": ["f"] * 4, "disease": list("xyxy")})
    both = alike.drop_columns(["name"]).append_column("_bucket_disease", pa.array([0, 0, 1, 1]))
    for given, roles, sentence in (
        ([(shown, original)], nobody, "Schema.identifier"),
        ([(shown, twice), second], schema, "In version 1 6 rows have the identifiers of another row"),
        ([(shown, lost), second], schema, "In version 1 6 rows have no 'name'"),
        ([(shown, changed), second], schema, "5 persons, in . groups, have another value of 'disease'"),
        ([(shown, original.drop_columns(["age"])), second], schema, "'age'"),
        ([(shown.slice(0, 0), original), second], schema, "Of version 1 no row is published"),
        ([(shown, original, [0, 1])], schema, "correspondence of version 1"),
        ([(both, alike), second], schema, "4 persons fit several groups"),
    ):
        with pytest.raises(SchemaError, match=sentence):
            attack_series(given, roles)
    for given, roles, sentence in (
        ([(shown, original)], None, "need a schema"),
        ([(shown, original), second], loose, "own-value"),
        ([(shown,)], schema, "must be a release, or a pair"),
        ([], schema, "A series is a list"),
    ):
        with pytest.raises(InvalidParameterError, match=sentence):
            attack_series(given, roles)


def test_a_single_release_is_no_series():
    example = sf.datasets.series_attack_examples()[0]
    found = attack_series(example.before[:1], example.schema)
    assert not found.results
    assert set(found.skipped) == set(SERIES_ATTACKS)


FLAGGED = sf.Schema(
    identifiers=["patient"], quasi_identifiers=["age", "sex"], sensitive=["condition"], flags={"condition": "hide"}
)


def flagging_quarters(persons: int, flips: float):
    """Make up quarters in which some patients no longer flag their condition."""
    rng, hide = np.random.default_rng(5), {}
    for table in generate_hospital_series(persons, 4, seed=5):
        names = table["patient"].to_pylist()
        for name in names:
            hide[name] = hide[name] and rng.random() > flips if name in hide else rng.random() < 0.6
        kept = table.select(["patient", "age", "sex", "condition"])
        yield kept.append_column("hide", pa.array([hide[name] for name in names]))


def test_unflagging_exposes_others_in_independent_releases_and_nobody_in_those_of_a_ledger(tmp_path):
    alone = [sf.models.FrequencyLDiversity(l=4, sensitive="condition")]
    together = [*alone, sf.models.BoundedSeriesDisclosure(limit=0.34, sensitive="condition")]
    ledger, independent, followed = sf.Series.create(tmp_path / "ledger"), [], []
    for table in flagging_quarters(800, 0.2):
        independent.append(sf.anonymize(table, FLAGGED, alone, sf.algorithms.LocalAnatomy(), seed=1))
        followed.append(sf.anonymize(table, FLAGGED, together, sf.algorithms.LocalAnatomy(), ledger=ledger, seed=1))
        followed[-1].write(tmp_path / f"r{len(followed)}", report=False)
    broken = attack_series(independent, attacks=["un-flagging", "intersection"], seed=1)
    assert broken.result("un-flagging").gains
    assert broken.result("un-flagging").claims == broken.result("un-flagging").successes > 20
    assert broken.result("intersection").gains
    assert not sf.audit_series(independent, models=together).holds
    safe = attack_series(followed, attacks=["un-flagging", "intersection", "difference"], seed=1)
    assert [each.claims for each in safe] == [0, 0, 0]
    assert safe.result("un-flagging").details["shown"] > 100
    assert sf.audit_series(followed).holds
    shown = [
        each.draft.flag_changes(evidence=each.evidence, rows=each.correspondence, at=each.correspondence)
        for each in followed
    ]
    assert sum(each["condition"]["shown_now"] for each in shown) > 30


def test_nothing_is_claimed_where_nobody_hides_a_value():
    table = next(iter(flagging_quarters(20, 0.0)))
    table = table.set_column(4, "hide", pa.array([False] * 20))
    shown = table.select(["age", "sex", "condition"]).append_column("_bucket_condition", pa.nulls(20, pa.int64()))
    found = attack_series([(shown, table, np.arange(20))] * 2, FLAGGED, seed=1)
    assert not found.results
    assert found.skipped["intersection"] == "nobody hides a value."
